//! What `send-keys` is given: a key's name as tmux knows them, or text.

/// One argument of `send-keys`.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// A key, by its name in t4a.
    Key(String),
    Text(String),
}

/// Names in tmux, in any case, and in t4a.
const NAMES: &[(&str, &str)] = &[
    ("IC", "Insert"),
    ("Insert", "Insert"),
    ("DC", "Delete"),
    ("Delete", "Delete"),
    ("Home", "Home"),
    ("End", "End"),
    ("NPage", "PageDown"),
    ("PageDown", "PageDown"),
    ("PgDn", "PageDown"),
    ("PPage", "PageUp"),
    ("PageUp", "PageUp"),
    ("PgUp", "PageUp"),
    ("Tab", "Tab"),
    ("BTab", "Shift+Tab"),
    ("Space", "Space"),
    ("BSpace", "Backspace"),
    ("Enter", "Enter"),
    ("Escape", "Escape"),
    ("Up", "Up"),
    ("Down", "Down"),
    ("Left", "Left"),
    ("Right", "Right"),
    ("KP/", "KpDivide"),
    ("KP*", "KpMultiply"),
    ("KP-", "KpSubtract"),
    ("KP+", "KpAdd"),
    ("KP.", "KpDecimal"),
    ("KPEnter", "KpEnter"),
    ("KP0", "Kp0"),
    ("KP1", "Kp1"),
    ("KP2", "Kp2"),
    ("KP3", "Kp3"),
    ("KP4", "Kp4"),
    ("KP5", "Kp5"),
    ("KP6", "Kp6"),
    ("KP7", "Kp7"),
    ("KP8", "Kp8"),
    ("KP9", "Kp9"),
];
/// Function keys that tmux has.
const FUNCTION_KEYS: u8 = 12;

/// A key if tmux knows the name, else the text itself.
pub fn typed(arg: &str) -> Typed {
    key(arg).map_or_else(|| Typed::Text(arg.to_owned()), Typed::Key)
}

fn key(arg: &str) -> Option<String> {
    if let Some(c) = arg.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok()) {
        return char::from_u32(c).map(String::from);
    }
    let (modifiers, rest) = modifiers(arg);
    // A character alone is what it is, as text and as a key.
    let name = single(rest).or_else(|| named(rest))?;
    (!modifiers.is_empty() || name.chars().count() > 1).then(|| format!("{modifiers}{name}"))
}

/// `C-`, `M-`, `S-` and `^` before a key, in t4a's words, and what is left.
fn modifiers(arg: &str) -> (String, &str) {
    let (mut found, mut rest) = (String::new(), arg);
    if let Some(key) = rest.strip_prefix('^').filter(|key| !key.is_empty()) {
        found.push_str("Ctrl+");
        rest = key;
    }
    loop {
        let modifier = match rest.as_bytes() {
            [b'C' | b'c', b'-', ..] => "Ctrl+",
            [b'M' | b'm', b'-', ..] => "Alt+",
            [b'S' | b's', b'-', ..] => "Shift+",
            _ => return (found, rest),
        };
        found.push_str(modifier);
        rest = &rest[2..];
    }
}

fn single(text: &str) -> Option<String> {
    let mut chars = text.chars();
    let c = chars.next().filter(|c| !c.is_control() && chars.next().is_none())?;
    Some(if c == ' ' { "Space".to_owned() } else { c.to_string() })
}

fn named(name: &str) -> Option<String> {
    let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let function = || {
        let number: u8 = name.strip_prefix(['F', 'f'])?.parse().ok()?;
        (1..=FUNCTION_KEYS).contains(&number).then(|| format!("F{number}"))
    };
    known.map(|(_, ours)| (*ours).to_owned()).or_else(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Key;

    fn check(arg: &str, expected: &str) {
        match typed(arg) {
            Typed::Key(name) => {
                assert_eq!(name, expected, "{arg}");
                name.parse::<Key>().unwrap();
            }
            Typed::Text(text) => assert_eq!(format!("text {text}"), expected, "{arg}"),
        }
    }

    #[test]
    fn keys_that_tmux_knows() {
        check("Enter", "Enter");
        check("enter", "Enter");
        check("C-c", "Ctrl+c");
        check("^C", "Ctrl+C");
        check("C-M-a", "Ctrl+Alt+a");
        check("S-Up", "Shift+Up");
        check("BTab", "Shift+Tab");
        check("M- ", "Alt+Space");
        check("F12", "F12");
        check("NPage", "PageDown");
        check("0x41", "A");
    }

    #[test]
    fn everything_else_is_text() {
        for text in ["a", "ls -la", "Return", "ctrl", "Ctrl+c", "F13", "C-", "-x", "^", ";", "Esc"]
        {
            check(text, &format!("text {text}"));
        }
    }

    #[test]
    fn every_name_is_a_key() {
        for (name, ours) in NAMES {
            check(name, ours);
        }
    }
}
