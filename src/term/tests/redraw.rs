//! A terminal that is fed the redraw of another shows the same, and goes on the same.

use super::differential::{COLS, ROWS, stream, wide_stream};
use crate::term::check::fed;
use crate::term::{MAX_COLS, Terminal};
use proptest::prelude::*;

/// All that can be seen of it, and the modes.
fn seen(term: &Terminal) -> String {
    let size = term.size();
    let mut out = format!("{:?} {:?}\n", term.cursor(), term.title());
    // Whether a cursor was ever saved is not seen before it is restored.
    let modes = term.modes().active().filter(|mode| *mode != "saved_cursor");
    out += &format!("{:?}\n", modes.collect::<Vec<_>>());
    out += &format!("{:?}\n", (term.keyboard_flags(), term.modify_other_keys(), term.palette()));
    for row in 0..size.rows {
        for col in 0..size.cols {
            term.text_at(row, col, &mut out);
            out += &format!("{:?}{:?}", term.style_at(row, col), term.link_at(row, col));
        }
        out += if term.row_wraps(row) { "↩\n" } else { "\n" };
    }
    out
}

fn redrawn(term: &Terminal) -> Terminal {
    let mut bytes = Vec::new();
    term.redraw(&mut bytes);
    let size = term.size();
    fed((size.cols, size.rows), bytes)
}

#[track_caller]
fn check((cols, rows): (u16, u16), before: &str, after: &str) {
    let mut term = fed((cols, rows), before);
    let mut copy = redrawn(&term);
    assert_eq!(seen(&term), seen(&copy), "{before:?}");
    for other in [&mut term, &mut copy] {
        other.feed(after.as_bytes(), &mut Vec::new());
    }
    assert_eq!(seen(&term), seen(&copy), "{before:?} then {after:?}");
}

#[test]
fn what_is_seen_and_what_is_not() {
    let check = |before: &str, after: &str| check((12, 4), before, after);
    check("", "a");
    check("one\r\ntwo", " more\r\n\x1b[31mred");
    check("\x1b[1;31mbold\x1b[4:3m under", "pen goes on");
    check("abcdefghijklmnopqrst", "u\r\nv");
    check("abcdefghijkl", "m: the wrap was deferred");
    check("abcdefghij日", "本");
    check("abcdefghijk日", "wide ones wrap early");
    check("\x1b[44m\x1b[2Jblue", "\r\n\n\n\n");
    check("x\x1b[2;3r\x1b[3;1Hy", "\n\nz");
    check("\x1b[?69h\x1b[3;7s\x1b[2;4Hab", "cdefghij");
    check("\x1b[2;3r\x1b[?6h\x1b[2;2Hx", "y\x1b[Hz");
    check("a\x1b7\x1b[3;3Hb", "\x1b8c");
    check("\x1b[32ma\x1b7\x1b[?1049hfull\x1b[31mred\x1b[2;2H", "x\x1b[?1049ly");
    check("\x1b[?1049h\x1b[2;2Hinner\x1b7\x1b[4;4H", "\x1b8x\x1b[?1049l$");
    check("\x1b(0qqq", "qqq\x1b(Bq");
    check("\x1b)0a\x0ea", "a\x0fa");
    check("\x1b[4habc\x1b[1;1H", "xyz");
    check("\x1b[?7l\x1b[1;10H", "abcdef");
    check("\x1b[3g\x1b[5G\x1bH\x1b[G", "\tx");
    check("\x1b]2;title\x1b\\\x1b]4;1;#123456\x1b\\\x1b]11;#ffffff\x1b\\", "x");
    check("\x1b]8;id=1;http://a\x1b\\link", "more\x1b]8;;\x1b\\no");
    check("\x1b[5 q\x1b[?25l", "");
    check("\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[?1h\x1b=", "");
    check("\x1b[>1u\x1b[>5u\x1b[>4;2m", "\x1b[<u");
    check("\x1b[1\"qkept\x1b[0\"qgone", "\x1b[H\x1b[?J");
    check("\x1b#6wide", "x");
    check("e\u{301}🇩🇪👨\u{200d}👩", "\u{301}x");
    check("\x1b[?2026hhalf", "whole\x1b[?2026l");
    check("\x1b[?5hx", "");
}

#[test]
fn what_is_cut() {
    let check = |before: &str, after: &str| check((12, 4), before, after);
    check("\x1b", "[31mred");
    check("\x1b[3", "1mred");
    check("\x1b(", "0q");
    check("\x1b]2;ti", "tle\x1b\\x");
    check("\x1b]2;title\x1b", "\\x");
    check("\x1bPq#0", "~~\x1b\\x");
    let mut term = fed((12, 4), b"a\xe6\x97");
    let mut copy = redrawn(&term);
    for other in [&mut term, &mut copy] {
        other.feed(b"\xa5", &mut Vec::new());
    }
    assert_eq!(seen(&term), seen(&copy));
}

#[test]
fn the_largest_is_redrawn() {
    check((MAX_COLS, 3), &"x".repeat(4000), "y");
}

fn cut_stream() -> impl Strategy<Value = (String, String)> {
    // What REP would repeat is not seen.
    let stream = prop_oneof![stream(), wide_stream()].prop_map(|all| all.replace("\x1b[5b", ""));
    (stream, any::<prop::sample::Index>()).prop_map(|(stream, at)| {
        let at = at.index(stream.len() + 1);
        let at = (0..=at).rev().find(|at| stream.is_char_boundary(*at)).unwrap_or(0);
        (stream[..at].to_owned(), stream[at..].to_owned())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..Default::default() })]

    #[test]
    fn any_terminal_at_any_point((before, after) in cut_stream()) {
        check((COLS, ROWS), &before, &after);
    }
}
