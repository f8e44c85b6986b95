//! Rectangles.

use crate::term::Attrs;
use crate::term::check::{check, check_reply, fed};

const SIZE: (u16, u16) = (20, 5);

#[test]
fn fill_erase_copy() {
    check(SIZE, "\x1b[88;1;1;2;3$x", "XXX|XXX");
    check(SIZE, "abc\r\ndef\x1b[1;2;2;2$z", "a c|d f");
    check(SIZE, "abc\x1b[1;1;1;2;1;2;3;1$v", "abc|  ab");
    check(SIZE, "abcdef\x1b[1;1;1;4;1;1;3;1$v", "ababcd");
    check(SIZE, "a\x1b[1\"qb\x1b[0\"qc\x1b[1;1;1;3${", " b");
    check(SIZE, "日本\x1b[1;2;1;2$z", "  本");
    check(SIZE, "日本\x1b[1;1;1;1;1;1;3;1$v", "日");
    check((4, 2), "\x1b[88;1;1;999;999$x", "XXXX|XXXX");
    check((4, 2), "ab\x1b[88;2;3;1;1$x", "ab");
}

#[test]
fn attributes_in_a_rectangle_or_a_stream() {
    let bold = |bytes: &str, row, col| fed((6, 3), bytes).style_at(row, col).attrs.has(Attrs::BOLD);
    let exact = "\x1b[2*x\x1b[1;2;2;3;1$r";
    assert!(bold(exact, 0, 1) && bold(exact, 1, 2) && !bold(exact, 0, 4) && !bold(exact, 1, 0));
    let stream = "\x1b[1;2;2;3;1$r";
    assert!(bold(stream, 0, 1) && bold(stream, 0, 4) && bold(stream, 1, 0) && !bold(stream, 1, 4));
    let twice = "\x1b[2*x\x1b[1;1;1;1;1$t\x1b[1;1;1;2;1$t";
    assert!(!bold(twice, 0, 0) && bold(twice, 0, 1));
}

#[test]
fn checksums() {
    check_reply("a\x1b[1;1;1;1;1;1*y", "\x1bP1!~FF9F\x1b\\");
    check_reply("ab\x1b[7;1;1;1;1;2*y", "\x1bP7!~FF3D\x1b\\");
    check_reply("\x1b[1ma\x1b[1;1;1;1;1;1*y", "\x1bP1!~FF1F\x1b\\");
}
