//! Requests that scripts write down: those that do something to a terminal, or wait for it.

use serde_json::{Map, Value};

use crate::mux::{Mux, TerminalId, Ticket, ViewId};
use crate::wire::Request;

const ACTIONS: [&str; 8] = ["send", "keys", "paste", "mouse", "run", "wait", "resize", "signal"];

/// Tells scripts of a request before it is done; the terminal, if any of them has written it down.
pub fn begin(mux: &mut Mux, request: &Request, ticket: &Ticket) -> Option<TerminalId> {
    if !mux.writes_scripts() || !ACTIONS.contains(&request.cmd.as_str()) {
        return None;
    }
    let sent = request.sent();
    if sent.get("secret") == Some(&Value::Bool(true)) {
        return None;
    }
    let terminal = match (sent.get("id"), sent.get("view")) {
        (Some(Value::String(id)), None) => mux.find(id).ok()?,
        (None, Some(view)) => {
            let view = ViewId(u32::try_from(view.as_u64()?).ok()?);
            mux.view(view, ticket.client).ok()?
        }
        _ => return None,
    };
    let mut fields: Map<_, _> = sent.clone();
    fields.remove("view");
    fields.insert("id".to_owned(), terminal.to_string().into());
    mux.begin_action(terminal, &request.cmd, &fields).then_some(terminal)
}
