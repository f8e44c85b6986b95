//! Letters from outlines. The only file that knows how: fontdue's parser has no maintainer, and
//! gets to see nothing but our own four faces.

use std::sync::LazyLock;

use fontdue::{Font, FontSettings};

use super::canvas::Canvas;

/// Width of a letter as part of its size: letters fill their cells. Sizes at which an x ends on a
/// whole pixel look sharper and are read worse, being smaller.
const ADVANCE: f32 = 0.6;
/// Part of the cell above the base line.
const BASE: f32 = 0.775;
/// Size the outlines are cut into curves for; no larger one is drawn much.
const CURVES: f32 = 32.0;
/// What thin strokes cover is raised by this power: small letters read better for it.
const LIFT: f32 = 0.65;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Face {
    pub bold: bool,
    pub italic: bool,
}

impl Face {
    pub fn index(self) -> usize {
        usize::from(self.bold) | usize::from(self.italic) << 1
    }
}

/// A face takes milliseconds to load: each at its first use.
static FACES: [LazyLock<Option<Font>>; 4] = [
    LazyLock::new(|| load(include_bytes!("../../../fonts/JetBrainsMono-Regular.ttf"))),
    LazyLock::new(|| load(include_bytes!("../../../fonts/JetBrainsMono-Bold.ttf"))),
    LazyLock::new(|| load(include_bytes!("../../../fonts/JetBrainsMono-Italic.ttf"))),
    LazyLock::new(|| load(include_bytes!("../../../fonts/JetBrainsMono-BoldItalic.ttf"))),
];

fn load(bytes: &[u8]) -> Option<Font> {
    let settings = FontSettings { scale: CURVES, load_substitutions: false, ..Default::default() };
    Font::from_bytes(bytes, settings).ok()
}

/// The face itself, or the regular one if that has a letter which the face has not.
fn face_with(c: char, face: Face) -> Option<&'static Font> {
    let faces = [face.index(), 0].map(|index| FACES[index].as_ref());
    faces.into_iter().flatten().find(|font| font.lookup_glyph_index(c) != 0)
}

/// Draws a letter into a cell of `cell` pixels in the middle of the canvas; false if there is none.
pub fn draw(c: char, face: Face, cell: (usize, usize), canvas: &mut Canvas) -> bool {
    let Some(font) = face_with(c, face) else { return false };
    let size = cell.0 as f32 / ADVANCE;
    let (metrics, thirds) = font.rasterize_subpixel(c, size);
    if metrics.width == 0 {
        return false;
    }
    let (width, mut cover) = sharpest(&thirds, metrics.width);
    lift(&mut cover);
    // Letters stand in the middle of their cell; marks that join another letter have no width.
    let room = canvas.w as f32 - size * ADVANCE;
    let origin = (room / 2.0).round() as i32 + mark_shift(metrics.advance_width, size);
    let base = (cell.1 as f32 * BASE).round() as i32 + (canvas.h - cell.1) as i32 / 2;
    // What would hang out of the cell is moved in: it must be seen.
    let lowest = (canvas.h as i32 - metrics.height as i32).max(0);
    let top = (base - metrics.ymin - metrics.height as i32).clamp(0, lowest);
    let left = origin + metrics.xmin - 1;
    if left >= canvas.w as i32 || left + width as i32 <= 0 {
        // The font has it, but beside the cell.
        return false;
    }
    canvas.overlay((left, top), (width, metrics.height), &cover);
    true
}

/// The letter moved by a third of a pixel to the left, to the right, or not: wherever its strokes
/// cover whole pixels best. One pixel wider on each side.
fn sharpest(thirds: &[u8], width: usize) -> (usize, Vec<u8>) {
    let moved = [2, 4, 3].map(|by| {
        let row = |row: &[u8]| {
            let at =
                |n: usize| n.checked_sub(6).and_then(|n| row.get(n)).map_or(0, |v| u32::from(*v));
            let pixel =
                |x: usize| ((at(3 * x + by) + at(3 * x + by + 1) + at(3 * x + by + 2)) / 3) as u8;
            (0..width + 2).map(pixel).collect::<Vec<u8>>()
        };
        thirds.chunks_exact(3 * width).flat_map(row).collect::<Vec<u8>>()
    });
    let sharpness =
        |cover: &Vec<u8>| cover.iter().map(|v| u64::from(*v) * u64::from(*v)).sum::<u64>();
    let best = moved.into_iter().max_by_key(sharpness).unwrap_or_default();
    (width + 2, best)
}

/// A mark without width is drawn to the left of where it stands.
fn mark_shift(advance: f32, size: f32) -> i32 {
    if advance == 0.0 { (size * ADVANCE).round() as i32 } else { 0 }
}

/// See `LIFT`.
pub fn lift(cover: &mut [u8]) {
    static TABLE: LazyLock<[u8; 256]> = LazyLock::new(|| {
        std::array::from_fn(|n| ((n as f32 / 255.0).powf(LIFT) * 255.0).round() as u8)
    });
    let table = &*TABLE;
    cover.iter_mut().for_each(|value| *value = table[usize::from(*value)]);
}
