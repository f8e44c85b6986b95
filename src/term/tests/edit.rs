//! Erase, insert, delete, scroll; also through the middle of wide characters.

use crate::term::Color;
use crate::term::check::{check, check_cursor, fed, picture};

const SIZE: (u16, u16) = (20, 5);

#[test]
fn erase() {
    check(SIZE, "ab\r\ncd\x1b[2;1H\x1b[1J", "| d");
    check(SIZE, "ab\r\ncd\r\nef\x1b[2;2H\x1b[J", "ab|c");
    check(SIZE, "ab\r\ncd\x1b[2J", "");
    check(SIZE, "abcdef\x1b[3D\x1b[1K", "    ef");
    check(SIZE, "abcdef\x1b[3D\x1b[2KX", "   X");
    check(SIZE, "abcdef\x1b[3D\x1b[2XZ", "abcZ f");
    check(SIZE, "abc\x1b[3JX", "abcX");
}

#[test]
fn erasing_paints_the_background() {
    for bytes in ["\x1b[41m\x1b[2J", "\x1b[41m\x1b[2;1H\x1b[K", "\x1b[41m\x1b[2;1H\x1b[20X"] {
        let term = fed(SIZE, bytes);
        assert_eq!(term.style_at(1, 3).bg, Color::Indexed(1), "{bytes:?}");
        assert_eq!(term.style_at(1, 3).fg, Color::Default);
    }
    let scrolled = fed((4, 2), "a\r\nb\x1b[44m\n");
    assert_eq!(scrolled.style_at(1, 2).bg, Color::Indexed(4));
    let shifted = fed((4, 2), "abcd\r\x1b[45m\x1b[P\x1b[1;1H\x1b[@");
    assert_eq!(shifted.style_at(0, 0).bg, Color::Indexed(5));
    assert_eq!(shifted.style_at(0, 3).bg, Color::Default);
}

#[test]
fn insert_and_delete() {
    check(SIZE, "abcdef\r\x1b[2@XY\x1b[3G\x1b[2P", "XYcdef");
    check(SIZE, "abc\r\x1b[4hXY\x1b[4lZ", "XYZbc");
    check((4, 1), "abcd\x1b[1;2H\x1b[2@", "a  b");
    check((4, 1), "abcd\x1b[1;2H\x1b[9P", "a");
    check(SIZE, "a\r\nb\r\nc\x1b[2H\x1b[L\x1b[1H\x1b[M", "|b|c");
    check_cursor(SIZE, "a\r\nbcd\x1b[2L", (1, 0));
    check((3, 4), "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[1;1H\x1b[L\x1b[M\x1b[4;1H\x1b[M", "a|b|c|d");
}

#[test]
fn scroll() {
    check(SIZE, "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3H\nX", "1|3|X|4");
    check(SIZE, "a\r\nb\x1b[H\x1bMX", "X|a|b");
    check(SIZE, "a\r\nb\r\nc\x1b[S\x1b[2T", "||b|c");
    check((3, 3), "a\r\nb\r\nc\x1b[65535S", "");
    check((3, 3), "a\r\nb\r\nc\x1b[2;3r\x1b[1;1H\x1bM\x1bMX", "X|b|c");
}

#[test]
fn half_a_wide_character_never_stays() {
    check(SIZE, "日本\x1b[2GX", " X本");
    check(SIZE, "日本\x1b[1GX", "X 本");
    check(SIZE, "日本\x1b[2G\x1b[X", "  本");
    check(SIZE, "日本\x1b[2G\x1b[K", "");
    check(SIZE, "日本\x1b[3G\x1b[1K", "");
    check(SIZE, "日本x\x1b[2G\x1b[P", " 本x");
    check(SIZE, "日本x\x1b[2G\x1b[@", "   本x");
    check((4, 1), "日本\x1b[1G\x1b[@", " 日");
    check((5, 1), "a日b\x1b[1G\x1b[4hX", "Xa日b");
    check((4, 1), "a日b\x1b[1G\x1b[4hX", "Xa日");
    check((3, 2), "ab\x1b[2G日", "a日");
}

#[test]
fn a_wide_character_takes_its_marks_with_it() {
    check((6, 1), "e\u{301}日\u{301}x\x1b[1G\x1b[@", " e\u{301}日\u{301}x");
    check((6, 1), "e\u{301}日\u{301}x\x1b[1G\x1b[P", "日\u{301}x");
    check((6, 1), "e\u{301}x\x1b[1Ga", "ax");
    check((3, 1), "abe\u{301}\x1b[3G\x1b[@o\u{308}", "abo\u{308}");
    check((3, 1), "abe\u{301}\x1b[3G\x1b[4ho\u{308}", "abo\u{308}");
    check((4, 1), "ae\u{301}e\u{301}d\x1b[2G\x1b[3Po\u{308}x", "ao\u{308}x");
}

#[test]
fn protected_cells_are_spared_by_those_who_must() {
    check(SIZE, "a\x1b[1\"qb\x1b[0\"qc\x1b[?2J", " b");
    check(SIZE, "a\x1b[1\"qb\x1b[0\"qc\x1b[?2K", " b");
    check(SIZE, "a\x1b[1\"qb\x1b[0\"qc\x1b[2J", "");
    check(SIZE, "a\x1bVb\x1bWc\x1b[2J", " b");
    check(SIZE, "a\x1bVb\x1bWc\x1b[2KX", " b X");
}

#[test]
fn align_and_reset() {
    let e = "E".repeat(20);
    check(SIZE, "\x1b#8", &[&e[..]; 5].join("|"));
    check_cursor(SIZE, "abc\x1b#8", (0, 0));
    check(SIZE, "abc\x1b[2;3r\x1b[1m\x1bcX", "X");
    check(SIZE, "\x1b[2;3r\x1b[?6h\x1b[4h\x1b[!p\x1b[HA\x1b[5;1HB", "A||||B");
    let term = fed(SIZE, "\x1b]2;t\x07a\r\nb\x1b[?1049h\x1bcX");
    assert_eq!(
        (picture(&term).as_str(), term.title(), term.modes().alt_screen()),
        ("X", "", false)
    );
}
