//! The cells of a picture: each that differs is drawn once, and its lines are looked at once.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::mixer::Mixer;

/// A tile by its number among those that were drawn.
pub type TileId = u32;

pub struct Tiles {
    /// Bytes of a tile's line and of a pixel.
    pub pitch: usize,
    pub pixel: usize,
    /// Lines of a tile.
    pub height: usize,
    bytes: Vec<u8>,
    /// Whether a line is the same as the tile's line above it.
    same: Vec<bool>,
    /// Whether a line is of one colour.
    even: Vec<bool>,
    sums: Vec<Sums>,
    known: HashMap<u64, TileId, BuildHasherDefault<Mixer>>,
}

/// For the sum of a stream: bytes added up, and bytes times their distance from the line's end.
#[derive(Clone, Copy)]
struct Sums {
    plain: u32,
    weighted: u32,
}

impl Tiles {
    pub fn new(pitch: usize, pixel: usize, height: usize) -> Tiles {
        Tiles {
            pitch,
            pixel,
            height,
            bytes: Vec::new(),
            same: Vec::new(),
            even: Vec::new(),
            sums: Vec::new(),
            known: HashMap::default(),
        }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.same.clear();
        self.even.clear();
        self.sums.clear();
        self.known.clear();
    }

    pub fn known(&self, key: u64) -> Option<TileId> {
        self.known.get(&key).copied()
    }

    pub fn name(&mut self, key: u64, id: TileId) {
        self.known.insert(key, id);
    }

    /// Adds a tile; there are as many lines as a tile has.
    pub fn add<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) -> TileId {
        let id = self.count() as TileId;
        for (y, line) in lines.enumerate() {
            let above = &self.bytes[self.bytes.len() - if y > 0 { self.pitch } else { 0 }..];
            let same = y > 0 && above == line;
            let sums = self.sums.last().copied().filter(|_| same);
            self.bytes.extend_from_slice(line);
            self.same.push(same);
            self.even.push(line.windows(2).all(|two| two[0] == two[1]));
            self.sums.push(sums.unwrap_or_else(|| Sums::of(line)));
        }
        id
    }

    pub fn count(&self) -> usize {
        self.same.len() / self.height
    }

    /// A line by its number: the tile's, times the height, and how far below its top.
    pub fn line(&self, line: usize) -> &[u8] {
        &self.bytes[line * self.pitch..][..self.pitch]
    }

    /// Whether each line is the same as the tile's line above it.
    pub fn same(&self) -> &[bool] {
        &self.same
    }

    /// Whether each line is of one colour.
    pub fn even(&self) -> &[bool] {
        &self.even
    }

    /// The lines of a row of tiles, each after a zero: the pixels are as they are, without a filter.
    pub fn put_lines(&self, row: &[TileId], raw: &mut Vec<u8>) {
        let stride = 1 + row.len() * self.pitch;
        let start = raw.len();
        raw.resize(start + self.height * stride, 0);
        for (y, line) in raw[start..].chunks_exact_mut(stride).enumerate() {
            for (place, tile) in line[1..].chunks_exact_mut(self.pitch).zip(row) {
                place.copy_from_slice(self.line(*tile as usize * self.height + y));
            }
        }
    }

    /// The lines of a row of tiles, one after another.
    pub fn put_pixels(&self, row: &[TileId], pixels: &mut Vec<u8>) {
        for y in 0..self.height {
            for tile in row {
                pixels.extend_from_slice(self.line(*tile as usize * self.height + y));
            }
        }
    }

    /// Length and sum (Adler-32) of a row of tiles, each line after a zero.
    pub fn sum(&self, row: &[TileId]) -> (usize, u32) {
        const PRIME: u64 = 65_521;
        let (mut a, mut b) = (1, 0);
        for y in 0..self.height {
            b += a;
            for tile in row {
                let sums = self.sums[*tile as usize * self.height + y];
                b += a * self.pitch as u64 + u64::from(sums.weighted);
                a += u64::from(sums.plain);
            }
            (a, b) = (a % PRIME, b % PRIME);
        }
        let length = self.height * (1 + row.len() * self.pitch);
        (length, (b << 16 | a) as u32)
    }
}

impl Sums {
    fn of(line: &[u8]) -> Sums {
        let (mut plain, mut weighted) = (0, 0);
        for byte in line {
            plain += u32::from(*byte);
            weighted += plain;
        }
        Sums { plain, weighted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_and_sums_add_up() {
        let mut tiles = Tiles::new(4, 1, 3);
        let first = tiles.add([&[1, 1, 1, 1][..], &[1, 1, 1, 1], &[9, 200, 0, 3]].into_iter());
        let second = tiles.add([&[1, 1, 1, 1][..], &[0, 2, 0, 2], &[7, 7, 7, 7]].into_iter());
        assert_eq!(tiles.same(), [false, true, false, false, false, false]);
        let row = [second, first];
        let raw =
            [0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1, 0, 7, 7, 7, 7, 9, 200, 0, 3];
        assert_eq!(tiles.sum(&row), (raw.len(), simd_adler32::adler32(&&raw[..])));
    }
}
