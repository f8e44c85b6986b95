//! How a cell looks in the end: style, theme and colours that were set, resolved.

use super::theme::{Theme, contrast, kept_apart, mix};
use crate::term::{Attrs, Color, CursorShape, Palette, Rgb, Special, Style, Underline};

/// How much of the letter's colour is left when it is dim, of 255.
const DIM: u8 = 150;
/// How much of the mark's colour a changed row's background gets, of 255.
const TINT: u8 = 56;
const MARK: Rgb = Rgb(0xff, 0xc8, 0x2e);
const MARKED_TEXT: Rgb = Rgb(0x10, 0x10, 0x10);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    pub fg: Rgb,
    pub bg: Rgb,
    /// Colour of the underline.
    pub line: Rgb,
    pub bold: bool,
    pub italic: bool,
    pub hidden: bool,
    pub strike: bool,
    pub overline: bool,
    pub link: bool,
    pub underline: Underline,
    /// A cursor that does not fill its cell, and its colour.
    pub cursor: Option<(CursorShape, Rgb)>,
}

impl Look {
    /// Nothing but a background.
    pub fn blank(fg: Rgb, bg: Rgb) -> Look {
        Look {
            fg,
            bg,
            line: fg,
            bold: false,
            italic: false,
            hidden: false,
            strike: false,
            overline: false,
            link: false,
            underline: Underline::None,
            cursor: None,
        }
    }
}

/// What is laid over a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Over {
    pub cursor: Option<CursorShape>,
    /// The row has changed.
    pub changed: bool,
    /// A match of a search.
    pub found: bool,
}

/// Colours as they are on this terminal, with this theme.
pub struct Colors<'a> {
    pub palette: &'a Palette,
    pub theme: &'a Theme,
    /// Foreground and background are exchanged on the whole screen.
    pub reverse: bool,
}

impl Colors<'_> {
    pub fn foreground(&self) -> Rgb {
        let own = if self.reverse { Special::Background } else { Special::Foreground };
        self.special(own)
    }

    pub fn background(&self) -> Rgb {
        let own = if self.reverse { Special::Foreground } else { Special::Background };
        self.special(own)
    }

    fn special(&self, which: Special) -> Rgb {
        let default = match which {
            Special::Foreground => self.theme.foreground,
            Special::Background => self.theme.background,
            Special::Cursor => self.theme.cursor.unwrap_or_else(|| self.foreground()),
        };
        self.palette.special(which).unwrap_or(default)
    }

    fn rgb(&self, color: Color, default: Rgb) -> Rgb {
        match color {
            Color::Default => default,
            Color::Indexed(n) => self.palette.chosen(n).unwrap_or_else(|| self.theme.color(n)),
            Color::Rgb(r, g, b) => Rgb(r, g, b),
        }
    }

    /// The look of a cell that has this style.
    pub fn look(&self, style: Style, link: bool, over: Over) -> Look {
        let (mut fg, mut bg) = self.ground(style);
        if over.changed {
            bg = mix(MARK, bg, TINT);
        }
        if over.found {
            (fg, bg) = (MARKED_TEXT, MARK);
        }
        let line = match style.underline_color {
            Color::Default => fg,
            color => self.rgb(color, fg),
        };
        let mut look = Look {
            fg,
            bg,
            line,
            bold: style.attrs.has(Attrs::BOLD),
            italic: style.attrs.has(Attrs::ITALIC),
            hidden: style.attrs.has(Attrs::HIDDEN),
            strike: style.attrs.has(Attrs::STRIKE),
            overline: style.attrs.has(Attrs::OVERLINE),
            link,
            underline: style.underline,
            cursor: None,
        };
        if let Some(shape) = over.cursor {
            self.put_cursor(&mut look, shape);
        }
        look
    }

    /// Letter and background after all attributes that change colours.
    fn ground(&self, style: Style) -> (Rgb, Rgb) {
        let mut fg = self.rgb(brighter(style), self.foreground());
        let mut bg = self.rgb(style.bg, self.background());
        if style.attrs.has(Attrs::INVERSE) {
            (fg, bg) = (bg, fg);
        }
        if style.attrs.has(Attrs::DIM) {
            fg = mix(fg, bg, DIM);
        }
        if self.theme.contrast > 0 {
            fg = kept_apart(fg, bg, self.theme.contrast);
        }
        (fg, bg)
    }

    /// A block exchanges the colours; on a cell of the cursor's own colour it must still show.
    fn put_cursor(&self, look: &mut Look, shape: CursorShape) {
        let mut color = self.special(Special::Cursor);
        if contrast(color, look.bg) < 1.5 {
            color = look.fg;
        }
        if shape == CursorShape::Block {
            let under = look.bg;
            look.bg = color;
            look.fg = if contrast(under, color) < 1.5 { look.fg } else { under };
            look.line = look.fg;
        } else {
            look.cursor = Some((shape, color));
        }
    }
}

/// Bold letters in one of the first eight colours are drawn in the bright ones: the dark ones are
/// hard to read, and `1;30` means grey to the programs that use it.
fn brighter(style: Style) -> Color {
    match style.fg {
        Color::Indexed(n @ 0..8) if style.attrs.has(Attrs::BOLD) => Color::Indexed(n + 8),
        color => color,
    }
}

impl Look {
    /// All that tells two looks apart, in two numbers.
    pub fn key(&self) -> (u64, u64) {
        let color = |Rgb(r, g, b): Rgb| u64::from(u32::from_be_bytes([0, r, g, b]));
        let cursor = self.cursor.map_or(0, |(_, rgb)| color(rgb));
        let shape = u64::from(self.shape());
        (color(self.fg) << 24 | color(self.bg) | shape << 48, color(self.line) << 24 | cursor)
    }

    /// All but the colours.
    pub fn shape(&self) -> u16 {
        let bits = [self.bold, self.italic, self.hidden, self.strike, self.overline, self.link];
        let flags = bits.iter().fold(0, |all, bit| all << 1 | u16::from(*bit));
        let cursor = self.cursor.map_or(0, |(shape, _)| 1 + shape as u16);
        flags << 8 | (self.underline as u16) << 4 | cursor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(style: Style, over: Over) -> Look {
        let (palette, theme) = (Palette::default(), Theme::default());
        Colors { palette: &palette, theme: &theme, reverse: false }.look(style, false, over)
    }

    fn style(attrs: Attrs) -> Style {
        Style { attrs, ..Style::default() }
    }

    #[test]
    fn inverse_exchanges_and_dim_fades() {
        let plain = look(Style::default(), Over::default());
        let inverse = look(style(Attrs::INVERSE), Over::default());
        assert_eq!((inverse.fg, inverse.bg), (plain.bg, plain.fg));
        let dim = look(style(Attrs::DIM), Over::default());
        assert!(dim.fg.0 < plain.fg.0 && dim.fg.0 > plain.bg.0);
    }

    #[test]
    fn a_block_cursor_shows_on_every_background() {
        let over = Over { cursor: Some(CursorShape::Block), ..Over::default() };
        let plain = look(Style::default(), over);
        assert!(contrast(plain.bg, plain.fg) > 3.0);
        let inverse = look(style(Attrs::INVERSE), over);
        assert_ne!(inverse.bg, look(style(Attrs::INVERSE), Over::default()).bg);
    }

    #[test]
    fn what_differs_has_another_key() {
        let plain = look(Style::default(), Over::default());
        let others = [
            look(style(Attrs::BOLD), Over::default()),
            look(style(Attrs::STRIKE), Over::default()),
            look(Style::default(), Over { found: true, ..Over::default() }),
            look(Style { underline: Underline::Curly, ..Style::default() }, Over::default()),
            look(Style::default(), Over { cursor: Some(CursorShape::Bar), ..Over::default() }),
        ];
        assert!(others.iter().all(|other| other.key() != plain.key()));
    }
}
