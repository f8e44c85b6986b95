//! The deferred wrap, as xterm does it.

use crate::term::check::{check, check_cursor, fed};

const SIZE: (u16, u16) = (20, 5);

fn full() -> String {
    "x".repeat(20)
}

#[track_caller]
fn after_full_row(bytes: &str, expected: &str) {
    check(SIZE, full() + bytes, expected);
}

#[test]
fn the_last_column_is_written_and_the_wrap_waits() {
    check_cursor(SIZE, full(), (0, 19));
    after_full_row("", &full());
    after_full_row("y", &(full() + "|y"));
    after_full_row("\r\ny", &(full() + "|y"));
}

#[test]
fn what_keeps_and_what_ends_it() {
    let x = |n: usize| "x".repeat(n);
    after_full_row("\x1b[Ky", &(x(19) + "y"));
    after_full_row("\x1b[Dy", &(x(18) + "yx"));
    after_full_row("\x08y", &(x(18) + "yx"));
    after_full_row("\ty", &(full() + "|y"));
    after_full_row("\x1b[1;20Hy", &(x(19) + "y"));
    after_full_row("\x1b[Xy", &(x(19) + "y"));
    after_full_row("\x1b[Py", &(x(19) + "y"));
    after_full_row("\x1b[@y", &(x(19) + "y"));
    after_full_row("\x1b7\x1b[H\x1b8y", &(full() + "|y"));
    after_full_row("\x1b[my", &(full() + "|y"));
    after_full_row("\n\x08y", &(full() + "|                  y"));
    after_full_row("\x1b[Zy", &(full() + "|y"));
}

#[test]
fn without_autowrap_the_last_column_is_overwritten() {
    check(SIZE, "\x1b[?7l".to_owned() + &full() + "yz", &("x".repeat(19) + "z"));
    check(
        SIZE,
        "\x1b[?7l\x1b[?7s\x1b[?7h\x1b[?7r".to_owned() + &full() + "y",
        &("x".repeat(19) + "y"),
    );
    check((4, 2), "\x1b[?7labc日", "ab日");
    check((3, 2), "\x1b[?7labe\u{301}o\u{308}", "abo\u{308}");
    check((3, 2), "\x1b[?7labcd\x1b[?7he", "abd|e");
    check((3, 2), "abc\x1b[?7ld", "abd");
    check((4, 1), "\x1b[?7lhello\x1b[Z!!!!!", "!!!!");
}

#[test]
fn a_wrapped_row_knows_it_goes_on() {
    let term = fed(SIZE, full() + "y\r\nz");
    assert!(term.row_wraps(0) && !term.row_wraps(1) && !term.row_wraps(2));
    assert_eq!(term.line_of_row(1), term.line_of_row(0));
    assert_eq!(term.line_of_row(2).0, term.line_of_row(0).0 + 1);
    assert!(!fed(SIZE, full() + "\r\nz").row_wraps(0));
    assert!(!fed(SIZE, full() + "y\x1b[1;5H\x1b[K").row_wraps(0));
}

#[test]
fn reverse_wrap_goes_back_over_the_edge() {
    check(SIZE, "\x1b[?45h".to_owned() + &full() + "y\x08\x08Z", &("x".repeat(19) + "Z|y"));
    check(SIZE, "\x1b[?45h".to_owned() + &full() + "\x08Z", &("x".repeat(19) + "Z"));
    for mode in ["\x1b[?45h", "\x1b[?1045h"] {
        check((3, 2), mode.to_owned() + "\x08X", "|  X");
        check((3, 2), mode.to_owned() + "\x1b[65535DX", "X");
        check((3, 2), mode.to_owned() + "a\r\n\x08X", "a X");
        check((3, 3), mode.to_owned() + "\x1b[1;2r\x08X", "|  X");
    }
    check((3, 2), "\x1b[?45;7l\x1b[?45habc\r\n\x08X", "abc|X");
}

#[test]
fn one_column_is_enough() {
    check((1, 3), "abc", "a|b|c");
    check((1, 3), "日本", "日|本");
    check((1, 1), "a\x1b[5b\x1b[@\x1b[P\x1b[Lx", "x");
}
