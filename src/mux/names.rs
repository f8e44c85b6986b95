//! Names that people give to terminals and workspaces.

use super::limits::MAX_NAME;
use crate::wire::Failure;

/// A name is easy to type and cannot be taken for an id or an option.
pub fn check_name(name: &str) -> Result<(), Failure> {
    let like_an_id =
        name.strip_prefix('t').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    let bad = name.is_empty()
        || name.chars().count() > MAX_NAME
        || name.starts_with('-')
        || name.chars().any(|c| c.is_control() || c.is_whitespace());
    if bad || like_an_id {
        let error = format!(
            "name: {name:?} will not do: 1 to {MAX_NAME} characters without blanks, not beginning \
             with '-', and not like an id (t1)"
        );
        return Err(Failure::bad_value(error));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_taken_for_ids_or_options() {
        for good in ["build", "tests", "t1a", "日本", "a-b"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "t1", "t", "-x", "a b", "a\u{1b}", &"x".repeat(MAX_NAME + 1)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
