//! What is typed: at once, at the first prompt, or only where it cannot be seen.

use std::time::Instant;

use serde_json::json;

use super::limits::READY_TIMEOUT;
use super::{Asker, Effect, Facts, Mux, TerminalId, Ticket, Typist, ViewId};
use crate::input::{self, Key, KeyModes};
use crate::wire::{Code, Failure};

/// What is typed. How it is written depends on the modes at that moment.
pub enum Input {
    Bytes(Vec<u8>),
    Keys(Vec<Key>),
    Paste(String),
}

/// Input that waits for a program to be ready for it.
pub struct Held {
    ticket: Ticket,
    input: Input,
    by: Typist,
    pub deadline: Instant,
}

/// Input that is typed only if the terminal does not echo.
pub struct Secret {
    pub ticket: Ticket,
    pub terminal: TerminalId,
    pub bytes: Vec<u8>,
    pub by: Typist,
}

impl Mux {
    /// Types now, or when the program is ready for the first time; answers then.
    pub fn type_input(
        &mut self,
        id: TerminalId,
        input: Input,
        by: Typist,
        when_ready: bool,
        ticket: &Ticket,
    ) -> Result<(), Failure> {
        let deadline = self.now + READY_TIMEOUT;
        match self.get_mut(id) {
            Some(terminal) if when_ready && terminal.alive() && !terminal.was_ready => {
                let held = Held { ticket: ticket.clone(), input, by, deadline };
                terminal.held.push(held);
                self.arm(id);
                Ok(())
            }
            _ => self.type_and_answer(id, &input, by, ticket),
        }
    }

    /// Keys of a client that is in this process.
    pub fn press(&mut self, ticket: &Ticket, view: ViewId, keys: Vec<Key>, now: Instant) {
        self.now = now;
        let turn = self.clients.began(ticket);
        self.take_turn(ticket.client, &turn);
        let by = Typist::View(view);
        let pressed = self
            .view(view, ticket.client)
            .and_then(|id| self.type_and_answer(id, &Input::Keys(keys), by, ticket));
        if let Err(failure) = pressed {
            self.refuse(ticket, &failure);
        }
        self.settle();
    }

    fn type_and_answer(
        &mut self,
        id: TerminalId,
        input: &Input,
        by: Typist,
        ticket: &Ticket,
    ) -> Result<(), Failure> {
        let seq = self.seq();
        let stamp = self.get(id).map(|terminal| terminal.grid.stamp());
        let bytes = self.encode(id, input);
        self.type_in(id, &bytes, by)?;
        if let Some(tag) = ticket.tag.as_ref().filter(|_| self.clients.is_seated(ticket.client)) {
            let tag = tag.number().unwrap_or_default();
            self.effect(Effect::Typed { client: ticket.client, tag });
            self.end(ticket);
            return Ok(());
        }
        let body = json!({ "seq": seq, "stamp": stamp });
        match by {
            // A person looks at the echo; with its frame the answer costs neither side anything.
            Typist::View(_) if ticket.tag.is_some() => self.answer_late(ticket, body),
            _ => self.answer(ticket, body),
        }
        Ok(())
    }

    /// The bytes that input is, for the modes that the program has set.
    fn encode(&self, id: TerminalId, input: &Input) -> Vec<u8> {
        let grid = self.get(id).map(|terminal| &terminal.grid);
        match input {
            Input::Bytes(bytes) => bytes.clone(),
            Input::Keys(keys) => {
                let modes = grid.map(KeyModes::of).unwrap_or_default();
                keys.iter().flat_map(|key| input::encode(key, &modes)).collect()
            }
            Input::Paste(text) => {
                input::paste(text, grid.is_some_and(|grid| grid.modes().bracketed_paste()))
            }
        }
    }

    /// The program is ready: what was held is typed, in its order.
    pub(super) fn release_held(&mut self, id: TerminalId) {
        let held = self.get_mut(id).map(|terminal| std::mem::take(&mut terminal.held));
        for Held { ticket, input, by, .. } in held.unwrap_or_default() {
            if let Err(failure) = self.type_and_answer(id, &input, by, &ticket) {
                self.refuse(&ticket, &failure);
            }
        }
    }

    /// The program ended, or took too long to be ready.
    pub(super) fn refuse_held(&mut self, id: TerminalId) {
        let now = self.now;
        let Some(terminal) = self.get_mut(id) else { return };
        let (failure, all) = match terminal.alive() {
            true => {
                let error = format!("{id} shows no prompt: nothing was typed");
                (Failure::new(Code::Busy, error), false)
            }
            false => {
                let error = format!("the program in {id} ended before it was ready");
                (Failure::new(Code::Exited, error), true)
            }
        };
        let late = terminal.held.extract_if(.., |held| all || held.deadline <= now);
        let late: Vec<_> = late.map(|held| held.ticket).collect();
        late.iter().for_each(|ticket| self.refuse(ticket, &failure));
    }

    /// Types what nobody is to see, if the terminal does not show it.
    pub fn type_secretly(&mut self, secret: Secret) {
        let id = secret.terminal;
        self.effect(Effect::Probe { id, asker: Asker::Secret(Box::new(secret)) });
    }

    pub(super) fn type_secret(&mut self, secret: Secret, facts: &Facts) {
        let Secret { ticket, terminal, bytes, by } = secret;
        // A line editor shows by itself what is typed.
        let edits = self.get(terminal).is_some_and(|terminal| terminal.at_prompt(self.now));
        let typed = match facts.echo == Some(true) || edits {
            true => {
                let error = format!(
                    "{terminal} shows what is typed, so that a secret would be seen: wait for \
                     password first"
                );
                Err(Failure::new(Code::Echoes, error))
            }
            false => {
                let seq = self.seq();
                let stamp = self.get(terminal).map(|terminal| terminal.grid.stamp());
                self.type_unrecorded(terminal, &bytes, by)
                    .map(|()| self.answer(&ticket, json!({ "seq": seq, "stamp": stamp })))
            }
        };
        if let Err(failure) = typed {
            self.refuse(&ticket, &failure);
        }
    }
}
