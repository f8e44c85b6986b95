//! Printing: runs of ASCII as slices, other characters one by one, and what joins a cell.

use super::modes::Mode;
use super::screen::Screen;
use super::width::{
    VS16, ZWJ, char_width, is_pictograph, is_regional_indicator, is_skin_tone, is_text_emoji,
};

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
            if self.point.pending && !self.wrap() {
                rest = &rest[rest.len() - 1..];
            }
            let limit = self.right_limit();
            let (row, col) = (self.point.row, self.point.col);
            let fit = rest.len().min(limit + 1 - col);
            self.touch(row).write_ascii(col, &rest[..fit], ink);
            rest = &rest[fit..];
            self.point.col = col + fit;
            if col + fit > limit {
                self.point.col = limit;
                self.point.pending = true;
            }
        }
        self.last = text.last().map(|byte| char::from(*byte));
    }

    /// Goes to the next row when a wrap was deferred; false when wrapping is off.
    #[inline]
    fn wrap(&mut self) -> bool {
        self.point.pending = false;
        if !self.modes.autowrap() {
            return false;
        }
        let row = self.point.row;
        // Between side margins, or held below the region, the text does not go on as a line.
        let stuck = row + 1 == self.rows && self.margins.bottom != row;
        self.grid.row_mut(row).wraps = !stuck && !self.has_side_margins();
        self.index();
        self.point.col = self.left_limit();
        true
    }

    pub fn print(&mut self, c: char) {
        let c = if self.charsets.is_ascii() { c } else { self.charsets.map(c) };
        let width = char_width(c);
        if (width == 0 || !c.is_ascii()) && self.joins(c, width) {
            return;
        }
        if width == 0 {
            return;
        }
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
            self.touch(row).insert(col, end, width, super::cell::StyleId(0));
        }
        let row = self.touch(row);
        match width {
            2 => row.write_wide(col, c, ink),
            _ => row.write_narrow(col, c, ink),
        }
        self.point.col = col + width;
        if col + width > limit {
            self.point.col = limit;
            self.point.pending = true;
        }
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
    fn joins(&mut self, c: char, width: usize) -> bool {
        if width > 0 && !self.may_cluster(c) {
            return false;
        }
        let Some(before) = self.before() else {
            return width == 0;
        };
        if width > 0 && !self.clusters_with(&before, c) {
            return false;
        }
        self.touch(before.row).join(before.col, c);
        let first = self.grid.row(before.row).cell(before.col).char();
        let emoji = c == VS16 && is_text_emoji(first);
        if !before.wide && (emoji || is_regional_indicator(c)) {
            self.widen(&before);
        }
        true
    }

    /// Cheap test that leaves only characters that could join the one before.
    fn may_cluster(&self, c: char) -> bool {
        u32::from(c) >= 0x2190 && self.modes.is(Mode::Graphemes) && is_pictograph_like(c)
    }

    fn clusters_with(&self, before: &Before, c: char) -> bool {
        let row = self.grid.row(before.row);
        let first = row.cell(before.col).char();
        let last = row.joined_at(before.col).last();
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
        self.point.col = before.col + 2;
        if before.col + 2 > limit {
            self.point.col = limit;
            self.point.pending = true;
        }
    }

    /// REP: the last character again, as if it were printed.
    pub fn repeat(&mut self, n: usize) {
        let Some(c) = self.last else {
            return;
        };
        let width = char_width(c).max(1);
        for _ in 0..n.min(self.cols * self.rows) {
            self.place(c, width);
        }
    }
}

fn is_pictograph_like(c: char) -> bool {
    is_regional_indicator(c) || is_skin_tone(c) || is_pictograph(c)
}
