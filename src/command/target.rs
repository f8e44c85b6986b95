//! Where input goes: a terminal by its name, or the terminal of one's own view.

use crate::mux::{Mux, TerminalId, Ticket, Typist, ViewId};
use crate::wire::Failure;

/// The terminal, and who types.
pub fn target(
    mux: &Mux,
    ticket: &Ticket,
    id: Option<&str>,
    view: Option<u32>,
) -> Result<(TerminalId, Typist), Failure> {
    match (id, view) {
        (Some(id), None) => Ok((mux.find(id)?, Typist::Agent)),
        (None, Some(view)) => {
            let view = ViewId(view);
            Ok((mux.view(view, ticket.client)?, Typist::View(view)))
        }
        _ => Err(Failure::bad_value("give either id, a terminal, or view, one of your own")),
    }
}
