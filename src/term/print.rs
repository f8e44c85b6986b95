//! Printing: runs of ASCII as slices, other characters one by one, and what joins a cell.

use super::cell::{BLANK, Cell, Ink, StyleId};
use super::modes::Mode;
use super::screen::Screen;
use super::utf8::{common_code, three_bytes};
use super::width::{
    VS16, Widths, ZWJ, char_width, is_common_wide, is_pictograph, is_regional_indicator,
    is_skin_tone, is_text_emoji, plain_width,
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
        if self.is_odd() {
            return 0;
        }
        let (ink, start) = (self.ink(), self.point.col);
        let room = (self.right_limit() + 1 - start).min(RUN);
        let cells = &mut self.run.0.0[..room];
        let wide = matches!(bytes, [0xe3..=0xed, ..]);
        let mut run = if wide { gather_wide(bytes, cells, ink) } else { Run::default() };
        if run.used == 0 {
            run = gather(bytes, cells, ink, Widths::get(self.ambiguous_wide));
        }
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

    #[inline]
    pub fn print(&mut self, c: char) {
        let width = match plain_width(c, self.ambiguous_wide) {
            Some(0) if self.charsets.is_ascii() => {
                self.joins(c, 0);
                return;
            }
            None if is_skin_tone(c) && self.may_join_at_once() && self.joins(c, 2) => {
                return;
            }
            width => width.unwrap_or(0),
        };
        let col = self.point.col + width;
        if width == 0 || self.is_odd() || col > self.right_limit() + 1 {
            return self.print_with_care(c);
        }
        let ink = self.ink();
        let (y, x) = (self.point.row, self.point.col);
        let row = self.touch(y);
        if width == 2 {
            row.write_wide(x, c, ink);
        } else {
            row.write_narrow(x, c, ink);
        }
        self.advance(col);
        self.last = Some(c);
    }

    #[inline]
    fn may_join_at_once(&self) -> bool {
        self.charsets.is_ascii() && self.modes.is(Mode::Graphemes)
    }

    /// Something is on that printing has to look at: a deferred wrap, a joiner, insert mode, or
    /// other characters than ASCII.
    #[inline]
    fn is_odd(&self) -> bool {
        let odd = self.point.pending || self.after_zwj || self.modes.insert();
        odd || !self.charsets.is_ascii()
    }

    #[inline(never)]
    fn print_with_care(&mut self, c: char) {
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
    #[inline(always)]
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
#[derive(Default)]
struct Run {
    used: usize,
    cells: usize,
    last: Option<char>,
}

fn gather(bytes: &[u8], cells: &mut [Cell], ink: Ink, widths: Widths) -> Run {
    let all = cells.len();
    let (mut rest, mut room, mut last) = (bytes, cells, 0);
    while let Some((code, after)) = simple_char(rest) {
        match (widths.simple(code), room) {
            (1, [one, free @ ..]) => {
                *one = Cell::of(code, ink);
                room = free;
            }
            (2, [one, two, free @ ..]) => {
                [*one, *two] = Cell::pair(code, ink);
                room = free;
            }
            (_, left) => {
                room = left;
                break;
            }
        }
        (rest, last) = (after, code);
    }
    Run { used: bytes.len() - rest.len(), cells: all - room.len(), last: char::from_u32(last) }
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

/// A character in front that is whole, and what follows it. One of ASCII only if it stands alone:
/// there is a better way for text.
#[inline(always)]
fn simple_char(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match bytes {
        [first @ b' '..=b'~', rest @ ..] => {
            rest.first().filter(|b| **b >= 0x80).map(|_| (u32::from(*first), rest))
        }
        _ => common_code(bytes),
    }
}
