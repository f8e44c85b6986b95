//! A terminal as text: the screen, the rows above it, and lines by number.

use std::ops::Range;

use crate::term::{LineNo, RowRef, Terminal};

/// A row, or a whole line, of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextRow {
    pub line: LineNo,
    pub text: String,
    /// The line goes on in the next row.
    pub wraps: bool,
}

/// The rows of the screen from top to bottom, with all their blanks.
pub fn viewport(term: &Terminal) -> Vec<TextRow> {
    let row = |y: u16| {
        let mut text = String::new();
        term.row_text(y, &mut text);
        TextRow { line: term.line_of_row(y), text, wraps: term.row_wraps(y) }
    };
    (0..term.size().rows).map(row).collect()
}

/// How many rows there are above the screen when wrapped at its width.
pub fn scrollback_rows(term: &Terminal) -> usize {
    let cols = usize::from(term.size().cols);
    let mut count = 0;
    each_segment_back(term, |segment| {
        count += segment.height(cols);
        true
    });
    count
}

/// Rows above the screen at its width, `skip` counted from the newest, from top to bottom.
/// Blanks at their ends are not there.
pub fn rows_above(term: &Terminal, skip: usize, count: usize) -> Vec<TextRow> {
    let cols = usize::from(term.size().cols);
    let wanted = skip.saturating_add(count);
    let mut seen = 0;
    let mut found = Vec::new();
    each_segment_back(term, |segment| {
        let height = segment.height(cols);
        if seen + height > skip {
            found.extend(segment.rows(cols).into_iter().rev().skip(skip.saturating_sub(seen)));
        }
        seen += height;
        seen < wanted
    });
    found.truncate(count);
    found.reverse();
    found
}

/// Whole lines by number, over scrollback and screen, without blanks at their ends.
pub fn lines(term: &Terminal, from: LineNo, count: usize) -> Vec<TextRow> {
    let mut lines = written_lines(term, from, count);
    for line in &mut lines {
        line.text.truncate(line.text.trim_end_matches(' ').len());
    }
    lines
}

/// The same, with blanks that were written at the end of a line and are still known.
pub fn written_lines(term: &Terminal, from: LineNo, count: usize) -> Vec<TextRow> {
    let mut out: Vec<TextRow> = Vec::new();
    for (line, row) in term.rows_from(from) {
        if out.last().is_none_or(|last| last.line != line) {
            if out.len() == count {
                break;
            }
            out.push(TextRow { line, text: String::new(), wraps: false });
        }
        if let Some(last) = out.last_mut() {
            row.text(&mut last.text);
        }
    }
    out
}

/// The same lines, split at the width of the screen.
pub fn rows_of_lines(term: &Terminal, from: LineNo, count: usize) -> Vec<TextRow> {
    let cols = usize::from(term.size().cols);
    let mut out: Vec<TextRow> = Vec::new();
    let mut segment: Option<Segment> = None;
    let mut lines = 0;
    for (line, row) in term.rows_from(from) {
        if segment.as_ref().is_none_or(|s| s.line != line) {
            out.extend(segment.take().iter().flat_map(|s| s.rows(cols)));
            if lines == count {
                break;
            }
            lines += 1;
            segment = Some(Segment { line, rows: Vec::new() });
        }
        if let Some(segment) = &mut segment {
            segment.rows.push(row);
        }
    }
    out.extend(segment.iter().flat_map(|s| s.rows(cols)));
    out
}

/// Lines as the output of a command: of the last one only so many columns, each with at most so
/// many characters, without blanks at their ends.
pub fn output(
    term: &Terminal,
    lines: Range<LineNo>,
    cut: Option<usize>,
    chars: usize,
) -> Vec<TextRow> {
    let mut out: Vec<TextRow> = Vec::new();
    let (mut room, mut cols, mut whole) = (chars, usize::MAX, true);
    for (line, row) in term.rows_from(lines.start).take_while(|(line, _)| *line < lines.end) {
        if out.last().is_none_or(|last| last.line != line) {
            let is_last = line.0 + 1 == lines.end.0;
            (room, cols) = (chars, cut.filter(|_| is_last).unwrap_or(usize::MAX));
            whole = true;
            out.push(TextRow { line, text: String::new(), wraps: false });
        }
        let Some(last) = out.last_mut().filter(|_| whole) else { continue };
        row.each_cluster(|text, width| match cols.checked_sub(width) {
            None => cols = 0,
            Some(left) if room > 0 => {
                last.text.push_str(text);
                (room, cols) = (room - 1, left);
            }
            // Blanks at the end of a line are no part of it.
            Some(_) if whole && text != " " => {
                last.text.push('…');
                whole = false;
            }
            Some(left) => cols = left,
        });
    }
    for line in &mut out {
        line.text.truncate(line.text.trim_end_matches(' ').len());
    }
    out
}

/// Rows of one line after one another.
struct Segment<'a> {
    line: LineNo,
    rows: Vec<RowRef<'a>>,
}

impl Segment<'_> {
    /// The rows were made at this width, so that they are wrapped already.
    fn fits(&self, cols: usize) -> bool {
        self.rows.iter().all(|row| row.cols() == cols)
    }

    fn goes_on(&self) -> bool {
        self.rows.last().is_some_and(|row| row.wraps())
    }

    fn height(&self, cols: usize) -> usize {
        if self.fits(cols) {
            return self.rows.len();
        }
        let (mut height, mut at) = (1, 0);
        for row in &self.rows {
            row.each_cluster(|_, width| {
                if at + width > cols && at > 0 {
                    height += 1;
                    at = 0;
                }
                at += width;
            });
        }
        height
    }

    fn rows(&self, cols: usize) -> Vec<TextRow> {
        let mut out = vec![self.blank()];
        let mut at = 0;
        let fits = self.fits(cols);
        for (index, row) in self.rows.iter().enumerate() {
            if fits && index > 0 {
                out.push(self.blank());
                at = 0;
            }
            row.each_cluster(|text, width| {
                if at + width > cols && at > 0 {
                    out.push(self.blank());
                    at = 0;
                }
                at += width;
                if let Some(last) = out.last_mut() {
                    last.text.push_str(text);
                }
            });
        }
        let last = out.len() - 1;
        out[last].wraps = self.goes_on();
        out
    }

    fn blank(&self) -> TextRow {
        TextRow { line: self.line, text: String::new(), wraps: true }
    }
}

/// Rows of scrollback from the newest on, those of a line that were made at one width together;
/// a row that has the width of the screen comes alone.
fn each_segment_back<'a>(term: &'a Terminal, mut f: impl FnMut(&Segment<'a>) -> bool) {
    let cols = usize::from(term.size().cols);
    let mut rows = term.rows_back().peekable();
    while let Some((line, row)) = rows.next() {
        let mut segment = Segment { line, rows: vec![row] };
        let same = |next: &(LineNo, RowRef<'a>)| next.0 == line && next.1.cols() == row.cols();
        while row.cols() != cols {
            let Some((_, next)) = rows.next_if(same) else {
                break;
            };
            segment.rows.push(next);
        }
        segment.rows.reverse();
        if !f(&segment) {
            return;
        }
    }
}
