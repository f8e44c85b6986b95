//! run: a command typed at a prompt, waited for, and answered with what it printed.

use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::wait::timeout;
use super::{Command, within};
use crate::mux::limits::{
    DEFAULT_RUN_LINES, DEFAULT_RUN_MS, MAX_IDLE_TIMEOUT_MS, MAX_RUN_COMMAND, MAX_RUN_LINES,
};
use crate::mux::patterns::pattern;
use crate::mux::{Asked, Mux, Ticket};
use crate::term::ShellState;
use crate::wire::{Code, Failure};

#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The terminal's id or name
    #[arg(skip)]
    pub id: String,
    #[arg(skip)]
    pub command: String,
    /// Milliseconds to wait at most; the command goes on after that [default: 120000]
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
    /// Lines of output at most: the first and the last of them [default: all]
    #[arg(long, value_name = "LINES")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<i64>,
    /// The end, where no shell tells it: a line that matches this regular expression
    #[arg(long, value_name = "REGEX")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Or that nothing is written for so many milliseconds
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<i64>,
}

impl Command for Run {
    const NAME: &'static str = "run";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = mux.find(&self.id)?;
        if self.command.trim().is_empty() {
            return Err(Failure::new(Code::Incomplete, "run: the command is empty"));
        }
        if self.command.len() > MAX_RUN_COMMAND {
            let error = format!("run: command has at most {MAX_RUN_COMMAND} bytes");
            return Err(Failure::bad_value(error));
        }
        let usual = DEFAULT_RUN_LINES as i64;
        let max_lines = self.max_lines.unwrap_or(usual);
        let max_lines = within("max_lines", max_lines, 1, MAX_RUN_LINES as u64)? as usize;
        let until = self.until.as_deref().map(|until| pattern("run: until", until, false, false));
        let idle = self.idle_ms.map(|ms| within("idle_ms", ms, 1, MAX_IDLE_TIMEOUT_MS));
        let (until, idle) = (until.transpose()?, idle.transpose()?);
        let silent = mux.get(terminal).is_some_and(|terminal| {
            terminal.grid.shell() == ShellState::Unknown && terminal.identity.key.is_empty()
        });
        // Where nobody tells the end, quiet is all there is.
        let quiet = || mux.idle_timeout_ms(Some(terminal));
        let idle = idle.or_else(|| (silent && until.is_none()).then(quiet));
        let asked = Asked {
            terminal,
            command: self.command,
            timeout: timeout(self.timeout_ms, DEFAULT_RUN_MS)?,
            max_lines,
            until,
            idle: idle.map(Duration::from_millis),
        };
        mux.run(asked, ticket)
    }
}
