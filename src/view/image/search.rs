//! Packs the pixels of one row of text into blocks of a deflate stream that stand alone.
//!
//! A general compressor spends more time on setting itself up than on a strip of a few kilobytes.
//! This one has no state and knows that what comes again mostly comes again one pixel line below.

use super::deflate::{self, Block, Counts, FIXED, MAX_DISTANCE, MAX_MATCH};
use super::huffman::Bits;

/// The shortest repetition that is looked for.
const MIN_LENGTH: usize = 4;
const HASH_BITS: u32 = 12;
/// Within matches longer than this not every place is remembered.
const DENSE: usize = 16;
/// A match of this length is taken without looking for a longer one.
const ENOUGH: usize = 32;
/// Room for what a block costs besides its tokens.
const END_ROOM: usize = 16;

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

impl Tokens {
    fn with_room(count: usize) -> Tokens {
        Tokens { list: Vec::with_capacity(count), counts: Counts::of_blocks(1) }
    }

    #[inline]
    fn put_byte(&mut self, byte: u8) {
        self.counts.byte(byte, 1);
        self.list.push(Token(byte.into()));
    }

    #[inline]
    fn put_again(&mut self, length: usize, distance: usize) {
        self.counts.again(length, distance, 1);
        self.list.push(Token::again(length, distance));
    }
}

/// What stands in `data` from `from` on, lines of `stride` bytes, as blocks that end at a whole
/// byte. What stands before it was packed before: the row of text above.
pub fn pack(data: &[u8], from: usize, stride: usize) -> Vec<u8> {
    let tokens = Search::new(data, from, stride).tokens();
    let own = Block::own(&tokens.counts);
    let costs = [own.cost(&tokens.counts), FIXED.cost(&tokens.counts)];
    let block = if costs[0] < costs[1] { &own } else { &*FIXED };
    let mut bits = Bits::default();
    bits.begin(costs[0].min(costs[1]) / 8 + END_ROOM);
    block.begin(&mut bits);
    for token in &tokens.list {
        let (value, count) = match token.is_byte() {
            true => block.byte(token.0 as u8),
            false => block.again(token.length(), token.distance()),
        };
        bits.put(value, count);
    }
    block.end(&mut bits);
    deflate::align(&mut bits);
    bits.into_bytes()
}

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
            if length < MIN_LENGTH {
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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        let stream = [packed, &deflate::LAST].concat();
        let mut out = Vec::new();
        flate2::read::DeflateDecoder::new(&stream[..]).read_to_end(&mut out).unwrap();
        out
    }

    fn check(data: &[u8], stride: usize) -> usize {
        let packed = pack(data, 0, stride);
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
        let mut packed = pack(b"one and one is two", 0, 6);
        packed.extend(pack(b"one and one is twotwo and two is four", 18, 6));
        assert_eq!(unpacked(&packed), b"one and one is twotwo and two is four");
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
