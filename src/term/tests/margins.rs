//! Margins at the sides, origin mode, columns that move.

use crate::term::check::{check, check_cursor};

const SIZE: (u16, u16) = (20, 5);

#[test]
fn side_margins_hold_text_and_scrolling() {
    check(SIZE, "\x1b[?69h\x1b[3;6s\x1b[1;3Habcdef", "  abcd|  ef");
    check(SIZE, "abcdef\r\nghijkl\x1b[?69h\x1b[2;3s\x1b[1;2H\x1b[L", "a  def|gbcjkl| hi");
    check(SIZE, "abcd\r\nefgh\x1b[?69h\x1b[2;3s\x1b[S", "afgd|e  h");
    check(SIZE, "abcd\r\nefgh\x1b[?69h\x1b[2;3s\x1b[T", "a  d|ebch| fg");
    check(SIZE, "abcdef\x1b[?69h\x1b[2;4s\x1b[1;2H\x1b[@\x1b[1;2HX", "aXbcef");
    check(SIZE, "abcdef\x1b[?69h\x1b[2;4s\x1b[1;2H\x1b[P", "acd ef");
    check(SIZE, "ab\x1b[s\x1b[H\x1b[uX", "abX");
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;5H\r", (1, 2));
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;2H\r", (1, 0));
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;5H\x1b[99C", (1, 5));
}

#[test]
fn side_margins_never_leave_half_a_character() {
    check((6, 3), "日本語\x1b[?69h\x1b[2;3s\x1b[S", "    語");
    check((6, 3), "日本語\x1b[?69h\x1b[2;5s\x1b[1;2H\x1b[P", " 本");
}

#[test]
fn origin_mode() {
    check(SIZE, "\x1b[2;4r\x1b[?6h\x1b[1;1HX\x1b[9;1HY\x1b[?6l", "|X||Y");
    check_cursor(SIZE, "\x1b[2;4r\x1b[?6h", (1, 0));
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;4r\x1b[?6h\x1b[2;2H", (2, 3));
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;4r\x1b[?6h\x1b[99a\x1b[99e", (3, 5));
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;4r\x1b[99a\x1b[99e", (4, 19));
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;4r\x1b[?6h\x1b[2;2H\x1b[G", (2, 2));
    check_cursor(SIZE, "\x1b[?69h\x1b[3;6s\x1b[2;4r\x1b[?6h\x1b[9d\x1b[9G", (3, 5));
    check_cursor(SIZE, "\x1b[2;4r\x1b[?6h\x1b7\x1b[?6l\x1b[H\x1b8", (1, 0));
}

#[test]
fn margins_that_make_no_sense_are_ignored() {
    check_cursor(SIZE, "\x1b[3;3H\x1b[4;4r", (2, 2));
    check_cursor(SIZE, "\x1b[3;3H\x1b[5;2r", (2, 2));
    check_cursor(SIZE, "\x1b[3;3H\x1b[2;99r", (0, 0));
}

#[test]
fn columns_move() {
    check(SIZE, "abc\r\ndef\x1b[1;2H\x1b[1'}\x1b[1;1H\x1b[1'~", " bc| ef");
    check(SIZE, "abc\r\x1b6", " abc");
    check(SIZE, "abc\x1b[1;20H\x1b9", "bc");
    check(SIZE, "abc\r\ndef\x1b[1 @", "bc|ef");
    check(SIZE, "abc\r\ndef\x1b[2 A", "  abc|  def");
}
