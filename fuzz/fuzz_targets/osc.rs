//! Strings of all kinds: titles, links, marks, clipboard, queries.
#![no_main]

use libfuzzer_sys::fuzz_target;
use t4a::term::{Limits, Notice, Size, Terminal};

const STARTS: [&[u8]; 8] = [
    b"\x1b]", b"\x1b]133;", b"\x1b]633;", b"\x1b]7777;", b"\x1b]52;", b"\x1b]1337;", b"\x1bP",
    b"\x1b_",
];

fuzz_target!(|data: &[u8]| {
    let mut terminal =
        Terminal::new(Size { cols: 20, rows: 6 }, Limits { lines: 50, bytes: 1 << 16 });
    let mut notices = Vec::new();
    for piece in data.split(|byte| *byte == 0xfe) {
        let [kind, rest @ ..] = piece else { continue };
        terminal.feed(STARTS[usize::from(*kind) % STARTS.len()], &mut notices);
        terminal.feed(rest, &mut notices);
        terminal.feed(if kind & 8 == 0 { b"\x07" } else { b"\x1b\\" }, &mut notices);
    }
    for notice in notices {
        match notice {
            Notice::Title(title) => assert!(title.chars().all(|c| !c.is_control())),
            Notice::Cwd(cwd) => assert!(cwd.path.chars().all(|c| !c.is_control())),
            _ => {}
        }
    }
});
