//! workspace: a client's layout, kept under a name so that it is there again next time.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Command;
use super::create::is_no;
use crate::mux::limits::{MAX_WORKSPACE, MAX_WORKSPACES};
use crate::mux::names::check_name;
use crate::mux::{DeadWish, Mux, Ticket};
use crate::wire::{Code, Event, Failure};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    pub name: String,
    /// What to keep; left out, what is kept is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Value>,
    /// Who keeps it, so that a client knows its own changes again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was kept in an earlier life of the server.
    #[serde(default, skip_serializing_if = "is_no")]
    pub dead: bool,
}

impl Command for Workspace {
    const NAME: &'static str = "workspace";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        check_name(&self.name)?;
        if self.dead {
            return match self.layout {
                None => mux.look_at_dead(DeadWish::Layout(self.name), ticket),
                Some(_) => Err(Failure::bad_value("workspace: dead goes without layout")),
            };
        }
        if let Some(layout) = self.layout {
            let size = layout.to_string().len();
            if size > MAX_WORKSPACE {
                let error = format!("layout: {size} bytes of JSON; {MAX_WORKSPACE} are allowed");
                return Err(Failure::bad_value(error));
            }
            if mux.workspaces() >= MAX_WORKSPACES && mux.workspace(&self.name).is_none() {
                let error = format!("there are {MAX_WORKSPACES} workspaces, which is the most");
                return Err(Failure::new(Code::Limit, error));
            }
            mux.set_workspace(&self.name, layout);
            mux.announce(&Event::Workspace { name: self.name.clone(), by: self.by });
        }
        let layout = mux.workspace(&self.name).cloned();
        mux.answer(ticket, serde_json::json!({ "name": self.name, "layout": layout }));
        Ok(())
    }
}
