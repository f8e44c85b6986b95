//! Blocks of a deflate stream (RFC 1951): tokens, the codes that suit them, and their bits.

use std::sync::LazyLock;

use super::huffman::{Bits, Codes, MAX_BITS, MAX_LENGTH_BITS};

pub const MIN_MATCH: usize = 3;
pub const MAX_MATCH: usize = 258;
pub const MAX_DISTANCE: usize = 32_768;

const END: usize = 256;
const LETTERS: usize = 286;
const DISTANCES: usize = 30;

/// First length and distance of each symbol; the extra bits tell how far beyond it.
const LENGTH_BASE: [u16; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
];
const DISTANCE_BASE: [u16; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];

fn length_symbol(length: usize) -> (usize, u32) {
    match length {
        258 => (28, 0),
        3..11 => (length - 3, 0),
        _ => {
            let bits = (length - 3).ilog2() - 2;
            (4 * bits as usize + 4 + ((length - 3) >> bits & 3), bits)
        }
    }
}

fn distance_symbol(distance: usize) -> (usize, u32) {
    match distance {
        1..5 => (distance - 1, 0),
        _ => {
            let bits = (distance - 1).ilog2() - 1;
            (2 * bits as usize + 2 + ((distance - 1) >> bits & 1), bits)
        }
    }
}

/// How often each symbol is needed.
#[derive(Clone)]
pub struct Counts {
    letters: [u32; LETTERS],
    distances: [u32; DISTANCES],
    /// Bits that tell lengths and distances besides their symbols.
    extra: usize,
}

impl Counts {
    /// Of so many blocks without anything in them.
    pub fn of_blocks(count: usize) -> Counts {
        let mut letters = [0; LETTERS];
        letters[END] = count as u32;
        Counts { letters, distances: [0; DISTANCES], extra: 0 }
    }

    /// Counts all once that may come: bytes less than `values`, and every repetition.
    pub fn each_once(&mut self, values: usize) {
        let (bytes, lengths) = self.letters.split_at_mut(END + 1);
        let all = bytes[..values].iter_mut().chain(lengths).chain(&mut self.distances);
        all.for_each(|count| *count += 1);
    }

    #[inline]
    pub fn byte(&mut self, byte: u8, times: u32) {
        self.letters[usize::from(byte)] += times;
    }

    #[inline]
    pub fn again(&mut self, length: usize, distance: usize, times: u32) {
        let (symbol, extra) = length_symbol(length);
        self.letters[257 + symbol] += times;
        self.extra += extra as usize * times as usize;
        let (symbol, extra) = distance_symbol(distance);
        self.distances[symbol] += times;
        self.extra += extra as usize * times as usize;
    }
}

/// What ends a stream of such blocks.
pub const LAST: [u8; 2] = [3, 0];

/// Ends a block and brings the stream to a whole byte, by an empty stored block.
pub fn align(bits: &mut Bits) {
    bits.put(0, 3);
    bits.whole();
    bits.put(0xffff_0000, 32);
}

/// The codes that need not be told.
pub static FIXED: LazyLock<Block> = LazyLock::new(Block::fixed);

/// A block's codes: its own, or the ones that need not be told.
#[derive(Clone)]
pub struct Block {
    letters: Codes,
    distances: Codes,
    header: Option<Header>,
}

/// The lengths of a block's own codes, packed in their turn.
#[derive(Clone)]
struct Header {
    /// Symbol, extra bits and how many.
    symbols: Vec<(usize, u32, u32)>,
    codes: Codes,
    letters: usize,
    distances: usize,
    order: usize,
}

impl Block {
    /// Codes that suit what was counted.
    pub fn own(counts: &Counts) -> Block {
        Block::within(counts, MAX_BITS, MAX_BITS)
    }

    /// Codes that suit what was counted, none of letters and distances longer than this.
    pub fn within(counts: &Counts, letters: usize, distances: usize) -> Block {
        let letters = Codes::best(&counts.letters, letters);
        let distances = Codes::best(&counts.distances, distances);
        let header = Some(Header::new(&letters, &distances));
        Block { letters, distances, header }
    }

    /// Bits that tokens so counted take, what is told about the codes included.
    pub fn cost(&self, counts: &Counts) -> usize {
        let told = self.header.as_ref().map_or(0, Header::cost);
        let tokens = self.letters.cost(&counts.letters) + self.distances.cost(&counts.distances);
        told + tokens + counts.extra
    }

    fn fixed() -> Block {
        let length = |n: usize| match n {
            144..256 => 9,
            256..280 => 7,
            _ => 8,
        };
        let letters = Codes::of((0..288).map(length).collect());
        Block { letters, distances: Codes::of(vec![5; DISTANCES]), header: None }
    }

    /// What stands at the beginning of a block that is not the last: its kind, its codes.
    pub fn begin(&self, bits: &mut Bits) {
        bits.put(0, 1);
        match &self.header {
            None => bits.put(1, 2),
            Some(header) => {
                bits.put(2, 2);
                header.write(bits);
            }
        }
    }

    pub fn end(&self, bits: &mut Bits) {
        let (code, count) = self.letters.of_symbol(END);
        bits.put(code, count);
    }

    #[inline]
    pub fn byte(&self, byte: u8) -> (u64, u32) {
        self.letters.of_symbol(byte.into())
    }

    /// Length and distance with their extra bits are 48 at most.
    #[inline]
    pub fn again(&self, length: usize, distance: usize) -> (u64, u32) {
        let (symbol, extra) = length_symbol(length);
        let (mut value, mut count) = self.letters.of_symbol(257 + symbol);
        value |= ((length - usize::from(LENGTH_BASE[symbol])) as u64) << count;
        count += extra;
        let (symbol, extra) = distance_symbol(distance);
        let (code, code_length) = self.distances.of_symbol(symbol);
        value |= code << count;
        count += code_length;
        value |= ((distance - usize::from(DISTANCE_BASE[symbol])) as u64) << count;
        (value, count + extra)
    }
}

/// The order in which the lengths of the codes for lengths are told.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

impl Header {
    fn new(letters: &Codes, distances: &Codes) -> Header {
        let used = |codes: &Codes, least: usize| {
            codes.lengths.iter().rposition(|length| *length > 0).map_or(0, |at| at + 1).max(least)
        };
        let (letter_count, distance_count) = (used(letters, 257), used(distances, 1));
        let lengths: Vec<u8> = letters.lengths[..letter_count]
            .iter()
            .chain(&distances.lengths[..distance_count])
            .copied()
            .collect();
        let symbols = run_lengths(&lengths);
        let mut counts = [0; ORDER.len()];
        symbols.iter().for_each(|(symbol, ..)| counts[*symbol] += 1);
        let codes = Codes::best(&counts, MAX_LENGTH_BITS);
        let order =
            ORDER.iter().rposition(|symbol| codes.lengths[*symbol] > 0).map_or(4, |at| at + 1);
        Header {
            symbols,
            codes,
            letters: letter_count,
            distances: distance_count,
            order: order.max(4),
        }
    }

    fn cost(&self) -> usize {
        let symbol = |(symbol, _, extra): &(usize, u32, u32)| {
            usize::from(self.codes.lengths[*symbol]) + *extra as usize
        };
        14 + 3 * self.order + self.symbols.iter().map(symbol).sum::<usize>()
    }

    fn write(&self, bits: &mut Bits) {
        bits.put((self.letters - 257) as u64, 5);
        bits.put((self.distances - 1) as u64, 5);
        bits.put((self.order - 4) as u64, 4);
        for symbol in &ORDER[..self.order] {
            bits.put(u64::from(self.codes.lengths[*symbol]), 3);
        }
        for (symbol, value, extra) in &self.symbols {
            self.codes.put(*symbol, bits);
            bits.put(u64::from(*value), *extra);
        }
    }
}

/// Lengths with their repetitions: 16 repeats the last, 17 and 18 are zeros.
fn run_lengths(lengths: &[u8]) -> Vec<(usize, u32, u32)> {
    let mut symbols = Vec::new();
    for run in lengths.chunk_by(|a, b| a == b) {
        let (length, mut left) = (usize::from(run[0]), run.len());
        if length > 0 {
            symbols.push((length, 0, 0));
            left -= 1;
        }
        while left >= 3 {
            let (symbol, least, most, extra) = match (length, left) {
                (0, 11..) => (18, 11, 138, 7),
                (0, _) => (17, 3, 10, 3),
                _ => (16, 3, 6, 2),
            };
            let count = left.min(most);
            symbols.push((symbol, (count - least) as u32, extra));
            left -= count;
        }
        symbols.extend(std::iter::repeat_n((length, 0, 0), left));
    }
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_agree_with_the_tables() {
        for length in 3..=MAX_MATCH {
            let (symbol, extra) = length_symbol(length);
            let over = length - usize::from(LENGTH_BASE[symbol]);
            assert!(over < 1 << extra, "{length}");
        }
        for distance in 1..=MAX_DISTANCE {
            let (symbol, extra) = distance_symbol(distance);
            let over = distance - usize::from(DISTANCE_BASE[symbol]);
            assert!(over < 1 << extra, "{distance}");
        }
    }
}
