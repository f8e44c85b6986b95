//! detach: the end of a view; the terminal goes on.

use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{Mux, Ticket, ViewId};
use crate::wire::Failure;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detach {
    pub view: u32,
}

impl Command for Detach {
    const NAME: &'static str = "detach";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let id = ViewId(self.view);
        mux.view(id, ticket.client)?;
        mux.detach(id)?;
        mux.answer(ticket, serde_json::json!({ "view": self.view }));
        Ok(())
    }
}
