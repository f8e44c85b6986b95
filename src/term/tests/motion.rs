//! Moving the cursor, tabs, repetition.

use crate::term::check::{check, check_cursor};

const SIZE: (u16, u16) = (20, 5);

#[test]
fn cup_hvp_and_their_like() {
    check(SIZE, "xxx\x1b[2J\x1b[2;3HA\x1b[1;1Habc\x1b[2G\x1b[K", "a|  A");
    check(SIZE, "\x1b[2;3fX", "|  X");
    let all = "\x1b[3B\x1b[4CA\x1b[2DB\x1b[AC\x1b[2d\x1b[7GD\x1b[9`E\x1b[EF\x1b[FG";
    check(SIZE, all, "|G     D E|F   C|   BA");
    check(SIZE, "\x1b[3aA\x1b[2eB", "   A||    B");
    check(SIZE, "abc\x1b[2jX", "aXc");
}

#[test]
fn zero_and_missing_count_as_one() {
    check(SIZE, "abc\x1b[0D\x1b[0DX\x1b[0B\x1b[0AY", "aXY");
    check_cursor(SIZE, "\x1b[;5H", (0, 4));
    check_cursor(SIZE, "\x1b[3;H", (2, 0));
    check_cursor(SIZE, "\x1b[3;3H\x1b[H", (0, 0));
}

#[test]
fn moves_stop_at_the_edges() {
    check_cursor(SIZE, "\x1b[999;999H", (4, 19));
    check_cursor(SIZE, "\x1b[3;3H\x1b[999A\x1b[999D", (0, 0));
    check_cursor(SIZE, "\x1b[65535B\x1b[99999999999C", (4, 19));
}

#[test]
fn controls_of_one_byte() {
    check(SIZE, "a\x0bb\x0cc", "a| b|  c");
    check(SIZE, "a\x1bDb", "a| b");
    check(SIZE, "a\x1bEb", "a|b");
    check(SIZE, "a\x7fb\x00c\x05\x07d", "abcd");
    check(SIZE, "\x1b[20ha\nb", "a|b");
    check(SIZE, "a\x08\x08\x08b", "b");
}

#[test]
fn c0_inside_a_sequence_is_executed_and_can_ends_it() {
    check(SIZE, "ab\x1b[2\rCX", "abX");
    check(SIZE, "\x1b[12\x18X", "X");
    check(SIZE, "\x1b[12\x1aX", "X");
    check(SIZE, "\x1b[12\x1b[2;2HX", "| X");
    check(SIZE, "\x1b\x1b\x1b[2;2HX", "| X");
    check(SIZE, "\x1b\r\n[2;2HX", "| X");
}

#[test]
fn tabs() {
    check(SIZE, "\tA\t\tB", "        A          B");
    check_cursor(SIZE, "\tA\t\tB", (0, 19));
    check(SIZE, "\x1b[3g\x1b[5G\x1bH\r\tX", "    X");
    check(SIZE, "\x1b[9G\x1b[g\r\tX", "                X");
    check(SIZE, "\x1b[2IX\x1b[2ZY", "        Y       X");
    check(SIZE, "\x1b[3g\x1b[?5W\tX", "        X");
}

#[test]
fn rep_repeats_only_what_was_just_printed() {
    check(SIZE, "a\x1b[3bX", "aaaaX");
    check(SIZE, "a\x1b[H\x1b[3bX", "X");
    check(SIZE, "a\x1b[1m\x1b[3b", "aaaa");
    check((5, 3), "日\x1b[2b", "日日|日");
    check(SIZE, "e\u{301}\x1b[2bx", "e\u{301}e\u{301}e\u{301}x");
    check(SIZE, "🇬🇧\x1b[b❤\u{fe0f}\x1b[b.", "🇬🇧🇬🇧❤\u{fe0f}❤\u{fe0f}.");
    check((5, 3), "ab\x1b[65535b", "bbbbb|bbbbb|bb");
}

#[test]
fn save_and_restore() {
    check(SIZE, "ab\x1b7\x1b[5;5HX\x1b8c", "abc||||    X");
    check(SIZE, "ab\x1b[s\x1b[5;5HX\x1b[uc", "abc||||    X");
    check(SIZE, "\x1b(0\x1b7\x1b(BA\x1b8q", "─");
    check(SIZE, "\x1b[3;3HX\x1b8Y", "Y||  X");
}

#[test]
fn private_marks_never_move_or_style() {
    check(SIZE, "\x1b[>1u\x1b[<u\x1b[=1;1uA", "A");
    check(SIZE, "ab\x1b[s\x1b[H\x1b[>4;2m\x1b[?4mX", "Xb");
    check(SIZE, "\x1b[1;2;3zA\x1b[?1$~B\x1b[ !pC", "ABC");
}
