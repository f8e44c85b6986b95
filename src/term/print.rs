//! Printing: runs of ASCII as slices, other characters one by one, and what joins a cell.

use super::cell::{BLANK, Cell, Ink, StyleId};
use super::modes::Mode;
use super::screen::Screen;
use super::utf8::{common, three_bytes};
use super::width::{
    VS16, ZWJ, char_width, is_common_wide, is_pictograph, is_regional_indicator, is_skin_tone,
    is_text_emoji, plain_width,
};

/// Columns that are gathered before they are written.
const RUN: usize = 64;

#[derive(Debug)]
pub struct Gathered([Cell; RUN]);

impl Default for Gathered {
    fn default() -> Self {
        Gathered([BLANK; RUN])
    }
}

/// A cell of the row the cursor is in or left, and what stands there.
struct Before {
    row: usize,
    col: usize,
    wide: bool,
}

impl Screen {
    /// Prints bytes of `0x20..=0x7e`.
    #[inline]
    pub fn print_ascii(&mut self, text: &[u8]) {
        if !self.charsets.is_ascii() || self.modes.insert() {
            text.iter().for_each(|byte| self.print(char::from(*byte)));
            return;
        }
        let ink = self.ink();
        let mut rest = text;
        while !rest.is_empty() {
            if self.point.pending {
                self.wrap();
            }
            let limit = self.right_limit();
            let (row, col) = (self.point.row, self.point.col);
            if col == limit && !self.modes.autowrap() {
                rest = &rest[rest.len() - 1..];
            }
            let fit = rest.len().min(limit + 1 - col);
            self.touch(row).write_ascii(col, &rest[..fit], ink);
            rest = &rest[fit..];
            self.advance(col + fit);
        }
        self.last = text.last().map(|byte| char::from(*byte));
    }

    /// Prints the characters in front that need no thought: not ASCII, of one or two columns,
    /// joining nothing, and with room in the row. Tells how many bytes that were.
    pub fn print_run(&mut self, bytes: &[u8]) -> usize {
        let odd = self.point.pending || self.after_zwj || self.modes.insert();
        if odd || !self.charsets.is_ascii() {
            return 0;
        }
        let (ink, start) = (self.ink(), self.point.col);
        let room = (self.right_limit() + 1 - start).min(RUN);
        let run = match gather_wide(bytes, &mut self.run.0.0[..room], ink) {
            Run { used: 0, .. } => {
                gather(bytes, &mut self.run.0.0[..room], ink, self.ambiguous_wide)
            }
            run => run,
        };
        if run.used > 0 {
            let row = self.grid.row_mut(self.point.row);
            row.write_cells(start, &self.run.0.0[..run.cells], ink);
            row.stamp = self.now;
            self.changed = true;
            self.advance(start + run.cells);
            self.last = run.last;
        }
        run.used
    }

    /// The cursor after something was printed up to a column. A wrap is deferred also when none
    /// will be done, as in xterm: what joins then joins the last column.
    #[inline]
    fn advance(&mut self, col: usize) {
        let limit = self.right_limit();
        self.point.pending = col > limit;
        self.point.col = col.min(limit);
    }

    /// Goes to the next row, where a wrap was deferred.
    #[inline]
    fn wrap(&mut self) {
        self.point.pending = false;
        if !self.modes.autowrap() {
            return;
        }
        let row = self.point.row;
        // Between side margins, or held below the region, the text does not go on as a line.
        let stuck = row + 1 == self.rows && self.margins.bottom != row;
        self.grid.row_mut(row).wraps = !stuck && !self.has_side_margins();
        self.index();
        self.point.col = self.left_limit();
    }

    pub fn print(&mut self, c: char) {
        let c = if self.charsets.is_ascii() { c } else { self.charsets.map(c) };
        let width = char_width(c, self.ambiguous_wide);
        if (width == 0 || self.may_cluster(c)) && self.joins(c, width) {
            return;
        }
        if width == 0 {
            return;
        }
        self.after_zwj = false;
        self.last = Some(c);
        self.place(c, width);
    }

    /// Writes a character of one or two columns where the cursor is.
    fn place(&mut self, c: char, width: usize) {
        if self.point.pending {
            self.wrap();
        }
        let mut limit = self.right_limit();
        if width == 2 && self.point.col == limit {
            limit = self.make_room_for_wide(limit);
        }
        let ink = self.ink();
        let (row, col) = (self.point.row, self.point.col);
        let width = width.min(limit + 1 - col);
        if self.modes.insert() {
            let end = limit + 1;
            self.touch(row).insert(col, end, width, StyleId(0));
        }
        let row = self.touch(row);
        match width {
            2 => row.write_wide(col, c, ink),
            _ => row.write_narrow(col, c, ink),
        }
        self.advance(col + width);
    }

    /// A wide character does not fit in the last column: it goes to the next row, or, without
    /// wrapping, one column to the left.
    fn make_room_for_wide(&mut self, limit: usize) -> usize {
        let left = self.left_limit();
        if limit == left {
            return limit;
        }
        if self.modes.autowrap() {
            let ink = self.ink();
            let (row, col) = (self.point.row, self.point.col);
            self.touch(row).write_gap(col, ink);
            self.wrap();
            return self.right_limit();
        }
        self.point.col -= 1;
        limit
    }

    /// The character before the cursor, also when it left it behind by a deferred wrap.
    fn before(&self) -> Option<Before> {
        let row = self.point.row;
        let mut col =
            if self.point.pending { self.point.col } else { self.point.col.checked_sub(1)? };
        let cells = self.grid.row(row);
        if cells.cell(col).is_tail() {
            col = col.checked_sub(1)?;
        }
        let cell = cells.cell(col);
        (!cell.is_erased()).then(|| Before { row, col, wide: cell.is_wide() })
    }

    /// Joins a character to the one before where it belongs to it; false if it stands alone.
    #[inline(never)]
    fn joins(&mut self, c: char, width: usize) -> bool {
        let Some(before) = self.before() else {
            return width == 0;
        };
        if width > 0 && !self.clusters_with(&before, c) {
            return false;
        }
        self.touch(before.row).join(before.col, c);
        self.after_zwj = c == ZWJ;
        let first = self.grid.row(before.row).cell(before.col).char();
        let emoji = c == VS16 && is_text_emoji(first);
        if !before.wide && (emoji || is_regional_indicator(c)) {
            self.widen(&before);
        }
        true
    }

    /// Cheap test that leaves only characters that could join the one before.
    #[inline]
    fn may_cluster(&self, c: char) -> bool {
        (self.after_zwj || is_regional_indicator(c) || is_skin_tone(c))
            && self.modes.is(Mode::Graphemes)
    }

    fn clusters_with(&self, before: &Before, c: char) -> bool {
        let row = self.grid.row(before.row);
        let first = row.cell(before.col).char();
        let last = row.last_joined(before.col);
        if is_regional_indicator(c) {
            return is_regional_indicator(first) && last.is_none();
        }
        if is_skin_tone(c) {
            return is_pictograph(first) && last.is_none_or(|l| l == VS16 || l == ZWJ);
        }
        is_pictograph(c) && last == Some(ZWJ) && is_pictograph(first)
    }

    /// Makes the character before the cursor wide, if there is room to its right.
    fn widen(&mut self, before: &Before) {
        let limit = self.right_limit();
        if before.col >= limit {
            return;
        }
        self.touch(before.row).widen(before.col);
        self.advance(before.col + 2);
    }

    /// REP: the last character again, as if it were printed.
    pub fn repeat(&mut self, n: usize) {
        let Some(c) = self.last else {
            return;
        };
        let (width, joined) = (char_width(c, self.ambiguous_wide).max(1), self.joined_to(c));
        for _ in 0..n.min(self.cols * self.rows) {
            self.place(c, width);
            for mark in &joined {
                self.joins(*mark, 0);
            }
        }
    }

    /// What joins this character, if it is the one before the cursor.
    fn joined_to(&self, c: char) -> Vec<char> {
        let before = self.before().map(|before| (self.grid.row(before.row), before.col));
        let found = before.filter(|(row, col)| row.cell(*col).char() == c);
        found.map(|(row, col)| row.joined_at(col).collect()).unwrap_or_default()
    }
}

/// Characters that were gathered: their bytes, their cells and the last of them.
struct Run {
    used: usize,
    cells: usize,
    last: Option<char>,
}

fn gather(bytes: &[u8], cells: &mut [Cell], ink: Ink, ambiguous_wide: bool) -> Run {
    let mut run = Run { used: 0, cells: 0, last: None };
    while let Some((c, taken, width)) = simple_char(&bytes[run.used..], ambiguous_wide) {
        match cells.get_mut(run.cells..run.cells + width) {
            Some([one]) => *one = Cell::narrow(c, ink),
            Some([one, two]) => [*one, *two] = Cell::pair(u32::from(c), ink),
            _ => break,
        }
        run.cells += width;
        run.used += taken;
        run.last = Some(c);
    }
    run
}

/// Characters of three bytes that are known to be wide.
fn gather_wide(bytes: &[u8], cells: &mut [Cell], ink: Ink) -> Run {
    let (pairs, chars) = (cells.as_chunks_mut::<2>().0, bytes.as_chunks::<3>().0);
    let (mut count, mut last) = (0, 0);
    for (pair, three) in pairs.iter_mut().zip(chars) {
        let Some(code) = three_bytes(*three).filter(|code| is_common_wide(*code)) else {
            break;
        };
        *pair = Cell::pair(code, ink);
        last = code;
        count += 1;
    }
    Run { used: count * 3, cells: count * 2, last: char::from_u32(last) }
}

/// A character that is not ASCII and joins nothing, its bytes and columns.
#[inline(always)]
fn simple_char(bytes: &[u8], wide: bool) -> Option<(char, usize, usize)> {
    let (c, len) = common(bytes)?;
    let width = plain_width(c, wide).filter(|width| *width > 0)?;
    Some((c, len, width))
}
