//! Packs rows of cells, each as a block of a deflate stream that stands alone.
//!
//! A general compressor looks at every byte, and takes longer than drawing them did. This one looks
//! at cells and never sees a pixel: which lines of a form are the same is known, and so is how the
//! others are told; a look only gives the bits of the pixels. So it hardly matters how many colours
//! there are.

use super::cells::{Meaning, Place};
use super::codes::{Codes, DISTANCE_BITS, LETTER_BITS};
use super::deflate::{Block, Counts, FIXED, MAX_DISTANCE, MAX_MATCH, MIN_MATCH};
use super::forms::FormId;
use super::ramps::Pixel;

/// Cells in a row that are worth a repetition.
const LONG_COPY: usize = 2;
/// A block with fewer parts may do better without codes of its own.
const FEW_PARTS: usize = 150;
/// Cells that are enough to see which codes suit them all.
const ENOUGH_CELLS: usize = 1000;
/// Lines above that forms go back to.
const MAX_REACH: usize = 5;
/// Places where cells were seen last, by a hash of them.
const SEEN_BITS: u32 = 12;

/// Whether rows of so many cells can be packed here: the line above must be in reach.
pub fn can_pack(pitch: usize, columns: usize) -> bool {
    pitch >= MIN_MATCH && columns * pitch < MAX_DISTANCE
}

/// How many lines above are in reach in rows of so many cells.
pub fn reach(pitch: usize, columns: usize) -> usize {
    (MAX_DISTANCE / (1 + columns * pitch + pitch)).clamp(1, MAX_REACH)
}

/// Packs rows, each with the one that stands above it if there is one. Bytes of pixels are less
/// than `values`.
pub fn pack<'a, P: Pixel>(
    meaning: Meaning<P>,
    values: usize,
    rows: impl Iterator<Item = (Option<&'a [Place]>, &'a [Place])> + Clone,
) -> Vec<Vec<u8>> {
    let Some((_, first)) = rows.clone().next() else { return Vec::new() };
    let mut plan = Plan::new(meaning.pitch(), meaning.forms.cell().h, first.len());
    let block = choose_codes(&mut plan, meaning, values, rows.clone());
    let mut own = Codes::new(meaning, &block, plan.stride);
    let mut fixed = None;
    let mut pack = |(above, row)| {
        plan.make(meaning, above, row);
        if !is_cheaper_fixed(&plan, meaning, &block) {
            return own.write(&plan);
        }
        let fixed = fixed.get_or_insert_with(|| Codes::new(meaning, &FIXED, plan.stride));
        fixed.write(&plan)
    };
    rows.map(&mut pack).collect()
}

/// Codes that suit the rows, by a look at some of them.
fn choose_codes<'a, P: Pixel>(
    plan: &mut Plan,
    meaning: Meaning<P>,
    values: usize,
    rows: impl Iterator<Item = (Option<&'a [Place]>, &'a [Place])> + Clone,
) -> Block {
    let count = rows.clone().count();
    let step = (count * plan.columns).div_ceil(ENOUGH_CELLS).max(1);
    let mut uses = vec![0; meaning.forms.count()];
    let mut counts = Counts::of_blocks(count);
    if step > 1 {
        counts.each_once(values);
    }
    for (above, row) in rows.step_by(step) {
        plan.make(meaning, above, row);
        plan.count(meaning, &mut uses, &mut counts);
    }
    count_forms(meaning, plan.stride, &uses, &mut counts);
    Block::within(&counts, LETTER_BITS, DISTANCE_BITS)
}

fn is_cheaper_fixed<P: Pixel>(plan: &Plan, meaning: Meaning<P>, block: &Block) -> bool {
    let told: u32 = plan.told.iter().map(|told| told.count_ones()).sum();
    if told as usize > FEW_PARTS {
        return false;
    }
    let mut uses = vec![0; meaning.forms.count()];
    let mut counts = Counts::of_blocks(1);
    plan.count(meaning, &mut uses, &mut counts);
    count_forms(meaning, plan.stride, &uses, &mut counts);
    FIXED.cost(&counts) < block.cost(&counts)
}

/// One cell that is told, or several that stood before.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Where it begins in a line of the picture, in bytes.
    pub start: usize,
    pub bytes: usize,
    pub what: What,
}

#[derive(Clone, Copy, Debug)]
pub enum What {
    Told(Place),
    /// How far before, in bytes.
    Stood(usize),
}

/// How a row is packed.
pub struct Plan {
    pitch: usize,
    height: usize,
    columns: usize,
    /// Bytes of a line of the picture.
    stride: usize,
    pub spans: Vec<Span>,
    /// For each line a bit for each span that is not the same as in the line above.
    told: Vec<u64>,
    /// Where cells stood last: numbers that only grow.
    seen: Vec<u32>,
    places: u32,
}

impl Plan {
    /// For rows of so many cells.
    fn new(pitch: usize, height: usize, columns: usize) -> Plan {
        Plan {
            pitch,
            height,
            columns,
            stride: 1 + columns * pitch,
            spans: Vec::new(),
            told: Vec::new(),
            seen: vec![0; 1 << SEEN_BITS],
            places: 1,
        }
    }

    /// Plans a row, that above it being packed already.
    fn make<P: Pixel>(&mut self, meaning: Meaning<P>, above: Option<&[Place]>, row: &[Place]) {
        self.find_spans(above.unwrap_or_default(), row);
        self.find_told(meaning, above, row);
    }

    /// Finds the cells that stood in this row or the one above it.
    fn find_spans(&mut self, above: &[Place], row: &[Place]) {
        let first = self.places;
        let own = first + self.columns as u32;
        self.places = own + self.columns as u32;
        if self.strip() < MAX_DISTANCE + self.stride {
            above.iter().zip(first..).for_each(|(place, at)| self.seen[hash(*place)] = at);
        }
        self.spans.clear();
        let mut at = 0;
        while at < row.len() {
            let (distance, count) = self.copy_at(above, row, at, (first, own));
            let (what, count) = match count {
                LONG_COPY.. => (What::Stood(distance), count),
                _ => (What::Told(row[at]), 1),
            };
            let (start, bytes) = (1 + at * self.pitch, count * self.pitch);
            self.spans.push(Span { start, bytes, what });
            for place in &row[at..at + count] {
                self.seen[hash(*place)] = own + at as u32;
                at += 1;
            }
        }
    }

    /// Bytes of a row.
    fn strip(&self) -> usize {
        self.stride * self.height
    }

    /// How far before the cells at a place stood, and how many of them.
    fn copy_at(
        &self,
        above: &[Place],
        row: &[Place],
        at: usize,
        (first, own): (u32, u32),
    ) -> (usize, usize) {
        let (strip, seen) = (self.strip(), self.seen[hash(row[at])]);
        let (distance, before) = if strip <= MAX_DISTANCE && above.get(at) == Some(&row[at]) {
            (strip, &above[at..])
        } else if seen >= own {
            let from = (seen - own) as usize;
            ((at - from) * self.pitch, &row[from..])
        } else if seen >= first {
            let from = (seen - first) as usize;
            (strip + at * self.pitch - from * self.pitch, &above[from..])
        } else {
            return (0, 0);
        };
        if distance > MAX_DISTANCE {
            return (0, 0);
        }
        (distance, row[at..].iter().zip(before).take_while(|(a, b)| a == b).count())
    }

    /// Finds which lines of the spans differ from those above them.
    fn find_told<P: Pixel>(&mut self, meaning: Meaning<P>, above: Option<&[Place]>, row: &[Place]) {
        let words = self.words();
        self.told.clear();
        self.told.resize(words * self.height, 0);
        for (n, span) in self.spans.iter().enumerate() {
            let from = span.start / self.pitch;
            let cells = from..from + span.bytes / self.pitch;
            let told = |lines, place: &Place| lines | meaning.forms.told(place.form);
            let mut lines = row[cells.clone()].iter().fold(0, told);
            let touch = |above: &[Place]| cells.clone().all(|at| meaning.touch(above[at], row[at]));
            if above.is_some_and(touch) {
                lines &= !1;
            }
            let (word, bit) = (n / 64, 1 << (n % 64));
            for (half, first) in [(lines as u64, 0), ((lines >> 64) as u64, 64)] {
                bits(half).for_each(|y| self.told[(first + y) * words + word] |= bit);
            }
        }
    }

    /// Words of a line's bits.
    fn words(&self) -> usize {
        self.spans.len().div_ceil(64)
    }

    /// The spans that differ from the line above in a line.
    #[inline]
    pub fn told(&self, y: usize) -> impl Iterator<Item = usize> {
        let words = self.words();
        let words = self.told[y * words..(y + 1) * words].iter().enumerate();
        words.flat_map(|(n, word)| bits(*word).map(move |bit| n * 64 + bit))
    }

    /// Counts what the row needs, or a little more: the first line of a cell may not be told.
    fn count<P: Pixel>(&self, meaning: Meaning<P>, uses: &mut [u32], counts: &mut Counts) {
        let again = |bytes: usize, distance: usize, counts: &mut Counts| {
            lengths(bytes).for_each(|length| counts.again(length, distance, 1));
        };
        for span in &self.spans {
            let What::Told(place) = span.what else { continue };
            uses[place.form as usize] += 1;
            for (class, times) in meaning.forms.inks(place.form) {
                let pixel = [meaning.paint(place).pixels[usize::from(*class)]];
                P::bytes(&pixel).iter().for_each(|byte| counts.byte(*byte, *times));
            }
        }
        for y in 0..self.height {
            let mut done = 0;
            for span in self.told(y).map(|at| &self.spans[at]) {
                match span.start - done {
                    1 => counts.byte(0, 1),
                    bytes => again(bytes, self.stride, counts),
                }
                if let What::Stood(distance) = span.what {
                    again(span.bytes, distance, counts);
                }
                done = span.start + span.bytes;
            }
            again(self.stride - done, self.stride, counts);
        }
    }
}

/// Counts the repetitions within forms that are seen so often.
fn count_forms<P: Pixel>(meaning: Meaning<P>, stride: usize, uses: &[u32], counts: &mut Counts) {
    let used = uses.iter().enumerate().filter(|(_, times)| **times > 0);
    for (form, times) in used {
        for again in meaning.forms.agains(form as FormId) {
            let length = usize::from(again.length) * P::CHANNELS;
            counts.again(length, again.distance(stride, P::CHANNELS), *times);
        }
    }
}

/// The bits that are set.
#[inline]
fn bits(word: u64) -> impl Iterator<Item = usize> {
    let mut left = word;
    std::iter::from_fn(move || {
        let bit = (left != 0).then_some(left.trailing_zeros() as usize);
        left &= left.wrapping_sub(1);
        bit
    })
}

#[inline]
fn hash(place: Place) -> usize {
    let both = u64::from(place.form) << 32 | u64::from(place.look);
    (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SEEN_BITS)) as usize
}

/// A length in parts that a repetition can have; what is left over must not be too short.
pub fn lengths(length: usize) -> impl Iterator<Item = usize> {
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
