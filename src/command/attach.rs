//! attach: a view of a terminal, shown by frames at the client's own pace.

use serde::{Deserialize, Serialize};

use super::{Command, optional_size};
use crate::mux::{Attachment, Mux, Ticket};
use crate::wire::{Failure, Role};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    pub id: String,
    #[serde(default)]
    pub role: Role,
    /// What others see of who it is.
    #[serde(default)]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// The program's bytes after a redraw, for a viewer that is a terminal itself.
    #[serde(default)]
    pub raw: bool,
}

impl Command for Attach {
    const NAME: &'static str = "attach";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = mux.find(&self.id)?;
        let size = optional_size("attach", self.cols, self.rows)?;
        let Attach { role, name, raw, .. } = self;
        mux.attach(Attachment { terminal, role, name, size, raw }, ticket)
    }
}
