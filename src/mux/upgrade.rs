//! Another worker in place of this one, in good order.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;

use super::{Effect, Mux, TerminalId, Ticket};
use crate::wire::{Code, Failure};

impl Mux {
    /// Has a worker of another program take over. Answered when that is ready, or will not be.
    pub fn upgrade(&mut self, program: String, ticket: &Ticket) -> Result<(), Failure> {
        if self.upgrade.is_some() {
            let error = "upgrade: another one is under way: try again when it is done";
            return Err(Failure::new(Code::Busy, error));
        }
        self.upgrade = Some(ticket.clone());
        self.effect(Effect::Upgrade { program });
        Ok(())
    }

    /// It is done but for the end of this worker, and has this version; or there will be none.
    pub(super) fn upgraded(&mut self, result: Result<String, Failure>) {
        let Some(ticket) = self.upgrade.take() else { return };
        match result {
            Ok(version) => {
                self.answer(&ticket, json!({ "version": version, "seq": self.seq() }));
            }
            Err(failure) => self.refuse(&ticket, &failure),
        }
    }

    /// Leaves to the next worker what was typed and not yet taken by programs.
    pub fn leave_typed(&mut self) {
        let mut left = Vec::new();
        for (id, terminal) in &mut self.terminals {
            if terminal.queued() > 0 && terminal.started() {
                terminal.identity.typed = BASE64.encode(terminal.take_input());
                left.push(*id);
            }
        }
        left.into_iter().for_each(|id| self.remember(id));
    }

    /// Types what an earlier worker left. First it is forgotten: better lost than typed twice.
    pub(super) fn type_left(&mut self, id: TerminalId) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let typed = std::mem::take(&mut terminal.identity.typed);
        if typed.is_empty() {
            return;
        }
        let typed = BASE64.decode(typed).unwrap_or_default();
        let _ = terminal.type_in(&typed);
        self.remember(id);
        self.effect(Effect::Input(id));
    }
}
