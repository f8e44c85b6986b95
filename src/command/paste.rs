//! paste: text put in as a whole, in brackets where the program knows them.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use super::target::Target;
use crate::mux::{Input, Mux, Ticket};
use crate::wire::Failure;

/// Paste text: it presses no keys, and where the program knows pastes it is told that it is one.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paste {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,
    /// What to paste; standard input if left out
    #[arg(default_value = "")]
    pub text: String,
    /// Wait for the first prompt of a program that has just been started
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub when_ready: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Command for Paste {
    const NAME: &'static str = "paste";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let (id, by) = self.target.find(mux, ticket)?;
        mux.type_input(id, Input::Paste(self.text), by, self.when_ready, ticket)
    }
}
