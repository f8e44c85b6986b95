//! What tests of the terminal are written with: bytes in, a picture out.

use super::{Limits, Notice, Size, Terminal};

pub const LIMITS: Limits = Limits { lines: 1000, bytes: 1 << 20 };

/// A terminal of `(cols, rows)` that was fed these bytes.
pub fn fed((cols, rows): (u16, u16), bytes: impl AsRef<[u8]>) -> Terminal {
    run((cols, rows), bytes).0
}

/// The same, with what it told.
pub fn run((cols, rows): (u16, u16), bytes: impl AsRef<[u8]>) -> (Terminal, Vec<Notice>) {
    let mut term = Terminal::new(Size { cols, rows }, LIMITS);
    let mut notices = Vec::new();
    term.feed(bytes.as_ref(), &mut notices);
    (term, notices)
}

/// The rows without blanks at their ends, joined by `|`; blank rows at the bottom are left out.
pub fn picture(term: &Terminal) -> String {
    let row = |y: u16| {
        let mut text = String::new();
        term.row_text(y, &mut text);
        text.trim_end_matches(' ').to_owned()
    };
    let rows: Vec<String> = (0..term.size().rows).map(row).collect();
    rows.join("|").trim_end_matches('|').to_owned()
}

/// Bytes give a picture, whether they come at once or one by one.
#[track_caller]
pub fn check(size: (u16, u16), bytes: impl AsRef<[u8]>, expected: &str) {
    let bytes = bytes.as_ref();
    assert_eq!(picture(&fed(size, bytes)), expected, "{}", bytes.escape_ascii());
    let mut split = fed(size, b"");
    bytes.chunks(1).for_each(|byte| split.feed(byte, &mut Vec::new()));
    assert_eq!(picture(&split), expected, "byte by byte: {}", bytes.escape_ascii());
}

/// Bytes leave the cursor at a row and column, from 0.
#[track_caller]
pub fn check_cursor(size: (u16, u16), bytes: impl AsRef<[u8]>, expected: (u16, u16)) {
    let bytes = bytes.as_ref();
    let cursor = fed(size, bytes).cursor();
    assert_eq!((cursor.row, cursor.col), expected, "{}", bytes.escape_ascii());
}

/// All that is written back to the program.
pub fn replies(size: (u16, u16), bytes: impl AsRef<[u8]>) -> String {
    let reply = |notice| match notice {
        Notice::Reply(bytes) => Some(bytes),
        _ => None,
    };
    let bytes: Vec<u8> = run(size, bytes).1.into_iter().filter_map(reply).flatten().collect();
    bytes.escape_ascii().to_string()
}

#[track_caller]
pub fn check_reply(bytes: &str, expected: &str) {
    let expected = expected.as_bytes().escape_ascii().to_string();
    assert_eq!(replies((20, 5), bytes), expected, "{}", bytes.escape_debug());
}
