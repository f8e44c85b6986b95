//! How large a picture becomes: as asked for, or as large as a budget of tokens allows.

use crate::command::within;
use crate::mux::limits::MAX_TOKENS;
use crate::view::image::{Cell, DEFAULT_SCALE, MAX_PIXELS, MAX_SCALE, MIN_SCALE};
use crate::view::shot::largest_scale;
use crate::view::tokens::Tokens;
use crate::wire::Failure;

/// Below this a vision model does not read what it sees.
const LEGIBLE_SCALE: usize = 50;
/// Above this it does not read better.
const GOOD_SCALE: usize = 100;

pub struct Wish {
    pub scale: Option<i64>,
    pub max_tokens: Option<i64>,
    pub pad: usize,
}

impl Wish {
    /// The size of a cell, and the scale that it is.
    pub fn size(&self, cols: usize, rows: usize, pixels: bool) -> Result<(Cell, usize), Failure> {
        let asked = self.scale.map(|scale| {
            within("scale", scale, MIN_SCALE as u64, MAX_SCALE as u64).map(|scale| scale as usize)
        });
        let asked = asked.transpose()?;
        let budget = self.max_tokens.map(|max| within("max_tokens", max, 1, MAX_TOKENS));
        let scale = match budget.transpose()? {
            Some(budget) if pixels => self.within_budget(cols, rows, asked, budget as usize)?,
            _ => asked.unwrap_or(DEFAULT_SCALE),
        };
        let cell = Cell::of_scale(scale, self.pad);
        let count = cols * cell.w * rows * cell.h;
        if pixels && count > MAX_PIXELS {
            return Err(Failure::bad_value(self.too_large(cols, rows, count)));
        }
        Ok((cell, scale))
    }

    /// The largest whole cell that costs no more.
    fn within_budget(
        &self,
        cols: usize,
        rows: usize,
        asked: Option<usize>,
        budget: usize,
    ) -> Result<usize, Failure> {
        let top = asked.unwrap_or(GOOD_SCALE);
        let cost = |scale: usize| {
            let cell = Cell::of_scale(scale, self.pad);
            Tokens::of(cols * cell.w, rows * cell.h).most()
        };
        let whole = (LEGIBLE_SCALE..=top).rev().filter(|scale| *scale == top || scale % 10 == 0);
        let fits = |scale: &usize| cost(*scale) <= budget;
        whole.into_iter().find(fits).ok_or_else(|| {
            let least = LEGIBLE_SCALE.min(top);
            Failure::bad_value(format!(
                "max_tokens: at scale {least}, below which nothing can be read, it takes {} \
                 tokens: allow more, or show less with rows, lines or region",
                cost(least)
            ))
        })
    }

    fn too_large(&self, cols: usize, rows: usize, count: usize) -> String {
        let what = format!("scale: {cols}x{rows} cells would be {count} pixels");
        match largest_scale(cols, rows, self.pad, MAX_SCALE) {
            Some(scale) => {
                format!("{what}, {MAX_PIXELS} are the most: the largest scale that fits is {scale}")
            }
            None => format!("{what}, {MAX_PIXELS} are the most: show less with rows or region"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(
        scale: Option<i64>,
        max_tokens: Option<i64>,
        cols: usize,
    ) -> Result<(usize, usize), String> {
        let wish = Wish { scale, max_tokens, pad: 0 };
        let (cell, scale) = wish.size(cols, 24, true).map_err(|failure| failure.error)?;
        Ok((cell.w, scale))
    }

    #[test]
    fn cells_are_whole_pixels() {
        assert_eq!(size(None, None, 80), Ok((7, 66)));
        assert_eq!(size(Some(100), None, 80), Ok((10, 100)));
        assert_eq!(size(Some(10), None, 80), Ok((1, 10)));
        assert_eq!(size(Some(400), None, 80), Ok((40, 400)));
        assert!(size(Some(9), None, 80).unwrap_err().contains("10 to 400"));
        assert!(size(Some(401), None, 80).unwrap_err().contains("10 to 400"));
    }

    #[test]
    fn a_budget_picks_the_largest_that_fits() {
        assert_eq!(size(None, Some(240), 80), Ok((7, 70)));
        assert_eq!(size(None, Some(239), 80), Ok((6, 60)));
        assert_eq!(size(None, Some(100_000), 80), Ok((10, 100)));
        assert_eq!(size(Some(66), Some(100_000), 80), Ok((7, 66)));
        assert!(size(None, Some(50), 80).unwrap_err().contains("135 tokens"));
    }

    #[test]
    fn too_many_pixels_name_the_scale_that_fits() {
        let error = size(Some(400), None, 1024).unwrap_err();
        let scale: usize = error.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(size(Some(scale as i64), None, 1024).is_ok());
        assert!(size(Some(scale as i64 + 10), None, 1024).is_err());
    }
}
