//! kill: end a terminal's program and forget the terminal.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Mux, Ticket};
use crate::wire::Failure;

/// Hang up on a terminal's program, kill it if it does not listen, and forget the terminal.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    /// The terminal's id or name
    pub id: String,
}

impl Command for Kill {
    const NAME: &'static str = "kill";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let id = mux.find(&self.id)?;
        mux.kill(id, ticket);
        Ok(())
    }
}
