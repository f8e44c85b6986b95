//! What holds for any key, any mouse and any modes.

use super::modes;
use crate::input::mouse::{self, Button, Cell, MouseEvent, MouseKind, Pixel, Wheel};
use crate::input::table::TABLE;
use crate::input::{Key, KeyCode, KeyKind, KeyModes, Mods, encode};
use proptest::prelude::*;

fn code() -> impl Strategy<Value = KeyCode> {
    prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        (0u8..128).prop_map(|byte| KeyCode::Char(byte as char)),
        (0..TABLE.len()).prop_map(|at| TABLE[at].code),
        Just(KeyCode::Composed),
    ]
}

fn kind() -> impl Strategy<Value = KeyKind> {
    prop::sample::select(vec![KeyKind::Press, KeyKind::Repeat, KeyKind::Release])
}

/// Keys that are told as they are: small letters, and names but those of modifiers.
pub(super) fn told_code() -> impl Strategy<Value = KeyCode> {
    let named = TABLE.iter().map(|row| row.code).filter(|code| !code.is_modifier());
    prop::sample::select(named.chain(('a'..='z').map(KeyCode::Char)).collect::<Vec<_>>())
}

/// Number, modifiers, event and last byte of a sequence, as a program reads them.
fn read(bytes: &[u8]) -> (u32, u32, u32, u8) {
    let text = std::str::from_utf8(bytes).unwrap().strip_prefix("\x1b[").unwrap();
    let (fields, last) = text.split_at(text.len() - 1);
    let field = |at: usize, part: usize| {
        let field = fields.split(';').nth(at).and_then(|field| field.split(':').nth(part));
        field.and_then(|number| number.parse().ok()).unwrap_or(1)
    };
    (field(0, 0), field(1, 0), field(1, 1), last.as_bytes()[0])
}

prop_compose! {
    fn any_key()(
        code in code(),
        mods in any::<u8>(),
        kind in kind(),
        text in prop::option::of(any::<String>()),
        shifted in any::<Option<char>>(),
        base in any::<Option<char>>(),
    ) -> Key {
        Key { code, mods: Mods(mods), kind, text, shifted, base }
    }
}

prop_compose! {
    fn any_modes()(
        program in prop::collection::vec(
            prop::sample::select(vec!["\x1b[?1h", "\x1b=", "\x1b[?67h", "\x1b[20h", "\x1b[?1049h"]),
            0..4,
        ),
        kitty in 0u8..64,
        other_keys in 0u8..5,
        other_keys_as_csi_u: bool,
    ) -> KeyModes {
        KeyModes { modes: modes(&program.concat()), kitty, other_keys, other_keys_as_csi_u }
    }
}

fn any_mouse() -> impl Strategy<Value = MouseEvent> {
    let button = prop::sample::select(vec![Button::Left, Button::Right, Button::Eleventh]);
    let kind = (button, 0u8..5).prop_map(|(button, kind)| match kind {
        0 => MouseKind::Press(button),
        1 => MouseKind::Release(button),
        2 => MouseKind::Move(Some(button)),
        3 => MouseKind::Move(None),
        _ => MouseKind::Wheel(Wheel::Down),
    });
    let place = (any::<u16>(), any::<u16>(), any::<Option<(u32, u32)>>());
    (kind, any::<u8>(), place).prop_map(|(kind, mods, (row, col, pixel))| MouseEvent {
        kind,
        mods: Mods(mods),
        cell: Cell { row, col },
        pixel: pixel.map(|(x, y)| Pixel { x, y }),
    })
}

/// The longest text, four bytes or eight digits to a character, and the numbers around it.
const MAX_BYTES: usize = 1024;

proptest! {
    #[test]
    fn any_key_is_short_utf8(key in any_key(), modes in any_modes()) {
        let bytes = encode(&key, &modes);
        prop_assert!(bytes.len() <= MAX_BYTES);
        prop_assert!(String::from_utf8(bytes).is_ok());
    }

    #[test]
    fn with_all_flags_a_key_reads_back(code in told_code(), mods in any::<u8>(), kind in kind()) {
        let modes = KeyModes { kitty: 31, ..KeyModes::default() };
        let key = Key::new(code, Mods(mods)).of_kind(kind);
        let (number, last) = match code {
            KeyCode::Char(c) => (u32::from(c), b'u'),
            code => code.row().map(|row| row.kitty).unwrap(),
        };
        let told = (number, u32::from(mods) + 1, kind as u32 + 1, last);
        prop_assert_eq!(read(&encode(&key, &modes)), told);
    }

    #[test]
    fn any_mouse_is_bounded(
        event in any_mouse(),
        mouse in prop::sample::select(vec![9, 1000, 1002, 1003]),
        encoding in prop::sample::select(vec![0, 1005, 1006, 1015, 1016]),
    ) {
        let modes = modes(&format!("\x1b[?{mouse}h\x1b[?{encoding}h"));
        let sent = mouse::encode(&event, modes).unwrap_or_default();
        prop_assert!(sent.is_empty() || sent.starts_with(b"\x1b["));
        prop_assert!(sent.len() <= 32);
    }
}
