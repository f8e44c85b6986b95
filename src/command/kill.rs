//! kill: end a terminal's program and forget the terminal.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use super::create::is_no;
use crate::mux::{DeadWish, Mux, Ticket};
use crate::wire::Failure;

/// Hang up on a terminal's program, kill it if it does not listen, and forget the terminal.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    /// The terminal's id or name
    pub id: String,
    /// One that `t4a list --dead` shows: forget what was kept of it
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_no")]
    pub dead: bool,
}

impl Kill {
    pub fn new(id: impl Into<String>) -> Kill {
        Kill { id: id.into(), dead: false }
    }
}

impl Command for Kill {
    const NAME: &'static str = "kill";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        if self.dead {
            return mux.look_at_dead(DeadWish::Drop(self.id), ticket);
        }
        let id = mux.find(&self.id)?;
        mux.kill(id, ticket);
        Ok(())
    }
}
