//! Limits of a terminal, each from both sides.

use crate::term::check::{fed, run};
use crate::term::{
    LineNo, MAX_CLIPBOARD, MAX_COMMAND, MAX_CWD, MAX_LINK_ID, MAX_LINKS, MAX_NOTIFICATION, MAX_OSC,
    MAX_PARAMS, MAX_SEQUENCE, MAX_STACK, MAX_STRING, MAX_STYLES, MAX_TITLE, MAX_TITLES, MAX_URI,
    Memory, Notice, Size, Terminal,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

const SIZE: (u16, u16) = (20, 5);

fn x(count: usize) -> String {
    "x".repeat(count)
}

/// The one thing that was told of an OSC.
#[track_caller]
fn told(osc: &str) -> Notice {
    let (_, mut notices) = run(SIZE, format!("\x1b]{osc}\x07"));
    assert_eq!(notices.len(), 1, "{notices:?}");
    notices.remove(0)
}

#[test]
fn strings_are_read_up_to_their_limits() {
    // Of a title that is too long the first part is kept; of an OSC that is too long nothing.
    for (length, title) in [(MAX_OSC, x(MAX_TITLE)), (MAX_OSC + 1, String::new())] {
        let osc = format!("\x1b]2;{}\x07", x(length - 2));
        assert_eq!(fed(SIZE, &osc).title(), title, "{length}");
        let mut split = fed(SIZE, "");
        osc.as_bytes().chunks(999).for_each(|part| split.feed(part, &mut Vec::new()));
        assert_eq!(split.title(), title, "{length}");
    }
    for (length, kept) in [(MAX_TITLE, MAX_TITLE), (MAX_TITLE + 1, MAX_TITLE)] {
        assert_eq!(told(&format!("0;{}", x(length))), Notice::Title(x(kept)));
    }
    for (length, kept) in [(MAX_CWD, MAX_CWD), (MAX_CWD + 1, MAX_CWD)] {
        let Notice::Cwd(cwd) = told(&format!("7;file://h/{}", x(length - 1))) else { panic!() };
        assert_eq!(cwd.path, format!("/{}", x(kept - 1)));
    }
    for (length, kept) in [(MAX_NOTIFICATION, MAX_NOTIFICATION), (5000, MAX_NOTIFICATION)] {
        let body = x(kept);
        assert_eq!(told(&format!("9;{}", x(length))), Notice::Notification { title: None, body });
    }
    for (length, taken) in [(MAX_CLIPBOARD, true), (MAX_CLIPBOARD + 1, false)] {
        let data = BASE64_STANDARD.encode(vec![7; length]);
        let (_, notices) = run(SIZE, format!("\x1b]52;c;{data}\x07"));
        let written = |notice: &Notice| matches!(notice, Notice::Clipboard { data, .. } if data.len() == length);
        assert_eq!(notices.iter().any(written), taken, "{length}");
        assert_eq!(notices.len(), usize::from(taken));
    }
}

#[test]
fn links_have_addresses_and_ids_of_bounded_length() {
    let link = |id: usize, uri: usize| {
        let term = fed(SIZE, format!("\x1b]8;id={};{}\x07L", x(id), x(uri)));
        term.link_at(0, 0).map(|link| (link.id.len(), link.uri.len()))
    };
    assert_eq!(link(1, MAX_URI), Some((1, MAX_URI)));
    assert_eq!(link(1, MAX_URI + 1), None);
    assert_eq!(link(MAX_LINK_ID, 9), Some((MAX_LINK_ID, 9)));
    assert_eq!(link(MAX_LINK_ID + 1, 9), Some((MAX_LINK_ID, 9)));
}

/// Of a DCS so much is read that a question in it is answered; of the rest only the length is told.
#[test]
fn other_strings_are_read_up_to_a_limit() {
    let ask = |length: usize| {
        let pad = "0".repeat(length - "+q;544E".len());
        let (_, notices) = run(SIZE, format!("\x1bP+q{pad};544E\x1b\\"));
        notices
            .iter()
            .any(|notice| matches!(notice, Notice::Reply(reply) if reply.starts_with(b"\x1bP1+r")))
    };
    assert!(ask(MAX_STRING));
    assert!(!ask(MAX_STRING + 1));
    for kind in ["P", "_", "^", "X"] {
        let (_, notices) = run(SIZE, format!("\x1b{kind}{}\x1b\\", x(3 * MAX_STRING)));
        let bytes = |notice: &Notice| matches!(notice, Notice::Payload { bytes, .. } if *bytes == 3 * MAX_STRING);
        assert!(notices.iter().any(bytes), "{kind} {notices:?}");
    }
}

#[test]
fn sequences_are_read_up_to_their_limits() {
    // With zeros before its number, and in pieces.
    let moved = |length: usize| {
        let sequence = format!("\x1b[{}7C", "0".repeat(length - "[7C".len()));
        let mut term = fed(SIZE, "");
        sequence.as_bytes().chunks(7).for_each(|part| term.feed(part, &mut Vec::new()));
        term.cursor().col
    };
    assert_eq!([moved(MAX_SEQUENCE), moved(MAX_SEQUENCE + 1)], [7, 0]);
    // The last of so many numbers makes it bold, one more is left out.
    let bold = |count: usize| {
        let term = fed(SIZE, format!("\x1b[{}1mx", "3;".repeat(count - 1)));
        let style = term.style_at(0, 0);
        assert!(style.attrs.has(crate::term::Attrs::ITALIC), "{count}");
        style.attrs.has(crate::term::Attrs::BOLD)
    };
    assert_eq!([bold(MAX_PARAMS), bold(MAX_PARAMS + 1)], [true, false]);
}

#[test]
fn stacks_have_a_depth() {
    // The first title comes back if no more are put aside than there is room for.
    let first = |pushes: usize| {
        let pushed: String = (0..pushes).map(|n| format!("\x1b]2;{n}\x07\x1b[22t")).collect();
        fed(SIZE, pushed + &"\x1b[23t".repeat(pushes)).title().to_owned()
    };
    assert_eq!([first(MAX_TITLES), first(MAX_TITLES + 1)], ["0", "1"]);
    let flags = |pushes: usize| {
        let pushed: String =
            (0..pushes).map(|n| format!("\x1b[={};1u\x1b[>1u", 2 + n % 2)).collect();
        fed(SIZE, pushed + &format!("\x1b[<{pushes}u")).keyboard_flags()
    };
    assert_eq!([flags(MAX_STACK), flags(MAX_STACK + 1)], [2, 3]);
}

#[test]
fn links_and_looks_are_told_apart_up_to_a_number() {
    let size = (1024, 64);
    let mut term = fed(size, "");
    for n in 0..=MAX_LINKS {
        term.feed(format!("\x1b]8;;http://{n}\x07l").as_bytes(), &mut Vec::new());
    }
    let link = |n: usize| term.link_at((n / 1024) as u16, (n % 1024) as u16).map(|l| l.uri.clone());
    assert_eq!(link(MAX_LINKS - 1), Some(format!("http://{}", MAX_LINKS - 1)));
    assert_eq!(link(MAX_LINKS), None);
    // One of the looks is plain.
    let mut term = fed(size, "");
    for n in 1..=MAX_STYLES {
        let (r, g, b) = (n >> 16, n >> 8 & 255, n & 255);
        term.feed(format!("\x1b[38;2;{r};{g};{b}ms").as_bytes(), &mut Vec::new());
    }
    let plain = |n: usize| {
        let style = term.style_at(((n - 1) / 1024) as u16, ((n - 1) % 1024) as u16);
        style == crate::term::Style::default()
    };
    assert!(!plain(MAX_STYLES - 1) && plain(MAX_STYLES));
}

/// Memory that is handed in is used to its end, and not beyond: then the oldest rows go.
#[test]
fn scrollback_takes_the_memory_there_is() {
    const BYTES: usize = 4 << 16;
    let memory = Memory::own(BYTES);
    let mut term = Terminal::with_memory(Size { cols: 80, rows: 2 }, 1 << 20, memory);
    let mut number = 0;
    while term.lines().start == LineNo(0) {
        term.feed(format!("{number:080}\r\n").as_bytes(), &mut Vec::new());
        number += 1;
        assert!(term.scrollback_bytes() <= BYTES + 4096, "{}", term.scrollback_bytes());
    }
    // All but some bytes at the end of each page held rows before the first was dropped.
    let row = (BYTES - 4 * 100) / (number - 2);
    assert!((80..95).contains(&row), "{number} rows");
    assert_eq!(term.lines().end, LineNo(number as u64 + 1));
}

/// What a shell calls itself, and its commands, are cut; what could act on a terminal is taken out.
#[test]
fn commands_are_clean_and_bounded() {
    let command = |text: &str| match told(&format!("133;C;cmdline_url={text}")) {
        Notice::CommandStart { command } => command.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(command(&x(MAX_COMMAND)), x(MAX_COMMAND));
    assert_eq!(command(&x(MAX_COMMAND + 1)), x(MAX_COMMAND));
    let dirty = "a%1b[31m\u{202e}b\u{9b}c\u{2066}d\u{2028}e%09f%0ag";
    assert_eq!(command(dirty), "a[31mbcde\tf\ng");
    // The same if it is read from the screen.
    let typed = "\x1b]133;A\x07$ \x1b]133;B\x07ls \u{202e}x\r\n\x1b]133;C\x07";
    let (_, notices) = run(SIZE, typed);
    let command = Some("ls x".to_owned());
    assert!(notices.contains(&Notice::CommandStart { command }), "{notices:?}");
}
