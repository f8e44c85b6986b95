//! A recording's end: by itself, by a request, or by a disk that refuses.

use std::time::Instant;

use super::RecordingId;
use super::tape::{End, Note, State, Tape, To};
use crate::mux::limits::{MAX_ENDED_RECORDINGS, RECORDING_GRACE};
use crate::mux::{Effect, Mux, TerminalId, Ticket};
use crate::wire::{Code, Failure, RecordingState, frame_line};

impl Mux {
    pub(super) fn fail_tape(&mut self, id: RecordingId, error: String) {
        self.end_tape(id, "failed", None);
        let Some(tape) = self.tapes.all.get_mut(&id) else { return };
        tape.drop_queue();
        if let State::Ending(end) = &mut tape.state {
            end.error = Some(error);
        }
        self.finish(id);
    }

    /// The program ended, and with it what can be recorded.
    pub(in crate::mux) fn record_exit(&mut self, terminal: TerminalId, code: Option<i32>) {
        if let Some(code) = code {
            self.note(terminal, &Note::Exit(code));
        }
        self.end_tapes(terminal, "exit");
    }

    pub(in crate::mux) fn end_tapes(&mut self, terminal: TerminalId, why: &'static str) {
        let ids: Vec<_> = self.tapes_of(terminal).map(|tape| tape.id).collect();
        ids.into_iter().for_each(|id| self.end_tape(id, why, None));
    }

    /// No program came to be: neither did its recordings.
    pub(in crate::mux) fn drop_tapes(&mut self, terminal: TerminalId) {
        let ids: Vec<_> = self.tapes_of(terminal).map(|tape| tape.id).collect();
        for id in ids {
            self.effect(Effect::CloseRecording { id, remove: true });
            self.drop_tape(id);
        }
    }

    pub(super) fn drop_tape(&mut self, id: RecordingId) {
        if let Some(tape) = self.tapes.all.remove(&id) {
            self.remember_recordings(tape.terminal);
        }
    }

    /// Nothing more comes; the rest is handed out before it is over.
    pub(super) fn end_tape(&mut self, id: RecordingId, why: &'static str, ticket: Option<&Ticket>) {
        let now = self.now;
        let Some(tape) = self.tapes.all.get_mut(&id) else { return };
        let duration = tape.elapsed(now);
        let new = || End {
            why,
            error: None,
            duration,
            tickets: Vec::new(),
            deadline: now + RECORDING_GRACE,
        };
        if matches!(tape.state, State::Running) {
            tape.rest(duration);
            tape.state = State::Ending(new());
        }
        let end = match &mut tape.state {
            State::Opening { end, .. } => end.get_or_insert_with(new),
            State::Ending(end) | State::Ended(end) => end,
            State::Running => return,
        };
        end.tickets.extend(ticket.cloned());
        let terminal = tape.terminal;
        self.arm(terminal);
    }

    /// Stops a recording, and tells what came of it when all is written.
    pub fn stop_recording(&mut self, name: &str, ticket: &Ticket) -> Result<(), Failure> {
        let found = self.tapes.all.keys().copied().find(|id| id.to_string() == name);
        let id = found.ok_or_else(|| {
            let error = format!("no recording has the id {name:?}; recordings lists them");
            Failure::new(Code::NotFound, error)
        })?;
        self.end_tape(id, "asked", Some(ticket));
        let over = self.tapes.all.get(&id).is_some_and(|tape| tape.is_over());
        if over {
            self.answer_stops(id);
        }
        Ok(())
    }

    /// It is over when nothing is left to be taken.
    pub(super) fn finish(&mut self, id: RecordingId) {
        let now = self.now;
        let Some(tape) = self.tapes.all.get_mut(&id) else { return };
        let state = std::mem::replace(&mut tape.state, State::Running);
        let State::Ending(end) = state else {
            tape.state = state;
            return;
        };
        let failed = end.error.is_some();
        tape.state = State::Ended(end);
        let terminal = tape.terminal;
        if let To::Client { client, tag } = &tape.to {
            let (client, bytes) = (*client, frame_line(tag.as_ref(), &tape.summary(now)));
            self.clients.writes(client);
            self.effect(Effect::Stream { client, bytes });
            let more = self.streams_to(client) || self.has_views(client);
            self.clients.has_view(client, more);
            let turn = self.clients.settled(client);
            self.take_turn(client, &turn);
        } else {
            self.effect(Effect::CloseRecording { id, remove: false });
        }
        let told = if failed { RecordingState::Failed } else { RecordingState::Ended };
        self.tell_recording(id, told);
        self.remember_recordings(terminal);
        self.answer_stops(id);
        self.evict_ended();
    }

    /// Who stopped a recording that is over hears of it, and it is forgotten.
    fn answer_stops(&mut self, id: RecordingId) {
        let now = self.now;
        let Some(tape) = self.tapes.all.get_mut(&id) else { return };
        let streamed = matches!(tape.to, To::Client { .. });
        let (summary, tickets) = (tape.summary(now), tape.take_tickets());
        for ticket in &tickets {
            match &summary.error {
                None => self.answer(ticket, &summary),
                Some(error) => {
                    let error = format!("record_stop: {error}");
                    self.refuse(ticket, &Failure::new(Code::System, error));
                }
            }
        }
        if streamed || !tickets.is_empty() {
            self.tapes.all.remove(&id);
        }
    }

    fn evict_ended(&mut self) {
        let ended = |tape: &&Tape| tape.is_over();
        let count = self.tapes.all.values().filter(ended).count();
        let oldest = self.tapes.all.values().find(ended).map(|tape| tape.id);
        if let Some(id) = oldest.filter(|_| count > MAX_ENDED_RECORDINGS) {
            self.tapes.all.remove(&id);
        }
    }

    /// Whose disk takes too long is not waited for longer.
    pub(in crate::mux) fn stops_due(&mut self, terminal: TerminalId) {
        let now = self.now;
        let mut late = Vec::new();
        for tape in self.tapes.all.values_mut().filter(|tape| tape.terminal == terminal) {
            if tape.deadline().is_some_and(|deadline| deadline <= now) {
                late.extend(tape.take_tickets());
            }
        }
        let error = "record_stop: the rest has not been taken yet; recordings tells when it has";
        let failure = Failure::new(Code::System, error);
        late.iter().for_each(|ticket| self.refuse(ticket, &failure));
    }

    pub(in crate::mux) fn stops_deadline(&self, terminal: TerminalId) -> Option<Instant> {
        let its = self.tapes.all.values().filter(|tape| tape.terminal == terminal);
        its.filter_map(Tape::deadline).min()
    }
}
