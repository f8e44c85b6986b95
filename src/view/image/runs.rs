//! How the lines of a form are told in the fewest bits: pixels, and repetitions of what stands
//! beside and above them.

use super::deflate::MIN_MATCH;
use super::ramps::Class;

/// Columns to the left that are looked at, and to the left and right in the lines above.
const BEFORE: usize = 12;
const ASIDE: usize = 3;
/// Bits that things take, about. Backgrounds are seen more often than letters.
const PAPER: u32 = 5;
const INK: u32 = 8;
const LENGTH: u32 = 9;
const FAR: u32 = 11;

/// What comes next in a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Pixel(Class),
    Again(Again),
}

/// Pixels that stood before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Again {
    pub length: u8,
    /// So many lines above, and so many columns to the left of here.
    pub up: u8,
    pub left: i8,
}

impl Again {
    /// How far before in the stream, where lines and pixels have so many bytes.
    pub fn distance(self, stride: usize, channels: usize) -> usize {
        let left = isize::from(self.left) * channels as isize;
        (usize::from(self.up) * stride).wrapping_add_signed(left)
    }
}

/// The pixels of a form, and how they are packed.
pub struct Grid<'a> {
    pub classes: &'a [Class],
    pub w: usize,
    /// Bytes of a pixel.
    pub channels: usize,
    /// Lines above that are in reach.
    pub reach: usize,
}

impl Grid<'_> {
    fn line(&self, y: usize) -> &[Class] {
        &self.classes[y * self.w..][..self.w]
    }

    /// Adds the cheapest steps of a line; they are found from its end on.
    pub fn tell(&self, y: usize, steps: &mut Vec<Step>) {
        let line = self.line(y);
        let mut best: Vec<(u32, Step)> = vec![(0, Step::Pixel(0)); self.w + 1];
        for at in (0..self.w).rev() {
            let byte = if line[at] == 0 { PAPER } else { INK };
            let pixel = byte * self.channels as u32;
            let mut cheapest = (pixel + best[at + 1].0, Step::Pixel(line[at]));
            self.sources(at, y, |again, cost| {
                let cost = cost + best[at + usize::from(again.length)].0;
                if cost < cheapest.0 {
                    cheapest = (cost, Step::Again(again));
                }
            });
            best[at] = cheapest;
        }
        let mut at = 0;
        while at < self.w {
            steps.push(best[at].1);
            at += match best[at].1 {
                Step::Pixel(_) => 1,
                Step::Again(again) => usize::from(again.length),
            };
        }
    }

    /// All that can be repeated at a place, as far as it goes, and what it costs.
    fn sources(&self, at: usize, y: usize, mut each: impl FnMut(Again, u32)) {
        let rest = &self.line(y)[at..];
        let least = MIN_MATCH.div_ceil(self.channels);
        let mut look = |up: usize, from: usize, cost: u32| {
            let source = &self.line(y - up)[from..];
            let length = rest.iter().zip(source).take_while(|(a, b)| a == b).count();
            if length >= least {
                let left = (at as isize - from as isize) as i8;
                each(Again { length: length as u8, up: up as u8, left }, cost);
            }
        };
        // An index is so short that only a few places pay.
        let (before, aside) = if self.channels == 1 { (1, 0) } else { (BEFORE, ASIDE) };
        for from in (at.saturating_sub(before)..at).rev() {
            let distance = ((at - from) * self.channels) as u32;
            look(0, from, LENGTH + distance.ilog2());
        }
        for up in 1..=y.min(self.reach) {
            for from in at.saturating_sub(aside)..=(at + aside).min(self.w - 1) {
                look(up, from, LENGTH + FAR);
            }
        }
    }
}
