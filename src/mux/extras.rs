//! Answers that are put together of several parts, some of which come from elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::look::LookWish;
use super::pictures::{Form, PictureRequest};
use super::{Asker, Effect, Facts, Mux, TerminalId, Ticket};
use crate::view::shot::Order;
use crate::view::text;
use crate::wire::{Code, Failure};

/// What an answer brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Extra {
    /// The rows of the screen
    Text,
    /// A picture of it
    Screenshot,
    /// As of the command info
    Info,
    /// As of the command look
    Look,
}

/// An answer on its way.
pub struct Reply {
    ticket: Ticket,
    terminal: TerminalId,
    body: Map<String, Value>,
    info: bool,
    /// The name of its field; none if it is the answer itself.
    look: Option<(Option<&'static str>, LookWish)>,
    order: Option<Box<Order>>,
}

impl Reply {
    pub fn new(ticket: Ticket, terminal: TerminalId, body: Map<String, Value>) -> Reply {
        Reply { ticket, terminal, body, info: false, look: None, order: None }
    }

    /// The answer is a look.
    pub fn look(ticket: Ticket, terminal: TerminalId, wish: LookWish) -> Reply {
        Reply { look: Some((None, wish)), ..Reply::new(ticket, terminal, Map::new()) }
    }
}

impl Mux {
    /// Adds what is wanted besides, as things are now, and answers when all of it is there.
    pub fn deliver(&mut self, mut reply: Reply, extras: &[Extra]) {
        let id = reply.terminal;
        if let Some(terminal) = self.terminals.get(&id) {
            if extras.contains(&Extra::Text) {
                let rows = text::viewport(&terminal.grid).into_iter();
                let rows: Vec<_> = rows.map(|row| row.text.trim_end().to_owned()).collect();
                reply.body.insert("lines".to_owned(), json!(rows));
            }
            if extras.contains(&Extra::Screenshot) {
                reply.order = Some(Box::new(Order::usual(u64::from(id.0), &terminal.grid)));
            }
            reply.info = extras.contains(&Extra::Info);
            if extras.contains(&Extra::Look) {
                reply.look = Some((Some("look"), LookWish::default()));
            }
        }
        if reply.info || reply.look.is_some() {
            self.effect(Effect::Probe { id, asker: Asker::Reply(Box::new(reply)) });
        } else {
            self.picture_or_answer(reply);
        }
    }

    /// The system has told what it knows.
    pub(super) fn probed_for_reply(&mut self, mut reply: Reply, facts: Facts) {
        let is_look = matches!(reply.look, Some((None, _)));
        if is_look && !self.terminals.contains_key(&reply.terminal) {
            let failure = Failure::new(Code::NotFound, "it has just gone");
            return self.refuse(&reply.ticket, &failure);
        }
        if let Some(terminal) = self.terminals.get(&reply.terminal) {
            match reply.look.take() {
                Some((Some(name), wish)) => {
                    let look = self.look_at(terminal, &facts, &wish);
                    reply.body.insert(name.to_owned(), Value::Object(look));
                }
                Some((None, wish)) => reply.body.append(&mut self.look_at(terminal, &facts, &wish)),
                None => {}
            }
            if reply.info {
                let info = serde_json::to_value(self.info(terminal, facts)).unwrap_or_default();
                reply.body.insert("info".to_owned(), info);
            }
        }
        self.picture_or_answer(reply);
    }

    fn picture_or_answer(&mut self, reply: Reply) {
        let Reply { ticket, body, order, .. } = reply;
        match order {
            Some(order) => {
                let request = PictureRequest { ticket, form: Form::Within(Box::new(body)) };
                self.effect(Effect::Render { request, order });
            }
            None => self.answer(&ticket, body),
        }
    }
}
