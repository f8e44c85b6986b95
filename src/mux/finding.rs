//! Terminals by number, by name, and all of them.

use super::{Mux, Terminal, TerminalId};
use crate::wire::{Code, Failure};

impl Mux {
    pub fn terminals(&self) -> impl Iterator<Item = &Terminal> {
        self.terminals.values().filter(|terminal| terminal.started())
    }

    pub fn get(&self, id: TerminalId) -> Option<&Terminal> {
        self.terminals.get(&id)
    }

    pub fn get_mut(&mut self, id: TerminalId) -> Option<&mut Terminal> {
        self.terminals.get_mut(&id)
    }

    /// The terminal of that id or name.
    pub fn find(&self, name: &str) -> Result<TerminalId, Failure> {
        let is = |terminal: &&Terminal| {
            terminal.identity.name.as_deref() == Some(name) || terminal.id().to_string() == name
        };
        self.terminals().find(is).map(Terminal::id).ok_or_else(|| self.not_found(name))
    }

    pub fn terminal(&mut self, name: &str) -> Result<&mut Terminal, Failure> {
        let id = self.find(name)?;
        self.terminals.get_mut(&id).ok_or_else(|| Failure::new(Code::NotFound, "it has just gone"))
    }

    pub fn name_taken(&self, name: &str) -> bool {
        self.terminals.values().any(|terminal| terminal.identity.name.as_deref() == Some(name))
    }

    fn not_found(&self, name: &str) -> Failure {
        const NAMED: usize = 8;
        let known: Vec<_> = self.terminals().take(NAMED).map(|t| t.id().to_string()).collect();
        let hint = match known.len() {
            0 => "there is none yet; create makes one".to_owned(),
            NAMED => format!("there are {}, …; list shows all", known.join(", ")),
            _ => format!("there are {}", known.join(", ")),
        };
        Failure::new(Code::NotFound, format!("no terminal has the id or name {name:?}; {hint}"))
    }
}
