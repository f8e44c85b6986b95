//! A recording's life: asked for, opened, and gone on with by the next worker.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::json;

use super::tape::{Note, State, Tape, To};
use super::{Definition, RecordingId};
use crate::cast::{Format, Head, Origin, Script, Writer, Written};
use crate::mux::limits::MAX_RECORDINGS;
use crate::mux::{Effect, Identity, Mux, Plan, TerminalId, Ticket};
use crate::term::Size;
use crate::wire::{Code, Event, Failure, RecordingState, RecordingSummary};

/// A recording as it is asked for.
#[derive(Debug, Clone)]
pub struct RecordWish {
    pub format: Format,
    pub input: bool,
    /// None: it goes to the client that asks.
    pub path: Option<String>,
}

/// How a file is opened.
#[derive(Debug)]
pub enum Opening {
    /// It is made, and begins with this.
    New(Vec<u8>),
    /// It goes on where an earlier worker left it.
    Again(Format),
}

impl Mux {
    /// Records a terminal from now on; its screen comes first.
    pub fn record(
        &mut self,
        id: TerminalId,
        wish: RecordWish,
        ticket: &Ticket,
    ) -> Result<(), Failure> {
        self.check_recordings()?;
        let Some(terminal) = self.terminals.get(&id) else { return Ok(()) };
        if !terminal.alive() {
            let error = format!("record: the program in {id} has ended; nothing more will come");
            return Err(Failure::new(Code::Exited, error));
        }
        let mut screen = Vec::new();
        if terminal.output_bytes > 0 {
            terminal.grid.redraw(&mut screen);
        }
        let head = self.head(&terminal.identity, terminal.grid.size(), wish.format);
        let mut tape = self.new_tape(id, &wish);
        if !screen.is_empty() {
            tape.is_partial = true;
            tape.note(self.now, &Note::Output(Cow::Owned(screen)));
        }
        match wish.path {
            Some(path) => {
                tape.state = State::Opening { ticket: Some(ticket.clone()), plan: None, end: None };
                self.open_tape(tape, path, Opening::New(head));
            }
            None => self.stream_tape(tape, head, ticket),
        }
        Ok(())
    }

    /// Records a terminal that is yet to be started, which happens when the file is there.
    pub(in crate::mux) fn record_first(
        &mut self,
        identity: &Identity,
        wish: RecordWish,
        plan: Box<Plan>,
    ) {
        let head = self.head(identity, plan.size, wish.format);
        let mut tape = self.new_tape(identity.id, &wish);
        tape.state = State::Opening { ticket: None, plan: Some(plan), end: None };
        self.open_tape(tape, wish.path.unwrap_or_default(), Opening::New(head));
    }

    /// Goes on with what an earlier worker began.
    pub(in crate::mux) fn record_again(&mut self, terminal: TerminalId, known: &[Definition]) {
        for Definition { id, format, input, path, started_ms } in known.iter().cloned() {
            let before = Duration::from_millis(self.unix_ms().saturating_sub(started_ms));
            let mut tape = Tape::new(id, terminal, (format, input), (self.now, before));
            tape.started_ms = started_ms;
            self.hide_key(&mut tape);
            tape.note(self.now, &Note::Mark(Cow::Borrowed("restarted")));
            self.tapes.next = self.tapes.next.max(id.0);
            self.open_tape(tape, path, Opening::Again(format));
        }
    }

    /// Those that run, and those that are over.
    pub(in crate::mux) fn count_recordings(&self) -> (usize, usize) {
        let count = |is: fn(&Tape) -> bool| self.tapes.all.values().filter(|t| is(t)).count();
        (count(Tape::runs), count(Tape::is_over))
    }

    /// Room for one more.
    pub fn check_recordings(&self) -> Result<(), Failure> {
        let (running, _) = self.count_recordings();
        if running >= MAX_RECORDINGS {
            let error = format!("there are {running} recordings, which is the most: stop one");
            return Err(Failure::new(Code::Limit, error));
        }
        Ok(())
    }

    fn new_tape(&mut self, terminal: TerminalId, wish: &RecordWish) -> Tape {
        self.tapes.next += 1;
        let id = RecordingId(self.tapes.next);
        let how = (wish.format, wish.input);
        let mut tape = Tape::new(id, terminal, how, (self.now, Duration::ZERO));
        tape.started_ms = self.unix_ms();
        self.hide_key(&mut tape);
        tape
    }

    fn hide_key(&self, tape: &mut Tape) {
        if let Some(terminal) = self.terminals.get(&tape.terminal) {
            tape.hide(&terminal.identity.key);
        }
    }

    fn head(&self, identity: &Identity, size: Size, format: Format) -> Vec<u8> {
        let mut out = Vec::new();
        if format.is_script() {
            let terminal = identity.id.to_string();
            let origin = Origin { terminal: &terminal, size, argv: &identity.argv };
            Script::new(format, Written::default()).head(&origin, &mut out);
        } else {
            let title = identity.name.as_deref();
            let head = Head { size, started: self.unix_ms() / 1000, title };
            Writer::new(format, Written::default()).head(&head, &mut out);
        }
        out
    }

    fn open_tape(&mut self, mut tape: Tape, path: String, opening: Opening) {
        let (id, terminal) = (tape.id, tape.terminal);
        tape.path = Some(path.clone());
        self.tapes.all.insert(id, tape);
        self.effect(Effect::OpenRecording { id, path, opening });
        self.remember_recordings(terminal);
    }

    fn stream_tape(&mut self, mut tape: Tape, head: Vec<u8>, ticket: &Ticket) {
        let seq = self.seq();
        tape.to = To::Client { client: ticket.client, tag: ticket.tag.clone() };
        tape.set_head(head);
        tape.state = State::Running;
        tape.begin(Written::default());
        let (id, terminal) = (tape.id, tape.terminal);
        self.tapes.all.insert(id, tape);
        self.tell_recording(id, RecordingState::Started);
        self.clients.has_view(ticket.client, true);
        let body = json!({ "recording": id.to_string(), "id": terminal.to_string(), "seq": seq });
        self.answer(ticket, body);
    }

    pub(in crate::mux) fn recording_opened(
        &mut self,
        id: RecordingId,
        result: Result<Written, String>,
    ) {
        let seq = self.seq();
        let Some(tape) = self.tapes.all.get_mut(&id) else { return };
        let terminal = tape.terminal;
        let opened = std::mem::replace(&mut tape.state, State::Running);
        let State::Opening { ticket, plan, end } = opened else {
            tape.state = opened;
            return;
        };
        let tickets = end.iter().flat_map(|end| end.tickets.clone()).chain(ticket.clone());
        match result {
            Ok(written) => {
                tape.begin(written);
                let path = tape.path.clone();
                if let Some(end) = end {
                    tape.rest(end.duration);
                    tape.state = State::Ending(end);
                }
                self.tell_recording(id, RecordingState::Started);
                if let Some(mut plan) = plan {
                    // The next worker is to know of the recording from the beginning.
                    let identity = self.terminals.get(&terminal).map(|known| &known.identity);
                    plan.record = serde_json::to_vec(&identity).unwrap_or_default();
                    self.effect(Effect::Spawn(plan));
                }
                if let Some(ticket) = ticket {
                    let body = json!({ "recording": id.to_string(), "id": terminal.to_string(),
                        "path": path, "seq": seq });
                    self.answer(&ticket, body);
                }
            }
            Err(error) => {
                let failure = Failure::new(Code::System, format!("record: {error}"));
                let tickets: Vec<_> = tickets.collect();
                let again = plan.is_none() && tickets.is_empty();
                tickets.iter().for_each(|ticket| self.refuse(ticket, &failure));
                match again {
                    true => self.fail_tape(id, error),
                    false => self.drop_tape(id),
                }
                if plan.is_some() {
                    self.started(terminal, Err(failure));
                }
            }
        }
    }

    pub(in crate::mux) fn recording_written(
        &mut self,
        id: RecordingId,
        result: Result<(), String>,
    ) {
        if let Some(tape) = self.tapes.all.get_mut(&id) {
            tape.busy = false;
        }
        if let Err(error) = result {
            self.fail_tape(id, error);
        }
    }

    pub fn recordings(&self) -> Vec<RecordingSummary> {
        self.tapes.all.values().map(|tape| tape.summary(self.now)).collect()
    }

    /// Something is still on its way to a file.
    pub fn writes_recordings(&self) -> bool {
        self.tapes.all.values().any(|tape| tape.busy || tape.has_something())
    }

    pub(super) fn tell_recording(&mut self, id: RecordingId, state: RecordingState) {
        let Some(tape) = self.tapes.all.get(&id) else { return };
        let terminal = tape.terminal;
        let RecordingSummary { recording, path, duration_ms, events, error, .. } =
            tape.summary(self.now);
        let over = state != RecordingState::Started;
        self.emit(
            terminal,
            &Event::Recording {
                recording,
                state,
                path,
                duration_ms: over.then_some(duration_ms),
                events: over.then_some(events),
                error,
            },
        );
    }

    /// What the next worker has to know.
    pub(super) fn remember_recordings(&mut self, terminal: TerminalId) {
        let its = self.tapes.all.values().filter(|tape| tape.terminal == terminal && tape.runs());
        let definition = |tape: &Tape| {
            let path = tape.path.clone()?;
            let Tape { id, format, input, started_ms, .. } = *tape;
            Some(Definition { id, format, input, path, started_ms })
        };
        let known: Vec<_> = its.filter_map(definition).collect();
        if let Some(terminal) = self.terminals.get_mut(&terminal) {
            terminal.identity.recordings = known;
        }
        self.remember(terminal);
    }
}
