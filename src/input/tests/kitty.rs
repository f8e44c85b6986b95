//! The kitty keyboard protocol, by its specification.

use super::*;
use crate::input::KeyKind::{Release, Repeat};
use crate::input::{KeyCode, Mods};

const DISAMBIGUATE: &str = "\x1b[>1u";
const EVENTS: &str = "\x1b[>2u";
const BOTH: &str = "\x1b[>3u";
const ALTERNATES: &str = "\x1b[>5u";
const ALL: &str = "\x1b[>8u";
const ALL_EVENTS: &str = "\x1b[>10u";
const ALL_TEXT: &str = "\x1b[>24u";
const EVERYTHING: &str = "\x1b[>31u";

#[test]
fn text_stays_text() {
    for program in [DISAMBIGUATE, EVENTS, BOTH, ALTERNATES, "\x1b[>7u", "\x1b[>17u"] {
        check_all(
            program,
            &[
                ("a", "a"),
                ("A Shift+a", "A"),
                ("Shift+1 !", "!"),
                ("Space Shift+Space", " "),
                ("é", "é"),
                ("日", "日"),
                ("CapsLock+a", "A"),
                ("NumLock+1", "1"),
                ("Kp5 NumLock+Kp5", "5"),
                ("KpAdd", "+"),
            ],
        );
    }
}

#[test]
fn disambiguated_characters() {
    check_all(
        DISAMBIGUATE,
        &[
            ("Ctrl+a Ctrl+A", "\x1b[97;5u"),
            ("Ctrl+c", "\x1b[99;5u"),
            ("Ctrl+i", "\x1b[105;5u"),
            ("Ctrl+m", "\x1b[109;5u"),
            ("Ctrl+[", "\x1b[91;5u"),
            ("Ctrl+Space", "\x1b[32;5u"),
            ("Ctrl+Shift+a", "\x1b[97;6u"),
            ("Ctrl+Shift+1", "\x1b[49;6u"),
            ("Ctrl+1", "\x1b[49;5u"),
            ("Alt+a", "\x1b[97;3u"),
            ("Alt+A Alt+Shift+a", "\x1b[97;4u"),
            ("Alt+[", "\x1b[91;3u"),
            ("Alt+Shift+3", "\x1b[51;4u"),
            ("Ctrl+Alt+a", "\x1b[97;7u"),
            ("Ctrl+Alt+Shift+a", "\x1b[97;8u"),
            ("Super+a", "\x1b[97;9u"),
            ("Hyper+a", "\x1b[97;17u"),
            ("Meta+a", "\x1b[97;33u"),
            ("Super+Shift+a", "\x1b[97;10u"),
            ("Ctrl+é", "\x1b[233;5u"),
            ("Ctrl+CapsLock+a", "\x1b[97;69u"),
            ("Ctrl+NumLock+a", "\x1b[97;133u"),
        ],
    );
}

#[test]
fn disambiguated_control_keys() {
    check_all(
        DISAMBIGUATE,
        &[
            ("Escape", "\x1b[27u"),
            ("Shift+Escape", "\x1b[27;2u"),
            ("Alt+Escape", "\x1b[27;3u"),
            ("Enter CapsLock+Enter NumLock+Enter", "\r"),
            ("Tab", "\t"),
            ("Backspace NumLock+Backspace", "\x7f"),
            ("Shift+Enter", "\x1b[13;2u"),
            ("Ctrl+Enter", "\x1b[13;5u"),
            ("Alt+Enter", "\x1b[13;3u"),
            ("Shift+Tab", "\x1b[9;2u"),
            ("Ctrl+Tab", "\x1b[9;5u"),
            ("Ctrl+Shift+Tab", "\x1b[9;6u"),
            ("Ctrl+Backspace", "\x1b[127;5u"),
            ("Alt+Backspace", "\x1b[127;3u"),
        ],
    );
    check("Backspace", "\x1b[>1u\x1b[?67h", "\x08");
}

/// The functional keys of the specification's table.
const FUNCTIONAL: [(&str, u32, char); 58] = [
    ("INSERT", 2, '~'),
    ("DELETE", 3, '~'),
    ("LEFT", 1, 'D'),
    ("RIGHT", 1, 'C'),
    ("UP", 1, 'A'),
    ("DOWN", 1, 'B'),
    ("PAGE_UP", 5, '~'),
    ("PAGE_DOWN", 6, '~'),
    ("HOME", 1, 'H'),
    ("END", 1, 'F'),
    ("PRINT_SCREEN", 57361, 'u'),
    ("PAUSE", 57362, 'u'),
    ("MENU", 57363, 'u'),
    ("F1", 1, 'P'),
    ("F2", 1, 'Q'),
    ("F3", 13, '~'),
    ("F4", 1, 'S'),
    ("F5", 15, '~'),
    ("F6", 17, '~'),
    ("F7", 18, '~'),
    ("F8", 19, '~'),
    ("F9", 20, '~'),
    ("F10", 21, '~'),
    ("F11", 23, '~'),
    ("F12", 24, '~'),
    ("F13", 57376, 'u'),
    ("F20", 57383, 'u'),
    ("F24", 57387, 'u'),
    ("F25", 57388, 'u'),
    ("F35", 57398, 'u'),
    ("KP_ENTER", 57414, 'u'),
    ("KP_LEFT", 57417, 'u'),
    ("KP_RIGHT", 57418, 'u'),
    ("KP_UP", 57419, 'u'),
    ("KP_DOWN", 57420, 'u'),
    ("KP_PAGE_UP", 57421, 'u'),
    ("KP_PAGE_DOWN", 57422, 'u'),
    ("KP_HOME", 57423, 'u'),
    ("KP_END", 57424, 'u'),
    ("KP_INSERT", 57425, 'u'),
    ("KP_DELETE", 57426, 'u'),
    ("KP_BEGIN", 1, 'E'),
    ("MEDIA_PLAY", 57428, 'u'),
    ("MEDIA_PAUSE", 57429, 'u'),
    ("MEDIA_PLAY_PAUSE", 57430, 'u'),
    ("MEDIA_REVERSE", 57431, 'u'),
    ("MEDIA_STOP", 57432, 'u'),
    ("MEDIA_FAST_FORWARD", 57433, 'u'),
    ("MEDIA_REWIND", 57434, 'u'),
    ("MEDIA_TRACK_NEXT", 57435, 'u'),
    ("MEDIA_TRACK_PREVIOUS", 57436, 'u'),
    ("MEDIA_RECORD", 57437, 'u'),
    ("LOWER_VOLUME", 57438, 'u'),
    ("RAISE_VOLUME", 57439, 'u'),
    ("MUTE_VOLUME", 57440, 'u'),
    ("ESCAPE", 27, 'u'),
    ("F14", 57377, 'u'),
    ("F30", 57393, 'u'),
];

#[test]
fn functional_keys() {
    for (name, number, last) in FUNCTIONAL {
        let plain = if number == 1 { String::new() } else { number.to_string() };
        for program in [DISAMBIGUATE, ALL, "\x1b[>1u\x1b[?1h\x1b=", EVERYTHING] {
            check(name, program, &format!("\x1b[{plain}{last}"));
            check(&format!("Ctrl+{name}"), program, &format!("\x1b[{number};5{last}"));
            check(&format!("Shift+Super+{name}"), program, &format!("\x1b[{number};10{last}"));
            check(&format!("NumLock+{name}"), program, &format!("\x1b[{number};129{last}"));
        }
        let modes = KeyModes::of(&set(BOTH));
        let event = |kind| String::from_utf8(encode(&key(name).of_kind(kind), &modes)).unwrap();
        assert_eq!(event(Repeat), format!("\x1b[{number};1:2{last}"));
        assert_eq!(event(Release), format!("\x1b[{number};1:3{last}"));
    }
}

/// Keypad keys that make text, and the keys that are told only when all are.
#[test]
fn keys_that_need_all() {
    for (name, number) in [
        ("KP_0", 57399),
        ("KP_5", 57404),
        ("KP_9", 57408),
        ("KP_DECIMAL", 57409),
        ("KP_DIVIDE", 57410),
        ("KP_MULTIPLY", 57411),
        ("KP_SUBTRACT", 57412),
        ("KP_ADD", 57413),
        ("KP_EQUAL", 57415),
        ("KP_SEPARATOR", 57416),
        ("CAPS_LOCK", 57358),
        ("SCROLL_LOCK", 57359),
        ("NUM_LOCK", 57360),
        ("ISO_LEVEL3_SHIFT", 57453),
        ("ISO_LEVEL5_SHIFT", 57454),
        ("ENTER", 13),
        ("TAB", 9),
        ("BACKSPACE", 127),
    ] {
        check(name, ALL, &format!("\x1b[{number}u"));
        check(&format!("Ctrl+{name}"), ALL, &format!("\x1b[{number};5u"));
        check_key(&key(name).of_kind(Release), ALL_EVENTS, &format!("\x1b[{number};1:3u"));
    }
    check("Ctrl+Kp5", DISAMBIGUATE, "\x1b[57404;5u");
}

#[test]
fn modifier_keys_count_themselves() {
    for (name, number, own) in [
        ("LEFT_SHIFT", 57441, 2),
        ("LEFT_CONTROL", 57442, 5),
        ("LEFT_ALT", 57443, 3),
        ("LEFT_SUPER", 57444, 9),
        ("LEFT_HYPER", 57445, 17),
        ("LEFT_META", 57446, 33),
        ("RIGHT_SHIFT", 57447, 2),
        ("RIGHT_CONTROL", 57448, 5),
        ("RIGHT_ALT", 57449, 3),
        ("RIGHT_SUPER", 57450, 9),
        ("RIGHT_HYPER", 57451, 17),
        ("RIGHT_META", 57452, 33),
    ] {
        check(name, ALL, &format!("\x1b[{number};{own}u"));
        check(name, DISAMBIGUATE, "");
        check_key(&key(name).of_kind(Release), ALL_EVENTS, &format!("\x1b[{number};1:3u"));
    }
    check_all(DISAMBIGUATE, &[("CapsLock NumLock ScrollLock IsoLevel3Shift", "")]);
    let still_held = Key::new(KeyCode::LeftControl, Mods::CTRL).of_kind(Release);
    check_key(&still_held, ALL_EVENTS, "\x1b[57442;5:3u");
}

#[test]
fn every_key_is_an_escape_code() {
    check_all(
        ALL,
        &[
            ("a", "\x1b[97u"),
            ("A Shift+a", "\x1b[97;2u"),
            ("1", "\x1b[49u"),
            ("Shift+1", "\x1b[49;2u"),
            ("!", "\x1b[33u"),
            ("Space", "\x1b[32u"),
            ("é", "\x1b[233u"),
            ("Ctrl+a", "\x1b[97;5u"),
            ("CapsLock+a", "\x1b[97;65u"),
            ("Enter", "\x1b[13u"),
            ("Shift+Enter", "\x1b[13;2u"),
        ],
    );
}

#[test]
fn events_beside_text() {
    check_key(&key("a").of_kind(Repeat), BOTH, "a");
    check_key(&key("a").of_kind(Release), BOTH, "\x1b[97;1:3u");
    check_key(&key("Shift+a").of_kind(Release), BOTH, "\x1b[97;2:3u");
    check_key(&key("Ctrl+a").of_kind(Repeat), BOTH, "\x1b[97;5:2u");
    check_key(&key("Ctrl+a").of_kind(Release), BOTH, "\x1b[97;5:3u");
    check_key(&key("Up").of_kind(Repeat), BOTH, "\x1b[1;1:2A");
    check_key(&key("Ctrl+Up").of_kind(Release), BOTH, "\x1b[1;5:3A");
    check_key(&key("a").of_kind(Repeat), ALL_EVENTS, "\x1b[97;1:2u");
    check_key(&key("a").of_kind(Release), ALL_EVENTS, "\x1b[97;1:3u");
}

#[test]
fn enter_tab_and_backspace_are_not_let_go_unless_all_are_told() {
    for (name, byte) in [("Enter", "\r"), ("Tab", "\t"), ("Backspace", "\x7f")] {
        check_key(&key(name).of_kind(Repeat), BOTH, byte);
        check_key(&key(name).of_kind(Release), BOTH, "");
        check_key(&key(name).of_kind(Release), EVENTS, "");
    }
    check_key(&key("Ctrl+Enter").of_kind(Release), BOTH, "\x1b[13;5:3u");
    check_key(&key("Enter").of_kind(Release), ALL_EVENTS, "\x1b[13;1:3u");
}

#[test]
fn nothing_is_let_go_without_events() {
    for program in [DISAMBIGUATE, ALTERNATES, ALL, ALL_TEXT] {
        for name in ["a", "Ctrl+a", "Enter", "Up", "Escape", "LeftShift"] {
            check_key(&key(name).of_kind(Release), program, "");
        }
        let modes = KeyModes::of(&set(program));
        assert_eq!(encode(&key("Up").of_kind(Repeat), &modes), b"\x1b[A");
    }
}

/// Events without disambiguation: presses as ever, where that can be said.
#[test]
fn events_alone() {
    check_all(
        EVENTS,
        &[
            ("Escape", "\x1b"),
            ("Ctrl+a", "\x01"),
            ("Alt+a", "\x1ba"),
            ("Alt+Shift+a Alt+A", "\x1bA"),
            ("Ctrl+Alt+a", "\x1b\x01"),
            ("Ctrl+Shift+a", "\x1b[97;6u"),
            ("Super+a", "\x1b[97;9u"),
            ("Up KpUp", "\x1b[A"),
            ("F1", "\x1b[P"),
            ("Ctrl+Enter", "\x1b[13;5u"),
            ("KpHome", "\x1b[H"),
            ("KpDelete", "\x1b[3~"),
        ],
    );
    check_key(&key("Escape").of_kind(Release), EVENTS, "\x1b[27;1:3u");
    check_key(&key("Ctrl+a").of_kind(Repeat), EVENTS, "\x1b[97;5:2u");
    check_key(&key("Kp5").of_kind(Release), EVENTS, "\x1b[53;1:3u");
}

#[test]
fn alternate_keys() {
    check_all(
        ALTERNATES,
        &[
            ("Ctrl+a", "\x1b[97;5u"),
            ("Ctrl+Shift+a", "\x1b[97:65;6u"),
            ("Ctrl+Shift+=", "\x1b[61:43;6u"),
            ("Alt+A", "\x1b[97:65;4u"),
            ("Alt+Shift+1 Alt+Shift+!", "\x1b[49:33;4u"),
            ("Shift+Enter", "\x1b[13;2u"),
            ("Shift+Up", "\x1b[1;2A"),
        ],
    );
    let cyrillic = Key { base: Some('c'), ..key("Ctrl+с") };
    check_key(&cyrillic, ALTERNATES, "\x1b[1089::99;5u");
    check_key(&cyrillic, DISAMBIGUATE, "\x1b[1089;5u");
    let shifted = Key { base: Some('c'), ..key("Ctrl+Shift+с") };
    check_key(&shifted, ALTERNATES, "\x1b[1089:1057:99;6u");
    check_key(&Key { base: Some('a'), ..key("Ctrl+a") }, ALTERNATES, "\x1b[97;5u");
    let german = Key { shifted: Some('"'), ..key("Ctrl+Shift+2") };
    check_key(&german, ALTERNATES, "\x1b[50:34;6u");
    check("a", "\x1b[>12u", "\x1b[97u");
    check("A", "\x1b[>12u", "\x1b[97:65;2u");
}

#[test]
fn associated_text() {
    check_all(
        ALL_TEXT,
        &[
            ("a", "\x1b[97;;97u"),
            ("Shift+a A", "\x1b[97;2;65u"),
            ("Ctrl+a", "\x1b[97;5u"),
            ("Alt+a", "\x1b[97;3u"),
            ("é", "\x1b[233;;233u"),
            ("Space", "\x1b[32;;32u"),
            ("Kp5", "\x1b[57404;;53u"),
            ("Enter", "\x1b[13u"),
            ("Tab", "\x1b[9u"),
            ("Up", "\x1b[A"),
            ("CapsLock+a", "\x1b[97;65;65u"),
        ],
    );
    check_key(&Key { text: Some("å".to_owned()), ..key("a") }, ALL_TEXT, "\x1b[97;;229u");
    check_key(
        &Key { text: Some("e\u{301}".to_owned()), ..key("e") },
        ALL_TEXT,
        "\x1b[101;;101:769u",
    );
    check_key(&Key { text: Some("\r".to_owned()), ..key("Enter") }, ALL_TEXT, "\x1b[13u");
    check_key(&Key::composed("日本"), ALL_TEXT, "\x1b[0;;26085:26412u");
    check_key(&Key::composed("日本"), ALL, "日本");
    check_key(&Key::composed("日本"), DISAMBIGUATE, "日本");
}

#[test]
fn everything_at_once() {
    check("A", EVERYTHING, "\x1b[97:65;2;65u");
    check_key(&key("A").of_kind(Repeat), EVERYTHING, "\x1b[97:65;2:2;65u");
    check_key(&key("A").of_kind(Release), EVERYTHING, "\x1b[97:65;2:3u");
    check_key(&key("a").of_kind(Repeat), EVERYTHING, "\x1b[97;1:2;97u");
    check("Ctrl+Shift+a", EVERYTHING, "\x1b[97:65;6u");
    let shifted = Key { base: Some('c'), ..key("Shift+с") };
    check_key(&shifted, EVERYTHING, "\x1b[1089:1057:99;2;1057u");
}

/// What these two flags add, they add to sequences; alone they turn nothing on.
#[test]
fn additions_alone_change_nothing() {
    for program in ["\x1b[>4u", "\x1b[>16u", "\x1b[>20u"] {
        check_all(
            program,
            &[
                ("a", "a"),
                ("Ctrl+a", "\x01"),
                ("Up", "\x1b[A"),
                ("Escape", "\x1b"),
                ("F1", "\x1bOP"),
            ],
        );
        check("Up", &format!("{program}\x1b[?1h"), "\x1bOA");
    }
}

#[test]
fn popping_gives_the_old_encoding_back() {
    check("Ctrl+a", "\x1b[>1u\x1b[<u", "\x01");
    check("Ctrl+a", "\x1b[>1u\x1b[?1049h", "\x01");
    check("Ctrl+a", "\x1b[=1;1u", "\x1b[97;5u");
}
