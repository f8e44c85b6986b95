//! Keys and mouse, each as a line: what happens, the modes as a program sets them, the bytes.

mod decode;
mod kitty;
mod legacy;
mod mouse;
mod other_keys;
mod props;

use super::{Key, KeyModes, encode};
use crate::term::{Limits, Modes, Size, Terminal};

fn set(program: &str) -> Terminal {
    let limits = Limits { lines: 0, bytes: 0 };
    let mut terminal = Terminal::new(Size { cols: 2, rows: 2 }, limits);
    terminal.feed(program.as_bytes(), &mut Vec::new());
    terminal
}

pub(super) fn modes(program: &str) -> Modes {
    set(program).modes()
}

fn key(name: &str) -> Key {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn check_key(key: &Key, program: &str, bytes: &str) {
    let sent = encode(key, &KeyModes::of(&set(program)));
    let sent = String::from_utf8(sent).expect("keys are UTF-8");
    assert_eq!(sent, bytes, "{key} {:?} after {program:?}", key.kind);
}

/// A key by name, what the program wrote before, and what it gets.
fn check(name: &str, program: &str, bytes: &str) {
    check_key(&key(name), program, bytes);
}

/// The same for many keys in one mode; keys of one line send the same.
fn check_all(program: &str, lines: &[(&str, &str)]) {
    for (names, bytes) in lines {
        for name in names.split(' ') {
            check(name, program, bytes);
        }
    }
}
