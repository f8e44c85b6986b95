//! Bitmaps for whatever the letters' font has not: GNU Unifont, packed. fonts/README.md tells how.

use std::io::Read;
use std::sync::LazyLock;

use super::canvas::Canvas;
use super::font::lift;

static PACKED: &[u8] = include_bytes!("../../../fonts/unifont.z");

/// A bitmap's height, and the width of a narrow one.
const HEIGHT: usize = 16;
const NARROW: usize = 8;

struct Run {
    first: u32,
    count: u32,
    bytes: usize,
    /// Where its first bitmap lies.
    offset: usize,
}

struct Bitmaps {
    raw: Vec<u8>,
    runs: Vec<Run>,
}

static BITMAPS: LazyLock<Bitmaps> =
    LazyLock::new(|| unpack().unwrap_or_else(|| Bitmaps { raw: Vec::new(), runs: Vec::new() }));

fn unpack() -> Option<Bitmaps> {
    let (length, packed) = PACKED.split_at_checked(4)?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let mut raw = Vec::with_capacity(length);
    flate2::read::ZlibDecoder::new(packed).take(length as u64).read_to_end(&mut raw).ok()?;
    const ENTRY: usize = 7;
    let count = u32::from_le_bytes(raw.get(..4)?.try_into().ok()?) as usize;
    let table = raw.get(4..4 + count * ENTRY)?;
    let mut offset = 4 + table.len();
    let mut runs = Vec::with_capacity(count);
    for entry in table.chunks_exact(ENTRY) {
        let first = u32::from_le_bytes(entry[..4].try_into().ok()?);
        let count = u32::from(u16::from_le_bytes(entry[4..6].try_into().ok()?));
        let bytes = usize::from(entry[6]);
        runs.push(Run { first, count, bytes, offset });
        offset += count as usize * bytes;
    }
    Some(Bitmaps { raw, runs })
}

/// Rows of a character, one after another, the leftmost pixel in the highest bit.
fn bitmap(c: char) -> Option<&'static [u8]> {
    let bitmaps = &*BITMAPS;
    let code = u32::from(c);
    let after = bitmaps.runs.partition_point(|run| run.first <= code);
    let run = bitmaps.runs.get(after.checked_sub(1)?)?;
    let index = code - run.first;
    let start = run.offset + index as usize * run.bytes;
    if index < run.count { bitmaps.raw.get(start..start + run.bytes) } else { None }
}

/// Draws a character into the canvas, scaled to its cells; false if there is none.
pub fn draw(c: char, cell: (usize, usize), canvas: &mut Canvas) -> bool {
    let Some(rows) = bitmap(c) else { return false };
    let width = rows.len() / HEIGHT * NARROW;
    // Whole multiples stay sharp: one that nearly fills the cell is better than one that does.
    let whole = cell.0 / NARROW;
    let exact = whole > 0 && (cell.0 - whole * NARROW) * 10 < 3 * NARROW * whole;
    let (mut w, mut h) = (canvas.w, cell.1);
    if exact && whole * width <= canvas.w {
        (w, h) = (whole * width, whole * HEIGHT);
    } else if width == NARROW {
        w = cell.0;
    }
    let mut cover = scaled(rows, width, (w, h));
    lift(&mut cover);
    let at = ((canvas.w - w) as i32 / 2, (canvas.h as i32 - h as i32) / 2);
    canvas.overlay(at, (w, h), &cover);
    true
}

/// How much of each new pixel the old ones cover.
fn scaled(rows: &[u8], width: usize, (w, h): (usize, usize)) -> Vec<u8> {
    let bytes = rows.len() / HEIGHT;
    let bit = |x: usize, y: usize| rows[y * bytes + x / 8] >> (7 - x % 8) & 1 == 1;
    let mut out = Vec::with_capacity(w * h);
    for y in 0..h {
        for x in 0..w {
            let mut sum = 0;
            for (old_y, part_y) in parts(y, h, HEIGHT) {
                for (old_x, part_x) in parts(x, w, width) {
                    sum += if bit(old_x, old_y) { part_x * part_y } else { 0 };
                }
            }
            out.push((sum * 255 / (width * HEIGHT)) as u8);
        }
    }
    out
}

/// The old pixels under a new one and how much of each, in parts of the new size.
fn parts(at: usize, new: usize, old: usize) -> impl Iterator<Item = (usize, usize)> {
    let (from, to) = (at * old, (at + 1) * old);
    (from / new..to.div_ceil(new)).map(move |n| {
        let (start, end) = ((n * new).max(from), ((n + 1) * new).min(to));
        (n, end - start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_are_where_the_table_says() {
        let runs = &BITMAPS.runs;
        assert!(runs.windows(2).all(|pair| pair[0].first + pair[0].count <= pair[1].first));
        let last = runs.last().unwrap();
        assert_eq!(last.offset + last.count as usize * last.bytes, BITMAPS.raw.len());
        assert_eq!(bitmap('日').unwrap().len(), 32);
        assert_eq!(bitmap('é').unwrap().len(), 16);
        assert!(bitmap('😀').is_some() && bitmap('한').is_some() && bitmap('𝐀').is_some());
        assert!(bitmap('\u{10fffd}').is_none() && bitmap('\u{1b}').is_none());
    }

    #[test]
    fn scaling_keeps_full_and_empty_pixels() {
        for size in [(7, 14), (8, 16), (10, 20), (15, 30)] {
            assert!(scaled(&[0xff; 16], 8, size).iter().all(|v| *v == 255), "{size:?}");
            assert!(scaled(&[0; 16], 8, size).iter().all(|v| *v == 0));
        }
    }
}
