//! Huffman codes and the bits they are written with, as deflate (RFC 1951) has them.

/// Longest code of letters and distances, and of the codes' own lengths.
pub const MAX_BITS: usize = 15;
pub const MAX_LENGTH_BITS: usize = 7;

/// Bits from the lowest on.
#[derive(Default)]
pub struct Bits {
    room: Vec<u8>,
    /// Whole bytes written; there is room for a word after them.
    end: usize,
    held: u64,
    count: u32,
}

const WORD: usize = 8;

impl Bits {
    /// Begins anew; there must be room for all that is put.
    pub fn begin(&mut self, room: usize) {
        if self.room.len() < room + WORD {
            self.room.resize(room + WORD, 0);
        }
        (self.end, self.held, self.count) = (0, 0, 0);
    }

    /// At most 56 at a time. A word is written each time, so that nothing has to be decided: what is
    /// not full yet is written again.
    #[inline]
    pub fn put(&mut self, value: u64, count: u32) {
        self.held |= value << self.count;
        self.count += count;
        if let Some(word) = self.room[self.end..].first_chunk_mut::<WORD>() {
            *word = self.held.to_le_bytes();
        }
        let whole = self.count / 8;
        self.end += whole as usize;
        // A shift by all 64 bits cannot come: at most 63 are held.
        self.held >>= whole * 8;
        self.count %= 8;
    }

    /// Many, as `put` puts each of them.
    pub fn put_all(&mut self, all: impl Iterator<Item = (u64, u32)>) {
        // What changes each time is kept out of memory.
        let mut bits = std::mem::take(self);
        all.for_each(|(value, count)| bits.put(value, count));
        *self = bits;
    }

    /// Fills the byte that was begun up with zeros.
    pub fn whole(&mut self) {
        self.put(0, (8 - self.count) % 8);
    }

    /// The bytes that are whole.
    pub fn bytes(&self) -> &[u8] {
        &self.room[..self.end]
    }

    pub fn into_bytes(mut self) -> Vec<u8> {
        self.room.truncate(self.end);
        self.room
    }
}

/// A code for each symbol: its bits, first one lowest, and how many.
#[derive(Clone)]
pub struct Codes {
    codes: Vec<(u16, u16)>,
    pub lengths: Vec<u8>,
}

impl Codes {
    /// The best code for symbols that occur so often, none longer than `max` bits.
    pub fn best(counts: &[u32], max: usize) -> Codes {
        Codes::of(lengths(counts, max))
    }

    pub fn of(lengths: Vec<u8>) -> Codes {
        let mut next = [0_u16; MAX_BITS + 2];
        for length in lengths.iter().filter(|length| **length > 0) {
            next[usize::from(*length) + 1] += 1;
        }
        for bits in 1..next.len() {
            next[bits] += next[bits - 1];
            next[bits] <<= 1;
        }
        let mut code = |length: &u8| {
            let next = &mut next[usize::from(*length)];
            let code = if *length == 0 { 0 } else { next.reverse_bits() >> (16 - length) };
            *next = next.wrapping_add(1);
            (code, u16::from(*length))
        };
        Codes { codes: lengths.iter().map(&mut code).collect(), lengths }
    }

    /// Bits of a symbol and how many.
    #[inline]
    pub fn of_symbol(&self, symbol: usize) -> (u64, u32) {
        let (code, length) = self.codes[symbol];
        (code.into(), length.into())
    }

    #[inline]
    pub fn put(&self, symbol: usize, bits: &mut Bits) {
        let (code, length) = self.of_symbol(symbol);
        bits.put(code, length);
    }

    /// Bits that symbols occurring so often take.
    pub fn cost(&self, counts: &[u32]) -> usize {
        let each = counts.iter().zip(&self.lengths);
        each.map(|(count, length)| *count as usize * usize::from(*length)).sum()
    }
}

/// Lengths of codes: the two rarest are joined again and again, then what is too long is cut.
fn lengths(counts: &[u32], max: usize) -> Vec<u8> {
    let mut lengths = vec![0; counts.len()];
    let mut used: Vec<(u32, usize)> =
        counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(at, n)| (*n, at)).collect();
    used.sort_unstable();
    if used.len() < 2 {
        // A code has to have two ends to be complete.
        let only = used.first().map_or(0, |used| used.1);
        lengths[only] = 1;
        lengths[if only == 0 { 1 } else { 0 }] = 1;
        return lengths;
    }
    let mut of_length = depths(&used);
    shorten(&mut of_length, max);
    let mut rarest_first = used.iter();
    for bits in (1..=max).rev() {
        for (_, symbol) in rarest_first.by_ref().take(of_length[bits]) {
            lengths[*symbol] = bits as u8;
        }
    }
    lengths
}

/// How many leaves of the tree there are at each depth; the counts must ascend.
fn depths(used: &[(u32, usize)]) -> Vec<usize> {
    let leaves = used.len();
    let mut weights: Vec<u64> = used.iter().map(|(count, _)| u64::from(*count)).collect();
    let mut parent = vec![0; 2 * leaves - 1];
    let (mut leaf, mut node) = (0, leaves);
    for made in leaves..2 * leaves - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let from_leaves = leaf < leaves && (node >= made || weights[leaf] <= weights[node]);
            let lightest = if from_leaves { &mut leaf } else { &mut node };
            sum += weights[*lightest];
            parent[*lightest] = made;
            *lightest += 1;
        }
        weights.push(sum);
    }
    let mut depth = vec![0; 2 * leaves - 1];
    let mut of_length = vec![0; leaves.max(MAX_BITS + 1) + 1];
    for at in (0..2 * leaves - 2).rev() {
        depth[at] = depth[parent[at]] + 1;
        of_length[depth[at]] += usize::from(at < leaves);
    }
    of_length
}

/// Brings all codes to `max` bits or fewer, and the whole back to a complete code.
fn shorten(of_length: &mut [usize], max: usize) {
    let too_long: usize = of_length[max + 1..].iter().sum();
    of_length[max] += too_long;
    of_length[max + 1..].fill(0);
    let taken = |of_length: &[usize]| -> usize {
        (1..=max).map(|bits| of_length[bits] << (max - bits)).sum()
    };
    for _ in (1 << max)..taken(of_length) {
        // One of the longest goes beside a shorter one, which gets longer by a bit.
        of_length[max] -= 1;
        if let Some(bits) = (1..max).rev().find(|bits| of_length[*bits] > 0) {
            of_length[bits] -= 1;
            of_length[bits + 1] += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_complete(lengths: &[u8], max: usize) -> bool {
        let used = lengths.iter().filter(|length| **length > 0);
        used.map(|length| 1_usize << (max - usize::from(*length))).sum::<usize>() == 1 << max
    }

    #[test]
    fn codes_are_complete_and_within_bounds() {
        let fibonacci: Vec<u32> = std::iter::successors(Some((1, 1)), |(a, b)| Some((*b, a + b)))
            .map(|p| p.0)
            .take(30)
            .collect();
        for counts in [&fibonacci[..], &[1; 286], &[0, 5, 0], &[0; 30], &[7, 7], &[1000, 1, 1, 1]] {
            for max in [9, MAX_BITS] {
                let lengths = lengths(counts, max);
                assert!(is_complete(&lengths, max), "{counts:?} {max}");
                assert!(lengths.iter().all(|length| usize::from(*length) <= max));
            }
        }
    }

    #[test]
    fn what_is_common_is_short() {
        let codes = Codes::best(&[100, 1, 50, 2], MAX_BITS);
        assert_eq!(codes.lengths, [1, 3, 2, 3]);
        assert_eq!(codes.cost(&[100, 1, 50, 2]), 100 + 3 + 100 + 6);
    }
}
