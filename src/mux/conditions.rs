//! What a wait can wait for, and how it is seen that it has come.

use std::ops::Range;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::{Map, Value, json};

use super::events::Events;
use super::{Facts, Terminal};
use crate::term::{LineNo, ShellState};
use crate::view::text;
use crate::wire::EventKind;

pub enum Condition {
    /// An event of a kind whose fields have these values.
    Event {
        kind: EventKind,
        fields: Map<String, Value>,
    },
    Text(Scan),
    /// A text that stands nowhere on the screen, or in a part of it.
    Gone(Scan),
    Cursor {
        row: Option<u16>,
        col: Option<u16>,
    },
    /// The screen has not changed for so long.
    Settled(Duration),
    /// Nothing was written for so long; None for the terminal's own idle time-out.
    Idle(Option<Duration>),
    Prompt,
    Exit,
    /// The program sits there until somebody types.
    Input,
    /// It does so without an echo.
    Password,
}

/// All that a condition is judged by.
pub struct Scene<'a> {
    pub terminal: &'a Terminal,
    pub events: &'a Events,
    pub now: Instant,
    pub idle_timeout: Duration,
    /// Only what happened after this event counts, if it was asked so.
    pub after: Option<u64>,
    /// Events up to this one were looked at.
    pub seen: u64,
    /// What the system said, with nothing typed or written since.
    pub facts: Option<&'a Facts>,
}

/// What has come, as the answer tells it.
pub type Found = Map<String, Value>;

impl Condition {
    pub fn name(&self) -> &'static str {
        match self {
            Condition::Event { .. } => "event",
            Condition::Text(_) => "text",
            Condition::Gone(_) => "gone",
            Condition::Cursor { .. } => "cursor",
            Condition::Settled(_) => "settled",
            Condition::Idle(_) => "idle",
            Condition::Prompt => "prompt",
            Condition::Exit => "exit",
            Condition::Input => "input",
            Condition::Password => "password",
        }
    }

    /// Whether only the system can tell.
    pub fn needs_facts(&self) -> bool {
        matches!(self, Condition::Input | Condition::Password)
    }

    /// Whether it looks into the history of events.
    pub fn needs_events(&self, after: bool) -> bool {
        matches!(self, Condition::Event { .. }) || (after && matches!(self, Condition::Prompt))
    }

    /// Reads what is new before it can leave the scrollback.
    pub fn observe(&mut self, terminal: &Terminal) {
        if let Condition::Text(scan) = self {
            scan.observe(terminal);
        }
    }

    /// What has come, if it has.
    pub fn met(&mut self, scene: &Scene) -> Option<Found> {
        let terminal = scene.terminal;
        match self {
            Condition::Event { kind, fields } => scene.event(*kind, fields),
            Condition::Text(scan) => {
                scan.observe(terminal);
                scan.found.clone()
            }
            Condition::Gone(scan) => scan.on_screen(terminal).is_none().then(Map::new),
            Condition::Cursor { row, col } => {
                let cursor = terminal.grid.cursor();
                let is = row.is_none_or(|row| row == cursor.row)
                    && col.is_none_or(|col| col == cursor.col);
                is.then(Map::new)
            }
            Condition::Settled(_) | Condition::Idle(_) => {
                let due = self.due(scene)?;
                (due <= scene.now && !terminal.grid.in_sync()).then(Map::new)
            }
            Condition::Prompt => {
                let now = scene.after.is_none() && terminal.at_prompt(scene.now);
                let told = || scene.event(EventKind::Prompt, &Map::new()).is_some();
                (now || told()).then(Map::new)
            }
            Condition::Exit => (!terminal.alive()).then(Map::new),
            Condition::Input => {
                let facts = scene.facts.filter(|_| !terminal.is_entering(scene.now))?;
                let edits = terminal.grid.shell() == ShellState::Input;
                (edits || facts.reads_tty == Some(true)).then(Map::new)
            }
            Condition::Password => scene.facts.is_some_and(Facts::asks_password).then(Map::new),
        }
    }

    /// When it will be met if nothing else happens.
    pub fn due(&self, scene: &Scene) -> Option<Instant> {
        let terminal = scene.terminal;
        match self {
            Condition::Settled(quiet) => {
                Some(terminal.last_change.max(terminal.last_input) + *quiet)
            }
            Condition::Idle(quiet) => {
                Some(terminal.last_active() + quiet.unwrap_or(scene.idle_timeout))
            }
            _ => None,
        }
    }
}

impl Scene<'_> {
    fn event(&self, kind: EventKind, fields: &Map<String, Value>) -> Option<Found> {
        let is = |event: &Value| fields.iter().all(|(name, value)| event.get(name) == Some(value));
        let told = self.events.after(self.seen, self.terminal.id(), kind);
        let mut told = told.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        match told.find(is)? {
            Value::Object(event) => Some(event),
            _ => None,
        }
    }
}

impl Facts {
    /// Lines are read, and what is typed is not shown.
    pub fn asks_password(&self) -> bool {
        self.echo == Some(false) && self.canonical == Some(true)
    }
}

/// A part of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub rows: Range<u16>,
    pub cols: Range<u16>,
}

/// A pattern that is looked for in lines as they come. Lines that have left the screen are read once,
/// those on the screen when it has changed.
pub struct Scan {
    pattern: Regex,
    part: Option<Part>,
    /// The first line that may still change or is to come.
    next: LineNo,
    /// Rows on the screen count only if they changed after this stamp.
    since: Option<u64>,
    seen: Option<u64>,
    found: Option<Found>,
}

impl Scan {
    /// Looks at what is on the screen and at all that comes.
    pub fn new(pattern: Regex, part: Option<Part>, terminal: &Terminal) -> Scan {
        let next = terminal.grid.line_of_row(0);
        Scan { pattern, part, next, since: None, seen: None, found: None }
    }

    /// Looks only at what was written after a stamp of the screen, in lines from one on.
    #[must_use]
    pub fn only_new(self, stamp: u64, from: LineNo) -> Scan {
        Scan { since: Some(stamp), next: from, ..self }
    }

    /// Looks at lines from one on.
    #[must_use]
    pub fn starting_at(self, next: LineNo) -> Scan {
        Scan { next, ..self }
    }

    pub fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    pub fn observe(&mut self, terminal: &Terminal) {
        let stamp = terminal.grid.stamp();
        if self.found.is_some() || self.seen == Some(stamp) {
            return;
        }
        self.seen = Some(stamp);
        self.found = match &self.part {
            Some(_) => self.on_screen(terminal),
            None => self.in_lines(terminal),
        };
        let top = terminal.grid.line_of_row(0);
        self.next = self.next.max(top);
    }

    fn in_lines(&self, terminal: &Terminal) -> Option<Found> {
        let grid = &terminal.grid;
        let rows: Vec<_> = (0..grid.size().rows).map(|row| grid.line_of_row(row)).collect();
        let changed = |line: LineNo| match (self.since, rows.first()) {
            (Some(since), Some(top)) if line >= *top => {
                let mut own = rows.iter().zip(0..).filter(|(of, _)| **of == line);
                own.any(|(_, row)| grid.row_stamp(row) > since)
            }
            _ => true,
        };
        // With a stamp, rows above the line where output went on may have been drawn anew.
        let from = match (self.since, rows.first()) {
            (Some(_), Some(top)) => self.next.min(*top),
            _ => self.next,
        };
        let lines = text::written_lines(grid, from, usize::MAX);
        lines.into_iter().filter(|row| changed(row.line)).find_map(|row| {
            let found = self.find(&row.text)?;
            let mut told = Map::new();
            told.insert("line".to_owned(), json!(row.line.0));
            if let Some(at) = rows.iter().position(|line| *line == row.line) {
                told.insert("row".to_owned(), json!(at));
            }
            told.insert("text".to_owned(), json!(found));
            Some(told)
        })
    }

    /// With the blanks that were written at a line's end, or without: `> $` and `done$` both stand
    /// at the end of a line.
    fn find<'a>(&self, text: &'a str) -> Option<&'a str> {
        let found =
            self.pattern.find(text).or_else(|| self.pattern.find(text.trim_end_matches(' ')));
        found.map(|found| found.as_str())
    }

    /// Where it stands on the screen, or in the part of it.
    fn on_screen(&self, terminal: &Terminal) -> Option<Found> {
        let grid = &terminal.grid;
        let size = grid.size();
        let (rows, cols) = match &self.part {
            Some(part) => (part.rows.clone(), part.cols.clone()),
            None => (0..size.rows, 0..size.cols),
        };
        (rows.start..rows.end.min(size.rows)).find_map(|row| {
            let mut text = String::new();
            (cols.start..cols.end.min(size.cols)).for_each(|col| grid.text_at(row, col, &mut text));
            let found = self.pattern.find(text.trim_end_matches(' '))?;
            let mut told = Map::new();
            told.insert("line".to_owned(), json!(grid.line_of_row(row).0));
            told.insert("row".to_owned(), json!(row));
            told.insert("text".to_owned(), json!(found.as_str()));
            Some(told)
        })
    }
}
