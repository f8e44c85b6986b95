//! commands: what was run in a terminal's shell, and how it ended.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::mux::{CommandRecord, Mux, Ticket};
use crate::wire::Failure;

/// Show the commands that were run, the newest last.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// The terminal's id or name
    pub id: String,
    /// Only the last so many
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<usize>,
    /// Only those that failed
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Serialize)]
struct Answer<'a> {
    commands: Vec<&'a CommandRecord>,
}

impl Command for Commands {
    const NAME: &'static str = "commands";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let history = &mux.terminal(&self.id)?.history;
        let wanted = |record: &&CommandRecord| !self.failed || record.failed();
        let mut commands: Vec<_> = history.iter().filter(wanted).collect();
        let surplus = commands.len().saturating_sub(self.last.unwrap_or(usize::MAX));
        commands.drain(..surplus);
        let line = ticket.line(Answer { commands });
        mux.reply(ticket, line);
        Ok(())
    }
}
