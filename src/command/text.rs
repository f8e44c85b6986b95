//! text: exact lines of the screen and the scrollback.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::limits::MAX_TEXT_LINES;
use crate::mux::{CommandRecord, History, Mux, Ticket};
use crate::term::{LineNo, Terminal};
use crate::view::text::{self, TextRow};
use crate::wire::{Code, Failure};

/// Print a terminal's text.
///
/// START:END counts rows from the bottom: 0:5 are the last five. --first-line counts whole lines
/// from the beginning; these numbers never change while output goes on, nor when the width does.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The terminal's id or name
    pub id: String,
    /// Rows from the bottom, 0 being the last
    #[arg(value_name = "START:END", value_parser = parse_range)]
    #[serde(skip)]
    pub range: Option<(i64, i64)>,
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
    /// Where to read
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub region: Region,
    /// Cut blanks at the ends of lines.
    #[arg(skip = true)]
    #[serde(default = "yes")]
    pub trim: bool,
    /// Join the rows of a wrapped line
    #[arg(long)]
    #[serde(default)]
    pub join: bool,
    /// Read from the line of this absolute number on
    #[arg(long, value_name = "LINE", conflicts_with_all = ["range", "region"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u64>,
    /// How many lines, with --first-line
    #[arg(long, requires = "first_line")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What a command printed: by its number, or last, last_failed
    #[arg(long, value_name = "NUMBER", value_parser = Which::parse, conflicts_with_all = ["range", "region", "first_line"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Which>,
}

/// One of the commands that `commands` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected the number of a command, \"last\" or \"last_failed\"")]
pub enum Which {
    Number(u64),
    Last(LastOf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastOf {
    Last,
    LastFailed,
}

impl Which {
    fn parse(text: &str) -> Result<Which, String> {
        match text {
            "last" => Ok(Which::Last(LastOf::Last)),
            "last_failed" => Ok(Which::Last(LastOf::LastFailed)),
            number => number
                .parse()
                .map(Which::Number)
                .map_err(|_| format!("{number:?} is neither a number nor last or last_failed")),
        }
    }

    fn find(self, history: &History) -> Result<&CommandRecord, Failure> {
        let mut all = history.iter().rev();
        let found = match self {
            Which::Number(number) => all.find(|record| record.number == number),
            Which::Last(LastOf::Last) => all.next(),
            Which::Last(LastOf::LastFailed) => all.find(|record| record.failed()),
        };
        found.ok_or_else(|| {
            let error = "text: command: there is none of that number; commands lists them";
            Failure::new(Code::NotFound, error)
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// What is on screen
    #[default]
    Viewport,
    /// What has scrolled off the top
    Scrollback,
    /// Both
    All,
}

fn yes() -> bool {
    true
}

fn parse_range(text: &str) -> Result<(i64, i64), String> {
    let (start, end) = text.split_once(':').ok_or("expected START:END, for example 0:5")?;
    let number = |part: &str| part.parse().map_err(|_| format!("{part:?} is not a number"));
    Ok((number(start)?, number(end)?))
}

#[derive(Serialize)]
struct Answer {
    lines: Vec<String>,
    region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<i64>,
    total_lines: u64,
    /// Absolute number of the first of `lines`.
    first_line: u64,
    /// Absolute number after the last of `lines`.
    next_line: u64,
    /// Indices in `lines` that go on with the line above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wrapped: Vec<usize>,
    stamp: u64,
}

impl Text {
    /// A terminal's screen.
    pub fn of(id: &str) -> Text {
        Text {
            id: id.to_owned(),
            range: None,
            start: None,
            end: None,
            region: Region::default(),
            trim: true,
            join: false,
            first_line: None,
            count: None,
            command: None,
        }
    }
}

impl Command for Text {
    const NAME: &'static str = "text";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = mux.terminal(&self.id)?;
        let grid = &terminal.grid;
        let answer = match (self.command, self.first_line) {
            (Some(which), None) => self.of_command(grid, which.find(&terminal.history)?)?,
            (None, Some(first)) => self.by_number(grid, LineNo(first))?,
            (None, None) => self.by_row(grid)?,
            (Some(_), Some(_)) => {
                return Err(Failure::bad_value("text: give command or first_line, not both"));
            }
        };
        mux.answer(ticket, answer);
        Ok(())
    }
}

impl Text {
    fn of_command(&self, grid: &Terminal, record: &CommandRecord) -> Result<Answer, Failure> {
        if self.start.is_some() || self.end.is_some() || self.count.is_some() {
            return Err(Failure::bad_value("text: command goes with neither start, end nor count"));
        }
        let Some([first, end]) = record.output_lines else {
            let error = format!("text: command {} told nothing of its output", record.number);
            return Err(Failure::new(Code::NotFound, error));
        };
        let (first, held) = (LineNo(first), grid.lines());
        let last = LineNo(end.min(first.0 + MAX_TEXT_LINES as u64));
        let cut = record.cut.filter(|_| last.0 == end);
        let rows = text::output(grid, first..last, cut, usize::MAX);
        let total = held.end.0 - held.start.0;
        Ok(self.answer(grid, rows, first.max(held.start), (Region::All, None, total)))
    }

    fn by_number(&self, grid: &Terminal, first: LineNo) -> Result<Answer, Failure> {
        if self.start.is_some() || self.end.is_some() || self.region != Region::Viewport {
            let error = "text: first_line goes with count, not with start, end or region";
            return Err(Failure::bad_value(error));
        }
        let count =
            self.count.map_or(MAX_TEXT_LINES, |count| count.min(MAX_TEXT_LINES as u64) as usize);
        let rows = match self.join {
            true => text::lines(grid, first, count),
            false => text::rows_of_lines(grid, first, count),
        };
        let held = grid.lines();
        let total = held.end.0 - held.start.0;
        Ok(self.answer(grid, rows, first.max(held.start), (Region::All, None, total)))
    }

    fn by_row(&self, grid: &Terminal) -> Result<Answer, Failure> {
        if self.count.is_some() {
            return Err(Failure::bad_value("text: count goes with first_line"));
        }
        let below = if self.region == Region::Scrollback { 0 } else { grid.size().rows.into() };
        let above = if self.region == Region::Viewport { 0 } else { text::scrollback_rows(grid) };
        let total = above + below;
        let (start, end) = self.bounds(total)?;
        let mut rows = rows(grid, below, start, end);
        if self.join {
            rows = join(rows);
        }
        let first = rows.first().map_or(grid.lines().end, |row| row.line);
        let span = Some((self.start.unwrap_or(0), self.end.unwrap_or(total as i64)));
        Ok(self.answer(grid, rows, first, (self.region, span, total as u64)))
    }

    /// The rows asked for, counted from the bottom, cut to what there is.
    fn bounds(&self, total: usize) -> Result<(usize, usize), Failure> {
        let (start, end) = (self.start.unwrap_or(0), self.end.unwrap_or(total as i64));
        if start < 0 || end < start {
            let error = format!(
                "text: start and end count rows from the bottom with 0 <= start <= end, not \
                 {start} and {end}"
            );
            return Err(Failure::bad_value(error));
        }
        let cut = |value: i64| usize::try_from(value).unwrap_or(usize::MAX).min(total);
        let (start, end) = (cut(start), cut(end));
        Ok((start, end.min(start + MAX_TEXT_LINES)))
    }

    fn answer(
        &self,
        grid: &Terminal,
        rows: Vec<TextRow>,
        first: LineNo,
        (region, span, total_lines): (Region, Option<(i64, i64)>, u64),
    ) -> Answer {
        let continues = |pair: &[TextRow]| pair[0].wraps && pair[0].line == pair[1].line;
        let wrapped = rows.windows(2).enumerate().filter(|(_, pair)| continues(pair));
        let wrapped = wrapped.map(|(i, _)| i + 1).collect();
        let next_line = rows.last().map_or(first.0, |row| row.line.0 + 1);
        Answer {
            wrapped,
            next_line,
            lines: rows.into_iter().map(|row| self.trimmed(row.text)).collect(),
            region,
            start: span.map(|(start, _)| start),
            end: span.map(|(_, end)| end),
            total_lines,
            first_line: first.0,
            stamp: grid.stamp(),
        }
    }

    fn trimmed(&self, mut text: String) -> String {
        if self.trim {
            text.truncate(text.trim_end_matches(' ').len());
        }
        text
    }
}

/// Rows `start..end` counted from the bottom, of which the lowest `below` are on screen.
fn rows(grid: &Terminal, below: usize, start: usize, end: usize) -> Vec<TextRow> {
    let mut rows = Vec::new();
    if end > below {
        let skip = start.saturating_sub(below);
        rows = text::rows_above(grid, skip, end - below - skip);
    }
    if start < below {
        let screen = text::viewport(grid);
        let top = below - end.min(below);
        rows.extend(screen.into_iter().skip(top).take(below - start - top));
    }
    rows
}

fn join(rows: Vec<TextRow>) -> Vec<TextRow> {
    let mut joined: Vec<TextRow> = Vec::new();
    for row in rows {
        match joined.last_mut() {
            Some(last) if last.wraps && last.line == row.line => {
                last.text.push_str(&row.text);
                last.wraps = row.wraps;
            }
            _ => joined.push(row),
        }
    }
    joined
}
