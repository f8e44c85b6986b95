//! What terminals send is read back, however it is cut.

use proptest::prelude::*;

use super::modes;
use super::props::told_code;
use crate::input::decode::{Decoder, Input};
use crate::input::mouse::{self, Button, Cell, MouseEvent, MouseKind, Wheel};
use crate::input::{Key, KeyKind, KeyModes, Mods, encode};

/// All that is read, in short: nothing more comes.
fn read(bytes: &[u8]) -> String {
    let mut decoder = Decoder::default();
    let mut found = decoder.feed(bytes);
    while decoder.waits() {
        found.extend(decoder.give_up());
    }
    found.iter().map(short).collect::<Vec<_>>().join(" ")
}

fn short(input: &Input) -> String {
    match input {
        Input::Key(key) => match key.kind {
            KeyKind::Press => key.to_string(),
            kind => format!("{key}:{kind:?}"),
        },
        Input::Paste(text) => format!("{text:?}"),
        Input::Focus(gained) => format!("focus:{gained}"),
        Input::Mouse(event) => {
            let Cell { row, col } = event.cell;
            format!("{}{:?}@{row},{col}", event.mods, event.kind)
        }
    }
}

fn check(lines: &[(&str, &str)]) {
    for (bytes, expected) in lines {
        assert_eq!(read(bytes.as_bytes()), *expected, "{bytes:?}");
    }
}

#[test]
fn keys_as_terminals_of_all_kinds_send_them() {
    check(&[
        ("aZ é日👍", "a Z Space é 日 👍"),
        ("\r\t\x7f\x08\n", "Enter Tab Backspace Ctrl+h Ctrl+j"),
        ("\x03\0\x1c\x1d\x1f", "Ctrl+c Ctrl+Space Ctrl+\\ Ctrl+] Ctrl+_"),
        ("\x1b", "Escape"),
        ("\x1b\x1b", "Escape Escape"),
        (
            "\x1bx\x1bX\x1b\r\x1b\x7f\x1b\x03\x1bé",
            "Alt+x Alt+X Alt+Enter Alt+Backspace Ctrl+Alt+c Alt+é",
        ),
        ("\x1b[A\x1b[H\x1b[F\x1b[Z\x1b[3~", "Up Home End Shift+Tab Delete"),
        ("\x1bOA\x1bOP\x1bOS\x1bOM", "Up F1 F4 KpEnter"),
        ("\x1b[1;5C\x1b[1;2P\x1b[1;3R\x1b[5;6~", "Ctrl+Right Shift+F1 Alt+F3 Ctrl+Shift+PageUp"),
        ("\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1b[11~\x1b[14~", "Home End Home End F1 F4"),
        ("\x1b[15~\x1b[24~\x1b[25~\x1b[[A\x1b[[E", "F5 F12 F13 F1 F5"),
        ("\x1b[97;5u\x1b[13;2u\x1b[27u\x1b[57376u", "Ctrl+a Shift+Enter Escape F13"),
        ("\x1b[97;5:3u\x1b[1;1:2A", "Ctrl+a:Release Up:Repeat"),
        ("\x1b[97;133u", "Ctrl+a"),
        ("\x1b[27;5;9~", "Ctrl+Tab"),
        ("\x1b[", "Alt+["),
        ("\x1bO", "Alt+O"),
        ("\x1b]", "Alt+]"),
        ("\x1b[1;", "Alt+[ 1 ;"),
    ]);
}

#[test]
fn mouse_focus_and_pastes() {
    check(&[
        ("\x1b[<0;10;5M\x1b[<0;10;5m", "Press(Left)@4,9 Release(Left)@4,9"),
        ("\x1b[<34;3;1M\x1b[<35;3;1M", "Move(Some(Right))@0,2 Move(None)@0,2"),
        ("\x1b[<68;1;1M\x1b[<81;1;1M", "Shift+Wheel(Up)@0,0 Ctrl+Wheel(Down)@0,0"),
        ("\x1b[M !!\x1b[M#!!", "Press(Left)@0,0 Release(Left)@0,0"),
        ("\x1b[32;4;6M", "Press(Left)@5,3"),
        ("\x1b[I\x1b[O", "focus:true focus:false"),
        ("\x1b[200~a\r\x1b[Ab\x1b[201~c", "\"a\\r\\u{1b}[Ab\" c"),
        ("\x1b[200~\x1b[201~x", "x"),
    ]);
}

#[test]
fn what_is_not_known_is_left_out() {
    check(&[
        ("\x1b[?62;4cx\x1b[?1ux\x1b[12;40Rx", "x x x"),
        ("\x1b]11;rgb:0/0/0\x07a\x1bP>|term\x1b\\b", "a b"),
        ("\x1b[999~a\x1b[5;\x1b[Ab", "a Up b"),
        ("\x1b[<0;0;0Mx\x1b[<0;99999999;1My", "x y"),
    ]);
    assert_eq!(read(b"\xffa\xc3(b\xf0\x9f"), "a ( b");
    // Too long to be one, and nothing that anybody typed.
    assert_eq!(read(&[&b"\x1b["[..], &[b'1'; 100]].concat()), "");
}

#[test]
fn a_long_paste_comes_in_parts_and_whole() {
    let text = "ü".repeat(1_200_000);
    let mut decoder = Decoder::default();
    let mut found = decoder.feed(format!("\x1b[200~{text}").as_bytes());
    assert!(!decoder.waits() && decoder.give_up().is_empty());
    found.extend(decoder.feed(b"\x1b[20"));
    found.extend(decoder.feed(b"1~"));
    let parts = found.iter().map(|input| match input {
        Input::Paste(text) => text.as_str(),
        other => panic!("{other:?}"),
    });
    assert!(parts.collect::<String>() == text);
}

fn told_mouse() -> impl Strategy<Value = MouseEvent> {
    let buttons = [Button::Left, Button::Middle, Button::Right, Button::Back, Button::Eleventh];
    let wheels = [Wheel::Up, Wheel::Down, Wheel::Left, Wheel::Right];
    let each = buttons
        .into_iter()
        .flat_map(|b| [MouseKind::Press(b), MouseKind::Release(b), MouseKind::Move(Some(b))]);
    let kinds: Vec<_> =
        each.chain(wheels.map(MouseKind::Wheel)).chain([MouseKind::Move(None)]).collect();
    (prop::sample::select(kinds), 0_u8..8, 0_u16..500, 0_u16..500).prop_map(
        |(kind, mods, row, col)| {
            let mods = Mods(mods);
            MouseEvent { kind, mods, cell: Cell { row, col }, pixel: None }
        },
    )
}

proptest! {
    #[test]
    fn keys_of_the_kitty_protocol_come_back(code in told_code(), held in 0_u8..64, kind in 0..3) {
        let kind = [KeyKind::Press, KeyKind::Repeat, KeyKind::Release][kind as usize];
        let key = Key::new(code, Mods(held)).of_kind(kind);
        // With all flags but text every key is a sequence.
        let sent = encode(&key, &KeyModes { kitty: 1 | 2 | 8, ..KeyModes::of(&super::set("")) });
        prop_assert_eq!(Decoder::default().feed(&sent), vec![Input::Key(key)]);
    }

    #[test]
    fn the_mouse_comes_back(event in told_mouse()) {
        let sent = mouse::encode(&event, modes("\x1b[?1003h\x1b[?1006h")).unwrap();
        prop_assert_eq!(Decoder::default().feed(&sent), vec![Input::Mouse(event)]);
    }

    #[test]
    fn it_does_not_matter_how_bytes_are_cut(
        parts in prop::collection::vec(prop::sample::select(vec![
            "a", "é", "\x1b[A", "\x1b[1;5C", "\x1b[<0;3;4M", "\x1b[200~x\x1b[Ay", "\x1b[201~", "\x1bOP",
            "\x1b[97;5:3u", "\r", "日本",
        ]), 0..12),
        cuts in prop::collection::vec(0_usize..200, 0..6),
    ) {
        let bytes = parts.concat().into_bytes();
        let whole = Decoder::default().feed(&bytes);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut decoder = Decoder::default();
        let pieces: Vec<Input> =
            cuts.windows(2).flat_map(|at| decoder.feed(&bytes[at[0]..at[1]])).collect();
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = Decoder::default();
        decoder.feed(&bytes);
        for _ in 0..bytes.len() {
            decoder.give_up();
        }
        prop_assert!(!decoder.waits());
    }
}
