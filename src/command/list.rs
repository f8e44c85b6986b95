//! list: all terminals.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use super::create::is_no;
use crate::mux::{DeadWish, Mux, Terminal, Ticket};
use crate::wire::{Failure, Pair, pairs};

/// List all terminals, living and dead.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Those of which only what was kept on disk is left; `t4a restore` brings them back
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_no")]
    pub dead: bool,
}

#[derive(Serialize)]
struct Listed<'a> {
    terminals: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    cols: u16,
    rows: u16,
    pid: u32,
    alive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(with = "pairs", skip_serializing_if = "<[Pair]>::is_empty")]
    labels: &'a [Pair],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    degraded: bool,
}

impl Command for List {
    const NAME: &'static str = "list";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        if self.dead {
            return mux.look_at_dead(DeadWish::List, ticket);
        }
        let line = ticket.line(Listed { terminals: mux.terminals().map(row).collect() });
        mux.reply(ticket, line);
        Ok(())
    }
}

fn row(terminal: &Terminal) -> Row<'_> {
    let size = terminal.grid.size();
    Row {
        id: terminal.id().to_string(),
        name: terminal.identity.name.as_deref(),
        cols: size.cols,
        rows: size.rows,
        pid: terminal.pid().unwrap_or(0),
        alive: terminal.alive(),
        exit_code: terminal.exit().and_then(|exit| exit.code()),
        title: terminal.title(),
        cwd: terminal.grid.cwd().map(|cwd| cwd.path.as_str()),
        command: terminal.grid.running_command(),
        labels: &terminal.identity.labels,
        degraded: terminal.identity.degraded,
    }
}
