//! Commands that are typed for a client, waited for and answered with what they printed.
//!
//! ```text
//!  Waiting ──prompt──▶ Typed ──done──▶ Ended ──prompt──▶ answer
//!                        │  ▲            │
//!                        │  └─next start─┘   (a pasted block is several commands)
//!                        ▼
//!                     Clearing ──prompt──▶ answer    (the shell wants more, or kept the line)
//! ```

mod answer;
mod typed;

use std::ops::Range;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::{Map, Value};

use super::conditions::Scan;
use super::limits::{
    CANCEL_AGAIN, CANCEL_AT_MOST, CANCEL_CALM, MAX_LINE_CHARS, MAX_RUN_HEAD, PROMPT_GRACE,
    REDRAWN_QUIET, UNFINISHED_QUIET,
};
use super::waits::Only;
use super::{ClientId, Mux, Terminal, TerminalId, Ticket, Typist};
use crate::term::{LineNo, ShellState};
use crate::view::text::{self, TextRow};
use crate::wire::{Code, Failure};
use typed::{Typed, typed_bytes};

/// A command as it is asked for.
pub struct Asked {
    pub terminal: TerminalId,
    pub command: String,
    pub timeout: Duration,
    pub max_lines: usize,
    /// The end, where no shell tells it: a line that matches, or quiet for so long.
    pub until: Option<Regex>,
    pub idle: Option<Duration>,
}

pub struct Run {
    ticket: Ticket,
    asked: Asked,
    deadline: Instant,
    seq: u64,
    phase: Phase,
    /// Commands under way below the prompt it was typed at.
    depth: usize,
    typed: Typed,
    scan: Option<Scan>,
    started: Option<Instant>,
    done: Option<Done>,
    /// The first lines of output, read before they can leave the scrollback.
    head: Vec<TextRow>,
    head_bytes: usize,
}

enum Phase {
    Waiting,
    Typed,
    Ended { at: Instant },
    Clearing(Box<Clearing>),
}

/// Ctrl-C brings a clean prompt back; then comes the answer.
struct Clearing {
    answer: Result<Map<String, Value>, Failure>,
    /// When it is pressed again, and when it is given up.
    again: Instant,
    until: Instant,
    /// It was pressed more than once: the shell may still act on the last one, and would drop what
    /// is typed next.
    pressed_again: bool,
    /// When the shell has shown its prompt for long enough then.
    calm: Option<Instant>,
}

/// The end of a command, as its shell told it.
struct Done {
    code: Option<i32>,
    duration_ms: u64,
    output: Option<Range<LineNo>>,
    cut: Option<usize>,
}

impl Run {
    /// When it has to be looked at though nothing happens.
    pub fn due(&self, terminal: &Terminal, now: Instant) -> Option<Instant> {
        let quiet = |time: Duration| Some(terminal.last_active() + time);
        let phase = match &self.phase {
            Phase::Waiting => quiet(UNFINISHED_QUIET),
            Phase::Typed => {
                let idle = self.idle().and_then(quiet);
                let patience = match self.is_redrawn(terminal) {
                    true => REDRAWN_QUIET,
                    false => UNFINISHED_QUIET,
                };
                let unfinished = self.may_be_unfinished(terminal).then(|| quiet(patience));
                idle.into_iter().chain(unfinished.flatten()).min()
            }
            Phase::Ended { at } => Some(*at + PROMPT_GRACE),
            Phase::Clearing(clearing) => {
                Some(clearing.calm.unwrap_or(clearing.again).min(clearing.until))
            }
        };
        phase.filter(|due| *due > now).into_iter().chain([self.deadline]).min()
    }

    pub fn client(&self) -> ClientId {
        self.ticket.client
    }

    fn idle(&self) -> Option<Duration> {
        self.asked.idle
    }

    /// Typed at a prompt, and nothing came of it yet.
    fn may_be_unfinished(&self, terminal: &Terminal) -> bool {
        let shell = terminal.grid.shell();
        self.started.is_none() && matches!(shell, ShellState::Input | ShellState::Prompt)
    }

    /// The prompt stands below what was typed, and empty: the shell took nothing in.
    fn is_redrawn(&self, terminal: &Terminal) -> bool {
        let began = terminal.grid.input_began();
        let below = began.is_some_and(|line| line >= self.typed.line);
        below && self.may_be_unfinished(terminal) && !terminal.grid.has_typed()
    }

    /// Reads lines of output before they can leave the scrollback, and looks for the end in them.
    pub fn observe(&mut self, terminal: &Terminal) {
        let grid = &terminal.grid;
        let most = self.asked.max_lines.div_ceil(2);
        let first = match (&self.done, self.started) {
            (Some(Done { output: Some(output), .. }), _) => Some(output.start),
            (None, Some(_)) => grid.output_began(),
            _ => self.typed.at.map(|_| self.typed.line),
        };
        let first = self.head.first().map(|row| row.line).or(first);
        let room = self.head.len() < most && self.head_bytes < MAX_RUN_HEAD;
        if let Some(first) = first.filter(|_| room) {
            let next = self.head.last().map_or(first, |row| LineNo(row.line.0 + 1));
            let end = LineNo(first.0 + most as u64).min(grid.line_of_row(0));
            if next < end && grid.lines().start <= next {
                let more = text::output(grid, next..end, None, MAX_LINE_CHARS);
                for row in more {
                    self.head_bytes += row.text.len();
                    if self.head_bytes <= MAX_RUN_HEAD {
                        self.head.push(row);
                    }
                }
            }
        }
        if let Some(scan) = self.scan.as_mut().filter(|_| self.typed.at.is_some()) {
            scan.observe(terminal);
        }
    }
}

impl Mux {
    /// Types a command at a prompt and answers at its end.
    pub fn run(&mut self, asked: Asked, ticket: &Ticket) -> Result<(), Failure> {
        self.may_wait()?;
        let id = asked.terminal;
        let Some(terminal) = self.get(id) else { return Ok(()) };
        if !terminal.alive() {
            let error = format!("the program in {id} has ended; its text can still be read");
            return Err(Failure::new(Code::Exited, error));
        }
        if let Some(run) = &terminal.run {
            return Err(busy(id, Some(&run.asked.command), "another run waits for it"));
        }
        let told_end = asked.until.is_some() || asked.idle.is_some();
        if terminal.grid.shell() == ShellState::Running && !told_end {
            let running = terminal.grid.running_command();
            return Err(busy(id, running, "wait for its end, or give until or idle_ms"));
        }
        let run = Run {
            ticket: ticket.clone(),
            deadline: self.now + asked.timeout,
            asked,
            seq: self.seq(),
            phase: Phase::Waiting,
            depth: 0,
            typed: Typed::default(),
            scan: None,
            started: None,
            done: None,
            head: Vec::new(),
            head_bytes: 0,
        };
        if let Some(terminal) = self.get_mut(id) {
            terminal.run = Some(Box::new(run));
            self.waits.runs += 1;
        }
        self.waits.touch(id);
        Ok(())
    }

    fn take_run(&mut self, id: TerminalId) -> Option<Box<Run>> {
        let run = self.get_mut(id)?.run.take()?;
        self.waits.runs -= 1;
        Some(run)
    }

    /// A client is gone: its commands go on, nobody waits for them.
    pub(super) fn forget_runs(&mut self, client: ClientId) {
        let its =
            |terminal: &&Terminal| terminal.run.as_ref().is_some_and(|run| run.client() == client);
        let ids: Vec<_> = self.terminals.values().filter(its).map(Terminal::id).collect();
        ids.into_iter().for_each(|id| drop(self.take_run(id)));
    }

    pub(super) fn run_started(&mut self, id: TerminalId) {
        let now = self.now;
        if let Some(run) = self.running(id) {
            run.started.get_or_insert(now);
            if matches!(run.phase, Phase::Ended { .. }) {
                run.phase = Phase::Typed;
            }
        }
    }

    /// A command ended; it is the one that was typed if no other is under way above its prompt.
    pub(super) fn run_done(
        &mut self,
        id: TerminalId,
        code: Option<i32>,
        output: Option<Range<LineNo>>,
        cut: Option<usize>,
    ) {
        let now = self.now;
        let depth = self.get(id).map_or(0, |terminal| terminal.identity.running.len());
        let Some(run) = self.running(id).filter(|run| depth <= run.depth) else { return };
        let since = run.started.or(run.typed.at).unwrap_or(now);
        let first = run.done.take().and_then(|before| before.output).map(|output| output.start);
        // What was typed into a program that ended by it printed only what came after.
        let since_typed = run.started.is_none().then_some(run.typed.line);
        let output = output.map(|output| {
            let start = first.or(since_typed.map(|line| line.max(output.start)));
            start.unwrap_or(output.start).min(output.end)..output.end
        });
        let duration_ms = now.saturating_duration_since(since).as_millis() as u64;
        run.done = Some(Done { code, duration_ms, output, cut });
        run.phase = Phase::Ended { at: now };
    }

    /// A prompt came though nothing was started.
    pub(super) fn run_prompted(&mut self, id: TerminalId) {
        let now = self.now;
        let Some(run) = self.get_mut(id).and_then(|terminal| terminal.run.as_deref_mut()) else {
            return;
        };
        match &mut run.phase {
            Phase::Typed if run.started.is_none() => {
                let error = "run: nothing ran: the shell shows its prompt again";
                self.fail_run(id, &Failure::new(Code::Incomplete, error));
            }
            Phase::Clearing(clearing) if clearing.pressed_again => {
                clearing.calm = Some(now + CANCEL_CALM);
                self.arm(id);
            }
            Phase::Clearing(_) => self.end_clearing(id),
            _ => {}
        }
    }

    /// The run that was typed and is not answered yet.
    fn running(&mut self, id: TerminalId) -> Option<&mut Run> {
        let run = self.get_mut(id)?.run.as_deref_mut()?;
        matches!(run.phase, Phase::Typed | Phase::Ended { .. }).then_some(run)
    }

    pub(super) fn check_run(&mut self, id: TerminalId) {
        let now = self.now;
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let Some(mut run) = terminal.run.take() else { return };
        run.observe(terminal);
        let next = run.next(terminal, now);
        terminal.run = Some(run);
        match next {
            Next::Nothing => {}
            Next::Type => self.type_run(id),
            Next::Fail(failure) => self.fail_run(id, &failure),
            Next::Answer(by) => self.answer_run(id, by),
            Next::Clear(failure) => self.clear_line(id, Err(failure)),
            Next::Cancel => self.press_cancel(id, true),
            Next::EndClearing => self.end_clearing(id),
        }
    }

    fn type_run(&mut self, id: TerminalId) {
        let now = self.now;
        let Some(terminal) = self.terminals.get(&id) else { return };
        let Some(run) = &terminal.run else { return };
        let bytes = typed_bytes(terminal, &run.asked.command);
        let (seq, depth) = (self.seq(), terminal.identity.running.len());
        let typed = Typed::at(terminal, &run.asked.command, now);
        let until = run.asked.until.clone();
        let scan = until.and_then(|until| self.scan(id, until, None, Only::From(typed.line)));
        if let Err(failure) = self.type_in(id, &bytes, Typist::Agent) {
            return self.fail_run(id, &failure);
        }
        if let Some(run) = self.get_mut(id).and_then(|terminal| terminal.run.as_deref_mut()) {
            (run.phase, run.depth, run.seq) = (Phase::Typed, depth, seq);
            (run.typed, run.scan) = (typed, scan);
        }
        self.arm(id);
    }

    pub(super) fn fail_run(&mut self, id: TerminalId, failure: &Failure) {
        if let Some(run) = self.take_run(id) {
            self.refuse(&run.ticket, failure);
        }
    }

    fn answer_run(&mut self, id: TerminalId, by: &'static str) {
        let Some(terminal) = self.terminals.get(&id) else { return };
        let Some(run) = &terminal.run else { return };
        let body = run.body(terminal, by, self.now);
        // A line that was not taken in is still in the editor.
        let kept = run.started.is_none() && by == "shell" && terminal.grid.has_typed();
        if kept {
            return self.clear_line(id, Ok(body));
        }
        if let Some(run) = self.take_run(id) {
            self.answer(&run.ticket, body);
        }
    }

    fn clear_line(&mut self, id: TerminalId, answer: Result<Map<String, Value>, Failure>) {
        let (again, until) = (self.now, self.now + CANCEL_AT_MOST);
        let clearing = Clearing { answer, again, until, pressed_again: false, calm: None };
        if let Some(run) = self.get_mut(id).and_then(|terminal| terminal.run.as_deref_mut()) {
            run.phase = Phase::Clearing(Box::new(clearing));
        }
        self.press_cancel(id, false);
    }

    fn press_cancel(&mut self, id: TerminalId, pressed_again: bool) {
        let again = self.now + CANCEL_AGAIN;
        if let Some(run) = self.get_mut(id).and_then(|terminal| terminal.run.as_deref_mut())
            && let Phase::Clearing(clearing) = &mut run.phase
        {
            (clearing.again, clearing.pressed_again) = (again, pressed_again);
            let _ = self.type_in(id, b"\x03", Typist::Agent);
            self.arm(id);
        }
    }

    fn end_clearing(&mut self, id: TerminalId) {
        let Some(run) = self.take_run(id) else { return };
        let Run { ticket, phase, .. } = *run;
        let Phase::Clearing(clearing) = phase else { return };
        match clearing.answer {
            Ok(body) => self.answer(&ticket, body),
            Err(failure) => self.refuse(&ticket, &failure),
        }
    }
}

/// What is to be done about a run.
enum Next {
    Nothing,
    Type,
    Fail(Failure),
    /// With what its end was told by.
    Answer(&'static str),
    Clear(Failure),
    Cancel,
    EndClearing,
}

impl Run {
    fn next(&self, terminal: &Terminal, now: Instant) -> Next {
        if !terminal.alive() {
            return Next::Answer("exit");
        }
        let late = self.deadline <= now;
        match &self.phase {
            Phase::Waiting if self.may_type(terminal, now) => Next::Type,
            Phase::Waiting if late => {
                Next::Fail(busy(terminal.id(), None, "no prompt came in time, nothing was typed"))
            }
            Phase::Waiting => Next::Nothing,
            Phase::Typed => self.next_of_typed(terminal, now),
            Phase::Ended { at } => {
                let prompt = terminal.grid.shell() == ShellState::Input;
                match prompt || *at + PROMPT_GRACE <= now {
                    true => Next::Answer("shell"),
                    false => Next::Nothing,
                }
            }
            Phase::Clearing(clearing) => {
                let over = clearing.calm.is_some_and(|calm| calm <= now) || clearing.until <= now;
                match over {
                    true => Next::EndClearing,
                    false if clearing.calm.is_none() && clearing.again <= now => Next::Cancel,
                    false => Next::Nothing,
                }
            }
        }
    }

    fn may_type(&self, terminal: &Terminal, now: Instant) -> bool {
        let quiet = now.saturating_duration_since(terminal.last_active());
        let told_end = self.asked.until.is_some() || self.asked.idle.is_some();
        match terminal.grid.shell() {
            ShellState::Input => !terminal.is_entering(now),
            ShellState::Running => told_end,
            ShellState::Unknown => terminal.identity.key.is_empty(),
            // A prompt that does not say where it ends is there all the same.
            ShellState::Prompt => quiet >= UNFINISHED_QUIET,
        }
    }

    fn next_of_typed(&self, terminal: &Terminal, now: Instant) -> Next {
        let quiet = now.saturating_duration_since(terminal.last_active());
        let unfinished = self.may_be_unfinished(terminal);
        if self.scan.as_ref().is_some_and(|scan| scan.found().is_some()) {
            Next::Answer("until")
        } else if unfinished && terminal.grid.continues_input() {
            Next::Clear(incomplete(terminal))
        } else if self.idle().is_some_and(|idle| quiet >= idle) {
            Next::Answer("idle")
        } else if self.is_redrawn(terminal) && quiet >= REDRAWN_QUIET {
            Next::Fail(self.nothing_ran(terminal))
        } else if unfinished && quiet >= UNFINISHED_QUIET {
            Next::Clear(incomplete(terminal))
        } else if self.deadline <= now {
            Next::Answer("timeout")
        } else {
            Next::Nothing
        }
    }
}

fn busy(id: TerminalId, running: Option<&str>, hint: &str) -> Failure {
    let error = match running {
        Some(command) => format!("run: {id} runs {command:?}: {hint}"),
        None => format!("run: {id} is not at a prompt: {hint}"),
    };
    Failure::new(Code::Busy, error).with("running", running)
}

fn incomplete(terminal: &Terminal) -> Failure {
    let mut row = String::new();
    terminal.grid.row_text(terminal.grid.cursor().row, &mut row);
    let row = row.trim_end_matches(' ');
    let error = format!("run: the command is not finished: the shell asks for more with {row:?}");
    Failure::new(Code::Incomplete, error).with("prompt", row)
}

impl Mux {
    /// Somebody reads the lines as they come.
    pub(super) fn is_observed(&self, id: TerminalId) -> bool {
        self.waits.reads(id) || self.get(id).is_some_and(|terminal| terminal.run.is_some())
    }

    pub(super) fn observe(&mut self, id: TerminalId) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        if let Some(mut run) = terminal.run.take() {
            run.observe(terminal);
            terminal.run = Some(run);
        }
        self.waits.observe(terminal);
    }
}
