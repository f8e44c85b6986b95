//! One answer to each request, and whose turn it is after it.

use serde::Serialize;

use super::clients::Turn;
use super::{ClientId, Effect, Mux, Ticket};
use crate::wire::{Failure, failure_line};

impl Mux {
    /// Answers a request; its connection reads on.
    pub fn answer(&mut self, ticket: &Ticket, body: impl Serialize) {
        self.reply(ticket, ticket.line(body));
    }

    pub fn refuse(&mut self, ticket: &Ticket, failure: &Failure) {
        self.reply(ticket, failure_line(ticket.tag.as_ref(), failure));
    }

    /// Gives out an answer that was put together with `Ticket::line`.
    pub fn reply(&mut self, ticket: &Ticket, bytes: Vec<u8>) {
        self.effect(Effect::Reply { client: ticket.client, bytes });
        self.end(ticket);
    }

    /// Answers someone who does not wait for it.
    pub(super) fn answer_late(&mut self, ticket: &Ticket, body: impl Serialize) {
        self.effect(Effect::Late { client: ticket.client, bytes: ticket.line(body) });
        self.end(ticket);
    }

    /// Ends a request that has no line of its own for an answer.
    pub(super) fn end(&mut self, ticket: &Ticket) {
        let turn = self.clients.ended(ticket);
        self.take_turn(ticket.client, &turn);
    }

    pub(super) fn take_turn(&mut self, client: ClientId, turn: &Turn) {
        match turn {
            Turn::ReadOn => self.effect(Effect::ReadOn(client)),
            Turn::Close => self.effect(Effect::Close(client)),
            Turn::Wait => {}
        }
    }
}
