//! cursor: where the cursor is.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Mux, Ticket};
use crate::wire::{CursorState, Failure};

/// Show where the cursor is, counted from 0 at the top left.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cursor {
    /// The terminal's id or name
    pub id: String,
}

impl Command for Cursor {
    const NAME: &'static str = "cursor";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let cursor = CursorState::from(mux.terminal(&self.id)?.grid.cursor());
        mux.answer(ticket, cursor);
        Ok(())
    }
}
