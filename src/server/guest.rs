//! A person whose terminal was lent to the worker: their seat, and the terminal itself.

use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Context;
use std::time::Instant;

use tokio::task::AbortHandle;

use super::connection::ToClient;
use super::{News, ToHub, trap};
use crate::mux::ClientId;
use crate::os::ready::Ready;
use crate::os::tty;
use crate::seat::{Incoming, Seat, Wish};
use crate::wire::Frame;

/// Bytes of what was typed that are read at a time.
const READ_CHUNK: usize = 16 << 10;

/// Why someone is no longer a guest.
pub enum Fault {
    /// Their terminal was closed.
    TtyGone,
    /// A mistake of ours, which is theirs alone.
    Panicked,
}

/// Something for a guest.
pub enum Told {
    Lines(Vec<u8>),
    Frame(Box<Frame>),
    /// What was typed with this tag was taken.
    Typed(u64),
}

pub struct Guest {
    id: ClientId,
    /// The connection that the terminal came by.
    pub lender: ClientId,
    seat: Seat,
    tty: Ready,
    hub: ToHub,
    /// From the state, and not heard by the seat yet.
    inbox: Vec<Told>,
    /// What was read last; the memory is used again.
    typed: Vec<u8>,
    /// What is painted and the terminal has not taken yet.
    left: Vec<u8>,
    /// A task waits until it takes more.
    waits_to_paint: Option<AbortHandle>,
    /// Frames or events were heard: the next may come when what they made is painted.
    drained: bool,
    /// The terminal is someone else's for the moment.
    pub suspended: bool,
    /// Something has come since it was served last; else there is nothing to do before it is due.
    awake: bool,
    due: Option<Instant>,
}

impl Guest {
    pub fn new(
        id: ClientId,
        lender: ClientId,
        seat: Seat,
        tty: OwnedFd,
        hub: ToHub,
    ) -> io::Result<Guest> {
        let tty = Ready::for_reading(tty::lent(tty)?)?;
        Ok(Guest {
            id,
            lender,
            seat,
            tty,
            hub,
            inbox: Vec::new(),
            typed: Vec::with_capacity(READ_CHUNK),
            left: Vec::new(),
            waits_to_paint: None,
            drained: false,
            suspended: false,
            awake: true,
            due: None,
        })
    }

    pub fn tell(&mut self, told: Told) {
        self.awake = true;
        self.drained |= matches!(told, Told::Frame(_));
        self.inbox.push(told);
    }

    /// What any client gets.
    pub fn hear(&mut self, message: ToClient) {
        match message {
            ToClient::Answer(bytes) => self.tell(Told::Lines(bytes)),
            ToClient::Stream(bytes) => {
                self.drained = true;
                self.tell(Told::Lines(bytes));
            }
            // It asks for no pictures, and has a bound of its own for what is under way.
            ToClient::Picture { .. } | ToClient::ReadOn => {}
        }
    }

    /// Whether something was typed; if not, whoever asks is woken when something is.
    pub fn has_typed(&self, context: &mut Context<'_>) -> bool {
        !self.suspended && self.tty.is_readable(context)
    }

    /// Reads what was typed.
    pub fn read(&mut self, now: Instant) -> Result<(), Fault> {
        self.awake = true;
        self.typed.clear();
        match self.tty.try_read(|fd| tty::read(fd, &mut self.typed)) {
            Ok(count) if count < READ_CHUNK => self.tty.read_all(),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Err(Fault::TtyGone),
        }
        let (seat, typed) = (&mut self.seat, &self.typed);
        guarded(|| {
            trap::typed(typed);
            seat.types(typed, now);
        })
    }

    /// Does something to the seat.
    pub fn with(&mut self, act: impl FnOnce(&mut Seat)) -> Result<(), Fault> {
        self.awake = true;
        let seat = &mut self.seat;
        guarded(|| act(seat))
    }

    /// Hears what there is, and what time has brought; what the seat wants then.
    pub fn wishes(&mut self, now: Instant) -> Result<Vec<Wish>, Fault> {
        let (seat, inbox, due) = (&mut self.seat, &mut self.inbox, self.due.take());
        guarded(|| {
            inbox.drain(..).for_each(|told| match told {
                Told::Lines(bytes) => {
                    let lines = bytes.split(|byte| *byte == b'\n');
                    lines.filter(|line| !line.is_empty()).for_each(|line| seat.hear(line, now));
                }
                Told::Frame(frame) => seat.on(Incoming::Frame(frame), now),
                Told::Typed(tag) => seat.on(Incoming::Typed(tag), now),
            });
            if due.is_some_and(|due| due <= now) {
                seat.tick(now);
            }
            seat.wishes()
        })
    }

    /// Paints what is due; whether the next frame may come.
    pub fn paint(&mut self, now: Instant) -> Result<bool, Fault> {
        if self.suspended || !self.write_left()? {
            return Ok(false);
        }
        let (seat, left) = (&mut self.seat, &mut self.left);
        guarded(|| seat.paint(now, left))?;
        let taken = self.write_left()?;
        Ok(taken && std::mem::take(&mut self.drained))
    }

    pub fn may_paint(&mut self) {
        (self.waits_to_paint, self.awake) = (None, true);
    }

    /// Whether it is to be served.
    pub fn is_awake(&self, now: Instant) -> bool {
        self.awake || self.due.is_some_and(|due| due <= now)
    }

    pub fn has_more(&self) -> bool {
        self.awake
    }

    /// Until something comes, or is due: not while the terminal cannot have it.
    pub fn rest(&mut self, more: bool) {
        self.awake = more;
        let (seat, can_have) = (&self.seat, self.left.is_empty() && !self.suspended);
        self.due = guarded(|| seat.deadline()).ok().flatten().filter(|_| can_have);
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.due
    }

    /// Whether the terminal has taken all.
    fn write_left(&mut self) -> Result<bool, Fault> {
        while !self.left.is_empty() {
            match tty::write(self.tty.fd(), &self.left) {
                Ok(count) => drop(self.left.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait_to_paint().map_err(|_| Fault::TtyGone)?;
                    return Ok(false);
                }
                Err(_) => return Err(Fault::TtyGone),
            }
        }
        Ok(true)
    }

    fn wait_to_paint(&mut self) -> io::Result<()> {
        if self.waits_to_paint.is_none() {
            let (id, hub) = (self.id, self.hub.clone());
            let tty = Ready::new(self.tty.fd().try_clone_to_owned()?)?;
            let task = tokio::spawn(async move {
                let _ = tty.writable().await;
                let _ = hub.send(News::Paintable(id)).await;
            });
            self.waits_to_paint = Some(task.abort_handle());
        }
        Ok(())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.waits_to_paint.iter().for_each(AbortHandle::abort);
    }
}

/// A mistake in what one person sees must not end what everybody else does.
pub fn guarded<T>(act: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|_| Fault::Panicked)
}
