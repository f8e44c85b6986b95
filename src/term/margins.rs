//! Margins, and what moves columns rather than rows.

use super::cell::{Cell, Ink};
use super::modes::Mode;
use super::params::Params;
use super::screen::{Margins, Protection, Screen};

impl Screen {
    /// DECSTBM.
    pub fn set_rows_margin(&mut self, p: &Params) {
        let top = p.or(0, 1) - 1;
        let bottom = p.or(1, self.rows).min(self.rows) - 1;
        if top < bottom {
            self.margins.top = top;
            self.margins.bottom = bottom;
            self.go_to(0, 0);
        }
    }

    /// `CSI s`: DECSLRM when mode 69 is on, else it saves the cursor.
    pub fn save_or_set_columns_margin(&mut self, p: &Params) {
        if !self.modes.is(Mode::LeftRightMargins) {
            self.save_cursor();
            return;
        }
        let left = p.or(0, 1) - 1;
        let right = p.or(1, self.cols).min(self.cols) - 1;
        if left < right {
            self.margins.left = left;
            self.margins.right = right;
            self.go_to(0, 0);
        }
    }

    pub fn drop_columns_margin(&mut self) {
        self.margins.left = 0;
        self.margins.right = self.cols - 1;
    }

    /// HPR: as CUF, but held by the margin in origin mode only.
    pub fn right_by(&mut self, n: usize) {
        let last = if self.modes.origin() { self.margins.right } else { self.cols - 1 };
        self.point.col = self.point.col.saturating_add(n).min(last.max(self.point.col));
        self.point.pending = false;
    }

    /// VPR: as CUD, but held by the margin in origin mode only.
    pub fn down_by(&mut self, n: usize) {
        let last = if self.modes.origin() { self.margins.bottom } else { self.rows - 1 };
        self.point.row = self.point.row.saturating_add(n).min(last.max(self.point.row));
        self.point.pending = false;
    }

    pub fn set_protected(&mut self, on: bool, kind: Protection) {
        self.protected = on;
        self.stale = true;
        if on {
            self.protection = kind;
        }
    }

    /// DECALN: the screen full of E.
    pub fn align(&mut self) {
        self.margins = Margins::full(self.cols, self.rows);
        let line = vec![b'E'; self.cols];
        for y in 0..self.rows {
            let row = self.touch(y);
            row.wraps = false;
            row.write_ascii(0, &line, Ink::default());
        }
        self.modes.set(Mode::Origin, false);
        self.go_to(0, 0);
    }

    /// SL.
    pub fn scroll_left(&mut self, n: usize) {
        if self.in_margins() {
            self.shift_rows(self.margins.left, n, true);
        }
    }

    /// SR.
    pub fn scroll_right(&mut self, n: usize) {
        if self.in_margins() {
            self.shift_rows(self.margins.left, n, false);
        }
    }

    /// DECIC.
    pub fn insert_columns(&mut self, n: usize) {
        if self.in_margins() {
            self.shift_rows(self.point.col, n, false);
        }
    }

    /// DECDC.
    pub fn delete_columns(&mut self, n: usize) {
        if self.in_margins() {
            self.shift_rows(self.point.col, n, true);
        }
    }

    fn shift_rows(&mut self, from: usize, n: usize, left: bool) {
        let style = self.erase_style();
        let end = self.margins.right + 1;
        for y in self.margins.top..=self.margins.bottom {
            let row = self.touch(y);
            row.wraps = false;
            if left {
                row.delete(from, end, n, style);
            } else {
                row.insert(from, end, n, style);
            }
        }
    }

    /// DECBI.
    pub fn back_index(&mut self) {
        self.point.pending = false;
        if self.point.col == self.margins.left && self.in_margins() {
            self.shift_rows(self.margins.left, 1, false);
        } else {
            self.point.col = self.point.col.saturating_sub(1);
        }
    }

    /// DECFI.
    pub fn forward_index(&mut self) {
        self.point.pending = false;
        if self.point.col == self.margins.right && self.in_margins() {
            self.shift_rows(self.margins.left, 1, true);
        } else {
            self.point.col = (self.point.col + 1).min(self.cols - 1);
        }
    }

    /// A cell of a rectangle filled with a character.
    pub fn fill_cell(&mut self, y: usize, x: usize, c: char) {
        let ink = self.ink();
        self.touch(y).write_narrow(x, c, ink);
    }

    pub fn cell(&self, y: usize, x: usize) -> Cell {
        self.grid.row(y).cell(x)
    }
}
