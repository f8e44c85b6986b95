//! A copy of all lines, to be read elsewhere while the terminal goes on.

use super::scrollback::Scrollback;
use super::{LineNo, Terminal};

/// Scrollback as it is packed, and the text of the screen.
pub struct LinesCopy {
    scrollback: Scrollback,
    /// Rows of scrollback that observers did not see yet.
    unseen: usize,
    /// Rows of the screen: their line, their text, and whether the line goes on.
    screen: Vec<(LineNo, String)>,
}

impl Terminal {
    /// Copies bytes and little else, so that it takes no longer than copying them.
    pub fn copy_lines(&self) -> LinesCopy {
        let screen = &self.state.screen;
        let top = LineNo(screen.shown_top_line());
        let rows = self.rows_from(top).map(|(line, row)| {
            let mut text = String::new();
            row.text(&mut text);
            (line, text)
        });
        let on_screen = rows.skip_while(|(line, _)| *line < top).collect();
        LinesCopy {
            scrollback: screen.scrollback.copied(),
            unseen: screen.unseen_rows(),
            screen: on_screen,
        }
    }
}

impl LinesCopy {
    /// Gives each whole line, from the oldest to the newest, without blanks at its end.
    pub fn each(&self, mut f: impl FnMut(LineNo, &str)) {
        let top = self.screen.first().map(|(line, _)| *line);
        let seen = self.scrollback.rows() - self.unseen.min(self.scrollback.rows());
        let packed = self.scrollback.starting_at(0).take(seen);
        // Rows of a line that goes on on the screen were copied with it.
        let packed = packed.take_while(|(_, line, _)| top.is_none_or(|top| LineNo(*line) < top));
        let (mut number, mut text) = (None, String::new());
        let mut give = |line: LineNo, add: &mut dyn FnMut(&mut String)| {
            if let Some(before) = number.filter(|before| *before != line) {
                f(before, text.trim_end_matches(' '));
                text.clear();
            }
            number = Some(line);
            add(&mut text);
        };
        for (_, line, record) in packed {
            give(LineNo(line), &mut |text| record.text(text));
        }
        for (line, row) in &self.screen {
            give(*line, &mut |text| text.push_str(row));
        }
        if let Some(last) = number {
            f(last, text.trim_end_matches(' '));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, Size};
    use super::*;

    #[test]
    fn a_copy_has_the_lines_of_its_terminal() {
        let limits = Limits { lines: 100, bytes: 1 << 20 };
        let mut term = Terminal::new(Size { cols: 5, rows: 3 }, limits);
        let text = "one\r\ntwo is long\r\n\r\n日本語\r\nx  \r\nlonger than all of it";
        term.feed(text.as_bytes(), &mut Vec::new());
        let copy = term.copy_lines();
        term.feed(b"\r\nlater\r\n\x1b[2J", &mut Vec::new());
        let mut lines = Vec::new();
        copy.each(|line, text| lines.push((line.0, text.to_owned())));
        let expected = ["one", "two is long", "", "日本語", "x", "longer than all of it"];
        let expected: Vec<_> = (0..).zip(expected.map(str::to_owned)).collect();
        assert_eq!(lines, expected);
    }
}
