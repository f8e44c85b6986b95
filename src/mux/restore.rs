//! What an earlier worker left: the events it told, and its terminals as they were.

use super::history::CommandRecord;
use super::persist::Keeping;
use super::{Effect, Exit, History, Identity, Life, Mux, Terminal, TerminalId};
use crate::term::{self, Size};
use crate::wire::{Event, EventKind, LeftScreen};
use serde::Deserialize;

/// An event as it was told, and the notice of its terminal that it came of: 0 if of none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldEvent<Line = Vec<u8>> {
    pub seq: u64,
    pub kind: EventKind,
    pub terminal: Option<TerminalId>,
    pub notice: u64,
    pub line: Line,
}

/// What events tell of a terminal besides its grid.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// The last notice that an event came of.
    told: u64,
    idle: bool,
    created: bool,
    exited: bool,
    history: History,
}

/// A command's end, as its event has it.
#[derive(Deserialize)]
struct Done {
    command: Option<String>,
    code: Option<i32>,
    duration_ms: Option<u64>,
    cwd: Option<String>,
    output_lines: Option<[u64; 2]>,
    trusted: bool,
}

impl Traces {
    fn note(&mut self, event: &ToldEvent) {
        self.told = self.told.max(event.notice);
        match event.kind {
            EventKind::Idle => self.idle = true,
            EventKind::Activity => self.idle = false,
            EventKind::Created => self.created = true,
            EventKind::Exit => self.exited = true,
            EventKind::CommandDone => {
                if let Ok(done) = serde_json::from_slice::<Done>(&event.line) {
                    self.history.push(done.into());
                }
            }
            _ => {}
        }
    }
}

impl From<Done> for CommandRecord {
    fn from(done: Done) -> CommandRecord {
        let Done { command, code, duration_ms, cwd, output_lines, trusted } = done;
        let (number, cut) = (0, None);
        CommandRecord { number, command, code, duration_ms, cwd, output_lines, cut, trusted }
    }
}

/// A terminal's state at some point of its output, and what was fed after it.
pub struct Past<'a> {
    pub grid: term::Terminal,
    /// Bytes of output, and notices, that the grid has had.
    pub offset: u64,
    pub notices: u64,
    /// Notices whose effects are certain.
    pub told: u64,
    /// Output that the earlier worker has fed too.
    pub fed: &'a [u8],
    /// All output there was, in bytes. What comes after `fed` is yet to come, or left out if the
    /// terminal is degraded.
    pub head: u64,
    /// What is left of the screen, if it could not be brought back as it was.
    pub degraded: Option<LeftScreen>,
}

impl Mux {
    /// The history of events goes on where an earlier worker's ended.
    pub fn recall(&mut self, events: Vec<ToldEvent>) {
        for event in &events {
            if let Some(id) = event.terminal {
                self.past.entry(id).or_default().note(event);
            }
        }
        self.events.recall(events.into_iter());
    }

    /// Hands over each event that the next worker would not know of.
    pub fn keep_events(&mut self, keep: impl FnMut(&ToldEvent<&Vec<u8>>)) {
        self.events.keep(keep);
    }

    /// A terminal that an earlier worker served, or was about to: who it is. Its grid is to be given by
    /// `restore`. Of one that nobody was told of it is yet to be found out whether it runs.
    pub fn inherit(&mut self, record: &[u8], pid: u32, size: Size) -> Option<&Identity> {
        let mut identity = serde_json::from_slice::<Identity>(record).ok()?;
        let id = identity.id;
        let traces = self.past.remove(&id).unwrap_or_default();
        identity.created_told |= traces.created;
        identity.exit_told |= traces.exited;
        self.next_id = self.next_id.max(id.0.saturating_add(1));
        let life = match identity.created_told {
            true => Life::Running { pid },
            false => Life::Starting { ticket: None, pid: Some(pid), runs: false, exit: None },
        };
        let mut terminal = Terminal::new(identity, size, life, self.now);
        terminal.was_ready = terminal.started();
        terminal.idle = traces.idle;
        terminal.told = traces.told;
        terminal.history = traces.history;
        // The last worker may have been killed when an end was told and not counted yet.
        let counted = terminal.identity.commands;
        terminal.identity.commands = terminal.history.number(counted);
        let persists = terminal.identity.persist.unwrap_or(self.shelf.always);
        terminal.keeping = Keeping::inherited(persists, self.now);
        self.terminals.insert(id, terminal);
        self.type_left(id);
        self.arm(id);
        self.terminals.get(&id).map(|terminal| &terminal.identity)
    }

    /// Brings a terminal back to where an earlier worker had come with it.
    pub fn restore(&mut self, id: TerminalId, size: Size, past: Past<'_>) {
        let Past { grid, offset, notices, told, fed, head, degraded } = past;
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        terminal.grid = grid;
        terminal.output_bytes = offset;
        terminal.notices = notices;
        terminal.told = terminal.told.max(told);
        self.count_scrollback(id);
        self.refeed(id, fed);
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        // Nor may one that has ended be known to have.
        terminal.identity.running.truncate(terminal.grid.running_commands());
        // The device has the last word about its size.
        if terminal.grid.size() != size {
            terminal.grid.resize(size);
            self.effect(Effect::Save(id));
            self.tell_size(id);
        }
        self.go_on_recording(id);
        if let Some(screen) = degraded {
            self.leave_out(id, head);
            self.degrade(id, screen);
        }
        self.arm(id);
    }

    /// What comes from now on is new: none of it was told, as far as the numbers go.
    fn leave_out(&mut self, id: TerminalId, head: u64) {
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.output_bytes = head;
            terminal.notices = terminal.notices.max(terminal.told);
        }
    }

    /// With what comes from now on: the rest was recorded.
    fn go_on_recording(&mut self, id: TerminalId) {
        let identity = self.terminals.get(&id).map(|terminal| &terminal.identity);
        let recordings = identity.map(|identity| identity.recordings.clone()).unwrap_or_default();
        self.record_again(id, &recordings);
    }

    /// Its program has ended, and that was told; the text stays.
    pub fn bury_told(&mut self, id: TerminalId, exit: Exit) -> bool {
        let Some(terminal) = self.terminals.get(&id) else { return false };
        let (told, pid) = (terminal.identity.exit_told, terminal.pid());
        if let Some(pid) = pid.filter(|_| told) {
            self.bury(id, pid, exit);
        }
        told
    }

    /// All that an earlier worker left is here.
    pub fn inherited(&mut self) {
        self.past.clear();
        self.emit_any(None, &Event::Restarted);
        self.settle();
    }
}
