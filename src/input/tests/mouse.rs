//! The mouse in every mode and every encoding.

use super::modes;
use crate::input::Mods;
use crate::input::mouse::{Button, Cell, MouseEvent, MouseKind, Pixel, Wheel, encode};
use Button::{Back, Eleventh, Left, Middle, Right};
use MouseKind::{Move, Press, Release};

fn at(kind: MouseKind, mods: Mods, row: u16, col: u16) -> MouseEvent {
    MouseEvent { kind, mods, cell: Cell { row, col }, pixel: None }
}

/// An event at row 5, column 12, both from 0.
fn check(program: &str, kind: MouseKind, bytes: &str) {
    check_mods(program, kind, Mods::NONE, bytes);
}

/// No bytes stand for no report.
fn check_mods(program: &str, kind: MouseKind, mods: Mods, bytes: &str) {
    let sent = encode(&at(kind, mods, 5, 12), modes(program)).unwrap_or_default();
    let (sent, bytes) = (sent.escape_ascii().to_string(), bytes.as_bytes().escape_ascii());
    assert_eq!(sent, bytes.to_string(), "{kind:?} {mods:?} after {program:?}");
}

const X10: &str = "\x1b[?9h";
const NORMAL: &str = "\x1b[?1000h";
const BUTTON: &str = "\x1b[?1002h";
const ANY: &str = "\x1b[?1003h";
const SGR: &str = "\x1b[?1006h\x1b[?1000h";

#[test]
fn nothing_is_told_unasked() {
    for kind in [Press(Left), Release(Left), Move(None), Move(Some(Left)), wheel(Wheel::Up)] {
        check("", kind, "");
        check("\x1b[?1006h", kind, "");
        check("\x1b[?1000h\x1b[?1000l", kind, "");
    }
}

fn wheel(wheel: Wheel) -> MouseKind {
    MouseKind::Wheel(wheel)
}

#[test]
fn what_each_mode_tells() {
    check(X10, Press(Left), "\x1b[M -&");
    check(X10, Press(Middle), "\x1b[M!-&");
    check(X10, Press(Right), "\x1b[M\"-&");
    check(X10, Press(Back), "");
    check(X10, Release(Left), "");
    check(X10, Move(Some(Left)), "");
    check(X10, wheel(Wheel::Up), "");
    check(NORMAL, Press(Left), "\x1b[M -&");
    check(NORMAL, Release(Left), "\x1b[M#-&");
    check(NORMAL, Release(Right), "\x1b[M#-&");
    check(NORMAL, wheel(Wheel::Up), "\x1b[M`-&");
    check(NORMAL, wheel(Wheel::Down), "\x1b[Ma-&");
    check(NORMAL, wheel(Wheel::Left), "\x1b[Mb-&");
    check(NORMAL, wheel(Wheel::Right), "\x1b[Mc-&");
    check(NORMAL, Move(Some(Left)), "");
    check(NORMAL, Move(None), "");
    check(BUTTON, Press(Left), "\x1b[M -&");
    check(BUTTON, Release(Left), "\x1b[M#-&");
    check(BUTTON, Move(Some(Left)), "\x1b[M@-&");
    check(BUTTON, Move(Some(Right)), "\x1b[MB-&");
    check(BUTTON, Move(None), "");
    check(ANY, Move(None), "\x1b[MC-&");
    check(ANY, Move(Some(Middle)), "\x1b[MA-&");
    check(ANY, Release(Middle), "\x1b[M#-&");
}

#[test]
fn modifiers_are_told_but_to_x10() {
    check_mods(X10, Press(Left), Mods::CTRL | Mods::SHIFT, "\x1b[M -&");
    check_mods(NORMAL, Press(Left), Mods::SHIFT, "\x1b[M$-&");
    check_mods(NORMAL, Press(Left), Mods::ALT, "\x1b[M(-&");
    check_mods(NORMAL, Press(Left), Mods::META, "\x1b[M(-&");
    check_mods(NORMAL, Press(Left), Mods::CTRL, "\x1b[M0-&");
    check_mods(SGR, Press(Left), Mods::CTRL | Mods::ALT | Mods::SHIFT, "\x1b[<28;13;6M");
    check_mods(SGR, wheel(Wheel::Up), Mods::CTRL, "\x1b[<80;13;6M");
    check_mods(SGR, Release(Right), Mods::SHIFT, "\x1b[<6;13;6m");
    check_mods(SGR, Press(Left), Mods::SUPER | Mods::NUM_LOCK, "\x1b[<0;13;6M");
}

#[test]
fn sgr_tells_which_button_was_let_go() {
    check(SGR, Press(Left), "\x1b[<0;13;6M");
    check(SGR, Release(Left), "\x1b[<0;13;6m");
    check(SGR, Press(Middle), "\x1b[<1;13;6M");
    check(SGR, Release(Middle), "\x1b[<1;13;6m");
    check(SGR, Press(Right), "\x1b[<2;13;6M");
    check(SGR, Release(Right), "\x1b[<2;13;6m");
    check(SGR, Press(Back), "\x1b[<128;13;6M");
    check(SGR, Release(Eleventh), "\x1b[<131;13;6m");
    check(SGR, wheel(Wheel::Up), "\x1b[<64;13;6M");
    check(SGR, wheel(Wheel::Down), "\x1b[<65;13;6M");
    check("\x1b[?1006h\x1b[?1003h", Move(None), "\x1b[<35;13;6M");
    check("\x1b[?1006h\x1b[?1002h", Move(Some(Left)), "\x1b[<32;13;6M");
    check("\x1b[?1006h\x1b[?9h", Press(Left), "\x1b[<0;13;6M");
}

#[test]
fn urxvt_writes_numbers() {
    let urxvt = "\x1b[?1015h\x1b[?1003h";
    check(urxvt, Press(Left), "\x1b[32;13;6M");
    check(urxvt, Release(Left), "\x1b[35;13;6M");
    check(urxvt, Move(None), "\x1b[67;13;6M");
    check(urxvt, wheel(Wheel::Down), "\x1b[97;13;6M");
    check_mods(urxvt, Press(Right), Mods::CTRL, "\x1b[50;13;6M");
}

fn check_far(program: &str, row: u16, col: u16, bytes: Option<&[u8]>) {
    let sent = encode(&at(Press(Left), Mods::NONE, row, col), modes(program));
    assert_eq!(sent.as_deref(), bytes, "{row} {col}");
}

#[test]
fn places_that_an_encoding_cannot_say() {
    check_far(NORMAL, 0, 0, Some(b"\x1b[M !!"));
    check_far(NORMAL, 222, 222, Some(b"\x1b[M \xff\xff"));
    check_far(NORMAL, 0, 223, None);
    check_far(NORMAL, 223, 0, None);
    let utf8 = "\x1b[?1005h\x1b[?1000h";
    check_far(utf8, 0, 94, Some(b"\x1b[M \x7f!"));
    check_far(utf8, 0, 95, Some("\x1b[M \u{80}!".as_bytes()));
    check_far(utf8, 2014, 2014, Some("\x1b[M \u{7ff}\u{7ff}".as_bytes()));
    check_far(utf8, 0, 2015, None);
    check_far(utf8, 2015, 0, None);
    check_far(SGR, 65535, 65535, Some(b"\x1b[<0;65536;65536M"));
    check_far("\x1b[?1015h\x1b[?1000h", 999, 65535, Some(b"\x1b[32;65536;1000M"));
}

#[test]
fn buttons_beyond_ascii_in_the_old_encodings() {
    let sent = |program: &str| encode(&at(Press(Back), Mods::NONE, 0, 0), modes(program));
    assert_eq!(sent(NORMAL).as_deref(), Some(&b"\x1b[M\xa0!!"[..]));
    assert_eq!(sent("\x1b[?1005h\x1b[?1000h").as_deref(), Some("\x1b[M\u{a0}!!".as_bytes()));
}

#[test]
fn pixels() {
    let program = "\x1b[?1016h\x1b[?1003h";
    let mut event = at(Press(Left), Mods::NONE, 5, 12);
    assert_eq!(encode(&event, modes(program)), None);
    event.pixel = Some(Pixel { x: 125, y: 110 });
    assert_eq!(encode(&event, modes(program)).as_deref(), Some(&b"\x1b[<0;126;111M"[..]));
    event.kind = Release(Left);
    assert_eq!(encode(&event, modes(program)).as_deref(), Some(&b"\x1b[<0;126;111m"[..]));
    assert_eq!(encode(&event, modes(SGR)).as_deref(), Some(&b"\x1b[<0;13;6m"[..]));
}

#[test]
fn the_wheel_scrolls_a_pager_that_knows_no_mouse() {
    let alternate = "\x1b[?1049h";
    check(alternate, wheel(Wheel::Up), "\x1b[A\x1b[A\x1b[A");
    check(alternate, wheel(Wheel::Down), "\x1b[B\x1b[B\x1b[B");
    check(alternate, wheel(Wheel::Left), "");
    check(alternate, Press(Left), "");
    check("\x1b[?1049h\x1b[?1h", wheel(Wheel::Up), "\x1bOA\x1bOA\x1bOA");
    check("\x1b[?1049h\x1b[?1007l", wheel(Wheel::Up), "");
    check("\x1b[?1049h\x1b[?1049l", wheel(Wheel::Up), "");
    check("\x1b[?1049h\x1b[?1000h", wheel(Wheel::Up), "\x1b[M`-&");
}
