//! A key as the bytes that a program gets for it, in the modes that the program has set.

use super::key::{Key, KeyCode, KeyKind, Mods};
use super::table::Legacy;
use super::{kitty, other_keys};
use crate::term::{Modes, Terminal};

/// All that changes what a key sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeyModes {
    pub modes: Modes,
    /// Flags of the kitty keyboard protocol.
    pub kitty: u8,
    /// xterm's modifyOtherKeys, 0 to 3.
    pub other_keys: u8,
    /// xterm's formatOtherKeys: such a key is `CSI c ; m u` instead of `CSI 27 ; m ; c ~`.
    pub other_keys_as_csi_u: bool,
}

impl KeyModes {
    pub fn of(terminal: &Terminal) -> KeyModes {
        KeyModes {
            modes: terminal.modes(),
            kitty: terminal.keyboard_flags(),
            other_keys: terminal.modify_other_keys(),
            other_keys_as_csi_u: terminal.other_keys_as_csi_u(),
        }
    }
}

/// Nothing for a key that cannot be said in these modes.
pub fn encode(key: &Key, modes: &KeyModes) -> Vec<u8> {
    if kitty::is_on(modes) {
        return kitty::encode(key, modes);
    }
    if key.kind == KeyKind::Release {
        return Vec::new();
    }
    other_keys::encode(key, modes).unwrap_or_else(|| legacy(key, modes.modes))
}

/// The bytes that xterm sends when nothing else was asked for.
pub(super) fn legacy(key: &Key, modes: Modes) -> Vec<u8> {
    let mut bytes = match key.code {
        KeyCode::Char(_) => character(key),
        KeyCode::Composed => key.made_text().into_bytes(),
        code => named(code, key.mods, modes),
    };
    if modes.newline() && bytes.ends_with(b"\r") {
        bytes.push(b'\n');
    }
    bytes
}

fn character(key: &Key) -> Vec<u8> {
    let text = key.made_text();
    if !text.is_empty() {
        return text.into_bytes();
    }
    let shown = key.shown().unwrap_or_default();
    // On a Cyrillic keyboard Ctrl and the key of c make what Ctrl+c makes.
    let latin = key.base.filter(|_| !shown.is_ascii()).unwrap_or(shown);
    match control(latin).filter(|_| key.mods.has(Mods::CTRL)) {
        Some(byte) => escaped(key.mods, &[byte]),
        None => escaped(key.mods, shown.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// With Alt an ESC goes before.
fn escaped(mods: Mods, bytes: &[u8]) -> Vec<u8> {
    let escape: &[u8] = if mods.has(Mods::ALT | Mods::META) { b"\x1b" } else { b"" };
    [escape, bytes].concat()
}

/// The control character that Ctrl makes of a character.
pub(super) fn control(c: char) -> Option<u8> {
    match c {
        '@'..='~' => Some(c as u8 & 0x1f),
        ' ' | '2' => Some(0),
        '3'..='7' => Some(c as u8 - b'3' + 0x1b),
        '8' | '?' => Some(0x7f),
        '/' => Some(0x1f),
        _ => None,
    }
}

fn named(code: KeyCode, mods: Mods, modes: Modes) -> Vec<u8> {
    let legacy = code.row().map_or(Legacy::Nothing, |row| row.legacy);
    match (legacy, parameter(mods)) {
        (Legacy::Control, _) => control_key(code, mods, modes),
        (Legacy::Cursor(last), None) if modes.app_cursor() => vec![0x1b, b'O', last],
        (Legacy::Cursor(last), None) => vec![0x1b, b'[', last],
        (Legacy::Pf(last), None) => vec![0x1b, b'O', last],
        (Legacy::Cursor(last) | Legacy::Pf(last), Some(mods)) => {
            format!("\x1b[1;{mods}{}", last as char).into_bytes()
        }
        (Legacy::Tilde(number), None) => format!("\x1b[{number}~").into_bytes(),
        (Legacy::Tilde(number), Some(mods)) => format!("\x1b[{number};{mods}~").into_bytes(),
        (Legacy::Keypad(c, last), _) => keypad(c, last, mods, modes),
        (Legacy::As(code), _) => named(code, mods, modes),
        (Legacy::Nothing, _) => Vec::new(),
    }
}

/// Num Lock makes numbers of the keypad in every mode.
fn keypad(c: char, last: u8, mods: Mods, modes: Modes) -> Vec<u8> {
    if modes.app_keypad() && !mods.has(Mods::NUM_LOCK) {
        let mods = parameter(mods).map(|mods| mods.to_string()).unwrap_or_default();
        format!("\x1bO{mods}{}", last as char).into_bytes()
    } else {
        escaped(mods, c.encode_utf8(&mut [0; 4]).as_bytes())
    }
}

fn control_key(code: KeyCode, mods: Mods, modes: Modes) -> Vec<u8> {
    match code {
        KeyCode::Escape => escaped(mods, b"\x1b"),
        KeyCode::Tab if mods.has(Mods::SHIFT) => escaped(mods, b"\x1b[Z"),
        KeyCode::Tab => escaped(mods, b"\t"),
        KeyCode::Backspace => escaped(mods, &[backspace(mods, modes)]),
        _ => escaped(mods, b"\r"),
    }
}

/// Ctrl sends the one that the key alone does not.
pub(super) fn backspace(mods: Mods, modes: Modes) -> u8 {
    if modes.backarrow_is_bs() == mods.has(Mods::CTRL) { 0x7f } else { 0x08 }
}

/// The modifiers as xterm counts them, in which Meta is 8; it knows no others.
pub(super) fn parameter(mods: Mods) -> Option<u8> {
    let meta = if mods.has(Mods::META) { 8 } else { 0 };
    let bits = mods.0 & (Mods::SHIFT | Mods::ALT | Mods::CTRL).0 | meta;
    (bits != 0).then_some(bits + 1)
}
