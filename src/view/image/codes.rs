//! Writes rows in the codes of one block. The bits of each form and of each look are worked out once,
//! when they are first needed.

use super::cells::Meaning;
use super::deflate::{self, Block, MAX_MATCH};
use super::forms::FormId;
use super::huffman::Bits;
use super::ramps::{CLASSES, Class, Pixel};
use super::runs::Step;
use super::strips::{Plan, What, lengths};

/// Longest codes of letters and distances.
pub const LETTER_BITS: usize = 11;
pub const DISTANCE_BITS: usize = 7;
/// A length and a distance have so many bits besides.
const EXTRA_BITS: usize = 5 + 13;
/// Bits that can be put at once.
const AT_ONCE: usize = 56;
/// The least that a long repetition is cut into.
const MIN_LENGTH: usize = MAX_MATCH / 2;
/// Tokens of a line are copied so many at a time.
const TOGETHER: usize = 4;
/// Bytes that a token takes at most, and that a block costs besides: the codes' lengths.
const TOKEN_ROOM: usize = AT_ONCE / 8;
const HEADER_ROOM: usize = 400;

/// Bits, and in the lowest byte how many.
#[derive(Clone, Copy, Default)]
struct Packed(u64);

impl Packed {
    #[inline]
    fn of((bits, count): (u64, u32)) -> Packed {
        Packed(bits << 8 | u64::from(count))
    }

    #[inline]
    fn bits(self) -> u64 {
        self.0 >> 8
    }

    #[inline]
    fn count(self) -> u32 {
        (self.0 & 0xff) as u32
    }

    #[inline]
    fn and(self, next: Packed) -> Packed {
        Packed((self.0 | next.bits() << 8 << self.count()) + u64::from(next.count()))
    }
}

/// What follows in the stream, in one number: the lowest bits are the ink, pixels that depend on the
/// look; the others are bits that do not, and how many.
#[derive(Clone, Copy, Default)]
struct Token(u64);

const INK_BITS: u32 = 22;
const REST_BITS: usize = LETTER_BITS + DISTANCE_BITS + EXTRA_BITS;
const _: () = assert!(INK_BITS as usize + 6 + REST_BITS <= 64);
/// Looks that may come in the rows that are packed at a time.
pub const MAX_LOOKS: usize = (1 << INK_BITS) / (1 + CLASSES + CLASSES * CLASSES) - 1;

impl Token {
    #[inline]
    fn new(ink: usize, rest: Packed) -> Token {
        Token(ink as u64 | u64::from(rest.count()) << INK_BITS | rest.bits() << (INK_BITS + 6))
    }

    /// The same in a look whose inks begin there.
    #[inline]
    fn in_look(self, first: u32) -> Token {
        Token(self.0 + u64::from(first))
    }

    /// The bits and how many.
    #[inline]
    fn written(self, inks: &[Packed]) -> (u64, u32) {
        let ink = inks[(self.0 & ((1 << INK_BITS) - 1)) as usize];
        let count = (self.0 >> INK_BITS & 63) as u32;
        (ink.bits() | self.0 >> (INK_BITS + 6) << ink.count(), ink.count() + count)
    }
}

/// The numbers of a look's inks: none, a pixel of each class, and two pixels where they are short.
fn ink(class: Class) -> usize {
    1 + usize::from(class)
}

fn ink_of_two(first: Class, second: Class) -> usize {
    1 + CLASSES + usize::from(first) * CLASSES + usize::from(second)
}

pub struct Codes<'a, P> {
    block: &'a Block,
    meaning: Meaning<'a, P>,
    /// Bytes of a line of the picture.
    stride: usize,
    /// Where the inks of each look begin, and the lines of each form; 0 if they are not known yet.
    looks: Vec<u32>,
    forms: Vec<u32>,
    inks: Vec<Packed>,
    letters: [Packed; 256],
    /// Where the tokens of a form's line begin, and how many there are.
    lines: Vec<(u32, u32)>,
    told: Vec<Token>,
    /// Bytes as in the line above, by their number; one is the zero that begins a line.
    downs: Vec<Token>,
    /// The longest of a form's lines, filled up.
    longest: usize,
    /// Where lines and inks begin, for each of a row's spans.
    cells: Vec<(u32, u32)>,
    /// The tokens of a row, with room after them.
    tokens: Vec<Token>,
    end: usize,
    bits: Bits,
}

impl<'a, P: Pixel> Codes<'a, P> {
    /// For lines of so many bytes.
    pub fn new(meaning: Meaning<'a, P>, block: &'a Block, stride: usize) -> Codes<'a, P> {
        let down = |length| match length {
            0 | 2 => Token::default(),
            1 => Token::new(0, Packed::of(block.byte(0))),
            _ => Token::new(0, Packed::of(block.again(length, stride))),
        };
        let mut inks = Vec::with_capacity(meaning.looks.len() * (1 + CLASSES));
        inks.push(Packed::default());
        Codes {
            block,
            meaning,
            stride,
            looks: vec![0; meaning.looks.len()],
            forms: vec![0; meaning.forms.count()],
            inks,
            letters: std::array::from_fn(|byte| Packed::of(block.byte(byte as u8))),
            lines: vec![(0, 0)],
            told: Vec::new(),
            downs: (0..=MAX_MATCH).map(down).collect(),
            longest: 0,
            cells: Vec::new(),
            tokens: Vec::new(),
            end: 0,
            bits: Bits::default(),
        }
    }

    /// A row as a block of its own.
    pub fn write(&mut self, plan: &Plan) -> Vec<u8> {
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        cells.extend(plan.spans.iter().map(|span| match span.what {
            What::Told(place) => (self.lines(place.form), self.first_ink(place.look)),
            What::Stood(_) => (0, 0),
        }));
        self.end = 0;
        for y in 0..self.meaning.forms.cell().h {
            self.add_line(plan, y, &cells);
        }
        self.cells = cells;
        self.put()
    }

    /// Where the inks of a look begin.
    fn first_ink(&mut self, look: u32) -> u32 {
        let first = &mut self.looks[look as usize];
        if *first > 0 {
            return *first;
        }
        *first = self.inks.len() as u32;
        let letter = |byte: &u8| self.letters[usize::from(*byte)];
        let pixel_bits =
            |pixel: &P| P::bytes(&[*pixel]).iter().map(letter).fold(Packed::default(), Packed::and);
        let mut pixels = [Packed::default(); CLASSES];
        for (bits, pixel) in pixels.iter_mut().zip(&self.meaning.looks[look as usize].pixels) {
            *bits = pixel_bits(pixel);
        }
        self.inks.push(Packed::default());
        self.inks.extend(pixels);
        if P::CHANNELS == 1 {
            self.inks.extend(pixels.iter().flat_map(|a| pixels.iter().map(|b| a.and(*b))));
        }
        self.looks[look as usize]
    }

    /// Where the lines of a form begin.
    fn lines(&mut self, form: FormId) -> u32 {
        let first = &mut self.forms[form as usize];
        if *first > 0 {
            return *first;
        }
        *first = self.lines.len() as u32;
        for y in 0..self.meaning.forms.cell().h {
            let start = self.told.len();
            self.add_told(form, y);
            let count = self.told.len() - start;
            self.told.resize(start + count.next_multiple_of(TOGETHER), Token::default());
            self.longest = self.longest.max(self.told.len() - start);
            self.lines.push((start as u32, count as u32));
        }
        self.forms[form as usize]
    }

    /// Adds the tokens of a form's line, as few as can be: each has as much after its pixels as there
    /// is room for.
    fn add_told(&mut self, form: FormId, y: usize) {
        let mut last: Option<Class> = None;
        let (mut ink, mut room, mut rest) = (0, REST_BITS, Packed::default());
        let pixel_bits = LETTER_BITS * P::CHANNELS;
        for step in self.meaning.forms.steps(form, y) {
            match step {
                Step::Pixel(class) => match last {
                    Some(first) if P::CHANNELS == 1 && rest.count() == 0 => {
                        ink = ink_of_two(first, *class);
                        room = AT_ONCE - 2 * pixel_bits;
                        last = None;
                    }
                    _ => {
                        self.add_token(ink, rest);
                        (ink, rest, last) = (self::ink(*class), Packed::default(), Some(*class));
                        room = AT_ONCE - pixel_bits;
                    }
                },
                Step::Again(again) => {
                    let distance = again.distance(self.stride, P::CHANNELS);
                    let length = usize::from(again.length) * P::CHANNELS;
                    let next = Packed::of(self.block.again(length, distance));
                    if (rest.count() + next.count()) as usize > room.min(REST_BITS) {
                        self.add_token(ink, rest);
                        (ink, rest, room) = (0, Packed::default(), REST_BITS);
                    }
                    rest = rest.and(next);
                    last = None;
                }
            }
        }
        self.add_token(ink, rest);
    }

    fn add_token(&mut self, ink: usize, rest: Packed) {
        if ink > 0 || rest.count() > 0 {
            self.told.push(Token::new(ink, rest));
        }
    }

    /// Adds a line of the picture.
    fn add_line(&mut self, plan: &Plan, y: usize, cells: &[(u32, u32)]) {
        // A token before each span and after the last, and as many more as long ones are cut into.
        let most = (self.longest + 2) * (plan.spans.len() + 1) + self.stride / MIN_LENGTH;
        if self.tokens.len() < self.end + most {
            self.tokens.resize(2 * (self.end + most), Token::default());
        }
        let mut line = Line { tokens: &mut self.tokens[self.end..], end: 0 };
        let mut done = 0;
        for at in plan.told(y) {
            let span = &plan.spans[at];
            line.down(span.start - done, &self.downs);
            done = span.start + span.bytes;
            match span.what {
                What::Told(_) => {
                    let (lines, ink) = cells[at];
                    let (start, count) = self.lines[lines as usize + y];
                    line.tell(&self.told[start as usize..], count as usize, ink);
                }
                What::Stood(distance) => lengths(span.bytes).for_each(|length| {
                    let again = Packed::of(self.block.again(length, distance));
                    line.push(Token::new(0, again));
                }),
            }
        }
        line.down(self.stride - done, &self.downs);
        self.end += line.end;
    }

    /// The tokens as a block.
    fn put(&mut self) -> Vec<u8> {
        let bits = &mut self.bits;
        bits.begin(self.end * TOKEN_ROOM + HEADER_ROOM);
        self.block.begin(bits);
        bits.put_all(self.tokens[..self.end].iter().map(|token| token.written(&self.inks)));
        self.block.end(bits);
        deflate::align(bits);
        bits.bytes().to_vec()
    }
}

/// The tokens of a line, in room that is large enough.
struct Line<'a> {
    tokens: &'a mut [Token],
    end: usize,
}

impl Line<'_> {
    #[inline]
    fn push(&mut self, token: Token) {
        self.tokens[self.end] = token;
        self.end += 1;
    }

    /// Bytes as in the line above.
    #[inline]
    fn down(&mut self, bytes: usize, downs: &[Token]) {
        if bytes <= MAX_MATCH {
            // Where there is nothing a token is written all the same, and then written over: a
            // branch would be foretold wrong too often.
            self.tokens[self.end] = downs[bytes];
            self.end += usize::from(bytes > 0);
        } else {
            lengths(bytes).for_each(|length| self.push(downs[length]));
        }
    }

    /// The first tokens of those given, in a look whose inks begin there. Some more are copied.
    #[inline]
    fn tell(&mut self, told: &[Token], count: usize, ink: u32) {
        let from = told.as_chunks::<TOGETHER>().0.iter();
        let to = self.tokens[self.end..].as_chunks_mut::<TOGETHER>().0;
        for (to, from) in to.iter_mut().zip(from).take(count.div_ceil(TOGETHER)) {
            *to = from.map(|token| token.in_look(ink));
        }
        self.end += count;
    }
}
