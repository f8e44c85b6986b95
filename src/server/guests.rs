//! People at terminals that were lent: clients like all others to the state, without a connection.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::task::Poll;
use std::time::Instant;

use super::clock;
use super::connection::ToClient;
use super::guest::{Fault, Guest, guarded};
use super::hub::Hub;
use crate::command;
use crate::mux::limits::{MAX_COLS, MAX_ROWS};
use crate::mux::{ClientId, Incoming, Ticket, ViewId};
use crate::seat::lend::{self, FromLender, Lend, ToLender};
use crate::seat::{self, Seat, Typing, Wish};
use crate::wire::{Code, Failure, Tag, failure_line};

/// How often a guest gets what it wants before others have their turn.
const ROUNDS: usize = 16;

#[derive(Default)]
pub struct Guests {
    all: BTreeMap<ClientId, Guest>,
}

impl Guests {
    pub fn get_mut(&mut self, id: ClientId) -> Option<&mut Guest> {
        self.all.get_mut(&id)
    }

    /// Whose terminal came by a connection.
    pub fn lent_by(&self, lender: ClientId) -> Option<ClientId> {
        self.all.iter().find(|(_, guest)| guest.lender == lender).map(|(id, _)| *id)
    }

    pub fn may_paint(&mut self, id: ClientId) {
        self.all.get_mut(&id).into_iter().for_each(Guest::may_paint);
    }

    /// Whether somebody is to be served before anything else happens.
    pub fn any_awake(&self) -> bool {
        self.all.values().any(Guest::has_more)
    }

    /// Who has typed something.
    pub async fn typed(&self) -> ClientId {
        poll_fn(|context| {
            let typed = self.all.iter().find(|(_, guest)| guest.has_typed(context));
            typed.map_or(Poll::Pending, |(id, _)| Poll::Ready(*id))
        })
        .await
    }

    /// When somebody is to be served though nothing has happened.
    pub fn deadline(&self) -> Option<Instant> {
        self.all.values().filter_map(Guest::deadline).min()
    }
}

impl Hub {
    /// A line came with a descriptor: a terminal, for a guest.
    pub(super) fn lend(&mut self, lender: ClientId, line: &[u8], fd: OwnedFd) {
        if let Err(error) = self.seat(lender, line, fd) {
            let failure = Failure::new(Code::BadValue, format!("no terminal was lent: {error}"));
            self.tell(lender, ToClient::Answer(failure_line(None, &failure)));
        }
        self.tell(lender, ToClient::ReadOn);
    }

    fn seat(&mut self, lender: ClientId, line: &[u8], fd: OwnedFd) -> Result<(), String> {
        let lend = match serde_json::from_slice(line) {
            Ok(FromLender::Lend(lend)) if lend.version == lend::VERSION => lend,
            Ok(_) => return Err("this server does not know how to use it".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let id = self.new_client();
        let Lend { start, size, depth, config, .. } = *lend;
        let seat = guarded(|| Seat::new(&config, start, bounded(size), depth, clock::now()));
        let seat = seat.map_err(|_| "this server cannot show that".to_owned())?;
        let guest = Guest::new(id, lender, seat, fd, self.to_hub.clone());
        self.guests.all.insert(id, guest.map_err(|error| error.to_string())?);
        // From now on its words are the guest's.
        self.mux.on(Incoming::Gone(lender), clock::now());
        self.mux.on(Incoming::Seated(id), clock::now());
        self.tell_lender(lender, &ToLender::Taken);
        Ok(())
    }

    fn tell_lender(&mut self, lender: ClientId, message: &ToLender) {
        self.outboxes.tell(lender, ToClient::Answer(lend::line(message)));
    }

    pub(super) fn hear_lender(&mut self, lender: ClientId, line: &[u8]) {
        self.tell(lender, ToClient::ReadOn);
        let Some(id) = self.guests.lent_by(lender) else { return };
        let Some(guest) = self.guests.get_mut(id) else { return };
        let now = clock::now();
        let done = match serde_json::from_slice(line) {
            Ok(FromLender::Back) => return self.leave_seat(id, "[ended by a signal]".to_owned()),
            Ok(FromLender::Resized(cols, rows)) => {
                let (cols, rows) = bounded((cols, rows));
                guest.with(|seat| seat.on(seat::Incoming::Resize(cols, rows), now))
            }
            Ok(FromLender::Resumed(cols, rows)) => {
                guest.suspended = false;
                guest.with(|seat| seat.resume(bounded((cols, rows)), now))
            }
            Ok(FromLender::Config(found)) => guest.with(|seat| seat.configure(&found, now)),
            Ok(FromLender::Branch { cwd, branch }) => {
                guest.with(|seat| seat.on(seat::Incoming::Branch { cwd, branch }, now))
            }
            Ok(FromLender::Lend(_)) | Err(_) => Ok(()),
        };
        self.check(id, done);
    }

    /// Somebody typed.
    pub(super) fn typed(&mut self, id: ClientId) {
        if let Some(guest) = self.guests.get_mut(id) {
            let read = guest.read(clock::now());
            self.check(id, read);
        }
    }

    /// Guests hear what they were told, get what they want, and see what has come of it.
    pub(super) fn serve_guests(&mut self) {
        let now = clock::now();
        let awake = self.guests.all.iter().filter(|(_, guest)| guest.is_awake(now));
        let awake: Vec<ClientId> = awake.map(|(id, _)| *id).collect();
        for id in awake {
            let more = (0..ROUNDS).all(|_| self.serve(id));
            let Some(guest) = self.guests.get_mut(id) else { continue };
            let painted = guest.paint(clock::now());
            guest.rest(more);
            if self.check(id, painted) == Some(true) {
                self.mux.on(Incoming::Drained(id), clock::now());
            }
        }
    }

    /// Whether a guest wanted anything.
    fn serve(&mut self, id: ClientId) -> bool {
        let Some(guest) = self.guests.get_mut(id) else { return false };
        let wishes = guest.wishes(clock::now());
        let Some(wishes) = self.check(id, wishes) else { return false };
        let any = !wishes.is_empty();
        wishes.into_iter().for_each(|wish| self.grant(id, wish));
        self.perform();
        any
    }

    fn grant(&mut self, id: ClientId, wish: Wish) {
        let Some(guest) = self.guests.get_mut(id) else { return };
        let lender = guest.lender;
        match wish {
            Wish::Send(line) => self.mux.request(id, &line, clock::now(), command::run),
            // Who writes down requests sees them all.
            Wish::Type(typed) if self.mux.writes_scripts() => {
                self.mux.request(id, &typed.line(), clock::now(), command::run);
            }
            Wish::Type(Typing { tag, view, keys }) => {
                let ticket = Ticket { client: id, tag: Some(Tag::of(tag)) };
                let terminal = self.mux.view(ViewId(view), id);
                self.mux.press(&ticket, ViewId(view), keys, clock::now());
                self.perform();
                terminal.into_iter().for_each(|terminal| self.read_echo(terminal));
            }
            Wish::Leave(why) => self.leave_seat(id, why),
            Wish::Suspend => {
                guest.suspended = true;
                self.tell_lender(lender, &ToLender::Suspend);
            }
            Wish::ReadConfig => self.tell_lender(lender, &ToLender::ReadConfig),
            Wish::LookUp(cwd) => self.tell_lender(lender, &ToLender::LookUp(cwd)),
            Wish::Layout(layout) => self.tell_lender(lender, &ToLender::Layout(layout)),
        }
    }

    /// What was done, unless that was the end of it.
    fn check<T>(&mut self, id: ClientId, done: Result<T, Fault>) -> Option<T> {
        match done {
            Ok(done) => return Some(done),
            Err(Fault::TtyGone) => self.leave_seat(id, "[the terminal is gone]".to_owned()),
            Err(Fault::Panicked) => self.unseat(id, &ToLender::Failed),
        }
        None
    }

    fn leave_seat(&mut self, id: ClientId, why: String) {
        self.unseat(id, &ToLender::Leave(why));
    }

    /// The terminal is let go before its lender hears of it.
    fn unseat(&mut self, id: ClientId, last: &ToLender) {
        if let Some(guest) = self.guests.all.remove(&id) {
            let lender = guest.lender;
            drop(guest);
            self.mux.on(Incoming::Gone(id), clock::now());
            self.tell_lender(lender, last);
            self.outboxes.close(lender);
        }
    }

    /// The lender is gone, and its terminal with it.
    pub(super) fn end_lending(&mut self, lender: ClientId) {
        if let Some(id) = self.guests.lent_by(lender) {
            self.leave_seat(id, String::new());
        }
    }
}

/// A size that the state can have.
fn bounded((cols, rows): (u16, u16)) -> (u16, u16) {
    (cols.clamp(1, MAX_COLS), rows.clamp(1, MAX_ROWS))
}
