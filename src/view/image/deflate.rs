//! Packs the pixels of one row of text into blocks of a deflate stream that stand alone.
//!
//! A general compressor spends more time on setting itself up than on a strip of a few kilobytes.
//! This one has no state and knows that what comes again mostly comes again one pixel line below.

use std::sync::LazyLock;

use super::huffman::{Bits, Codes, MAX_BITS, MAX_LENGTH_BITS};

const MIN_MATCH: usize = 4;
const MAX_MATCH: usize = 258;
const MAX_DISTANCE: usize = 32_768;
const HASH_BITS: u32 = 12;
/// Within matches longer than this not every place is remembered.
const DENSE: usize = 16;
/// A match of this length is taken without looking for a longer one.
const ENOUGH: usize = 32;

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

/// A byte, or a repetition of what came before, in one number.
#[derive(Clone, Copy)]
struct Token(u32);

impl Token {
    const AGAIN: u32 = 1 << 31;

    fn again(length: usize, distance: usize) -> Token {
        Token(Token::AGAIN | (length as u32) << 16 | distance as u32)
    }

    fn is_byte(self) -> bool {
        self.0 < Token::AGAIN
    }

    fn length(self) -> usize {
        (self.0 >> 16 & 0x1ff) as usize
    }

    fn distance(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// Tokens, and how often each symbol is needed to write them.
struct Tokens {
    list: Vec<Token>,
    counts: Counts,
}

struct Counts {
    letters: [u32; LETTERS],
    distances: [u32; DISTANCES],
    /// Bits that tell lengths and distances besides their symbols.
    extra: usize,
}

impl Tokens {
    fn with_room(count: usize) -> Tokens {
        let mut letters = [0; LETTERS];
        letters[END] = 1;
        let counts = Counts { letters, distances: [0; DISTANCES], extra: 0 };
        Tokens { list: Vec::with_capacity(count), counts }
    }

    #[inline]
    fn put_byte(&mut self, byte: u8) {
        self.counts.letters[usize::from(byte)] += 1;
        self.list.push(Token(byte.into()));
    }

    #[inline]
    fn put_again(&mut self, length: usize, distance: usize) {
        let (symbol, extra) = length_symbol(length);
        self.counts.letters[257 + symbol] += 1;
        self.counts.extra += extra as usize;
        let (symbol, extra) = distance_symbol(distance);
        self.counts.distances[symbol] += 1;
        self.counts.extra += extra as usize;
        self.list.push(Token::again(length, distance));
    }
}

/// Appends what stands in `data` from `from` on, lines of `stride` bytes, as blocks that end at a
/// whole byte. What stands before it was packed before: the row of text above.
pub fn pack(data: &[u8], from: usize, stride: usize, out: &mut Vec<u8>) {
    let tokens = Search::new(data, from, stride).tokens();
    let block = Block::new(&tokens.counts);
    let mut bits = Bits::after(std::mem::take(out), block.cost(&tokens.counts) / 8 + 1 + END_ROOM);
    block.write(&tokens.list, &mut bits);
    // An empty stored block brings the stream to a whole byte.
    bits.put(0, 3);
    *out = bits.finish();
    out.extend_from_slice(&[0, 0, 0xff, 0xff]);
}

/// Room for what a block costs besides its tokens.
const END_ROOM: usize = 16;

/// What ends a stream of such blocks.
pub const LAST: [u8; 2] = [3, 0];

struct Search<'a> {
    data: &'a [u8],
    from: usize,
    /// Distances at which the same often comes again: a pixel line above, a row of text above.
    above: [usize; 2],
    /// Where four bytes of a hash were seen last, plus one.
    seen: Box<[u32; 1 << HASH_BITS]>,
}

impl<'a> Search<'a> {
    fn new(data: &'a [u8], from: usize, stride: usize) -> Search<'a> {
        let above = [stride, from].map(|far| if far <= MAX_DISTANCE { far } else { 0 });
        Search { data, from, above, seen: Box::new([0; 1 << HASH_BITS]) }
    }

    /// The four bytes at a place; None at the very end.
    #[inline]
    fn four(&self, at: usize) -> Option<u32> {
        let four = self.data.get(at..at + 4)?;
        Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
    }

    /// Remembers a place; gives the one before it.
    #[inline]
    fn note(&mut self, at: usize, four: u32) -> usize {
        let hash = four.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS);
        std::mem::replace(&mut self.seen[hash as usize], at as u32 + 1) as usize
    }

    fn remember(&mut self, at: usize) {
        if let Some(four) = self.four(at) {
            self.note(at, four);
        }
    }

    fn tokens(mut self) -> Tokens {
        let mut tokens = Tokens::with_room((self.data.len() - self.from) / 4);
        let mut at = self.from;
        while at < self.data.len() {
            let (length, distance) = self.best(at);
            if length < MIN_MATCH {
                tokens.put_byte(self.data[at]);
                at += 1;
                continue;
            }
            tokens.put_again(length, distance);
            let inside = if length <= DENSE { at + 1 } else { at + length - 2 };
            (inside..at + length).for_each(|place| self.remember(place));
            at += length;
        }
        tokens
    }

    /// The longest of four: a line above, a row above, the last byte repeated, and what was seen
    /// last.
    #[inline]
    fn best(&mut self, at: usize) -> (usize, usize) {
        let Some(four) = self.four(at) else { return (0, 0) };
        let mut best = (0, 0);
        for distance in self.above {
            if distance > 0 && distance <= at && self.four(at - distance) == Some(four) {
                let length = self.same(at, at - distance);
                best = if length > best.0 { (length, distance) } else { best };
            }
        }
        if at > 0 && four == u32::from(self.data[at - 1]) * 0x0101_0101 {
            let length = self.same(at, at - 1);
            best = if length >= best.0 { (length, 1) } else { best };
        }
        let last = self.note(at, four);
        let far = last == 0 || at + 1 - last > MAX_DISTANCE;
        if best.0 >= ENOUGH || far || self.four(last - 1) != Some(four) {
            return best;
        }
        let last = (self.same(at, last - 1), at + 1 - last);
        // A distance that is used all the time costs fewer bits.
        if best.0 + 1 >= last.0 { best } else { last }
    }

    /// How many bytes are the same here and there.
    fn same(&self, here: usize, there: usize) -> usize {
        let most = (self.data.len() - here).min(MAX_MATCH);
        let (a, b) = (&self.data[here..here + most], &self.data[there..there + most]);
        let words = a.chunks_exact(8).zip(b.chunks_exact(8));
        let mut count = 0;
        for (a, b) in words {
            let (a, b): ([u8; 8], [u8; 8]) = (word(a), word(b));
            let differ = u64::from_le_bytes(a) ^ u64::from_le_bytes(b);
            if differ != 0 {
                return count + differ.trailing_zeros() as usize / 8;
            }
            count += 8;
        }
        count + a[count..].iter().zip(&b[count..]).take_while(|(a, b)| a == b).count()
    }
}

fn word(bytes: &[u8]) -> [u8; 8] {
    bytes.try_into().unwrap_or_default()
}

static FIXED: LazyLock<Block> = LazyLock::new(Block::fixed);

/// A block's codes: its own, or the ones that need not be told.
#[derive(Clone)]
struct Block {
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
    fn new(counts: &Counts) -> Block {
        let own = Block::own(&counts.letters, &counts.distances);
        if own.cost(counts) < FIXED.cost(counts) { own } else { FIXED.clone() }
    }

    /// Bits that tokens so counted take, what is told about the codes included.
    fn cost(&self, counts: &Counts) -> usize {
        let told = self.header.as_ref().map_or(0, Header::cost);
        let tokens = self.letters.cost(&counts.letters) + self.distances.cost(&counts.distances);
        told + tokens + counts.extra
    }

    fn own(letters: &[u32], distances: &[u32]) -> Block {
        let letters = Codes::best(letters, MAX_BITS);
        let distances = Codes::best(distances, MAX_BITS);
        let header = Some(Header::new(&letters, &distances));
        Block { letters, distances, header }
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

    fn write(&self, tokens: &[Token], bits: &mut Bits) {
        // Not the last block; then its kind.
        bits.put(0, 1);
        match &self.header {
            None => bits.put(1, 2),
            Some(header) => {
                bits.put(2, 2);
                header.write(bits);
            }
        }
        for token in tokens {
            match token.is_byte() {
                true => self.letters.put(token.0 as usize, bits),
                false => self.put_again(token.length(), token.distance(), bits),
            }
        }
        self.letters.put(END, bits);
    }

    /// Length and distance with their extra bits are 48 at most: all at once.
    #[inline]
    fn put_again(&self, length: usize, distance: usize, bits: &mut Bits) {
        let (symbol, extra) = length_symbol(length);
        let (mut value, mut count) = self.letters.of_symbol(257 + symbol);
        value |= ((length - usize::from(LENGTH_BASE[symbol])) as u64) << count;
        count += extra;
        let (symbol, extra) = distance_symbol(distance);
        let (code, code_length) = self.distances.of_symbol(symbol);
        value |= code << count;
        count += code_length;
        value |= ((distance - usize::from(DISTANCE_BASE[symbol])) as u64) << count;
        bits.put(value, count + extra);
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
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        let stream = [packed, &LAST].concat();
        let mut out = Vec::new();
        flate2::read::DeflateDecoder::new(&stream[..]).read_to_end(&mut out).unwrap();
        out
    }

    fn check(data: &[u8], stride: usize) -> usize {
        let mut packed = Vec::new();
        pack(data, 0, stride, &mut packed);
        assert_eq!(unpacked(&packed), data);
        packed.len()
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        check(b"", 1);
        check(b"a", 1);
        check(b"abcdabcdabcdefgh", 4);
        assert!(check(&[7; 100_000], 500) < 250);
        let lines: Vec<u8> = (0..60_000_u32).map(|n| (n % 700 * (n % 700) / 50) as u8).collect();
        assert!(check(&lines, 700) < 2500);
        let noise: Vec<u8> =
            (0..50_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        check(&noise, 40_000);
    }

    #[test]
    fn blocks_stand_one_after_another() {
        let mut packed = Vec::new();
        pack(b"one and one is two", 0, 6, &mut packed);
        pack(b"one and one is twotwo and two is four", 18, 6, &mut packed);
        assert_eq!(unpacked(&packed), b"one and one is twotwo and two is four");
    }

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

    proptest! {
        #[test]
        fn anything_comes_out_again(
            data in proptest::collection::vec(0_u8..6, 0..3000),
            stride in 1_usize..200,
        ) {
            check(&data, stride);
        }
    }
}
