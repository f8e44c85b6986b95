//! Commands that are typed for a client, waited for and answered with what they printed.
//!
//! ```text
//!  Waiting ──prompt──▶ Typed ──done──▶ Ended ──prompt──▶ answer
//!                        │  ▲            │
//!                        │  └─next start─┘   (a pasted block is several commands)
//!                        ▼
//!                     Clearing ──prompt──▶ answer    (the shell wants more, or kept the line)
//! ```

use std::ops::Range;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::{Map, Value, json};

use super::conditions::Scan;
use super::limits::{CANCEL_AGAIN, CANCEL_AT_MOST, MAX_LINE_CHARS, PROMPT_GRACE, UNFINISHED_QUIET};
use super::waits::Only;
use super::{ClientId, Mux, Terminal, TerminalId, Ticket, Typist};
use crate::input;
use crate::term::{LineNo, ShellState};
use crate::view::text::{self, TextRow};
use crate::wire::{Code, Failure};

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
    /// Prompts told so far; one more ends it.
    again: Instant,
    until: Instant,
}

/// Where a command was typed.
#[derive(Default)]
struct Typed {
    /// The line after the echo.
    line: LineNo,
    /// What stood before it.
    prompt: String,
    at: Option<Instant>,
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
                let unfinished = self.may_be_unfinished(terminal).then(|| quiet(UNFINISHED_QUIET));
                idle.into_iter().chain(unfinished.flatten()).min()
            }
            Phase::Ended { at } => Some(*at + PROMPT_GRACE),
            Phase::Clearing(clearing) => Some(clearing.again.min(clearing.until)),
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
        if let Some(first) = first.filter(|_| self.head.len() < most) {
            let next = self.head.last().map_or(first, |row| LineNo(row.line.0 + 1));
            let end = LineNo(first.0 + most as u64).min(grid.line_of_row(0));
            if next < end && grid.lines().start <= next {
                self.head.extend(text::output(grid, next..end, None, MAX_LINE_CHARS));
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
        let depth = self.get(id).map_or(0, |terminal| terminal.commands.len());
        let Some(run) = self.running(id).filter(|run| depth <= run.depth) else { return };
        let since = run.started.or(run.typed.at).unwrap_or(now);
        let first = run.done.take().and_then(|before| before.output).map(|output| output.start);
        let output = output.map(|output| first.unwrap_or(output.start).min(output.end)..output.end);
        let duration_ms = now.saturating_duration_since(since).as_millis() as u64;
        run.done = Some(Done { code, duration_ms, output, cut });
        run.phase = Phase::Ended { at: now };
    }

    /// A prompt came though nothing was started.
    pub(super) fn run_prompted(&mut self, id: TerminalId) {
        let Some(run) = self.get_mut(id).and_then(|terminal| terminal.run.as_deref_mut()) else {
            return;
        };
        match &run.phase {
            Phase::Typed if run.started.is_none() => {
                let error = "run: nothing ran: the shell shows its prompt again";
                self.fail_run(id, &Failure::new(Code::Incomplete, error));
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
            Next::Cancel => self.press_cancel(id),
            Next::EndClearing => self.end_clearing(id),
        }
    }

    fn type_run(&mut self, id: TerminalId) {
        let now = self.now;
        let Some(terminal) = self.terminals.get(&id) else { return };
        let Some(run) = &terminal.run else { return };
        let bytes = typed_bytes(terminal, &run.asked.command);
        let (seq, depth) = (self.seq(), terminal.commands.len());
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
        let clearing = Clearing { answer, again: self.now, until: self.now + CANCEL_AT_MOST };
        if let Some(run) = self.get_mut(id).and_then(|terminal| terminal.run.as_deref_mut()) {
            run.phase = Phase::Clearing(Box::new(clearing));
        }
        self.press_cancel(id);
    }

    fn press_cancel(&mut self, id: TerminalId) {
        let again = self.now + CANCEL_AGAIN;
        if let Some(run) = self.get_mut(id).and_then(|terminal| terminal.run.as_deref_mut())
            && let Phase::Clearing(clearing) = &mut run.phase
        {
            clearing.again = again;
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
            Phase::Clearing(clearing) if clearing.until <= now => Next::EndClearing,
            Phase::Clearing(clearing) if clearing.again <= now => Next::Cancel,
            Phase::Clearing(_) => Next::Nothing,
        }
    }

    fn may_type(&self, terminal: &Terminal, now: Instant) -> bool {
        let quiet = now.saturating_duration_since(terminal.last_active());
        let told_end = self.asked.until.is_some() || self.asked.idle.is_some();
        match terminal.grid.shell() {
            ShellState::Input => true,
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
        } else if unfinished && quiet >= UNFINISHED_QUIET {
            Next::Clear(incomplete(terminal))
        } else if self.deadline <= now {
            Next::Answer("timeout")
        } else {
            Next::Nothing
        }
    }

    fn body(&self, terminal: &Terminal, by: &'static str, now: Instant) -> Map<String, Value> {
        let grid = &terminal.grid;
        let (lines, cut) = self.output(terminal, by);
        let shown = self.shown(terminal, lines.clone(), cut);
        let since = self.started.or(self.typed.at).unwrap_or(now);
        let duration = now.saturating_duration_since(since).as_millis() as u64;
        let mut body = Map::new();
        let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
        put("id", json!(terminal.id().to_string()));
        put("code", json!(self.done.as_ref().and_then(|done| done.code)));
        put("duration_ms", json!(self.done.as_ref().map_or(duration, |done| done.duration_ms)));
        put("cwd", json!(grid.cwd().map(|cwd| &cwd.path)));
        put("ended_by", json!(by));
        put("timed_out", json!(by == "timeout"));
        put("output_lines", json!([lines.start.0, lines.end.0]));
        put("lines", json!(shown.lines));
        put("seq", json!(self.seq));
        if let Some(gap) = shown.gap {
            let count = gap.end.0 - gap.start.0;
            let lines = [gap.start.0, gap.end.0];
            put("left_out", json!({ "at": shown.at, "count": count, "lines": lines }));
        }
        if let Some(exit) = terminal.exit() {
            put("exit_code", json!(exit.code()));
        }
        if by == "timeout" {
            let rows = text::viewport(grid).into_iter();
            put("screen", rows.map(|row| json!(row.text.trim_end_matches(' '))).collect());
        }
        body
    }

    /// The lines of output, and where the last one is cut.
    fn output(&self, terminal: &Terminal, by: &'static str) -> (Range<LineNo>, Option<usize>) {
        let grid = &terminal.grid;
        if let Some(Done { output: Some(output), cut, .. }) = &self.done {
            return (output.clone(), *cut);
        }
        let first = grid.output_began().filter(|_| self.started.is_some());
        let first = first.unwrap_or(self.typed.line);
        let cursor = grid.cursor_line();
        let at_cursor = text::output(grid, cursor..LineNo(cursor.0 + 1), None, MAX_LINE_CHARS);
        let at_cursor = at_cursor.first().map_or("", |row| row.text.trim_end());
        let found = self.scan.as_ref().and_then(|scan| scan.found()).and_then(|f| f.get("line"));
        let is_prompt = match by {
            "shell" => true,
            "until" => found.and_then(Value::as_u64) == Some(cursor.0),
            _ => at_cursor == self.typed.prompt,
        };
        let end = if at_cursor.is_empty() || is_prompt { cursor.0 } else { cursor.0 + 1 };
        (first..LineNo(end.max(first.0)), None)
    }

    /// The head and the tail of so many lines, with what lies between them left out.
    fn shown(&self, terminal: &Terminal, lines: Range<LineNo>, cut: Option<usize>) -> Shown {
        let grid = &terminal.grid;
        let (most, total) = (self.asked.max_lines, (lines.end.0 - lines.start.0) as usize);
        let head_most = if total > most { most.div_ceil(2) } else { total };
        let held = grid.lines().start;
        // What was read before comes first; the rest is still there or has been dropped.
        let mut head: Vec<_> = self.head.iter().filter(|row| lines.contains(&row.line)).collect();
        head.truncate(head_most);
        let head_end = head.last().map_or(lines.start, |row| LineNo(row.line.0 + 1));
        let read_to = LineNo(lines.start.0 + head_most as u64);
        let cut_at = |end: LineNo| cut.filter(|_| end == lines.end);
        let more = match head_end >= held && head_end < read_to {
            true => text::output(grid, head_end..read_to, cut_at(read_to), MAX_LINE_CHARS),
            false => Vec::new(),
        };
        let head: Vec<_> = head.into_iter().chain(&more).map(|row| row.text.clone()).collect();
        let next = LineNo(lines.start.0 + head.len() as u64);
        let tail = LineNo(lines.end.0 - (most - head.len()).min(total - head.len()) as u64);
        let tail = tail.max(held).max(next).min(lines.end);
        let rows = text::output(grid, tail..lines.end, cut, MAX_LINE_CHARS);
        let at = head.len();
        let lines = head.into_iter().chain(rows.into_iter().map(|row| row.text)).collect();
        Shown { lines, at, gap: (next < tail).then_some(next..tail) }
    }
}

struct Shown {
    lines: Vec<String>,
    /// The place in `lines` where lines are left out.
    at: usize,
    gap: Option<Range<LineNo>>,
}

impl Typed {
    fn at(terminal: &Terminal, command: &str, now: Instant) -> Typed {
        let grid = &terminal.grid;
        let line = grid.cursor_line();
        let echoed = typed_text(terminal, command).matches('\n').count() as u64;
        let before = text::output(grid, line..LineNo(line.0 + 1), None, MAX_LINE_CHARS);
        let prompt = before.first().map(|row| row.text.trim_end().to_owned()).unwrap_or_default();
        Typed { line: LineNo(line.0 + 1 + echoed), prompt, at: Some(now) }
    }
}

/// Pasted where that is known, so that nothing in it is a key; a line end that is not pasted is
/// quoted, so that the shell's editor takes it in.
fn typed_bytes(terminal: &Terminal, command: &str) -> Vec<u8> {
    let at_prompt = terminal.grid.shell() == ShellState::Input;
    let bracketed = terminal.grid.modes().bracketed_paste();
    let text = typed_text(terminal, command);
    let one_line = !text.contains('\n');
    let mut bytes = Vec::new();
    if at_prompt && terminal.grid.has_typed() {
        bytes.push(KILL_LINE);
    }
    let paste = match (bracketed && (at_prompt || !one_line), at_prompt) {
        (true, _) => input::paste(text, true),
        (false, true) => quoted(text),
        (false, false) => input::paste(text, false),
    };
    bytes.extend(paste);
    bytes.push(b'\r');
    bytes
}

/// Without the last line end, which is the Enter key. Empty lines mean something to other programs
/// than shells: they end a block.
fn typed_text<'a>(terminal: &Terminal, command: &'a str) -> &'a str {
    match terminal.grid.shell() {
        ShellState::Input => command.trim_end_matches('\n'),
        _ => command.strip_suffix('\n').unwrap_or(command),
    }
}

const KILL_LINE: u8 = 0x15;
const QUOTE: u8 = 0x16;

fn quoted(text: &str) -> Vec<u8> {
    let clean = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control());
    let mut bytes = Vec::new();
    for c in clean {
        if matches!(c, '\n' | '\t') {
            bytes.push(QUOTE);
        }
        bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
    }
    bytes
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
