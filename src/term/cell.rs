//! One cell of the grid in eight bytes: a code point with flags, a style id and a link id.

use super::save::{Reader, Refused, Save, ensure};

/// A wide character takes two cells: the first holds it, the second is its tail.
const CHAR: u64 = (1 << 21) - 1;
const WIDE: u64 = 1 << 21;
const TAIL: u64 = 1 << 22;
const JOINED: u64 = 1 << 23;
const PROTECTED: u64 = 1 << 24;
const GAP: u64 = 1 << 25;
const STYLE_SHIFT: u32 = 32;
const LINK_SHIFT: u32 = 48;
/// Bits without a meaning.
const SPARE: u64 = 0xfc00_0000;
const FLAGS: u64 = WIDE | TAIL | JOINED | GAP;

/// Index of an interned style; 0 is the default style.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub struct StyleId(pub u16);

/// Index of an interned link; 0 is no link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub struct LinkId(pub u16);

/// What a newly written cell gets besides its character: style, link and protection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ink(u64);

impl Ink {
    pub fn new(style: StyleId, link: LinkId, protected: bool) -> Ink {
        let protected = if protected { PROTECTED } else { 0 };
        Ink(u64::from(style.0) << STYLE_SHIFT | u64::from(link.0) << LINK_SHIFT | protected)
    }

    pub fn is_plain(self) -> bool {
        self.0 & !PROTECTED == 0
    }

    pub fn style(self) -> StyleId {
        Cell(self.0).style()
    }

    pub fn link(self) -> LinkId {
        Cell(self.0).link()
    }
}

/// The zero cell is an erased one with the default style.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cell(u64);

pub const BLANK: Cell = Cell(0);

impl Cell {
    #[inline]
    pub fn ascii(byte: u8, ink: Ink) -> Cell {
        Cell(u64::from(byte) | ink.0)
    }

    #[inline]
    pub fn narrow(c: char, ink: Ink) -> Cell {
        Cell(u64::from(u32::from(c)) | ink.0)
    }

    #[inline]
    pub fn wide(c: char, ink: Ink) -> Cell {
        Cell(u64::from(u32::from(c)) | WIDE | ink.0)
    }

    /// A narrow character by its number.
    #[inline]
    pub fn of(code: u32, ink: Ink) -> Cell {
        Cell(u64::from(code) | ink.0)
    }

    /// Both cells of a wide character; `code` must be one.
    #[inline]
    pub fn pair(code: u32, ink: Ink) -> [Cell; 2] {
        [Cell(u64::from(code) | WIDE | ink.0), Cell(TAIL | ink.0)]
    }

    #[inline]
    pub fn tail(ink: Ink) -> Cell {
        Cell(TAIL | ink.0)
    }

    /// Left in the last column when a wide character had to go to the next row.
    pub fn gap(ink: Ink) -> Cell {
        Cell(GAP | ink.0)
    }

    pub fn erased(style: StyleId) -> Cell {
        Cell(u64::from(style.0) << STYLE_SHIFT)
    }

    /// What is shown: an erased cell shows a blank.
    #[inline]
    pub fn char(self) -> char {
        match char::from_u32((self.0 & CHAR) as u32) {
            None | Some('\0') => ' ',
            Some(c) => c,
        }
    }

    /// The character as a number.
    #[inline]
    pub fn code(self) -> u32 {
        match (self.0 & CHAR) as u32 {
            0 => 0x20,
            code => code,
        }
    }

    /// A wide character that nothing joins: one that is wide by itself.
    #[inline]
    pub fn lone_wide(self) -> Option<u32> {
        (self.0 & (WIDE | JOINED) == WIDE).then_some((self.0 & CHAR) as u32)
    }

    /// The character as a byte; only right for cells known to be ASCII.
    #[inline]
    pub fn byte(self) -> u8 {
        ((self.0 & 0x7f) as u8).max(b' ')
    }

    /// A character below 0x80 that is neither joined nor half of another.
    pub fn is_ascii(self) -> bool {
        self.0 & CHAR < 0x80 && self.0 & FLAGS == 0
    }

    pub fn is_erased(self) -> bool {
        self.0 & (CHAR | FLAGS) == 0
    }

    pub fn is_blank(self) -> bool {
        let c = self.0 & CHAR;
        self.0 & (FLAGS & !GAP) == 0 && (c == 0 || c == 0x20)
    }

    pub fn is_wide(self) -> bool {
        self.0 & WIDE != 0
    }

    pub fn is_tail(self) -> bool {
        self.0 & TAIL != 0
    }

    pub fn is_gap(self) -> bool {
        self.0 & GAP != 0
    }

    pub fn is_joined(self) -> bool {
        self.0 & JOINED != 0
    }

    pub fn is_protected(self) -> bool {
        self.0 & PROTECTED != 0
    }

    pub fn style(self) -> StyleId {
        StyleId((self.0 >> STYLE_SHIFT) as u16)
    }

    pub fn link(self) -> LinkId {
        LinkId((self.0 >> LINK_SHIFT) as u16)
    }

    /// Style, link and protection, to write another character in the same way.
    pub fn ink(self) -> Ink {
        Ink(self.0 & !(CHAR | FLAGS))
    }

    /// Two cells of one look: the same style and link.
    #[inline]
    pub fn same_look(self, other: Cell) -> bool {
        (self.0 ^ other.0) >> STYLE_SHIFT == 0
    }

    #[must_use]
    pub fn with_style(self, style: StyleId) -> Cell {
        Cell(self.0 & !(0xffff << STYLE_SHIFT) | u64::from(style.0) << STYLE_SHIFT)
    }

    #[must_use]
    pub fn with_link(self, link: LinkId) -> Cell {
        Cell(self.0 & !(0xffff << LINK_SHIFT) | u64::from(link.0) << LINK_SHIFT)
    }

    #[must_use]
    pub fn with_joined(self, joined: bool) -> Cell {
        Cell(self.0 & !JOINED | if joined { JOINED } else { 0 })
    }

    #[must_use]
    pub fn widened(self) -> Cell {
        Cell(self.0 | WIDE)
    }

    /// The cell emptied, keeping its look: what is left of a cut wide character.
    #[must_use]
    pub fn emptied(self) -> Cell {
        Cell(self.0 & !(CHAR | FLAGS | PROTECTED))
    }
}

impl Save for LinkId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        from.take().map(LinkId)
    }
}

impl Save for Ink {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let ink = Ink(from.take()?);
        ensure(ink.0 & (CHAR | FLAGS | SPARE) == 0, "the pen")?;
        Ok(ink)
    }
}

impl Save for Cell {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let cell = Cell(from.take()?);
        let is_char = char::from_u32((cell.0 & CHAR) as u32).is_some();
        ensure(is_char && cell.0 & SPARE == 0, "a cell")?;
        Ok(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_eight_bytes() {
        assert_eq!(size_of::<Cell>(), 8);
    }

    #[test]
    fn parts_come_back() {
        let ink = Ink::new(StyleId(7), LinkId(9), true);
        let cell = Cell::wide('日', ink).with_joined(true);
        assert_eq!((cell.char(), cell.style(), cell.link()), ('日', StyleId(7), LinkId(9)));
        assert!(cell.is_wide() && cell.is_joined() && cell.is_protected() && !cell.is_tail());
        assert_eq!(cell.emptied(), Cell::erased(StyleId(7)).with_link(LinkId(9)));
        assert_eq!(BLANK.char(), ' ');
    }
}
