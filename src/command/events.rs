//! events: a stream of what happens.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Mux, Ticket};
use crate::wire::{EventKind, Failure};

/// Stream events as they happen, one JSON object a line.
///
/// The numbers (seq) let nothing slip through: `send` answers with the last one before it typed,
/// and `--since` that number shows all that came after.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Only this terminal's events: its id or name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// Only these, separated by commas; screen and output come only when named
    #[arg(long, value_delimiter = ',', value_name = "EVENT,...")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<EventKind>,
    /// Begin after the event of this number instead of now
    #[arg(long, value_name = "SEQ")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// End after this many
    #[arg(long, value_name = "N")]
    #[serde(skip)]
    pub count: Option<usize>,
}

impl Command for Events {
    const NAME: &'static str = "events";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = self.terminal.map(|name| mux.find(&name)).transpose()?;
        mux.subscribe(ticket, terminal, &self.types, self.since)
    }
}
