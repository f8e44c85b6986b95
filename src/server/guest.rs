//! A person whose terminal was lent to the worker: their seat, and the terminal itself.

use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::connection::ToClient;
use super::{News, ToHub};
use crate::mux::ClientId;
use crate::os::ready::Ready;
use crate::os::tty;
use crate::seat::{Seat, Wish};

/// Bytes of what was typed that are read at a time.
const READ_CHUNK: usize = 16 << 10;

/// Why someone is no longer a guest.
pub enum Fault {
    /// Their terminal was closed.
    TtyGone,
    /// A mistake of ours, which is theirs alone.
    Panicked,
}

pub struct Guest {
    id: ClientId,
    /// The connection that the terminal came by.
    pub lender: ClientId,
    seat: Seat,
    tty: Arc<Ready>,
    /// All that was typed has been read: wait for more.
    again: Arc<Notify>,
    watch: JoinHandle<()>,
    hub: ToHub,
    /// Lines from the state that the seat has not heard yet.
    inbox: Vec<u8>,
    /// What was read last; the memory is used again.
    typed: Vec<u8>,
    /// What is painted and the terminal has not taken yet.
    left: Vec<u8>,
    /// A task waits until it takes more.
    waits_to_paint: bool,
    /// Frames or events were heard: the next may come when what they made is painted.
    drained: bool,
    /// The terminal is someone else's for the moment.
    pub suspended: bool,
}

impl Guest {
    pub fn new(
        id: ClientId,
        lender: ClientId,
        seat: Seat,
        tty: OwnedFd,
        hub: ToHub,
    ) -> io::Result<Guest> {
        let (tty, again) = (Arc::new(Ready::new(tty::lent(tty)?)?), Arc::new(Notify::new()));
        let watch = tokio::spawn(watch(id, tty.clone(), again.clone(), hub.clone()));
        Ok(Guest {
            id,
            lender,
            seat,
            tty,
            again,
            watch,
            hub,
            inbox: Vec::new(),
            typed: Vec::with_capacity(READ_CHUNK),
            left: Vec::new(),
            waits_to_paint: false,
            drained: false,
            suspended: false,
        })
    }

    /// Something from the state, as any client gets it.
    pub fn tell(&mut self, message: ToClient) {
        match message {
            ToClient::Answer(bytes) => self.inbox.extend(bytes),
            ToClient::Stream(bytes) => {
                self.drained = true;
                self.inbox.extend(bytes);
            }
            // It asks for no pictures, and has a bound of its own for what is under way.
            ToClient::Picture { .. } | ToClient::ReadOn => {}
        }
    }

    /// Reads what was typed.
    pub fn read(&mut self, now: Instant) -> Result<(), Fault> {
        self.typed.clear();
        match self.tty.try_read(|fd| tty::read(fd, &mut self.typed)) {
            Ok(count) if count < READ_CHUNK => self.tty.read_all(),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Err(Fault::TtyGone),
        }
        self.again.notify_one();
        let (seat, typed) = (&mut self.seat, &self.typed);
        guarded(|| seat.types(typed, now))
    }

    /// Does something to the seat.
    pub fn with(&mut self, act: impl FnOnce(&mut Seat)) -> Result<(), Fault> {
        let seat = &mut self.seat;
        guarded(|| act(seat))
    }

    /// Hears what there is, and what time has brought; what the seat wants then.
    pub fn wishes(&mut self, now: Instant) -> Result<Vec<Wish>, Fault> {
        let (seat, inbox) = (&mut self.seat, &mut self.inbox);
        guarded(|| {
            for line in inbox.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                seat.hear(line, now);
            }
            inbox.clear();
            if seat.deadline().is_some_and(|due| due <= now) {
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
        self.waits_to_paint = false;
    }

    /// When something is due; not while the terminal cannot have it.
    pub fn deadline(&self) -> Option<Instant> {
        self.seat.deadline().filter(|_| self.left.is_empty() && !self.suspended)
    }

    /// Whether the terminal has taken all.
    fn write_left(&mut self) -> Result<bool, Fault> {
        while !self.left.is_empty() {
            match self.tty.try_write(|fd| tty::write(fd, &self.left)) {
                Ok(count) => drop(self.left.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait_to_paint();
                    return Ok(false);
                }
                Err(_) => return Err(Fault::TtyGone),
            }
        }
        Ok(true)
    }

    fn wait_to_paint(&mut self) {
        if std::mem::replace(&mut self.waits_to_paint, true) {
            return;
        }
        let (id, tty, hub) = (self.id, self.tty.clone(), self.hub.clone());
        tokio::spawn(async move {
            let _ = tty.writable().await;
            let _ = hub.send(News::Paintable(id)).await;
        });
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// Tells the hub whenever someone has typed, and not again before that was read.
async fn watch(id: ClientId, tty: Arc<Ready>, again: Arc<Notify>, hub: ToHub) {
    while tty.readable().await.is_ok() && hub.send(News::Typed(id)).await.is_ok() {
        again.notified().await;
    }
}

/// A mistake in what one person sees must not end what everybody else does.
fn guarded<T>(act: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|_| Fault::Panicked)
}
