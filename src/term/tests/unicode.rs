//! Widths, what joins, and bytes that are no UTF-8.

use crate::term::LineNo;
use crate::term::check::{check, check_cursor, fed, picture};
use crate::view::text;

const SIZE: (u16, u16) = (20, 5);

/// The accent of a character that was pushed off the row stayed and sat on the next one there.
#[test]
fn what_joins_a_character_goes_with_it() {
    for gone in ["\x1b['}", "\x1b[9@", "\x1b[9P", "\x1b[ A"] {
        let term = fed((1, 2), format!("e\u{301}{gone}\ra"));
        assert_eq!(text::lines(&term, LineNo(0), 1)[0].text, "a", "{}", gone.escape_debug());
    }
}

#[test]
fn wide_characters() {
    check(SIZE, "日本x", "日本x");
    check_cursor(SIZE, "日本x", (0, 5));
    let full = "x".repeat(19);
    check(SIZE, full.clone() + "日", &(full.clone() + "|日"));
    check_cursor(SIZE, full + "日", (1, 2));
    let term = fed(SIZE, "a日");
    assert_eq!((term.width_at(0, 0), term.width_at(0, 1), term.width_at(0, 2)), (1, 2, 0));
}

#[test]
fn marks_join_also_across_a_deferred_wrap() {
    check(SIZE, "e\u{301}x", "e\u{301}x");
    check_cursor(SIZE, "e\u{301}x", (0, 2));
    check((3, 2), "abe\u{301}x", "abe\u{301}|x");
    check((2, 2), "日\u{301}x", "日\u{301}|x");
    check(SIZE, "\u{301}x", "x");
    check(SIZE, "a\u{200b}\u{feff}b", "a\u{200b}\u{feff}b");
    check_cursor(SIZE, "a\u{200b}\u{feff}b", (0, 2));
}

#[test]
fn a_character_has_eight_code_points_at_most() {
    let many = "e".to_owned() + &"\u{301}".repeat(50) + "x";
    check(SIZE, many, &("e".to_owned() + &"\u{301}".repeat(7) + "x"));
}

#[test]
fn emoji_are_two_columns_as_a_whole() {
    let ends = [
        ("❤\u{fe0f}x", 3),
        ("❤x", 2),
        ("👨\u{200d}👩\u{200d}👧x", 3),
        ("🇬🇧x", 3),
        ("🇬🇧🇫🇷x", 5),
        ("👋🏽x", 3),
        ("1\u{fe0f}\u{20e3}x", 3),
        ("😀\u{fe0e}x", 3),
        ("🏴\u{200d}☠\u{fe0f}x", 3),
        ("\u{1112}\u{1161}\u{11ab}x", 3),
        ("\u{1fadf}x", 3),
        ("a\u{fe0f}x", 2),
        ("日\u{200d}本x", 5),
        ("a🏽x", 4),
    ];
    for (text, col) in ends {
        check_cursor(SIZE, text, (0, col));
        check(SIZE, text, text);
    }
}

#[test]
fn without_clusters_each_emoji_stands_alone() {
    check_cursor(SIZE, "\x1b[?2027l👨\u{200d}👩x", (0, 5));
    check_cursor(SIZE, "\x1b[?2027l👋🏽x", (0, 5));
    check_cursor(SIZE, "\x1b[?2027l👨\u{200d}\x1b[?2027h👩x", (0, 3));
}

#[test]
fn a_character_widens_only_where_there_is_room() {
    check((3, 2), "ab❤\u{fe0f}x", "ab❤\u{fe0f}|x");
    check((4, 2), "ab❤\u{fe0f}x", "ab❤\u{fe0f}|x");
}

#[test]
fn ambiguous_characters_are_narrow_unless_told() {
    for (wide, col) in [(false, 5), (true, 8)] {
        let mut term = fed(SIZE, "");
        term.set_ambiguous_wide(wide);
        term.feed("─…日§".as_bytes(), &mut Vec::new());
        assert_eq!((term.cursor().col, term.width_at(0, 0)), (col, 1 + usize::from(wide)));
        term.feed(b"\r\n\n\n\n\n", &mut Vec::new());
        term.resize(crate::term::Size { cols: 20, rows: 6 });
        assert_eq!(term.width_at(0, 0), 1 + usize::from(wide), "back from the scrollback");
    }
}

#[test]
fn bad_bytes_are_replaced_one_for_each_part() {
    check(SIZE, b"a\xff\xc3(b", "a\u{fffd}\u{fffd}(b");
    check(SIZE, b"\xf0\x9f\x98A", "\u{fffd}A");
    check(SIZE, b"\xe0\x80\x80", "\u{fffd}\u{fffd}\u{fffd}");
    check(SIZE, b"\xe6\x97\x1b[2;2HA", "\u{fffd}| A");
    check(SIZE, b"\xc3\xc3\xa9", "\u{fffd}é");
    check(SIZE, b"\x80\xbf", "\u{fffd}\u{fffd}");
}

#[test]
fn controls_in_utf8_are_controls() {
    check(SIZE, "a\u{85}b\u{9b}31mc", "a|b31mc");
    check(SIZE, "a\u{84}b\u{8d}c", "a c| b");
    check(SIZE, "\x1b*0\x1b+0\u{8e}qq\u{8f}qq", "─q─q");
    check(SIZE, "a\u{96}b\u{97}c\x1b[2J", " b");
    check(SIZE, "a\u{90}b\u{98}c\u{9d}d\u{9e}e\u{9f}f\u{9c}g", "abcdefg");
    crate::term::check::check_reply("\u{9a}", "\x1b[?64;1;6;22;28;52c");
}

/// A wide character that had to wrap leaves a column that is no text.
#[test]
fn a_column_left_free_is_no_text() {
    let term = fed((3, 3), "ab日c");
    assert_eq!(picture(&term), "ab|日c");
    let lines = crate::view::text::lines(&term, term.lines().start, 1);
    assert_eq!(lines[0].text, "ab日c");
}

#[test]
fn character_sets() {
    check(SIZE, "A\x1b(BB", "AB");
    check(SIZE, "\x1b(0lqk\x1b(Bx", "┌─┐x");
    check(SIZE, "\x1b)0\x0eqx\x0fq", "─│q");
    check(SIZE, "\x1b*0\x1bNqq", "─q");
    check(SIZE, "\x1b+0\x1bOqq\x1boq\x0fq", "─q─q");
    check(SIZE, "\x1b(A#\x1b(B#", "£#");
    check(SIZE, "\x1b(0a_b", "▒ ␉");
}
