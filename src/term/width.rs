//! How many columns a character takes, and which ones join the character before.

use std::sync::LazyLock;
use unicode_width::UnicodeWidthChar;

pub const ZWJ: char = '\u{200d}';
pub const VS16: char = '\u{fe0f}';

/// The planes with nearly all characters in use; beyond them the library is asked.
const TABLE_END: u32 = 0x2_0000;
/// In a table: a character that may join the one before by rules of its own.
const SPECIAL: u8 = 3;

/// Two bits a character, from the library's tables, which take several steps to look up; with
/// ambiguous characters narrow, and wide.
static NARROW: LazyLock<Box<[u8]>> = LazyLock::new(|| table(false));
static WIDE: LazyLock<Box<[u8]>> = LazyLock::new(|| table(true));

fn table(wide: bool) -> Box<[u8]> {
    let byte = |at: u32| (0..4).fold(0, |byte, n| byte | class_of(at * 4 + n, wide) << (n * 2));
    (0..TABLE_END / 4).map(byte).collect()
}

fn class_of(code: u32, wide: bool) -> u8 {
    match char::from_u32(code) {
        Some(c) if is_regional_indicator(c) || is_skin_tone(c) => SPECIAL,
        Some(c) => library_width(c, wide),
        None => 1,
    }
}

fn library_width(c: char, wide: bool) -> u8 {
    let width = UnicodeWidthChar::width(c).unwrap_or(0).min(2);
    let widens = wide && width == 1 && UnicodeWidthChar::width_cjk(c) == Some(2);
    width as u8 + u8::from(widens)
}

/// Columns of a character: 0 joins the one before, never more than 2. `wide` tells how
/// ambiguous characters are taken.
#[inline]
pub fn char_width(c: char, wide: bool) -> usize {
    // Of the special ones a regional indicator takes one column, a skin tone two.
    plain_width(c, wide).unwrap_or_else(|| 1 + usize::from(is_skin_tone(c)))
}

/// The same, unless the character may join the one before though it has a width.
#[inline]
pub fn plain_width(c: char, wide: bool) -> Option<usize> {
    let code = u32::from(c);
    if code >= TABLE_END {
        return Some(usize::from(library_width(c, wide)));
    }
    let class = Widths::get(wide).simple(code);
    (class != SPECIAL).then_some(usize::from(class))
}

/// Whether a character takes one column by itself.
#[inline]
pub fn is_narrow(code: u32) -> bool {
    code < 0x7f
        || match Widths::get(false).simple(code) {
            1 => true,
            SPECIAL => char::from_u32(code).is_some_and(is_regional_indicator),
            _ => code >= TABLE_END && is_rare_narrow(code),
        }
}

#[cold]
fn is_rare_narrow(code: u32) -> bool {
    char::from_u32(code).is_some_and(|c| library_width(c, false) == 1)
}

/// A table at hand, for many characters after one another.
#[derive(Clone, Copy)]
pub struct Widths(&'static [u8]);

impl Widths {
    #[inline]
    pub fn get(wide: bool) -> Widths {
        Widths(if wide { &WIDE } else { &NARROW })
    }

    /// Columns of a character that joins nothing by itself; otherwise 0, or more than 2.
    #[inline]
    pub fn simple(self, code: u32) -> u8 {
        self.0.get(code as usize / 4).map_or(0, |four| four >> (code % 4 * 2) & 3)
    }
}

/// Han, kana and Hangul syllables, without asking the table.
#[inline]
pub fn is_common_wide(code: u32) -> bool {
    (0x4e00..=0x9fff).contains(&code)
        || (0x3041..=0x3096).contains(&code)
        || (0x309b..=0x30ff).contains(&code)
        || (0xac00..=0xd7a3).contains(&code)
}

#[inline]
pub fn is_regional_indicator(c: char) -> bool {
    matches!(u32::from(c), 0x1f1e6..=0x1f1ff)
}

#[inline]
pub fn is_skin_tone(c: char) -> bool {
    matches!(u32::from(c), 0x1f3fb..=0x1f3ff)
}

/// Characters that a zero-width joiner joins: pictographs, and the few old symbols among them.
pub fn is_pictograph(c: char) -> bool {
    // Most of those that are printed are here.
    if (0x1f400..=0x1f53d).contains(&u32::from(c)) {
        return true;
    }
    matches!(u32::from(c),
        0x1f000..=0x1f0ff | 0x1f10d..=0x1f10f | 0x1f12f | 0x1f16c..=0x1f171 | 0x1f17e..=0x1f17f
        | 0x1f18e | 0x1f191..=0x1f19a | 0x1f1ad..=0x1f1e5 | 0x1f201..=0x1f20f | 0x1f21a
        | 0x1f22f | 0x1f232..=0x1f23a | 0x1f23c..=0x1f23f | 0x1f249..=0x1f3fa
        | 0x1f400..=0x1f53d | 0x1f546..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f774..=0x1f77f
        | 0x1f7d5..=0x1f7ff | 0x1f80c..=0x1f80f | 0x1f848..=0x1f84f | 0x1f85a..=0x1f85f
        | 0x1f888..=0x1f88f | 0x1f8ae..=0x1f8ff | 0x1f90c..=0x1f93a | 0x1f93c..=0x1f945
        | 0x1f947..=0x1faff | 0x1fc00..=0x1fffd)
        || is_text_emoji(c)
}

/// Narrow characters that variation selector 16 turns into wide emoji.
#[inline]
pub fn is_text_emoji(c: char) -> bool {
    let code = u32::from(c);
    match code.checked_sub(SYMBOLS.start) {
        Some(at) if code < SYMBOLS.end => SYMBOL_BITS[at as usize / 64] >> (at % 64) & 1 == 1,
        _ => is_listed_emoji(code),
    }
}

/// The block that nearly all of them are in, a bit each.
const SYMBOLS: std::ops::Range<u32> = 0x2600..0x27c0;
const SYMBOL_BITS: [u64; 7] = {
    let mut bits = [0; 7];
    let mut code = SYMBOLS.start;
    while code < SYMBOLS.end {
        let at = code - SYMBOLS.start;
        bits[at as usize / 64] |= (is_listed_emoji(code) as u64) << (at % 64);
        code += 1;
    }
    bits
};

const fn is_listed_emoji(code: u32) -> bool {
    matches!(code,
        0x23 | 0x2a | 0x30..=0x39 | 0xa9 | 0xae | 0x203c | 0x2049 | 0x2122 | 0x2139
        | 0x2194..=0x2199 | 0x21a9..=0x21aa | 0x231a..=0x231b | 0x2328 | 0x23cf
        | 0x23e9..=0x23f3 | 0x23f8..=0x23fa | 0x24c2 | 0x25aa..=0x25ab | 0x25b6 | 0x25c0
        | 0x25fb..=0x25fe | 0x2600..=0x2604 | 0x260e | 0x2611 | 0x2614..=0x2615 | 0x2618
        | 0x261d | 0x2620 | 0x2622..=0x2623 | 0x2626 | 0x262a | 0x262e..=0x262f
        | 0x2638..=0x263a | 0x2640 | 0x2642 | 0x2648..=0x2653 | 0x265f..=0x2660 | 0x2663
        | 0x2665..=0x2666 | 0x2668 | 0x267b | 0x267e..=0x267f | 0x2692..=0x2697 | 0x2699
        | 0x269b..=0x269c | 0x26a0..=0x26a1 | 0x26a7 | 0x26aa..=0x26ab | 0x26b0..=0x26b1
        | 0x26bd..=0x26be | 0x26c4..=0x26c5 | 0x26c8 | 0x26ce..=0x26cf | 0x26d1
        | 0x26d3..=0x26d4 | 0x26e9..=0x26ea | 0x26f0..=0x26f5 | 0x26f7..=0x26fa | 0x26fd
        | 0x2702 | 0x2705 | 0x2708..=0x270d | 0x270f | 0x2712 | 0x2714 | 0x2716 | 0x271d
        | 0x2721 | 0x2728 | 0x2733..=0x2734 | 0x2744 | 0x2747 | 0x274c | 0x274e
        | 0x2753..=0x2755 | 0x2757 | 0x2763..=0x2764 | 0x2795..=0x2797 | 0x27a1 | 0x27b0
        | 0x27bf | 0x2934..=0x2935 | 0x2b05..=0x2b07 | 0x2b1b..=0x2b1c | 0x2b50 | 0x2b55
        | 0x3030 | 0x303d | 0x3297 | 0x3299 | 0x1f004 | 0x1f170..=0x1f171 | 0x1f17e..=0x1f17f
        | 0x1f202 | 0x1f21a | 0x1f22f | 0x1f237 | 0x1f30d..=0x1f30f | 0x1f315 | 0x1f31c
        | 0x1f321 | 0x1f324..=0x1f32c | 0x1f336 | 0x1f378 | 0x1f37d | 0x1f393
        | 0x1f396..=0x1f397 | 0x1f399..=0x1f39b | 0x1f39e..=0x1f39f | 0x1f3a7
        | 0x1f3ac..=0x1f3ae | 0x1f3c2 | 0x1f3c4 | 0x1f3c6 | 0x1f3ca..=0x1f3ce
        | 0x1f3d4..=0x1f3e0 | 0x1f3ed | 0x1f3f3 | 0x1f3f5 | 0x1f3f7 | 0x1f408 | 0x1f415
        | 0x1f41f | 0x1f426 | 0x1f43f | 0x1f441..=0x1f442 | 0x1f446..=0x1f449
        | 0x1f44d..=0x1f44e | 0x1f453 | 0x1f46a | 0x1f47d | 0x1f4a3 | 0x1f4b0 | 0x1f4b3
        | 0x1f4bb | 0x1f4bf | 0x1f4cb | 0x1f4da | 0x1f4df | 0x1f4e4..=0x1f4e6
        | 0x1f4ea..=0x1f4ed | 0x1f4f7 | 0x1f4f9..=0x1f4fb | 0x1f4fd | 0x1f508 | 0x1f50d
        | 0x1f512..=0x1f513 | 0x1f549..=0x1f54a | 0x1f550..=0x1f567 | 0x1f56f..=0x1f570
        | 0x1f573..=0x1f579 | 0x1f587 | 0x1f58a..=0x1f58d | 0x1f590 | 0x1f5a5 | 0x1f5a8
        | 0x1f5b1..=0x1f5b2 | 0x1f5bc | 0x1f5c2..=0x1f5c4 | 0x1f5d1..=0x1f5d3
        | 0x1f5dc..=0x1f5de | 0x1f5e1 | 0x1f5e3 | 0x1f5e8 | 0x1f5ef | 0x1f5f3 | 0x1f5fa
        | 0x1f610 | 0x1f687 | 0x1f68d | 0x1f691 | 0x1f694 | 0x1f698 | 0x1f6ad | 0x1f6b2
        | 0x1f6b9..=0x1f6ba | 0x1f6bc | 0x1f6cb | 0x1f6cd..=0x1f6cf | 0x1f6e0..=0x1f6e5
        | 0x1f6e9 | 0x1f6f0 | 0x1f6f3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_library_says() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            assert_eq!(char_width(c, false), usize::from(library_width(c, false)), "{c:?}");
            let wide = library_width(c, true);
            assert_eq!(char_width(c, true), usize::from(wide), "{c:?}");
        }
    }

    #[test]
    fn widths() {
        let all = [
            ("a", 1),
            ("é", 1),
            ("\u{301}", 0),
            ("日", 2),
            ("😀", 2),
            ("\u{ad}", 0),
            ("\u{17d8}", 2),
        ];
        for (c, width) in all {
            assert_eq!(c.chars().map(|c| char_width(c, false)).sum::<usize>(), width, "{c}");
        }
    }
}
