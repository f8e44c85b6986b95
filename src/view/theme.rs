//! Colours for what a program has left to whoever draws.

use crate::term::{Rgb, default_color, parse_color};

/// The default colours, the sixteen, and whether letters are kept apart from their background.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Theme {
    pub foreground: Rgb,
    pub background: Rgb,
    pub cursor: Option<Rgb>,
    /// The first colours of the palette; those after them are the usual ones.
    pub colors: Vec<Rgb>,
    /// Letters get at least this ratio of luminance to their background, in tenths; 0 is none.
    pub contrast: u16,
}

/// Colours a palette of one's own may have.
pub const MAX_COLORS: usize = 256;

pub const NAMES: [&str; 3] = ["dark", "light", "contrast"];

const LIGHT: [u32; 16] = [
    0x1f_2328, 0xb3_1d28, 0x0f_6d31, 0x7d_5700, 0x0a_4fb0, 0x86_2aa0, 0x00_6b7d, 0x6a_737d,
    0x57_606a, 0xcf_222e, 0x1a_7f37, 0x9a_6700, 0x09_69da, 0xa0_34bf, 0x1b_7c83, 0x8c_959f,
];
const CONTRAST: [u32; 16] = [
    0x00_0000, 0xff_5c5c, 0x3d_f56b, 0xff_ee33, 0x6c_b6ff, 0xff_7bff, 0x2f_f3ff, 0xff_ffff,
    0x8a_8a8a, 0xff_8080, 0x7d_ff9c, 0xff_f780, 0x9d_ceff, 0xff_a6ff, 0x8a_f9ff, 0xff_ffff,
];
/// What the guidelines for the web ask of small text at its best.
const STRONG: u16 = 70;

fn rgb(color: u32) -> Rgb {
    let [_, r, g, b] = color.to_be_bytes();
    Rgb(r, g, b)
}

impl Default for Theme {
    /// As the terminal itself tells programs that ask.
    fn default() -> Theme {
        Theme {
            foreground: Rgb(0xd8, 0xd8, 0xd8),
            background: Rgb(0x12, 0x14, 0x18),
            cursor: None,
            colors: Vec::new(),
            contrast: 0,
        }
    }
}

impl Theme {
    pub fn named(name: &str) -> Option<Theme> {
        let theme = |foreground, background, colors: [u32; 16], contrast| Theme {
            foreground: rgb(foreground),
            background: rgb(background),
            cursor: None,
            colors: colors.map(rgb).to_vec(),
            contrast,
        };
        match name {
            "dark" => Some(Theme::default()),
            "light" => Some(theme(0x1f_2328, 0xff_ffff, LIGHT, 0)),
            "contrast" => Some(theme(0xff_ffff, 0x00_0000, CONTRAST, STRONG)),
            _ => None,
        }
    }

    pub fn color(&self, index: u8) -> Rgb {
        let own = self.colors.get(usize::from(index)).copied();
        own.unwrap_or_else(|| default_color(index))
    }

    /// A colour in writing: `#rrggbb` or `#rgb`.
    pub fn parse(text: &str) -> Option<Rgb> {
        let digits = text.strip_prefix('#')?;
        match digits.len() {
            3 => parse_color(format!("#{}", doubled(digits)).as_bytes()),
            6 => parse_color(text.as_bytes()),
            _ => None,
        }
    }
}

/// `fff` is white for people, whatever X makes of it.
fn doubled(digits: &str) -> String {
    digits.chars().flat_map(|digit| [digit, digit]).collect()
}

/// Part of `top` over `bottom`, of 255.
pub fn mix(top: Rgb, bottom: Rgb, part: u8) -> Rgb {
    let one = |a: u8, b: u8| {
        let part = u32::from(part);
        ((u32::from(a) * part + u32::from(b) * (255 - part) + 127) / 255) as u8
    };
    Rgb(one(top.0, bottom.0), one(top.1, bottom.1), one(top.2, bottom.2))
}

fn luminance(color: Rgb) -> f32 {
    let linear = |part: u8| {
        let part = f32::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.0) + 0.7152 * linear(color.1) + 0.0722 * linear(color.2)
}

/// Ratio of luminance, from 1 to 21.
pub fn contrast(a: Rgb, b: Rgb) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The colour moved away from its background until it has the ratio, in tenths.
pub fn kept_apart(color: Rgb, background: Rgb, tenths: u16) -> Rgb {
    let wanted = f32::from(tenths) / 10.0;
    let (white, black) = (Rgb(255, 255, 255), Rgb(0, 0, 0));
    let far =
        if contrast(white, background) >= contrast(black, background) { white } else { black };
    let steps = (0..=255).step_by(15).map(|part| mix(far, color, part));
    steps.into_iter().find(|moved| contrast(*moved, background) >= wanted).unwrap_or(far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_in_writing() {
        assert_eq!(Theme::parse("#fff"), Some(Rgb(255, 255, 255)));
        assert_eq!(Theme::parse("#12aB00"), Some(Rgb(0x12, 0xab, 0)));
        assert_eq!(Theme::parse("red"), None);
        assert_eq!(Theme::parse("#ffff"), None);
        assert_eq!(Theme::parse("#ß"), None);
    }

    #[test]
    fn letters_are_kept_apart_from_what_is_behind_them() {
        for color in [Rgb(0, 0, 0), Rgb(0, 0, 128), Rgb(90, 90, 90), Rgb(255, 0, 0)] {
            for paper in [Rgb(0, 0, 0), Rgb(255, 255, 255), Rgb(120, 120, 120)] {
                let wanted = if paper == Rgb(120, 120, 120) { 40 } else { STRONG };
                let moved = kept_apart(color, paper, wanted);
                assert!(contrast(moved, paper) * 10.0 >= f32::from(wanted), "{color:?} {paper:?}");
            }
        }
    }

    #[test]
    fn every_colour_of_the_light_theme_can_be_read() {
        let light = Theme::named("light").unwrap();
        for (index, color) in light.colors.iter().enumerate() {
            assert!(contrast(*color, light.background) >= 3.0, "{index}");
        }
    }
}
