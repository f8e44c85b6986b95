//! What one view shows: frames put together to a screen, and rows of the scrollback.

use std::ops::Range;
use std::sync::Arc;

use super::canvas::Cell;
use crate::term::{MAX_COLS, MAX_ROWS, Style};
use crate::wire::{CursorState, Frame, Look, Run, Shape, ViewState};

/// One row of cells.
pub type Row = Vec<Cell>;
/// A row's number, and the columns of it that are others than before.
pub type Change = (u16, Range<u16>);

#[derive(Debug, Clone)]
pub struct Screen {
    pub cols: u16,
    pub rows: Vec<Row>,
    pub cursor: CursorState,
    pub top_line: u64,
    pub state: ViewState,
}

impl Default for Screen {
    fn default() -> Screen {
        let cursor =
            CursorState { row: 0, col: 0, visible: false, shape: Shape::Block, blink: false };
        Screen { cols: 0, rows: Vec::new(), cursor, top_line: 0, state: ViewState::default() }
    }
}

impl Screen {
    pub fn size(&self) -> (u16, usize) {
        (self.cols, self.rows.len())
    }

    pub fn apply(&mut self, frame: &Frame) -> Vec<Change> {
        let (cols, rows) = (frame.cols.min(MAX_COLS), frame.rows.min(MAX_ROWS));
        if frame.full || cols != self.cols || usize::from(rows) != self.rows.len() {
            self.cols = cols;
            self.rows = vec![blank_row(cols); usize::from(rows)];
        }
        let styles = Palette::of(&frame.styles);
        let mut changes = Vec::with_capacity(frame.lines.len());
        for line in &frame.lines {
            let row = self.rows.get_mut(usize::from(line.row));
            let columns = row.and_then(|row| styles.put(&line.runs, row));
            changes.extend(columns.map(|columns| (line.row, columns)));
        }
        self.cursor = frame.cursor;
        self.top_line = frame.top_line;
        if let Some(state) = &frame.state {
            self.state = state.clone();
        }
        changes
    }
}

fn blank_row(cols: u16) -> Row {
    vec![Cell::blank(Style::default()); usize::from(cols)]
}

/// The looks of a frame, made ready once.
pub struct Palette(Vec<(Style, Option<Arc<str>>)>);

impl Palette {
    pub fn of(looks: &[Look]) -> Palette {
        let link = |look: &Look| look.link.as_deref().filter(|uri| is_harmless(uri)).map(Arc::from);
        Palette(looks.iter().map(|look| (look.style(), link(look))).collect())
    }

    /// The cells of a row, filled up with blanks.
    pub fn row(&self, runs: &[Run], cols: u16) -> Row {
        let mut row = blank_row(cols);
        self.put(runs, &mut row);
        row
    }

    /// Makes a row of another; the columns that are others than before.
    fn put(&self, runs: &[Run], row: &mut [Cell]) -> Option<Range<u16>> {
        let mut pen = Pen { row, at: 0, changed: None };
        for Run(text, look, width) in runs {
            let (style, link) = self.0.get(*look).cloned().unwrap_or_default();
            let mut chars = text.chars().filter(|c| !c.is_control());
            match width {
                None => chars.for_each(|first| {
                    let link = link.clone();
                    pen.put(Cell { first, more: None, width: 1, style, link });
                }),
                Some(width) => {
                    let Some(first) = chars.next() else { continue };
                    let more: String = chars.collect();
                    let more = (!more.is_empty()).then(|| Arc::from(more));
                    let width = (*width).clamp(1, 2);
                    pen.put_cluster(Cell { first, more, width, style, link });
                }
            }
        }
        pen.end()
    }
}

/// Goes along a row and changes what is to be another.
struct Pen<'a> {
    row: &'a mut [Cell],
    at: usize,
    changed: Option<Range<usize>>,
}

impl Pen<'_> {
    fn put(&mut self, cell: Cell) {
        if let Some(there) = self.row.get_mut(self.at).filter(|there| **there != cell) {
            *there = cell;
            let first = self.changed.as_ref().map_or(self.at, |changed| changed.start);
            self.changed = Some(first..self.at + 1);
        }
        self.at += 1;
    }

    /// A wide character that does not fit is left out.
    fn put_cluster(&mut self, cell: Cell) {
        let (style, wide) = (cell.style, cell.width == 2);
        if wide && self.at + 1 >= self.row.len() {
            return self.put(Cell::blank(style));
        }
        self.put(cell);
        if wide {
            self.put(Cell::tail(style));
        }
    }

    /// The rest is blank. Both halves of a wide character change together.
    fn end(mut self) -> Option<Range<u16>> {
        while self.at < self.row.len() {
            self.put(Cell::blank(Style::default()));
        }
        let Range { start, end } = self.changed?;
        // A wide character that took another's place has the same second half.
        let end = if self.row[end - 1].width == 2 { end + 1 } else { end };
        Some(start as u16..end.min(self.row.len()) as u16)
    }
}

/// A link goes to the outer terminal only if it can neither steer it nor run anything.
fn is_harmless(uri: &str) -> bool {
    let known = ["http://", "https://", "mailto:"].iter().any(|scheme| uri.starts_with(scheme));
    known && uri.chars().all(|c| c.is_ascii_graphic())
}

/// The text of cells, as it would be copied.
pub fn text_of(cells: &[Cell], out: &mut String) {
    for cell in cells.iter().filter(|cell| cell.width > 0) {
        out.push(cell.first);
        out.extend(cell.more.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn frame(fields: Value) -> Frame {
        let mut all = json!({"frame": 1, "view": 1, "terminal": "t1", "cols": 6, "rows": 2,
            "lines": [], "top_line": 0,
            "cursor": {"row": 0, "col": 0, "visible": true, "shape": "bar", "blink": false}});
        for (name, value) in fields.as_object().unwrap() {
            all[name] = value.clone();
        }
        serde_json::from_value(all).unwrap()
    }

    fn picture(screen: &Screen) -> String {
        let row = |row: &Row| {
            let mut text = String::new();
            text_of(row, &mut text);
            text.trim_end().to_owned()
        };
        screen.rows.iter().map(row).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn frames_change_the_rows_they_name() {
        let mut screen = Screen::default();
        let runs = json!([["ab", 0], ["日", 1, 2], ["e\u{301}", 0, 1]]);
        screen.apply(&frame(json!({"full": true, "styles": [{}, {"bold": true}],
            "lines": [{"row": 0, "runs": runs}, {"row": 1, "runs": [["two", 0]]}]})));
        assert_eq!(picture(&screen), "ab日e\u{301}|two");
        assert_eq!(screen.rows[0][3].width, 0);
        screen.apply(&frame(json!({"styles": [{}], "lines": [{"row": 1, "runs": [["x", 0]]}]})));
        assert_eq!(picture(&screen), "ab日e\u{301}|x");
        screen.apply(&frame(json!({"full": true})));
        assert_eq!(picture(&screen), "|");
    }

    #[test]
    fn a_frame_from_a_newer_server_harms_nothing() {
        let mut screen = Screen::default();
        screen.apply(&frame(json!({"new_field": 1, "lines": [
            {"row": 99, "runs": [["x", 7]]},
            {"row": 0, "runs": [["far too long", 3], ["\u{1b}[31m", 0], ["日", 0, 9]]}]})));
        assert_eq!(picture(&screen), "far to|");
        assert_eq!(screen.rows[0].len(), 6);
    }

    #[test]
    fn links_that_could_harm_are_left_out() {
        for uri in ["javascript:x", "file:///etc/passwd", "http://x/\u{1b}]", "http://x/\u{202e}"] {
            assert!(!is_harmless(uri), "{uri:?}");
        }
        assert!(is_harmless("https://example.org/?a=b#c"));
    }
}
