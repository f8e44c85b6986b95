//! The kitty keyboard protocol: keys as `CSI key:shifted:base ; modifiers:event ; text u`.

use super::encode::{KeyModes, legacy};
use super::key::{Key, KeyCode, KeyKind, Mods};
use super::table::Legacy;
use std::fmt::Write;

const DISAMBIGUATE: u8 = 1;
const EVENTS: u8 = 2;
const ALTERNATES: u8 = 4;
const ALL: u8 = 8;
const TEXT: u8 = 16;

/// The other flags only add to what these turn on.
pub fn is_on(modes: &KeyModes) -> bool {
    modes.kitty & (DISAMBIGUATE | EVENTS | ALL) != 0
}

pub fn encode(key: &Key, modes: &KeyModes) -> Vec<u8> {
    let has = |flag: u8| modes.kitty & flag != 0;
    if key.kind == KeyKind::Release && !has(EVENTS) {
        return Vec::new();
    }
    let plain = match key.code {
        KeyCode::Composed if !has(ALL) || !has(TEXT) => Some(key.made_text().into_bytes()),
        _ if has(ALL) => None,
        code if code.is_modifier() => Some(Vec::new()),
        _ => unescaped(key, modes),
    };
    let numpad = !has(ALL) && !has(DISAMBIGUATE);
    plain.unwrap_or_else(|| match numpad {
        true => sequence(&beside_keypad(key), modes.kitty),
        false => sequence(key, modes.kitty),
    })
}

/// What is still sent as it always was, while not all keys are sequences.
fn unescaped(key: &Key, modes: &KeyModes) -> Option<Vec<u8>> {
    let text = key.made_text();
    if !text.is_empty() {
        return Some(text.into_bytes());
    }
    let held = key.full_mods().held();
    match key.code {
        // So that `reset` can be typed when a program left the protocol on.
        KeyCode::Enter | KeyCode::Tab | KeyCode::Backspace if held.is_empty() => {
            Some(if key.kind == KeyKind::Release { Vec::new() } else { legacy(key, modes.modes) })
        }
        _ if modes.kitty & DISAMBIGUATE != 0 || key.kind != KeyKind::Press => None,
        KeyCode::Escape if held.is_empty() => Some(legacy(key, modes.modes)),
        KeyCode::Char(_) if is_ambiguous(held) => Some(legacy(key, modes.modes)),
        _ => None,
    }
}

/// Modifiers of a character that the old encoding can say.
fn is_ambiguous(held: Mods) -> bool {
    let alt = Mods::ALT;
    [alt, Mods::CTRL, Mods::CTRL | alt, Mods::SHIFT | alt].contains(&held)
}

/// The key that a key of the keypad stands for, where the two are not told apart.
fn beside_keypad(key: &Key) -> Key {
    let code = match key.code.row().map(|row| row.legacy) {
        Some(Legacy::As(code)) => code,
        Some(Legacy::Keypad('\r', _)) => KeyCode::Enter,
        Some(Legacy::Keypad(c, _)) => KeyCode::Char(c),
        _ => key.code,
    };
    Key { code, ..key.clone() }
}

fn sequence(key: &Key, flags: u8) -> Vec<u8> {
    let (number, last) = match key.code {
        KeyCode::Char(c) => (u32::from(key.unshifted().unwrap_or(c)), b'u'),
        code => code.row().map_or((0, b'u'), |row| row.kitty),
    };
    let alternates = if flags & ALTERNATES != 0 { alternates(key) } else { String::new() };
    let mods = modifiers(key, flags);
    let text = if flags & (ALL | TEXT) == ALL | TEXT { code_points(key) } else { String::new() };
    let mut out = format!("\x1b[{number}{alternates}");
    match (mods.is_empty(), text.is_empty()) {
        (true, true) if number == 1 => out.truncate(2),
        (true, true) => {}
        (false, true) => out.extend([";", &mods]),
        (_, false) => out.extend([";", &mods, ";", &text]),
    }
    out.push(last as char);
    out.into_bytes()
}

/// `:shifted:base`, as far as there are any.
fn alternates(key: &Key) -> String {
    let unshifted = key.unshifted();
    let with_shift = unshifted.is_some() && key.full_mods().has(Mods::SHIFT);
    let shifted = key.shown().filter(|shown| with_shift && unshifted != Some(*shown));
    let base = key.base.filter(|base| unshifted.is_some_and(|own| own != *base));
    let mut out = String::new();
    let number = |c: Option<char>| c.map(|c| u32::from(c).to_string()).unwrap_or_default();
    if shifted.is_some() || base.is_some() {
        let _ = write!(out, ":{}", number(shifted));
    }
    if base.is_some() {
        let _ = write!(out, ":{}", number(base));
    }
    out
}

/// `modifiers:event`, left out when they say nothing.
fn modifiers(key: &Key, flags: u8) -> String {
    let mods = u16::from((key.full_mods() | own_modifier(key)).0) + 1;
    let event = match key.kind {
        KeyKind::Repeat if flags & EVENTS != 0 => ":2",
        KeyKind::Release if flags & EVENTS != 0 => ":3",
        _ => "",
    };
    if mods == 1 && event.is_empty() { String::new() } else { format!("{mods}{event}") }
}

/// A modifier that goes down counts itself; whether it still counts when it comes up depends on
/// its twin, and only who sends the key knows that.
fn own_modifier(key: &Key) -> Mods {
    use KeyCode as K;
    match key.code {
        _ if key.kind == KeyKind::Release => Mods::NONE,
        K::LeftShift | K::RightShift => Mods::SHIFT,
        K::LeftControl | K::RightControl => Mods::CTRL,
        K::LeftAlt | K::RightAlt => Mods::ALT,
        K::LeftSuper | K::RightSuper => Mods::SUPER,
        K::LeftHyper | K::RightHyper => Mods::HYPER,
        K::LeftMeta | K::RightMeta => Mods::META,
        _ => Mods::NONE,
    }
}

fn code_points(key: &Key) -> String {
    let numbers: Vec<String> = key.made_text().chars().map(|c| u32::from(c).to_string()).collect();
    numbers.join(":")
}
