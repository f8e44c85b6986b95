//! info: everything about one terminal.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Asker, Effect, Mux, Ticket};
use crate::wire::Failure;

/// Show all that is known about one terminal.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Info {
    /// The terminal's id or name
    pub id: String,
}

impl Command for Info {
    const NAME: &'static str = "info";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let id = mux.find(&self.id)?;
        // The answer needs what only the system knows; `Mux::probed` gives it.
        mux.effect(Effect::Probe { id, asker: Asker::Info(ticket.clone()) });
        Ok(())
    }
}
