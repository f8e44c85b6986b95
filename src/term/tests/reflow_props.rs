//! What holds for any sequence of sizes: no text is lost, and what was at a character stays.

use crate::term::check::{fed, picture};
use crate::term::{LineNo, Notice, Size, Terminal};
use crate::view::text;
use proptest::prelude::*;

/// Text in which no character comes twice: narrow, wide, or with a mark.
fn unique(kinds: &[u8]) -> String {
    let mut out = String::new();
    for (n, kind) in (0..).zip(kinds) {
        let narrow = char::from_u32(0x100 + n).unwrap_or('?');
        match kind {
            0 => out.push_str("\r\n"),
            1..=3 => out.push(char::from_u32(0x4e00 + n).unwrap_or('?')),
            4 => out.extend([narrow, '\u{301}']),
            _ => out.push(narrow),
        }
    }
    out
}

fn kinds() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0u8..16, 1..160)
}

fn sizes() -> impl Strategy<Value = Vec<(u16, u16)>> {
    prop::collection::vec(prop_oneof![(1u16..9, 1u16..6), (2u16..60, 1u16..20)], 1..6)
}

fn resize(term: &mut Terminal, (cols, rows): (u16, u16)) {
    term.resize(Size { cols, rows });
}

/// All lines that have text, with their numbers.
fn lines(term: &Terminal) -> Vec<(LineNo, String)> {
    let lines = text::lines(term, LineNo(0), usize::MAX).into_iter();
    lines.map(|line| (line.line, line.text)).filter(|(_, text)| !text.is_empty()).collect()
}

fn shown(term: &Terminal, row: u16, col: u16) -> String {
    let mut text = String::new();
    term.text_at(row, col, &mut text);
    text
}

fn under_cursor(term: &Terminal) -> String {
    shown(term, term.cursor().row, term.cursor().col)
}

/// Cells with a character of their own, as row and column.
fn characters(term: &Terminal) -> Vec<(u16, u16)> {
    let size = term.size();
    let cells = (0..size.rows).flat_map(|row| (0..size.cols).map(move |col| (row, col)));
    cells.filter(|(row, col)| !shown(term, *row, *col).trim().is_empty()).collect()
}

/// Goes to one of the characters that are shown, and tells which one it is.
fn go_to_any(term: &mut Terminal, pick: usize) -> Option<String> {
    let all = characters(term);
    let (row, col) = *all.get(pick % all.len().max(1))?;
    term.feed(format!("\x1b[{};{}H", row + 1, col + 1).as_bytes(), &mut Vec::new());
    Some(under_cursor(term))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_line_keeps_its_text_and_number(kinds in kinds(), sizes in sizes()) {
        let mut term = fed(sizes[0], unique(&kinds));
        let before = lines(&term);
        for size in sizes {
            resize(&mut term, size);
            prop_assert_eq!(lines(&term), before.clone());
        }
    }

    /// Rows that leave at the top take the cursor's character along only if it is among them.
    #[test]
    fn the_cursor_stays_on_its_character(kinds in kinds(), sizes in sizes(), pick: usize) {
        let mut term = fed((20, 8), unique(&kinds));
        let Some(character) = go_to_any(&mut term, pick) else { return Ok(()) };
        for size in sizes {
            resize(&mut term, size);
            if !picture(&term).contains(&character) {
                prop_assert_eq!(term.cursor().row, 0);
                break;
            }
            prop_assert_eq!(under_cursor(&term), character.clone());
        }
    }

    #[test]
    fn the_saved_cursor_stays_on_its_character(kinds in kinds(), sizes in sizes(), pick: usize) {
        let mut term = fed((20, 8), unique(&kinds));
        let Some(character) = go_to_any(&mut term, pick) else { return Ok(()) };
        term.feed(b"\x1b7\x1b[99;1H", &mut Vec::new());
        for size in sizes {
            resize(&mut term, size);
            if !picture(&term).contains(&character) {
                break;
            }
            term.feed(b"\x1b8", &mut Vec::new());
            prop_assert_eq!(under_cursor(&term), character.clone());
            term.feed(b"\x1b[99;1H", &mut Vec::new());
        }
    }

    /// Where output began is a line, whatever becomes of the rows.
    #[test]
    fn marks_stay_where_they_were(kinds in kinds(), sizes in sizes()) {
        let prompt = "\x1b]133;A\x07$ \x1b]133;B\x07make\r\n\x1b]133;C\x07";
        let mut term = fed((20, 8), format!("before\r\n{prompt}first {}", unique(&kinds)));
        sizes.into_iter().for_each(|size| resize(&mut term, size));
        let mut notices = Vec::new();
        term.feed(b"\r\n\x1b]133;D;0\x07", &mut notices);
        let Some(Notice::CommandDone { command, output: Some(output), .. }) = notices.pop() else {
            return Err(TestCaseError::fail("no end was told"));
        };
        prop_assert_eq!(command.as_deref(), Some("make"));
        prop_assert_eq!(output.start, LineNo(2));
        prop_assert!(text::lines(&term, output.start, 1)[0].text.starts_with("first"));
        let ends = kinds.iter().filter(|kind| **kind == 0).count() as u64;
        prop_assert_eq!(output.end, LineNo(3 + ends));
    }

    #[test]
    fn the_alternate_screen_does_not_reflow(kinds in kinds(), sizes in sizes()) {
        let mut term = fed((20, 8), unique(&kinds));
        let before = lines(&term);
        term.feed(b"\x1b[?1049h\x1b[H", &mut Vec::new());
        let drawn: Vec<String> = (0..8).map(|n| "abcdefghijklmnopqrst"[..n * 2].to_owned()).collect();
        term.feed(drawn.join("\r\n").as_bytes(), &mut Vec::new());
        for size in sizes {
            resize(&mut term, size);
            for row in picture(&term).split('|') {
                prop_assert!(drawn.iter().any(|whole| whole.starts_with(row)), "{}", row);
            }
        }
        term.feed(b"\x1b[?1049l", &mut Vec::new());
        prop_assert_eq!(lines(&term), before);
    }
}
