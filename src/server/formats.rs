//! What a worker leaves to the next one, each with a version of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::journal;
use crate::keeper;
use crate::mux;
use crate::term;
use crate::wire::EventKind;

/// Kinds of events are kept by their number, and new ones are added at the end.
const EVENTS: u32 = EventKind::ALL.len() as u32;

/// For each the version that this program writes, and the oldest that it reads.
const FORMATS: [(&str, u32, u32); 5] = [
    ("keeper", keeper::VERSION, keeper::VERSION),
    ("memory", journal::VERSION, journal::VERSION),
    ("records", mux::RECORD_VERSION, mux::RECORD_VERSION),
    ("events", EVENTS, 1),
    ("screens", term::SAVE_VERSION, term::SAVE_VERSION),
];

/// What a program says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Formats {
    pub version: String,
    /// By name the oldest and the newest version that it reads.
    formats: BTreeMap<String, [u32; 2]>,
}

impl Formats {
    pub fn own() -> Formats {
        let range = |(name, newest, oldest): (&str, u32, u32)| (name.to_owned(), [oldest, newest]);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Formats { version, formats: FORMATS.map(range).into() }
    }

    /// Why that program cannot take over from this one; None if it can.
    pub fn differs(&self) -> Option<String> {
        let differs = |(name, written, _): &(&str, u32, u32)| match self.formats.get(*name) {
            Some([oldest, newest]) if (oldest..=newest).contains(&written) => None,
            Some([oldest, newest]) if oldest == newest => {
                Some(format!("{name} of version {oldest}, not {written}"))
            }
            Some([oldest, newest]) => {
                Some(format!("{name} of versions {oldest} to {newest}, not {written}"))
            }
            None => Some(format!("no {name}, here of version {written}")),
        };
        let all: Vec<_> = FORMATS.iter().filter_map(differs).collect();
        (!all.is_empty()).then(|| format!("it reads {}", all.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, range: Option<[u32; 2]>) -> Option<String> {
        let mut other = Formats::own();
        match range {
            Some(range) => other.formats.insert(name.to_owned(), range),
            None => other.formats.remove(name),
        };
        other.differs()
    }

    #[test]
    fn only_what_can_be_read_is_taken_over() {
        let screens = term::SAVE_VERSION;
        assert_eq!(Formats::own().differs(), None);
        assert_eq!(with("screens", Some([1, screens + 1])), None);
        assert_eq!(with("news", Some([1, 1])), None);
        let why = with("screens", Some([screens + 1, screens + 1])).unwrap();
        assert!(why.contains(&format!("screens of version {}, not {screens}", screens + 1)));
        // An older one, which does not know the newest kinds of events.
        assert!(with("events", Some([1, EVENTS - 1])).unwrap().contains("events"));
        assert!(with("memory", None).unwrap().contains("no memory"));
    }
}
