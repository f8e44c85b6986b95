//! Synchronized output: observers see finished frames only.

use crate::term::check::{check, fed, picture};
use crate::term::{CursorShape, Rgb, Special, Terminal};
use crate::view::text;

fn feed(term: &mut Terminal, bytes: &str) {
    term.feed(bytes.as_bytes(), &mut Vec::new());
}

#[test]
fn the_old_frame_is_seen_until_the_new_is_done() {
    check((9, 2), "\x1b[?2026hA\x1b[?2026lB", "AB");
    let mut term = fed((9, 2), "old");
    let before = (term.stamp(), term.cursor(), term.row_stamp(0), term.lines());
    feed(&mut term, "\x1b[?2026h\x1b[2J\x1b[Hne");
    assert!(term.in_sync() && term.modes().sync_output());
    assert_eq!(picture(&term), "old");
    assert_eq!((term.stamp(), term.cursor(), term.row_stamp(0), term.lines()), before);
    feed(&mut term, "w\x1b[?2026l");
    assert!(!term.in_sync());
    assert_eq!(picture(&term), "new");
    assert!(term.stamp() > before.0 && term.row_stamp(0) > before.2);
}

#[test]
fn the_owner_can_end_it() {
    let mut term = fed((9, 2), "old\x1b[?2026h\x1b[Hnew");
    assert_eq!(picture(&term), "old");
    term.end_sync();
    assert_eq!(picture(&term), "new");
    assert!(!term.modes().sync_output());
}

#[test]
fn resize_and_reset_end_it() {
    let mut term = fed((9, 2), "old\x1b[?2026h\x1b[Hnew");
    term.resize(crate::term::Size { cols: 10, rows: 2 });
    assert_eq!(picture(&term), "new");
    assert_eq!(picture(&fed((9, 2), "old\x1b[?2026h\x1b[Hnew\x1bcx")), "x");
}

#[test]
fn scrollback_of_an_unfinished_frame_is_not_seen() {
    let mut term = fed((9, 2), "1\r\n2\r\n3");
    let lines = text::lines(&term, term.lines().start, 99);
    let above = text::rows_above(&term, 0, 99);
    feed(&mut term, "\x1b[?2026h\r\n4\r\n5\r\n6");
    assert_eq!(text::rows_above(&term, 0, 99), above);
    assert_eq!(text::lines(&term, term.lines().start, 99), lines);
    assert_eq!(text::scrollback_rows(&term), 1);
    feed(&mut term, "\x1b[?2026l");
    assert_eq!(text::scrollback_rows(&term), 4);
}

#[test]
fn a_second_start_keeps_the_first_frame() {
    let term = fed((9, 2), "a\x1b[?2026hb\x1b[?2026hc");
    assert_eq!(picture(&term), "a");
}

#[test]
fn lines_seen_stay_when_the_scrollback_goes() {
    let term = fed((9, 2), "1\r\n2\r\n3\x1b[?2026h\r\n4\r\n5\x1b[3J");
    assert_eq!(picture(&term), "2|3");
    assert_eq!(term.lines().start, term.line_of_row(0));
}

/// Colours set within an update were seen at once, with the rows of the old frame.
#[test]
fn colours_and_cursor_stay_with_the_frame() {
    let mut term = fed((9, 2), "\x1b]4;1;#102030\x07\x1b[31mold");
    let seen = |term: &Terminal| {
        let shot = term.snapshot(0..2);
        (shot.palette, shot.reverse, shot.cursor)
    };
    let before = seen(&term);
    feed(&mut term, "\x1b[?2026h\x1b]4;1;#ff0000\x07\x1b]10;#00ff00\x07\x1b]11;#0000ff\x07");
    feed(&mut term, "\x1b[?5h\x1b[6 q");
    assert!(seen(&term) == before);
    let mut save = Vec::new();
    term.save(&mut save);
    let mut term = Terminal::restore(&save, term.into_memory()).expect("a good save");
    assert!(seen(&term) == before, "also after a restore");
    feed(&mut term, "\x1b[?2026l");
    let (palette, reverse, cursor) = seen(&term);
    assert_eq!(palette.chosen(1), Some(Rgb(255, 0, 0)));
    assert_eq!(palette.special(Special::Background), Some(Rgb(0, 0, 255)));
    assert!(reverse && cursor.shape == CursorShape::Bar);
}
