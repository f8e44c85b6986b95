//! shutdown: end the server and every terminal.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Effect, Mux, Ticket};
use crate::wire::Failure;

/// End the server and the programs in all its terminals.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shutdown {}

impl Command for Shutdown {
    const NAME: &'static str = "shutdown";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        mux.answer(ticket, serde_json::json!({}));
        mux.effect(Effect::Shutdown);
        Ok(())
    }
}
