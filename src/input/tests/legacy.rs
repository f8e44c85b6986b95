//! What xterm sends when a program asked for nothing else.

use super::*;
use crate::input::{KeyCode, KeyKind, Mods};

const APP_CURSOR: &str = "\x1b[?1h";
const APP_KEYPAD: &str = "\x1b=";
const BACKARROW: &str = "\x1b[?67h";
const NEWLINE: &str = "\x1b[20h";

#[test]
fn characters() {
    check_all(
        "",
        &[
            ("a", "a"),
            ("A Shift+a Shift+A", "A"),
            ("1", "1"),
            ("! Shift+1 Shift+!", "!"),
            ("_ Shift+- Shift+_", "_"),
            ("? Shift+/", "?"),
            ("~ Shift+`", "~"),
            ("Space Shift+Space", " "),
            ("é", "é"),
            ("É Shift+é", "É"),
            ("日", "日"),
            ("👍", "👍"),
            ("Super+a Hyper+a", "a"),
            ("CapsLock+a", "A"),
            ("CapsLock+Shift+a", "a"),
        ],
    );
}

#[test]
fn ctrl_makes_control_characters() {
    for letter in 'a'..='z' {
        let byte = char::from(letter as u8 - b'a' + 1).to_string();
        check(&format!("Ctrl+{letter}"), "", &byte);
        check(&format!("C-{}", letter.to_ascii_uppercase()), "", &byte);
        check(&format!("^{letter}"), "", &byte);
        check(&format!("Ctrl+Shift+{letter}"), "", &byte);
        check(&format!("Ctrl+Alt+{letter}"), "", &format!("\x1b{byte}"));
        check(&format!("C-M-S-{letter}"), "", &format!("\x1b{byte}"));
    }
    check_all(
        "",
        &[
            ("Ctrl+Space Ctrl+Shift+Space Ctrl+@ Ctrl+2 Ctrl+Shift+2 Ctrl+`", "\0"),
            ("Ctrl+[ Ctrl+3 Ctrl+{ Ctrl+Shift+[", "\x1b"),
            ("Ctrl+\\ Ctrl+4 Ctrl+|", "\x1c"),
            ("Ctrl+] Ctrl+5 Ctrl+}", "\x1d"),
            ("Ctrl+^ Ctrl+6 Ctrl+Shift+6 Ctrl+~", "\x1e"),
            ("Ctrl+_ Ctrl+7 Ctrl+/ Ctrl+Shift+-", "\x1f"),
            ("Ctrl+? Ctrl+8 Ctrl+Shift+/", "\x7f"),
            ("Ctrl+0", "0"),
            ("Ctrl+1", "1"),
            ("Ctrl+9", "9"),
            ("Ctrl+; ", ";"),
            ("Ctrl+Shift+8", "*"),
            ("Ctrl+é", "é"),
            ("Ctrl+Alt+Space", "\x1b\0"),
            ("Ctrl+Alt+]", "\x1b\x1d"),
        ]
        .map(|(names, bytes)| (names.trim_end(), bytes)),
    );
}

#[test]
fn alt_sends_escape_first() {
    check_all(
        "",
        &[
            ("Alt+a M-a Meta+a", "\x1ba"),
            ("Alt+A M-A Alt+Shift+a", "\x1bA"),
            ("Alt+[", "\x1b["),
            ("Alt+Shift+1 Alt+!", "\x1b!"),
            ("Alt+Space", "\x1b "),
            ("Alt+é", "\x1bé"),
            ("Alt+.", "\x1b."),
        ],
    );
}

/// The table of C0 controls in the kitty protocol's specification, which is xterm's too.
#[test]
fn enter_escape_backspace_tab_and_space() {
    let mods = ["", "Ctrl+", "Alt+", "Shift+", "Ctrl+Shift+", "Alt+Shift+", "Ctrl+Alt+"];
    let table: [(&str, [&str; 7]); 5] = [
        ("Enter", ["\r", "\r", "\x1b\r", "\r", "\r", "\x1b\r", "\x1b\r"]),
        ("Escape", ["\x1b", "\x1b", "\x1b\x1b", "\x1b", "\x1b", "\x1b\x1b", "\x1b\x1b"]),
        ("Backspace", ["\x7f", "\x08", "\x1b\x7f", "\x7f", "\x08", "\x1b\x7f", "\x1b\x08"]),
        ("Tab", ["\t", "\t", "\x1b\t", "\x1b[Z", "\x1b[Z", "\x1b\x1b[Z", "\x1b\t"]),
        ("Space", [" ", "\0", "\x1b ", " ", "\0", "\x1b ", "\x1b\0"]),
    ];
    for (name, row) in table {
        for (mods, bytes) in mods.iter().zip(row) {
            check(&format!("{mods}{name}"), "", bytes);
        }
    }
}

#[test]
fn backarrow_mode_swaps_backspace_and_delete() {
    check("Backspace", BACKARROW, "\x08");
    check("Ctrl+Backspace", BACKARROW, "\x7f");
    check("Alt+Backspace", BACKARROW, "\x1b\x08");
    check("Backspace", "\x1b[?67h\x1b[?67l", "\x7f");
    check("Delete", BACKARROW, "\x1b[3~");
}

#[test]
fn newline_mode_sends_a_line_feed_too() {
    check("Enter", NEWLINE, "\r\n");
    check("Alt+Enter", NEWLINE, "\x1b\r\n");
    check("KpEnter", NEWLINE, "\r\n");
    check("Ctrl+m", NEWLINE, "\r\n");
    check("Enter", "\x1b[20h\x1b[20l", "\r");
}

const MODIFIED: [(&str, u8); 15] = [
    ("Shift+", 2),
    ("Alt+", 3),
    ("Alt+Shift+", 4),
    ("Ctrl+", 5),
    ("Ctrl+Shift+", 6),
    ("Ctrl+Alt+", 7),
    ("Ctrl+Alt+Shift+", 8),
    ("Meta+", 9),
    ("Meta+Shift+", 10),
    ("Meta+Alt+", 11),
    ("Meta+Alt+Shift+", 12),
    ("Meta+Ctrl+", 13),
    ("Meta+Ctrl+Shift+", 14),
    ("Meta+Ctrl+Alt+", 15),
    ("Meta+Ctrl+Alt+Shift+", 16),
];

/// xterm's PC-style function keys: the number in `CSI number ~`.
const TILDE: [(&str, u8); 36] = [
    ("Insert", 2),
    ("Delete", 3),
    ("PageUp", 5),
    ("PageDown", 6),
    ("F5", 15),
    ("F6", 17),
    ("F7", 18),
    ("F8", 19),
    ("F9", 20),
    ("F10", 21),
    ("F11", 23),
    ("F12", 24),
    ("F13", 25),
    ("F14", 26),
    ("F15", 28),
    ("F16", 29),
    ("F17", 31),
    ("F18", 32),
    ("F19", 33),
    ("F20", 34),
    ("F21", 42),
    ("F22", 43),
    ("F23", 44),
    ("F24", 45),
    ("F25", 46),
    ("F26", 47),
    ("F27", 48),
    ("F28", 49),
    ("F29", 50),
    ("F30", 51),
    ("F31", 52),
    ("F32", 53),
    ("F33", 54),
    ("F34", 55),
    ("F35", 56),
    ("Menu", 29),
];

#[test]
fn function_and_editing_keys() {
    for (name, number) in TILDE {
        check(name, "", &format!("\x1b[{number}~"));
        check(name, APP_CURSOR, &format!("\x1b[{number}~"));
        for (mods, parameter) in MODIFIED {
            check(&format!("{mods}{name}"), "", &format!("\x1b[{number};{parameter}~"));
        }
    }
}

#[test]
fn cursor_keys_follow_their_mode() {
    for (name, last) in
        [("Up", 'A'), ("Down", 'B'), ("Right", 'C'), ("Left", 'D'), ("Home", 'H'), ("End", 'F')]
    {
        for name in [name.to_owned(), format!("Kp{name}")] {
            check(&name, "", &format!("\x1b[{last}"));
            check(&name, APP_CURSOR, &format!("\x1bO{last}"));
            check(&name, "\x1b[?1h\x1b[?1l", &format!("\x1b[{last}"));
            for (mods, parameter) in MODIFIED {
                let bytes = format!("\x1b[1;{parameter}{last}");
                check(&format!("{mods}{name}"), "", &bytes);
                check(&format!("{mods}{name}"), APP_CURSOR, &bytes);
            }
        }
    }
    check("KpBegin", "", "\x1b[E");
    check("KpBegin", APP_CURSOR, "\x1bOE");
    check("Ctrl+KpBegin", APP_CURSOR, "\x1b[1;5E");
}

#[test]
fn f1_to_f4_are_the_keys_above_the_keypad() {
    for (name, last) in [("F1", 'P'), ("F2", 'Q'), ("F3", 'R'), ("F4", 'S')] {
        check(name, "", &format!("\x1bO{last}"));
        check(name, APP_CURSOR, &format!("\x1bO{last}"));
        for (mods, parameter) in MODIFIED {
            check(&format!("{mods}{name}"), "", &format!("\x1b[1;{parameter}{last}"));
        }
    }
}

#[test]
fn the_keypad_follows_its_mode() {
    for (name, plain, application) in [
        ("Kp0", "0", "\x1bOp"),
        ("Kp1", "1", "\x1bOq"),
        ("Kp2", "2", "\x1bOr"),
        ("Kp3", "3", "\x1bOs"),
        ("Kp4", "4", "\x1bOt"),
        ("Kp5", "5", "\x1bOu"),
        ("Kp6", "6", "\x1bOv"),
        ("Kp7", "7", "\x1bOw"),
        ("Kp8", "8", "\x1bOx"),
        ("Kp9", "9", "\x1bOy"),
        ("Kp*", "*", "\x1bOj"),
        ("Kp+", "+", "\x1bOk"),
        ("Kp,", ",", "\x1bOl"),
        ("Kp-", "-", "\x1bOm"),
        ("Kp.", ".", "\x1bOn"),
        ("Kp/", "/", "\x1bOo"),
        ("Kp=", "=", "\x1bOX"),
        ("KpEnter", "\r", "\x1bOM"),
    ] {
        check(name, "", plain);
        check(name, APP_KEYPAD, application);
        check(name, "\x1b=\x1b>", plain);
        check(&format!("NumLock+{name}"), APP_KEYPAD, plain);
        check(&format!("Alt+{name}"), "", &format!("\x1b{plain}"));
        check(&format!("Ctrl+{name}"), APP_KEYPAD, &application.replace('O', "O5"));
    }
    check_all(
        APP_KEYPAD,
        &[("KpInsert", "\x1b[2~"), ("KpDelete", "\x1b[3~"), ("KpPageUp", "\x1b[5~")],
    );
}

#[test]
fn keys_without_an_old_encoding_send_nothing() {
    check_all(
        "",
        &[(
            "CapsLock NumLock ScrollLock PrintScreen Pause MediaPlay MuteVolume LeftShift \
             RightControl Ctrl+Pause IsoLevel3Shift",
            "",
        )],
    );
}

#[test]
fn a_key_let_go_sends_nothing_and_a_repeated_one_is_pressed_again() {
    for name in ["a", "Enter", "Up", "Ctrl+c", "F5", "Kp5"] {
        check_key(&key(name).of_kind(KeyKind::Release), "", "");
        let pressed = encode(&key(name), &KeyModes::default());
        assert_eq!(encode(&key(name).of_kind(KeyKind::Repeat), &KeyModes::default()), pressed);
    }
}

#[test]
fn composed_text_and_other_layouts() {
    check_key(&Key::composed("日本"), "", "日本");
    check_key(&Key { text: Some("å".to_owned()), ..key("a") }, "", "å");
    check_key(&Key { shifted: Some('+'), ..Key::new(KeyCode::Char('*'), Mods::NONE) }, "", "*");
    check_key(&Key { shifted: Some('+'), ..key("Shift+1") }, "", "+");
    check_key(&Key { base: Some('c'), ..key("Ctrl+с") }, "", "\x03");
    check_key(&Key { base: Some('c'), ..key("с") }, "", "с");
}

/// People's clients give capitals with Shift, as a keyboard would.
#[test]
fn capitals_with_shift_as_well() {
    let capital = Key { code: KeyCode::Char('A'), ..key("Shift+a") };
    check_key(&capital, "", "A");
    check_key(&Key { mods: Mods::CTRL, ..capital.clone() }, "", "\x01");
    check_key(&Key { mods: Mods::ALT | Mods::SHIFT, ..capital }, "", "\x1bA");
}
