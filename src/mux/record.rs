//! What outlives the worker: kept by the keeper as bytes that only this file understands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits::{DEFAULT_IDLE_TIMEOUT_MS, DEFAULT_SCROLLBACK_TOTAL};
use super::{Effect, Mux, TerminalId};

/// To be raised with every change that another version could not read: of this and of `Identity`.
pub const VERSION: u32 = 1;

/// What is remembered of the server as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRecord {
    pub next_id: u32,
    /// No event has a higher number.
    pub seq: u64,
    pub idle_timeout_ms: u64,
    #[serde(default = "usual_scrollback")]
    pub scrollback_total_bytes: usize,
    #[serde(default)]
    pub workspaces: BTreeMap<String, serde_json::Value>,
    /// Terminals without a setting of their own are kept on disk.
    #[serde(default)]
    pub persist: bool,
    /// When the server began, in milliseconds since 1970.
    #[serde(default)]
    pub run: u64,
}

/// What a server begins with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beginning {
    pub idle_timeout_ms: Option<u64>,
    pub scrollback_total_bytes: Option<usize>,
    pub persist: bool,
    /// Ids of terminals begin here.
    pub next_id: u32,
    pub now_ms: u64,
}

fn usual_scrollback() -> usize {
    DEFAULT_SCROLLBACK_TOTAL
}

impl ServerRecord {
    pub fn first(beginning: Beginning) -> ServerRecord {
        let Beginning { idle_timeout_ms, scrollback_total_bytes, .. } = beginning;
        ServerRecord {
            next_id: beginning.next_id.max(1),
            seq: 0,
            idle_timeout_ms: idle_timeout_ms.unwrap_or(DEFAULT_IDLE_TIMEOUT_MS),
            scrollback_total_bytes: scrollback_total_bytes.unwrap_or(DEFAULT_SCROLLBACK_TOTAL),
            workspaces: BTreeMap::new(),
            persist: beginning.persist,
            run: beginning.now_ms,
        }
    }

    pub fn read(bytes: &[u8]) -> Option<ServerRecord> {
        serde_json::from_slice(bytes).ok()
    }
}

impl Mux {
    pub(super) fn remember(&mut self, id: TerminalId) {
        let identity = self.terminals.get(&id).map(|terminal| &terminal.identity);
        if let Some(record) = identity.and_then(|identity| serde_json::to_vec(identity).ok()) {
            self.effect(Effect::Remember { id, record });
        }
    }

    pub(super) fn remember_server(&mut self) {
        let record = ServerRecord {
            next_id: self.next_id,
            seq: self.events.reserved(),
            idle_timeout_ms: self.idle_timeout.as_millis() as u64,
            scrollback_total_bytes: self.scrollback.most,
            workspaces: self.workspaces.clone(),
            persist: self.shelf.always,
            run: self.shelf.run,
        };
        if let Ok(bytes) = serde_json::to_vec(&record) {
            self.effect(Effect::RememberServer(bytes));
        }
    }
}
