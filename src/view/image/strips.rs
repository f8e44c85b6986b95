//! Packs rows of tiles, each as a block of a deflate stream that stands alone.
//!
//! A general compressor looks at every byte, and takes longer than drawing them did. This one looks
//! at tiles: tiles that stood in the row before, or in the one above, are found once for all their
//! lines, and the bits of a tile's line are made once for all places where it stands.

use super::deflate::{self, Block, Counts, FIXED, MAX_DISTANCE, MAX_MATCH, MIN_MATCH};
use super::huffman::Bits;
use super::tiles::{TileId, Tiles};

/// Tiles in a row that are worth a repetition.
const LONG_COPY: usize = 2;
/// Bytes within a tile's line that are, if a line has so many at all.
const LONG_RUN: usize = 8;
const LONG_LINE: usize = 14;
/// A block with fewer tokens may do better without codes of its own.
const FEW_TOKENS: usize = 150;
/// Bits that can be put at a time, and bytes that they take at most.
const AT_ONCE: u32 = 56;
const WORD: usize = 8;
/// Bytes that a block costs besides its tokens, at most: the codes' lengths.
const HEADER_ROOM: usize = 400;

/// What follows in the stream, in one number: a line of a tile; so many lines that are the same as
/// those above them, with or without the zero that begins a line of the picture; or any other
/// repetition.
type Token = u32;
const AGAIN: Token = 1 << 31;

/// Length and distance of a repetition.
fn repeats(token: Token) -> Option<(usize, usize)> {
    let both = ((token >> 16 & 0x1ff) as usize, (token & 0xffff) as usize + 1);
    (token & AGAIN != 0).then_some(both)
}

/// Tiles of a row that are told, or that stood before.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: usize,
    to: usize,
    /// How far before they stood, in bytes; 0 for tiles that are told.
    distance: usize,
}

/// Whether rows of so many tiles can be packed here: the line above must be in reach.
pub fn can_pack(tiles: &Tiles, columns: usize) -> bool {
    tiles.pitch >= MIN_MATCH && columns * tiles.pitch < MAX_DISTANCE
}

/// Packs rows, each with the one that stands above it if there is one.
pub fn pack<'a>(
    tiles: &Tiles,
    rows: impl Iterator<Item = (Option<&'a [TileId]>, &'a [TileId])>,
) -> Vec<Vec<u8>> {
    let mut rows = rows.peekable();
    let columns = rows.peek().map_or(0, |(_, row)| row.len());
    let mut packer = Packer::new(tiles, columns);
    rows.for_each(|(above, row)| packer.add(above, row));
    packer.finish()
}

struct Packer<'a> {
    tiles: &'a Tiles,
    columns: usize,
    /// Bytes of a line of the picture.
    stride: usize,
    tokens: Vec<Token>,
    /// Where each strip's tokens end.
    ends: Vec<usize>,
    /// Where each tile stood last: numbers that only grow.
    seen: Vec<u32>,
    places: u32,
    spans: Vec<Span>,
    touches: Vec<bool>,
}

impl<'a> Packer<'a> {
    /// For rows of so many tiles.
    fn new(tiles: &'a Tiles, columns: usize) -> Packer<'a> {
        Packer {
            tiles,
            columns,
            stride: 1 + columns * tiles.pitch,
            tokens: Vec::new(),
            ends: Vec::new(),
            seen: vec![0; tiles.count()],
            places: 1,
            spans: Vec::new(),
            touches: Vec::new(),
        }
    }

    /// Adds a row, and the one that stands above it if there is one.
    fn add(&mut self, above: Option<&[TileId]>, row: &[TileId]) {
        self.find_spans(above.unwrap_or_default(), row);
        self.find_touches(above, row);
        let tiles = self.tiles;
        let touches = std::mem::take(&mut self.touches);
        self.add_line(row, 0, |at, _| touches[at]);
        self.touches = touches;
        for y in 1..tiles.height {
            self.add_line(row, y, |_, line| tiles.same()[line]);
        }
        self.ends.push(self.tokens.len());
    }

    /// Finds the tiles that stood in this row or the one above it.
    fn find_spans(&mut self, above: &[TileId], row: &[TileId]) {
        let first = self.places;
        let own = first + self.columns as u32;
        self.places = own + self.columns as u32;
        for (at, tile) in above.iter().enumerate() {
            self.seen[*tile as usize] = first + at as u32;
        }
        self.spans.clear();
        let mut at = 0;
        while at < row.len() {
            let (distance, count) = self.copy_at(above, row, at, (first, own));
            let copied = count >= LONG_COPY;
            let to = at + if copied { count } else { 1 };
            for (at, tile) in row.iter().enumerate().take(to).skip(at) {
                self.seen[*tile as usize] = own + at as u32;
            }
            match self.spans.last_mut() {
                Some(last) if !copied && last.distance == 0 => last.to = to,
                _ => {
                    let distance = if copied { distance } else { 0 };
                    self.spans.push(Span { from: at, to, distance });
                }
            }
            at = to;
        }
    }

    /// How far before the tiles at a place stood, and how many of them.
    fn copy_at(
        &self,
        above: &[TileId],
        row: &[TileId],
        at: usize,
        (first, own): (u32, u32),
    ) -> (usize, usize) {
        let (strip, pitch) = (self.tiles.height * self.stride, self.tiles.pitch);
        let seen = self.seen[row[at] as usize];
        let (distance, before) = if above.get(at) == Some(&row[at]) && strip <= MAX_DISTANCE {
            (strip, &above[at..])
        } else if seen >= own {
            let from = (seen - own) as usize;
            ((at - from) * pitch, &row[from..])
        } else if seen >= first {
            let from = (seen - first) as usize;
            (strip + at * pitch - from * pitch, &above[from..])
        } else {
            return (0, 0);
        };
        let count = row[at..].iter().zip(before).take_while(|(a, b)| a == b).count();
        if distance <= MAX_DISTANCE { (distance, count) } else { (0, 0) }
    }

    /// Finds where a tile's first line is the same as the last one of the tile above it.
    fn find_touches(&mut self, above: Option<&[TileId]>, row: &[TileId]) {
        let (tiles, height) = (self.tiles, self.tiles.height);
        let top = |tile: TileId| tiles.line(tile as usize * height);
        let bottom = |tile: TileId| tiles.line(tile as usize * height + height - 1);
        self.touches.clear();
        match above {
            Some(above) => {
                let both = above.iter().zip(row);
                self.touches.extend(both.map(|(above, tile)| bottom(*above) == top(*tile)));
            }
            None => self.touches.resize(row.len(), false),
        }
    }

    /// Lines of all tiles.
    fn lines(&self) -> usize {
        self.tiles.same().len()
    }

    /// The token for no lines as above, and without the zero: one more line adds two.
    fn no_lines(&self) -> Token {
        self.lines() as Token
    }

    /// Whether telling a line costs less than repeating it: it is of one colour.
    #[inline]
    fn is_told_again(&self, line: usize) -> bool {
        self.tiles.pitch < LONG_LINE && self.tiles.even()[line]
    }

    /// Adds a line of a row; `same` tells which tiles are the same in the line above.
    fn add_line(&mut self, row: &[TileId], y: usize, same: impl Fn(usize, usize) -> bool) {
        let none = self.no_lines();
        let start = self.tokens.len();
        self.tokens.resize(start + row.len() + 1, 0);
        let mut end = start;
        // The zero before the line, then what is the same after it.
        let (mut run, mut open) = (none + 1, true);
        self.tokens[end] = run;
        for span in &self.spans {
            let tiles = row[span.from..span.to].iter().enumerate();
            let mut lines =
                tiles.map(|(n, tile)| (span.from + n, *tile as usize * self.tiles.height + y));
            if span.distance == 0 {
                // No branch depends on what is there: it would be foretold wrong too often.
                for (at, line) in lines {
                    let same = same(at, line);
                    end += usize::from(!(same & open));
                    run = if open { run } else { none } + 2;
                    let alone = same & !self.is_told_again(line);
                    let token = if alone { none + 2 } else { line as Token };
                    self.tokens[end] = if same & open { run } else { token };
                    open = same;
                }
                continue;
            }
            let count = span.to - span.from;
            let same = lines.all(|(at, line)| same(at, line));
            if same {
                end += usize::from(!open);
                run = if open { run } else { none } + 2 * count as Token;
                self.tokens[end] = run;
            } else {
                for length in lengths(count * self.tiles.pitch) {
                    end += 1;
                    self.tokens[end] = AGAIN | (length as u32) << 16 | (span.distance - 1) as u32;
                }
            }
            open = same;
        }
        self.tokens.truncate(end + 1);
    }

    /// The strips, one after another.
    fn finish(self) -> Vec<Vec<u8>> {
        let uses = self.uses();
        let block = Block::own(&self.count(&uses));
        let codes = Codes::new(&self, &uses, &block);
        let mut bits = Bits::default();
        let mut start = 0;
        let mut strips = Vec::with_capacity(self.ends.len());
        for end in &self.ends {
            let tokens = &self.tokens[start..*end];
            let fixed = tokens.len() < FEW_TOKENS && self.is_cheaper_fixed(tokens, &block);
            strips.push(if fixed {
                self.write(tokens, &FIXED, &Codes::new(&self, &uses, &FIXED), &mut bits)
            } else {
                self.write(tokens, &block, &codes, &mut bits)
            });
            start = *end;
        }
        strips
    }

    /// How often each token is there; repetitions are all counted in the last place.
    fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.no_lines() as usize + 2 * self.columns + 3];
        let last = uses.len() - 1;
        for token in &self.tokens {
            uses[(*token as usize).min(last)] += 1;
        }
        uses[last] = 0;
        uses
    }

    fn count(&self, uses: &[u32]) -> Counts {
        let mut counts = Counts::of_blocks(self.ends.len());
        for (length, distance) in self.tokens.iter().filter_map(|token| repeats(*token)) {
            counts.again(length, distance, 1);
        }
        for (token, times) in uses.iter().enumerate().filter(|(_, times)| **times > 0) {
            self.parts(token as Token, |part| part.count(*times, &mut counts));
        }
        counts
    }

    /// What a token but a repetition is in the stream.
    #[inline]
    fn parts(&self, token: Token, each: impl FnMut(Part)) {
        match (token as usize).checked_sub(self.lines()) {
            Some(run) => self.run_parts(run).for_each(each),
            None => self.line_parts(token as usize, each),
        }
    }

    /// What a line of a tile is: bytes, and repetitions within the tile.
    #[inline]
    fn line_parts(&self, line: usize, mut each: impl FnMut(Part)) {
        let (tiles, bytes) = (self.tiles, self.tiles.line(line));
        if bytes.len() < LONG_LINE {
            bytes.iter().for_each(|byte| each(Part::byte(*byte)));
            return;
        }
        let above = if line.is_multiple_of(tiles.height) { &[][..] } else { tiles.line(line - 1) };
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let run = at.checked_sub(tiles.pixel).map_or(0, |from| alike(rest, &bytes[from..]));
            let below = above.get(at..).map_or(0, |above| alike(rest, above));
            let longest = run.max(below).min(MAX_MATCH);
            if longest < LONG_RUN {
                each(Part::byte(bytes[at]));
                at += 1;
            } else {
                let distance = if run >= below { tiles.pixel } else { self.stride };
                each(Part::again(longest, distance));
                at += longest;
            }
        }
    }

    /// What tiles as in the line above are in the stream; the zero alone is just that.
    fn run_parts(&self, run: usize) -> impl Iterator<Item = Part> {
        let length = run / 2 * self.tiles.pitch + run % 2;
        let alone = (length == 1).then_some(Part::byte(0));
        let all = if length == 1 { 0 } else { length };
        alone.into_iter().chain(lengths(all).map(|length| Part::again(length, self.stride)))
    }

    fn is_cheaper_fixed(&self, tokens: &[Token], block: &Block) -> bool {
        let mut counts = Counts::of_blocks(1);
        for token in tokens {
            match repeats(*token) {
                Some((length, distance)) => counts.again(length, distance, 1),
                None => self.parts(*token, |part| part.count(1, &mut counts)),
            }
        }
        FIXED.cost(&counts) < block.cost(&counts)
    }

    fn write(&self, tokens: &[Token], block: &Block, codes: &Codes, bits: &mut Bits) -> Vec<u8> {
        bits.begin(tokens.len() * codes.longest + HEADER_ROOM);
        block.begin(bits);
        for token in tokens {
            match repeats(*token) {
                Some((length, distance)) => {
                    let (value, count) = block.again(length, distance);
                    bits.put(value, count);
                }
                None => codes.put(*token, bits),
            }
        }
        block.end(bits);
        deflate::align(bits);
        bits.bytes().to_vec()
    }
}

/// A length in parts that a repetition can have; what is left over must not be too short.
fn lengths(length: usize) -> impl Iterator<Item = usize> {
    let mut left = length;
    std::iter::from_fn(move || {
        let part = match left {
            0 => return None,
            1..=MAX_MATCH => left,
            _ => MAX_MATCH.min(left - MIN_MATCH),
        };
        left -= part;
        Some(part)
    })
}

/// A byte, or a repetition, in one number.
#[derive(Clone, Copy)]
struct Part(u32);

impl Part {
    fn byte(byte: u8) -> Part {
        Part(byte.into())
    }

    fn again(length: usize, distance: usize) -> Part {
        Part(AGAIN | (length as u32) << 16 | (distance - 1) as u32)
    }

    #[inline]
    fn count(self, times: u32, counts: &mut Counts) {
        match repeats(self.0) {
            None => counts.byte(self.0 as u8, times),
            Some((length, distance)) => counts.again(length, distance, times),
        }
    }

    #[inline]
    fn code(self, block: &Block) -> (u64, u32) {
        match repeats(self.0) {
            None => block.byte(self.0 as u8),
            Some((length, distance)) => block.again(length, distance),
        }
    }
}

/// How many bytes are the same at the beginning of both.
fn alike(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The bits of each token but the repetitions that are seldom the same.
struct Codes {
    /// Bits and how many; or 0 of them, and where the chunks begin that they take.
    codes: Vec<(u64, u32)>,
    /// Those that are too long to be put at once, each with an empty one at its end.
    chunks: Vec<(u64, u32)>,
    /// Bytes of the longest.
    longest: usize,
}

impl Codes {
    fn new(packer: &Packer, uses: &[u32], block: &Block) -> Codes {
        let codes = Vec::with_capacity(uses.len());
        let mut codes = Codes { codes, chunks: Vec::new(), longest: WORD };
        for (token, times) in uses.iter().enumerate() {
            if *times > 0 {
                codes.add(packer, token as Token, block);
            } else {
                codes.codes.push((0, 0));
            }
        }
        codes
    }

    #[inline]
    fn add(&mut self, packer: &Packer, token: Token, block: &Block) {
        let first = self.chunks.len();
        let (mut bits, mut held) = (0, 0);
        packer.parts(token, |part| {
            let (value, count) = part.code(block);
            if held + count > AT_ONCE {
                self.chunks.push((bits, held));
                (bits, held) = (0, 0);
            }
            bits |= value << held;
            held += count;
        });
        if self.chunks.len() == first {
            self.codes.push((bits, held));
            return;
        }
        self.chunks.extend([(bits, held), (0, 0)]);
        self.longest = self.longest.max((self.chunks.len() - first) * WORD);
        self.codes.push((first as u64, 0));
    }

    #[inline]
    fn put(&self, token: Token, bits: &mut Bits) {
        let (value, count) = self.codes[token as usize];
        if count > 0 {
            bits.put(value, count);
        } else {
            let chunks = self.chunks[value as usize..].iter();
            chunks.take_while(|chunk| chunk.1 > 0).for_each(|chunk| bits.put(chunk.0, chunk.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    fn unpacked(strips: &[Vec<u8>]) -> Vec<u8> {
        let stream = [&strips.concat()[..], &deflate::LAST].concat();
        let mut out = Vec::new();
        flate2::read::DeflateDecoder::new(&stream[..]).read_to_end(&mut out).unwrap();
        out
    }

    /// Packs rows of tiles whose lines are taken one after another from `lines`.
    fn check(pitch: usize, height: usize, lines: &[u8], rows: &[Vec<TileId>]) -> usize {
        let mut tiles = Tiles::new(pitch, 1, height);
        for tile in lines.chunks_exact(pitch * height) {
            tiles.add(tile.chunks_exact(pitch));
        }
        let count = tiles.count() as TileId;
        let rows: Vec<Vec<TileId>> =
            rows.iter().map(|row| row.iter().map(|tile| tile % count).collect()).collect();
        let above = |at: usize| at.checked_sub(1).map(|at| &rows[at][..]);
        let strips = pack(&tiles, rows.iter().enumerate().map(|(at, row)| (above(at), &row[..])));
        let mut raw = Vec::new();
        rows.iter().for_each(|row| tiles.put_lines(row, &mut raw));
        let out = unpacked(&strips);
        let differs = out.iter().zip(&raw).position(|(a, b)| a != b);
        assert_eq!((differs, out.len()), (None, raw.len()), "{pitch} {height}");
        strips.concat().len()
    }

    #[test]
    fn long_rows_come_out_again() {
        // Longer than what is repeated at once, and so long that the row above is out of reach.
        for (pitch, columns) in [(10, 300), (16, 2000), (3, 5)] {
            let lines: Vec<u8> = (0..pitch * 8 * 50).map(|n| (n / 37 % 5) as u8).collect();
            let row = |by: usize| (0..columns).map(|n| (n * by % 7 * n % 50) as TileId).collect();
            check(pitch, 8, &lines, &[row(3), row(3), row(5), vec![0; columns]]);
        }
    }

    #[test]
    fn blank_rows_cost_little() {
        let blank = [vec![0; 80], vec![0; 80], vec![0; 80]];
        assert!(check(7, 14, &[0; 7 * 14], &blank) < 300);
    }

    proptest! {
        #[test]
        fn anything_comes_out_again(
            pitch in 3_usize..20,
            height in 1_usize..6,
            lines in proptest::collection::vec(0_u8..3, 19 * 5..3000),
            columns in 1_usize..60,
            ids in proptest::collection::vec(0_u32..30, 60 * 3),
        ) {
            let rows: Vec<Vec<TileId>> =
                ids.chunks_exact(60).map(|row| row[..columns].to_vec()).collect();
            check(pitch, height, &lines, &rows);
        }
    }
}
