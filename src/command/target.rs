//! Where input goes: a terminal by its name, or the terminal of one's own view.

use clap::Args;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::mux::{Mux, TerminalId, Ticket, Typist, ViewId};
use crate::wire::Failure;

/// The terminal that is typed into, and so who types.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct Target {
    /// The terminal's id or name
    #[arg(required = true)]
    #[serde(default, deserialize_with = "named_id", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[arg(skip)]
    #[serde(default, deserialize_with = "named_view", skip_serializing_if = "Option::is_none")]
    pub view: Option<u32>,
}

/// An error in a flattened struct does not know its field by itself.
fn named_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(from).map_err(|error| D::Error::custom(format!("id: {error}")))
}

fn named_view<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    Option::deserialize(from).map_err(|error| D::Error::custom(format!("view: {error}")))
}

impl Target {
    /// The terminal of a view of one's own.
    pub fn view(view: u32) -> Target {
        Target { id: None, view: Some(view) }
    }

    /// The terminal, and who types.
    pub fn find(&self, mux: &Mux, ticket: &Ticket) -> Result<(TerminalId, Typist), Failure> {
        match (&self.id, self.view) {
            (Some(id), None) => Ok((mux.find(id)?, Typist::Agent)),
            (None, Some(view)) => {
                let view = ViewId(view);
                Ok((mux.view(view, ticket.client)?, Typist::View(view)))
            }
            _ => Err(Failure::bad_value("give either id, a terminal, or view, one of your own")),
        }
    }
}
