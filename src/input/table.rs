//! Every key that is not a character: one table of names, kitty numbers and xterm sequences.

/// How a key is sent by xterm's rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Legacy {
    /// Enter, Tab, Backspace and Escape, which have rules of their own.
    Control,
    /// `CSI A`, or `SS3 A` when the program asked for application cursor keys.
    Cursor(u8),
    /// `SS3 P`, whatever the mode.
    Pf(u8),
    /// `CSI 15 ~`.
    Tilde(u8),
    /// A character, or `SS3` and a letter when the program asked for application keypad.
    Keypad(char, u8),
    /// As the key of the same name beside the keypad.
    As(KeyCode),
    /// Not at all.
    Nothing,
}

pub(super) struct Row {
    pub code: KeyCode,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// Number and last byte of the sequence in the kitty protocol.
    pub kitty: (u32, u8),
    pub legacy: Legacy,
}

macro_rules! keys {
    ($($key:ident $number:literal $last:literal $legacy:expr, [$($alias:literal)*])*) => {
        /// A key: a character, text that no known key made, or a key with a name.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum KeyCode {
            Char(char),
            /// What an input method composed; the text is in the [`Key`](super::Key).
            Composed,
            $($key),*
        }

        pub(super) const TABLE: &[Row] = {
            use KeyCode::*;
            use Legacy::*;
            &[$(Row {
                code: $key,
                name: stringify!($key),
                aliases: &[$($alias),*],
                kitty: ($number, $last),
                legacy: $legacy,
            }),*]
        };
    };
}

keys! {
    Escape             27    b'u' Control,          ["Esc"]
    Enter              13    b'u' Control,          ["Return" "Ret" "CR"]
    Tab                9     b'u' Control,          []
    Backspace          127   b'u' Control,          ["BSpace" "BS"]
    Insert             2     b'~' Tilde(2),         ["Ins" "IC"]
    Delete             3     b'~' Tilde(3),         ["Del" "DC"]
    Left               1     b'D' Cursor(b'D'),     ["ArrowLeft"]
    Right              1     b'C' Cursor(b'C'),     ["ArrowRight"]
    Up                 1     b'A' Cursor(b'A'),     ["ArrowUp"]
    Down               1     b'B' Cursor(b'B'),     ["ArrowDown"]
    PageUp             5     b'~' Tilde(5),         ["PgUp" "PPage" "Prior"]
    PageDown           6     b'~' Tilde(6),         ["PgDn" "PgDown" "NPage" "Next"]
    Home               1     b'H' Cursor(b'H'),     []
    End                1     b'F' Cursor(b'F'),     []
    CapsLock           57358 b'u' Nothing,          ["Caps"]
    ScrollLock         57359 b'u' Nothing,          []
    NumLock            57360 b'u' Nothing,          []
    PrintScreen        57361 b'u' Nothing,          ["Print" "PrtSc" "SysRq"]
    Pause              57362 b'u' Nothing,          ["Break"]
    Menu               57363 b'u' Tilde(29),        ["ContextMenu" "Apps"]
    F1                 1     b'P' Pf(b'P'),         []
    F2                 1     b'Q' Pf(b'Q'),         []
    // Not `CSI R`: that is the answer to a question for the cursor's place.
    F3                 13    b'~' Pf(b'R'),         []
    F4                 1     b'S' Pf(b'S'),         []
    F5                 15    b'~' Tilde(15),        []
    F6                 17    b'~' Tilde(17),        []
    F7                 18    b'~' Tilde(18),        []
    F8                 19    b'~' Tilde(19),        []
    F9                 20    b'~' Tilde(20),        []
    F10                21    b'~' Tilde(21),        []
    F11                23    b'~' Tilde(23),        []
    F12                24    b'~' Tilde(24),        []
    F13                57376 b'u' Tilde(25),        []
    F14                57377 b'u' Tilde(26),        []
    F15                57378 b'u' Tilde(28),        []
    F16                57379 b'u' Tilde(29),        []
    F17                57380 b'u' Tilde(31),        []
    F18                57381 b'u' Tilde(32),        []
    F19                57382 b'u' Tilde(33),        []
    F20                57383 b'u' Tilde(34),        []
    F21                57384 b'u' Tilde(42),        []
    F22                57385 b'u' Tilde(43),        []
    F23                57386 b'u' Tilde(44),        []
    F24                57387 b'u' Tilde(45),        []
    F25                57388 b'u' Tilde(46),        []
    F26                57389 b'u' Tilde(47),        []
    F27                57390 b'u' Tilde(48),        []
    F28                57391 b'u' Tilde(49),        []
    F29                57392 b'u' Tilde(50),        []
    F30                57393 b'u' Tilde(51),        []
    F31                57394 b'u' Tilde(52),        []
    F32                57395 b'u' Tilde(53),        []
    F33                57396 b'u' Tilde(54),        []
    F34                57397 b'u' Tilde(55),        []
    F35                57398 b'u' Tilde(56),        []
    Kp0                57399 b'u' Keypad('0', b'p'), []
    Kp1                57400 b'u' Keypad('1', b'q'), []
    Kp2                57401 b'u' Keypad('2', b'r'), []
    Kp3                57402 b'u' Keypad('3', b's'), []
    Kp4                57403 b'u' Keypad('4', b't'), []
    Kp5                57404 b'u' Keypad('5', b'u'), []
    Kp6                57405 b'u' Keypad('6', b'v'), []
    Kp7                57406 b'u' Keypad('7', b'w'), []
    Kp8                57407 b'u' Keypad('8', b'x'), []
    Kp9                57408 b'u' Keypad('9', b'y'), []
    KpDecimal          57409 b'u' Keypad('.', b'n'), ["Kp."]
    KpDivide           57410 b'u' Keypad('/', b'o'), ["Kp/"]
    KpMultiply         57411 b'u' Keypad('*', b'j'), ["Kp*"]
    KpSubtract         57412 b'u' Keypad('-', b'm'), ["Kp-" "KpMinus"]
    KpAdd              57413 b'u' Keypad('+', b'k'), ["Kp+" "KpPlus"]
    KpEnter            57414 b'u' Keypad('\r', b'M'), ["NumpadEnter"]
    KpEqual            57415 b'u' Keypad('=', b'X'), ["Kp="]
    KpSeparator        57416 b'u' Keypad(',', b'l'), ["Kp,"]
    KpLeft             57417 b'u' As(Left),         []
    KpRight            57418 b'u' As(Right),        []
    KpUp               57419 b'u' As(Up),           []
    KpDown             57420 b'u' As(Down),         []
    KpPageUp           57421 b'u' As(PageUp),       []
    KpPageDown         57422 b'u' As(PageDown),     []
    KpHome             57423 b'u' As(Home),         []
    KpEnd              57424 b'u' As(End),          []
    KpInsert           57425 b'u' As(Insert),       []
    KpDelete           57426 b'u' As(Delete),       []
    KpBegin            1     b'E' Cursor(b'E'),     ["Begin"]
    MediaPlay          57428 b'u' Nothing,          []
    MediaPause         57429 b'u' Nothing,          []
    MediaPlayPause     57430 b'u' Nothing,          []
    MediaReverse       57431 b'u' Nothing,          []
    MediaStop          57432 b'u' Nothing,          []
    MediaFastForward   57433 b'u' Nothing,          []
    MediaRewind        57434 b'u' Nothing,          []
    MediaTrackNext     57435 b'u' Nothing,          []
    MediaTrackPrevious 57436 b'u' Nothing,          []
    MediaRecord        57437 b'u' Nothing,          []
    LowerVolume        57438 b'u' Nothing,          ["VolumeDown"]
    RaiseVolume        57439 b'u' Nothing,          ["VolumeUp"]
    MuteVolume         57440 b'u' Nothing,          ["Mute"]
    LeftShift          57441 b'u' Nothing,          ["Shift"]
    LeftControl        57442 b'u' Nothing,          ["Control" "Ctrl" "LeftCtrl"]
    LeftAlt            57443 b'u' Nothing,          ["Alt"]
    LeftSuper          57444 b'u' Nothing,          ["Super"]
    LeftHyper          57445 b'u' Nothing,          ["Hyper"]
    LeftMeta           57446 b'u' Nothing,          ["Meta"]
    RightShift         57447 b'u' Nothing,          []
    RightControl       57448 b'u' Nothing,          ["RightCtrl"]
    RightAlt           57449 b'u' Nothing,          []
    RightSuper         57450 b'u' Nothing,          []
    RightHyper         57451 b'u' Nothing,          []
    RightMeta          57452 b'u' Nothing,          []
    IsoLevel3Shift     57453 b'u' Nothing,          ["AltGr"]
    IsoLevel5Shift     57454 b'u' Nothing,          []
}

impl KeyCode {
    pub(super) fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.code == self)
    }

    /// F1 to F35.
    pub fn function(number: u8) -> Option<KeyCode> {
        let first = TABLE.iter().position(|row| row.code == KeyCode::F1)?;
        let inside = (1..=35).contains(&number);
        inside.then(|| TABLE[first + usize::from(number) - 1].code)
    }

    /// Shift, Ctrl and their like, and the keys that lock.
    pub fn is_modifier(self) -> bool {
        let locks = [KeyCode::CapsLock, KeyCode::ScrollLock, KeyCode::NumLock];
        let number = self.row().map_or(0, |row| row.kitty.0);
        locks.contains(&self) || (57441..=57454).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_sequence_stands_for_two_keys() {
        let kitty: HashSet<_> = TABLE.iter().map(|row| row.kitty).collect();
        assert_eq!(kitty.len(), TABLE.len());
    }

    #[test]
    fn function_keys_by_number() {
        assert_eq!(KeyCode::function(1), Some(KeyCode::F1));
        assert_eq!(KeyCode::function(24), Some(KeyCode::F24));
        assert_eq!(KeyCode::function(35), Some(KeyCode::F35));
        assert_eq!(KeyCode::function(0), None);
        assert_eq!(KeyCode::function(36), None);
    }

    #[test]
    fn modifiers_are_told_from_other_keys() {
        let found: Vec<_> = TABLE.iter().filter(|row| row.code.is_modifier()).collect();
        assert_eq!(found.len(), 17);
        assert!(!KeyCode::Char('a').is_modifier() && !KeyCode::Escape.is_modifier());
    }
}
