//! Whatever a program prints, cut anywhere, with resizes in between.

use t4a::term::{Limits, Size, Terminal};
use t4a::view::text;

pub const LIMITS: Limits = Limits { lines: 50, bytes: 1 << 17 };
pub const SIZE: Size = Size { cols: 20, rows: 6 };
/// Bytes of memory that scrollback may take besides its limit: the list of where rows lie.
const OVERHEAD: usize = 1 << 16;

pub const PIECES: &[&[u8]] = &[
    b"hello",
    b"\r\n",
    b"\n",
    "日本語".as_bytes(),
    "e\u{301}".as_bytes(),
    "👨\u{200d}👩".as_bytes(),
    "🇬🇧".as_bytes(),
    "❤\u{fe0f}".as_bytes(),
    b"\x1b[31;4:3m",
    b"\x1b[m",
    b"\x1b[2J",
    b"\x1b[H",
    b"\x1b[K",
    b"\x1b[5;3r",
    b"\x1b[?69h\x1b[3;9s",
    b"\x1b[?6h",
    b"\x1b[?1049h",
    b"\x1b[?1049l",
    b"\x1b[?2026h",
    b"\x1b[?2026l",
    b"\x1b[L",
    b"\x1b[3M",
    b"\x1b[4@",
    b"\x1b[2P",
    b"\x1b['}",
    b"\x1b['~",
    b"\x1b[3S",
    b"\x1b[2T",
    b"\x1b[1;1;4;9$z",
    b"\x1b[2;2;5;5;1;3;3;1$v",
    b"\x1b#8",
    b"\x1b7",
    b"\x1b8",
    b"\x1bc",
    b"\x1bM",
    b"\x1b(0",
    b"\x1b]8;;http://x\x07",
    b"\x1b]133;A\x07",
    b"\x1b]133;B\x07",
    b"\x1b]133;C\x07",
    b"\x1b[7b",
    b"\x1b[4h",
    b"\x1b[3J",
    b"\x1b[?45h",
    b"\x08",
    b"\t",
    b"\x1b[Z",
    b"\x1b[1\"q",
    b"\x1bV",
    b"\xf0\x9f",
    b"\xe2",
    b"\x1b[",
    b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

/// One turn: what is fed, and the size after it.
pub struct Turn<'a> {
    pub bytes: &'a [u8],
    pub resize: Option<Size>,
}

/// Three bytes tell how much comes next and whether a new size follows.
pub fn turns(data: &[u8]) -> impl Iterator<Item = Turn<'_>> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let [cut, cols, rows, tail @ ..] = rest else { return None };
        let (bytes, tail) = tail.split_at(tail.len().min(usize::from(*cut)));
        rest = tail;
        let size = Size { cols: u16::from(*cols / 4) + 1, rows: u16::from(*rows / 8) + 1 };
        Some(Turn { bytes, resize: (cols % 4 == 0).then_some(size) })
    })
}

pub fn run(data: &[u8]) {
    let mut terminal = Terminal::new(SIZE, LIMITS);
    let mut notices = Vec::new();
    for turn in turns(data) {
        terminal.feed(turn.bytes, &mut notices);
        if let Some(size) = turn.resize {
            check(&terminal);
            terminal.resize(size);
            assert_eq!(terminal.size(), size);
        }
        check(&terminal);
        notices.clear();
    }
}

/// What holds at any time.
pub fn check(terminal: &Terminal) {
    let size = terminal.size();
    let cursor = terminal.cursor();
    assert!(cursor.row < size.rows && cursor.col < size.cols);
    assert_eq!(text::viewport(terminal).len(), usize::from(size.rows));
    for row in 0..size.rows {
        let columns: usize = (0..size.cols).map(|col| terminal.width_at(row, col)).sum();
        assert_eq!(columns, usize::from(size.cols), "halves of characters in row {row}");
    }
    let above = text::scrollback_rows(terminal);
    assert_eq!(text::rows_above(terminal, 0, above).len(), above);
    assert!(terminal.scrollback_bytes() <= LIMITS.bytes + OVERHEAD);
    let lines = terminal.lines();
    assert!(lines.start <= lines.end);
    assert!(lines.end.0 - lines.start.0 <= u64::from(LIMITS.lines) + u64::from(size.rows) + 1);
    let joined = text::lines(terminal, lines.start, usize::MAX);
    assert_eq!(joined.len() as u64, lines.end.0 - lines.start.0);
    assert!(terminal.title().chars().count() <= 256);
}
