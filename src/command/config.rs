//! config: change the server's settings while it runs.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, within};
use crate::mux::limits::{MAX_IDLE_TIMEOUT_MS, MAX_SCROLLBACK_TOTAL, MIN_SCROLLBACK_TOTAL};
use crate::mux::{Mux, TakeOver, Ticket};
use crate::wire::Failure;

/// Show or change settings; a change takes effect at once.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
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
    /// Keep terminals on disk, to be restored when everything else is gone
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persist: Option<bool>,
    /// Bytes that the scrollback of all terminals together may take; the oldest lines go first
    #[arg(long, value_name = "BYTES", conflicts_with = "id")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrollback_total_bytes: Option<i64>,
}

impl Command for Config {
    const NAME: &'static str = "config";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let id = self.id.as_deref().map(|name| mux.find(name)).transpose()?;
        if id.is_none() && self.take_over.is_some() {
            return Err(Failure::bad_value("config: take_over goes with id"));
        }
        if id.is_some() && self.scrollback_total_bytes.is_some() {
            let error = "config: scrollback_total_bytes is the server's: leave id out";
            return Err(Failure::bad_value(error));
        }
        let idle = |ms| within("idle_timeout_ms", ms, 1, MAX_IDLE_TIMEOUT_MS);
        let total = |bytes| {
            let (min, max) = (MIN_SCROLLBACK_TOTAL as u64, MAX_SCROLLBACK_TOTAL as u64);
            within("scrollback_total_bytes", bytes, min, max)
        };
        let idle = self.idle_timeout_ms.map(idle).transpose()?;
        let total = self.scrollback_total_bytes.map(total).transpose()?;
        // All of it is right: now it is done.
        idle.into_iter().for_each(|ms| mux.set_idle_timeout_ms(id, ms));
        total.into_iter().for_each(|bytes| mux.set_scrollback_ceiling(bytes as usize));
        self.persist.into_iter().for_each(|persist| mux.set_persist(id, persist));
        let mut body = serde_json::json!({});
        match id {
            Some(id) => {
                self.take_over.into_iter().for_each(|wanted| mux.set_take_over(id, wanted));
                body["take_over"] = serde_json::json!(mux.take_over(id));
            }
            None => body["scrollback_total_bytes"] = mux.scrollback_ceiling().into(),
        }
        body["persist"] = mux.persists(id).into();
        if let Some(trouble) = mux.persist_trouble() {
            body["persist_error"] = trouble.into();
        }
        body["idle_timeout_ms"] = mux.idle_timeout_ms(id).into();
        mux.answer(ticket, body);
        Ok(())
    }
}
