//! A new size: lines of the primary screen are wrapped anew, and no text is lost.

use super::cell::{Cell, Ink};
use super::grid::Grid;
use super::row::Row;
use super::screen::{Margins, Point, Screen};

/// Rows of one line taken back from the scrollback to be wrapped anew with the screen. What a
/// longer line has above them keeps the rows it has.
const MAX_PULLED: usize = 1024;

/// A point to follow: the columns before it in its line, and where it went.
#[derive(Clone, Copy, Debug)]
struct Spot {
    line: usize,
    offset: usize,
    found: Point,
}

impl Screen {
    pub fn resize(&mut self, cols: usize, rows: usize) {
        if self.alt {
            self.crop_alternate(cols, rows);
            std::mem::swap(&mut self.grid, &mut self.hidden);
            let points = self.reflow(cols, rows, [self.hidden_saved.point; 2]);
            std::mem::swap(&mut self.grid, &mut self.hidden);
            self.hidden_saved.point = points[0];
        } else {
            let points = self.reflow(cols, rows, [self.point, self.saved.point]);
            [self.point, self.saved.point] = points;
            self.hidden.crop(cols, rows, self.now);
        }
        (self.cols, self.rows) = (cols, rows);
        self.margins = Margins::full(cols, rows);
        self.clamp_point();
        self.changed = true;
    }

    /// The alternate screen is cut or padded; rows go at the top if the cursor would be lost.
    fn crop_alternate(&mut self, cols: usize, rows: usize) {
        let lost = (self.point.row + 1).saturating_sub(rows);
        for _ in 0..lost {
            self.grid.roll_up(0, self.rows - 1, self.now);
        }
        self.point.row -= lost;
        self.point.pending &= cols == self.cols;
        self.grid.crop(cols, rows, self.now);
    }

    /// Wraps the grid anew and tells where two points went, the first of which is the cursor.
    fn reflow(&mut self, cols: usize, rows: usize, points: [Point; 2]) -> [Point; 2] {
        let height = self.grid.height();
        let mut all = self.grid.take_rows();
        let used = all.iter().rposition(|row| row.used() > 0).map_or(0, |last| last + 1);
        all.truncate(used.max(points[0].row + 1));
        let full = all.len() == height;
        let (mut out, mut points) =
            if cols == self.cols { (all, points) } else { self.rewrap(all, cols, points) };
        let pulled = if full { self.pull_above(&mut out, cols, rows) } else { 0 };
        let excess = out.len().saturating_sub(rows);
        out.drain(..excess).for_each(|row| self.keep_row(&row, cols));
        for point in &mut points {
            point.row = (point.row + pulled).saturating_sub(excess).min(rows - 1);
        }
        out.resize_with(rows, Row::default);
        self.grid = Grid::from_rows(cols, out, self.now);
        points
    }

    fn rewrap(
        &mut self,
        mut all: Vec<Row>,
        cols: usize,
        points: [Point; 2],
    ) -> (Vec<Row>, [Point; 2]) {
        all.iter_mut().filter(|row| row.wraps).for_each(|row| row.pad(self.cols));
        let above = self.pull_line();
        let start = above.len();
        all.splice(0..0, above);
        let mut spots = points.map(|point| find_spot(&all, start, point));
        let out = flow(&all, cols, &mut spots);
        (out, spots.map(|spot| spot.found))
    }

    /// Takes back the part of the first row's line that is in the scrollback.
    fn pull_line(&mut self) -> Vec<Row> {
        let mut pulled = Vec::new();
        while pulled.len() < MAX_PULLED && self.scrollback.last().is_some_and(|r| r.wraps()) {
            pulled.extend(self.pull_row());
        }
        pulled.reverse();
        pulled
    }

    fn pull_row(&mut self) -> Option<Row> {
        let (styles, links) = (&mut self.styles, &mut self.links);
        self.scrollback.pop(|record| {
            let mut row = record.unpack(styles, links);
            // Memory that was handed in may have been damaged.
            row.truncate(record.cols());
            if row.wraps {
                row.pad_gaps(record.cols());
            }
            row
        })
    }

    /// Fills the screen from the scrollback; tells how many rows came.
    fn pull_above(&mut self, out: &mut Vec<Row>, cols: usize, rows: usize) -> usize {
        let before = out.len();
        while out.len() < rows {
            let ready = self.scrollback.last().is_some_and(|record| record.cols() == cols);
            let Some(last) = self.pull_row() else {
                break;
            };
            let mut line = if ready { Vec::new() } else { self.pull_line() };
            line.push(last);
            out.splice(0..0, if ready { line } else { flow(&line, cols, &mut []) });
        }
        out.len() - before
    }
}

/// Columns of a row that belong to the line's text.
fn text_cells(row: &Row) -> usize {
    if row.wraps { row.cells().iter().filter(|c| !c.is_gap()).count() } else { row.used() }
}

/// Names a point by its line and offset; `start` rows lie above the screen.
fn find_spot(rows: &[Row], start: usize, point: Point) -> Spot {
    let y = (start + point.row).min(rows.len() - 1);
    let line = rows[..y].iter().filter(|row| !row.wraps).count();
    let before: usize = rows[..y].iter().rev().take_while(|row| row.wraps).map(text_cells).sum();
    let offset = before + point.col + usize::from(point.pending);
    Spot { line, offset, found: Point::default() }
}

/// Wraps rows at a width.
fn flow(rows: &[Row], cols: usize, spots: &mut [Spot]) -> Vec<Row> {
    let mut out = Vec::new();
    for (number, line) in rows.chunk_by(|row, _| row.wraps).enumerate() {
        let mut flow = Flow { cols, number, offset: 0, out: &mut out, spots: &mut *spots };
        flow.line(line);
    }
    out
}

struct Flow<'a> {
    cols: usize,
    number: usize,
    /// Columns of the line so far.
    offset: usize,
    out: &'a mut Vec<Row>,
    spots: &'a mut [Spot],
}

impl Flow<'_> {
    fn line(&mut self, rows: &[Row]) {
        let mut first = Row::default();
        (first.prompt, first.size) = (rows[0].prompt, rows[0].size);
        self.out.push(first);
        for row in rows {
            let end = if row.wraps { row.len() } else { row.used() };
            for col in 0..end {
                self.cell(row, col);
            }
        }
        self.end(rows.last().is_some_and(|row| row.wraps));
    }

    fn last(&mut self) -> &mut Row {
        if self.out.is_empty() {
            self.out.push(Row::default());
        }
        let last = self.out.len() - 1;
        &mut self.out[last]
    }

    fn cell(&mut self, row: &Row, col: usize) {
        let cell = row.cell(col);
        if cell.is_tail() || cell.is_gap() {
            return;
        }
        let width = 1 + usize::from(cell.is_wide());
        if self.last().len() + width.min(self.cols) > self.cols {
            self.next_row();
        }
        self.follow(width);
        self.offset += width;
        let narrow = width > self.cols;
        let last = self.last();
        if width == 2 && !narrow {
            last.push(cell, row.joined_at(col));
            last.push(Cell::tail(cell.ink()), std::iter::empty());
        } else {
            last.push(
                if narrow { Cell::narrow(cell.char(), cell.ink()) } else { cell },
                row.joined_at(col),
            );
        }
    }

    fn next_row(&mut self) {
        let cols = self.cols;
        let last = self.last();
        last.wraps = true;
        last.pad_gaps(cols);
        self.out.push(Row::default());
    }

    /// The points within the character that is put now.
    fn follow(&mut self, width: usize) {
        let (row, col) = (self.out.len() - 1, self.last().len());
        let (number, offset) = (self.number, self.offset);
        let here = |s: &&mut Spot| s.line == number && (offset..offset + width).contains(&s.offset);
        for spot in self.spots.iter_mut().filter(here) {
            spot.found = Point { row, col: col + spot.offset - offset, pending: false };
        }
    }

    /// The points past the end of the line stay as far from it as the width allows.
    fn end(&mut self, wraps: bool) {
        let (row, len) = (self.out.len() - 1, self.last().len());
        let (number, offset, most) = (self.number, self.offset, self.cols - 1);
        let here = |s: &&mut Spot| s.line == number && s.offset >= offset;
        for spot in self.spots.iter_mut().filter(here) {
            let col = len + spot.offset - offset;
            let pending = col > most && spot.offset == offset;
            spot.found = Point { row, col: col.min(most), pending };
        }
        if wraps {
            let cols = self.cols;
            let last = self.last();
            last.wraps = true;
            last.pad_gaps(cols);
        }
    }
}

impl Row {
    /// A row that goes on has all its columns.
    fn pad(&mut self, cols: usize) {
        while self.len() < cols {
            self.push(Cell::default(), std::iter::empty());
        }
    }

    fn pad_gaps(&mut self, cols: usize) {
        while self.len() < cols {
            self.push(Cell::gap(Ink::default()), std::iter::empty());
        }
    }
}
