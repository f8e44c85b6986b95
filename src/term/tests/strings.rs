//! Strings of any kind and length leave nothing on the screen.

use crate::term::check::{check, fed, picture, run};
use crate::term::{GraphicsKind, Notice};

const SIZE: (u16, u16) = (20, 5);

#[test]
fn strings_are_swallowed() {
    check(SIZE, "A\x1bPq#0;2;0;0;0#0!10~-\x1b\\B", "AB");
    check(SIZE, "A\x1b_Gf=24,s=1,v=1;AAAA\x1b\\B", "AB");
    check(SIZE, "A\x1b^secret\x1b\\\x1bXsos\x1b\\B", "AB");
    check(SIZE, "A\x1bPx✓hidden\x1b\\B", "AB");
    check(SIZE, "A\x1b]2;✓ 日\x07B", "AB");
    check(SIZE, "A\x1bPtmux;\x1b\x1b]0;x\x07\x1b\\B", "AB");
    let all = "\x1b]0;t\x07\x1b]7;file://h/p\x07\x1b]8;;http://x\x1b\\L\x1b]8;;\x1b\\\x1b]9;4;1;50\x07\
               \x1b]52;c;aGk=\x07\x1b]133;A\x07\x1b]777;notify;a;b\x07\x1b]1337;x=y\x07\x1b]99;i=1;hi\x1b\\Z";
    check(SIZE, all, "LZ");
}

#[test]
fn what_ends_a_string_and_what_does_not() {
    check(SIZE, "\x1b]2;evil\x18X", "X");
    assert_eq!(fed(SIZE, "\x1b]2;evil\x18X").title(), "");
    assert_eq!(fed(SIZE, "\x1b]2;evil\x1a").title(), "");
    check(SIZE, "\x1b]2;evil\x1b[2;2HX", "| X");
    assert_eq!(fed(SIZE, "\x1b]2;evil\x1b[mX").title(), "");
    check(SIZE, b"\x1bPq\x07\x9c\x1b\\X", "X");
    check(SIZE, "\x1b]2;a\x1b\x1b\\X", "X");
    assert!(fed(SIZE, "\x1b]2;a\x07").is_ground() && !fed(SIZE, "\x1b]2;a").is_ground());
    assert!(!fed(SIZE, "\x1b").is_ground() && !fed(SIZE, "\x1b[1").is_ground());
    assert!(!fed(SIZE, b"\xe6").is_ground() && fed(SIZE, "\x1b[1?h").is_ground());
}

#[test]
fn long_strings_are_swallowed_whole() {
    for open in ["\x1b]2;", "\x1bPq", "\x1b_G", "\x1b^", "\x1bX", "\x1b]52;c;"] {
        let long = "✓".repeat(1 << 20);
        let term = fed(SIZE, format!("A{open}{long}\x1b\\B"));
        assert_eq!((picture(&term).as_str(), term.title()), ("AB", ""), "{open:?}");
    }
}

#[test]
fn other_strings_are_told_with_their_length() {
    use crate::term::PayloadKind as Kind;
    let long = "x".repeat(100_000);
    for (open, kind, more) in [
        ("\x1bPtmux;", Kind::Dcs, 5),
        ("\x1b_hello", Kind::Apc, 5),
        ("\x1b^", Kind::Pm, 0),
        ("\x1bX", Kind::Sos, 0),
    ] {
        let (term, notices) = run(SIZE, format!("A{open}{long}\x1b\\B"));
        assert_eq!(picture(&term), "AB");
        assert_eq!(notices, [Notice::Payload { kind, bytes: 100_000 + more }]);
        assert_eq!(run(SIZE, format!("A{open}{long}\x18B")).1, [], "cut off");
    }
}

#[test]
fn pictures_are_told() {
    let kind = |bytes: &str| match run(SIZE, bytes).1.as_slice() {
        [Notice::Graphics { kind, bytes }] => (*kind, *bytes),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind("\x1bP0;1;0q~~~\x1b\\"), (GraphicsKind::Sixel, 9));
    assert_eq!(kind("\x1b_Ga=T,f=100;AAAA\x1b\\"), (GraphicsKind::Kitty, 15));
    assert_eq!(kind("\x1b]1337;File=inline=1:AAAA\x07").0, GraphicsKind::Iterm);
    let big = format!("\x1bPq{}\x1b\\", "~".repeat(100_000));
    assert_eq!(kind(&big), (GraphicsKind::Sixel, 100_001));
}
