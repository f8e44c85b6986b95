//! Character sets: ASCII, DEC line drawing and the United Kingdom's, in four slots.

use super::save::{Reader, Refused, Save, ensure, saved};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Charset {
    #[default]
    Ascii,
    LineDrawing,
    Uk,
}

const LINE_DRAWING: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
    '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl Charset {
    /// The set that `ESC (` and its like name by a final byte.
    pub fn named(byte: u8) -> Charset {
        match byte {
            b'0' | b'2' => Charset::LineDrawing,
            b'A' => Charset::Uk,
            _ => Charset::Ascii,
        }
    }

    pub fn map(self, c: char) -> char {
        match (self, c) {
            (Charset::LineDrawing, '_'..='~') => LINE_DRAWING[c as usize - '_' as usize],
            (Charset::Uk, '#') => '£',
            _ => c,
        }
    }
}

/// The four slots, which of them is in use, and one that is for the next character only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Charsets {
    slots: [Charset; 4],
    active: u8,
    single: Option<u8>,
}

impl Charsets {
    pub fn designate(&mut self, slot: u8, set: Charset) {
        self.slots[usize::from(slot & 3)] = set;
    }

    pub fn shift(&mut self, slot: u8) {
        self.active = slot & 3;
    }

    pub fn single_shift(&mut self, slot: u8) {
        self.single = Some(slot & 3);
    }

    pub fn slots(&self) -> [Charset; 4] {
        self.slots
    }

    pub fn active(&self) -> usize {
        usize::from(self.active)
    }

    /// True when characters print as they are.
    #[inline]
    pub fn is_ascii(&self) -> bool {
        self.single.is_none() && self.slots[usize::from(self.active)] == Charset::Ascii
    }

    pub fn map(&mut self, c: char) -> char {
        let slot = self.single.take().unwrap_or(self.active);
        self.slots[usize::from(slot)].map(c)
    }
}

saved!(
    enum Charset {
        Ascii,
        LineDrawing,
        Uk,
    }
);

impl Save for Charsets {
    fn put(&self, out: &mut Vec<u8>) {
        let Charsets { slots, active, single } = self;
        slots.put(out);
        active.put(out);
        single.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let sets = Charsets { slots: from.take()?, active: from.take()?, single: from.take()? };
        ensure(sets.active < 4 && sets.single.unwrap_or(0) < 4, "a character set")?;
        Ok(sets)
    }
}
