//! Synchronized output: the last finished frame, for observers, while the next is drawn.

use super::grid::Grid;
use super::save::saved;
use super::screen::{Point, Screen};
use super::state::State;

#[derive(PartialEq, Debug)]
pub struct Frame {
    pub grid: Grid,
    pub point: Point,
    pub visible: bool,
    /// Number of the first row's line.
    pub top_line: u64,
    /// Rows of scrollback there were.
    pub end_row: u64,
    pub stamp: u64,
}

saved!(struct Frame { grid, point, visible, top_line, end_row, stamp });

impl Screen {
    pub fn begin_sync(&mut self, stamp: u64) {
        if self.frame.is_none() {
            self.frame = Some(Box::new(Frame {
                grid: self.grid.clone(),
                point: self.point,
                visible: self.modes.is(super::modes::Mode::CursorVisible),
                top_line: self.top_line(),
                end_row: self.scrollback.end_row(),
                stamp,
            }));
        }
    }

    /// The grid that observers see.
    pub fn shown(&self) -> &Grid {
        self.frame.as_ref().map_or(&self.grid, |frame| &frame.grid)
    }

    /// Number of the line in the first row. On the alternate screen a line that goes on from the
    /// scrollback does not go on.
    pub fn top_line(&self) -> u64 {
        let cut = self.alt && self.scrollback.last().is_some_and(|last| last.wraps());
        self.scrollback.end_line() + u64::from(cut)
    }

    pub fn shown_top_line(&self) -> u64 {
        self.frame.as_ref().map_or_else(|| self.top_line(), |frame| frame.top_line)
    }

    /// Rows of scrollback that observers do not see yet.
    pub fn unseen_rows(&self) -> usize {
        let end = self.scrollback.end_row();
        self.frame.as_ref().map_or(0, |frame| end.saturating_sub(frame.end_row) as usize)
    }
}

impl State {
    /// Shows what was drawn meanwhile.
    pub fn end_sync(&mut self) {
        self.screen.modes.set(super::modes::Mode::SyncOutput, false);
        if self.screen.frame.take().is_some() {
            self.screen.changed = true;
        }
    }
}
