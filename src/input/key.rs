//! A key as it is pressed: which one, with what held down, and the text it makes.

use super::table::Legacy;
use std::ops::{BitOr, BitOrAssign};

pub use super::table::KeyCode;

/// Characters that one key may make; an input method gives a few at once.
pub const MAX_TEXT_CHARS: usize = 64;

/// The modifiers that are held or locked; the bits are those of the kitty protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mods(pub u8);

impl Mods {
    pub const NONE: Mods = Mods(0);
    pub const SHIFT: Mods = Mods(1);
    pub const ALT: Mods = Mods(2);
    pub const CTRL: Mods = Mods(4);
    pub const SUPER: Mods = Mods(8);
    pub const HYPER: Mods = Mods(16);
    pub const META: Mods = Mods(32);
    pub const CAPS_LOCK: Mods = Mods(64);
    pub const NUM_LOCK: Mods = Mods(128);

    pub fn has(self, any_of: Mods) -> bool {
        self.0 & any_of.0 != 0
    }

    pub fn is_empty(self) -> bool {
        self == Mods::NONE
    }

    #[must_use]
    pub fn without(self, some: Mods) -> Mods {
        Mods(self.0 & !some.0)
    }

    /// What is held down, which leaves out what is locked.
    #[must_use]
    pub fn held(self) -> Mods {
        self.without(Mods::CAPS_LOCK | Mods::NUM_LOCK)
    }
}

impl BitOr for Mods {
    type Output = Mods;

    fn bitor(self, other: Mods) -> Mods {
        Mods(self.0 | other.0)
    }
}

impl BitOrAssign for Mods {
    fn bitor_assign(&mut self, other: Mods) {
        self.0 |= other.0;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum KeyKind {
    #[default]
    Press,
    Repeat,
    Release,
}

/// One event of a keyboard. What a keyboard does not tell is guessed for a US layout.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    pub code: KeyCode,
    pub mods: Mods,
    pub kind: KeyKind,
    /// The text that the key makes, where it is known to be other than the key says.
    pub text: Option<String>,
    /// The character with Shift, where the keyboard's layout is known.
    pub shifted: Option<char>,
    /// The character that a US keyboard has in this place, where that differs.
    pub base: Option<char>,
}

impl Key {
    /// The press of a key, in its one form: a control character becomes the key that makes it,
    /// and with Ctrl or Shift a letter is a small one.
    pub fn new(code: KeyCode, mods: Mods) -> Key {
        let (code, more) = match code {
            KeyCode::Char(c) => of_control(c),
            code => (code, Mods::NONE),
        };
        let mods = mods | more;
        let code = match code {
            KeyCode::Char(c) if mods.has(Mods::CTRL | Mods::SHIFT) => KeyCode::Char(lower(c)),
            code => code,
        };
        Key { code, mods, kind: KeyKind::Press, text: None, shifted: None, base: None }
    }

    pub fn plain(code: KeyCode) -> Key {
        Key::new(code, Mods::NONE)
    }

    /// Text that no known key made.
    pub fn composed(text: &str) -> Key {
        let text = Some(text.chars().take(MAX_TEXT_CHARS).collect());
        Key { text, ..Key::plain(KeyCode::Composed) }
    }

    #[must_use]
    pub fn of_kind(self, kind: KeyKind) -> Key {
        Key { kind, ..self }
    }

    /// The character of the key without Shift, as far as it can be known.
    pub(super) fn unshifted(&self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.mods.has(Mods::SHIFT) => Some(unshift(c)),
            KeyCode::Char(c) => Some(lower(c)),
            _ => None,
        }
    }

    /// The character that shows when Alt, Ctrl and the like are left out.
    pub(super) fn shown(&self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.mods.has(Mods::SHIFT) => {
                Some(self.shifted.unwrap_or_else(|| shift(unshift(c))))
            }
            KeyCode::Char(c) => Some(c),
            _ => None,
        }
    }

    /// Modifiers with the Shift that a capital letter needs.
    pub(super) fn full_mods(&self) -> Mods {
        match self.code {
            KeyCode::Char(c) if lower(c) != c => self.mods | Mods::SHIFT,
            _ => self.mods,
        }
    }

    /// The text that the key makes, without control characters; none when it is let go.
    pub(super) fn made_text(&self) -> String {
        let made = match (&self.text, self.kind) {
            (_, KeyKind::Release) => String::new(),
            (Some(text), _) => text.chars().take(MAX_TEXT_CHARS).collect(),
            (None, _) => self.own_text().map(String::from).unwrap_or_default(),
        };
        made.chars().filter(|c| !c.is_control()).collect()
    }

    fn own_text(&self) -> Option<char> {
        let plain = self.mods.held().without(Mods::SHIFT).is_empty();
        match self.code {
            _ if !plain => None,
            KeyCode::Char(_) => self.shown().map(|c| self.caps(c)),
            code => match code.row()?.legacy {
                Legacy::Keypad(c, _) => Some(c),
                _ => None,
            },
        }
    }

    /// Caps Lock turns letters round, Shift turns them back.
    fn caps(&self, c: char) -> char {
        match self.mods.has(Mods::CAPS_LOCK) {
            false => c,
            true if lower(c) != c => lower(c),
            true => upper(c),
        }
    }
}

/// A control character is what a key made, with or without Ctrl.
fn of_control(c: char) -> (KeyCode, Mods) {
    match c {
        '\r' | '\n' => (KeyCode::Enter, Mods::NONE),
        '\t' => (KeyCode::Tab, Mods::NONE),
        '\x1b' => (KeyCode::Escape, Mods::NONE),
        '\x08' | '\x7f' => (KeyCode::Backspace, Mods::NONE),
        '\0' => (KeyCode::Char(' '), Mods::CTRL),
        '\x01'..='\x1f' => (KeyCode::Char((c as u8 + b'@') as char), Mods::CTRL),
        c => (KeyCode::Char(c), Mods::NONE),
    }
}

/// Both rows of a US keyboard, without the letters.
const US_PLAIN: &str = "`1234567890-=[]\\;',./";
const US_SHIFT: &str = "~!@#$%^&*()_+{}|:\"<>?";

fn across(c: char, from: &str, to: &str) -> Option<char> {
    to.chars().nth(from.chars().position(|other| other == c)?)
}

/// The one character that an iterator of cases gives.
fn single(mut cases: impl Iterator<Item = char>) -> Option<char> {
    cases.next().filter(|_| cases.next().is_none())
}

/// A letter in small, where the way there is also a way back.
fn lower(c: char) -> char {
    let small = single(c.to_lowercase()).filter(|small| upper(*small) == c);
    small.unwrap_or(c)
}

fn upper(c: char) -> char {
    single(c.to_uppercase()).unwrap_or(c)
}

fn shift(c: char) -> char {
    across(c, US_PLAIN, US_SHIFT).unwrap_or_else(|| upper(c))
}

fn unshift(c: char) -> char {
    across(c, US_SHIFT, US_PLAIN).unwrap_or_else(|| lower(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_the_keys_that_make_them() {
        let check = |c: char, code: KeyCode, mods: Mods| {
            assert_eq!(Key::plain(KeyCode::Char(c)), Key::new(code, mods));
        };
        check('\r', KeyCode::Enter, Mods::NONE);
        check('\n', KeyCode::Enter, Mods::NONE);
        check('\x1b', KeyCode::Escape, Mods::NONE);
        check('\x7f', KeyCode::Backspace, Mods::NONE);
        check('\0', KeyCode::Char(' '), Mods::CTRL);
        check('\x03', KeyCode::Char('c'), Mods::CTRL);
        check('\x1d', KeyCode::Char(']'), Mods::CTRL);
        check('é', KeyCode::Char('é'), Mods::NONE);
    }

    #[test]
    fn text_that_a_key_makes() {
        let check = |code: KeyCode, mods: Mods, text: &str| {
            assert_eq!(Key::new(code, mods).made_text(), text, "{code:?} {mods:?}");
        };
        check(KeyCode::Char('a'), Mods::NONE, "a");
        check(KeyCode::Char('A'), Mods::NONE, "A");
        check(KeyCode::Char('a'), Mods::SHIFT, "A");
        check(KeyCode::Char('A'), Mods::SHIFT, "A");
        check(KeyCode::Char('1'), Mods::SHIFT, "!");
        check(KeyCode::Char('!'), Mods::SHIFT, "!");
        check(KeyCode::Char('é'), Mods::SHIFT, "É");
        check(KeyCode::Char('ß'), Mods::SHIFT, "ß");
        check(KeyCode::Char(' '), Mods::SHIFT, " ");
        check(KeyCode::Char('a'), Mods::CAPS_LOCK, "A");
        check(KeyCode::Char('a'), Mods::CAPS_LOCK | Mods::SHIFT, "a");
        check(KeyCode::Char('1'), Mods::CAPS_LOCK, "1");
        check(KeyCode::Char('a'), Mods::CTRL, "");
        check(KeyCode::Char('a'), Mods::ALT, "");
        check(KeyCode::Char('\u{85}'), Mods::NONE, "");
        check(KeyCode::Kp5, Mods::NUM_LOCK, "5");
        check(KeyCode::KpEnter, Mods::NONE, "");
        check(KeyCode::Enter, Mods::NONE, "");
        check(KeyCode::Up, Mods::NONE, "");
    }

    #[test]
    fn given_text_is_bounded_and_without_controls() {
        assert_eq!(Key::composed("日\x1b[本\u{9b}").made_text(), "日[本");
        assert_eq!(Key::composed(&"x".repeat(1000)).made_text().len(), MAX_TEXT_CHARS);
        let key = Key { text: Some("y".repeat(1000)), ..Key::plain(KeyCode::Char('a')) };
        assert_eq!(key.made_text().len(), MAX_TEXT_CHARS);
        assert_eq!(key.of_kind(KeyKind::Release).made_text(), "");
    }
}
