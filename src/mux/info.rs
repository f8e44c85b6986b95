//! Everything about one terminal in one answer.

use serde::Serialize;

use super::{Asker, Facts, Foreground, Mux, TakeOver, Terminal, TerminalId, Ticket};
use crate::term::ShellState;
use crate::wire::{Attached, Code, CursorState, Failure, Pair, pairs};

#[derive(Serialize)]
pub struct Info<'a> {
    id: String,
    name: Option<&'a str>,
    #[serde(with = "pairs")]
    labels: &'a [Pair],
    argv: &'a [String],
    pid: Option<u32>,
    cols: u16,
    rows: u16,
    title: &'a str,
    cwd: Option<String>,
    alive: bool,
    exit_code: Option<i32>,
    foreground: Option<Foreground>,
    echo: Option<bool>,
    canonical: Option<bool>,
    alt_screen: bool,
    cursor: CursorState,
    modes: Vec<&'static str>,
    idle: bool,
    idle_ms: u64,
    waits_for_input: Option<bool>,
    shell: Shell<'a>,
    take_over: TakeOver,
    persist: bool,
    attached: Vec<Attached>,
    queued_input_bytes: usize,
    output_bytes: u64,
    /// Lines held: from the first up to, not including, the second.
    lines: [u64; 2],
    stamp: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    degraded: bool,
}

#[derive(Serialize)]
struct Shell<'a> {
    /// t4a's own integration was given to it.
    integrated: bool,
    state: &'static str,
    command: Option<&'a str>,
    running_ms: Option<u64>,
}

impl Mux {
    /// The system has told what it knows; who asked for it goes on.
    pub(super) fn probed(&mut self, id: TerminalId, asker: Asker, facts: Facts) {
        match asker {
            Asker::Info(ticket) => self.tell_info(id, &ticket, facts),
            Asker::Reply(reply) => self.probed_for_reply(*reply, facts),
            Asker::Waits => self.probed_for_waits(id, &facts),
            Asker::Secret(secret) => self.type_secret(*secret, &facts),
        }
    }

    fn tell_info(&mut self, id: TerminalId, ticket: &Ticket, facts: Facts) {
        let Some(terminal) = self.terminals.get(&id) else {
            return self.refuse(ticket, &Failure::new(Code::NotFound, "it has just gone"));
        };
        let line = ticket.line(self.info(terminal, facts));
        self.reply(ticket, line);
    }

    pub(super) fn info<'a>(&self, terminal: &'a Terminal, facts: Facts) -> Info<'a> {
        let grid = &terminal.grid;
        let size = grid.size();
        let lines = grid.lines();
        let quiet = self.now.saturating_duration_since(terminal.last_output);
        Info {
            id: terminal.id().to_string(),
            name: terminal.identity.name.as_deref(),
            labels: &terminal.identity.labels,
            argv: &terminal.identity.argv,
            pid: terminal.pid(),
            cols: size.cols,
            rows: size.rows,
            title: terminal.title(),
            cwd: cwd(terminal, &facts),
            alive: terminal.alive(),
            exit_code: terminal.exit().and_then(|exit| exit.code()),
            waits_for_input: waits_for_input(terminal, &facts),
            foreground: facts.foreground,
            echo: facts.echo,
            canonical: facts.canonical,
            alt_screen: grid.modes().alt_screen(),
            cursor: grid.cursor().into(),
            modes: grid.modes().active().collect(),
            idle: terminal.idle,
            idle_ms: quiet.as_millis() as u64,
            shell: self.shell(terminal),
            take_over: terminal.identity.take_over,
            persist: self.persists(Some(terminal.id())),
            attached: self.views.attached(terminal.id()),
            queued_input_bytes: terminal.queued(),
            output_bytes: terminal.output_bytes,
            lines: [lines.start.0, lines.end.0],
            stamp: grid.stamp(),
            degraded: terminal.identity.degraded,
        }
    }

    fn shell<'a>(&self, terminal: &'a Terminal) -> Shell<'a> {
        Shell {
            integrated: !terminal.identity.key.is_empty(),
            state: match terminal.grid.shell() {
                ShellState::Unknown => "unknown",
                ShellState::Prompt => "prompt",
                ShellState::Input => "input",
                ShellState::Running => "running",
            },
            command: terminal.grid.running_command(),
            running_ms: self.running_ms(terminal),
        }
    }
}

/// What the shell said, else where the program in the foreground is.
pub(super) fn cwd(terminal: &Terminal, facts: &Facts) -> Option<String> {
    let told = terminal.grid.cwd().map(|cwd| cwd.path.clone());
    told.or_else(|| facts.foreground.as_ref()?.cwd.clone())
}

fn waits_for_input(terminal: &Terminal, facts: &Facts) -> Option<bool> {
    match terminal.grid.shell() {
        _ if !terminal.alive() => Some(false),
        ShellState::Input => Some(true),
        _ => facts.reads_tty,
    }
}
