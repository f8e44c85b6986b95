//! Pictures onto terminals that show them. Which can is read from the environment: a terminal that
//! cannot is never asked.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// How a terminal wants a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Kitty,
    Iterm,
    Sixel,
}

/// What the terminal's variables say. Inside a multiplexer nothing gets through.
pub fn way(get: impl Fn(&str) -> Option<String>) -> Option<Way> {
    let set = |name: &str| get(name).is_some_and(|value| !value.is_empty());
    if ["TMUX", "STY", "ZELLIJ", "T4A_TERMINAL"].into_iter().any(set) {
        return None;
    }
    let (term, program) =
        (get("TERM").unwrap_or_default(), get("TERM_PROGRAM").unwrap_or_default());
    let kitty = ["xterm-kitty", "xterm-ghostty"].contains(&term.as_str());
    if kitty || set("KITTY_WINDOW_ID") || ["ghostty", "WezTerm"].contains(&program.as_str()) {
        return Some(Way::Kitty);
    }
    let iterm = get("LC_TERMINAL").as_deref() == Some("iTerm2");
    if iterm || ["iTerm.app", "mintty"].contains(&program.as_str()) {
        return Some(Way::Iterm);
    }
    let sixel = ["foot", "mlterm", "yaft", "contour"];
    sixel.iter().any(|name| term.starts_with(name)).then_some(Way::Sixel)
}

/// The sequences that show a PNG; None if it is none.
pub fn draw(way: Way, png: &[u8]) -> Option<Vec<u8>> {
    match way {
        Way::Kitty => Some(kitty(png)),
        Way::Iterm => Some(iterm(png)),
        Way::Sixel => super::sixel::draw(png),
    }
}

/// In pieces of 4096 bytes, all but the last marked as to be continued.
fn kitty(png: &[u8]) -> Vec<u8> {
    const PIECE: usize = 4096;
    let data = BASE64_STANDARD.encode(png).into_bytes();
    let count = data.chunks(PIECE).len();
    let mut out = Vec::new();
    for (at, piece) in data.chunks(PIECE).enumerate() {
        let first = if at == 0 { "a=T,f=100," } else { "" };
        out.extend(format!("\x1b_G{first}m={};", u8::from(at + 1 < count)).into_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\x1b\\");
    }
    out.push(b'\n');
    out
}

fn iterm(png: &[u8]) -> Vec<u8> {
    let data = BASE64_STANDARD.encode(png);
    format!("\x1b]1337;File=inline=1;size={}:{data}\x07\n", png.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way_of(variables: &[(&str, &str)]) -> Option<Way> {
        way(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn terminals_tell_what_they_can() {
        assert_eq!(way_of(&[("TERM", "xterm-kitty")]), Some(Way::Kitty));
        assert_eq!(way_of(&[("TERM_PROGRAM", "WezTerm")]), Some(Way::Kitty));
        assert_eq!(way_of(&[("LC_TERMINAL", "iTerm2")]), Some(Way::Iterm));
        assert_eq!(way_of(&[("TERM", "foot-extra")]), Some(Way::Sixel));
        assert_eq!(way_of(&[("TERM", "xterm-256color")]), None);
        assert_eq!(way_of(&[("TERM", "xterm-kitty"), ("TMUX", "x")]), None);
    }

    #[test]
    fn long_pictures_come_in_pieces() {
        let shown = String::from_utf8(kitty(&[7; 5000])).unwrap();
        assert_eq!(shown.matches("\x1b_G").count(), 2);
        assert!(shown.starts_with("\x1b_Ga=T,f=100,m=1;") && shown.contains("\x1b_Gm=0;"));
    }
}
