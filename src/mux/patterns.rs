//! Patterns that clients give: compiled within bounds, and told apart from what is no pattern.

use regex::{Regex, RegexBuilder};

use super::limits::MAX_PATTERN;
use crate::wire::Failure;

/// A regular expression, or a text as it stands. An error shows where it is wrong.
pub fn pattern(what: &str, text: &str, plain: bool, ignore_case: bool) -> Result<Regex, Failure> {
    if text.is_empty() {
        return Err(Failure::bad_value(format!(
            "{what}: it is empty, so it would stand everywhere"
        )));
    }
    let pattern = if plain { regex::escape(text) } else { text.to_owned() };
    RegexBuilder::new(&pattern)
        .case_insensitive(ignore_case)
        .size_limit(MAX_PATTERN)
        .build()
        .map_err(|error| Failure::bad_value(format!("{what}: {error}")))
}
