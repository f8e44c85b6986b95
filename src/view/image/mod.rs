//! A sheet as a picture: drawn at its final size, with few colours, packed row by row.

mod apng;
mod book;
mod canvas;
mod cells;
mod codes;
mod decode;
mod deflate;
mod film;
mod font;
mod forms;
mod gif;
mod glyphs;
mod huffman;
mod mixer;
mod png;
mod ramps;
mod raster;
mod rows;
mod runs;
mod search;
mod shapes;
mod strips;
mod unifont;

use super::sheet::Sheet;
pub use apng::Apng;
use book::Book;
pub use decode::Decoded;
pub use film::{Brush, Patch, Survey};
pub use gif::Gif;
use glyphs::Glyphs;

/// Pixels a picture may have.
pub const MAX_PIXELS: usize = 32 << 20;
/// Bytes a picture may take.
pub const MAX_BYTES: usize = 32 << 20;
/// Scales, in parts of a hundred: at 100 a cell is 10 by 20 pixels.
pub const MIN_SCALE: usize = 10;
pub const MAX_SCALE: usize = 400;
pub const DEFAULT_SCALE: usize = 66;
/// Pixels that may be added to a cell.
pub const MAX_PAD: usize = 32;

/// Terminals and sizes whose rows are remembered by one renderer.
const MAX_BOOKS: usize = 8;
/// Cell sizes whose letters are.
const MAX_SIZES: usize = 4;

/// Size of a cell in pixels, the padding included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    pub w: usize,
    pub h: usize,
    pad: usize,
}

impl Cell {
    /// A cell is twice as high as it is wide; padding is added to both.
    pub fn new(w: usize, pad: usize) -> Cell {
        Cell { w: w + pad, h: 2 * w + pad, pad }
    }

    /// Whole pixels, the nearest to the scale: 66 is 7 by 14.
    pub fn of_scale(scale: usize, pad: usize) -> Cell {
        Cell::new((scale + 5) / 10, pad)
    }

    /// Where letters are drawn; lines and blocks fill all of the cell.
    fn inner(self) -> (usize, usize) {
        (self.w - self.pad, self.h - self.pad)
    }
}

/// Draws pictures, one at a time, and remembers letters and rows for the next.
#[derive(Default)]
pub struct Renderer {
    /// The one used last comes last.
    books: Vec<Book>,
    glyphs: Vec<(Cell, Glyphs)>,
}

impl Renderer {
    /// The picture of a sheet as a PNG. `who` tells whose rows may be the same as before.
    pub fn png(&mut self, who: u64, sheet: &Sheet, cell: Cell) -> Vec<u8> {
        let glyphs = take_or(&mut self.glyphs, |(known, _)| *known == cell);
        let (_, mut glyphs) = glyphs.unwrap_or_else(|| (cell, Glyphs::new(cell)));
        let book = take_or(&mut self.books, |book| book.serves(who, cell));
        let mut book = book.unwrap_or_else(|| Book::new(who, cell));
        let picture = book.png(sheet, &mut glyphs);
        keep(&mut self.books, book, MAX_BOOKS);
        keep(&mut self.glyphs, (cell, glyphs), MAX_SIZES);
        picture
    }

    /// Draws without packing; to measure how the time is spent.
    pub fn draw_only(&mut self, sheet: &Sheet) {
        if let (Some(book), Some((_, glyphs))) = (self.books.last_mut(), self.glyphs.last_mut()) {
            book.draw_only(sheet, glyphs);
        }
    }

    /// Drops packed rows, keeping letters and colours; to measure what they save.
    pub fn forget_rows(&mut self) {
        self.books.iter_mut().for_each(Book::forget_rows);
    }

    /// Whether this renderer drew for `who` before.
    pub fn knows(&self, who: u64) -> bool {
        self.books.iter().any(|book| book.is_of(who))
    }
}

fn take_or<T>(list: &mut Vec<T>, wanted: impl Fn(&T) -> bool) -> Option<T> {
    let at = list.iter().position(wanted)?;
    Some(list.remove(at))
}

fn keep<T>(list: &mut Vec<T>, item: T, most: usize) {
    if list.len() >= most {
        list.remove(0);
    }
    list.push(item);
}
