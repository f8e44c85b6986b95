//! The two screens with cursor, pen and margins: what control functions act on.

use super::Size;
use super::cell::{Ink, LinkId, StyleId};
use super::charset::Charsets;
use super::grid::Grid;
use super::links::{Link, Links};
use super::modes::{Mode, Modes};
use super::pack;
use super::print::Gathered;
use super::row::Row;
use super::save::saved;
use super::scratch::Scratch;
use super::scrollback::Scrollback;
use super::style::{Color, Style, Styles};
use super::sync::Frame;
use super::tabs::Tabs;

/// Where the next character goes. `pending` is the deferred wrap: the last column was written
/// and the next character goes to the next row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Point {
    pub row: usize,
    pub col: usize,
    pub pending: bool,
}

/// What DECSC keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Saved {
    pub point: Point,
    pub pen: Style,
    pub charsets: Charsets,
    pub origin: bool,
    pub protected: bool,
}

/// Rows and columns, all inclusive, that scrolling is confined to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Margins {
    pub top: usize,
    pub bottom: usize,
    pub left: usize,
    pub right: usize,
}

impl Margins {
    pub fn full(cols: usize, rows: usize) -> Margins {
        Margins { top: 0, bottom: rows - 1, left: 0, right: cols - 1 }
    }
}

/// Which erasing functions spare protected cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protection {
    #[default]
    Off,
    /// DECSCA: spared by the selective functions only.
    Dec,
    /// SPA and EPA: spared by all.
    Iso,
}

#[derive(PartialEq, Debug)]
pub struct Screen {
    pub cols: usize,
    pub rows: usize,
    pub grid: Grid,
    /// The screen that is not shown.
    pub hidden: Grid,
    pub alt: bool,
    pub scrollback: Scrollback,
    pub styles: Styles,
    pub links: Links,
    pub point: Point,
    pub saved: Saved,
    pub hidden_saved: Saved,
    pub margins: Margins,
    pub modes: Modes,
    pub tabs: Tabs,
    pub charsets: Charsets,
    pub protection: Protection,
    pub pen: Style,
    pub link: LinkId,
    pub protected: bool,
    /// The pen with interned style; made anew when `stale`.
    pub ink: Ink,
    pub stale: bool,
    /// The character REP repeats: the last one printed, if nothing else came since.
    pub last: Option<char>,
    /// A joiner came last: what follows may belong to the same character.
    pub after_zwj: bool,
    /// Characters of ambiguous width take two columns.
    pub ambiguous_wide: bool,
    /// DECSACE: attributes change in a rectangle, not in a stream.
    pub rect_exact: bool,
    /// Stamp of what changes now, and whether anything did.
    pub now: u64,
    pub changed: bool,
    /// What observers see while a frame is being drawn (mode 2026).
    pub frame: Option<Box<Frame>>,
    /// Cells are gathered here before they are written.
    pub run: Scratch<Gathered>,
    /// Rows are packed here on their way to the scrollback.
    packed: Scratch<Vec<u8>>,
}

saved!(struct Point { row, col, pending });
saved!(struct Saved { point, pen, charsets, origin, protected });
saved!(struct Margins { top, bottom, left, right });
saved!(
    enum Protection {
        Off,
        Dec,
        Iso,
    }
);
saved!(struct Screen {
    cols, rows, grid, hidden, alt, scrollback, styles, links, point, saved, hidden_saved, margins,
    modes, tabs, charsets, protection, pen, link, protected, ink, stale, last, after_zwj,
    rect_exact, ambiguous_wide, now, changed, frame, run, packed,
});

impl Screen {
    pub fn new(size: Size, scrollback: Scrollback) -> Screen {
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        Screen {
            cols,
            rows,
            grid: Grid::new(cols, rows),
            hidden: Grid::new(cols, rows),
            alt: false,
            scrollback,
            styles: Styles::default(),
            links: Links::default(),
            point: Point::default(),
            saved: Saved::default(),
            hidden_saved: Saved::default(),
            margins: Margins::full(cols, rows),
            modes: Modes::default(),
            tabs: Tabs::default(),
            charsets: Charsets::default(),
            protection: Protection::Off,
            pen: Style::default(),
            link: LinkId(0),
            protected: false,
            ink: Ink::default(),
            stale: false,
            last: None,
            after_zwj: false,
            ambiguous_wide: false,
            rect_exact: false,
            now: 1,
            changed: false,
            frame: None,
            run: Scratch::default(),
            packed: Scratch::default(),
        }
    }

    /// The pen as cells take it.
    #[inline]
    pub fn ink(&mut self) -> Ink {
        if self.stale {
            self.refresh_ink();
        }
        self.ink
    }

    #[cold]
    fn sweep(&mut self) {
        let mut styles = vec![false; self.styles.len()];
        let mut links = vec![false; self.links.len()];
        links[usize::from(self.link.0)] = true;
        let frame = self.frame.iter().flat_map(|frame| frame.grid.each_row());
        let rows = self.grid.each_row().chain(self.hidden.each_row()).chain(frame);
        for row in rows.filter(|r| !r.is_plain()) {
            for cell in row.cells() {
                styles[usize::from(cell.style().0)] = true;
                links[usize::from(cell.link().0)] = true;
            }
        }
        let styles = self.styles.sweep(&styles);
        let links = self.links.sweep(&links);
        self.link = links[usize::from(self.link.0)];
        let frame = self.frame.iter_mut().flat_map(|frame| frame.grid.each_row_mut());
        let rows = self.grid.each_row_mut().chain(self.hidden.each_row_mut()).chain(frame);
        for row in rows.filter(|r| !r.is_plain()) {
            row.map_cells(|cell| {
                cell.with_style(styles[usize::from(cell.style().0)])
                    .with_link(links[usize::from(cell.link().0)])
            });
        }
    }

    fn refresh_ink(&mut self) {
        if self.styles.wants_sweep() || self.links.wants_sweep() {
            self.sweep();
        }
        let style = self.styles.intern(self.pen);
        self.ink = Ink::new(style, self.link, self.protected);
        self.stale = false;
    }

    /// Style of cells that are erased now.
    #[inline]
    pub fn erase_style(&mut self) -> StyleId {
        if self.pen.bg == Color::Default { StyleId(0) } else { self.painted_style() }
    }

    fn painted_style(&mut self) -> StyleId {
        if self.styles.wants_sweep() {
            self.sweep();
            self.stale = true;
        }
        self.styles.intern(self.pen.erased())
    }

    pub fn set_link(&mut self, link: Link) {
        if self.links.wants_sweep() {
            self.sweep();
        }
        self.link = self.links.intern(link);
        self.stale = true;
    }

    pub fn change_pen(&mut self, change: impl FnOnce(&mut Style)) {
        change(&mut self.pen);
        self.stale = true;
    }

    /// The row to be changed now.
    #[inline]
    pub fn touch(&mut self, y: usize) -> &mut Row {
        self.changed = true;
        let now = self.now;
        let row = self.grid.row_mut(y);
        row.stamp = now;
        row
    }

    pub fn in_margins(&self) -> bool {
        let (m, p) = (self.margins, self.point);
        (m.top..=m.bottom).contains(&p.row) && (m.left..=m.right).contains(&p.col)
    }

    /// Columns the cursor cannot leave by moving right: the margin, or the screen's end beyond it.
    #[inline]
    pub fn right_limit(&self) -> usize {
        if self.point.col <= self.margins.right { self.margins.right } else { self.cols - 1 }
    }

    pub fn left_limit(&self) -> usize {
        if self.point.col >= self.margins.left { self.margins.left } else { 0 }
    }

    /// To a row and column that count from the origin.
    pub fn go_to(&mut self, row: usize, col: usize) {
        let m = self.margins;
        let (top, left, bottom, right) = if self.modes.origin() {
            (m.top, m.left, m.bottom, m.right)
        } else {
            (0, 0, self.rows - 1, self.cols - 1)
        };
        let row = row.saturating_add(top).min(bottom);
        let col = col.saturating_add(left).min(right);
        self.point = Point { row, col, pending: false };
    }

    pub fn go_to_col(&mut self, col: usize) {
        let (left, right) = if self.modes.origin() {
            (self.margins.left, self.margins.right)
        } else {
            (0, self.cols - 1)
        };
        self.point.col = col.saturating_add(left).min(right);
        self.point.pending = false;
    }

    pub fn go_to_row(&mut self, row: usize) {
        let (top, bottom) = if self.modes.origin() {
            (self.margins.top, self.margins.bottom)
        } else {
            (0, self.rows - 1)
        };
        self.point.row = row.saturating_add(top).min(bottom);
        self.point.pending = false;
    }

    pub fn up(&mut self, n: usize) {
        let limit = if self.point.row >= self.margins.top { self.margins.top } else { 0 };
        self.point.row = self.point.row.saturating_sub(n).max(limit);
        self.point.pending = false;
    }

    pub fn down(&mut self, n: usize) {
        let below = self.point.row > self.margins.bottom;
        let limit = if below { self.rows - 1 } else { self.margins.bottom };
        self.point.row = self.point.row.saturating_add(n).min(limit);
        self.point.pending = false;
    }

    pub fn right(&mut self, n: usize) {
        self.point.col = self.point.col.saturating_add(n).min(self.right_limit());
        self.point.pending = false;
    }

    pub fn carriage_return(&mut self) {
        let left = if self.modes.origin() { self.margins.left } else { self.left_limit() };
        self.point.col = left;
        self.point.pending = false;
    }

    /// To the next tab stop; a deferred wrap stays.
    pub fn tab(&mut self, n: usize) {
        let last = self.right_limit();
        for _ in 0..n.min(self.cols) {
            self.point.col = self.tabs.next(self.point.col, last);
        }
    }

    /// To a tab stop on the left; a deferred wrap stays, as in xterm.
    pub fn back_tab(&mut self, n: usize) {
        let first = if self.modes.origin() { self.margins.left } else { 0 };
        for _ in 0..n.min(self.cols) {
            self.point.col = self.tabs.before(self.point.col, first);
        }
    }

    #[inline]
    pub fn line_feed(&mut self) {
        self.index();
        if self.modes.newline() {
            self.carriage_return();
        }
    }

    /// Down a row; at the bottom margin the region scrolls.
    #[inline]
    pub fn index(&mut self) {
        self.point.pending = false;
        if self.point.row == self.margins.bottom {
            if self.point.col >= self.margins.left && self.point.col <= self.margins.right {
                self.scroll_up(1);
            }
        } else if self.point.row + 1 < self.rows {
            self.point.row += 1;
        }
    }

    pub fn reverse_index(&mut self) {
        self.point.pending = false;
        if self.point.row == self.margins.top {
            if self.point.col >= self.margins.left && self.point.col <= self.margins.right {
                self.scroll_down(1);
            }
        } else {
            self.point.row = self.point.row.saturating_sub(1);
        }
    }

    /// Packs the first row of the screen into the scrollback.
    #[inline]
    pub fn keep_top_row(&mut self) {
        let row = self.grid.row(0);
        pack::pack(row, self.cols, &self.styles, &self.links, &mut self.packed.0);
        self.scrollback.push(&self.packed.0);
    }

    /// Packs a row of a screen `cols` wide into the scrollback.
    pub fn keep_row(&mut self, row: &Row, cols: usize) {
        pack::pack(row, cols, &self.styles, &self.links, &mut self.packed.0);
        self.scrollback.push(&self.packed.0);
    }

    pub fn save_cursor(&mut self) {
        self.saved = Saved {
            point: self.point,
            pen: self.pen,
            charsets: self.charsets,
            origin: self.modes.origin(),
            protected: self.protected,
        };
        self.modes.set(Mode::SavedCursor, true);
    }

    pub fn restore_cursor(&mut self) {
        let saved = self.saved;
        self.pen = saved.pen;
        self.charsets = saved.charsets;
        self.protected = saved.protected;
        self.modes.set(Mode::Origin, saved.origin);
        self.modes.set(Mode::SavedCursor, false);
        self.stale = true;
        self.point = saved.point;
        self.clamp_point();
    }

    pub fn clamp_point(&mut self) {
        let point = &mut self.point;
        point.row = point.row.min(self.rows - 1);
        if point.col > self.cols - 1 {
            point.col = self.cols - 1;
        }
        if self.modes.origin() {
            point.row = point.row.clamp(self.margins.top, self.margins.bottom);
            point.col = point.col.clamp(self.margins.left, self.margins.right);
        }
    }

    /// Shows the other screen. Cursor and pen are shared, what DECSC kept is not.
    pub fn switch(&mut self, alt: bool) {
        if self.alt == alt {
            return;
        }
        self.alt = alt;
        self.modes.set_alt(alt);
        std::mem::swap(&mut self.grid, &mut self.hidden);
        std::mem::swap(&mut self.saved, &mut self.hidden_saved);
        self.grid.touch_all(self.now);
        self.changed = true;
    }

    pub fn clear_screen(&mut self) {
        self.grid.clear(self.now);
        self.changed = true;
        let style = self.erase_style();
        if style != StyleId(0) {
            (0..self.rows).for_each(|y| self.grid.paint(y, style));
        }
    }

    /// BS and CUB: to the left, and with reverse wrap on to the end of the row above.
    pub fn backspace(&mut self, n: usize) {
        let wraps = self.modes.is(Mode::ReverseWrap) || self.modes.is(Mode::ReverseWrapFar);
        if wraps && self.modes.autowrap() {
            self.back_over_rows(n);
        } else {
            self.point.col = self.point.col.saturating_sub(n).max(self.left_limit());
        }
        self.point.pending = false;
    }

    /// The deferred wrap counts as a column here.
    fn back_over_rows(&mut self, n: usize) {
        let mut left = n.min(self.cols * self.rows) - usize::from(self.point.pending);
        loop {
            let step = left.min(self.point.col - self.left_limit());
            self.point.col -= step;
            left -= step;
            if left == 0 || !self.back_to_row_above() {
                return;
            }
            left -= 1;
        }
    }

    /// To the end of the row above; above the first row comes the last. Mode 45 does so too, as
    /// in xterm up to 2023: newer ones go back only where a line went on, which moves nothing on
    /// a screen that a program drew itself.
    fn back_to_row_above(&mut self) -> bool {
        let row = match self.point.row {
            row if row == self.margins.top => self.margins.bottom,
            0 => return false,
            row => row - 1,
        };
        self.point.row = row;
        self.point.col = self.margins.right;
        true
    }

    /// RIS. Line numbers go on, so that none is used twice.
    pub fn reset(&mut self) {
        self.switch(false);
        let ends = (0..self.rows).filter(|y| !self.grid.row(*y).wraps).count() as u64;
        let line = self.scrollback.end_line() + ends;
        self.scrollback.clear(line);
        self.grid.clear(self.now);
        self.hidden.clear(self.now);
        self.point = Point::default();
        (self.saved, self.hidden_saved) = (Saved::default(), Saved::default());
        self.margins = Margins::full(self.cols, self.rows);
        self.modes = Modes::default();
        self.tabs = Tabs::default();
        self.soften();
        self.changed = true;
    }

    /// What hard and soft reset have in common: pen, character sets, protection.
    fn soften(&mut self) {
        self.charsets = Charsets::default();
        self.protection = Protection::Off;
        (self.pen, self.link, self.protected) = (Style::default(), LinkId(0), false);
        self.stale = true;
        self.last = None;
    }

    /// DECSTR.
    pub fn soft_reset(&mut self) {
        let modes = [Mode::Insert, Mode::Origin, Mode::AppCursor, Mode::AppKeypad];
        modes.iter().for_each(|mode| self.modes.set(*mode, false));
        self.modes.set(Mode::LeftRightMargins, false);
        self.modes.set(Mode::ReverseWrap, false);
        self.modes.set(Mode::Autowrap, true);
        self.modes.set(Mode::CursorVisible, true);
        self.margins = Margins::full(self.cols, self.rows);
        self.saved = Saved::default();
        self.soften();
    }
}
