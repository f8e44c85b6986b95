//! What is recorded of terminals: what they show, or what is asked of them.

mod end;
mod life;
mod mask;
mod tape;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ClientId, Effect, Mux, TerminalId};
use crate::cast::Format;
use crate::term::Size;
use crate::wire::{RecordedLines, frame_line};
pub use life::{Opening, RecordWish};
use tape::{Note, State, Tape, To};

/// A recording's number: `r1` on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordingId(pub u32);

impl fmt::Display for RecordingId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// All that is needed to go on with a recording when the worker has been replaced.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Definition {
    pub id: RecordingId,
    pub format: Format,
    pub input: bool,
    pub path: String,
    /// Since 1970.
    pub started_ms: u64,
}

#[derive(Default)]
pub struct Tapes {
    all: std::collections::BTreeMap<RecordingId, Tape>,
    next: u32,
}

impl Mux {
    /// Those of a terminal that still run.
    fn tapes_of(&mut self, terminal: TerminalId) -> impl Iterator<Item = &mut Tape> {
        self.tapes.all.values_mut().filter(move |tape| tape.terminal == terminal && tape.runs())
    }

    fn note(&mut self, terminal: TerminalId, note: &Note) {
        let now = self.now;
        self.tapes_of(terminal).for_each(|tape| tape.note(now, note));
    }

    pub(super) fn record_output(&mut self, terminal: TerminalId, bytes: &[u8]) {
        self.note(terminal, &Note::Output(Cow::Borrowed(bytes)));
    }

    /// A chapter begins.
    pub(super) fn record_mark(&mut self, terminal: TerminalId, label: &str) {
        self.note(terminal, &Note::Mark(Cow::Borrowed(label)));
    }

    pub(super) fn record_size(&mut self, terminal: TerminalId, size: Size) {
        self.note(terminal, &Note::Resize(size));
        let Some(grid) = self.terminals.get(&terminal).map(|terminal| &terminal.grid) else {
            return;
        };
        let its = |tape: &&mut Tape| tape.terminal == terminal && tape.runs() && tape.is_partial;
        for tape in self.tapes.all.values_mut().filter(its) {
            let mut screen = Vec::new();
            grid.redraw(&mut screen);
            tape.note(self.now, &Note::Output(Cow::Owned(screen)));
        }
    }

    /// Something is about to be typed. Whether it may be written down is asked first: what a
    /// program reads without an echo is a secret.
    pub(super) fn record_input(&mut self, terminal: TerminalId, bytes: &[u8]) {
        let now = self.now;
        let mut wanted = false;
        for tape in self.tapes_of(terminal) {
            if tape.input {
                tape.hold_input(now, bytes);
            }
            // The request behind it may be held back already.
            wanted |= tape.holds();
        }
        if wanted {
            self.effect(Effect::LookForEcho(terminal));
        }
    }

    /// A request that is about to be done, for scripts. It is kept back until it is known whether
    /// it was refused, and whether it may be written down.
    pub fn begin_action(
        &mut self,
        terminal: TerminalId,
        cmd: &str,
        fields: &Map<String, Value>,
    ) -> bool {
        let now = self.now;
        let scripts = self.tapes_of(terminal).filter(|tape| tape.format.is_script());
        scripts.map(|tape| tape.hold_action(now, cmd, fields)).count() > 0
    }

    pub fn end_action(&mut self, terminal: TerminalId, done: bool) {
        if done {
            self.effect(Effect::LookForEcho(terminal));
        } else {
            self.tapes_of(terminal).for_each(Tape::drop_action);
        }
    }

    /// Whether anyone writes down what is asked.
    pub fn writes_scripts(&self) -> bool {
        self.tapes.all.values().any(|tape| tape.runs() && tape.format.is_script())
    }

    /// What was held back is written down, or dropped if the program hides what is typed.
    pub(super) fn echo_found(&mut self, terminal: TerminalId, hidden: bool) {
        self.tapes_of(terminal).for_each(|tape| tape.release(hidden));
    }

    /// Hands out what is ready, and tells of what has ended; done once a turn.
    pub(super) fn hand_out_recordings(&mut self) {
        let waiting = |tape: &&Tape| tape.has_something();
        let ready: Vec<_> = self.tapes.all.values().filter(waiting).map(|tape| tape.id).collect();
        for id in ready {
            self.hand_out(id);
        }
    }

    fn hand_out(&mut self, id: RecordingId) {
        let Some(tape) = self.tapes.all.get(&id) else { return };
        let takes = match tape.to {
            To::File => !tape.busy,
            To::Client { client, .. } => !self.clients.is_writing(client),
        };
        if !takes {
            return;
        }
        self.fill_gap(id);
        match self.tapes.all.get_mut(&id).and_then(Tape::batch) {
            Some(bytes) => self.send_lines(id, bytes),
            None => self.finish(id),
        }
    }

    fn send_lines(&mut self, id: RecordingId, bytes: Vec<u8>) {
        let Some(tape) = self.tapes.all.get_mut(&id) else { return };
        match &tape.to {
            To::File => {
                tape.busy = true;
                self.effect(Effect::WriteRecording { id, bytes });
            }
            To::Client { client, tag } => {
                let data = String::from_utf8_lossy(&bytes).into_owned();
                let lines = RecordedLines { recording: id.to_string(), data, lost: tape.lost };
                let (client, bytes) = (*client, frame_line(tag.as_ref(), &lines));
                self.clients.writes(client);
                self.effect(Effect::Stream { client, bytes });
            }
        }
    }

    /// After something was left out all is drawn anew, so that the rest can be understood.
    fn fill_gap(&mut self, id: RecordingId) {
        let now = self.now;
        let Some(tape) = self.tapes.all.get_mut(&id).filter(|tape| tape.has_gap()) else { return };
        let Some(terminal) = self.terminals.get(&tape.terminal) else { return };
        tape.close_gap();
        tape.is_partial = true;
        tape.note(now, &Note::Mark(Cow::Borrowed("left out: it was not taken in time")));
        tape.note(now, &Note::Resize(terminal.grid.size()));
        let mut screen = Vec::new();
        terminal.grid.redraw(&mut screen);
        tape.note(now, &Note::Output(Cow::Owned(screen)));
        if let Some(code) = terminal.exit().and_then(|exit| exit.code()) {
            tape.note(now, &Note::Exit(code));
        }
    }

    /// The streams of a client that is gone.
    pub(super) fn forget_recordings(&mut self, gone: ClientId) {
        let its = |tape: &&Tape| matches!(tape.to, To::Client { client, .. } if client == gone);
        let ids: Vec<_> = self.tapes.all.values().filter(its).map(|tape| tape.id).collect();
        for id in ids {
            self.end_tape(id, "asked", None);
            if let Some(tape) = self.tapes.all.get_mut(&id) {
                tape.drop_queue();
            }
            self.finish(id);
        }
    }

    pub(super) fn streams_to(&self, gone: ClientId) -> bool {
        let its = |tape: &Tape| matches!(tape.to, To::Client { client, .. } if client == gone);
        self.tapes.all.values().any(|tape| its(tape) && !matches!(tape.state, State::Ended(_)))
    }
}
