//! New sizes.

use crate::term::check::{fed, picture};
use crate::term::{LineNo, Size};

/// After a resize: the picture and the cursor.
#[track_caller]
fn check(size: (u16, u16), bytes: &str, to: (u16, u16), expected: &str, cursor: (u16, u16)) {
    let mut term = fed(size, bytes);
    term.resize(Size { cols: to.0, rows: to.1 });
    assert_eq!(picture(&term), expected, "{bytes:?}");
    assert_eq!((term.cursor().row, term.cursor().col), cursor, "{bytes:?}");
}

#[test]
fn lines_are_joined_and_split() {
    check((10, 3), "abcdefghijkl", (5, 3), "abcde|fghij|kl", (2, 2));
    check((5, 3), "abcdefghijkl", (10, 3), "abcdefghij|kl", (1, 2));
    check((5, 3), "abcdefg\r\nh", (10, 3), "abcdefg|h", (1, 1));
    check((10, 4), "ab\r\ncd", (5, 4), "ab|cd", (1, 2));
}

#[test]
fn the_cursor_stays_on_its_character() {
    check((10, 4), "abcdefghij\x1b[1;8H", (5, 4), "abcde|fghij", (1, 2));
    check((5, 4), "abcdefghij\x1b[2;3H", (10, 4), "abcdefghij", (0, 7));
    check((10, 4), "abc\x1b[1;9H", (5, 4), "abc", (0, 4));
    check((10, 4), "\x1b[3;3Hx\x1b[2;2H", (5, 4), "||  x", (1, 1));
}

#[test]
fn a_deferred_wrap_goes_with_it() {
    let mut term = fed((5, 3), "abcde");
    term.resize(Size { cols: 8, rows: 3 });
    assert_eq!(term.cursor().col, 5);
    term.feed(b"f", &mut Vec::new());
    assert_eq!(picture(&term), "abcdef");
    let mut term = fed((8, 3), "abcd");
    term.resize(Size { cols: 4, rows: 3 });
    assert_eq!((term.cursor().row, term.cursor().col), (0, 3));
    term.feed(b"e", &mut Vec::new());
    assert_eq!(picture(&term), "abcd|e");
    assert!(term.row_wraps(0));
}

#[test]
fn wide_characters_wrap_whole() {
    check((6, 3), "日本語", (5, 3), "日本|語", (1, 2));
    check((5, 3), "日本語", (6, 3), "日本語", (0, 5));
    check((6, 3), "日本語", (1, 6), "日|本|語", (2, 0));
    check((5, 3), "日本語x", (4, 3), "日本|語x", (1, 3));
}

#[test]
fn rows_come_from_and_go_to_the_scrollback() {
    check((5, 4), "1\r\n2\r\n3\r\n4", (5, 2), "3|4", (1, 1));
    check((5, 4), "1\r\n2", (5, 2), "1|2", (1, 1));
    check((5, 2), "1\r\n2\r\n3\r\n4", (5, 4), "1|2|3|4", (3, 1));
    check((5, 2), "1\r\n2\r\n3\r\n4", (5, 9), "1|2|3|4", (3, 1));
    check((5, 3), "1\r\n2\r\n3\r\n4\x1b[H\x1b[2J", (5, 4), "", (0, 0));
    check((5, 2), "1\r\nabcdefghij", (10, 2), "1|abcdefghij", (1, 9));
}

#[test]
fn line_numbers_stay() {
    let mut term = fed((5, 2), "abcdefghij\r\n2\r\n3");
    let line = |term: &crate::term::Terminal| term.line_of_row(term.cursor().row);
    assert_eq!(line(&term), LineNo(2));
    for cols in [3, 10, 1, 7, 5] {
        term.resize(Size { cols, rows: 2 });
        assert_eq!((line(&term), term.lines()), (LineNo(2), LineNo(0)..LineNo(3)), "{cols}");
    }
}

#[test]
fn the_alternate_screen_is_cut_and_the_primary_flows() {
    let mut term = fed((10, 3), "abcdefghijkl\x1b[?1049h\x1b[H0123456789");
    term.resize(Size { cols: 5, rows: 3 });
    assert_eq!(picture(&term), "01234");
    term.feed(b"\x1b[?1049l", &mut Vec::new());
    assert_eq!(picture(&term), "abcde|fghij|kl");
    assert_eq!((term.cursor().row, term.cursor().col), (2, 2));
    check((5, 4), "\x1b[?1049h1\r\n2\r\n3\r\n4", (5, 2), "3|4", (1, 1));
}

#[test]
fn what_decsc_kept_follows() {
    let mut term = fed((10, 3), "abcdefg\x1b7\r\nx");
    term.resize(Size { cols: 5, rows: 3 });
    term.feed(b"\x1b8Z", &mut Vec::new());
    assert_eq!(picture(&term), "abcde|fgZ|x");
}

#[test]
fn styles_flow_with_their_text() {
    let mut term = fed((6, 2), "ab\x1b[31mcdef");
    term.resize(Size { cols: 3, rows: 2 });
    let red = crate::term::Color::Indexed(1);
    assert_eq!((term.style_at(0, 1).fg == red, term.style_at(0, 2).fg == red), (false, true));
    assert_eq!(term.style_at(1, 2).fg, red);
}

#[test]
fn margins_are_given_up() {
    let mut term = fed((6, 4), "\x1b[2;3r");
    term.resize(Size { cols: 6, rows: 5 });
    term.feed(b"\x1b[5;1H\nx", &mut Vec::new());
    assert_eq!(picture(&term), "||||x");
}
