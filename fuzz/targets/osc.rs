//! Strings of all kinds: titles, links, marks, clipboard, queries.

use t4a::term::{Limits, Notice, Size, Terminal};

const STARTS: [&[u8]; 8] = [
    b"\x1b]",
    b"\x1b]133;",
    b"\x1b]633;",
    b"\x1b]7777;",
    b"\x1b]52;",
    b"\x1b]1337;",
    b"\x1bP",
    b"\x1b_",
];

pub const PIECES: &[&[u8]] = &[
    b"\xfe",
    b"\xfe\x00",
    b"\xfe\x01",
    b"0;title",
    b"8;id=a;http://x",
    b"4;1;?",
    b"52;c;QUJD",
    b"A;aid=7",
    b"C;cmdline=ls",
    b"D;1",
    b"done;0;key=k",
    b"prompt;key=k",
    b"$qm",
    b"+q544e",
    b"Gf=100;AAAA",
    b"133;",
    b"7;file://h/%41",
    b"9;4;1;50",
    b"99;i=1:p=title;x",
    b"777;notify;a;b",
    b"10;?;red;#fff",
    b"104;1",
];

pub fn run(data: &[u8]) {
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
}
