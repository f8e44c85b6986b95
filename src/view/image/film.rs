//! Pictures that follow one another: only the rows that changed are drawn again.

use std::collections::HashMap;

use super::Cell;
use super::book::Book;
use super::glyphs::Glyphs;
use super::rows;
use crate::view::look::Look;
use crate::view::sheet::Sheet;

/// With more looks than this no palette is tried.
const MANY_LOOKS: usize = 4096;

/// All looks that the pictures will have.
#[derive(Default)]
pub struct Survey {
    looks: HashMap<(u64, u64), Look>,
}

impl Survey {
    pub fn add(&mut self, sheet: &Sheet) {
        if self.looks.len() <= MANY_LOOKS {
            self.looks.extend(sheet.looks().map(|look| (look.key(), look)));
        }
    }
}

/// Draws what differs from the picture before.
pub struct Brush {
    book: Book,
    glyphs: Glyphs,
    cell: Cell,
    /// What each row looks like that was drawn last.
    shown: Vec<Box<[u64]>>,
}

/// Lines of pixels, over the whole width, that replace others.
pub struct Patch {
    pub top: usize,
    pub height: usize,
    pub pixels: Vec<u8>,
}

impl Brush {
    pub fn new(cell: Cell, survey: &Survey) -> Brush {
        let looks: Vec<_> = survey.looks.values().copied().collect();
        let book = Book::of_looks(cell, (looks.len() <= MANY_LOOKS).then_some(&looks));
        Brush { book, glyphs: Glyphs::new(cell), cell, shown: Vec::new() }
    }

    /// Red, green and blue of each index; None if the pixels are colours themselves.
    pub fn palette(&self) -> Option<Vec<u8>> {
        self.book.palette()
    }

    /// The next picture is the first one.
    pub fn forget(&mut self) {
        self.shown.clear();
    }

    /// From the first to the last row that changed; None if nothing has.
    pub fn patch(&mut self, sheet: &Sheet) -> Option<Patch> {
        let ids = self.book.ids(sheet);
        let mut key = Vec::new();
        let mut changed: Option<(usize, usize)> = None;
        for (y, row) in sheet.rows.iter().enumerate() {
            rows::make_key(row, &ids, &mut key);
            match self.shown.get_mut(y) {
                Some(shown) if **shown == *key => continue,
                Some(shown) => *shown = key.as_slice().into(),
                None => self.shown.push(key.as_slice().into()),
            }
            changed = Some((changed.map_or(y, |(first, _)| first), y));
        }
        let (first, last) = changed?;
        let pixels = self.book.pixels(&sheet.rows[first..=last], &ids, &mut self.glyphs);
        let (top, height) = (first * self.cell.h, (last + 1 - first) * self.cell.h);
        Some(Patch { top, height, pixels })
    }
}
