//! Synchronized output: the last finished frame, for observers, while the next is drawn.

use super::grid::Grid;
use super::save::saved;
use super::screen::Screen;
use super::state::State;
use super::{Cursor, Palette};

#[derive(PartialEq, Debug)]
pub struct Frame {
    pub grid: Grid,
    pub cursor: Cursor,
    pub palette: Palette,
    /// Foreground and background were exchanged on the whole screen.
    pub reverse: bool,
    /// Number of the first row's line.
    pub top_line: u64,
    /// Rows of scrollback there were.
    pub end_row: u64,
    pub stamp: u64,
}

saved!(struct Frame { grid, cursor, palette, reverse, top_line, end_row, stamp });

impl Screen {
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
    /// Keeps all that is seen, until the next frame is done.
    pub fn begin_sync(&mut self) {
        let screen = &self.screen;
        if screen.frame.is_some() {
            return;
        }
        let frame = Frame {
            grid: screen.grid.clone(),
            cursor: self.cursor(),
            palette: self.palette.clone(),
            reverse: screen.modes.reverse_video(),
            top_line: screen.top_line(),
            end_row: screen.scrollback.end_row(),
            stamp: self.stamp,
        };
        self.screen.frame = Some(Box::new(frame));
    }

    /// Shows what was drawn meanwhile.
    pub fn end_sync(&mut self) {
        self.screen.modes.set(super::modes::Mode::SyncOutput, false);
        if self.screen.frame.take().is_some() {
            self.screen.changed = true;
        }
    }
}
