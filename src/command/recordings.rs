//! recordings: those that run, and those that ended by themselves.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Mux, Ticket};
use crate::wire::Failure;

/// List recordings: those that run, and those that ended by themselves.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recordings {}

impl Command for Recordings {
    const NAME: &'static str = "recordings";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let recordings = mux.recordings();
        mux.answer(ticket, serde_json::json!({ "recordings": recordings }));
        Ok(())
    }
}
