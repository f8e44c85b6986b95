//! Scrollback: lines by number, bounds, reading at any width.

use crate::term::check::fed;
use crate::term::{Limits, LineNo, Size, Terminal};
use crate::view::text::{self, TextRow};

fn numbered(count: usize) -> String {
    (0..count).map(|n| format!("line {n}\r\n")).collect()
}

fn texts(rows: &[TextRow]) -> Vec<&str> {
    rows.iter().map(|row| row.text.as_str()).collect()
}

#[test]
fn lines_keep_their_numbers() {
    let term = fed((20, 5), numbered(100));
    assert_eq!(term.lines(), LineNo(0)..LineNo(101));
    assert_eq!(texts(&text::lines(&term, LineNo(42), 2)), ["line 42", "line 43"]);
    assert_eq!(texts(&text::lines(&term, LineNo(95), 3)), ["line 95", "line 96", "line 97"]);
    assert_eq!(texts(&text::lines(&term, LineNo(99), 9)), ["line 99", ""]);
    assert_eq!(text::lines(&term, LineNo(500), 9), []);
    assert_eq!(texts(&text::rows_above(&term, 0, 2)), ["line 94", "line 95"]);
    assert_eq!(
        texts(&text::rows_above(&term, 90, 99)),
        ["line 0", "line 1", "line 2", "line 3", "line 4", "line 5"]
    );
    assert_eq!(text::scrollback_rows(&term), 96);
    let first = &text::viewport(&term)[0];
    assert_eq!((first.line, first.text.trim_end()), (LineNo(96), "line 96"));
}

#[test]
fn lines_and_bytes_are_bounded_and_the_oldest_go() {
    let mut term = Terminal::new(Size { cols: 20, rows: 5 }, Limits { lines: 10, bytes: 1 << 20 });
    term.feed(numbered(1000).as_bytes(), &mut Vec::new());
    assert_eq!(term.lines(), LineNo(986)..LineNo(1001));
    assert_eq!(texts(&text::lines(&term, LineNo(0), 2)), ["line 986", "line 987"]);
    let mut term = Terminal::new(Size { cols: 20, rows: 5 }, Limits { lines: 1 << 30, bytes: 0 });
    (0..100).for_each(|_| term.feed(numbered(1000).as_bytes(), &mut Vec::new()));
    assert!(term.scrollback_bytes() < 200_000, "{}", term.scrollback_bytes());
    let lines = term.lines();
    assert!(lines.start > LineNo(90_000) && lines.end == LineNo(100_001));
    let first = text::lines(&term, LineNo(0), 1);
    assert_eq!(
        (first[0].line, &first[0].text),
        (lines.start, &format!("line {}", lines.start.0 % 1000))
    );
}

#[test]
fn none_is_kept_if_none_is_wanted() {
    let mut term = Terminal::new(Size { cols: 20, rows: 5 }, Limits { lines: 0, bytes: 0 });
    term.feed(numbered(1000).as_bytes(), &mut Vec::new());
    assert_eq!(term.lines(), LineNo(996)..LineNo(1001));
    assert_eq!(text::scrollback_rows(&term), 0);
    term.resize(Size { cols: 5, rows: 9 });
    assert_eq!(texts(&text::lines(&term, LineNo(0), 1)), ["line 996"]);
}

/// A line that never ends is one line; its oldest rows go.
#[test]
fn a_line_without_end_is_bounded() {
    let mut term =
        Terminal::new(Size { cols: 80, rows: 5 }, Limits { lines: 1000, bytes: 1 << 18 });
    let chunk = "0123456789".repeat(10_000);
    (0..30).for_each(|_| term.feed(chunk.as_bytes(), &mut Vec::new()));
    assert!(term.scrollback_bytes() <= 1 << 19);
    assert_eq!(term.lines(), LineNo(0)..LineNo(1));
    let line = &text::lines(&term, LineNo(0), 1)[0];
    assert!(line.text.len() > 100_000 && line.text.ends_with("0123456789"));
    term.resize(Size { cols: 33, rows: 5 });
    let line = &text::lines(&term, LineNo(0), 1)[0].text;
    assert!(line.contains("9012345678901234567890"), "no text is lost where rows meet");
    assert!(line.len() > 100_000);
}

#[test]
fn rows_are_wrapped_at_the_width_of_now() {
    let mut term = fed((10, 2), "abcdefghijklmno\r\nx\r\ny\r\nz");
    assert_eq!(texts(&text::rows_above(&term, 0, 9)), ["abcdefghij", "klmno", "x"]);
    term.resize(Size { cols: 4, rows: 2 });
    assert_eq!(texts(&text::rows_above(&term, 0, 9)), ["abcd", "efgh", "ijkl", "mno", "x"]);
    assert_eq!(texts(&text::rows_above(&term, 2, 2)), ["efgh", "ijkl"]);
    assert_eq!(text::scrollback_rows(&term), 5);
    let rows = text::rows_of_lines(&term, LineNo(0), 2);
    assert_eq!(texts(&rows), ["abcd", "efgh", "ijkl", "mno", "x"]);
    assert_eq!(rows.iter().map(|r| r.wraps).collect::<Vec<_>>(), [true, true, true, false, false]);
    assert_eq!(text::lines(&term, LineNo(0), 1)[0].text, "abcdefghijklmno");
}

#[test]
fn erasing_the_scrollback_keeps_numbers() {
    let term = fed((20, 5), numbered(50) + "\x1b[3J");
    assert_eq!(term.lines(), LineNo(46)..LineNo(51));
    let term = fed((20, 5), numbered(50) + "\x1bcx");
    assert_eq!(term.lines(), LineNo(51)..LineNo(56));
    assert_eq!(texts(&text::lines(&term, LineNo(0), 1)), ["x"]);
}

#[test]
fn only_the_top_of_the_primary_screen_is_kept() {
    let above = |bytes: &str| text::scrollback_rows(&fed((5, 3), bytes));
    assert_eq!(above("1\r\n2\r\n3\r\n4"), 1);
    assert_eq!(above("1\r\n2\r\n3\x1b[S"), 1);
    assert_eq!(above("1\r\n2\r\n3\x1b[2;3r\x1b[3;1H\n\n\n"), 0);
    assert_eq!(above("1\r\n2\r\n3\x1b[1;2r\x1b[2;1H\n\n\n"), 3);
    assert_eq!(above("1\r\n2\r\n3\x1b[H\x1b[M"), 0);
    assert_eq!(above("1\r\n2\r\n3\x1b[?1049h\n\n\n\n"), 0);
}

/// What was packed comes back as it was: styles, links, marks, widths.
#[test]
fn rows_come_back_from_the_scrollback_as_they_were() {
    let text = "\x1b[1;31;44ma日\x1b[4:3;58:5:9me\u{301}👨\u{200d}👩\x1b[m \x1b]8;id=i;http://x\x07L\x1b]8;;\x07❤\u{fe0f}.";
    let plain = fed((30, 4), text);
    let mut term = fed((30, 4), text.to_owned() + "\r\n1\r\n2\r\n3\r\n4");
    assert_eq!(text::scrollback_rows(&term), 1);
    term.resize(Size { cols: 30, rows: 5 });
    for col in 0..30 {
        assert_eq!(term.style_at(0, col), plain.style_at(0, col), "{col}");
        assert_eq!(term.link_at(0, col), plain.link_at(0, col), "{col}");
        assert_eq!(term.width_at(0, col), plain.width_at(0, col), "{col}");
        let (mut one, mut other) = (String::new(), String::new());
        term.text_at(0, col, &mut one);
        plain.text_at(0, col, &mut other);
        assert_eq!(one, other);
    }
}

#[test]
fn packed_text_is_small() {
    let mut term =
        Terminal::new(Size { cols: 80, rows: 24 }, Limits { lines: 10_000, bytes: 64 << 20 });
    let line = "x".repeat(70) + "\r\n";
    term.feed(line.repeat(20_000).as_bytes(), &mut Vec::new());
    assert!(term.scrollback_bytes() < 1_060_000, "{}", term.scrollback_bytes());
    term.feed(line.repeat(50_000).as_bytes(), &mut Vec::new());
    assert!(term.scrollback_bytes() < 1_060_000, "{}", term.scrollback_bytes());
}

/// A terminal over memory of which parts can be given back; tells which.
fn over_parts(bytes: usize) -> (Terminal, std::sync::mpsc::Receiver<std::ops::Range<usize>>) {
    let (told, given_back) = std::sync::mpsc::channel();
    let release = move |part| drop(told.send(part));
    let memory = crate::term::Memory::lent_in_parts(vec![0; bytes], release);
    (Terminal::with_memory(Size { cols: 80, rows: 5 }, 1 << 20, memory), given_back)
}

/// A line that takes so much that a page holds about six hundred.
fn long(number: usize) -> String {
    format!("{number:080}\r\n")
}

fn feed_lines(term: &mut Terminal, lines: std::ops::Range<usize>) {
    lines.for_each(|n| term.feed(long(n).as_bytes(), &mut Vec::new()));
}

#[test]
fn the_oldest_page_is_shed_and_its_memory_given_back() {
    let (mut term, given_back) = over_parts(1 << 20);
    assert_eq!(given_back.try_recv(), Ok(0..1 << 20), "it may hold anything");
    term.bound_scrollback(7, usize::MAX);
    feed_lines(&mut term, 0..1000);
    term.bound_scrollback(9, usize::MAX);
    feed_lines(&mut term, 1000..2000);
    let before = (term.lines(), term.scrollback_bytes());
    assert_eq!(term.oldest_scrollback(), Some(7));
    term.shed_scrollback();
    assert_eq!(given_back.try_recv(), Ok(0..1 << 16));
    assert!(given_back.try_recv().is_err());
    let lines = term.lines();
    assert!(lines.start > before.0.start && lines.end == before.0.end);
    assert!(
        term.scrollback_bytes() < before.1 - 60_000,
        "{} {}",
        before.1,
        term.scrollback_bytes()
    );
    let first = &text::lines(&term, LineNo(0), 1)[0];
    assert_eq!(
        (first.line, first.text.as_str()),
        (lines.start, long(lines.start.0 as usize).trim())
    );
    // To the last one: also the page that is being filled, but never the screen.
    assert_eq!(term.oldest_scrollback(), Some(9), "its last rows came later");
    while term.oldest_scrollback().is_some() {
        term.shed_scrollback();
    }
    assert_eq!(term.lines(), LineNo(1996)..LineNo(2001));
    assert!(term.scrollback_bytes() < 2000, "{}", term.scrollback_bytes());
    feed_lines(&mut term, 2000..2010);
    assert_eq!(term.lines(), LineNo(1996)..LineNo(2011));
    assert_eq!(text::lines(&term, LineNo(1998), 1)[0].text, long(1998).trim());
}

#[test]
fn no_more_is_taken_than_is_allowed_and_older_rows_make_room() {
    let (mut term, _given_back) = over_parts(1 << 20);
    term.bound_scrollback(0, 3 << 16);
    feed_lines(&mut term, 0..4000);
    assert!(term.scrollback_bytes() <= (3 << 16) + 2000, "{}", term.scrollback_bytes());
    assert!(term.lines().start > LineNo(1500));
    term.bound_scrollback(0, 5 << 16);
    feed_lines(&mut term, 4000..8000);
    let bytes = term.scrollback_bytes();
    assert!((4 << 16..(5 << 16) + 2000).contains(&bytes), "{bytes}");
}

/// Memory that no row lies in any more is used again first, and else given back when asked.
#[test]
fn what_was_cleared_is_given_back_when_asked() {
    let (mut term, given_back) = over_parts(1 << 20);
    feed_lines(&mut term, 0..4000);
    given_back.try_iter().for_each(drop);
    let before = term.scrollback_bytes();
    term.feed(b"\x1b[3J", &mut Vec::new());
    feed_lines(&mut term, 4000..4100);
    assert!(term.scrollback_bytes() < before + (1 << 16));
    assert_eq!(given_back.try_iter().count(), 0, "a save may tell of it");
    term.tidy_scrollback();
    assert!(given_back.try_iter().count() > 0);
    assert!(term.scrollback_bytes() < 2 << 16, "{}", term.scrollback_bytes());
    assert_eq!(text::lines(&term, LineNo(4050), 1)[0].text, long(4050).trim());
}

/// Looking at what was given back would take it again.
#[test]
fn a_copy_of_the_lines_leaves_out_what_was_given_back() {
    let (mut term, _given_back) = over_parts(1 << 20);
    feed_lines(&mut term, 0..3000);
    term.shed_scrollback();
    let first = term.lines().start.0;
    let mut lines = Vec::new();
    term.copy_lines().each(|line, text| lines.push((line.0, text.to_owned())));
    assert_eq!(lines[0], (first, long(first as usize).trim().to_owned()));
    assert_eq!(lines.len() as u64, 3001 - first);
}
