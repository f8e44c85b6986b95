//! Connections as the server sees them: what is under way and what each has yet to read.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::TerminalId;
use super::events::{Events, Kinds, Subscription, bit};
use super::limits::{MAX_IN_FLIGHT, MAX_SUBSCRIPTIONS, STREAM_BATCH};
use crate::wire::{EventKind, Tag, answer};

/// A connection; never given out twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Who waits for an answer.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub client: ClientId,
    pub tag: Option<Tag>,
}

impl Ticket {
    /// The answer's line.
    pub fn line(&self, body: impl Serialize) -> Vec<u8> {
        answer(self.tag.as_ref(), body)
    }
}

#[derive(Default)]
pub struct Client {
    in_flight: usize,
    /// One of them has no tag: the next line is read when it has ended.
    untagged: bool,
    /// The next line is read only when a request under way ends.
    held: bool,
    /// A batch of events is on its way and not yet taken.
    writing: bool,
    /// It sends nothing more, but still reads.
    half_closed: bool,
    /// It looks at terminals: frames go on coming.
    views: bool,
    /// It is in this process: what comes often need not become lines.
    seated: bool,
    subscriptions: Vec<Subscription>,
    /// Bytes of pictures on their way to it.
    pub picture_bytes: usize,
}

#[derive(Default)]
pub struct Clients {
    all: BTreeMap<ClientId, Client>,
    /// What is subscribed to by anybody, of one terminal or of all: looked at for all that is written.
    wanted: HashMap<Option<TerminalId>, Kinds>,
}

/// What is to be done about a connection after one of its requests.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    ReadOn,
    Wait,
    Close,
}

impl Clients {
    pub fn add(&mut self, id: ClientId) {
        self.all.insert(id, Client::default());
    }

    pub fn add_seated(&mut self, id: ClientId) {
        self.all.insert(id, Client { seated: true, ..Client::default() });
    }

    pub fn is_seated(&self, id: ClientId) -> bool {
        self.all.get(&id).is_some_and(|client| client.seated)
    }

    pub fn remove(&mut self, id: ClientId) {
        self.unsubscribe(id);
        self.all.remove(&id);
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn knows(&self, id: ClientId) -> bool {
        self.all.contains_key(&id)
    }

    pub fn get_mut(&mut self, id: ClientId) -> Option<&mut Client> {
        self.all.get_mut(&id)
    }

    /// Adds a stream of events; false if the client has as many as it may.
    pub fn subscribe(&mut self, id: ClientId, subscription: Subscription) -> bool {
        let Some(client) = self.all.get_mut(&id) else { return true };
        let has_room = client.subscriptions.len() < MAX_SUBSCRIPTIONS;
        if has_room {
            client.subscriptions.push(subscription);
            self.note_wanted();
        }
        has_room
    }

    pub fn unsubscribe(&mut self, id: ClientId) {
        let streams = self.all.get_mut(&id).map(|client| std::mem::take(&mut client.subscriptions));
        if streams.is_some_and(|streams| !streams.is_empty()) {
            self.note_wanted();
        }
    }

    fn note_wanted(&mut self) {
        self.wanted.clear();
        for subscription in self.all.values().flat_map(|client| &client.subscriptions) {
            *self.wanted.entry(subscription.terminal).or_default() |= subscription.kinds;
        }
    }

    /// Whether anybody subscribed to events of this kind of a terminal.
    pub fn want(&self, kind: EventKind, terminal: TerminalId) -> bool {
        let of = |terminal| self.wanted.get(&terminal).is_some_and(|kinds| kinds & bit(kind) != 0);
        of(None) || of(Some(terminal))
    }

    /// A request began and was not answered at once.
    pub fn began(&mut self, ticket: &Ticket) -> Turn {
        let Some(client) = self.all.get_mut(&ticket.client) else { return Turn::Wait };
        client.in_flight += 1;
        client.untagged |= ticket.tag.is_none();
        client.held = client.untagged || client.in_flight >= MAX_IN_FLIGHT;
        if client.held { Turn::Wait } else { Turn::ReadOn }
    }

    /// A request that had begun was answered.
    pub fn ended(&mut self, ticket: &Ticket) -> Turn {
        let Some(client) = self.all.get_mut(&ticket.client) else { return Turn::Wait };
        client.in_flight -= 1;
        client.untagged &= ticket.tag.is_some();
        if client.finished() {
            Turn::Close
        } else if client.held && !client.untagged {
            client.held = false;
            Turn::ReadOn
        } else {
            Turn::Wait
        }
    }

    pub fn half_closed(&mut self, id: ClientId) -> Turn {
        let Some(client) = self.all.get_mut(&id) else { return Turn::Wait };
        client.half_closed = true;
        if client.finished() { Turn::Close } else { Turn::Wait }
    }

    /// A stream has ended: that may have been all a client was there for.
    pub fn settled(&self, id: ClientId) -> Turn {
        let over = self.all.get(&id).is_some_and(Client::finished);
        if over { Turn::Close } else { Turn::Wait }
    }

    /// The last batch was taken.
    pub fn drained(&mut self, id: ClientId) {
        if let Some(client) = self.all.get_mut(&id) {
            client.writing = false;
        }
    }

    pub fn is_writing(&self, id: ClientId) -> bool {
        self.all.get(&id).is_none_or(|client| client.writing)
    }

    /// Something is on its way that has to be taken before the next.
    pub fn writes(&mut self, id: ClientId) {
        if let Some(client) = self.all.get_mut(&id) {
            client.writing = true;
        }
    }

    pub fn has_view(&mut self, id: ClientId, views: bool) {
        if let Some(client) = self.all.get_mut(&id) {
            client.views = views;
        }
    }

    /// Batches for all subscribers that are ready for one and have something to read.
    pub fn batches(&mut self, events: &Events, mut give: impl FnMut(ClientId, Vec<u8>)) {
        for (id, client) in &mut self.all {
            client.batch(events).into_iter().for_each(|batch| give(*id, batch));
        }
    }

    /// The same for one of them.
    pub fn batch_of(&mut self, id: ClientId, events: &Events) -> Option<Vec<u8>> {
        self.all.get_mut(&id)?.batch(events)
    }
}

impl Client {
    fn batch(&mut self, events: &Events) -> Option<Vec<u8>> {
        if self.writing || self.subscriptions.is_empty() {
            return None;
        }
        let mut batch = Vec::new();
        for subscription in &mut self.subscriptions {
            // A share for each, so that a busy stream does not starve the one beside it.
            let budget = batch.len() + STREAM_BATCH;
            events.read(subscription, budget, &mut batch);
        }
        self.writing = !batch.is_empty();
        self.writing.then_some(batch)
    }

    fn finished(&self) -> bool {
        let streams = self.views || !self.subscriptions.is_empty();
        self.half_closed && self.in_flight == 0 && !streams
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: ClientId = ClientId(1);

    fn ticket(tag: Option<&str>) -> Ticket {
        let tag = tag.and_then(|tag| {
            let line = format!("{{\"cmd\":\"x\",\"tag\":{tag:?}}}");
            crate::wire::parse(line.as_bytes()).unwrap().tag
        });
        Ticket { client: ME, tag }
    }

    #[test]
    fn an_untagged_request_holds_the_next_one_up() {
        let mut clients = Clients::default();
        clients.add(ME);
        assert_eq!(clients.began(&ticket(None)), Turn::Wait);
        assert_eq!(clients.ended(&ticket(None)), Turn::ReadOn);
    }

    #[test]
    fn tagged_requests_run_side_by_side_up_to_the_limit() {
        let mut clients = Clients::default();
        clients.add(ME);
        for _ in 1..MAX_IN_FLIGHT {
            assert_eq!(clients.began(&ticket(Some("a"))), Turn::ReadOn);
        }
        assert_eq!(clients.began(&ticket(Some("a"))), Turn::Wait);
        assert_eq!(clients.ended(&ticket(Some("a"))), Turn::ReadOn);
        assert_eq!(clients.ended(&ticket(Some("a"))), Turn::Wait);
    }

    #[test]
    fn a_tagged_request_that_ends_lets_nothing_past_an_untagged_one() {
        let mut clients = Clients::default();
        clients.add(ME);
        assert_eq!(clients.began(&ticket(Some("a"))), Turn::ReadOn);
        assert_eq!(clients.began(&ticket(None)), Turn::Wait);
        assert_eq!(clients.ended(&ticket(Some("a"))), Turn::Wait);
        assert_eq!(clients.ended(&ticket(None)), Turn::ReadOn);
    }

    #[test]
    fn a_half_closed_client_gets_its_answer_and_is_closed_then() {
        let mut clients = Clients::default();
        clients.add(ME);
        clients.began(&ticket(None));
        assert_eq!(clients.half_closed(ME), Turn::Wait);
        assert_eq!(clients.ended(&ticket(None)), Turn::Close);
    }
}
