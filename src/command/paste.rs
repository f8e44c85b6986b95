//! paste: text put in as a whole, in brackets where the program knows them.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use super::target::target;
use crate::input;
use crate::mux::{Mux, Ticket};
use crate::wire::Failure;

/// Paste text: it presses no keys, and where the program knows pastes it is told that it is one.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paste {
    /// The terminal's id or name
    #[arg(required = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<u32>,
    /// What to paste; standard input if left out
    #[arg(default_value = "")]
    pub text: String,
}

impl Command for Paste {
    const NAME: &'static str = "paste";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let (id, by) = target(mux, ticket, self.id.as_deref(), self.view)?;
        let seq = mux.seq();
        let modes = mux.get(id).map(|terminal| terminal.grid.modes()).unwrap_or_default();
        let bytes = input::paste(&self.text, modes.bracketed_paste());
        mux.type_in(id, &bytes, by)?;
        mux.answer(ticket, serde_json::json!({ "seq": seq }));
        Ok(())
    }
}
