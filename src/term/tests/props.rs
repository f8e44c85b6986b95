//! What holds for any bytes at any size.

use crate::term::check::{LIMITS, fed, picture};
use crate::term::{LineNo, MAX_COLS, MAX_ROWS, Notice, Size, Terminal};
use crate::view::text;
use proptest::prelude::*;

/// Pieces that streams of real programs are made of, and odd ones.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let csi = (
        prop::sample::select(vec!["", "", "", "?", ">", "=", "<"]),
        prop::collection::vec(0u32..30, 0..5),
        prop::sample::select(vec!["", "", "", "", " ", "$", "\"", "'", "!", "*"]),
        0x40u8..0x7f,
    );
    let csi = csi.prop_map(|(mark, numbers, between, last)| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        format!("\x1b[{mark}{}{between}{}", numbers.join(";"), last as char).into_bytes()
    });
    let mode = (
        prop::sample::select(vec![1, 5, 6, 7, 25, 45, 47, 69, 1045, 1047, 1048, 1049, 2026, 2027]),
        prop::sample::select(vec!['h', 'l', 's', 'r']),
    );
    let mode = mode.prop_map(|(n, last)| format!("\x1b[?{n}{last}").into_bytes());
    let text = prop::sample::select(vec![
        "hello",
        "日本語",
        "e\u{301}",
        "👨\u{200d}👩\u{200d}👧",
        "🇬🇧",
        "❤\u{fe0f}",
        "a",
        " ",
        "\r\n",
        "\n",
        "\t",
        "\x08",
        "\r",
        "한",
        "👋🏽",
        "\x1b(0",
        "\x1b(B",
        "\x0e",
        "\x0f",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[31;4:3;48:2::1:2:3m",
        "\x1b[m",
        "\x1b[44m",
        "\x1b]8;;http://x/\x07",
        "\x1b]8;;\x07",
        "\x1b]133;A\x07",
        "\x1b]133;B\x07",
        "\x1b]133;C\x07",
        "\x1b]133;D;1\x07",
        "\x1bM",
        "\x1bD",
        "\x1b7",
        "\x1b8",
        "\x1bc",
        "\x1b#8",
        "\x1b#6",
        "\x1bV",
        "\x1bW",
        "\x1b6",
        "\x1b9",
        "\x1b[1\"q",
    ]);
    prop_oneof![
        4 => text.prop_map(|t| t.as_bytes().to_vec()),
        3 => csi,
        1 => mode,
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => (1usize..200, 33u8..127).prop_map(|(n, c)| vec![c; n]),
    ]
}

/// Bytes that print as a string when a test fails.
#[derive(Clone)]
pub(super) struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

pub(super) fn stream() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(piece(), 0..60).prop_map(|pieces| Bytes(pieces.concat()))
}

pub(super) fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![(1u16..12, 1u16..8), (1u16..90, 1u16..30)]
}

/// All that can be seen of a terminal.
fn state(term: &Terminal) -> String {
    let mut out = picture(term);
    let size = term.size();
    for (row, col) in (0..size.rows).flat_map(|r| (0..size.cols).map(move |c| (r, c))) {
        let (style, link) = (term.style_at(row, col), term.link_at(row, col));
        if style != Default::default() || link.is_some() {
            out += &format!("{row} {col} {style:?} {link:?} ");
        }
    }
    let wraps: Vec<bool> = (0..size.rows).map(|y| term.row_wraps(y)).collect();
    let lines = text::lines(term, LineNo(0), usize::MAX);
    out += &format!("{:?} {:?} {:?} {wraps:?}", term.cursor(), term.modes(), term.lines());
    out + &format!("{lines:?} {:?} {:?}", term.title(), term.shell())
}

fn keeps_invariants(term: &Terminal) {
    let (size, cursor) = (term.size(), term.cursor());
    assert!(cursor.row < size.rows && cursor.col < size.cols);
    for row in 0..size.rows {
        let mut columns = 0;
        for col in 0..size.cols {
            let width = term.width_at(row, col);
            assert!(width < 2 || term.width_at(row, col + 1) == 0, "half a pair at {row} {col}");
            columns += width;
        }
        assert_eq!(columns, usize::from(size.cols), "row {row}");
    }
    assert!(term.lines().start <= term.line_of_row(0));
    assert_eq!(text::viewport(term).len(), usize::from(size.rows));
    let rows = text::scrollback_rows(term);
    assert_eq!(text::rows_above(term, 0, usize::MAX).len(), rows);
    assert!(term.scrollback_bytes() <= LIMITS.bytes * 2);
}

/// The text without blanks, which a resize may move.
fn all_text(term: &Terminal) -> String {
    let lines = text::lines(term, LineNo(0), usize::MAX);
    let lines: Vec<&str> = lines.iter().map(|l| l.text.as_str()).collect();
    lines.join("\n").trim_end_matches('\n').to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn feeding_split_is_feeding_whole(
        size in size(),
        Bytes(bytes) in stream(),
        cuts in prop::collection::vec(1usize..9, 1..8),
    ) {
        let mut whole = fed(size, b"");
        let mut told = Vec::new();
        whole.feed(&bytes, &mut told);
        let (mut split, mut told_split) = (fed(size, b""), Vec::new());
        let mut rest = &bytes[..];
        for cut in cuts.iter().cycle() {
            let (head, tail) = rest.split_at((*cut).min(rest.len()));
            split.feed(head, &mut told_split);
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(state(&whole), state(&split));
        prop_assert_eq!(told, told_split);
        prop_assert_eq!(whole.is_ground(), split.is_ground());
    }

    #[test]
    fn any_bytes_and_sizes_keep_the_invariants(
        first in size(),
        steps in prop::collection::vec((stream(), size()), 1..5),
    ) {
        let mut term = fed(first, b"");
        for (Bytes(bytes), (cols, rows)) in steps {
            term.feed(&bytes, &mut Vec::new());
            keeps_invariants(&term);
            term.resize(Size { cols, rows });
            keeps_invariants(&term);
        }
        term.end_sync();
        keeps_invariants(&term);
    }

    #[test]
    fn raw_bytes_keep_the_invariants(size in size(), bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        keeps_invariants(&fed(size, bytes));
    }

    #[test]
    fn a_resize_there_and_back_keeps_all_text(
        (cols, rows) in (2u16..40, 1u16..12),
        words in prop::collection::vec("[a-z日本]{1,30}( |\r\n)", 0..30),
        sizes in prop::collection::vec((2u16..60, 1u16..20), 1..5),
    ) {
        let mut term = fed((cols, rows), words.concat());
        let (text, lines, row) = (all_text(&term), term.lines(), term.cursor().row);
        let line = term.line_of_row(row);
        for (cols, rows) in sizes.into_iter().chain([(cols, rows)]) {
            term.resize(Size { cols, rows });
            prop_assert_eq!(all_text(&term), text.clone());
            prop_assert_eq!(term.line_of_row(term.cursor().row), line);
        }
        prop_assert_eq!(term.lines().start, lines.start);
    }
}

#[test]
fn numbers_without_end_do_not_loop() {
    for last in 0x40..0x7fu8 {
        for mark in ["", "?", ">", "="] {
            for between in ["", " ", "$", "'", "*", "\""] {
                let c = char::from(last);
                let bytes = format!("a\x1b[{mark}65535;65535;65535;65535;65535{between}{c}b");
                keeps_invariants(&fed((7, 3), bytes));
            }
        }
    }
}

#[test]
fn sizes_are_clamped() {
    let size = |cols, rows| Terminal::new(Size { cols, rows }, LIMITS).size();
    assert_eq!(size(0, 0), Size { cols: 1, rows: 1 });
    assert_eq!(size(u16::MAX, u16::MAX), Size { cols: MAX_COLS, rows: MAX_ROWS });
}

#[test]
fn a_terminal_can_be_sent_to_another_thread() {
    fn sendable<T: Send>() {}
    sendable::<Terminal>();
    sendable::<Notice>();
}
