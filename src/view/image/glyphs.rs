//! What characters look like at one cell size: masks of sixteen shades, drawn once and kept.

use std::collections::HashMap;

use super::canvas::Canvas;
use super::font::{self, Face};
use super::{Cell, shapes, unifont};

/// Shades of a mask, none and full included.
pub const SHADES: usize = 16;
/// Masks kept at a time.
const MAX_MASKS: usize = 8192;
const ASCII: usize = 128;
/// Makes a key of the character before it. The bitmap would hide that.
const KEYCAP: char = '\u{20e3}';

/// A character's shades, row by row; as wide as the one or two columns it takes.
pub struct Mask {
    pub shades: Box<[u8]>,
}

/// A character as it is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Letter {
    pub ch: char,
    pub face: u8,
    pub wide: bool,
}

pub struct Glyphs {
    cell: Cell,
    masks: Vec<Mask>,
    known: HashMap<Letter, u32>,
    /// Masks of narrow ASCII letters in the four faces; 0 if not drawn yet.
    ascii: Box<[u32; 4 * ASCII]>,
}

impl Glyphs {
    pub fn new(cell: Cell) -> Glyphs {
        let blank = Mask { shades: Box::default() };
        let ascii = Box::new([0; 4 * ASCII]);
        Glyphs { cell, masks: vec![blank], known: HashMap::new(), ascii }
    }

    pub fn get(&mut self, letter: Letter) -> &Mask {
        let quick = usize::from(letter.face) * ASCII + letter.ch as usize;
        let is_ascii = letter.ch.is_ascii() && !letter.wide;
        if is_ascii && self.ascii[quick] != 0 {
            return &self.masks[self.ascii[quick] as usize];
        }
        let index = match self.known.get(&letter) {
            Some(index) => *index,
            None => self.add(letter),
        };
        if is_ascii {
            self.ascii[quick] = index;
        }
        &self.masks[index as usize]
    }

    fn add(&mut self, letter: Letter) -> u32 {
        if self.masks.len() >= MAX_MASKS {
            *self = Glyphs::new(self.cell);
        }
        let index = self.masks.len() as u32;
        self.masks.push(mask(&draw(letter, self.cell)));
        self.known.insert(letter, index);
        index
    }

    /// A character with what joins it; seldom enough not to be kept.
    pub fn cluster(&self, letter: Letter, joined: impl Iterator<Item = char>) -> Mask {
        let mut canvas = draw(letter, self.cell);
        let joined: Vec<char> = joined.collect();
        if let ([second, ..], true) = (&joined[..], is_flag_letter(letter.ch)) {
            return mask(&flag(letter.ch, *second, self.cell));
        }
        if joined.contains(&KEYCAP) {
            frame(&mut canvas);
            return mask(&canvas);
        }
        let face = face_of(letter);
        let mut after_joiner = false;
        for c in joined {
            // What a joiner adds would be drawn over what is there; selectors have no picture.
            let drawn = !after_joiner && is_mark(c);
            after_joiner = c == '\u{200d}';
            if drawn && !font::draw(c, face, self.cell.inner(), &mut canvas) {
                unifont::draw(c, self.cell.inner(), &mut canvas);
            }
        }
        mask(&canvas)
    }
}

fn face_of(letter: Letter) -> Face {
    Face { bold: letter.face & 1 != 0, italic: letter.face & 2 != 0 }
}

fn is_mark(c: char) -> bool {
    let selector = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    let modifier = matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}');
    !selector && !modifier
}

fn is_flag_letter(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}

/// A flag is drawn as the two letters of its country, side by side in a frame.
fn flag(first: char, second: char, cell: Cell) -> Canvas {
    let mut canvas = Canvas::new(2 * cell.w, cell.h);
    for (at, c) in [first, second].into_iter().enumerate() {
        let letter = char::from_u32(u32::from(c).wrapping_sub(0x1f1e6) + 0x41).unwrap_or('?');
        let half = draw(Letter { ch: letter, face: 1, wide: false }, cell);
        canvas.overlay(((at * cell.w) as i32, 0), (cell.w, cell.h), &half.cover);
    }
    frame(&mut canvas);
    canvas
}

/// Lines above and below.
fn frame(canvas: &mut Canvas) {
    let (line, h) = ((0, canvas.w), canvas.h);
    canvas.rect(line, (0, 1), 255);
    canvas.rect(line, (h - 1, h), 255);
}

/// Lines and blocks by code, letters from outlines, the rest from bitmaps, at last a box.
pub fn draw(letter: Letter, cell: Cell) -> Canvas {
    let c = letter.ch;
    let mut canvas = Canvas::new(cell.w * (1 + usize::from(letter.wide)), cell.h);
    if is_blank(c) || shapes::draw(c, &mut canvas) {
        return canvas;
    }
    if font::draw(c, face_of(letter), cell.inner(), &mut canvas) {
        return canvas;
    }
    if unifont::draw(c, cell.inner(), &mut canvas) {
        return canvas;
    }
    match c {
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. => shapes::private(&mut canvas),
        _ => shapes::missing(&mut canvas),
    }
    canvas
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{2800}' | '\u{200b}'..='\u{200f}' | '\u{3164}' | '\u{ffa0}')
}

fn mask(canvas: &Canvas) -> Mask {
    let most = (SHADES - 1) as u32;
    let shade = |cover: &u8| ((u32::from(*cover) * most + 127) / 255) as u8;
    Mask { shades: canvas.cover.iter().map(shade).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::image::Cell;

    const SIZES: [usize; 5] = [5, 7, 8, 10, 15];

    fn cell(w: usize) -> Cell {
        Cell::new(w, 0)
    }

    fn narrow(ch: char) -> Letter {
        Letter { ch, face: 0, wide: false }
    }

    fn missing(wide: bool, cell: Cell) -> Vec<u8> {
        let mut canvas = Canvas::new(cell.w * (1 + usize::from(wide)), cell.h);
        shapes::missing(&mut canvas);
        canvas.cover
    }

    fn check(c: char, wide: bool) {
        let seen = draw(Letter { ch: c, face: 0, wide }, cell(7)).cover;
        assert_ne!(seen, missing(wide, cell(7)), "U+{:04X} is missing", u32::from(c));
        assert!(seen.iter().any(|v| *v > 0), "U+{:04X} draws nothing", u32::from(c));
    }

    #[test]
    fn every_character_of_the_covered_ranges_is_drawn() {
        let narrow = [
            ('!', '~'),
            ('¡', '¬'),
            ('®', 'ͷ'),
            ('Α', 'Ρ'),
            ('Σ', 'ԯ'),
            ('‐', '‧'),
            ('‰', '⁞'),
            ('₠', '⃀'),
            ('℀', '↋'),
            ('←', '⏿'),
            ('①', '⓿'),
            ('─', '➿'),
            ('\u{2801}', '⣿'),
            ('\u{e0b0}', '\u{e0bf}'),
            ('\u{e000}', '\u{e09f}'),
            ('\u{1cd00}', '\u{1cde5}'),
            ('𝐀', '𝑔'),
            ('\u{1fb00}', '\u{1fb92}'),
            ('\u{1fb94}', '\u{1fbca}'),
            ('\u{1fbce}', '\u{1fbef}'),
        ];
        let wide = [
            ('ぁ', 'ゖ'),
            ('ァ', 'ヺ'),
            ('一', '龥'),
            ('가', '힣'),
            ('！', '～'),
            ('😀', '🙏'),
            ('🚀', '🛒'),
            ('🌀', '🏿'),
            ('🤀', '🧿'),
        ];
        let both = [(&narrow[..], false), (&wide[..], true)];
        for (ranges, is_wide) in both {
            for (first, last) in ranges {
                (*first..=*last).for_each(|c| check(c, is_wide));
            }
        }
    }

    /// Which edges the character's line comes to: left, right, top, bottom.
    fn edges(c: char, cell: Cell) -> [Vec<bool>; 4] {
        let canvas = draw(narrow(c), cell);
        let lit = |x: usize, y: usize| canvas.cover[y * cell.w + x] > 127;
        [
            (0..cell.h).map(|y| lit(0, y)).collect(),
            (0..cell.h).map(|y| lit(cell.w - 1, y)).collect(),
            (0..cell.w).map(|x| lit(x, 0)).collect(),
            (0..cell.w).map(|x| lit(x, cell.h - 1)).collect(),
        ]
    }

    /// Lines that come to the same edge meet, unless one is double and the other is not.
    fn meet(a: &[bool], b: &[bool]) -> bool {
        let lines = |edge: &[bool]| edge.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
        let alike = lines(a) == lines(b) && lines(a) > 0;
        !alike || a.iter().zip(b).any(|(a, b)| *a && *b)
    }

    #[test]
    fn lines_of_neighbouring_cells_touch() {
        let is_line = |c: &u32| !matches!(c, 0x2504..=0x250b | 0x254c..=0x254f | 0x2571..=0x2573);
        for w in SIZES {
            let all: Vec<_> = (0x2500..0x2580).filter(is_line).filter_map(char::from_u32).collect();
            for c in &all {
                let [left, right, top, bottom] = edges(*c, cell(w));
                let comes = |edge: &[bool]| edge.iter().any(|lit| *lit);
                for other in &all {
                    let [their_left, _, their_top, _] = edges(*other, cell(w));
                    assert!(meet(&right, &their_left), "{c}{other} at {w}");
                    assert!(meet(&bottom, &their_top), "{c} over {other} at {w}");
                }
                assert!(comes(&left) || comes(&right) || comes(&top) || comes(&bottom), "{c}");
            }
        }
    }

    #[test]
    fn blocks_fill_their_cell_without_seams() {
        for w in SIZES {
            let both = |a: char, b: char| {
                let (a, b) = (draw(narrow(a), cell(w)).cover, draw(narrow(b), cell(w)).cover);
                assert!(a.iter().zip(&b).all(|(a, b)| u32::from(*a) + u32::from(*b) == 255), "{w}");
            };
            both('▀', '▄');
            both('▌', '▐');
            both('▙', '▝');
            both('▞', '▚');
            both('\u{1fb85}', '▂');
            both('█', ' ');
        }
    }

    #[test]
    fn octants_are_numbered_as_unicode_has_them() {
        // BLOCK OCTANT-3 and BLOCK OCTANT-2345678, the first and the last.
        let first = draw(narrow('\u{1cd00}'), cell(8)).cover;
        let lit = |cover: &[u8], x: usize, y: usize| cover[y * 8 + x] > 0;
        assert!(
            lit(&first, 0, 4) && !lit(&first, 0, 3) && !lit(&first, 4, 4) && !lit(&first, 0, 8)
        );
        let last = draw(narrow('\u{1cde5}'), cell(8)).cover;
        assert!(!lit(&last, 0, 0) && lit(&last, 4, 0) && lit(&last, 0, 4) && lit(&last, 7, 15));
    }

    #[test]
    fn the_cache_gives_what_was_drawn() {
        let mut glyphs = Glyphs::new(cell(7));
        let first = glyphs.get(narrow('A')).shades.clone();
        assert_eq!(glyphs.get(narrow('A')).shades, first);
        assert_ne!(glyphs.get(Letter { face: 1, ..narrow('A') }).shades, first);
        let wide = glyphs.get(Letter { wide: true, ..narrow('日') }).shades.len();
        assert_eq!(wide, 14 * 14);
    }

    #[test]
    fn accents_are_drawn_over_their_letter() {
        let glyphs = Glyphs::new(cell(10));
        let plain = mask(&draw(narrow('e'), cell(10))).shades;
        let accented = glyphs.cluster(narrow('e'), ['\u{301}'].into_iter()).shades;
        let more = |mask: &[u8]| mask.iter().map(|v| u32::from(*v)).sum::<u32>();
        assert!(more(&accented) > more(&plain) + 10);
        let selected = glyphs.cluster(narrow('e'), ['\u{fe0f}'].into_iter()).shades;
        assert_eq!(selected, plain);
    }

    #[test]
    fn keys_show_what_is_on_them() {
        let glyphs = Glyphs::new(cell(7));
        let key = |ch: char| {
            let letter = Letter { wide: true, ..narrow(ch) };
            let plain = mask(&draw(letter, cell(7)));
            (glyphs.cluster(letter, ['\u{fe0f}', KEYCAP].into_iter()), plain)
        };
        for ch in "0123456789#*".chars() {
            let (key, plain) = key(ch);
            let inside = 14..13 * 14;
            assert_eq!(key.shades[inside.clone()], plain.shades[inside], "{ch}");
            assert_ne!(key.shades, plain.shades);
        }
    }
}
