//! signal: to whatever has the keyboard, past everything that is typed but not read.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::signals::{SIGINT, SIGQUIT, SIGTSTP, signal_number};
use crate::mux::{Effect, Mux, Target, Ticket};
use crate::wire::{Code, Failure};

/// Send a signal to the program that has the keyboard.
///
/// INT, QUIT and TSTP also drop what was typed and not read yet, as the keys for them do.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// The terminal's id or name
    pub id: String,
    /// INT, TERM, HUP, KILL, … or a number
    #[arg(default_value = "INT")]
    pub signal: String,
}

impl Command for Signal {
    const NAME: &'static str = "signal";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let signal = signal_number(&self.signal)?;
        let seq = mux.seq();
        let terminal = mux.terminal(&self.id)?;
        let id = terminal.id();
        if !terminal.alive() {
            return Err(Failure::new(Code::Exited, format!("the program in {id} has ended")));
        }
        let from_keyboard = [SIGINT, SIGQUIT, SIGTSTP].contains(&signal);
        let dropped = if from_keyboard { terminal.drop_input() } else { 0 };
        mux.effect(Effect::Signal { id, signal, target: Target::Foreground });
        mux.answer(ticket, serde_json::json!({ "seq": seq, "dropped_bytes": dropped }));
        Ok(())
    }
}
