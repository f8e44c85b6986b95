//! The two screens and the modes.

use crate::term::check::{check, check_cursor, fed, run};
use crate::term::{CursorShape, Mouse, MouseEncoding, Notice};

const SIZE: (u16, u16) = (20, 5);

#[test]
fn alternate_screens() {
    check(SIZE, "main\x1b[?1049h\x1b[HALT\x1b[?1049l!", "main!");
    check(SIZE, "main\x1b[?1049h", "");
    check(SIZE, "m\x1b[?1048h\x1b[?1047hALT\x1b[?1047l\x1b[?1048lX", "mX");
    check_cursor(SIZE, "ab\x1b[?1047hX\x1b[?1047l", (0, 3));
    check(SIZE, "ab\x1b[?1047hX\x1b[?1047l\x1b[?1047h", "");
    check(SIZE, "ab\x1b[?47hX\x1b[?47l\x1b[?47h", "  X");
    check(SIZE, "a\x1b7\x1b[?1049h\x1b[3;3H\x1b7\x1b[?1049l\x1b8b", "ab");
}

#[test]
fn the_alternate_screen_is_told_and_has_no_scrollback() {
    let (term, notices) =
        run((4, 2), "\x1b[?1049h1\r\n2\r\n3\r\n4\x1b[?1049h\x1b[?1049l\x1b[?1049l");
    assert_eq!(notices, [Notice::AltScreen(true), Notice::AltScreen(false)]);
    assert_eq!(crate::view::text::scrollback_rows(&term), 0);
}

#[test]
fn modes_have_names() {
    let modes = |bytes: &str| fed(SIZE, bytes).modes();
    let names: Vec<_> = modes("\x1b[?1h\x1b[?2004h").active().collect();
    let default = ["autowrap", "auto_repeat", "cursor_visible", "alternate_scroll", "graphemes"];
    assert!(default.iter().chain(&["app_cursor", "bracketed_paste"]).all(|n| names.contains(n)));
    assert_eq!(names.len(), 7);
    assert!(modes("\x1b=").app_keypad() && !modes("\x1b=\x1b>").app_keypad());
    assert!(modes("\x1b[?1049h").alt_screen() && modes("\x1b[?47h").alt_screen());
    assert!(modes("\x1b[?1004h").focus_events() && modes("\x1b[?5h").reverse_video());
    assert!(!modes("\x1b[?2004h\x1bc").bracketed_paste());
}

#[test]
fn the_last_mouse_mode_counts() {
    let mouse = |bytes: &str| {
        let modes = fed(SIZE, bytes).modes();
        (modes.mouse(), modes.mouse_encoding())
    };
    assert_eq!(mouse(""), (Mouse::Off, MouseEncoding::Default));
    assert_eq!(mouse("\x1b[?9h"), (Mouse::X10, MouseEncoding::Default));
    assert_eq!(mouse("\x1b[?1000;1006h"), (Mouse::Normal, MouseEncoding::Sgr));
    assert_eq!(mouse("\x1b[?1003h\x1b[?1002h\x1b[?1015h"), (Mouse::Button, MouseEncoding::Urxvt));
    assert_eq!(mouse("\x1b[?1003h\x1b[?1016h\x1b[?1003l"), (Mouse::Off, MouseEncoding::SgrPixels));
}

#[test]
fn cursor_shapes() {
    let shape = |bytes: &str| {
        let cursor = fed(SIZE, bytes).cursor();
        (cursor.shape, cursor.blink, cursor.visible)
    };
    assert_eq!(shape(""), (CursorShape::Block, false, true));
    assert_eq!(shape("\x1b[4 q"), (CursorShape::Underline, false, true));
    assert_eq!(shape("\x1b[5 q\x1b[?25l"), (CursorShape::Bar, true, false));
    assert_eq!(shape("\x1b[6 q\x1b[0 q"), (CursorShape::Block, true, true));
    assert_eq!(shape("\x1b[9 q"), (CursorShape::Block, false, true));
}

#[test]
fn odd_widths_leave_no_trace() {
    check(SIZE, "abc\x1b[?3hX", "abcX");
    check(SIZE, "abc\x1b[?40h\x1b[?3hX", "X");
    check(SIZE, "\x1b#6ab\x1b#5", "ab");
    check(SIZE, "\x1b[?2004;1000;1002;1003;1004;1005;1006;1015;1016hA", "A");
    check(SIZE, "\x1b[5 qA\x1b[0 q\x1b[?7727h\x1b[22;0t\x1b[23;0tB", "AB");
}

#[test]
fn stamps_grow_with_what_is_seen() {
    let mut term = fed((5, 3), "a\r\nb");
    let mut told = Vec::new();
    let (stamp, rows) = (term.stamp(), [0, 1, 2].map(|y| term.row_stamp(y)));
    term.feed(b"\x1b[?2004h\x1b[m", &mut told);
    assert_eq!(term.stamp(), stamp);
    term.feed(b"\x1b[3;1H", &mut told);
    assert!(term.stamp() > stamp);
    assert_eq!([0, 1, 2].map(|y| term.row_stamp(y)), rows);
    term.feed(b"x", &mut told);
    assert_eq!(term.row_stamp(2), term.stamp());
    assert_eq!(term.row_stamp(0), rows[0]);
    term.feed(b"\n", &mut told);
    assert!([0, 1, 2].iter().all(|y| term.row_stamp(*y) == term.stamp()));
}
