//! Colours of a picture: each pair of letter and background has a ramp of shades between them.

use std::collections::HashMap;

use super::glyphs::SHADES;
use crate::term::Rgb;
use crate::view::look::Look;
use crate::view::theme::mix;

/// Colours of an indexed picture.
const MAX_COLORS: usize = 256;

/// What a pixel is made of: an index in the palette, or red, green and blue.
pub trait Pixel: Copy + Default + PartialEq {
    const CHANNELS: usize;
    fn bytes(row: &[Self]) -> &[u8];
}

impl Pixel for u8 {
    const CHANNELS: usize = 1;

    fn bytes(row: &[u8]) -> &[u8] {
        row
    }
}

impl Pixel for [u8; 3] {
    const CHANNELS: usize = 3;

    fn bytes(row: &[[u8; 3]]) -> &[u8] {
        row.as_flattened()
    }
}

/// Gives out pixels for colours.
pub trait Paints {
    type Pixel: Pixel;

    /// None when there are more colours than the picture can have.
    fn pixel(&mut self, color: Rgb) -> Option<Self::Pixel>;

    /// Shades that are told apart.
    fn shades(&self) -> usize;

    /// All bytes that pixels are made of are less.
    fn values(&self) -> usize;
}

/// A palette that only grows, so that what was drawn before keeps its meaning.
pub struct Palette {
    pub colors: Vec<Rgb>,
    known: HashMap<(u8, u8, u8), u8>,
    shades: usize,
}

impl Palette {
    pub fn new(shades: usize) -> Palette {
        Palette { colors: Vec::new(), known: HashMap::new(), shades }
    }
}

impl Paints for Palette {
    type Pixel = u8;

    fn pixel(&mut self, color: Rgb) -> Option<u8> {
        let Rgb(r, g, b) = color;
        if let Some(index) = self.known.get(&(r, g, b)) {
            return Some(*index);
        }
        if self.colors.len() >= MAX_COLORS {
            return None;
        }
        let index = self.colors.len() as u8;
        self.colors.push(color);
        self.known.insert((r, g, b), index);
        Some(index)
    }

    fn shades(&self) -> usize {
        self.shades
    }

    fn values(&self) -> usize {
        self.colors.len()
    }
}

/// Every colour there is.
pub struct AllColors;

impl Paints for AllColors {
    type Pixel = [u8; 3];

    fn pixel(&mut self, Rgb(r, g, b): Rgb) -> Option<[u8; 3]> {
        Some([r, g, b])
    }

    fn shades(&self) -> usize {
        SHADES
    }

    fn values(&self) -> usize {
        256
    }
}

/// What a pixel of a cell shows, as long as it has no colour: so much of the letter, the line under
/// it, or the cursor.
pub type Class = u8;
pub const LINE: Class = SHADES as Class;
pub const CURSOR: Class = LINE + 1;
pub const CLASSES: usize = SHADES + 2;

/// A look in pixels.
#[derive(Clone, Debug)]
pub struct Paint<P> {
    pub look: Look,
    /// Of each class; from the background to the letter there are as many as shades are told apart.
    pub pixels: [P; CLASSES],
}

impl<P: Pixel> Paint<P> {
    pub fn new(look: Look, paints: &mut impl Paints<Pixel = P>) -> Option<Paint<P>> {
        let steps = paints.shades() - 1;
        let mut pixels = [P::default(); CLASSES];
        for (step, pixel) in pixels.iter_mut().enumerate().take(steps + 1) {
            *pixel = paints.pixel(mix(look.fg, look.bg, (step * 255 / steps) as u8))?;
        }
        pixels[usize::from(LINE)] = paints.pixel(look.line)?;
        let cursor = look.cursor.map_or(look.fg, |(_, color)| color);
        pixels[usize::from(CURSOR)] = paints.pixel(cursor)?;
        Some(Paint { look, pixels })
    }
}

/// The class of each shade of a mask, where so many shades are told apart.
pub fn classes(shades: usize) -> [Class; SHADES] {
    std::array::from_fn(|shade| ((shade * (shades - 1) + SHADES / 2 - 1) / (SHADES - 1)) as Class)
}
