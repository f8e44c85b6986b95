//! The outer screen as cells, put together before anything is painted.

use std::ops::Range;
use std::sync::Arc;

use super::layout::Area;
use crate::term::{CursorShape, Style, char_width};

/// What one column shows. A wide character takes two: itself, then a tail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub first: char,
    /// What joins the first character: marks, the rest of an emoji.
    pub more: Option<Arc<str>>,
    /// Columns of the character, 0 for a tail.
    pub width: u8,
    pub style: Style,
    pub link: Option<Arc<str>>,
}

impl Cell {
    pub fn blank(style: Style) -> Cell {
        Cell { first: ' ', more: None, width: 1, style, link: None }
    }

    pub fn of(c: char, style: Style) -> Cell {
        Cell { first: c, ..Cell::blank(style) }
    }

    pub fn tail(style: Style) -> Cell {
        Cell { width: 0, ..Cell::blank(style) }
    }

    /// Nothing to see but a background.
    pub fn is_blank(&self) -> bool {
        self.first == ' ' && self.more.is_none() && self.link.is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caret {
    pub x: u16,
    pub y: u16,
    pub shape: CursorShape,
    pub blink: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    cols: u16,
    rows: u16,
    cells: Vec<Cell>,
    /// None: hidden.
    pub caret: Option<Caret>,
}

impl Canvas {
    pub fn new(cols: u16, rows: u16) -> Canvas {
        let cells = vec![Cell::blank(Style::default()); usize::from(cols) * usize::from(rows)];
        Canvas { cols, rows, cells, caret: None }
    }

    pub fn cols(&self) -> u16 {
        self.cols
    }

    pub fn rows(&self) -> u16 {
        self.rows
    }

    pub fn area(&self) -> Area {
        Area { x: 0, y: 0, cols: self.cols, rows: self.rows }
    }

    fn at(&self, x: u16, y: u16) -> Option<usize> {
        let inside = x < self.cols && y < self.rows;
        inside.then(|| usize::from(y) * usize::from(self.cols) + usize::from(x))
    }

    pub fn row(&self, y: u16) -> &[Cell] {
        let start = usize::from(y.min(self.rows)) * usize::from(self.cols);
        self.cells.get(start..start + usize::from(self.cols)).unwrap_or_default()
    }

    /// Takes columns of a row over from a canvas of the same size.
    pub fn copy(&mut self, y: u16, columns: Range<usize>, from: &Canvas) {
        let start = usize::from(y) * usize::from(self.cols);
        let row = self.cells.get_mut(start..start + usize::from(self.cols)).unwrap_or_default();
        row[columns.clone()].clone_from_slice(&from.row(y)[columns]);
    }

    #[cfg(test)]
    pub fn get(&self, x: u16, y: u16) -> Option<&Cell> {
        self.at(x, y).map(|at| &self.cells[at])
    }

    /// Puts a character down; half a wide one that is covered becomes a blank. Outside, and where
    /// a wide one does not fit, nothing or a blank is put.
    pub fn put(&mut self, x: u16, y: u16, cell: Cell) {
        let Some(at) = self.at(x, y) else { return };
        self.mend(x, y);
        if cell.width < 2 {
            self.cells[at] = cell;
        } else if x + 1 < self.cols {
            self.mend(x + 1, y);
            self.cells[at + 1] = Cell::tail(cell.style);
            self.cells[at] = cell;
        } else {
            self.cells[at] = Cell::blank(cell.style);
        }
    }

    /// Puts cells of one row side by side; half a wide character at either end becomes a blank.
    pub fn put_row(&mut self, x: u16, y: u16, cells: &[Cell]) {
        let Some(at) = self.at(x, y) else { return };
        let cells = &cells[..cells.len().min(usize::from(self.cols - x))];
        let Some(end) = cells.len().checked_sub(1) else { return };
        self.mend(x, y);
        self.mend(x + end as u16, y);
        self.cells[at..=at + end].clone_from_slice(cells);
        for (cut, width) in [(at, 0), (at + end, 2)] {
            if self.cells[cut].width == width {
                self.cells[cut] = Cell::blank(self.cells[cut].style);
            }
        }
    }

    /// Takes the other half of a wide character away before one half is covered.
    fn mend(&mut self, x: u16, y: u16) {
        let Some(at) = self.at(x, y) else { return };
        let other = match self.cells[at].width {
            0 if x > 0 => Some(at - 1),
            2 if x + 1 < self.cols => Some(at + 1),
            _ => None,
        };
        for half in other.into_iter().chain((self.cells[at].width != 1).then_some(at)) {
            self.cells[half] = Cell::blank(self.cells[half].style);
        }
    }

    /// Changes how a cell looks, both halves of a wide one.
    pub fn restyle(&mut self, x: u16, y: u16, change: impl Fn(&mut Style)) {
        if let Some(at) = self.at(x, y) {
            change(&mut self.cells[at].style);
        }
    }

    /// Text of our own, of characters one column wide, cut at `limit`; the column after it.
    pub fn text(&mut self, x: u16, y: u16, text: &str, style: Style, limit: u16) -> u16 {
        let mut at = x;
        for c in text.chars() {
            if at >= limit {
                break;
            }
            let shown = if c.is_control() { '\u{fffd}' } else { c };
            let width = char_width(shown, false) as u8;
            if width == 0 || u16::from(width) > limit - at {
                continue;
            }
            self.put(at, y, Cell { width, ..Cell::of(shown, style) });
            at += u16::from(width);
        }
        at
    }

    pub fn fill(&mut self, area: Area, style: Style) {
        for y in area.y..area.y.saturating_add(area.rows).min(self.rows) {
            for x in area.x..area.x.saturating_add(area.cols).min(self.cols) {
                self.put(x, y, Cell::blank(style));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(c: char) -> Cell {
        Cell { width: 2, ..Cell::of(c, Style::default()) }
    }

    fn row(canvas: &Canvas) -> String {
        canvas.row(0).iter().filter(|cell| cell.width > 0).map(|cell| cell.first).collect()
    }

    #[test]
    fn half_a_wide_character_is_never_left() {
        let mut canvas = Canvas::new(6, 1);
        canvas.put(0, 0, wide('日'));
        canvas.put(2, 0, wide('本'));
        assert_eq!(row(&canvas), "日本  ");
        canvas.put(1, 0, Cell::of('x', Style::default()));
        assert_eq!(row(&canvas), " x本  ");
        canvas.put(2, 0, Cell::of('y', Style::default()));
        assert_eq!(row(&canvas), " xy   ");
        canvas.put(5, 0, wide('語'));
        assert_eq!(row(&canvas), " xy   ");
        canvas.put(0, 0, wide('日'));
        canvas.put(1, 0, wide('本'));
        assert_eq!(row(&canvas), " 本   ");
    }

    #[test]
    fn rows_are_cut_where_a_wide_character_is_not() {
        let blank = Style::default();
        let cells = [Cell::tail(blank), Cell::of('x', blank), wide('日'), Cell::tail(blank)];
        let mut canvas = Canvas::new(6, 1);
        (0..6).step_by(2).for_each(|x| canvas.put(x, 0, wide('語')));
        canvas.put_row(1, 0, &cells[..3]);
        assert_eq!(row(&canvas), "  x 語");
        canvas.put_row(0, 0, &cells[1..]);
        assert_eq!(row(&canvas), "x日 語");
        canvas.put_row(4, 0, &cells);
        assert_eq!(row(&canvas), "x日  x");
        canvas.put_row(6, 0, &cells);
    }

    #[test]
    fn what_is_outside_is_not_drawn() {
        let mut canvas = Canvas::new(3, 1);
        canvas.put(3, 0, Cell::of('x', Style::default()));
        canvas.put(0, 1, Cell::of('x', Style::default()));
        assert_eq!(canvas.text(1, 0, "a日\x1bb", Style::default(), 3), 3);
        assert_eq!(row(&canvas), " a\u{fffd}");
    }
}
