//! Frames: what a view shows now that it did not before.

use serde::{Deserialize, Serialize};

use super::CursorState;
use crate::term::{Attrs, Color, Style, Underline};

/// One frame as it stands on a line of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The screen's stamp when the frame was made.
    pub frame: u64,
    pub view: u32,
    pub terminal: String,
    pub cols: u16,
    pub rows: u16,
    /// Rows that are not named are blank; else they are as they were.
    #[serde(default, skip_serializing_if = "is_false")]
    pub full: bool,
    pub lines: Vec<FrameRow>,
    /// The looks that runs refer to by their place here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub styles: Vec<Look>,
    pub cursor: CursorState,
    /// Absolute number of the line in the first row.
    pub top_line: u64,
    /// All else about the terminal, when it is not what it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ViewState>,
}

/// Bytes of a program, for a viewer that is a terminal itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawOutput {
    /// In base64.
    pub raw: String,
    pub view: u32,
    pub terminal: String,
    pub cols: u16,
    pub rows: u16,
    /// They draw the present screen from nothing; the program's own follow.
    #[serde(default, skip_serializing_if = "is_false")]
    pub redraw: bool,
    /// Bytes left out before this redraw because the viewer read too slowly.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameRow {
    pub row: u16,
    /// The rest of the row is blank.
    pub runs: Vec<Run>,
}

/// Text of one look. Without a width, each character has a column of its own; with one, the text
/// is a single character that takes that many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run(
    pub String,
    pub usize,
    #[serde(default, skip_serializing_if = "Option::is_none")] pub Option<u8>,
);

/// How text looks; what is left out is as usual.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fg: Option<Paint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bg: Option<Paint>,
    #[serde(skip_serializing_if = "is_false")]
    pub bold: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub dim: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub italic: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub blink: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub inverse: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub hidden: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub strike: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub overline: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub underline: Option<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub underline_color: Option<Paint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    Single,
    Double,
    Curly,
    Dotted,
    Dashed,
}

/// One of the 256 of the palette by its number, or `"#rrggbb"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Paint {
    Indexed(u8),
    Rgb(Hex),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hex(pub u8, pub u8, pub u8);

impl From<Hex> for String {
    fn from(Hex(r, g, b): Hex) -> String {
        format!("#{r:02x}{g:02x}{b:02x}")
    }
}

impl TryFrom<String> for Hex {
    type Error = String;

    fn try_from(text: String) -> Result<Hex, String> {
        let number = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let number = number.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, r, g, b] = number.ok_or(format!("{text:?} is not #rrggbb"))?.to_be_bytes();
        Ok(Hex(r, g, b))
    }
}

fn paint(color: Color) -> Option<Paint> {
    match color {
        Color::Default => None,
        Color::Indexed(n) => Some(Paint::Indexed(n)),
        Color::Rgb(r, g, b) => Some(Paint::Rgb(Hex(r, g, b))),
    }
}

fn color(paint: Option<Paint>) -> Color {
    match paint {
        None => Color::Default,
        Some(Paint::Indexed(n)) => Color::Indexed(n),
        Some(Paint::Rgb(Hex(r, g, b))) => Color::Rgb(r, g, b),
    }
}

impl Look {
    pub fn of(style: Style, link: Option<&str>) -> Look {
        let has = |attr| style.attrs.has(attr);
        Look {
            fg: paint(style.fg),
            bg: paint(style.bg),
            bold: has(Attrs::BOLD),
            dim: has(Attrs::DIM),
            italic: has(Attrs::ITALIC),
            blink: has(Attrs::BLINK) || has(Attrs::RAPID),
            inverse: has(Attrs::INVERSE),
            hidden: has(Attrs::HIDDEN),
            strike: has(Attrs::STRIKE),
            overline: has(Attrs::OVERLINE),
            underline: match style.underline {
                Underline::None => None,
                Underline::Single => Some(Line::Single),
                Underline::Double => Some(Line::Double),
                Underline::Curly => Some(Line::Curly),
                Underline::Dotted => Some(Line::Dotted),
                Underline::Dashed => Some(Line::Dashed),
            },
            underline_color: paint(style.underline_color),
            link: link.map(str::to_owned),
        }
    }

    pub fn style(&self) -> Style {
        let mut attrs = Attrs::default();
        for (attr, on) in [
            (Attrs::BOLD, self.bold),
            (Attrs::DIM, self.dim),
            (Attrs::ITALIC, self.italic),
            (Attrs::BLINK, self.blink),
            (Attrs::INVERSE, self.inverse),
            (Attrs::HIDDEN, self.hidden),
            (Attrs::STRIKE, self.strike),
            (Attrs::OVERLINE, self.overline),
        ] {
            attrs.set(attr, on);
        }
        Style {
            fg: color(self.fg),
            bg: color(self.bg),
            underline_color: color(self.underline_color),
            underline: match self.underline {
                None => Underline::None,
                Some(Line::Single) => Underline::Single,
                Some(Line::Double) => Underline::Double,
                Some(Line::Curly) => Underline::Curly,
                Some(Line::Dotted) => Underline::Dotted,
                Some(Line::Dashed) => Underline::Dashed,
            },
            attrs,
        }
    }
}

/// What an attached client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looks on.
    View,
    /// Types beside the others.
    #[default]
    Edit,
    /// Types alone.
    Take,
}

/// One who looks at the terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    pub view: u32,
    pub role: Role,
    pub name: String,
}

/// What a view shows around the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewState {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    pub alive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The command that runs, by shell integration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How long it had been running when the frame was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_ms: Option<u64>,
    /// How the last command ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_code: Option<i32>,
    pub alt_screen: bool,
    /// The program wants to hear of the mouse.
    pub mouse: bool,
    /// The program wants to hear of keys that are held and let go.
    #[serde(skip_serializing_if = "is_false")]
    pub key_events: bool,
    pub role: Role,
    pub attached: Vec<Attached>,
    /// Who has typed in the last two seconds: `agent`, or a client's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typing: Option<String>,
    /// Requests of agents that were refused because someone has taken the keyboard.
    pub refused: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_are_short_arrays() {
        let run = |width| serde_json::to_string(&Run("日".into(), 1, width)).unwrap();
        assert_eq!(run(None), "[\"日\",1]");
        assert_eq!(run(Some(2)), "[\"日\",1,2]");
        for text in [run(None), run(Some(2))] {
            let back: Run = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&back).unwrap(), text);
        }
    }

    #[test]
    fn colours_are_numbers_or_hex() {
        let look: Look = serde_json::from_str("{\"fg\":9,\"bg\":\"#0a0B0c\"}").unwrap();
        assert_eq!(look.style().fg, Color::Indexed(9));
        assert_eq!(look.style().bg, Color::Rgb(10, 11, 12));
        assert!(serde_json::from_str::<Look>("{\"fg\":\"red\"}").is_err());
        assert_eq!(serde_json::to_string(&Look::default()).unwrap(), "{}");
    }

    fn colors() -> impl Strategy<Value = Color> {
        prop_oneof![
            Just(Color::Default),
            any::<u8>().prop_map(Color::Indexed),
            any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b)),
        ]
    }

    proptest! {
        #[test]
        fn looks_come_back_as_they_were(
            fg in colors(), bg in colors(), underline_color in colors(), bits in 0..0x200_u16,
            line in 0..6_usize,
        ) {
            use Underline::{Curly, Dashed, Dotted, Double, None, Single};
            let underline = [None, Single, Double, Curly, Dotted, Dashed][line];
            let mut attrs = Attrs::from_bits(bits);
            attrs.set(Attrs::RAPID, false);
            let style = Style { fg, bg, underline_color, underline, attrs };
            let text = serde_json::to_string(&Look::of(style, Some("http://x"))).unwrap();
            let back: Look = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(back.style(), style);
            prop_assert_eq!(back.link.as_deref(), Some("http://x"));
        }
    }
}
