//! What the state wants done, done.

use super::connection::ToClient;
use super::guest::Told;
use super::hub::Hub;
use super::pty_line::PtyLine;
use super::spawn::Prepared;
use super::{News, clock, elsewhere, probe, recover, spawn};
use crate::keeper::{self, SlotId, ToKeeper};
use crate::mux::{Asker, Effect, Facts, Incoming, PictureRequest, Target, TerminalId, Ticket};
use crate::os::{process, pty};
use crate::term::Size;
use crate::view::grep::Hunt;
use crate::view::shot::Order;
use crate::wire::{Code, Failure};

impl Hub {
    pub(super) fn perform(&mut self) {
        loop {
            // What a client hears of is never forgotten.
            self.keep_events();
            let Some(effect) = self.mux.next_effect() else { return };
            match effect {
                Effect::Reply { client, bytes } => self.tell(client, ToClient::Answer(bytes)),
                Effect::Late { client, bytes } => match self.guests.get_mut(client) {
                    Some(guest) => guest.tell(Told::Lines(bytes)),
                    None => self.outboxes.tell_late(client, bytes, clock::now()),
                },
                Effect::Stream { client, bytes } => self.tell(client, ToClient::Stream(bytes)),
                Effect::Frame { client, frame } => self.tell_guest(client, Told::Frame(frame)),
                Effect::Typed { client, tag } => self.tell_guest(client, Told::Typed(tag)),
                Effect::ReadOn(client) => self.tell(client, ToClient::ReadOn),
                Effect::Close(client) => self.outboxes.close(client),
                Effect::Spawn(plan) => spawn::start(*plan, self.to_hub.clone()),
                Effect::Input(id) => self.write(id),
                Effect::Resize { id, size } => self.resize(id, size),
                Effect::Signal { id, signal, target } => self.signal(id, signal, target),
                Effect::Probe { id, asker } => self.probe(id, asker),
                Effect::Search { ticket, hunt } => self.search(ticket, hunt),
                Effect::Render { request, order } => self.render(request, order),
                Effect::Picture { client, header, bytes, size } => {
                    self.tell(client, ToClient::Picture { header, bytes, size });
                }
                Effect::LookForEcho(id) => self.look_for_echo(id),
                Effect::OpenRecording { id, path, opening } => {
                    self.recorders.open(id, path, opening, &self.to_hub);
                }
                Effect::WriteRecording { id, bytes } => {
                    self.recorders.write(id, bytes, &self.to_hub);
                }
                Effect::CloseRecording { id, remove } => self.recorders.close(id, remove),
                Effect::Keep(page) => self.shelves.keep(page, &self.to_hub),
                Effect::DropKept(key) => self.shelves.remove(key),
                Effect::KeepServer(page) => self.shelves.keep_server(page, &self.to_hub),
                Effect::LookAtDead { ticket, wish, live, run } => {
                    self.shelves.look(ticket, wish, live, run, &self.to_hub);
                }
                Effect::Forget(id) => {
                    self.lines.remove(&id);
                    self.tell_keeper(Some(ToKeeper::Forget { slot: SlotId(id.0) }));
                }
                Effect::Remember { id, record } => self.remember(id, &record),
                Effect::Save(id) => self.save(id),
                Effect::Rest(id) => self.rest(id),
                Effect::RememberServer(bytes) => {
                    if let Err(error) = self.log.record.write(&bytes) {
                        process::complain(&format!("the server's record cannot be kept: {error}"));
                    }
                }
                Effect::Upgrade { program } => self.check_program(program),
                Effect::Shutdown => self.tell_keeper(Some(ToKeeper::Shutdown)),
            }
        }
    }

    /// Where lines are read without an echo, something is to be hidden.
    fn look_for_echo(&mut self, id: TerminalId) {
        let flags = self.lines.get(&id).and_then(|line| pty::flags(line.fd()));
        let hidden = flags.is_some_and(|flags| flags.canonical && !flags.echo);
        self.mux.on(Incoming::Echo { id, hidden }, clock::now());
    }

    /// Everything for a new program is at hand: let the keeper start it.
    pub(super) fn spawn(&mut self, id: TerminalId, prepared: Result<Prepared, Failure>) {
        let ready = prepared.and_then(|prepared| {
            let Prepared { master, journal, order, status, grid } = prepared;
            let watched = spawn::watch(id, status, self.to_hub.clone());
            let line = watched
                .and_then(|()| PtyLine::new(master, journal, self.to_busy.clone()))
                .map_err(|error| Failure::new(Code::System, format!("create: {error}")));
            line.map(|line| (line, order, grid))
        });
        match ready {
            Ok((mut line, order, grid)) => {
                if let Some(terminal) = self.mux.get_mut(id) {
                    match grid {
                        Some(grid) => terminal.grid = *grid,
                        None => terminal.lend(recover::memory(&mut line.journal)),
                    }
                }
                self.lines.insert(id, line);
                self.tell_keeper(Some(order));
            }
            Err(failure) => {
                self.mux.on(Incoming::Started { id, result: Err(failure) }, clock::now());
            }
        }
    }

    /// Types what is queued, as far as the kernel takes it.
    pub(super) fn write(&mut self, id: TerminalId) {
        let Some(line) = self.lines.get_mut(&id) else { return };
        let Some(terminal) = self.mux.get_mut(id) else { return };
        while terminal.queued() > 0 {
            match line.write(terminal.input()) {
                Ok(0) => return line.wait_to_write(id, &self.to_hub),
                Ok(count) => terminal.input_taken(count),
                Err(_) => {
                    // Nobody is left to read it.
                    terminal.drop_input();
                }
            }
        }
    }

    fn resize(&mut self, id: TerminalId, size: Size) {
        if let Some(line) = self.lines.get(&id)
            && let Err(error) = pty::resize(line.fd(), size)
        {
            process::complain(&format!("{id} cannot be resized: {error}"));
        }
    }

    fn signal(&mut self, id: TerminalId, signal: i32, target: Target) {
        let target = match target {
            Target::Group => keeper::Target::Group,
            Target::Foreground => keeper::Target::Foreground,
        };
        self.tell_keeper(Some(ToKeeper::Signal { slot: SlotId(id.0), signal, target }));
    }

    /// Off the hub: the process table may be long.
    fn probe(&mut self, id: TerminalId, asker: Asker) {
        let Some(line) = self.lines.get(&id) else {
            let facts = Facts::default();
            return self.mux.on(Incoming::Probed { id, asker, facts }, clock::now());
        };
        let (master, news) = (line.ready(), self.to_hub.clone());
        tokio::spawn(async move {
            let facts = elsewhere::run(move || probe::probe(&master)).await.unwrap_or_default();
            let _ = news.send(News::Probed { id, asker, facts }).await;
        });
    }

    /// Off the hub: there may be a million lines.
    fn search(&mut self, ticket: Ticket, hunt: Box<Hunt>) {
        let news = self.to_hub.clone();
        tokio::spawn(async move {
            let found = elsewhere::run(move || hunt.run()).await;
            let failed = || Failure::new(Code::System, "search: it could not be done now");
            let result = found.ok_or_else(failed);
            let _ = news.send(News::Searched { ticket, result }).await;
        });
    }

    fn render(&mut self, request: PictureRequest, order: Box<Order>) {
        if let Err((request, failure)) = self.renderers.begin(request, order, &self.to_hub) {
            self.mux.on(Incoming::Rendered { request, result: Err(failure) }, clock::now());
        }
    }

    fn remember(&mut self, id: TerminalId, record: &[u8]) {
        if let Some(line) = self.lines.get_mut(&id)
            && let Err(error) = line.journal.record.write(record)
        {
            process::complain(&format!("the record of {id} cannot be kept: {error}"));
        }
    }
}
