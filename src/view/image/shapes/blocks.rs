//! Blocks, shades, and mosaics of smaller blocks: quadrants, sextants, octants, braille.

use super::super::canvas::{Canvas, edge};

/// Flat shades of a quarter, a half, three quarters: patterns would cost bytes and legibility.
pub const SHADES: [u8; 3] = [64, 128, 191];

/// Upper left, upper right, lower left, lower right of U+2596 to U+259F.
const QUADRANTS: [u32; 10] = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14];

pub fn draw(code: u32, canvas: &mut Canvas) {
    let (w, h) = (canvas.w, canvas.h);
    match code {
        0x2580 => canvas.rect((0, w), (0, edge(4, 8, h)), 255),
        0x2581..=0x2588 => {
            canvas.rect((0, w), (edge(8 - (code - 0x2580) as usize, 8, h), h), 255);
        }
        0x2589..=0x258f => {
            canvas.rect((0, edge(8 - (code - 0x2588) as usize, 8, w)), (0, h), 255);
        }
        0x2590 => canvas.rect((edge(4, 8, w), w), (0, h), 255),
        0x2591..=0x2593 => canvas.all(SHADES[(code - 0x2591) as usize]),
        0x2594 => canvas.rect((0, w), (0, edge(1, 8, h)), 255),
        0x2595 => canvas.rect((edge(7, 8, w), w), (0, h), 255),
        _ => mosaic(QUADRANTS[(code - 0x2596) as usize], 2, canvas),
    }
}

/// Two columns of blocks; bit 0 is the upper left one, bit 1 the one beside it.
fn mosaic(bits: u32, rows: usize, canvas: &mut Canvas) {
    let (w, h) = (canvas.w, canvas.h);
    for at in 0..2 * rows {
        if bits >> at & 1 == 1 {
            let (x, y) = (at % 2, at / 2);
            let (x, y) =
                ((edge(x, 2, w), edge(x + 1, 2, w)), (edge(y, rows, h), edge(y + 1, rows, h)));
            canvas.rect(x, y, 255);
        }
    }
}

/// All patterns in order but those that are blocks of their own: nothing, halves, all.
pub fn sextant(index: u32, canvas: &mut Canvas) {
    const ELSEWHERE: [u32; 4] = [0, 21, 42, 63];
    mosaic(nth_without(index, &ELSEWHERE), 3, canvas);
}

/// All patterns in order but quadrants, quarters, and the four corners.
pub fn octant(index: u32, canvas: &mut Canvas) {
    const OTHERS: [u32; 10] = [1, 2, 3, 0x14, 0x28, 0x3f, 0x40, 0x80, 0xc0, 0xfc];
    let quadrants = (0..16).map(|bits| {
        let quadrant = |n: u32, octants: u32| if bits >> n & 1 == 1 { octants } else { 0 };
        quadrant(0, 0x05) | quadrant(1, 0x0a) | quadrant(2, 0x50) | quadrant(3, 0xa0)
    });
    let elsewhere: Vec<u32> = quadrants.chain(OTHERS).collect();
    mosaic(nth_without(index, &elsewhere), 4, canvas);
}

fn nth_without(index: u32, elsewhere: &[u32]) -> u32 {
    (0..256).filter(|bits| !elsewhere.contains(bits)).nth(index as usize).unwrap_or(0)
}

/// Dots in two columns; the numbers go down the left column first, the lowest row comes last.
pub fn braille(bits: u32, canvas: &mut Canvas) {
    const PLACES: [(usize, usize); 8] =
        [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let (w, h) = (canvas.w, canvas.h);
    let size = ((w + 2) / 4).max(1);
    if bits == 0 {
        return;
    }
    for (bit, (x, y)) in PLACES.into_iter().enumerate() {
        if bits >> bit & 1 == 1 {
            let left = edge(2 * x + 1, 4, w).saturating_sub(size.div_ceil(2));
            let top = edge(2 * y + 1, 8, h).saturating_sub(size.div_ceil(2));
            canvas.rect((left, left + size), (top, top + size), 255);
        }
    }
}
