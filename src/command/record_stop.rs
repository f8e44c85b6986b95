//! `record_stop`: ends a recording, and tells what came of it.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Mux, Ticket};
use crate::wire::Failure;

/// End a recording: how long it is, and how many events it has.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordStop {
    /// The recording's id
    pub recording: String,
}

impl Command for RecordStop {
    const NAME: &'static str = "record_stop";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        mux.stop_recording(&self.recording, ticket)
    }
}
