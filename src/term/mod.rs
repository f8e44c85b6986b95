//! A terminal: bytes in, grid and notices out. No I/O, no clock; it cannot fail.

mod cell;
mod charset;
mod clean;
mod copy;
mod dcs;
mod edit;
mod grid;
mod keyboard;
mod links;
mod margins;
mod marks;
mod memory;
mod modes;
mod notice;
mod osc;
mod pack;
mod pages;
mod palette;
mod params;
mod parser;
mod perform;
mod print;
mod read;
mod rect;
mod redraw;
mod reflow;
mod reply;
mod row;
mod save;
mod scratch;
mod screen;
mod scrollback;
mod sequence;
mod set;
mod sgr;
mod shell;
mod snapshot;
mod state;
mod style;
mod sync;
mod tabs;
mod transcript;
mod utf8;
mod width;

#[cfg(test)]
mod check;
#[cfg(test)]
mod tests;

pub use copy::LinesCopy;
pub use keyboard::MAX_STACK;
pub use links::{Link, MAX_LINK_ID, MAX_LINKS, MAX_URI};
pub use marks::{MAX_COMMAND, MAX_SHELL_ID, MAX_SHELLS, ShellState};
pub use memory::Memory;
pub use modes::{Modes, Mouse, MouseEncoding};
pub use notice::{Cwd, GraphicsKind, Notice, PayloadKind, Progress};
pub use osc::{MAX_CLIPBOARD, MAX_CWD, MAX_NOTIFICATION, MAX_TITLE};
pub use palette::{Palette, Rgb, Special, default_color, parse_color};
pub use params::MAX_PARAMS;
pub use parser::{MAX_OSC, MAX_STRING};
pub use read::RowRef;
pub use row::{LineSize, MAX_JOINED};
#[doc(hidden)]
pub use save::reseal;
pub use save::{Refused, VERSION as SAVE_VERSION, checksum};
pub use sequence::MAX_SEQUENCE;
pub use sgr::{ATTRIBUTES as SGR_ATTRIBUTES, numbers as sgr_numbers};
pub use snapshot::{CopiedCell, CopiedRow, SeenRow, Snapshot};
pub use state::MAX_TITLES;
pub use style::{Attrs, Color, MAX_STYLES, Style, Underline};
pub use transcript::{Transcript, is_transcript};
pub use width::char_width;

use parser::Parser;
use save::saved;
use scrollback::Scrollback;
use state::State;
use std::ops::Range;

/// The largest screen; a packed row of this many columns fits a record.
pub const MAX_COLS: u16 = 1024;
pub const MAX_ROWS: u16 = 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    pub cols: u16,
    pub rows: u16,
}

impl Size {
    /// The nearest size a terminal can have.
    #[must_use]
    pub fn clamped(self) -> Size {
        Size { cols: self.cols.clamp(1, MAX_COLS), rows: self.rows.clamp(1, MAX_ROWS) }
    }
}

/// Number of a logical line: hard line ends since the start. A line that wraps has one number,
/// so numbers do not depend on the width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LineNo(pub u64);

/// How much scrollback is kept, in lines and in bytes of packed rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub lines: u32,
    pub bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CursorShape {
    #[default]
    Block,
    Underline,
    Bar,
}

saved!(
    enum CursorShape {
        Block,
        Underline,
        Bar,
    }
);

/// The cursor; its column is always within the screen, also when a wrap is deferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
    pub shape: CursorShape,
    pub blink: bool,
}

saved!(struct Cursor { row, col, visible, shape, blink });

/// Two terminals are equal if all that they are is: what is seen, and what is not.
#[derive(PartialEq, Debug)]
pub struct Terminal {
    parser: Parser,
    state: State,
}

impl Terminal {
    pub fn new(size: Size, limits: Limits) -> Terminal {
        Terminal::with_memory(size, limits.lines, Memory::own(limits.bytes))
    }

    /// With so many lines of scrollback, kept in memory that is handed in. Less than 128 KiB
    /// is too little to be used.
    pub fn with_memory(size: Size, lines: u32, memory: Memory) -> Terminal {
        let scrollback = Scrollback::new(lines, memory);
        Terminal { parser: Parser::default(), state: State::new(size.clamped(), scrollback) }
    }

    /// Gives the memory of the scrollback back.
    pub fn into_memory(self) -> Memory {
        self.state.screen.scrollback.into_memory()
    }

    /// Takes what the program wrote, cut anywhere, and tells what came of it.
    pub fn feed(&mut self, bytes: &[u8], notices: &mut Vec<Notice>) {
        let before = self.state.cursor();
        self.state.screen.now = self.state.stamp + 1;
        self.parser.feed(bytes, &mut self.state);
        if self.state.cursor() != before {
            self.state.screen.changed = true;
        }
        self.settle();
        notices.append(&mut self.state.notices);
    }

    /// Stamps up to so many more may have been told of by someone who then forgot: what is fed
    /// from now on gets later ones.
    pub fn skip_stamps(&mut self, count: u64) {
        self.state.stamp += count;
    }

    /// What changed since the last time gets its stamp.
    fn settle(&mut self) {
        if std::mem::take(&mut self.state.screen.changed) {
            self.state.stamp = self.state.screen.now;
        }
    }

    /// Changes the size; lines of the primary screen are wrapped anew.
    pub fn resize(&mut self, size: Size) {
        let size = size.clamped();
        if size != self.size() {
            self.state.screen.now = self.state.stamp + 1;
            self.state.end_sync();
            self.state.screen.resize(usize::from(size.cols), usize::from(size.rows));
            self.settle();
            if self.modes().resize_reports() {
                self.state.report_size_in_band();
            }
        }
    }

    /// What is to be told besides what bytes gave: the report of a new size (mode 2048).
    pub fn take_notices(&mut self, notices: &mut Vec<Notice>) {
        notices.append(&mut self.state.notices);
    }

    pub fn size(&self) -> Size {
        let screen = &self.state.screen;
        Size { cols: screen.cols as u16, rows: screen.rows as u16 }
    }

    pub fn cursor(&self) -> Cursor {
        let frame = self.state.screen.frame.as_ref();
        frame.map_or_else(|| self.state.cursor(), |frame| frame.cursor)
    }

    pub fn title(&self) -> &str {
        &self.state.title
    }

    pub fn cwd(&self) -> Option<&Cwd> {
        self.state.cwd.as_ref()
    }

    pub fn modes(&self) -> Modes {
        self.state.screen.modes
    }

    /// Flags of the kitty keyboard protocol that the program asked for.
    pub fn keyboard_flags(&self) -> u8 {
        self.state.keyboards.flags(self.state.screen.alt)
    }

    pub fn modify_other_keys(&self) -> u8 {
        self.state.keyboards.modify_other_keys
    }

    /// Keys that modifyOtherKeys changes are written as `CSI u` (XTFMTKEYS).
    pub fn other_keys_as_csi_u(&self) -> bool {
        self.state.keyboards.other_keys_as_csi_u
    }

    pub fn shell(&self) -> ShellState {
        self.state.marks.state()
    }

    /// In how many shells, one within another, a command runs.
    pub fn running_commands(&self) -> usize {
        self.state.marks.depth()
    }

    /// The shell asks for one more line of the same command.
    pub fn continues_input(&self) -> bool {
        self.state.marks.continuing()
    }

    /// Something was typed at the prompt and not entered.
    pub fn has_typed(&self) -> bool {
        self.state.has_typed()
    }

    /// The line in which the input at a prompt begins.
    pub fn input_began(&self) -> Option<LineNo> {
        self.state.input_began()
    }

    /// The line in which output of the command that runs began.
    pub fn output_began(&self) -> Option<LineNo> {
        self.state.output_began()
    }

    pub fn cursor_line(&self) -> LineNo {
        self.state.cursor_line()
    }

    pub fn running_command(&self) -> Option<&str> {
        self.state.marks.running()
    }

    /// Grows with every change that can be seen.
    pub fn stamp(&self) -> u64 {
        self.state.screen.frame.as_ref().map_or(self.state.stamp, |frame| frame.stamp)
    }

    /// Stamp of the last change of a row.
    pub fn row_stamp(&self, row: u16) -> u64 {
        let grid = self.state.screen.shown();
        if usize::from(row) < grid.height() { grid.stamp_of(usize::from(row)) } else { 0 }
    }

    /// Appends the text of all columns of a row, blanks included; a wide character comes once.
    pub fn row_text(&self, row: u16, out: &mut String) {
        let grid = self.state.screen.shown();
        if usize::from(row) < grid.height() {
            grid.row(usize::from(row)).text(grid.cols(), out);
        }
    }

    /// What one cell shows: a character with what joins it, nothing for the second half of a
    /// wide one.
    pub fn text_at(&self, row: u16, col: u16, out: &mut String) {
        let grid = self.state.screen.shown();
        if usize::from(row) < grid.height() {
            grid.row(usize::from(row)).text_of(usize::from(col), usize::from(col) + 1, out);
        }
    }

    pub fn style_at(&self, row: u16, col: u16) -> Style {
        self.state.screen.styles.get(self.shown_cell(row, col).style())
    }

    pub fn link_at(&self, row: u16, col: u16) -> Option<&Link> {
        self.state.screen.links.get(self.shown_cell(row, col).link())
    }

    /// Columns of the character here: 0 for the second half of a wide one.
    pub fn width_at(&self, row: u16, col: u16) -> usize {
        let cell = self.shown_cell(row, col);
        if cell.is_tail() { 0 } else { 1 + usize::from(cell.is_wide()) }
    }

    fn shown_cell(&self, row: u16, col: u16) -> cell::Cell {
        let grid = self.state.screen.shown();
        let inside = usize::from(row) < grid.height();
        if inside { grid.row(usize::from(row)).cell(usize::from(col)) } else { cell::BLANK }
    }

    /// The colours as the program has set them, also while an older frame is seen.
    pub fn palette(&self) -> &Palette {
        &self.state.palette
    }

    /// The line of this row goes on in the next.
    pub fn row_wraps(&self, row: u16) -> bool {
        let grid = self.state.screen.shown();
        usize::from(row) < grid.height() && grid.row(usize::from(row)).wraps
    }

    pub fn line_of_row(&self, row: u16) -> LineNo {
        let screen = &self.state.screen;
        let grid = screen.shown();
        let above = usize::from(row).min(grid.height());
        let ends = (0..above).filter(|y| !grid.row(*y).wraps).count();
        LineNo(screen.shown_top_line() + ends as u64)
    }

    /// From the oldest line still held to the one past the line of the last row.
    pub fn lines(&self) -> Range<LineNo> {
        let last = self.line_of_row(self.size().rows - 1);
        // While observers see an older frame, its lines may be gone from the scrollback.
        let first = LineNo(self.state.screen.scrollback.first_line()).min(self.line_of_row(0));
        first..LineNo(last.0 + 1)
    }

    /// Rows from the first of a line on, over scrollback and screen.
    pub fn rows_from(&self, line: LineNo) -> impl Iterator<Item = (LineNo, RowRef<'_>)> {
        self.state.screen.rows_from(line.0).map(|(number, row)| (LineNo(number), row))
    }

    /// Rows of scrollback, from the newest to the oldest.
    pub fn rows_back(&self) -> impl Iterator<Item = (LineNo, RowRef<'_>)> {
        self.state.screen.rows_back().map(|(number, row)| (LineNo(number), row))
    }

    /// Characters of ambiguous width (East Asian Width A) take two columns from now on, as
    /// fonts for Chinese, Japanese and Korean have them.
    pub fn set_ambiguous_wide(&mut self, wide: bool) {
        self.state.screen.ambiguous_wide = wide;
    }

    /// A frame is being drawn: what is read is the last finished one.
    pub fn in_sync(&self) -> bool {
        self.state.screen.frame.is_some()
    }

    /// Shows what is there, when a program takes too long to finish its frame.
    pub fn end_sync(&mut self) {
        self.state.screen.now = self.state.stamp + 1;
        self.state.end_sync();
        self.settle();
    }

    /// Bytes of memory that the scrollback takes.
    pub fn scrollback_bytes(&self) -> usize {
        self.state.screen.scrollback.bytes()
    }

    /// Rows that leave the screen from now on are of this time, as the caller counts it, and the
    /// scrollback takes no more bytes than these: older rows make room.
    pub fn bound_scrollback(&mut self, now: u64, bytes: usize) {
        self.state.screen.scrollback.bound(now, bytes);
    }

    /// The time of the newest row that `shed_scrollback` would drop.
    pub fn oldest_scrollback(&self) -> Option<u64> {
        self.state.screen.scrollback.oldest()
    }

    /// Drops some of the oldest rows of scrollback, and gives their memory back.
    pub fn shed_scrollback(&mut self) {
        self.state.screen.scrollback.shed();
    }

    /// Gives memory back that no row of scrollback lies in any more.
    pub fn tidy_scrollback(&mut self) {
        self.state.screen.scrollback.tidy();
    }

    /// True when nothing is cut at this point: no sequence, string or character.
    pub fn is_ground(&self) -> bool {
        self.parser.is_ground()
    }
}
