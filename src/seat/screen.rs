//! What one view shows: frames put together to a screen, and rows of the scrollback.

use std::sync::Arc;

use super::canvas::Cell;
use crate::term::{MAX_COLS, MAX_ROWS, Style};
use crate::wire::{CursorState, Frame, Look, Run, Shape, ViewState};

/// One row of cells.
pub type Row = Vec<Cell>;

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

    pub fn apply(&mut self, frame: &Frame) {
        let (cols, rows) = (frame.cols.min(MAX_COLS), frame.rows.min(MAX_ROWS));
        if frame.full || cols != self.cols || usize::from(rows) != self.rows.len() {
            self.cols = cols;
            self.rows = vec![blank_row(cols); usize::from(rows)];
        }
        let styles = Palette::of(&frame.styles);
        for line in &frame.lines {
            if let Some(row) = self.rows.get_mut(usize::from(line.row)) {
                *row = styles.row(&line.runs, cols);
            }
        }
        self.cursor = frame.cursor;
        self.top_line = frame.top_line;
        if let Some(state) = &frame.state {
            self.state = state.clone();
        }
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
        let mut row = Row::with_capacity(usize::from(cols));
        for Run(text, look, width) in runs {
            let (style, link) = self.0.get(*look).cloned().unwrap_or_default();
            match width {
                None => row.extend(text.chars().filter(|c| !c.is_control()).map(|first| Cell {
                    first,
                    more: None,
                    width: 1,
                    style,
                    link: link.clone(),
                })),
                Some(width) => put_cluster(&mut row, text, (*width).clamp(1, 2), style, link),
            }
        }
        row.resize(usize::from(cols), Cell::blank(Style::default()));
        row
    }
}

fn put_cluster(row: &mut Row, text: &str, width: u8, style: Style, link: Option<Arc<str>>) {
    let mut chars = text.chars().filter(|c| !c.is_control());
    let Some(first) = chars.next() else { return };
    let more: String = chars.collect();
    let more = (!more.is_empty()).then(|| Arc::from(more));
    row.push(Cell { first, more, width, style, link });
    row.extend((width == 2).then(|| Cell::tail(style)));
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
