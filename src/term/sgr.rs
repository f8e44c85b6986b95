//! Select graphic rendition: numbers to style and back.

use super::params::Params;
use super::style::{Attrs, Color, Style, Underline};
use std::fmt::Write;

/// Changes a style as `CSI … m` says.
pub fn apply(params: &Params, style: &mut Style) {
    if params.is_empty() {
        *style = Style::default();
    } else if params.has_subs() {
        apply_groups(params, style);
    } else {
        apply_values(params.values(), style);
    }
}

/// `38;2;r;g;bm` or `48;2;r;g;bm` in front, and what follows: the longest of the common sequences,
/// at once.
#[inline]
pub fn apply_rgb<'a>(body: &'a [u8], style: &mut Style) -> Option<&'a [u8]> {
    let [which @ (b'3' | b'4'), b'8', b';', b'2', b';', rest @ ..] = body else {
        return None;
    };
    let (r, rest) = byte(rest, b';')?;
    let (g, rest) = byte(rest, b';')?;
    let (b, rest) = byte(rest, b'm')?;
    let place = if *which == b'3' { &mut style.fg } else { &mut style.bg };
    *place = Color::Rgb(r, g, b);
    Some(rest)
}

/// One to three digits that end as they should.
#[inline(always)]
fn byte(bytes: &[u8], end: u8) -> Option<(u8, &[u8])> {
    let digit = |byte: u8| Some(u32::from(byte.wrapping_sub(b'0'))).filter(|digit| *digit < 10);
    let (value, rest) = match bytes {
        [a, last, rest @ ..] if *last == end => (digit(*a)?, rest),
        [a, b, last, rest @ ..] if *last == end => (digit(*a)? * 10 + digit(*b)?, rest),
        [a, b, c, last, rest @ ..] if *last == end => {
            (digit(*a)? * 100 + digit(*b)? * 10 + digit(*c)?, rest)
        }
        _ => return None,
    };
    u8::try_from(value).ok().map(|value| (value, rest))
}

fn apply_values(values: &[u16], style: &mut Style) {
    let mut rest = values;
    while let [first, after @ ..] = rest {
        rest = after;
        if matches!(first, 38 | 48 | 58) {
            let Some((color, used)) = semicolon_color(rest) else {
                return;
            };
            set_color(*first, color, style);
            rest = &rest[used..];
        } else {
            simple(*first, style);
        }
    }
}

/// A group with colons stands for itself; a colour's semicolon form may be mixed in.
fn apply_groups(params: &Params, style: &mut Style) {
    let groups: Vec<&[u16]> = params.groups().collect();
    let mut at = 0;
    while let Some(group) = groups.get(at) {
        at += 1;
        match group {
            [n @ (38 | 48 | 58)] => {
                let flat: Vec<u16> = groups[at..].iter().take(4).map(|g| g[0]).collect();
                let Some((color, used)) = semicolon_color(&flat) else {
                    return;
                };
                set_color(*n, color, style);
                at += used;
            }
            [n] => simple(*n, style),
            [4, kind, ..] => style.underline = underline(*kind),
            [n @ (38 | 48 | 58), color @ ..] => {
                if let Some(color) = colon_color(color) {
                    set_color(*n, color, style);
                }
            }
            _ => {}
        }
    }
}

fn underline(kind: u16) -> Underline {
    match kind {
        0 => Underline::None,
        2 => Underline::Double,
        3 => Underline::Curly,
        4 => Underline::Dotted,
        5 => Underline::Dashed,
        _ => Underline::Single,
    }
}

/// `5;n` or `2;r;g;b`, and how many values that took.
fn semicolon_color(values: &[u16]) -> Option<(Color, usize)> {
    match values {
        [5, n, ..] => Some((indexed(*n), 2)),
        [2, r, g, b, ..] => Some((rgb(*r, *g, *b), 4)),
        _ => None,
    }
}

/// `5:n`, `2:r:g:b` or `2:space:r:g:b` with anything after it.
fn colon_color(values: &[u16]) -> Option<Color> {
    match values {
        [5, n, ..] => Some(indexed(*n)),
        [2, r, g, b] | [2, _, r, g, b, ..] => Some(rgb(*r, *g, *b)),
        _ => None,
    }
}

fn indexed(n: u16) -> Color {
    Color::Indexed(n.min(255) as u8)
}

fn rgb(r: u16, g: u16, b: u16) -> Color {
    let byte = |v: u16| v.min(255) as u8;
    Color::Rgb(byte(r), byte(g), byte(b))
}

fn set_color(which: u16, color: Color, style: &mut Style) {
    match which {
        38 => style.fg = color,
        48 => style.bg = color,
        _ => style.underline_color = color,
    }
}

#[inline]
fn simple(n: u16, style: &mut Style) {
    match n {
        30..=37 => style.fg = Color::Indexed((n - 30) as u8),
        40..=47 => style.bg = Color::Indexed((n - 40) as u8),
        90..=97 => style.fg = Color::Indexed((n - 90 + 8) as u8),
        100..=107 => style.bg = Color::Indexed((n - 100 + 8) as u8),
        39 => style.fg = Color::Default,
        49 => style.bg = Color::Default,
        59 => style.underline_color = Color::Default,
        0 => *style = Style::default(),
        4 => style.underline = Underline::Single,
        21 => style.underline = Underline::Double,
        24 => style.underline = Underline::None,
        _ => attribute(n, &mut style.attrs),
    }
}

fn attribute(n: u16, attrs: &mut Attrs) {
    match n {
        1 => attrs.set(Attrs::BOLD, true),
        2 => attrs.set(Attrs::DIM, true),
        3 => attrs.set(Attrs::ITALIC, true),
        5 => attrs.set(Attrs::BLINK, true),
        6 => attrs.set(Attrs::RAPID, true),
        7 => attrs.set(Attrs::INVERSE, true),
        8 => attrs.set(Attrs::HIDDEN, true),
        9 => attrs.set(Attrs::STRIKE, true),
        22 => {
            attrs.set(Attrs::BOLD, false);
            attrs.set(Attrs::DIM, false);
        }
        23 => attrs.set(Attrs::ITALIC, false),
        25 => {
            attrs.set(Attrs::BLINK, false);
            attrs.set(Attrs::RAPID, false);
        }
        27 => attrs.set(Attrs::INVERSE, false),
        28 => attrs.set(Attrs::HIDDEN, false),
        29 => attrs.set(Attrs::STRIKE, false),
        53 => attrs.set(Attrs::OVERLINE, true),
        55 => attrs.set(Attrs::OVERLINE, false),
        _ => {}
    }
}

/// Each attribute and the number that sets it.
pub const ATTRIBUTES: [(Attrs, u16); 9] = [
    (Attrs::BOLD, 1),
    (Attrs::DIM, 2),
    (Attrs::ITALIC, 3),
    (Attrs::BLINK, 5),
    (Attrs::RAPID, 6),
    (Attrs::INVERSE, 7),
    (Attrs::HIDDEN, 8),
    (Attrs::STRIKE, 9),
    (Attrs::OVERLINE, 53),
];

/// The numbers that give this style, starting from none: `0;1;31`.
pub fn numbers(style: Style) -> String {
    let mut out = String::from("0");
    for (attr, number) in ATTRIBUTES {
        if style.attrs.has(attr) {
            let _ = write!(out, ";{number}");
        }
    }
    match style.underline {
        Underline::None => {}
        Underline::Single => out.push_str(";4"),
        kind => {
            let _ = write!(out, ";4:{}", kind as u8);
        }
    }
    write_color(&mut out, style.fg, 38);
    write_color(&mut out, style.bg, 48);
    write_color(&mut out, style.underline_color, 58);
    out
}

fn write_color(out: &mut String, color: Color, base: u8) {
    let _ = match color {
        Color::Default => Ok(()),
        Color::Indexed(n @ 0..=7) if base != 58 => write!(out, ";{}", base - 8 + n),
        Color::Indexed(n @ 8..=15) if base != 58 => write!(out, ";{}", base + 52 + n - 8),
        Color::Indexed(n) => write!(out, ";{base}:5:{n}"),
        Color::Rgb(r, g, b) => write!(out, ";{base}:2::{r}:{g}:{b}"),
    };
}
