//! The values that the fields of `screenshot` can have, on the wire and on the command line.

use std::str::FromStr;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::term::Rgb;
use crate::view::search::{MAX_NEEDLE, Needle};
use crate::view::theme::{MAX_COLORS, NAMES, Theme};
use crate::view::{sheet, shot};
use crate::wire::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A picture
    Png,
    /// A drawing, with text that stays text
    Svg,
    /// A page
    Html,
    /// Text with colours as escape sequences
    Ansi,
    /// Text
    Text,
    /// Runs of text with all that is known about them
    Json,
}

impl Format {
    pub(super) fn wanted(self) -> shot::Format {
        match self {
            Format::Png => shot::Format::Png,
            Format::Svg => shot::Format::Svg,
            Format::Html => shot::Format::Html,
            Format::Ansi => shot::Format::Ansi,
            Format::Text => shot::Format::Text,
            Format::Json => shot::Format::Json,
        }
    }

    /// What a file's ending says.
    pub fn of_ending(ending: &str) -> Option<Format> {
        match ending {
            "txt" => Some(Format::Text),
            "htm" => Some(Format::Html),
            "ans" => Some(Format::Ansi),
            other => Format::from_str(other, true).ok(),
        }
    }

    pub fn ending(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Svg => "svg",
            Format::Html => "html",
            Format::Ansi => "ans",
            Format::Text => "txt",
            Format::Json => "json",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    #[default]
    Raw,
    Base64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gutter {
    /// Rows counted from the bottom
    Rows,
    /// Absolute numbers of lines
    Lines,
}

impl Gutter {
    pub(super) fn wanted(self) -> sheet::Gutter {
        match self {
            Gutter::Rows => sheet::Gutter::Rows,
            Gutter::Lines => sheet::Gutter::Lines,
        }
    }
}

/// A part of what is shown; what is left out goes to the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    #[serde(default)]
    pub row: i64,
    #[serde(default)]
    pub col: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<i64>,
}

fn number(part: &str) -> Result<i64, String> {
    part.trim().parse().map_err(|_| format!("{part:?} is not a number"))
}

pub(super) fn parse_range(text: &str) -> Result<[i64; 2], String> {
    let (start, end) = text.split_once(':').ok_or("expected two numbers, for example 0:5")?;
    Ok([number(start)?, number(end)?])
}

pub(super) fn parse_region(text: &str) -> Result<Region, String> {
    let parts: Vec<_> = text.split(',').collect();
    let [row, col, rows, cols] = parts[..] else {
        return Err("expected ROW,COL,ROWS,COLS, for example 0,0,5,40".to_owned());
    };
    let (rows, cols) = (Some(number(rows)?), Some(number(cols)?));
    Ok(Region { row: number(row)?, col: number(col)?, rows, cols })
}

/// Rows that changed since a stamp, or a text: one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Highlight {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default)]
    pub ignore_case: bool,
}

impl Highlight {
    pub(super) fn parse(text: &str) -> Result<Highlight, String> {
        Ok(Highlight { text: Some(text.to_owned()), ..Highlight::default() })
    }

    pub(super) fn wanted(&self) -> Result<sheet::Highlight, Failure> {
        match (self.since, &self.text) {
            (Some(since), None) => Ok(sheet::Highlight::Since(since)),
            (None, Some(text)) if (1..=MAX_NEEDLE).contains(&text.chars().count()) => {
                let needle = Needle { text: text.clone(), ignore_case: self.ignore_case };
                Ok(sheet::Highlight::Text(needle))
            }
            (None, Some(_)) => Err(Failure::bad_value(format!(
                "highlight: text must have 1 to {MAX_NEEDLE} characters"
            ))),
            _ => Err(Failure::bad_value(
                "highlight: give since (a stamp) or text, for example {\"text\": \"error\"}",
            )),
        }
    }
}

/// A name, or colours of one's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Value", try_from = "Value")]
pub enum ThemeChoice {
    Named(String),
    Own(Box<OwnTheme>),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnTheme {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreground: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colors: Vec<String>,
}

impl TryFrom<Value> for ThemeChoice {
    type Error = String;

    fn try_from(value: Value) -> Result<ThemeChoice, String> {
        match value {
            Value::String(name) => Ok(ThemeChoice::Named(name)),
            Value::Object(_) => {
                serde_json::from_value(value).map(ThemeChoice::Own).map_err(|e| e.to_string())
            }
            other => Err(format!("{other} is no theme: {}", choices())),
        }
    }
}

impl From<ThemeChoice> for Value {
    fn from(choice: ThemeChoice) -> Value {
        match choice {
            ThemeChoice::Named(name) => Value::String(name),
            ThemeChoice::Own(own) => serde_json::to_value(own).unwrap_or(Value::Null),
        }
    }
}

impl FromStr for ThemeChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<ThemeChoice, String> {
        match text.starts_with('{') {
            true => serde_json::from_str(text).map_err(|error| error.to_string()),
            false => Ok(ThemeChoice::Named(text.to_owned())),
        }
    }
}

fn choices() -> String {
    let names = NAMES.join(", ");
    format!("there are {names}, or an object with foreground, background, cursor, colors")
}

impl ThemeChoice {
    pub(super) fn theme(&self) -> Result<Theme, Failure> {
        match self {
            ThemeChoice::Named(name) => Theme::named(name).ok_or_else(|| {
                const SHOWN: usize = 40;
                let name: String = name.chars().take(SHOWN).collect();
                Failure::bad_value(format!("theme: no theme is called {name:?}; {}", choices()))
            }),
            ThemeChoice::Own(own) => own.theme(),
        }
    }
}

impl OwnTheme {
    fn theme(&self) -> Result<Theme, Failure> {
        if self.colors.len() > MAX_COLORS {
            return Err(Failure::bad_value(format!("theme: colors: at most {MAX_COLORS}")));
        }
        let usual = Theme::default();
        let or = |text: &Option<String>, default: Rgb| {
            text.as_ref().map_or(Ok(default), |text| color(text))
        };
        Ok(Theme {
            foreground: or(&self.foreground, usual.foreground)?,
            background: or(&self.background, usual.background)?,
            cursor: self.cursor.as_ref().map(|text| color(text)).transpose()?,
            colors: self.colors.iter().map(|text| color(text)).collect::<Result<_, _>>()?,
            contrast: 0,
        })
    }
}

fn color(text: &str) -> Result<Rgb, Failure> {
    Theme::parse(text).ok_or_else(|| {
        const SHOWN: usize = 40;
        let text: String = text.chars().take(SHOWN).collect();
        Failure::bad_value(format!("theme: {text:?} is no colour: write #rrggbb"))
    })
}
