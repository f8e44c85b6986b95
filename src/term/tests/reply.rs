//! What programs ask.

use crate::term::check::{check_reply, replies};

#[test]
fn attributes_and_status() {
    check_reply("\x1b[c", "\x1b[?64;1;6;22;28;52c");
    check_reply("\x1b[0c\x1bZ", "\x1b[?64;1;6;22;28;52c\x1b[?64;1;6;22;28;52c");
    check_reply("\x1b[1c", "");
    check_reply("\x1b[=c", "\x1bP!|54344100\x1b\\");
    check_reply("\x1b[5n", "\x1b[0n");
    check_reply("\x1b[?62n\x1b[?63;7n\x1b[?75n", "\x1b[0*{\x1bP7!~0000\x1b\\\x1b[?70n");
    check_reply("\x1b[?996n", "\x1b[?997;1n");
    check_reply("\x1b]11;#ffffff\x07\x1b[?996n", "\x1b[?997;2n");
    let version = format!("\x1bP>|t4a {}\x1b\\", env!("CARGO_PKG_VERSION"));
    check_reply("\x1b[>q", &version);
    assert!(replies((20, 5), "\x1b[>c").starts_with("\\x1b[>41;"));
}

#[test]
fn positions() {
    check_reply("\x1b[3;4H\x1b[6n", "\x1b[3;4R");
    check_reply("\x1b[3;4H\x1b[?6n", "\x1b[?3;4;1R");
    check_reply("\x1b[2;4r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;2R");
    check_reply(&("x".repeat(20) + "\x1b[6n"), "\x1b[1;20R");
}

#[test]
fn sizes() {
    check_reply("\x1b[18t", "\x1b[8;5;20t");
    check_reply("\x1b[14t", "\x1b[4;100;200t");
    check_reply("\x1b[16t", "\x1b[6;20;10t");
    check_reply("\x1b[?2048h", "\x1b[48;5;20;100;200t");
    check_reply("\x1b]2;secret\x07\x1b[21t\x1b[20t", "");
}

/// Modes 2048 and 2031: the program is told when what it asked about changes.
#[test]
fn changes_are_told_where_asked_for() {
    let mut term = crate::term::check::fed((20, 5), "\x1b[?2048h");
    term.resize(crate::term::Size { cols: 30, rows: 6 });
    let mut notices = Vec::new();
    term.take_notices(&mut notices);
    let report = b"\x1b[48;6;30;120;300t".to_vec();
    assert_eq!(notices, [crate::term::Notice::Reply(report)]);
    check_reply("\x1b]11;#fff\x07", "");
    check_reply("\x1b[?2031h\x1b]11;#fff\x07\x1b]11;#eee\x07\x1b]10;#fff\x07", "\x1b[?997;2n");
    check_reply("\x1b]11;#fff\x07\x1b[?2031h\x1b]111\x07", "\x1b[?997;1n");
}

#[test]
fn modes_are_told_as_they_are() {
    check_reply("\x1b[?2026$p", "\x1b[?2026;2$y");
    check_reply("\x1b[?9999$p", "\x1b[?9999;0$y");
    check_reply(
        "\x1b[?2004h\x1b[?25l\x1b[?2004$p\x1b[?25$p\x1b[?1049$p",
        "\x1b[?2004;1$y\x1b[?25;2$y\x1b[?1049;2$y",
    );
    check_reply("\x1b[4h\x1b[4$p\x1b[5$p", "\x1b[4;1$y\x1b[5;0$y");
    check_reply("\x1b[?5h\x1b[?5$p", "\x1b[?5;1$y");
    check_reply("\x1b[?1000h\x1b[?1003h\x1b[?1000$p\x1b[?1003$p", "\x1b[?1000;2$y\x1b[?1003;1$y");
    check_reply(
        "\x1b[?2027$p\x1b[?2048$p\x1b[?2031$p",
        "\x1b[?2027;1$y\x1b[?2048;2$y\x1b[?2031;2$y",
    );
}

#[test]
fn settings() {
    check_reply("\x1b[2;3r\x1bP$qr\x1b\\", "\x1bP1$r2;3r\x1b\\");
    check_reply("\x1b[?69h\x1b[2;3s\x1bP$qs\x1b\\", "\x1bP1$r2;3s\x1b\\");
    check_reply("\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\");
    check_reply("\x1b[1\"q\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\");
    check_reply("\x1bP$qz\x1b\\", "\x1bP0$r\x1b\\");
}

#[test]
fn capabilities() {
    check_reply("\x1bP+q544e\x1b\\", "\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\");
    check_reply("\x1bP+q436f;5A5A\x1b\\", "\x1bP1+r436F=323536\x1b\\\x1bP0+r\x1b\\");
    check_reply("\x1bP+q5463\x1b\\", "\x1bP1+r5463\x1b\\");
    check_reply("\x1bP+q536D6F6C\x1b\\", "\x1bP1+r536D6F6C=1B5B35336D\x1b\\");
    check_reply("\x1bP+qzz\x1b\\", "\x1bP0+r\x1b\\");
}

#[test]
fn kitty_keyboard_flags_are_kept_for_each_screen() {
    check_reply("\x1b[?u\x1b[>5u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?0u\x1b[?5u\x1b[?0u");
    check_reply("\x1b[>5u\x1b[?1049h\x1b[?u\x1b[?1049l\x1b[?u", "\x1b[?0u\x1b[?5u");
    let flags = |bytes: &str| crate::term::check::fed((9, 2), bytes).keyboard_flags();
    assert_eq!(flags("\x1b[>5u"), 5);
    assert_eq!(flags("\x1b[>5u\x1b[>3u\x1b[<u"), 5);
    assert_eq!(flags("\x1b[>5u\x1b[<9u"), 0);
    assert_eq!(flags("\x1b[=5;1u\x1b[=2;2u\x1b[=4;3u"), 3);
    assert_eq!(flags("\x1b[>5u\x1b[?1049h"), 0);
    assert_eq!(flags("\x1b[>5u\x1b[?1049h\x1b[>1u\x1b[?1049l"), 5);
    assert_eq!(flags(&("\x1b[>1u".repeat(100) + "\x1b[<15u")), 1);
}

#[test]
fn modify_other_keys() {
    check_reply("\x1b[>4;2m\x1b[?4m", "\x1b[>4;2m");
    check_reply("\x1b[>4;2m\x1b[>4m\x1b[?4m", "\x1b[>4;0m");
    check_reply("\x1b[>4;1m\x1b[>4n\x1b[?4m", "\x1b[>4;0m");
    check_reply("\x1b[>4;1m\x1b[>m\x1b[?4m", "\x1b[>4;0m");
    check_reply("\x1b[>4;1m\x1b[>0;2m\x1b[?4m\x1b[?0m", "\x1b[>4;1m\x1b[>0;0m");
    check_reply("\x1b[?1m\x1b[?2m\x1b[?99m", "\x1b[>1;2m\x1b[>2;2m");
    check_reply("\x1b[?4g\x1b[>4;1f\x1b[?4g\x1b[>f\x1b[?4g", "\x1b[>4;0f\x1b[>4;1f\x1b[>4;0f");
}
