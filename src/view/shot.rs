//! A screenshot: what to show, how, and what comes out.

use super::export;
use super::image::{Cell, DEFAULT_SCALE, MAX_BYTES, MAX_PIXELS, MIN_SCALE, Renderer};
use super::sheet::{Manner, lay_out};
use super::theme::Theme;
use super::tokens::Tokens;
use crate::term::{Snapshot, Terminal};

/// What a screenshot can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Png,
    Svg,
    Html,
    Ansi,
    Text,
    Json,
}

/// Everything that is needed to make one, away from the terminal.
pub struct Order {
    /// Whose it is: the next one of the same will have rows in common.
    pub who: u64,
    pub snapshot: Snapshot,
    pub manner: Manner,
    pub format: Format,
    pub cell: Cell,
    pub scale: usize,
}

pub struct Picture {
    pub bytes: Vec<u8>,
    pub format: Format,
    pub cols: usize,
    pub rows: usize,
    pub gutter: usize,
    /// Of those that have pixels.
    pub pixels: Option<Pixels>,
    pub highlighted: Option<usize>,
    /// Absolute numbers of the first line and of the one after the last.
    pub first_line: u64,
    pub next_line: u64,
    pub stamp: u64,
}

pub struct Pixels {
    pub width: usize,
    pub height: usize,
    pub cell: Cell,
    pub scale: usize,
    pub tokens: Tokens,
}

impl Order {
    /// The screen as a picture, in the usual way and at the largest usual scale that is allowed.
    pub fn usual(who: u64, term: &Terminal) -> Order {
        let size = term.size();
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let scale = largest_scale(cols, rows, 0, DEFAULT_SCALE).unwrap_or(MIN_SCALE);
        let manner = Manner {
            cols: 0..cols,
            cursor: true,
            gutter: None,
            highlight: None,
            theme: Theme::default(),
            double: Format::Png.has_pixels(),
        };
        let (snapshot, cell) = (term.snapshot(0..size.rows), Cell::of_scale(scale, 0));
        Order { who, snapshot, manner, format: Format::Png, cell, scale }
    }

    /// Makes the picture; an error is a sentence about its size.
    pub fn take(&self, renderer: &mut Renderer) -> Result<Picture, String> {
        let sheet = lay_out(&self.snapshot, &self.manner);
        let (w, h) = (self.cell.w, self.cell.h);
        let bytes = match self.format {
            Format::Png => renderer.png(self.who, &sheet, self.cell),
            Format::Svg => export::svg(&sheet, (w, h)).into_bytes(),
            Format::Html => export::html(&sheet).into_bytes(),
            Format::Ansi => export::ansi(&sheet).into_bytes(),
            Format::Text => export::plain(&sheet).into_bytes(),
            Format::Json => export::json(&sheet, &self.snapshot),
        };
        fits(bytes.len())?;
        let (width, height) = ((sheet.gutter + sheet.cols) * w, sheet.rows.len() * h);
        let pixels = Pixels {
            width,
            height,
            cell: self.cell,
            scale: self.scale,
            tokens: Tokens::of(width, height),
        };
        let lines = &self.snapshot.rows;
        Ok(Picture {
            bytes,
            format: self.format,
            cols: sheet.cols,
            rows: sheet.rows.len(),
            gutter: sheet.gutter,
            pixels: self.format.has_pixels().then_some(pixels),
            highlighted: sheet.highlighted,
            first_line: lines.first().map_or(0, |row| row.line.0),
            next_line: lines.last().map_or(0, |row| row.line.0 + 1),
            stamp: self.snapshot.stamp,
        })
    }
}

impl Format {
    pub fn has_pixels(self) -> bool {
        matches!(self, Format::Png | Format::Svg)
    }
}

/// The largest scale at which so many cells are not too many pixels; None if there is none.
pub fn largest_scale(cols: usize, rows: usize, pad: usize, most: usize) -> Option<usize> {
    let fits = |scale: &usize| {
        let cell = Cell::of_scale(*scale, pad);
        cols * cell.w * rows * cell.h <= MAX_PIXELS
    };
    (MIN_SCALE..=most).rev().find(fits)
}

fn fits(bytes: usize) -> Result<(), String> {
    match bytes <= MAX_BYTES {
        true => Ok(()),
        false => Err(format!(
            "it takes {bytes} bytes, and {MAX_BYTES} are the most: show less of it, or smaller"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_as_many_bytes_as_it_may() {
        assert_eq!(fits(MAX_BYTES), Ok(()));
        assert!(fits(MAX_BYTES + 1).unwrap_err().contains("33554432 are the most"));
    }
}
