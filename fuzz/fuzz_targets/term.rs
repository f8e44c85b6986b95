//! Whatever a program prints, cut anywhere, with resizes in between.
#![no_main]

use libfuzzer_sys::fuzz_target;
use t4a::term::{Limits, Size, Terminal};
use t4a::view::text;

fuzz_target!(|data: &[u8]| {
    let mut terminal =
        Terminal::new(Size { cols: 20, rows: 6 }, Limits { lines: 50, bytes: 1 << 16 });
    let mut notices = Vec::new();
    let mut rest = data;
    while let [cut, cols, rows, tail @ ..] = rest {
        let (piece, tail) = tail.split_at(tail.len().min(usize::from(*cut)));
        terminal.feed(piece, &mut notices);
        if cols % 4 == 0 {
            let size = Size { cols: u16::from(*cols / 4) + 1, rows: u16::from(*rows / 8) + 1 };
            terminal.resize(size);
        }
        check(&terminal);
        notices.clear();
        rest = tail;
    }
});

fn check(terminal: &Terminal) {
    let size = terminal.size();
    let cursor = terminal.cursor();
    assert!(cursor.row < size.rows && cursor.col < size.cols);
    let screen = text::viewport(terminal);
    assert_eq!(screen.len(), usize::from(size.rows));
    let above = text::scrollback_rows(terminal);
    assert_eq!(text::rows_above(terminal, 0, above).len(), above);
    let lines = terminal.lines();
    assert!(lines.start <= lines.end);
    let joined = text::lines(terminal, lines.start, usize::MAX);
    assert_eq!(joined.len() as u64, lines.end.0 - lines.start.0);
}
