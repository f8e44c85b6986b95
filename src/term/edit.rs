//! Erasing, inserting, deleting and scrolling.

use super::cell::StyleId;
use super::screen::{Protection, Screen};

impl Screen {
    /// Erases columns `from..to` of a row with the background of now.
    pub fn erase(&mut self, y: usize, from: usize, to: usize) {
        self.erase_cells(y, from, to, self.protection == Protection::Iso);
    }

    /// The same, sparing protected cells.
    pub fn erase_selectively(&mut self, y: usize, from: usize, to: usize) {
        self.erase_cells(y, from, to, self.protection != Protection::Off);
    }

    fn erase_cells(&mut self, y: usize, from: usize, to: usize, spare: bool) {
        let style = self.erase_style();
        let cols = self.cols;
        let row = self.touch(y);
        if spare {
            row.erase_unprotected(from, to, style);
        } else {
            row.erase(from, to, style);
        }
        if to == cols {
            row.wraps = false;
        }
    }

    /// EL and DECSEL.
    pub fn erase_in_line(&mut self, what: usize, selective: bool) {
        let (y, x) = (self.point.row, self.point.col);
        let (from, to) = match what {
            0 => (x, self.cols),
            1 => (0, x + 1),
            2 => (0, self.cols),
            _ => return,
        };
        self.point.pending = false;
        self.erase_span(y, from, to, selective);
    }

    fn erase_span(&mut self, y: usize, from: usize, to: usize, selective: bool) {
        if selective {
            self.erase_selectively(y, from, to);
        } else {
            self.erase(y, from, to);
        }
    }

    /// ED and DECSED.
    pub fn erase_in_display(&mut self, what: usize, selective: bool) {
        let (y, cols, rows) = (self.point.row, self.cols, self.rows);
        match what {
            0 => {
                self.erase_in_line(0, selective);
                (y + 1..rows).for_each(|y| self.erase_whole(y, selective));
            }
            1 => {
                (0..y).for_each(|y| self.erase_whole(y, selective));
                let to = self.point.col + 1;
                self.erase_span(y, 0, to.min(cols), selective);
            }
            2 => (0..rows).for_each(|y| self.erase_whole(y, selective)),
            3 if !selective => self.forget_scrollback(),
            _ => return,
        }
        self.point.pending = false;
    }

    fn erase_whole(&mut self, y: usize, selective: bool) {
        let cols = self.cols;
        self.erase_span(y, 0, cols, selective);
        if !selective && self.protection != Protection::Iso {
            self.touch(y).prompt = false;
        }
    }

    fn forget_scrollback(&mut self) {
        let line = self.scrollback.end_line();
        self.scrollback.clear(line);
        self.changed = true;
    }

    /// ECH.
    pub fn erase_chars(&mut self, n: usize) {
        let (y, x) = (self.point.row, self.point.col);
        self.point.pending = false;
        let to = x.saturating_add(n).min(self.cols);
        self.erase(y, x, to);
    }

    /// ICH.
    pub fn insert_chars(&mut self, n: usize) {
        self.point.pending = false;
        if !self.in_columns() {
            return;
        }
        let (y, x, end) = (self.point.row, self.point.col, self.margins.right + 1);
        let style = self.erase_style();
        let row = self.touch(y);
        row.insert(x, end, n, style);
        row.wraps = false;
    }

    /// DCH.
    pub fn delete_chars(&mut self, n: usize) {
        self.point.pending = false;
        if !self.in_columns() {
            return;
        }
        let (y, x, end) = (self.point.row, self.point.col, self.margins.right + 1);
        let style = self.erase_style();
        let row = self.touch(y);
        row.delete(x, end, n, style);
        row.wraps = false;
    }

    fn in_columns(&self) -> bool {
        (self.margins.left..=self.margins.right).contains(&self.point.col)
    }

    /// IL.
    pub fn insert_lines(&mut self, n: usize) {
        if self.in_margins() {
            let (top, bottom) = (self.point.row, self.margins.bottom);
            self.roll_down(top, bottom, n);
            self.go_to_left_margin();
        }
    }

    /// DL.
    pub fn delete_lines(&mut self, n: usize) {
        if self.in_margins() {
            let (top, bottom) = (self.point.row, self.margins.bottom);
            self.roll_up(top, bottom, n, false);
            self.go_to_left_margin();
        }
    }

    fn go_to_left_margin(&mut self) {
        self.point.col = self.margins.left;
        self.point.pending = false;
    }

    /// SU: rows that leave the top of the primary screen go to the scrollback.
    #[inline]
    pub fn scroll_up(&mut self, n: usize) {
        let keep = self.margins.top == 0 && !self.alt;
        self.roll_up(self.margins.top, self.margins.bottom, n, keep);
    }

    /// SD.
    pub fn scroll_down(&mut self, n: usize) {
        self.roll_down(self.margins.top, self.margins.bottom, n);
    }

    pub fn has_side_margins(&self) -> bool {
        self.margins.left > 0 || self.margins.right + 1 < self.cols
    }

    #[inline]
    fn roll_up(&mut self, top: usize, bottom: usize, n: usize, keep: bool) {
        let n = n.min(bottom + 1 - top);
        if self.has_side_margins() {
            self.shift_columns(top, bottom, n as isize);
            return;
        }
        let style = self.erase_style();
        self.changed = true;
        for _ in 0..n {
            if keep {
                self.keep_top_row();
            }
            self.grid.roll_up(top, bottom, self.now);
            if style != StyleId(0) {
                self.grid.paint(bottom, style);
            }
        }
        if top > 0 || bottom + 1 < self.rows {
            self.cut_wrap_into(top);
            self.cut_wrap_into(bottom + 1);
        }
    }

    fn roll_down(&mut self, top: usize, bottom: usize, n: usize) {
        let n = n.min(bottom + 1 - top);
        if self.has_side_margins() {
            self.shift_columns(top, bottom, -(n as isize));
            return;
        }
        let style = self.erase_style();
        self.changed = true;
        for _ in 0..n {
            self.grid.roll_down(top, bottom, self.now);
            if style != StyleId(0) {
                self.grid.paint(top, style);
            }
        }
        self.cut_wrap_into(top);
        self.cut_wrap_into(bottom + 1);
    }

    /// The row above the edge of a region that scrolled no longer goes on below it.
    fn cut_wrap_into(&mut self, y: usize) {
        if y > 0 && y <= self.rows {
            self.grid.row_mut(y - 1).wraps = false;
        }
    }

    /// Moves the columns between the margins up by `n` rows, or down if negative.
    fn shift_columns(&mut self, top: usize, bottom: usize, n: isize) {
        let (from, to) = (self.margins.left, self.margins.right + 1);
        let style = self.erase_style();
        let rows: Vec<usize> =
            if n >= 0 { (top..=bottom).collect() } else { (top..=bottom).rev().collect() };
        for y in rows {
            let source = y as isize + n;
            self.touch(y).wraps = false;
            if source >= top as isize && source <= bottom as isize {
                self.grid.copy_columns(source as usize, y, from, to);
            } else {
                self.touch(y).erase(from, to, style);
            }
        }
    }
}
