//! Memory stays where it is, whatever a program prints and however long.

use crate::term::{Limits, Size, Terminal};

const LIMITS: Limits = Limits { lines: 2_000, bytes: 512 << 10 };
/// Bytes of each workload. `cargo bench --bench feed -- flat` does the same with a gigabyte.
const VOLUME: usize = 8 << 20;

/// Feeds much of one kind; what is held after all of it is no more than after a quarter.
fn stays_flat(unit: impl Fn(usize) -> String) {
    let mut term = Terminal::new(Size { cols: 80, rows: 24 }, LIMITS);
    let (mut fed, mut quarter, mut i) = (0, None, 0);
    while fed < VOLUME {
        let chunk: String = (i..i + 100).map(&unit).collect();
        term.feed(chunk.as_bytes(), &mut Vec::new());
        (i, fed) = (i + 100, fed + chunk.len());
        if fed > VOLUME / 4 {
            quarter.get_or_insert((term.scrollback_bytes(), saved(&term)));
        }
    }
    let (rows, save) = quarter.unwrap();
    assert!(term.scrollback_bytes() <= rows + (128 << 10), "{} {rows}", term.scrollback_bytes());
    assert!(term.scrollback_bytes() <= LIMITS.bytes + (64 << 10));
    // All that is not scrollback is in the save: styles, links, titles, marks, strings.
    assert!(saved(&term) <= save * 2 + 50_000, "{} {save}", saved(&term));
}

fn saved(term: &Terminal) -> usize {
    let mut out = Vec::new();
    term.save(&mut out);
    out.len()
}

#[test]
fn lines_leave_it_flat() {
    stays_flat(|i| format!("{i:08} the quick brown fox jumps over the lazy dog\r\n"));
    stays_flat(|_| "x".repeat(4000));
}

#[test]
fn colours_leave_it_flat() {
    stays_flat(|i| format!("\x1b[38;2;{};{};{}mx", i % 256, i / 256 % 256, i / 65_536));
}

#[test]
fn links_and_marks_leave_it_flat() {
    stays_flat(|i| {
        let link =
            format!("\x1b]8;id={i};http://x/{i}\x07l\x1b]8;;\x07\x1b]2;{i}\x07\x1b[22t\x1b[>1u");
        format!(
            "{link}\x1b]133;A;aid={i}\x07$ \x1b]133;B\x07ls\x1b]133;C\x07\r\n\x1b]4;{};#123\x07",
            i % 300
        )
    });
}

#[test]
fn characters_that_join_leave_it_flat() {
    stays_flat(|_| "e\u{301}\u{302}👨\u{200d}👩\u{200d}👧日❤\u{fe0f}🇬🇧".to_owned());
}

#[test]
fn strings_without_end_leave_it_flat() {
    stays_flat(|i| if i == 0 { "\x1b]0;".to_owned() } else { "x".repeat(99) });
    stays_flat(|i| if i == 0 { "\x1bPq".to_owned() } else { "#0;2;0;0;0".repeat(9) });
    stays_flat(|i| if i == 0 { "\x1b[".to_owned() } else { "0;1:".repeat(25) });
}

#[test]
fn screens_that_change_leave_it_flat() {
    stays_flat(|i| match i % 3 {
        0 => format!("\x1b[?1049h\x1b[?2026h\x1b[{};1H\x1b[4{}mtext\x1b[K", i % 24, i % 8),
        1 => "\x1b[5;20r\x1b[20;1H\n\n\x1b[2J\x1b[?2026l".to_owned(),
        _ => "\x1b[?1049l\x1b7\r\nline\r\n\x1b8".to_owned(),
    });
}
