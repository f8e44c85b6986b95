//! search: lines of screen and scrollback that match.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, within};
use crate::mux::limits::{MAX_CONTEXT, MAX_MATCHES};
use crate::mux::patterns::pattern;
use crate::mux::{Mux, Ticket};
use crate::view::grep::Hunt;
use crate::wire::Failure;

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
    /// Lines to show before and after each match
    #[arg(long, short = 'C', value_name = "LINES")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<i64>,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Search {
    pub fn lines(id: &str, pattern: &str) -> Search {
        let (id, pattern) = (id.to_owned(), pattern.to_owned());
        Search { id, pattern, plain: false, ignore_case: false, last: None, context: None }
    }
}

impl Command for Search {
    const NAME: &'static str = "search";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let pattern = pattern("search: pattern", &self.pattern, self.plain, self.ignore_case)?;
        let last =
            self.last.map_or(Ok(MAX_MATCHES), |last| within("last", last, 1, MAX_MATCHES))?;
        let context = within("context", self.context.unwrap_or(0), 0, MAX_CONTEXT)?;
        let lines = mux.terminal(&self.id)?.grid.copy_lines();
        let (last, context) = (last as usize, context as usize);
        mux.search(Hunt { lines, pattern, last, context }, ticket)
    }
}
