//! What a terminal sends for keys, mouse and pastes, read back: `encode` the other way round.

use super::key::{Key, KeyCode, KeyKind, Mods};
use super::mouse::{Button, Cell, MouseEvent, MouseKind, Wheel};
use super::table::{Legacy, TABLE};

/// Bytes of the longest sequence there is; what goes on for longer is none.
const MAX_SEQUENCE: usize = 64;
/// Bytes of a paste that are told at a time.
const MAX_PASTE: usize = 1 << 20;
const PASTE_END: &[u8] = b"\x1b[201~";
const ESC: u8 = 0x1b;
/// The old encodings of the mouse add this to every number.
const OFFSET: u32 = 32;

/// What a person does at a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    Key(Key),
    Mouse(MouseEvent),
    Paste(String),
    Focus(bool),
}

/// Takes bytes as they come, and gives back what they stand for. What is not known is left out.
#[derive(Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    in_paste: bool,
}

/// What stands at the beginning of some bytes.
enum Step {
    /// Not all of it is there yet.
    More,
    /// So many bytes, and what they mean.
    Took(usize, Option<Input>),
    /// So many bytes, after which pasted text begins.
    Paste(usize),
}

impl Decoder {
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.bytes.extend_from_slice(bytes);
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            let rest = &self.bytes[at..];
            let step = if self.in_paste { pasted(rest) } else { step(rest) };
            match step {
                Step::More => break,
                Step::Took(count, input) => {
                    self.in_paste &= !rest[..count].ends_with(PASTE_END);
                    found.extend(input);
                    at += count;
                }
                Step::Paste(count) => {
                    self.in_paste = true;
                    at += count;
                }
            }
        }
        self.bytes.drain(..at);
        found
    }

    /// Whether there are bytes that mean one thing if no more come, and another if they do.
    pub fn waits(&self) -> bool {
        !self.in_paste && !self.bytes.is_empty()
    }

    /// No more came: what might have been the beginning of a sequence stands for itself.
    pub fn give_up(&mut self) -> Vec<Input> {
        if !self.waits() {
            return Vec::new();
        }
        let bytes = std::mem::take(&mut self.bytes);
        let (count, key) = match alone(&bytes) {
            Step::Took(count, key) => (count, key),
            _ => (1, None),
        };
        let mut found = Vec::from_iter(key);
        found.extend(self.feed(&bytes[count..]));
        found
    }
}

fn step(bytes: &[u8]) -> Step {
    match bytes {
        [] | [ESC] | [ESC, b'O'] => Step::More,
        [ESC, b'[', rest @ ..] => sequence(rest),
        [ESC, b'O', last, ..] => Step::Took(3, pressed(application_key(*last), Mods::NONE)),
        [ESC, b']' | b'P' | b'_' | b'^' | b'X', rest @ ..] => match answer(rest) {
            Some(length) => Step::Took(2 + length, None),
            None => alone(bytes),
        },
        _ => alone(bytes),
    }
}

/// What bytes mean that are no sequence: a character, with Alt if Escape stands before it.
fn alone(bytes: &[u8]) -> Step {
    let escape = || Step::Took(1, pressed(Some(KeyCode::Escape), Mods::NONE));
    match bytes {
        [ESC] | [ESC, ESC, ..] => escape(),
        [ESC, rest @ ..] => match character(rest, Mods::ALT) {
            Step::Took(count, key) => Step::Took(1 + count, key),
            other => other,
        },
        _ => character(bytes, Mods::NONE),
    }
}

fn character(bytes: &[u8], mods: Mods) -> Step {
    let Some(first) = bytes.first() else { return Step::More };
    // By their names these two would be Backspace and Enter, which send other bytes.
    let held = match first {
        8 => Some('h'),
        10 => Some('j'),
        _ => None,
    };
    if let Some(c) = held {
        return Step::Took(1, pressed(Some(KeyCode::Char(c)), mods | Mods::CTRL));
    }
    let bytes = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) => return error.error_len().map_or(Step::More, |bad| Step::Took(bad, None)),
    };
    match valid.chars().next() {
        Some(c) => Step::Took(c.len_utf8(), pressed(Some(KeyCode::Char(c)), mods)),
        None => Step::More,
    }
}

fn pressed(code: Option<KeyCode>, mods: Mods) -> Option<Input> {
    code.map(|code| Input::Key(Key::new(code, mods)))
}

/// Pasted text up to its end, or as much as is told at a time.
fn pasted(bytes: &[u8]) -> Step {
    let end = bytes.windows(PASTE_END.len()).position(|part| part == PASTE_END);
    let text = |bytes: &[u8]| Some(Input::Paste(String::from_utf8_lossy(bytes).into_owned()));
    match end {
        Some(0) => Step::Took(PASTE_END.len(), None),
        Some(end) => Step::Took(end + PASTE_END.len(), text(&bytes[..end])),
        None if bytes.len() > MAX_PASTE => {
            // Not in the middle of a character, nor of what may be the end.
            let whole = &bytes[..MAX_PASTE];
            let cut = whole.iter().rposition(|byte| byte.is_ascii() && *byte != ESC);
            let cut = cut.map_or(MAX_PASTE, |at| at + 1);
            Step::Took(cut, text(&bytes[..cut]))
        }
        None => Step::More,
    }
}

/// Length of an answer to a question that nobody here has asked, if it is there as a whole.
fn answer(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|byte| matches!(*byte, 7 | ESC))?;
    match &bytes[end..] {
        [7, ..] => Some(end + 1),
        [ESC, b'\\', ..] => Some(end + 2),
        _ => None,
    }
}

/// What follows `CSI`.
fn sequence(bytes: &[u8]) -> Step {
    let taken = |length: usize, input: Option<Input>| Step::Took(2 + length, input);
    match bytes {
        // The console of Linux sends F1 to F5 so.
        [b'['] => return Step::More,
        [b'[', last, ..] => {
            let number = last.wrapping_sub(b'A' - 1);
            let key = (1..=5).contains(&number).then(|| KeyCode::function(number)).flatten();
            return taken(2, pressed(key, Mods::NONE));
        }
        [b'M', button, x, y, ..] => {
            let [button, x, y] = [*button, *x, *y].map(u32::from);
            let place = (x.saturating_sub(OFFSET), y.saturating_sub(OFFSET));
            return taken(4, mouse(button.saturating_sub(OFFSET), place, false));
        }
        [b'M', ..] => return Step::More,
        _ => {}
    }
    let end = bytes.iter().position(|byte| !(0x20..0x40).contains(byte));
    match end {
        None if bytes.len() > MAX_SEQUENCE => taken(bytes.len(), None),
        None => Step::More,
        Some(end) if !(0x40..0x7f).contains(&bytes[end]) => taken(end, None),
        Some(end) => match (&bytes[..end], bytes[end]) {
            (b"200", b'~') => Step::Paste(2 + end + 1),
            (fields, last) => taken(end + 1, meaning(fields, last)),
        },
    }
}

/// What a sequence says: numbers with `;` between them, each with others after `:`.
fn meaning(fields: &[u8], last: u8) -> Option<Input> {
    let fields = std::str::from_utf8(fields).ok()?;
    let number = |fields: &str, at: usize, part: usize| -> Option<u32> {
        fields.split(';').nth(at)?.split(':').nth(part)?.parse().ok()
    };
    let place = |fields: &str| Some((number(fields, 1, 0)?, number(fields, 2, 0)?));
    match (fields, last) {
        ("", b'I') => return Some(Input::Focus(true)),
        ("", b'O') => return Some(Input::Focus(false)),
        (_, b'M' | b'm') => {
            return match fields.strip_prefix('<') {
                Some(fields) => mouse(number(fields, 0, 0)?, place(fields)?, last == b'm'),
                None => mouse(number(fields, 0, 0)?.checked_sub(OFFSET)?, place(fields)?, false),
            };
        }
        _ => {}
    }
    if fields.starts_with(['<', '=', '>', '?']) {
        return None;
    }
    let first = number(fields, 0, 0).unwrap_or(1);
    let held = number(fields, 1, 0).unwrap_or(1).saturating_sub(1);
    let mut mods = Mods(u8::try_from(held).ok()?).held();
    let code = match (last, first) {
        // xterm's modifyOtherKeys.
        (b'~', 27) => KeyCode::Char(char::from_u32(number(fields, 2, 0)?)?),
        (b'Z', _) => {
            mods |= Mods::SHIFT;
            KeyCode::Tab
        }
        // The answer to a question for the cursor's place, unless it says of modifiers.
        (b'R', _) if !fields.is_empty() && first != 1 => return None,
        _ => named(first, last)
            .or_else(|| char::from_u32(first).filter(|_| last == b'u').map(KeyCode::Char))?,
    };
    let kind = match number(fields, 1, 1) {
        Some(2) => KeyKind::Repeat,
        Some(3) => KeyKind::Release,
        _ => KeyKind::Press,
    };
    Some(Input::Key(Key::new(code, mods).of_kind(kind)))
}

/// A key by the number and the last byte of its sequence.
fn named(number: u32, last: u8) -> Option<KeyCode> {
    let by = |is: &dyn Fn(Legacy) -> bool| TABLE.iter().find(|row| is(row.legacy));
    let row = TABLE.iter().find(|row| row.kitty == (number, last)).or_else(|| match last {
        b'~' => by(&|legacy| matches!(legacy, Legacy::Tilde(own) if u32::from(own) == number)),
        b'u' => None,
        _ => by(&|legacy| matches!(legacy, Legacy::Cursor(own) | Legacy::Pf(own) if own == last)),
    });
    row.map(|row| row.code).or_else(|| match (last, number) {
        (b'~', 1 | 7) => Some(KeyCode::Home),
        (b'~', 4 | 8) => Some(KeyCode::End),
        (b'~', 11..=14) => KeyCode::function(number as u8 - 10),
        _ => None,
    })
}

/// What follows `SS3`.
fn application_key(last: u8) -> Option<KeyCode> {
    let is = |legacy: Legacy| match legacy {
        Legacy::Cursor(own) | Legacy::Pf(own) | Legacy::Keypad(_, own) => own == last,
        _ => false,
    };
    TABLE.iter().find(|row| is(row.legacy)).map(|row| row.code)
}

const MODIFIERS: [(u32, Mods); 3] = [(4, Mods::SHIFT), (8, Mods::ALT), (16, Mods::CTRL)];
const MOTION: u32 = 32;

/// Buttons, modifiers and motion in one number; columns and rows are counted from 1.
fn mouse(what: u32, (x, y): (u32, u32), released: bool) -> Option<Input> {
    let held = MODIFIERS.iter().filter(|(bit, _)| what & bit != 0);
    let mods = held.fold(Mods::NONE, |all, (_, mods)| all | *mods);
    let number = what & 3 | what >> 4 & 0b1100;
    let button = match number {
        0 => Some(Button::Left),
        1 => Some(Button::Middle),
        2 => Some(Button::Right),
        8 => Some(Button::Back),
        9 => Some(Button::Forward),
        10 => Some(Button::Tenth),
        11 => Some(Button::Eleventh),
        _ => None,
    };
    let wheels = [Wheel::Up, Wheel::Down, Wheel::Left, Wheel::Right];
    let kind = match (number, button) {
        (4..=7, _) => MouseKind::Wheel(wheels[number as usize - 4]),
        _ if what & MOTION != 0 => MouseKind::Move(button),
        (_, Some(button)) if released => MouseKind::Release(button),
        (_, Some(button)) => MouseKind::Press(button),
        // The old encodings do not tell which.
        (_, None) => MouseKind::Release(Button::Left),
    };
    let place = |n: u32| u16::try_from(n.checked_sub(1)?).ok();
    let cell = Cell { row: place(y)?, col: place(x)? };
    Some(Input::Mouse(MouseEvent { kind, mods, cell, pixel: None }))
}
