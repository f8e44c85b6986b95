//! One terminal: its grid, its program's life, what is typed and when it was last busy.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::dead::Restored;
use super::history::History;
use super::limits::{
    KILL_GRACE, MAX_INPUT_QUEUE, MAX_MOMENTS, MAX_REPLY_QUEUE, MAX_SCROLLBACK_BYTES,
    SCREEN_AT_MOST, SCREEN_QUIET, SYNC_TIMEOUT, TYPING_SHOWN, UNFINISHED_QUIET,
};
use super::persist::Keeping;
use super::runs::Run;
use super::typing::Held;
use super::waits::Probing;
use super::{Definition, TakeOver, Ticket};
use crate::term::{self, Limits, LineNo, ShellState, Size};
use crate::wire::{Code, Failure, Pair, pairs};

/// A terminal's number: `t1` on the wire. Never given out twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TerminalId(pub u32);

impl fmt::Display for TerminalId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Nobody could tell.
    Unknown,
}

impl Exit {
    /// The code a shell would report.
    pub fn code(self) -> Option<i32> {
        match self {
            Exit::Code(code) => Some(code),
            Exit::Signal(signal) => Some(128 + signal),
            Exit::Unknown => None,
        }
    }
}

/// What is remembered of a terminal outside the worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Identity {
    pub id: TerminalId,
    pub name: Option<String>,
    #[serde(with = "pairs")]
    pub labels: Vec<Pair>,
    pub argv: Vec<String>,
    /// The secret that marks of our own shell integration carry.
    pub key: String,
    pub idle_timeout_ms: Option<u64>,
    pub scrollback_lines: u32,
    #[serde(default)]
    pub take_over: TakeOver,
    /// Where its program was started.
    #[serde(default)]
    pub cwd: String,
    #[serde(default = "yes")]
    pub shell_integration: bool,
    /// Whether it is kept on disk; None: as the server's setting is.
    #[serde(default)]
    pub persist: Option<bool>,
    /// When it was made, in milliseconds since 1970.
    #[serde(default)]
    pub born_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Definition>,
    /// The events `created` and `exit` were given out.
    #[serde(default)]
    pub created_told: bool,
    pub exit_told: bool,
    /// Its screen could not be brought back as it was, once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
    /// When the commands that run began, in milliseconds since 1970: the outermost shell's first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<u64>,
    /// How many commands have ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub commands: u64,
    /// What was typed and not taken by the program, left by a worker that went; base64.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub typed: String,
}

fn yes() -> bool {
    true
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Identity {
    /// What changes whenever a command begins or ends.
    pub fn counts(&self) -> (u64, usize) {
        (self.commands, self.running.len())
    }
}

pub enum Life {
    /// Forked or about to be; the program does not run yet.
    Starting {
        ticket: Option<Ticket>,
        pid: Option<u32>,
        runs: bool,
        exit: Option<Exit>,
    },
    Running {
        pid: u32,
    },
    Exited {
        pid: u32,
        exit: Exit,
    },
}

/// A kill under way.
pub struct Dying {
    pub tickets: Vec<Ticket>,
    pub deadline: Instant,
    pub forced: bool,
}

/// A `create` that waits for the first prompt.
pub struct Readiness {
    pub ticket: Ticket,
    pub deadline: Instant,
    pub seq: u64,
}

pub struct Terminal {
    pub identity: Identity,
    pub grid: term::Terminal,
    pub life: Life,
    pub dying: Option<Dying>,
    pub ready: Option<Readiness>,
    pub keeping: Keeping,
    /// It was brought back from disk, and that is yet to be told.
    pub restored: Option<Box<Restored>>,
    pub history: History,
    /// Who typed last, and when, if that is still to be shown.
    pub typing: Option<(String, Instant)>,
    /// Requests of agents that were refused while someone held the keyboard.
    pub refused: u64,
    pub last_output: Instant,
    /// When something was typed, and when what is seen changed.
    pub last_input: Instant,
    pub last_change: Instant,
    moments: VecDeque<Moment>,
    /// Enter was pressed at the prompt, and the shell has not yet said what came of it.
    pub entered: bool,
    shown: u64,
    pub idle: bool,
    /// The first prompt has been there, or something like it.
    pub was_ready: bool,
    /// Input that waits for that.
    pub held: Vec<Held>,
    pub run: Option<Box<Run>>,
    pub probing: Probing,
    pub output_bytes: u64,
    /// Bytes of scrollback, as they were last counted.
    pub scrollback_counted: usize,
    /// Notices that its output gave, and how many of them had their effects before this worker.
    pub notices: u64,
    pub told: u64,
    input: VecDeque<u8>,
    screen: ScreenTimer,
    sync_since: Option<Instant>,
    /// The earliest time the timer queue holds for this terminal.
    pub armed: Option<Instant>,
}

/// When something was typed: what comes after it is later in all three counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub seq: u64,
    pub stamp: u64,
    pub line: LineNo,
}

/// Two timers: quiet for a moment, or busy for long enough.
#[derive(Default)]
struct ScreenTimer {
    first_change: Option<Instant>,
    last_change: Option<Instant>,
}

impl Terminal {
    pub fn new(identity: Identity, size: Size, life: Life, now: Instant) -> Terminal {
        let limits = Limits { lines: identity.scrollback_lines, bytes: MAX_SCROLLBACK_BYTES };
        Terminal {
            grid: term::Terminal::new(size, limits),
            identity,
            life,
            dying: None,
            ready: None,
            keeping: Keeping::default(),
            restored: None,
            history: History::default(),
            typing: None,
            refused: 0,
            last_output: now,
            last_input: now,
            last_change: now,
            moments: VecDeque::new(),
            entered: false,
            shown: 0,
            idle: false,
            was_ready: false,
            held: Vec::new(),
            run: None,
            probing: Probing::default(),
            output_bytes: 0,
            scrollback_counted: 0,
            notices: 0,
            told: 0,
            input: VecDeque::new(),
            screen: ScreenTimer::default(),
            sync_since: None,
            armed: None,
        }
    }

    /// A new, empty grid: the old one's state cannot be trusted any more.
    pub fn replace_grid(&mut self) {
        let size = self.grid.size();
        let none = term::Terminal::new(size, Limits { lines: 0, bytes: 0 });
        let memory = std::mem::replace(&mut self.grid, none).into_memory();
        self.grid = term::Terminal::with_memory(size, self.identity.scrollback_lines, memory);
    }

    /// Memory for the scrollback, while there is none yet.
    pub fn lend(&mut self, memory: term::Memory) {
        let size = self.grid.size();
        self.grid = term::Terminal::with_memory(size, self.identity.scrollback_lines, memory);
    }

    pub fn id(&self) -> TerminalId {
        self.identity.id
    }

    pub fn alive(&self) -> bool {
        !matches!(self.life, Life::Exited { .. })
    }

    pub fn started(&self) -> bool {
        !matches!(self.life, Life::Starting { .. })
    }

    pub fn pid(&self) -> Option<u32> {
        match self.life {
            Life::Starting { pid, .. } => pid,
            Life::Running { pid } | Life::Exited { pid, .. } => Some(pid),
        }
    }

    pub fn exit(&self) -> Option<Exit> {
        match self.life {
            Life::Exited { exit, .. } => Some(exit),
            _ => None,
        }
    }

    /// Something is typed now, after the event of this number.
    pub fn note_input(&mut self, bytes: &[u8], seq: u64, now: Instant) {
        self.last_input = now;
        self.entered |= self.grid.shell() == ShellState::Input && bytes.contains(&b'\r');
        let moment = Moment { seq, stamp: self.grid.stamp(), line: self.grid.cursor_line() };
        if self.moments.back() != Some(&moment) {
            self.moments.push_back(moment);
        }
        if self.moments.len() > MAX_MOMENTS {
            self.moments.pop_front();
        }
    }

    /// The first input after an event.
    pub fn input_after(&self, seq: u64) -> Option<Moment> {
        self.moments.iter().find(|moment| moment.seq >= seq).copied()
    }

    /// The line from which on all was written after a stamp, as far as that is known.
    pub fn line_since(&self, stamp: u64) -> LineNo {
        let before = self.moments.iter().rev().find(|moment| moment.stamp <= stamp);
        let top = self.grid.line_of_row(0);
        before.map_or(top, |moment| moment.line.min(top))
    }

    /// When something was last typed or written.
    pub fn last_active(&self) -> Instant {
        self.last_output.max(self.last_input)
    }

    /// A command can be typed now. A shell that says nothing asks for bracketed paste when, and only
    /// when, it reads a line.
    pub fn at_prompt(&self, now: Instant) -> bool {
        match self.grid.shell() {
            ShellState::Input => !self.is_entering(now),
            ShellState::Unknown => {
                self.identity.key.is_empty() && self.grid.modes().bracketed_paste()
            }
            ShellState::Prompt | ShellState::Running => false,
        }
    }

    /// A line was entered just now. A shell that says nothing about it for long has taken none in.
    pub fn is_entering(&self, now: Instant) -> bool {
        let quiet = now.saturating_duration_since(self.last_active());
        self.entered && quiet < UNFINISHED_QUIET
    }

    /// What the program calls itself, else the program's own name.
    pub fn title(&self) -> &str {
        let title = self.grid.title();
        if !title.is_empty() {
            return title;
        }
        let program = self.identity.argv.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    /// Queues what was typed: all of it, or nothing.
    pub fn type_in(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let id = self.id();
        if !self.alive() {
            let error = format!("the program in {id} has ended; its text can still be read");
            return Err(Failure::new(Code::Exited, error));
        }
        let queued = self.input.len();
        if queued + bytes.len() > MAX_INPUT_QUEUE {
            let error = format!(
                "the program in {id} has not read {queued} bytes typed before; {} more would pass \
                 the limit of {MAX_INPUT_QUEUE}: wait, or use signal INT to drop them",
                bytes.len()
            );
            return Err(Failure::new(Code::InputFull, error));
        }
        self.input.extend(bytes);
        Ok(())
    }

    /// Queues the answer to a program's query. One that asks without reading gets no more.
    pub fn reply(&mut self, bytes: &[u8]) {
        if self.input.len() + bytes.len() <= MAX_REPLY_QUEUE {
            self.input.extend(bytes);
        }
    }

    pub fn input(&self) -> &[u8] {
        self.input.as_slices().0
    }

    pub fn queued(&self) -> usize {
        self.input.len()
    }

    pub fn input_taken(&mut self, bytes: usize) {
        self.input.drain(..bytes.min(self.input.len()));
    }

    pub fn take_input(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.input).into()
    }

    pub fn drop_input(&mut self) -> usize {
        std::mem::take(&mut self.input).len()
    }

    /// Notes a change of the screen for `screen` events and the synchronized-output time-out.
    pub fn note_change(&mut self, now: Instant, screen_wanted: bool) {
        if screen_wanted {
            self.screen.first_change.get_or_insert(now);
            self.screen.last_change = Some(now);
        }
        if self.shown != self.grid.stamp() {
            self.shown = self.grid.stamp();
            self.last_change = now;
        }
        if !self.grid.in_sync() {
            self.sync_since = None;
        } else if self.sync_since.is_none() {
            self.sync_since = Some(now);
        }
    }

    fn screen_deadline(&self) -> Option<Instant> {
        let quiet = self.screen.last_change? + SCREEN_QUIET;
        Some(quiet.min(self.screen.first_change? + SCREEN_AT_MOST))
    }

    pub fn screen_due(&mut self, now: Instant) -> bool {
        let due = self.screen_deadline().is_some_and(|deadline| deadline <= now);
        if due {
            self.screen = ScreenTimer::default();
        }
        due
    }

    /// Shows what a program that never ends its update has drawn.
    pub fn sync_due(&mut self, now: Instant) -> bool {
        let due = self.sync_since.take_if(|since| *since + SYNC_TIMEOUT <= now).is_some();
        if due {
            self.grid.end_sync();
            self.note_change(now, false);
        }
        due
    }

    /// When something about this terminal has to happen without anyone asking.
    pub fn deadline(&self, idle_timeout: Duration) -> Option<Instant> {
        let idle =
            (self.started() && self.alive() && !self.idle).then(|| self.last_output + idle_timeout);
        [
            idle,
            self.dying.as_ref().map(|dying| dying.deadline),
            self.ready.as_ref().map(|ready| ready.deadline),
            self.screen_deadline(),
            self.sync_since.map(|since| since + SYNC_TIMEOUT),
            self.typing.as_ref().map(|(_, at)| *at + TYPING_SHOWN),
            self.held.iter().map(|held| held.deadline).min(),
        ]
        .into_iter()
        .flatten()
        .min()
    }
}

impl Dying {
    pub fn new(ticket: Ticket, now: Instant) -> Dying {
        Dying { tickets: vec![ticket], deadline: now + KILL_GRACE, forced: false }
    }
}
