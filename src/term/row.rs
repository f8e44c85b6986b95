//! One row of cells: as long as what was written to it, blank after that.

use super::MAX_COLS;
use super::cell::{BLANK, Cell, Ink, StyleId};
use super::save::{Reader, Refused, Save, ensure, put_list, saved};

/// Code points joined to a cell besides its first.
pub const MAX_JOINED: usize = 7;

/// Double width and height are kept for the readers; the columns stay single.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LineSize {
    #[default]
    Single,
    DoubleWidth,
    DoubleTop,
    DoubleBottom,
}

impl LineSize {
    /// Columns that a narrow character takes where lines are shown in their size.
    pub fn columns(self) -> usize {
        if self == LineSize::Single { 1 } else { 2 }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    cells: Vec<Cell>,
    /// Code points joined to cells, in the order of the columns.
    joined: Vec<(u16, char)>,
    pub stamp: u64,
    /// The line goes on in the next row.
    pub wraps: bool,
    /// A shell's prompt starts here.
    pub prompt: bool,
    pub size: LineSize,
    /// All characters are ASCII; may be false when they are again.
    ascii: bool,
    /// No cell has a style or a link; may be false when it is so again.
    plain: bool,
}

impl Default for Row {
    fn default() -> Self {
        Row {
            cells: Vec::new(),
            joined: Vec::new(),
            stamp: 0,
            wraps: false,
            prompt: false,
            size: LineSize::Single,
            ascii: true,
            plain: true,
        }
    }
}

impl Row {
    /// The cells up to the last one ever written or painted.
    #[inline]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    pub fn cell(&self, col: usize) -> Cell {
        self.cells.get(col).copied().unwrap_or(BLANK)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub fn is_ascii(&self) -> bool {
        self.ascii
    }

    pub fn is_plain(&self) -> bool {
        self.plain
    }

    pub fn joined(&self) -> &[(u16, char)] {
        &self.joined
    }

    /// Code points joined to the character of a column.
    pub fn joined_at(&self, col: usize) -> impl Iterator<Item = char> + '_ {
        let start = self.joined.partition_point(|m| usize::from(m.0) < col);
        self.joined[start..].iter().take_while(move |m| usize::from(m.0) == col).map(|m| m.1)
    }

    /// The last code point joined to the character of a column.
    pub fn last_joined(&self, col: usize) -> Option<char> {
        self.joined
            .last()
            .filter(|m| usize::from(m.0) == col)
            .map(|m| m.1)
            .or_else(|| if self.cell(col).is_joined() { self.joined_at(col).last() } else { None })
    }

    #[inline]
    pub fn reset(&mut self, stamp: u64) {
        self.cells.clear();
        self.joined.clear();
        self.wraps = false;
        self.prompt = false;
        self.size = LineSize::Single;
        self.ascii = true;
        self.plain = true;
        self.stamp = stamp;
    }

    #[inline]
    fn span(&mut self, col: usize, end: usize) -> &mut [Cell] {
        if self.cells.len() < end {
            self.cells.resize(end, BLANK);
        }
        &mut self.cells[col..end]
    }

    #[inline]
    pub fn write_ascii(&mut self, col: usize, text: &[u8], ink: Ink) {
        let end = col + text.len();
        if !self.ascii && col < self.cells.len() {
            self.cut(col, end);
        }
        self.plain &= ink.is_plain();
        if col == self.cells.len() {
            match text {
                [byte] => self.cells.push(Cell::ascii(*byte, ink)),
                _ => self.cells.extend(text.iter().map(|byte| Cell::ascii(*byte, ink))),
            }
            return;
        }
        for (cell, byte) in self.span(col, end).iter_mut().zip(text) {
            *cell = Cell::ascii(*byte, ink);
        }
    }

    /// Writes cells of one ink, wide pairs whole, that are not ASCII.
    #[inline]
    pub fn write_cells(&mut self, col: usize, cells: &[Cell], ink: Ink) {
        self.plain &= ink.is_plain();
        let end = col + cells.len();
        if !self.ascii && col < self.cells.len() {
            self.cut(col, end);
        }
        self.ascii = false;
        if col == self.cells.len() {
            self.cells.extend_from_slice(cells);
        } else {
            self.span(col, end).copy_from_slice(cells);
        }
    }

    #[inline]
    pub fn write_narrow(&mut self, col: usize, c: char, ink: Ink) {
        if !self.ascii && col < self.cells.len() {
            self.cut(col, col + 1);
        }
        self.ascii &= c.is_ascii();
        self.plain &= ink.is_plain();
        let cell = Cell::narrow(c, ink);
        if col == self.cells.len() {
            self.cells.push(cell);
        } else {
            self.span(col, col + 1)[0] = cell;
        }
    }

    #[inline]
    pub fn write_wide(&mut self, col: usize, c: char, ink: Ink) {
        if !self.ascii && col < self.cells.len() {
            self.cut(col, col + 2);
        }
        self.ascii = false;
        self.plain &= ink.is_plain();
        let pair = [Cell::wide(c, ink), Cell::tail(ink)];
        if col == self.cells.len() {
            self.cells.extend_from_slice(&pair);
        } else {
            self.span(col, col + 2).copy_from_slice(&pair);
        }
    }

    /// Marks the last column as left free by a wide character that went to the next row.
    pub fn write_gap(&mut self, col: usize, ink: Ink) {
        self.cut(col, col + 1);
        self.ascii = false;
        self.plain &= ink.is_plain();
        self.span(col, col + 1)[0] = Cell::gap(ink);
    }

    /// Puts a cell as it is, for rows that are built anew; wide pairs must come whole.
    pub fn push(&mut self, cell: Cell, joined: impl Iterator<Item = char>) {
        let col = self.cells.len();
        self.ascii &= cell.char().is_ascii() && !cell.is_tail() && !cell.is_gap();
        self.plain &= cell.same_look(BLANK);
        self.cells.push(cell.with_joined(false));
        for c in joined {
            self.join(col, c);
        }
    }

    /// Joins a code point to the character of a column.
    pub fn join(&mut self, col: usize, c: char) {
        let Some(cell) = self.cells.get_mut(col) else {
            return;
        };
        // Nearly always nothing is joined here or after it.
        if self.joined.last().is_none_or(|m| usize::from(m.0) < col) {
            self.joined.push((col as u16, c));
        } else {
            let at = self.joined.partition_point(|m| usize::from(m.0) <= col);
            let here = self.joined[..at].iter().rev().take_while(|m| usize::from(m.0) == col);
            if here.count() >= MAX_JOINED {
                return;
            }
            self.joined.insert(at, (col as u16, c));
        }
        *cell = cell.with_joined(true);
        self.ascii = false;
    }

    /// Makes a narrow character wide; the next column must be free to take.
    pub fn widen(&mut self, col: usize) {
        let ink = self.cell(col).ink();
        if col + 1 == self.cells.len() {
            self.cells[col] = self.cells[col].widened();
            self.cells.push(Cell::tail(ink));
            self.ascii = false;
            return;
        }
        self.cut(col + 1, col + 2);
        let span = self.span(col, col + 2);
        span[0] = span[0].widened();
        span[1] = Cell::tail(ink);
        self.ascii = false;
    }

    /// Prepares `from..to` to be overwritten: no half of a wide character stays, and the joined
    /// code points go.
    #[cold]
    #[inline(never)]
    fn cut(&mut self, from: usize, to: usize) {
        self.break_pair(from);
        self.break_pair(to);
        self.drop_joined(from, to);
    }

    /// Forgets what joins the characters of `from..to`.
    fn drop_joined(&mut self, from: usize, to: usize) {
        if !self.joined.is_empty() {
            self.joined.retain(|m| usize::from(m.0) < from || usize::from(m.0) >= to);
        }
    }

    /// Empties the wide character whose halves lie on both sides of a column's left edge.
    pub fn break_pair(&mut self, col: usize) {
        if col > 0 && self.cell(col).is_tail() {
            self.cells[col - 1] = self.cells[col - 1].emptied();
            self.cells[col] = self.cells[col].emptied();
            self.joined.retain(|m| usize::from(m.0) != col - 1);
        }
    }

    /// Erases `from..to` of a row of `cols` columns.
    pub fn erase(&mut self, from: usize, to: usize, style: StyleId) {
        if !self.ascii {
            self.cut(from, to);
        }
        self.fill(from, to, style);
    }

    /// Erases without looking for halves of what was there.
    fn fill(&mut self, from: usize, to: usize, style: StyleId) {
        if !self.joined.is_empty() {
            self.joined.retain(|m| usize::from(m.0) < from || usize::from(m.0) >= to);
        }
        if style == StyleId(0) && to >= self.cells.len() {
            self.cells.truncate(from);
        } else {
            self.plain &= style == StyleId(0);
            self.span(from, to.max(from)).fill(Cell::erased(style));
        }
    }

    /// Erases `from..to` but for protected cells.
    pub fn erase_unprotected(&mut self, from: usize, to: usize, style: StyleId) {
        for col in from..to {
            if !self.cell(col).is_protected() {
                self.erase(col, col + 1, style);
            }
        }
    }

    /// Moves the cells of `from..end` right by `n`, those past `end` are lost.
    pub fn insert(&mut self, from: usize, end: usize, n: usize, style: StyleId) {
        let n = n.min(end.saturating_sub(from));
        self.break_pair(from);
        self.break_pair(end);
        self.break_pair(end - n);
        self.drop_joined(end - n, end);
        self.shift(from, end - n, from + n);
        self.fill(from, from + n, style);
    }

    /// Moves the cells of `from + n..end` left by `n`.
    pub fn delete(&mut self, from: usize, end: usize, n: usize, style: StyleId) {
        let n = n.min(end.saturating_sub(from));
        self.break_pair(from);
        self.break_pair(from + n);
        self.break_pair(end);
        self.drop_joined(from, from + n);
        self.shift(from + n, end, from);
        self.fill(end - n, end, style);
    }

    /// Copies the cells of `from..to` to `dest` on, overwriting; no pair may be cut by the edges.
    fn shift(&mut self, from: usize, to: usize, dest: usize) {
        let len = to - from;
        if from.min(dest) >= self.cells.len() || len == 0 || from == dest {
            return;
        }
        let most = to.max(dest + len);
        if self.cells.len() < most {
            self.cells.resize(most, BLANK);
        }
        self.cells.copy_within(from..to, dest);
        if !self.joined.is_empty() {
            self.shift_joined(from, to, dest);
        }
    }

    fn shift_joined(&mut self, from: usize, to: usize, dest: usize) {
        let end = dest + (to - from);
        let mut moved = std::mem::take(&mut self.joined);
        moved.retain(|m| {
            let col = usize::from(m.0);
            (from..to).contains(&col) || !(dest..end).contains(&col)
        });
        for mark in &mut moved {
            let col = usize::from(mark.0);
            if (from..to).contains(&col) {
                mark.0 = (col - from + dest) as u16;
            }
        }
        moved.sort_by_key(|m| m.0);
        self.joined = moved;
    }

    /// Copies `width` columns of another row, from column `from` on, to column `to` on.
    pub fn copy_cells(&mut self, other: &Row, from: usize, to: usize, width: usize) {
        if width == 0 {
            return;
        }
        self.cut(to, to + width);
        self.span(to, to + width);
        for at in 0..width {
            let cell = other.cell(from + at);
            let cut = cell.is_wide() && at + 1 == width || cell.is_tail() && at == 0;
            self.cells[to + at] = if cut { cell.emptied() } else { cell.with_joined(false) };
            if !cut {
                other.joined_at(from + at).for_each(|c| self.join(to + at, c));
            }
        }
        self.ascii &= other.ascii;
        self.plain &= other.plain;
    }

    /// Drops what lies past a new width; a cut wide character goes as a whole.
    pub fn truncate(&mut self, cols: usize) {
        if self.cells.len() > cols {
            self.break_pair(cols);
            self.cells.truncate(cols);
            self.joined.retain(|m| usize::from(m.0) < cols);
        }
    }

    /// Cells without the erased ones at the end.
    pub fn used(&self) -> usize {
        self.cells.iter().rposition(|c| !c.is_erased()).map_or(0, |last| last + 1)
    }

    pub fn map_cells(&mut self, f: impl Fn(Cell) -> Cell) {
        self.plain = false;
        self.cells.iter_mut().for_each(|cell| *cell = f(*cell));
    }

    /// Changes the cells of a range one by one; the characters must stay.
    pub fn map_range(&mut self, from: usize, to: usize, f: impl FnMut(Cell) -> Cell) {
        self.plain = false;
        let mut f = f;
        self.span(from, to).iter_mut().for_each(|cell| *cell = f(*cell));
    }

    /// The text of all `cols` columns; a wide character comes once.
    pub fn text(&self, cols: usize, out: &mut String) {
        if self.ascii {
            out.extend(self.cells.iter().map(|c| char::from(c.byte())));
        } else {
            self.text_of(0, self.cells.len(), out);
        }
        out.extend(std::iter::repeat_n(' ', cols.saturating_sub(self.cells.len())));
    }

    /// The text of some columns, with blanks for what was never written.
    pub fn text_of(&self, from: usize, to: usize, out: &mut String) {
        for col in from..to {
            let cell = self.cell(col);
            if !cell.is_tail() {
                out.push(cell.char());
            }
            if cell.is_joined() {
                out.extend(self.joined_at(col));
            }
        }
    }
}

saved!(
    enum LineSize {
        Single,
        DoubleWidth,
        DoubleTop,
        DoubleBottom,
    }
);

impl Save for Row {
    fn put(&self, out: &mut Vec<u8>) {
        let Row { cells, joined, stamp, wraps, prompt, size, ascii, plain } = self;
        out.reserve(cells.len() * size_of::<Cell>());
        put_list(cells, out);
        put_list(joined, out);
        stamp.put(out);
        [*wraps, *prompt, *ascii, *plain].put(out);
        size.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let cells: Vec<Cell> = from.list(MAX_COLS.into())?;
        let joined = from.list(cells.len() * MAX_JOINED)?;
        let stamp = from.take()?;
        let [wraps, prompt, ascii, plain] = from.take()?;
        Ok(Row { cells, joined, stamp, wraps, prompt, size: from.take()?, ascii, plain })
    }
}

impl Row {
    /// What all else relies on: wide characters whole, joined code points in order, and no
    /// claim that does not hold.
    pub fn check(&self, cols: usize) -> Result<(), Refused> {
        ensure(self.cells.len() <= cols, "the length of a row")?;
        let tail_at = |col: usize| self.cells.get(col).is_some_and(|cell| cell.is_tail());
        let whole = |(col, cell): (usize, &Cell)| cell.is_wide() == tail_at(col + 1);
        ensure(!tail_at(0) && self.cells.iter().enumerate().all(whole), "half a character")?;
        let ascii = |cell: &Cell| cell.is_ascii();
        ensure(!self.ascii || self.cells.iter().all(ascii), "a row that is not ASCII")?;
        let plain = |cell: &Cell| cell.same_look(BLANK);
        ensure(!self.plain || self.cells.iter().all(plain), "a row that is not plain")?;
        let ordered = self.joined.is_sorted_by_key(|m| m.0);
        let inside = self.joined.last().is_none_or(|m| usize::from(m.0) < self.cells.len());
        let few = self.joined.windows(MAX_JOINED + 1).all(|many| many[0].0 != many[MAX_JOINED].0);
        ensure(ordered && inside && few, "joined characters")
    }
}
