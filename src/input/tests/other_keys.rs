//! xterm's modifyOtherKeys and formatOtherKeys.

use super::*;

const LEVEL_1: &str = "\x1b[>4;1m";
const LEVEL_2: &str = "\x1b[>4;2m";
const LEVEL_3: &str = "\x1b[>4;3m";

#[test]
fn level_1_tells_what_would_be_lost() {
    check_all(
        LEVEL_1,
        &[
            ("Ctrl+1", "\x1b[27;5;49~"),
            ("Ctrl+0", "\x1b[27;5;48~"),
            ("Ctrl+9", "\x1b[27;5;57~"),
            ("Ctrl+,", "\x1b[27;5;44~"),
            ("Ctrl+.", "\x1b[27;5;46~"),
            ("Ctrl+;", "\x1b[27;5;59~"),
            ("Ctrl+=", "\x1b[27;5;61~"),
            ("Ctrl++", "\x1b[27;5;43~"),
            ("Ctrl+-", "\x1b[27;5;45~"),
            ("Ctrl+Shift+1", "\x1b[27;6;33~"),
            ("Ctrl+Shift+=", "\x1b[27;6;43~"),
            ("Ctrl+Alt+1", "\x1b[27;7;49~"),
            ("Ctrl+?", "\x1b[27;5;63~"),
            ("Ctrl+Shift+/", "\x1b[27;6;63~"),
            ("Ctrl+é", "\x1b[27;5;233~"),
            ("Ctrl+Enter", "\x1b[27;5;13~"),
            ("Shift+Enter", "\x1b[27;2;13~"),
            ("Ctrl+Shift+Enter", "\x1b[27;6;13~"),
            ("Ctrl+Tab", "\x1b[27;5;9~"),
        ],
    );
}

#[test]
fn level_1_keeps_what_is_well_known() {
    check_all(
        LEVEL_1,
        &[
            ("a", "a"),
            ("Shift+a A", "A"),
            ("Shift+1", "!"),
            ("Ctrl+a Ctrl+Shift+a", "\x01"),
            ("Ctrl+i", "\t"),
            ("Ctrl+m", "\r"),
            ("Ctrl+[ Ctrl+3", "\x1b"),
            ("Ctrl+Space Ctrl+Shift+Space Ctrl+2 Ctrl+@", "\0"),
            ("Ctrl+/ Ctrl+_ Ctrl+7", "\x1f"),
            ("Ctrl+8", "\x7f"),
            ("Alt+a", "\x1ba"),
            ("Alt+Shift+a Alt+A", "\x1bA"),
            ("Ctrl+Alt+a", "\x1b\x01"),
            ("Enter", "\r"),
            ("Alt+Enter Ctrl+Alt+Enter", "\x1b\r"),
            ("Tab", "\t"),
            ("Shift+Tab Ctrl+Shift+Tab", "\x1b[Z"),
            ("Alt+Tab", "\x1b\t"),
            ("Escape Ctrl+Escape Shift+Escape", "\x1b"),
            ("Alt+Escape", "\x1b\x1b"),
            ("Backspace Shift+Backspace", "\x7f"),
            ("Ctrl+Backspace", "\x08"),
            ("Ctrl+Up", "\x1b[1;5A"),
            ("Ctrl+F5", "\x1b[15;5~"),
            ("Ctrl+Delete", "\x1b[3;5~"),
        ],
    );
}

#[test]
fn level_2_tells_every_modifier() {
    check_all(
        LEVEL_2,
        &[
            ("a", "a"),
            ("A", "A"),
            ("1", "1"),
            ("!", "!"),
            ("Shift+1 Shift+!", "!"),
            ("Shift+a", "\x1b[27;2;65~"),
            ("Shift+-", "\x1b[27;2;95~"),
            ("Shift+Space", "\x1b[27;2;32~"),
            ("Ctrl+a", "\x1b[27;5;97~"),
            ("Ctrl+Shift+a", "\x1b[27;6;65~"),
            ("Ctrl+i", "\x1b[27;5;105~"),
            ("Ctrl+[", "\x1b[27;5;91~"),
            ("Ctrl+Space", "\x1b[27;5;32~"),
            ("Ctrl+2", "\x1b[27;5;50~"),
            ("Ctrl+Shift+2", "\x1b[27;6;64~"),
            ("Alt+a", "\x1b[27;3;97~"),
            ("Alt+A Alt+Shift+a", "\x1b[27;4;65~"),
            ("Alt+1", "\x1b[27;3;49~"),
            ("Alt+Shift+1", "\x1b[27;4;33~"),
            ("Ctrl+Alt+a", "\x1b[27;7;97~"),
            ("Ctrl+Alt+Shift+a", "\x1b[27;8;65~"),
            ("Meta+a", "\x1b[27;9;97~"),
            ("Enter", "\r"),
            ("Shift+Enter", "\x1b[27;2;13~"),
            ("Alt+Enter", "\x1b[27;3;13~"),
            ("Ctrl+Enter", "\x1b[27;5;13~"),
            ("Tab", "\t"),
            ("Shift+Tab", "\x1b[Z"),
            ("Ctrl+Tab", "\x1b[27;5;9~"),
            ("Ctrl+Shift+Tab", "\x1b[27;6;9~"),
            ("Alt+Tab", "\x1b[27;3;9~"),
            ("Escape", "\x1b"),
            ("Shift+Escape", "\x1b[27;2;27~"),
            ("Alt+Escape", "\x1b[27;3;27~"),
            ("Backspace", "\x7f"),
            ("Ctrl+Backspace", "\x08"),
            ("Shift+Backspace", "\x1b[27;2;127~"),
            ("Alt+Backspace", "\x1b[27;3;127~"),
            ("Ctrl+Shift+Backspace", "\x1b[27;6;8~"),
            ("Ctrl+Up", "\x1b[1;5A"),
            ("Shift+F3", "\x1b[1;2R"),
            ("Alt+Kp5", "\x1b5"),
            ("Super+a", "a"),
        ],
    );
    check("Shift+Backspace", "\x1b[>4;2m\x1b[?67h", "\x1b[27;2;8~");
}

#[test]
fn level_3_tells_all() {
    check_all(
        LEVEL_3,
        &[
            ("a", "\x1b[27;1;97~"),
            ("A", "\x1b[27;1;65~"),
            ("Shift+a", "\x1b[27;2;65~"),
            ("Ctrl+a", "\x1b[27;5;97~"),
            ("Enter", "\x1b[27;1;13~"),
            ("Shift+Tab", "\x1b[27;2;9~"),
            ("Escape", "\x1b[27;1;27~"),
            ("Backspace", "\x1b[27;1;127~"),
            ("Up", "\x1b[A"),
            ("F5", "\x1b[15~"),
        ],
    );
}

#[test]
fn switched_off_again() {
    check("Ctrl+1", "\x1b[>4;2m\x1b[>4m", "1");
    check("Ctrl+a", "\x1b[>4;2m\x1b[>4n", "\x01");
}

#[test]
fn the_other_format() {
    let check = |name: &str, bytes: &str| {
        let modes = KeyModes { other_keys: 2, other_keys_as_csi_u: true, ..KeyModes::default() };
        assert_eq!(encode(&key(name), &modes), bytes.as_bytes(), "{name}");
    };
    check("Ctrl+a", "\x1b[97;5u");
    check("Ctrl+Shift+a", "\x1b[65;6u");
    check("Shift+Enter", "\x1b[13;2u");
    check("Ctrl+Tab", "\x1b[9;5u");
    check("a", "a");
    check("Ctrl+Up", "\x1b[1;5A");
}

#[test]
fn the_kitty_protocol_goes_first() {
    check("Ctrl+a", "\x1b[>4;2m\x1b[>1u", "\x1b[97;5u");
}

/// XTFMTKEYS, as the program asks for it.
#[test]
fn the_program_chooses_the_format() {
    check("Ctrl+i", "\x1b[>4;2m", "\x1b[27;5;105~");
    check("Ctrl+i", "\x1b[>4;2m\x1b[>4;1f", "\x1b[105;5u");
    check("Ctrl+i", "\x1b[>4;2m\x1b[>4;1f\x1b[>4f", "\x1b[27;5;105~");
}
