//! Operating system commands.

use crate::term::check::{check_reply, fed, run};
use crate::term::{Cwd, Notice, Progress};

const SIZE: (u16, u16) = (20, 5);

fn told(bytes: &str) -> Vec<Notice> {
    run(SIZE, bytes).1
}

#[test]
fn titles() {
    let title = |bytes: &str| fed(SIZE, bytes).title().to_owned();
    assert_eq!(title("\x1b]0;a;b\x07"), "a;b");
    assert_eq!(title("\x1b]2;日本\x1b\\"), "日本");
    assert_eq!(title("\x1b]2;a\x07\x1b]1;icon\x07"), "a");
    assert_eq!(title("\x1b]2;a\u{202e}b\u{85}c\x0bd\x07"), "abcd");
    assert_eq!(title(&format!("\x1b]2;{}\x07", "é".repeat(1000))), "é".repeat(256));
    assert_eq!(title(&format!("\x1b]2;{}\x07", ";x".repeat(40))), ";x".repeat(40));
    assert_eq!(title("\x1b]2;a\x07\x1b[22;0t\x1b]2;b\x07\x1b[23;0t"), "a");
    assert_eq!(title("\x1b]2;a\x07\x1b]2;\x07"), "");
    let twice = told("\x1b]2;a\x07\x1b]0;a\x07");
    assert_eq!(twice, [Notice::Title("a".into())]);
}

#[test]
fn the_stack_of_titles_is_bounded() {
    let bytes = "\x1b]2;a\x07".to_owned()
        + &"\x1b[22t".repeat(100)
        + "\x1b]2;b\x07"
        + &"\x1b[23t".repeat(200);
    assert_eq!(fed(SIZE, bytes).title(), "a");
}

#[test]
fn directories_in_all_dialects() {
    let cwd = |host: Option<&str>, path: &str| {
        Some(Cwd { host: host.map(str::to_owned), path: path.to_owned() })
    };
    let all = [
        ("7;file://box/home/a%20b", cwd(Some("box"), "/home/a b")),
        ("7;file:///tmp", cwd(None, "/tmp")),
        ("7;file://h/a;b", cwd(Some("h"), "/a;b")),
        ("7;kitty-shell-cwd://h/a%20b", cwd(Some("h"), "/a%20b")),
        ("7;http://h/a", None),
        ("7;file://h/%1b%5bm%ff", cwd(Some("h"), "/[m\u{fffd}")),
        ("7;file://h/%e6%97%a5%", cwd(Some("h"), "/日%")),
        ("9;9;/tmp", cwd(None, "/tmp")),
        ("9;9;\"C:\\a b\"", cwd(None, "C:\\a b")),
        ("1337;CurrentDir=/x=y", cwd(None, "/x=y")),
        ("633;P;Cwd=/v", cwd(None, "/v")),
        ("633;P;Cwd=", None),
    ];
    for (osc, expected) in all {
        let (term, notices) = run(SIZE, format!("\x1b]{osc}\x07\x1b]{osc}\x1b\\"));
        assert_eq!(term.cwd(), expected.as_ref(), "{osc}");
        assert_eq!(notices.len(), usize::from(expected.is_some()), "{osc}");
    }
    let long = format!("\x1b]7;file:///{}\x07", "a".repeat(9000));
    assert_eq!(fed(SIZE, long).cwd().map(|c| c.path.len()), Some(4096));
}

#[test]
fn notifications() {
    let note = |title: Option<&str>, body: &str| {
        vec![Notice::Notification { title: title.map(str::to_owned), body: body.to_owned() }]
    };
    assert_eq!(told("\x1b]9;hello; you\x07"), note(None, "hello; you"));
    assert_eq!(told("\x1b]777;notify;T;B;C\x07"), note(Some("T"), "B;C"));
    assert_eq!(told("\x1b]99;i=1:p=title;T\x1b\\"), note(Some("T"), ""));
    assert_eq!(told("\x1b]99;;text\x1b\\"), note(None, "text"));
    assert_eq!(told("\x1b]99;i=1:p=close;x\x1b\\"), []);
    assert_eq!(told("\x1b]777;other;T\x07"), []);
    assert_eq!(told("\x07"), [Notice::Bell]);
}

#[test]
fn progress() {
    let told = |osc: &str| told(&format!("\x1b]9;4;{osc}\x07"));
    let progress = |state, percent| vec![Notice::Progress { state, percent }];
    assert_eq!(told("1;50"), progress(Progress::Normal, Some(50)));
    assert_eq!(told("0"), progress(Progress::None, None));
    assert_eq!(told("2;999"), progress(Progress::Error, Some(100)));
    assert_eq!(told("3"), progress(Progress::Indeterminate, None));
    assert_eq!(told("4;7"), progress(Progress::Paused, Some(7)));
    assert_eq!(told("9;7"), []);
}

#[test]
fn the_clipboard_is_written_and_never_read() {
    let wrote = |selection: &str, data: &[u8]| {
        vec![Notice::Clipboard { selection: selection.into(), data: data.to_vec() }]
    };
    assert_eq!(told("\x1b]52;c;aGk=\x07"), wrote("c", b"hi"));
    assert_eq!(told("\x1b]52;;aGk\x07"), wrote("s0", b"hi"));
    assert_eq!(told("\x1b]52;c;?\x07"), []);
    assert_eq!(told("\x1b]52;c;!!\x07"), []);
    let large = "QUJD".repeat(200_000);
    assert_eq!(told(&format!("\x1b]52;c;{large}\x07")), wrote("c", &b"ABC".repeat(200_000)));
    assert_eq!(told(&format!("\x1b]52;c;{}\x07", "QUJD".repeat(400_000))), []);
}

#[test]
fn links() {
    let term = fed(SIZE, "\x1b]8;id=a;http://x/;b\x1b\\L\x1b]8;;\x1b\\M");
    let link = term.link_at(0, 0).map(|l| (l.id.as_str(), l.uri.as_str()));
    assert_eq!(link, Some(("a", "http://x/;b")));
    assert_eq!(term.link_at(0, 1), None);
    let long = format!("\x1b]8;;{}\x07L", "a".repeat(5000));
    assert_eq!(fed(SIZE, long).link_at(0, 0), None);
}

#[test]
fn links_without_end_are_bounded() {
    let mut term = fed(SIZE, "");
    for n in 0..20_000 {
        let bytes = format!("\x1b]8;;http://x/{n}\x07L\x1b]8;;\x07\r\n");
        term.feed(bytes.as_bytes(), &mut Vec::new());
    }
    assert_eq!(term.link_at(3, 0).map(|l| l.uri.as_str()), Some("http://x/19999"));
}

#[test]
fn colours_are_set_asked_and_reset() {
    check_reply("\x1b]4;5;rgb:12/34/56\x1b\\\x1b]4;5;?\x1b\\", "\x1b]4;5;rgb:1212/3434/5656\x1b\\");
    check_reply(
        "\x1b]4;1;red;2;#00f\x07\x1b]4;1;?;2;?\x07",
        "\x1b]4;1;rgb:ffff/0000/0000\x07\x1b]4;2;rgb:0000/0000/f0f0\x07",
    );
    check_reply("\x1b]12;#ff0000\x07\x1b]12;?\x07", "\x1b]12;rgb:ffff/0000/0000\x07");
    check_reply("\x1b]10;#111111;#222222\x07\x1b]11;?\x07", "\x1b]11;rgb:2222/2222/2222\x07");
    check_reply(
        "\x1b]4;9;#123456\x07\x1b]104;9\x07\x1b]4;9;?\x07",
        "\x1b]4;9;rgb:f1f1/4c4c/4c4c\x07",
    );
    check_reply("\x1b]11;#123456\x07\x1b]111\x07\x1b]11;?\x07", "\x1b]11;rgb:1212/1414/1818\x07");
    check_reply("\x1b]4;300;?\x07\x1b]4;x;?\x07\x1b]4;1;nonsense\x07", "");
    check_reply(
        "\x1b]4;1;Light Slate Grey;2;grey50;3;SteelBlue;4;gray101\x07\x1b]4;2;?;3;?\x07",
        "\x1b]4;2;rgb:7f7f/7f7f/7f7f\x07\x1b]4;3;rgb:4646/8282/b4b4\x07",
    );
    let pairs: String = (0..200).map(|n| format!(";{n};?")).collect();
    let (_, replies) = run(SIZE, format!("\x1b]4{pairs}\x07"));
    assert_eq!(replies.len(), 200);
}

/// Whoever draws must draw again.
#[test]
fn new_colours_are_a_change_of_the_screen() {
    for osc in ["4;1;red", "104", "10;red", "11;red", "111"] {
        let mut term = fed(SIZE, "a");
        let before = term.stamp();
        term.feed(format!("\x1b]{osc}\x07").as_bytes(), &mut Vec::new());
        assert!(term.stamp() > before && term.row_stamp(0) == term.stamp(), "{osc}");
    }
}
