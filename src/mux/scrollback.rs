//! Scrollback of all terminals together: what is above the ceiling goes, the oldest rows first.

use std::collections::BTreeSet;

use super::limits::SCROLLBACK_STEP;
use super::{Effect, Mux, TerminalId};

/// Bytes that it takes in all terminals, and may take.
pub(super) struct Total {
    pub bytes: usize,
    pub most: usize,
}

impl Mux {
    pub fn scrollback_total(&self) -> usize {
        self.scrollback.bytes
    }

    pub fn scrollback_ceiling(&self) -> usize {
        self.scrollback.most
    }

    /// Takes effect at once.
    pub fn set_scrollback_ceiling(&mut self, most: usize) {
        self.scrollback.most = most;
        self.remember_server();
        self.shed_scrollback();
    }

    /// Before output is fed: how much there may be after it. A turn that brings more than is left for
    /// all drops rows of its own terminal.
    pub(super) fn bound_scrollback(&mut self, id: TerminalId) {
        let now = self.unix_ms();
        let left = self.scrollback.most.saturating_sub(self.scrollback.bytes);
        if let Some(terminal) = self.terminals.get_mut(&id) {
            let most = terminal.scrollback_counted + left;
            terminal.grid.bound_scrollback(now, most);
        }
    }

    /// After it: whose rows are the oldest of all loses them.
    pub(super) fn count_scrollback(&mut self, id: TerminalId) {
        self.recount(id);
        if self.scrollback.bytes + SCROLLBACK_STEP > self.scrollback.most {
            self.shed_scrollback();
        }
    }

    fn recount(&mut self, id: TerminalId) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let bytes = terminal.grid.scrollback_bytes();
        let before = std::mem::replace(&mut terminal.scrollback_counted, bytes);
        self.scrollback.bytes = self.scrollback.bytes + bytes - before;
    }

    /// Down to where there is room for some turns.
    fn shed_scrollback(&mut self) {
        let wanted = self.scrollback.most.saturating_sub(2 * SCROLLBACK_STEP);
        let ids: Vec<_> = self.terminals.keys().copied().collect();
        for id in ids {
            if let Some(terminal) = self.terminals.get_mut(&id) {
                terminal.grid.tidy_scrollback();
            }
            self.recount(id);
        }
        let mut shed = BTreeSet::new();
        while self.scrollback.bytes > wanted {
            let times = self.terminals.values();
            let times = times.filter_map(|t| Some((t.grid.oldest_scrollback()?, t.id())));
            let Some((_, id)) = times.min() else { break };
            if let Some(terminal) = self.terminals.get_mut(&id) {
                terminal.grid.shed_scrollback();
            }
            self.recount(id);
            shed.insert(id);
        }
        // Else the next worker would feed some of it again.
        shed.into_iter().for_each(|id| self.effect(Effect::Save(id)));
    }
}
