//! What is typed: names of keys in any modes, pastes and mouse events.

use t4a::input::mouse::{self, Button, Cell, MouseEvent, MouseKind, Pixel, Wheel};
use t4a::input::{Key, KeyModes, Mods, encode, paste, typed};
use t4a::term::{Limits, Size, Terminal};

pub const PIECES: &[&[u8]] = &[
    b"ctrl-",
    b"shift-",
    b"alt-",
    b"super-",
    b"a",
    b"up",
    b"f12",
    b"enter",
    b"space",
    b"kp_1",
    b"\x1b[201~",
    b"\x1b",
    b"\x9b",
    "\u{9b}201~".as_bytes(),
    b"\r\n",
    b"\n",
    b"\t",
    b"\0",
    "日本".as_bytes(),
    b"backspace",
    b"+",
    b"-",
];

pub fn run(data: &[u8]) {
    let [one, two, three, rest @ ..] = data else { return };
    let text = String::from_utf8_lossy(rest);
    pasted(&text);
    let terminal = asked(*one, *two);
    let modes = KeyModes { other_keys_as_csi_u: three & 1 == 1, ..KeyModes::of(&terminal) };
    if let Ok(key) = text.parse::<Key>() {
        let bytes = encode(&key, &modes);
        assert!(bytes.len() <= 1024, "{text:?} sends {} bytes", bytes.len());
    }
    clicked(*three, rest, &terminal);
}

/// A paste presses no key and cannot end its own bracket.
fn pasted(text: &str) {
    let plain = |bytes: &[u8]| {
        let text = str::from_utf8(bytes).expect("text stays text");
        assert!(text.chars().all(|c| !c.is_control() || matches!(c, '\t' | '\r' | '\n')));
    };
    plain(&paste(text, false));
    let bracketed = paste(text, true);
    let inner = bracketed.strip_prefix(b"\x1b[200~").and_then(|b| b.strip_suffix(b"\x1b[201~"));
    plain(inner.expect("both brackets"));
    assert!(!typed(text).contains(&b'\n'));
}

/// A terminal whose program has asked for some ways of reporting.
fn asked(one: u8, two: u8) -> Terminal {
    let mut terminal = Terminal::new(Size { cols: 80, rows: 24 }, Limits { lines: 0, bytes: 0 });
    let modes = [1, 66, 67, 1000, 1002, 1003, 1049, 9];
    let encodings = [1005, 1006, 1015, 1016];
    let mut text = format!("\x1b[>{}u\x1b[>4;{}m", two & 31, two >> 6);
    for (bit, mode) in modes.iter().enumerate().filter(|(bit, _)| one >> bit & 1 == 1) {
        text += &format!("\x1b[?{mode}h\x1b[?{}h", encodings[bit % encodings.len()]);
    }
    terminal.feed(text.as_bytes(), &mut Vec::new());
    terminal
}

fn clicked(kind: u8, bytes: &[u8], terminal: &Terminal) {
    let [a, b, c, d, ..] = bytes else { return };
    let kind = match kind % 6 {
        0 => MouseKind::Press(Button::Left),
        1 => MouseKind::Release(Button::Right),
        2 => MouseKind::Move(None),
        3 => MouseKind::Move(Some(Button::Middle)),
        4 => MouseKind::Wheel(Wheel::Up),
        _ => MouseKind::Wheel(Wheel::Left),
    };
    let cell = Cell { row: u16::from_le_bytes([*a, *b]), col: u16::from_le_bytes([*c, *d]) };
    let pixel = (a & 1 == 1).then_some(Pixel { x: u32::from(*b) << 24, y: u32::MAX });
    let event = MouseEvent { kind, mods: Mods(*d), cell, pixel };
    if let Some(bytes) = mouse::encode(&event, terminal.modes()) {
        assert!(!bytes.is_empty() && bytes.len() <= 64);
    }
}
