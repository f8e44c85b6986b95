//! Characters that are drawn by code: at every size their lines join and their blocks fill.

mod blocks;
mod boxes;
mod circles;
mod legacy;
mod powerline;

use super::canvas::Canvas;

/// Draws a character of these ranges; false for all others.
pub fn draw(c: char, canvas: &mut Canvas) -> bool {
    let code = u32::from(c);
    match code {
        0x2500..=0x257f => boxes::draw(code, canvas),
        0x2580..=0x259f => blocks::draw(code, canvas),
        0x2800..=0x28ff => blocks::braille(code - 0x2800, canvas),
        0x25c9 | 0x25cb | 0x25cf | 0x25d6 | 0x25d7 | 0x25dc..=0x25e5 => {
            circles::draw(code, canvas);
        }
        0xe0b0..=0xe0bf | 0xe0d2 | 0xe0d4 => powerline::draw(code, canvas),
        0xee00..=0xee0b => powerline::progress(code - 0xee00, canvas),
        0x1cd00..=0x1cde5 => blocks::octant(code - 0x1cd00, canvas),
        0x1fb00..=0x1fb3b => blocks::sextant(code - 0x1fb00, canvas),
        // U+1FB93 is not assigned.
        0x1fb3c..=0x1fb92 | 0x1fb94..=0x1fbae => legacy::draw(code, canvas),
        0x1fbce..=0x1fbef => legacy::newer(code, canvas),
        _ => return false,
    }
    true
}

/// A hollow box: here is a character that no font has. Never a blank.
pub fn missing(canvas: &mut Canvas) {
    let (w, h) = (canvas.w, canvas.h);
    let (left, right) = (edge_of(w, 7), w - edge_of(w, 7).min(w / 2));
    let (top, bottom) = (edge_of(h, 7), h - edge_of(h, 7).min(h / 2));
    canvas.rect((left, right), (top, bottom), 255);
    canvas.rect((left + 1, right.saturating_sub(1)), (top + 1, bottom.saturating_sub(1)), 0);
}

fn edge_of(size: usize, part: usize) -> usize {
    size / part
}

/// A lozenge: a character of a private range, an icon of some font that is not here.
pub fn private(canvas: &mut Canvas) {
    let (w, h) = (canvas.w as f32, canvas.h as f32);
    canvas.shape(|x, y| {
        let far = (x / w - 0.5).abs() / 0.42 + (y / h - 0.5).abs() / 0.3;
        (0.45..=1.0).contains(&far)
    });
}
