//! One recording: lines that wait to be taken.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::mask::Mask;
use super::{RecordingId, TerminalId};
use crate::cast::{Format, Script, Writer, Written};
use crate::mux::limits::{MAX_RECORDING_QUEUE, RECORDING_BATCH};
use crate::mux::{ClientId, Plan, Ticket};
use crate::term::Size;
use crate::wire::{RecordingState, RecordingSummary, Tag};

/// What happens to a terminal, as it is recorded.
#[derive(Clone)]
pub enum Note<'a> {
    Output(Cow<'a, [u8]>),
    Input(Cow<'a, [u8]>),
    Resize(Size),
    Mark(Cow<'a, str>),
    Exit(i32),
    Action { cmd: String, fields: Map<String, Value> },
}

pub enum To {
    File,
    Client { client: ClientId, tag: Option<Tag> },
}

pub enum State {
    /// The file is not open yet: who waits for it, what is started then, and whether it has ended
    /// already.
    Opening {
        ticket: Option<Ticket>,
        plan: Option<Box<Plan>>,
        end: Option<End>,
    },
    Running,
    /// Nothing more comes, and the rest is on its way.
    Ending(End),
    Ended(End),
}

pub struct End {
    pub why: &'static str,
    pub error: Option<String>,
    pub duration: Duration,
    /// Who waits for it, and for how long.
    pub tickets: Vec<Ticket>,
    pub deadline: Instant,
}

enum Body {
    Cast(Box<Writer>),
    Script(Script),
}

pub struct Tape {
    pub id: RecordingId,
    pub terminal: TerminalId,
    pub format: Format,
    /// What is typed is recorded too.
    pub input: bool,
    pub path: Option<String>,
    /// Since 1970.
    pub started_ms: u64,
    pub to: To,
    pub state: State,
    /// Lines that have left the screen are not in it, and may come back on a larger one: then
    /// all is drawn anew.
    pub is_partial: bool,
    /// A batch is on its way into the file.
    pub busy: bool,
    /// Events that were left out, those of them that had been counted, and whether the last was.
    pub lost: u64,
    dropped: u64,
    gap: bool,
    /// When this worker began with it, and how long it had been there.
    since: Instant,
    before: Duration,
    mask: Mask,
    body: Option<Body>,
    head: Vec<u8>,
    queue: Vec<u8>,
    /// What came before the file was open, and its bytes.
    early: Vec<(Duration, Note<'static>)>,
    early_bytes: usize,
    /// What was typed or asked, until it is known whether it may be written down.
    held: Vec<(Duration, Note<'static>)>,
}

impl Tape {
    pub fn new(
        id: RecordingId,
        terminal: TerminalId,
        (format, input): (Format, bool),
        (since, before): (Instant, Duration),
    ) -> Tape {
        Tape {
            id,
            terminal,
            format,
            input: input && !format.is_script(),
            path: None,
            started_ms: 0,
            to: To::File,
            state: State::Opening { ticket: None, plan: None, end: None },
            is_partial: false,
            busy: false,
            lost: 0,
            dropped: 0,
            gap: false,
            since,
            before,
            mask: Mask::default(),
            body: None,
            head: Vec::new(),
            queue: Vec::new(),
            early: Vec::new(),
            early_bytes: 0,
            held: Vec::new(),
        }
    }

    pub fn runs(&self) -> bool {
        matches!(self.state, State::Opening { end: None, .. } | State::Running)
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    /// Until when those who stopped it are to wait.
    pub fn deadline(&self) -> Option<Instant> {
        let end = match &self.state {
            State::Opening { end: Some(end), .. } | State::Ending(end) => end,
            _ => return None,
        };
        (!end.tickets.is_empty()).then_some(end.deadline)
    }

    pub fn take_tickets(&mut self) -> Vec<Ticket> {
        match &mut self.state {
            State::Opening { end: Some(end), .. } | State::Ending(end) | State::Ended(end) => {
                std::mem::take(&mut end.tickets)
            }
            _ => Vec::new(),
        }
    }

    pub fn elapsed(&self, now: Instant) -> Duration {
        self.before + now.saturating_duration_since(self.since)
    }

    /// The file is there: what came meanwhile is written down.
    pub fn begin(&mut self, written: Written) {
        self.body = Some(match self.format.is_script() {
            true => Body::Script(Script::new(self.format, written)),
            false => Body::Cast(Box::new(Writer::new(self.format, written))),
        });
        self.early_bytes = 0;
        for (at, note) in std::mem::take(&mut self.early) {
            self.write(at, &note);
        }
    }

    pub fn note(&mut self, now: Instant, note: &Note) {
        if self.wants(note) {
            self.put(self.elapsed(now), note);
        }
    }

    fn wants(&self, note: &Note) -> bool {
        self.format.is_script() == matches!(note, Note::Action { .. })
    }

    fn put(&mut self, at: Duration, note: &Note) {
        if self.gap {
            self.lost += 1;
        } else if matches!(self.state, State::Opening { .. }) {
            self.early_bytes += note.len();
            self.early.push((at, note.owned()));
            if self.early_bytes > MAX_RECORDING_QUEUE {
                self.lost += self.early.len() as u64;
                self.early.clear();
                self.gap = true;
            }
        } else {
            self.write(at, note);
        }
    }

    fn write(&mut self, at: Duration, note: &Note) {
        let out = &mut self.queue;
        match (&mut self.body, note) {
            (Some(Body::Cast(writer)), note) => match note {
                Note::Output(bytes) => writer.output(at, &self.mask.pass(bytes), out),
                Note::Input(bytes) => writer.input(at, bytes, out),
                Note::Resize(size) => writer.resize(at, *size, out),
                Note::Mark(label) => writer.mark(at, label, out),
                Note::Exit(code) => {
                    writer.output(at, &self.mask.rest(), out);
                    writer.exit(at, *code, out);
                }
                Note::Action { .. } => {}
            },
            (Some(Body::Script(script)), Note::Action { cmd, fields }) => {
                script.action(at, cmd, fields, out);
            }
            _ => {}
        }
        if self.queue.len() > MAX_RECORDING_QUEUE {
            let lines = self.queue.iter().filter(|byte| **byte == b'\n').count() as u64;
            (self.lost, self.dropped) = (self.lost + lines, self.dropped + lines);
            self.queue = Vec::new();
            self.gap = true;
        }
    }

    /// The last characters that waited for their rest.
    pub fn rest(&mut self, at: Duration) {
        if let Some(Body::Cast(writer)) = self.body.as_mut().filter(|_| !self.gap) {
            let tail = self.mask.rest();
            writer.output(at, &tail, &mut self.queue);
            writer.rest(at, &mut self.queue);
        }
    }

    /// A secret that is not to be in it.
    pub fn hide(&mut self, key: &str) {
        self.mask = Mask::new(key);
    }

    /// What a stream begins with.
    pub fn set_head(&mut self, head: Vec<u8>) {
        self.head = head;
    }

    pub fn hold_input(&mut self, now: Instant, bytes: &[u8]) {
        let at = self.elapsed(now);
        self.held.push((at, Note::Input(Cow::Owned(bytes.to_vec()))));
    }

    pub fn hold_action(&mut self, now: Instant, cmd: &str, fields: &Map<String, Value>) {
        let at = self.elapsed(now);
        let note = Note::Action { cmd: cmd.to_owned(), fields: fields.clone() };
        self.held.push((at, note));
    }

    pub fn drop_action(&mut self) {
        if matches!(self.held.last(), Some((_, Note::Action { .. }))) {
            self.held.pop();
        }
    }

    pub fn release(&mut self, hidden: bool) {
        for (at, note) in std::mem::take(&mut self.held) {
            if !hidden || !note.is_typed() {
                self.put(at, &note);
            }
        }
    }

    /// Lines that are to be taken next.
    pub fn batch(&mut self) -> Option<Vec<u8>> {
        let most = match self.to {
            To::File => MAX_RECORDING_QUEUE,
            To::Client { .. } => RECORDING_BATCH,
        };
        if !self.head.is_empty() {
            return Some(std::mem::take(&mut self.head));
        }
        if self.queue.len() <= most {
            return (!self.queue.is_empty()).then(|| std::mem::take(&mut self.queue));
        }
        let is_end = |byte: &u8| *byte == b'\n';
        let end = self.queue[..most].iter().rposition(is_end);
        let end = end.or_else(|| self.queue.iter().position(is_end)).map_or(most, |at| at + 1);
        let rest = self.queue.split_off(end);
        Some(std::mem::replace(&mut self.queue, rest))
    }

    /// There are lines, or an end to be told.
    pub fn has_something(&self) -> bool {
        match self.state {
            State::Opening { .. } | State::Ended(_) => false,
            State::Running => !self.queue.is_empty() || !self.head.is_empty() || self.gap,
            State::Ending(_) => true,
        }
    }

    pub fn has_gap(&self) -> bool {
        let goes_on = matches!(self.state, State::Running | State::Ending(_));
        self.gap && goes_on && self.queue.is_empty()
    }

    pub fn close_gap(&mut self) {
        self.gap = false;
    }

    pub fn drop_queue(&mut self) {
        (self.head, self.queue) = (Vec::new(), Vec::new());
    }

    pub fn summary(&self, now: Instant) -> RecordingSummary {
        let written = match &self.body {
            Some(Body::Cast(writer)) => writer.events,
            Some(Body::Script(script)) => script.actions,
            None => 0,
        };
        let (state, end) = match &self.state {
            State::Ending(end) | State::Ended(end) if end.error.is_some() => {
                (RecordingState::Failed, Some(end))
            }
            State::Ending(end) | State::Ended(end) => (RecordingState::Ended, Some(end)),
            State::Opening { .. } | State::Running => (RecordingState::Started, None),
        };
        let duration = end.map_or_else(|| self.elapsed(now), |end| end.duration);
        RecordingSummary {
            recording: self.id.to_string(),
            id: self.terminal.to_string(),
            format: self.format,
            path: self.path.clone(),
            input: self.input,
            state,
            duration_ms: duration.as_millis() as u64,
            events: written.saturating_sub(self.dropped),
            lost: self.lost,
            ended_by: end.map(|end| end.why),
            error: end.and_then(|end| end.error.clone()),
        }
    }
}

impl Note<'_> {
    fn len(&self) -> usize {
        const SMALL: usize = 64;
        SMALL
            + match self {
                Note::Output(bytes) | Note::Input(bytes) => bytes.len(),
                Note::Mark(label) => label.len(),
                Note::Action { fields, .. } => fields.values().map(|v| v.to_string().len()).sum(),
                Note::Resize(_) | Note::Exit(_) => 0,
            }
    }

    /// It has what someone typed.
    fn is_typed(&self) -> bool {
        match self {
            Note::Input(_) => true,
            Note::Action { cmd, .. } => ["send", "keys", "paste", "run"].contains(&cmd.as_str()),
            _ => false,
        }
    }

    fn owned(&self) -> Note<'static> {
        match self {
            Note::Output(bytes) => Note::Output(Cow::Owned(bytes.to_vec())),
            Note::Input(bytes) => Note::Input(Cow::Owned(bytes.to_vec())),
            Note::Mark(label) => Note::Mark(Cow::Owned(label.to_string())),
            Note::Resize(size) => Note::Resize(*size),
            Note::Exit(code) => Note::Exit(*code),
            Note::Action { cmd, fields } => {
                Note::Action { cmd: cmd.clone(), fields: fields.clone() }
            }
        }
    }
}
