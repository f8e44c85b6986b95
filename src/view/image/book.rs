//! The pictures of one terminal: which colours they have, and what is remembered of them.

use super::Cell;
use super::glyphs::Glyphs;
use super::png;
use super::ramps::{AllColors, Palette};
use super::rows::Rows;
use crate::view::look::Look;
use crate::view::sheet::{Sheet, SheetRow};

/// Shades of a colour pair, tried in this order until the palette holds all pairs.
const SHADE_STEPS: [usize; 3] = [8, 6, 4];
/// With more looks than this a palette is not tried again.
const FEW_LOOKS: usize = 128;

pub struct Book {
    who: u64,
    cell: Cell,
    ink: Ink,
}

/// Indexed as long as 256 colours do.
enum Ink {
    Indexed(Rows<Palette>),
    Full(Rows<AllColors>),
}

impl Book {
    pub fn new(who: u64, cell: Cell) -> Book {
        Book { who, cell, ink: Ink::Indexed(Rows::new(Palette::new(SHADE_STEPS[0]), cell)) }
    }

    /// For pictures that follow one another and have these looks and no others; with all colours
    /// if there are too many to be named.
    pub fn of_looks(cell: Cell, looks: Option<&[Look]>) -> Book {
        let mut book = Book::new(0, cell);
        for (looks, shades) in looks.iter().flat_map(|looks| SHADE_STEPS.map(|n| (looks, n))) {
            let mut rows = Rows::new(Palette::new(shades), cell);
            if rows.learn(looks.iter().copied()).is_some() {
                book.ink = Ink::Indexed(rows);
                return book;
            }
        }
        book.ink = Ink::Full(Rows::new(AllColors, cell));
        book
    }

    /// The place of each ink's look, the colours staying as they are.
    pub fn ids(&mut self, sheet: &Sheet) -> Vec<u32> {
        let known = match &mut self.ink {
            Ink::Indexed(rows) => rows.learn(sheet.looks()),
            Ink::Full(rows) => rows.learn(sheet.looks()),
        };
        known.unwrap_or_default()
    }

    /// The pixels of rows, line by line.
    pub fn pixels(&mut self, rows: &[SheetRow], ids: &[u32], glyphs: &mut Glyphs) -> Vec<u8> {
        match &mut self.ink {
            Ink::Indexed(ink) => ink.pixels(rows, ids, glyphs),
            Ink::Full(ink) => ink.pixels(rows, ids, glyphs),
        }
    }

    pub fn serves(&self, who: u64, cell: Cell) -> bool {
        self.who == who && self.cell == cell
    }

    pub fn is_of(&self, who: u64) -> bool {
        self.who == who
    }

    pub fn png(&mut self, sheet: &Sheet, glyphs: &mut Glyphs) -> Vec<u8> {
        let ids = self.choose_colors(sheet);
        let width = (sheet.gutter + sheet.cols) * self.cell.w;
        let height = sheet.rows.len() * self.cell.h;
        let head = png::Head { width, height, palette: self.palette() };
        match &mut self.ink {
            Ink::Indexed(rows) => rows.png(sheet, &ids, glyphs, head),
            Ink::Full(rows) => rows.png(sheet, &ids, glyphs, head),
        }
    }

    pub fn draw_only(&mut self, sheet: &Sheet, glyphs: &mut Glyphs) {
        let ids = self.choose_colors(sheet);
        match &mut self.ink {
            Ink::Indexed(rows) => rows.draw_only(sheet, &ids, glyphs),
            Ink::Full(rows) => rows.draw_only(sheet, &ids, glyphs),
        }
    }

    pub fn forget_rows(&mut self) {
        match &mut self.ink {
            Ink::Indexed(rows) => rows.forget(),
            Ink::Full(rows) => rows.forget(),
        }
    }

    /// Red, green and blue of each index; None if the pixels are colours themselves.
    pub fn palette(&self) -> Option<Vec<u8>> {
        match &self.ink {
            Ink::Indexed(rows) => {
                Some(rows.paints.colors.iter().flat_map(|c| [c.0, c.1, c.2]).collect())
            }
            Ink::Full(_) => None,
        }
    }

    /// Gives each look of the sheet its place, with fewer shades or all colours if need be.
    fn choose_colors(&mut self, sheet: &Sheet) -> Vec<u32> {
        let known = match &mut self.ink {
            Ink::Indexed(rows) => rows.learn(sheet.looks()),
            Ink::Full(rows) if sheet.inks.len() > FEW_LOOKS => rows.learn(sheet.looks()),
            Ink::Full(_) => None,
        };
        if let Some(ids) = known {
            return ids;
        }
        for shades in SHADE_STEPS {
            let mut rows = Rows::new(Palette::new(shades), self.cell);
            if let Some(ids) = rows.learn(sheet.looks()) {
                self.ink = Ink::Indexed(rows);
                return ids;
            }
        }
        if let Ink::Indexed(_) = self.ink {
            self.ink = Ink::Full(Rows::new(AllColors, self.cell));
        }
        self.ids(sheet)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::term::{Limits, Size, Terminal};
    use crate::view::sheet::{Manner, lay_out};
    use crate::view::theme::Theme;

    fn of_colors(count: u8) -> Sheet {
        let size = Size { cols: 80, rows: 4 };
        let mut term = Terminal::new(size, Limits { lines: 10, bytes: 1 << 16 });
        let text = (0..count).fold(String::new(), |mut text, n| {
            let _ = write!(text, "\x1b[38;5;{n}mx");
            text
        });
        term.feed(text.as_bytes(), &mut Vec::new());
        let (theme, cols) = (Theme::default(), 0..usize::from(size.cols));
        let manner =
            Manner { cols, cursor: false, gutter: None, highlight: None, theme, double: false };
        lay_out(&term.snapshot(0..size.rows), &manner)
    }

    #[test]
    fn rows_are_kept_with_few_colors_with_many_and_in_between() {
        let cell = Cell::of_scale(50, 0);
        for colors in [8, 40, 60, 84, 86, 100, 127, 129, 250] {
            let sheet = of_colors(colors);
            let mut book = Book::new(0, cell);
            book.png(&sheet, &mut Glyphs::new(cell));
            book.choose_colors(&sheet);
            let strips = match &book.ink {
                Ink::Indexed(rows) => rows.kept(),
                Ink::Full(rows) => rows.kept(),
            };
            assert!(strips > 0, "{colors}");
        }
    }
}
