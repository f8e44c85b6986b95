//! view: another role or size for a view, or the news that it has the focus.

use serde::{Deserialize, Serialize};

use super::{Command, optional_size};
use crate::input;
use crate::mux::{Mux, Ticket, Typist, ViewId};
use crate::wire::{Failure, Role};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    pub view: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focused: Option<bool>,
}

impl Command for View {
    const NAME: &'static str = "view";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let id = ViewId(self.view);
        let terminal = mux.view(id, ticket.client)?;
        let size = optional_size("view", self.cols, self.rows)?;
        let role = mux.change_view(id, self.role, size)?;
        if let Some(focused) = self.focused {
            let modes = mux.get(terminal).map(|terminal| terminal.grid.modes());
            if let Some(bytes) = modes.and_then(|modes| input::focus(focused, modes)) {
                // Who may not type is not noticed either.
                let _ = mux.type_in(terminal, bytes, Typist::View(id));
            }
        }
        mux.answer(ticket, serde_json::json!({ "view": self.view, "role": role }));
        Ok(())
    }
}
