//! The human client's configuration: what is wrong is named, and the rest still applies.

use std::fmt;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keymap::{Action, Keymap};
use crate::input::Key;
use crate::mux::limits::{
    MAX_COLS, MAX_IDLE_TIMEOUT_MS, MAX_ROWS, MAX_SCROLLBACK_LINES, MAX_SCROLLBACK_TOTAL,
    MIN_SCROLLBACK_TOTAL,
};
use crate::term::Color;

/// Mistakes that are told; nobody mends more at a time.
const MAX_PROBLEMS: usize = 100;

#[derive(Debug, Clone)]
pub struct Config {
    pub keymap: Keymap,
    pub mouse: bool,
    /// The bar in the last row.
    pub status: bool,
    /// Programs' own writes to the clipboard reach the outer terminal's.
    pub programs_set_clipboard: bool,
    pub colors: Colors,
    /// For terminals made by this client; None: what the screen has room for.
    pub cols: Option<u16>,
    pub rows: Option<u16>,
    pub scrollback_lines: Option<u32>,
    pub idle_timeout_ms: Option<u64>,
    /// Whether terminals are kept on disk; the server reads this too, when it starts.
    pub persist: Option<bool>,
    /// For the server, when it is started.
    pub scrollback_total_bytes: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colors {
    pub border: Color,
    pub active: Color,
    pub status: Color,
    pub status_text: Color,
    pub alert: Color,
    pub held: Color,
    pub found: Color,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            keymap: Keymap::default(),
            mouse: true,
            status: true,
            programs_set_clipboard: false,
            colors: Colors::default(),
            cols: None,
            rows: None,
            scrollback_lines: None,
            idle_timeout_ms: None,
            persist: None,
            scrollback_total_bytes: None,
        }
    }
}

impl Default for Colors {
    fn default() -> Colors {
        Colors {
            border: Color::Indexed(8),
            active: Color::Indexed(2),
            status: Color::Indexed(236),
            status_text: Color::Indexed(250),
            alert: Color::Indexed(3),
            held: Color::Indexed(1),
            found: Color::Indexed(11),
        }
    }
}

/// Something in the file that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    pub key: String,
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.key.is_empty() {
            true => write!(f, "line {}: {}", self.line, self.what),
            false => write!(f, "line {}: {}: {}", self.line, self.key, self.what),
        }
    }
}

/// A file as it was found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Found {
    /// What it is called when something is wrong.
    pub name: String,
    /// None: there is none.
    pub text: Option<String>,
    /// Why it cannot be read.
    pub error: Option<String>,
}

impl Found {
    /// What it says, and what is wrong with it.
    pub fn read(&self) -> (Config, Vec<String>) {
        let (config, problems) = parse(self.text.as_deref().unwrap_or_default());
        let told = problems.iter().map(Problem::to_string).chain(self.error.clone());
        (config, told.map(|what| format!("{}: {what}", self.name)).collect())
    }
}

type Set = fn(&mut Config, &DeValue) -> Result<(), String>;

/// Every setting outside of the tables.
const SETTINGS: &[(&str, Set)] = &[
    ("prefix", |config, value| put(&mut config.keymap.prefix, key(text(value)?))),
    ("mouse", |config, value| put(&mut config.mouse, boolean(value))),
    ("status", |config, value| put(&mut config.status, boolean(value))),
    ("programs_set_clipboard", |config, value| {
        put(&mut config.programs_set_clipboard, boolean(value))
    }),
    ("cols", |config, value| {
        put(&mut config.cols, number(value, 1, MAX_COLS.into()).map(|n| Some(n as u16)))
    }),
    ("rows", |config, value| {
        put(&mut config.rows, number(value, 1, MAX_ROWS.into()).map(|n| Some(n as u16)))
    }),
    ("scrollback_lines", |config, value| {
        let lines = number(value, 0, MAX_SCROLLBACK_LINES.into());
        put(&mut config.scrollback_lines, lines.map(|n| Some(n as u32)))
    }),
    ("idle_timeout_ms", |config, value| {
        put(&mut config.idle_timeout_ms, number(value, 1, MAX_IDLE_TIMEOUT_MS).map(Some))
    }),
    ("persist", |config, value| put(&mut config.persist, boolean(value).map(Some))),
    ("scrollback_total_bytes", |config, value| {
        let bytes = number(value, MIN_SCROLLBACK_TOTAL as u64, MAX_SCROLLBACK_TOTAL as u64);
        put(&mut config.scrollback_total_bytes, bytes.map(|n| Some(n as usize)))
    }),
];

/// The table `[colors]`.
const COLORS: &[(&str, Set)] = &[
    ("border", |config, value| put(&mut config.colors.border, color(text(value)?))),
    ("active", |config, value| put(&mut config.colors.active, color(text(value)?))),
    ("status", |config, value| put(&mut config.colors.status, color(text(value)?))),
    ("status_text", |config, value| put(&mut config.colors.status_text, color(text(value)?))),
    ("alert", |config, value| put(&mut config.colors.alert, color(text(value)?))),
    ("held", |config, value| put(&mut config.colors.held, color(text(value)?))),
    ("found", |config, value| put(&mut config.colors.found, color(text(value)?))),
];

const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

fn put<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

fn text<'a>(value: &'a DeValue) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("must be a string, not {}", value.type_str()))
}

fn boolean(value: &DeValue) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("must be true or false, not {}", value.type_str()))
}

fn number(value: &DeValue, min: u64, max: u64) -> Result<u64, String> {
    let number = value.as_integer().and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
    number
        .filter(|n| (min..=max).contains(n))
        .ok_or_else(|| format!("must be a number from {min} to {max}"))
}

fn key(name: &str) -> Result<Key, String> {
    name.parse().map_err(|error: crate::input::KeyError| error.to_string())
}

/// A name, a number of the palette, or `#rrggbb`.
fn color(name: &str) -> Result<Color, String> {
    let bright = name.strip_prefix("bright_");
    let named = NAMES.iter().position(|known| *known == bright.unwrap_or(name));
    if let Some(at) = named {
        return Ok(Color::Indexed(at as u8 + if bright.is_some() { 8 } else { 0 }));
    }
    if let Ok(crate::wire::Hex(r, g, b)) = name.to_owned().try_into() {
        return Ok(Color::Rgb(r, g, b));
    }
    match (name, name.parse()) {
        ("default", _) => Ok(Color::Default),
        (_, Ok(number)) => Ok(Color::Indexed(number)),
        _ => Err(format!(
            "{name:?} is no colour; say default, {}, bright_red …, a number to 255 or #rrggbb",
            NAMES.join(", ")
        )),
    }
}

/// Reads a configuration; what is wrong keeps its default.
pub fn parse(source: &str) -> (Config, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(source);
    let mut reader = Reader { source, config: Config::default(), problems: Vec::new() };
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        reader.problem(at, "", error.message().trim().to_owned());
    }
    for (name, value) in table.get_ref() {
        // What stands in for a value that could not be read has been told already.
        if !value.span().is_empty() {
            reader.setting(name.get_ref(), value);
        }
    }
    reader.problems.sort_by_key(|problem| problem.line);
    (reader.config, reader.problems)
}

struct Reader<'a> {
    source: &'a str,
    config: Config,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, at: usize, key: &str, what: String) {
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let before = self.source.get(..at).unwrap_or(self.source);
        let line = 1 + before.matches('\n').count();
        self.problems.push(Problem { line, key: key.to_owned(), what });
    }

    fn setting(&mut self, name: &str, value: &Spanned<DeValue>) {
        match (name, value.get_ref().as_table()) {
            ("keys", Some(table)) => table.iter().for_each(|(name, value)| {
                self.binding(name.get_ref(), value);
            }),
            ("colors", Some(table)) => table.iter().for_each(|(name, value)| {
                self.set(COLORS, name.get_ref(), value, "colors.");
            }),
            ("keys" | "colors", None) => {
                self.problem(value.span().start, name, "must be a table".to_owned());
            }
            _ => self.set(SETTINGS, name, value, ""),
        }
    }

    fn set(&mut self, table: &[(&str, Set)], name: &str, value: &Spanned<DeValue>, path: &str) {
        let known: Vec<_> = table.iter().map(|(name, _)| *name).collect();
        let result = match table.iter().find(|(known, _)| *known == name) {
            Some((_, set)) => set(&mut self.config, value.get_ref()),
            None => Err(format!("is not known; there are {}", known.join(", "))),
        };
        if let Err(what) = result {
            self.problem(value.span().start, &format!("{path}{name}"), what);
        }
    }

    fn binding(&mut self, name: &str, value: &Spanned<DeValue>) {
        let bound = key(name).and_then(|key| Ok((key, action(text(value.get_ref())?)?)));
        match bound {
            Ok((key, action)) => self.config.keymap.bind(key, action),
            Err(what) => self.problem(value.span().start, &format!("keys.{name}"), what),
        }
    }
}

/// `none` takes a binding away.
fn action(name: &str) -> Result<Option<Action>, String> {
    if name == "none" {
        return Ok(None);
    }
    let names = || Action::names().collect::<Vec<_>>().join(", ");
    let unknown = || format!("no action is called {name:?}; there are none, {}", names());
    Action::named(name).map(Some).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_taken() {
        let (config, problems) = parse(
            "prefix = \"C-b\"\nmouse = false\ncols = 120\n[keys]\nq = \"detach\"\nd = \"none\"\n\
             [colors]\nborder = \"#010203\"\nactive = \"bright_red\"\nfound = \"200\"\n",
        );
        assert_eq!(problems, []);
        assert_eq!(config.keymap.prefix.to_string(), "Ctrl+b");
        assert_eq!(config.keymap.key_of(Action::Detach).as_deref(), Some("q"));
        assert!(!config.mouse);
        assert_eq!(config.cols, Some(120));
        assert_eq!(config.colors.border, Color::Rgb(1, 2, 3));
        assert_eq!(config.colors.active, Color::Indexed(9));
        assert_eq!(config.colors.found, Color::Indexed(200));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_the_rest_applies() {
        let (config, problems) = parse(
            "mouse = \"yes\"\ncols = 0\nfoo = 1\n[keys]\nEntr = \"detach\"\nx = \"explode\"\n\
             Z = \"zoom\"\n[colors]\nborder = \"mauve\"\n",
        );
        let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
        let begins = [
            "line 1: mouse: must be true or false",
            "line 2: cols: must be a number from 1 to 1024",
            "line 3: foo: is not known; there are prefix, mouse",
            "line 5: keys.Entr: unknown key \"Entr\", did you mean Enter",
            "line 6: keys.x: no action is called \"explode\"; there are none, detach",
            "line 9: colors.border: \"mauve\" is no colour",
        ];
        assert_eq!(told.len(), begins.len(), "{told:?}");
        for (told, begin) in told.iter().zip(begins) {
            assert!(told.starts_with(begin), "{told}");
        }
        assert_eq!(config.keymap.help().iter().filter(|(keys, _)| keys.contains('Z')).count(), 1);
    }

    #[test]
    fn a_file_full_of_mistakes_is_read_to_its_end() {
        let wrong = (0..MAX_PROBLEMS * 2).map(|n| format!("nothing{n} = 1\n")).collect::<String>();
        let (config, problems) = parse(&(wrong + "zzz_last = 1\nmouse = false\n"));
        assert_eq!(problems.len(), MAX_PROBLEMS);
        assert!(!config.mouse);
    }

    #[test]
    fn a_file_that_is_not_toml_is_told_and_what_can_be_read_applies() {
        let (config, problems) = parse("mouse = false\nrows = = 3\ncols = 99\n");
        assert_eq!(problems.first().map(|problem| problem.line), Some(2), "{problems:?}");
        assert!(!config.mouse);
        assert_eq!(config.cols, Some(99));
        assert_eq!(parse("").1, []);
    }
}
