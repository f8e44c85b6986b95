//! upgrade: another program's worker in place of this one.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::limits::MAX_PATH;
use crate::mux::{Mux, Ticket};
use crate::wire::Failure;

/// Have a newly installed t4a take over from the server; nothing is lost.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upgrade {
    /// The program, by its absolute path
    pub program: String,
}

impl Command for Upgrade {
    const NAME: &'static str = "upgrade";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        if !self.program.starts_with('/') || self.program.len() > MAX_PATH {
            let error = format!("upgrade: program must be an absolute path of {MAX_PATH} bytes");
            return Err(Failure::bad_value(error));
        }
        mux.upgrade(self.program, ticket)
    }
}
