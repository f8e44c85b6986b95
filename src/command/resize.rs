//! resize: another size; the program is told by SIGWINCH.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, size};
use crate::mux::{Mux, Ticket};
use crate::wire::Failure;

/// Change a terminal's size. Wrapped lines are joined and split anew.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// The terminal's id or name
    pub id: String,
    /// Width in columns
    pub cols: i64,
    /// Height in rows
    pub rows: i64,
}

impl Command for Resize {
    const NAME: &'static str = "resize";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let size = size(self.cols, self.rows)?;
        let id = mux.find(&self.id)?;
        let seq = mux.seq();
        mux.resize(id, size);
        let body = serde_json::json!({ "cols": size.cols, "rows": size.rows, "seq": seq });
        mux.answer(ticket, body);
        Ok(())
    }
}
