//! The rows of one screen. Scrolling turns an order of rows; it never touches cells.

use super::MAX_ROWS;
use super::cell::StyleId;
use super::row::Row;
use super::save::{Reader, Refused, Save};

#[derive(Clone, Debug)]
pub struct Grid {
    rows: Vec<Row>,
    /// Place in `rows` of each row of the screen, starting at `base` and going round.
    order: Vec<u16>,
    base: usize,
    cols: usize,
    /// Stamp of the last change that moved all rows.
    moved: u64,
}

impl PartialEq for Grid {
    /// The same rows from top to bottom, wherever they lie.
    fn eq(&self, other: &Grid) -> bool {
        let size = |grid: &Grid| (grid.cols, grid.height(), grid.moved);
        size(self) == size(other) && (0..self.height()).all(|y| self.row(y) == other.row(y))
    }
}

impl Grid {
    pub fn new(cols: usize, rows: usize) -> Grid {
        Grid {
            rows: vec![Row::default(); rows],
            order: (0..rows as u16).collect(),
            base: 0,
            cols,
            moved: 0,
        }
    }

    /// A grid made of rows that are there already, top to bottom.
    pub fn from_rows(cols: usize, rows: Vec<Row>, stamp: u64) -> Grid {
        Grid { order: (0..rows.len() as u16).collect(), rows, base: 0, cols, moved: stamp }
    }

    pub fn height(&self) -> usize {
        self.rows.len()
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    #[inline]
    fn place(&self, y: usize) -> usize {
        let mut at = self.base + y;
        if at >= self.order.len() {
            at -= self.order.len();
        }
        usize::from(self.order[at])
    }

    #[inline]
    pub fn row(&self, y: usize) -> &Row {
        &self.rows[self.place(y)]
    }

    #[inline]
    pub fn row_mut(&mut self, y: usize) -> &mut Row {
        let place = self.place(y);
        &mut self.rows[place]
    }

    pub fn stamp_of(&self, y: usize) -> u64 {
        self.row(y).stamp.max(self.moved)
    }

    /// All rows count as changed.
    pub fn touch_all(&mut self, stamp: u64) {
        self.moved = stamp;
    }

    /// The rows from top to bottom, leaving none behind.
    pub fn take_rows(&mut self) -> Vec<Row> {
        (0..self.height()).map(|y| std::mem::take(self.row_mut(y))).collect()
    }

    pub fn each_row_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.rows.iter_mut()
    }

    pub fn each_row(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// Moves the rows of `top..=bottom` up by one; the new last one is blank.
    #[inline]
    pub fn roll_up(&mut self, top: usize, bottom: usize, stamp: u64) {
        if top == 0 && bottom + 1 == self.height() {
            self.base = if self.base + 1 == self.order.len() { 0 } else { self.base + 1 };
            self.moved = stamp;
        } else {
            self.level();
            self.order[top..=bottom].rotate_left(1);
            self.stamp_rows(top, bottom, stamp);
        }
        self.row_mut(bottom).reset(stamp);
    }

    /// Moves the rows of `top..=bottom` down by one; the new first one is blank.
    pub fn roll_down(&mut self, top: usize, bottom: usize, stamp: u64) {
        self.level();
        self.order[top..=bottom].rotate_right(1);
        self.stamp_rows(top, bottom, stamp);
        self.row_mut(top).reset(stamp);
    }

    fn level(&mut self) {
        self.order.rotate_left(self.base);
        self.base = 0;
    }

    fn stamp_rows(&mut self, top: usize, bottom: usize, stamp: u64) {
        for y in top..=bottom {
            self.row_mut(y).stamp = stamp;
        }
    }

    pub fn clear(&mut self, stamp: u64) {
        self.rows.iter_mut().for_each(|row| row.reset(stamp));
        self.moved = stamp;
    }

    /// Fills a whole row with a style, as erasing does.
    pub fn paint(&mut self, y: usize, style: StyleId) {
        let cols = self.cols;
        self.row_mut(y).erase(0, cols, style);
    }

    /// Copies columns of one row to another row.
    pub fn copy_columns(&mut self, source: usize, dest: usize, from: usize, to: usize) {
        let mut row = std::mem::take(self.row_mut(dest));
        row.copy_cells(self.row(source), from, from, to - from);
        *self.row_mut(dest) = row;
    }

    /// A new size without reflow: rows are cut or added at the bottom, columns at the right.
    pub fn crop(&mut self, cols: usize, rows: usize, stamp: u64) {
        self.level();
        let mut kept = self.take_rows();
        kept.resize_with(rows, Row::default);
        if cols < self.cols {
            kept.iter_mut().for_each(|row| row.truncate(cols));
        }
        *self = Grid::from_rows(cols, kept, stamp);
    }
}

impl Save for Grid {
    fn put(&self, out: &mut Vec<u8>) {
        let Grid { rows, order: _, base: _, cols, moved } = self;
        (rows.len() as u32).put(out);
        (0..rows.len()).for_each(|y| self.row(y).put(out));
        cols.put(out);
        moved.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let rows = from.list(MAX_ROWS.into())?;
        let cols = from.take()?;
        Ok(Grid::from_rows(cols, rows, from.take()?))
    }
}
