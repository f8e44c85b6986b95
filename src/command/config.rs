//! config: change the server's settings while it runs.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, within};
use crate::mux::limits::MAX_IDLE_TIMEOUT_MS;
use crate::mux::{Mux, TakeOver, Ticket};
use crate::wire::Failure;

/// Show or change settings; a change takes effect at once.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Settings of this terminal (id or name) instead of the server's
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Milliseconds without output after which a terminal is idle
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<i64>,
    /// Whether people may take this terminal's keyboard for themselves
    #[arg(long, value_enum, requires = "id")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_over: Option<TakeOver>,
}

impl Command for Config {
    const NAME: &'static str = "config";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let id = self.id.map(|name| mux.find(&name)).transpose()?;
        if let Some(ms) = self.idle_timeout_ms {
            let ms = within("idle_timeout_ms", ms, 1, MAX_IDLE_TIMEOUT_MS)?;
            mux.set_idle_timeout_ms(id, ms);
        }
        let mut body = serde_json::json!({});
        match (id, self.take_over) {
            (Some(id), wanted) => {
                wanted.into_iter().for_each(|wanted| mux.set_take_over(id, wanted));
                body["take_over"] = serde_json::json!(mux.take_over(id));
            }
            (None, None) => {}
            (None, Some(_)) => return Err(Failure::bad_value("config: take_over goes with id")),
        }
        body["idle_timeout_ms"] = mux.idle_timeout_ms(id).into();
        mux.answer(ticket, body);
        Ok(())
    }
}
