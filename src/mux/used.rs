//! How much of each limit is in use, as far as the server as a whole knows.

use super::Mux;
use super::limits::{SCROLLBACK_TOTAL, SERVER};

impl Mux {
    /// All limits with their names; the one that can be set as it is now.
    pub fn limits(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let set = self.scrollback_ceiling() as u64;
        let value = move |(name, value): &(&'static str, u64)| match *name {
            SCROLLBACK_TOTAL => (*name, set),
            _ => (*name, *value),
        };
        SERVER.iter().map(value)
    }

    /// What of them is in use now, by the same names.
    pub fn used(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let (recordings, ended) = self.count_recordings();
        let (events, event_bytes) = self.events.kept_now();
        let counts = [
            ("terminals", self.terminals.len()),
            ("dead_terminals", self.dead.len()),
            ("connections", self.clients.count()),
            (SCROLLBACK_TOTAL, self.scrollback_total()),
            ("events", events),
            ("event_bytes", event_bytes),
            ("waits", self.waits.count()),
            ("searches", self.searches),
            ("views", self.views.count()),
            ("workspaces", self.workspaces.len()),
            ("recordings", recordings),
            ("ended_recordings", ended),
        ];
        counts.into_iter().map(|(name, count)| (name, count as u64))
    }
}
