//! Written down, read back: the same lines that look the same.

use super::props::{Bytes, size, stream};
use crate::term::check::fed;
use crate::term::{Limits, LineNo, Size, Style, Terminal, is_transcript};
use crate::view::text;
use proptest::prelude::*;

fn written(term: &Terminal, most: usize) -> (LineNo, String) {
    let mut text = String::new();
    let lines = term.transcript(usize::MAX).write(most, &mut text);
    assert_eq!(text.matches('\n').count() as u64, lines.end.0 - lines.start.0);
    (lines.start, text)
}

fn read_back((cols, rows): (u16, u16), first: LineNo, lines: &str) -> Terminal {
    assert!(is_transcript(lines), "{lines:?}");
    let limits = Limits { lines: 1000, bytes: 1 << 20 };
    let mut term = Terminal::new(Size { cols, rows }, limits);
    term.begin_with(first, lines);
    term
}

/// Each line with its number and, if it is asked for, each character's look.
fn lines(term: &Terminal, looks: bool) -> Vec<(u64, String)> {
    let mut lines = Vec::new();
    for line in text::lines(term, LineNo(0), usize::MAX) {
        lines.push((line.line.0, line.text));
    }
    while lines.last().is_some_and(|(_, text)| text.is_empty()) {
        lines.pop();
    }
    if looks {
        for row in 0..term.size().rows {
            for col in 0..term.size().cols {
                let (style, link) = (term.style_at(row, col), term.link_at(row, col));
                if style != Style::default() || link.is_some() {
                    lines.push((term.line_of_row(row).0, format!("{col} {style:?} {link:?}")));
                }
            }
        }
    }
    lines
}

#[track_caller]
fn comes_back(size: (u16, u16), bytes: &str) {
    let term = fed(size, bytes);
    let (first, text) = written(&term, usize::MAX);
    // One row more, as the cursor is below what was written.
    let mut again = read_back((size.0, size.1 + 1), first, &text);
    assert_eq!(lines(&again, true), lines(&term, true), "{text:?}");
    again.feed(b"next", &mut Vec::new());
    assert!(again.cursor().col == 4 || size.0 < 5);
}

#[test]
fn looks_links_and_sizes_come_back() {
    comes_back((20, 4), "plain\r\n\x1b[1;31mred\x1b[0m and \x1b[4:3;58:2::1:2:3mwavy\x1b[m");
    comes_back((20, 4), "a \x1b]8;id=x;http://a.b/?c;d\x1b\\link\x1b]8;;\x1b\\ end");
    comes_back((20, 4), "\x1b#6wide line\r\n\x1b[44m \x1b[K\x1b[m\r\nx");
    comes_back((6, 3), "日本語テキスト e\u{301} 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} 🇬🇧");
    comes_back((5, 2), "a long line that wraps over and over\r\n\r\n\r\nend");
    comes_back((4, 3), "");
    comes_back((1, 1), "日本");
}

#[test]
fn lines_keep_their_numbers_when_older_ones_are_gone() {
    let numbers: Vec<String> = (0..3000).map(|n| n.to_string()).collect();
    let term = fed((20, 5), numbers.join("\r\n"));
    let (first, text) = written(&term, usize::MAX);
    assert!(first.0 > 1900, "{first:?}");
    let again = read_back((20, 5), first, &text);
    let kept = lines(&again, false);
    assert_eq!(kept.last(), Some(&(2999, "2999".to_owned())));
    assert_eq!(kept.first(), Some(&(kept[0].0, kept[0].0.to_string())));
}

#[test]
fn of_much_the_newest_whole_lines_are_written() {
    let term = fed((20, 2), "one\r\n\x1b[31mtwo\x1b[m\r\nthree\r\nfour");
    assert_eq!(written(&term, 11), (LineNo(2), "three\nfour\n".to_owned()));
    assert_eq!(written(&term, 10), (LineNo(3), "four\n".to_owned()));
    assert_eq!(written(&term, 5), (LineNo(3), "four\n".to_owned()));
    assert_eq!(written(&term, 4), (LineNo(4), String::new()));
    let (first, all) = written(&term, 1000);
    assert_eq!((first, all.as_str()), (LineNo(0), "one\n\x1b[0;31mtwo\x1b[0m\nthree\nfour\n"));
}

#[test]
fn of_the_scrollback_the_newest_pages_are_copied() {
    let numbers: Vec<String> = (0..20_000).map(|n| format!("line number {n}")).collect();
    let limits = Limits { lines: 100_000, bytes: 8 << 20 };
    let mut term = Terminal::new(Size { cols: 40, rows: 5 }, limits);
    term.feed(numbers.join("\r\n").as_bytes(), &mut Vec::new());
    let mut text = String::new();
    let lines = term.transcript(200 << 10).write(usize::MAX, &mut text);
    assert!(lines.start.0 > 10_000 && lines.start.0 < 19_000, "{lines:?}");
    assert!(text.starts_with(&format!("line number {}\n", lines.start.0)));
    assert!(text.ends_with("line number 19999\n"));
}

#[test]
fn a_full_screen_program_comes_after_what_it_hides() {
    let term = fed((20, 4), "$ vim\r\n\x1b[?1049h\x1b[Hin\x1b[3Hvim");
    assert_eq!(written(&term, 1000).1, "$ vim\nin\n\nvim\n");
}

#[test]
fn what_no_transcript_holds_is_refused() {
    for good in ["", "a\n", "\x1b[0;1;38:2::1:2:3mx\x1b[0m\n", "\x1b]8;id=a;b\x1b\\\x1b#6é日"] {
        assert!(is_transcript(good), "{good:?}");
    }
    let bad = [
        "\x07",
        "\r",
        "\x1b",
        "\x1bc",
        "\x1b[2J",
        "\x1b[?25l",
        "\x1b[31",
        "\x1b]52;c;YQ==\x1b\\",
        "\x1b]8;;x",
        "\x1b]8;;x\x07",
        "\x1b]8;;x\n\x1b\\",
        "\x1b#8",
        "\u{9b}31m",
        "\x7f",
    ];
    for bad in bad {
        assert!(!is_transcript(bad), "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_output_can_be_written_down_and_read_back(size in size(), Bytes(bytes) in stream()) {
        let term = fed(size, &bytes);
        let (first, text) = written(&term, usize::MAX);
        read_back(size, first, &text);
    }

    #[test]
    fn lines_of_words_come_back(
        size in (2u16..40, 1u16..12),
        words in prop::collection::vec("[a-z日本]{1,30}( |\r\n|\x1b\\[3[1-7]m)", 0..30),
    ) {
        let term = fed(size, words.concat());
        let (first, text) = written(&term, usize::MAX);
        let again = read_back((size.0, size.1 + 1), first, &text);
        prop_assert_eq!(lines(&again, false), lines(&term, false));
    }
}
