//! What a search found, as clients see it.

use serde::Serialize;

use crate::view::grep::{Found, Match};

#[derive(Debug, Serialize)]
pub struct SearchAnswer {
    matches: Vec<FoundMatch>,
    /// How many there are in all.
    total: usize,
}

#[derive(Debug, Serialize)]
struct FoundMatch {
    line: u64,
    start: usize,
    length: usize,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

impl From<Match> for FoundMatch {
    fn from(found: Match) -> FoundMatch {
        let Match { line, start, length, text, before, after } = found;
        FoundMatch { line, start, length, text, before, after }
    }
}

impl From<Found> for SearchAnswer {
    fn from(found: Found) -> SearchAnswer {
        let matches = found.matches.into_iter().map(FoundMatch::from).collect();
        SearchAnswer { matches, total: found.total }
    }
}
