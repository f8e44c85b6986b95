//! One cell of text as pixels that have no colours yet.

use super::Cell;
use super::glyphs::{Glyphs, Letter, Mask, SHADES};
use super::ramps::{CURSOR, Class, LINE};
use crate::term::{CursorShape, LineSize, Underline};
use crate::view::look::Look;
use crate::view::sheet::{SheetRow, Tile};

/// The pixels of a cell, or of two, line by line.
#[derive(Default)]
pub struct Band {
    pub w: usize,
    pub h: usize,
    pub pixels: Vec<Class>,
}

/// How cells are drawn that have one size.
pub struct Pen {
    pub cell: Cell,
    /// The class of each shade.
    pub classes: [Class; SHADES],
}

impl Pen {
    /// Draws one tile of a row; the band becomes as wide as it.
    pub fn draw(
        &self,
        row: &SheetRow,
        at: usize,
        look: &Look,
        glyphs: &mut Glyphs,
        band: &mut Band,
    ) {
        let (tile, cell) = (row.tiles[at], self.cell);
        let columns = usize::from(tile.width) / tile.size.columns();
        (band.w, band.h) = (columns * cell.w, cell.h);
        band.pixels.resize(band.w * band.h, 0);
        let face = u8::from(look.bold) | u8::from(look.italic) << 1;
        let ch = if look.hidden { ' ' } else { tile.ch };
        let letter = Letter { ch, face, wide: columns == 2 };
        if row.has_joined(at) && !look.hidden {
            self.blit(&glyphs.cluster(letter, row.joined_at(at)), band);
        } else {
            self.blit(glyphs.get(letter), band);
        }
        if is_decorated(look) {
            self.decorate(look, phase(look, cell, tile, at), band);
        }
        if tile.size != LineSize::Single {
            band.double(tile.size);
        }
    }

    fn blit(&self, mask: &Mask, band: &mut Band) {
        for (pixel, shade) in band.pixels.iter_mut().zip(&mask.shades) {
            *pixel = self.classes[usize::from(*shade & 15)];
        }
    }

    /// Lines under, over and through a cell, and a cursor that is a line.
    fn decorate(&self, look: &Look, phase: usize, band: &mut Band) {
        let (x, cell) = ((0, band.w), self.cell);
        let line = super::canvas::light(cell.w);
        let letter = self.classes[SHADES - 1];
        if !look.hidden {
            underline(look, cell, phase, band);
        }
        if look.strike && !look.hidden {
            let y = cell.h * 11 / 20;
            band.fill(x, (y, y + line), letter);
        }
        if look.overline && !look.hidden {
            band.fill(x, (0, line), letter);
        }
        match look.cursor {
            Some((CursorShape::Underline, _)) => {
                band.fill(x, (cell.h - (2 * line).min(cell.h), cell.h), CURSOR);
            }
            Some((CursorShape::Bar, _)) => {
                band.fill((0, (cell.w / 5).max(1)), (0, cell.h), CURSOR);
            }
            _ => {}
        }
    }
}

/// How far into a dot and the gap after it a tile begins: dots go on evenly from cell to cell.
pub fn phase(look: &Look, cell: Cell, tile: Tile, at: usize) -> usize {
    let at = at / tile.size.columns();
    let dotted =
        look.underline == Underline::Dotted || (look.link && look.underline == Underline::None);
    if dotted { at * cell.w % (2 * super::canvas::light(cell.w)) } else { 0 }
}

fn is_decorated(look: &Look) -> bool {
    let lines = look.underline != Underline::None || look.strike || look.overline;
    lines || look.link || look.cursor.is_some()
}

fn underline(look: &Look, cell: Cell, phase: usize, band: &mut Band) {
    let (x, ink) = ((0, band.w), LINE);
    let line = super::canvas::light(cell.w);
    // Under most letters' feet, with room for the lines that need it.
    let y = (cell.h * 17 / 20).min(cell.h - line);
    match look.underline {
        // A link shows even where its program did not underline it.
        Underline::None if look.link => band.dashes(phase, (y, y + line), (line, line), ink),
        Underline::None => {}
        Underline::Single => band.fill(x, (y, y + line), ink),
        Underline::Double => {
            let second = (y + 2 * line).min(cell.h - line);
            band.fill(x, (second.saturating_sub(2 * line), second - line), ink);
            band.fill(x, (second, second + line), ink);
        }
        Underline::Curly => band.wave(y, cell, ink),
        Underline::Dotted => band.dashes(phase, (y, y + line), (line, line), ink),
        Underline::Dashed => {
            let dash = (cell.w * 3 / 5).max(1);
            band.dashes(0, (y, y + line), (dash, cell.w - dash), ink);
        }
    }
}

impl Band {
    fn fill(&mut self, x: (usize, usize), y: (usize, usize), ink: Class) {
        for row in y.0..y.1.min(self.h) {
            self.pixels[row * self.w + x.0..row * self.w + x.1.min(self.w)].fill(ink);
        }
    }

    /// Twice as wide; of what is twice as high too, the upper or the lower half.
    fn double(&mut self, size: LineSize) {
        let (w, h) = (self.w, self.h);
        let from = |y: usize| match size {
            LineSize::DoubleTop => y / 2,
            LineSize::DoubleBottom => (h + y) / 2,
            LineSize::Single | LineSize::DoubleWidth => y,
        };
        let pixel = |at: usize| self.pixels[from(at / (2 * w)) * w + at % (2 * w) / 2];
        self.pixels = (0..2 * w * h).map(pixel).collect();
        self.w = 2 * w;
    }

    /// Dashes, the first of them begun `phase` pixels before.
    fn dashes(&mut self, phase: usize, y: (usize, usize), (on, off): (usize, usize), ink: Class) {
        for at in (0..self.w).filter(|at| (at + phase) % (on + off).max(1) < on) {
            self.fill((at, at + 1), y, ink);
        }
    }

    /// A wave, one turn a cell, in whole pixels.
    fn wave(&mut self, y: usize, cell: Cell, ink: Class) {
        let line = super::canvas::light(cell.w);
        let height = (cell.h / 10).max(1);
        let top = y.min(cell.h.saturating_sub(line + 2 * height)) as f32;
        for at in 0..self.w {
            let turn = (at as f32 + 0.5) / cell.w as f32 * std::f32::consts::TAU;
            let middle = top + height as f32 * (1.0 - turn.sin());
            let start = middle.round() as usize;
            self.fill((at, at + 1), (start, start + line), ink);
        }
    }
}
