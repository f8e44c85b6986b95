//! search: lines of screen and scrollback that match.

use clap::Args;
use regex::RegexBuilder;
use serde::{Deserialize, Serialize};

use super::{Command, within};
use crate::mux::{Mux, Ticket};
use crate::term::LineNo;
use crate::view::text;
use crate::wire::Failure;

/// Matches in one answer.
const MAX_MATCHES: u64 = 10_000;
/// Bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1 << 20;

/// Search a terminal's screen and scrollback.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The terminal's id or name
    pub id: String,
    /// A regular expression
    pub pattern: String,
    /// Take the pattern as it stands instead of as a regular expression
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub plain: bool,
    /// Small and capital letters are the same
    #[arg(long, short)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub ignore_case: bool,
    /// At most so many, the newest
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
}

fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Serialize)]
struct Answer {
    matches: Vec<Match>,
    /// How many there are in all.
    total: usize,
}

#[derive(Serialize)]
struct Match {
    line: u64,
    /// Characters of the line before the match, and of the match.
    start: usize,
    length: usize,
    text: String,
}

impl Search {
    pub fn lines(id: &str, pattern: &str) -> Search {
        let (id, pattern) = (id.to_owned(), pattern.to_owned());
        Search { id, pattern, plain: false, ignore_case: false, last: None }
    }

    fn regex(&self) -> Result<regex::Regex, Failure> {
        let pattern = if self.plain { regex::escape(&self.pattern) } else { self.pattern.clone() };
        RegexBuilder::new(&pattern)
            .case_insensitive(self.ignore_case)
            .size_limit(MAX_PATTERN)
            .build()
            .map_err(|error| Failure::bad_value(format!("search: pattern: {error}")))
    }
}

impl Command for Search {
    const NAME: &'static str = "search";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let regex = self.regex()?;
        let last =
            self.last.map_or(Ok(MAX_MATCHES), |last| within("last", last, 1, MAX_MATCHES))?;
        let grid = &mux.terminal(&self.id)?.grid;
        let mut matches = Vec::new();
        for row in text::lines(grid, LineNo(0), usize::MAX) {
            for found in regex.find_iter(&row.text).filter(|found| !found.is_empty()) {
                matches.push(Match {
                    line: row.line.0,
                    start: row.text[..found.start()].chars().count(),
                    length: found.as_str().chars().count(),
                    text: row.text.clone(),
                });
            }
        }
        let total = matches.len();
        matches.drain(..total.saturating_sub(last as usize));
        mux.answer(ticket, Answer { matches, total });
        Ok(())
    }
}
