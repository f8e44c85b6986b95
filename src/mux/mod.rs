//! Who holds what: all state of the server, without I/O. Something comes in, effects go out.

mod answers;
mod clients;
mod conditions;
mod dead;
mod events;
mod extras;
mod finding;
mod history;
mod info;
pub mod integration;
mod kept;
mod life;
pub mod limits;
mod look;
mod messages;
pub mod names;
mod notices;
pub mod patterns;
mod persist;
mod pictures;
mod program;
mod raw;
mod record;
mod recordings;
mod restore;
mod runs;
mod scrollback;
pub mod signals;
mod terminal;
#[cfg(test)]
mod tests;
mod timers;
mod typing;
mod upgrade;
mod used;
mod views;
mod waits;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

pub use clients::{ClientId, Ticket};
pub use conditions::{Condition, Part};
pub use dead::{Dead, DeadFound, DeadWish, Gone, OldTerminal, OldText};
pub use extras::{Extra, Reply};
pub use history::{CommandRecord, History};
pub use kept::{Kept, Key, Layouts};
pub use life::Plan;
pub use look::LookWish;
pub use messages::{Asker, Effect, Facts, Foreground, Host, Incoming, Target};
pub use persist::{Page, ServerPage};
pub use pictures::{Form, PictureRequest};
pub use program::{Program, Wish, check_variable};
pub use record::{Beginning, ServerRecord, VERSION as RECORD_VERSION};
pub use recordings::{Definition, Opening, RecordWish, RecordingId};
pub use restore::{Past, ToldEvent};
pub use runs::Asked;
pub use terminal::{Exit, Identity, Life, Terminal, TerminalId};
pub use typing::{Input, Secret};
pub use views::{Attachment, TakeOver, Typist, ViewId};
pub use waits::{Only, Wanted};

use crate::term::Size;
use crate::view::grep::{Found, Hunt};
use crate::wire::{self, Code, Event, EventKind, Failure, Request, Tag, failure_line};
use clients::Clients;
use events::Events;
use recordings::Tapes;
use timers::Timers;
use views::Views;
use waits::Waits;

pub struct Mux {
    pub host: Host,
    now: Instant,
    terminals: BTreeMap<TerminalId, Terminal>,
    /// The order in which programs ended, oldest first.
    dead: VecDeque<TerminalId>,
    next_id: u32,
    clients: Clients,
    views: Views,
    tapes: Tapes,
    /// Layouts of clients, by name.
    workspaces: BTreeMap<String, serde_json::Value>,
    events: Events,
    /// Something was added that a subscriber may want.
    news: bool,
    timers: Timers,
    waits: Waits,
    searches: usize,
    /// Who asked for another program to take over.
    upgrade: Option<Ticket>,
    looks_at_dead: usize,
    shelf: persist::Shelf,
    scrollback: scrollback::Total,
    idle_timeout: Duration,
    effects: VecDeque<Effect>,
    notices: Vec<crate::term::Notice>,
    /// The number of the notice whose events are given out.
    telling: Option<u64>,
    /// What the history tells of terminals that are yet to be taken over.
    past: BTreeMap<TerminalId, restore::Traces>,
}

impl Mux {
    pub fn new(host: Host, record: ServerRecord, now: Instant) -> Mux {
        let shelf = persist::Shelf::new(&record);
        Mux {
            host,
            now,
            terminals: BTreeMap::new(),
            dead: VecDeque::new(),
            next_id: record.next_id,
            clients: Clients::default(),
            views: Views::default(),
            tapes: Tapes::default(),
            workspaces: record.workspaces,
            events: Events::new(record.seq),
            news: false,
            timers: Timers::default(),
            waits: Waits::default(),
            searches: 0,
            upgrade: None,
            looks_at_dead: 0,
            shelf,
            scrollback: scrollback::Total { bytes: 0, most: record.scrollback_total_bytes },
            idle_timeout: Duration::from_millis(record.idle_timeout_ms),
            effects: VecDeque::new(),
            notices: Vec::new(),
            telling: None,
            past: BTreeMap::new(),
        }
    }

    pub fn on(&mut self, incoming: Incoming, now: Instant) {
        self.now = now;
        match incoming {
            Incoming::Connected(client) => self.clients.add(client),
            Incoming::Seated(client) => self.clients.add_seated(client),
            Incoming::HalfClosed(client) => {
                let turn = self.clients.half_closed(client);
                self.take_turn(client, &turn);
            }
            Incoming::Gone(client) => {
                self.detach_client(client);
                self.waits.remove_client(client);
                self.forget_runs(client);
                self.forget_recordings(client);
                self.clients.remove(client);
            }
            Incoming::Drained(client) => self.drained(client),
            Incoming::Output { id, bytes } => self.output(id, bytes),
            Incoming::Forked { id, pid } => self.forked(id, pid),
            Incoming::Started { id, result } => self.started(id, result),
            Incoming::Exited { id, exit } => self.exited(id, exit),
            Incoming::Probed { id, asker, facts } => self.probed(id, asker, facts),
            Incoming::Searched { ticket, result } => self.searched(&ticket, result),
            Incoming::Rendered { request, result } => self.rendered(&request, result),
            Incoming::Taken { client, bytes } => self.taken(client, bytes),
            Incoming::Echo { id, hidden } => self.echo_found(id, hidden),
            Incoming::RecordingOpened { id, result } => self.recording_opened(id, result),
            Incoming::RecordingWritten { id, result } => self.recording_written(id, result),
            Incoming::Upgraded(result) => self.upgraded(result),
            Incoming::Kept { key, result } => self.kept(key, result),
            Incoming::FoundDead { ticket, found } => self.found_dead(&ticket, found),
            Incoming::Part => self.part(),
            Incoming::Tick => self.tick(),
        }
        self.settle();
    }

    /// A request line of a client: parsed, run by `run`, and answered now or later.
    pub fn request(
        &mut self,
        client: ClientId,
        line: &[u8],
        now: Instant,
        run: impl FnOnce(&mut Mux, Request, &Ticket) -> Result<(), Failure>,
    ) {
        self.now = now;
        if !self.clients.knows(client) {
            // It was refused: nothing it asks for is done.
            return;
        }
        let (tag, parsed) = match wire::parse(line) {
            Ok(request) => (request.tag.clone(), Ok(request)),
            Err((tag, failure)) => (tag, Err(failure)),
        };
        let ticket = Ticket { client, tag };
        let turn = self.clients.began(&ticket);
        self.take_turn(client, &turn);
        if let Err(failure) = parsed.and_then(|request| run(self, request, &ticket)) {
            self.refuse(&ticket, &failure);
        }
        self.settle();
    }

    /// A line that could not even be read as a request: nothing more is to come after this.
    pub fn reject(&mut self, client: ClientId, failure: &Failure) {
        self.clients.unsubscribe(client);
        self.effect(Effect::Reply { client, bytes: failure_line(None, failure) });
    }

    pub fn next_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    pub fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    /// When `Tick` is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next()
    }

    pub fn now(&self) -> Instant {
        self.now
    }

    /// Milliseconds since 1970.
    pub fn unix_ms(&self) -> u64 {
        let since = self.now.saturating_duration_since(self.host.since);
        self.host.since_ms + since.as_millis() as u64
    }

    /// How long the innermost command of a terminal has been running.
    fn running_ms(&self, terminal: &Terminal) -> Option<u64> {
        let since = terminal.identity.running.last()?;
        Some(self.unix_ms().saturating_sub(*since))
    }

    pub fn clients(&self) -> usize {
        self.clients.count()
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.events.last()
    }

    pub fn effect(&mut self, effect: Effect) {
        self.effects.push_back(effect);
    }

    /// Opens a stream of events for `ticket`; the request itself is done with that.
    pub fn subscribe(
        &mut self,
        ticket: &Ticket,
        terminal: Option<TerminalId>,
        kinds: &[EventKind],
        since: Option<u64>,
    ) -> Result<(), Failure> {
        let tag: Option<Tag> = ticket.tag.clone();
        let subscription = self.events.subscribe(tag, terminal, kinds, since);
        if !self.clients.subscribe(ticket.client, subscription) {
            let error = format!(
                "this connection has {} event streams, which is the most: use another one",
                limits::MAX_SUBSCRIPTIONS
            );
            return Err(Failure::new(Code::Limit, error));
        }
        self.news = true;
        self.end(ticket);
        Ok(())
    }

    pub fn emit(&mut self, id: TerminalId, event: &Event) {
        self.emit_any(Some(id), event);
    }

    fn emit_any(&mut self, id: Option<TerminalId>, event: &Event) {
        if self.events.reserve().is_some() {
            self.remember_server();
        }
        self.events.push(id, self.telling.take().unwrap_or(0), event);
        self.news = true;
        if let Some(id) = id {
            self.waits.touch(id);
        }
    }

    /// An event that concerns no terminal.
    pub fn announce(&mut self, event: &Event) {
        self.emit_any(None, event);
    }

    pub fn workspaces(&self) -> usize {
        self.workspaces.len()
    }

    pub fn workspace(&self, name: &str) -> Option<&serde_json::Value> {
        self.workspaces.get(name)
    }

    pub fn set_workspace(&mut self, name: &str, layout: serde_json::Value) {
        self.workspaces.insert(name.to_owned(), layout);
        self.remember_server();
        self.layouts_changed();
    }

    fn emit_live(&mut self, id: TerminalId, event: &Event) {
        self.events.push_live(id, event);
        self.news = true;
    }

    fn wanted(&self, kind: EventKind, id: TerminalId) -> bool {
        self.clients.want(kind, id)
    }

    /// Has lines searched elsewhere; it is answered when that is done.
    pub fn search(&mut self, hunt: Hunt, ticket: &Ticket) -> Result<(), Failure> {
        if self.searches >= limits::MAX_SEARCHES {
            let error = format!("search: {} run, which is the most: try again", self.searches);
            return Err(Failure::new(Code::Limit, error));
        }
        self.searches += 1;
        self.effect(Effect::Search { ticket: ticket.clone(), hunt: Box::new(hunt) });
        Ok(())
    }

    fn searched(&mut self, ticket: &Ticket, result: Result<Found, Failure>) {
        self.searches -= 1;
        match result {
            Ok(found) => self.answer(ticket, wire::SearchAnswer::from(found)),
            Err(failure) => self.refuse(ticket, &failure),
        }
    }

    /// Answers whom something has come for, and hands out what subscribers have not read; done
    /// once a turn.
    fn settle(&mut self) {
        self.check_waits();
        self.hand_out_recordings();
        if std::mem::take(&mut self.news) {
            let effects = &mut self.effects;
            self.clients.batches(&self.events, |client, bytes| {
                effects.push_back(Effect::Stream { client, bytes });
            });
            self.send_frames(|_| true);
        }
    }

    /// A client took what it was sent: it may have the next.
    fn drained(&mut self, client: ClientId) {
        self.clients.drained(client);
        if let Some(bytes) = self.clients.batch_of(client, &self.events) {
            self.effect(Effect::Stream { client, bytes });
        }
        self.send_frames(|viewer| viewer == client);
    }

    pub fn resize(&mut self, id: TerminalId, size: Size) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        if terminal.grid.size() == size {
            return;
        }
        terminal.grid.resize(size);
        self.count_scrollback(id);
        self.record_size(id, size);
        self.effect(Effect::Resize { id, size });
        self.effect(Effect::Save(id));
        self.tell_size(id);
        let now = self.now;
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.note_change(now, false);
        }
        self.changed(id);
        self.emit(id, &Event::Resized { cols: size.cols, rows: size.rows });
        self.touch(id);
    }

    pub fn idle_timeout_ms(&self, id: Option<TerminalId>) -> u64 {
        let own = id.and_then(|id| self.get(id)).and_then(|t| t.identity.idle_timeout_ms);
        own.unwrap_or(self.idle_timeout.as_millis() as u64)
    }

    /// Takes effect at once: whoever has been quiet for longer is idle now.
    pub fn set_idle_timeout_ms(&mut self, id: Option<TerminalId>, ms: u64) {
        match id {
            None => {
                self.idle_timeout = Duration::from_millis(ms);
                self.remember_server();
            }
            Some(id) => {
                if let Some(terminal) = self.terminals.get_mut(&id) {
                    terminal.identity.idle_timeout_ms = Some(ms);
                }
                self.remember(id);
            }
        }
        let all: Vec<_> = self.terminals.keys().copied().collect();
        all.into_iter().for_each(|id| self.arm(id));
    }

    fn arm(&mut self, id: TerminalId) {
        let idle_timeout = Duration::from_millis(self.idle_timeout_ms(Some(id)));
        let others = [
            self.frame_deadline(id),
            self.waits_deadline(id),
            self.stops_deadline(id),
            self.keep_deadline(id),
        ];
        if let Some(terminal) = self.terminals.get_mut(&id) {
            let own = terminal.deadline(idle_timeout);
            let deadline = own.into_iter().chain(others.into_iter().flatten()).min();
            self.timers.arm(id, deadline, &mut terminal.armed);
        }
    }

    fn tick(&mut self) {
        while let Some(id) = self.timers.due(self.now) {
            if let Some(terminal) = self.terminals.get_mut(&id) {
                terminal.armed = None;
                self.due(id);
                self.arm(id);
            }
        }
    }
}
