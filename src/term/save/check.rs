//! What must hold between the parts of a restored screen for all else to rely on it.

use super::{Refused, ensure};
use crate::term::grid::Grid;
use crate::term::screen::{Margins, Point, Screen};
use crate::term::{Cursor, MAX_COLS, MAX_ROWS};

/// Numbers that only count up stay below this for longer than any terminal lives.
pub const MAX_COUNT: u64 = 1 << 62;

impl Screen {
    pub fn check(&self) -> Result<(), Refused> {
        let size = 1..=usize::from(MAX_COLS);
        ensure(size.contains(&self.cols), "the width")?;
        ensure((1..=usize::from(MAX_ROWS)).contains(&self.rows), "the height")?;
        self.check_grid(&self.grid)?;
        self.check_grid(&self.hidden)?;
        ensure(self.is_inside(self.point), "the cursor is outside")?;
        self.check_margins(self.margins)?;
        for saved in [self.saved, self.hidden_saved] {
            let Point { row, col, .. } = saved.point;
            let within = row < usize::from(MAX_ROWS) && col < usize::from(MAX_COLS);
            ensure(within, "a saved cursor is outside")?;
        }
        ensure(self.links.len() > usize::from(self.link.0), "the link")?;
        ensure(self.knows(self.ink), "the pen")?;
        ensure(self.now < MAX_COUNT, "the stamp")?;
        self.check_frame()
    }

    fn check_grid(&self, grid: &Grid) -> Result<(), Refused> {
        ensure((grid.cols(), grid.height()) == (self.cols, self.rows), "the size of a screen")?;
        grid.each_row().try_for_each(|row| {
            row.check(self.cols)?;
            let known = row.cells().iter().all(|cell| self.knows(cell.ink()));
            ensure(known, "the style or link of a cell")
        })
    }

    fn knows(&self, ink: crate::term::cell::Ink) -> bool {
        let (style, link) = (usize::from(ink.style().0), usize::from(ink.link().0));
        style < self.styles.len() && link < self.links.len()
    }

    fn is_inside(&self, point: Point) -> bool {
        point.row < self.rows && point.col < self.cols
    }

    fn check_margins(&self, m: Margins) -> Result<(), Refused> {
        let rows = m.top <= m.bottom && m.bottom < self.rows;
        let cols = m.left <= m.right && m.right < self.cols;
        ensure(rows && cols, "the margins")
    }

    fn check_frame(&self) -> Result<(), Refused> {
        let Some(frame) = &self.frame else {
            return Ok(());
        };
        self.check_grid(&frame.grid)?;
        let Cursor { row, col, .. } = frame.cursor;
        let inside = usize::from(row) < self.rows && usize::from(col) < self.cols;
        ensure(inside, "the cursor of the frame")?;
        let most = frame.top_line.max(frame.end_row).max(frame.stamp);
        ensure(most < MAX_COUNT, "the frame")
    }
}
