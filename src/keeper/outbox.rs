//! What the worker has yet to hear, sent as fast as it reads and no faster.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::message::{FromKeeper, SlotId, Unfit};
use super::slots::Slots;
use crate::os::channel;

/// Notes name slots instead of holding their state: what is sent is true when it is sent.
///
/// Requests are read only while nothing waits here, so there are at most the notes of a handover
/// and one exit for each slot.
#[derive(Debug, Clone, Copy)]
pub enum Note {
    Listener,
    Server,
    Take(SlotId),
    FellBack(Unfit),
    End,
    Successor,
    NoSuccessor(Unfit),
    Spawned(SlotId, u32),
    SpawnFailed(SlotId, i32),
    Exited(SlotId),
    Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    All,
    /// The worker has to read first.
    Full,
    /// The kernel is short of something; to be tried again after a while.
    Later,
    /// There is no worker at the other end.
    Gone,
}

#[derive(Default)]
pub struct Outbox(VecDeque<Note>);

/// What notes refer to.
pub struct Held<'a> {
    pub listener: BorrowedFd<'a>,
    pub server: Option<&'a OwnedFd>,
    pub slots: &'a mut Slots,
}

impl Outbox {
    pub fn push(&mut self, note: Note) {
        self.0.push_back(note);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that a new worker has to know.
    pub fn hand_over(&mut self, slots: &Slots, unfit: Option<Unfit>) {
        self.0.clear();
        self.0.extend([Note::Listener, Note::Server]);
        self.0.extend(slots.ids().map(Note::Take));
        self.0.extend(unfit.map(Note::FellBack));
        self.0.push_back(Note::End);
    }

    pub fn flush(&mut self, link: BorrowedFd<'_>, held: &mut Held<'_>) -> Sent {
        while let Some(note) = self.0.front() {
            match send(link, *note, held) {
                Ok(()) => self.0.pop_front(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Sent::Full,
                Err(error) if is_gone(&error) => return Sent::Gone,
                Err(_) => return Sent::Later,
            };
        }
        Sent::All
    }
}

fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionRefused | ConnectionReset | NotConnected)
}

fn send(link: BorrowedFd<'_>, note: Note, held: &mut Held<'_>) -> io::Result<()> {
    match note {
        Note::Listener => say(link, &FromKeeper::Listener { fd: held.listener }),
        Note::Server => match held.server {
            Some(record) => say(link, &FromKeeper::Server { record: record.as_fd() }),
            None => Ok(()),
        },
        Note::Take(slot) => {
            if let Some(take) = held.slots.take_message(slot) {
                say(link, &take)?;
                held.slots.exit_is_told(slot);
            }
            Ok(())
        }
        Note::End => say_plain(link, &FromKeeper::End),
        Note::Part => say_plain(link, &FromKeeper::Part),
        Note::FellBack(why) => say_plain(link, &FromKeeper::FellBack { why }),
        Note::Successor => say_plain(link, &FromKeeper::Successor),
        Note::NoSuccessor(why) => say_plain(link, &FromKeeper::NoSuccessor { why }),
        Note::Spawned(slot, pid) => say_plain(link, &FromKeeper::Spawned { slot, pid }),
        Note::SpawnFailed(slot, errno) => say_plain(link, &FromKeeper::SpawnFailed { slot, errno }),
        Note::Exited(slot) => {
            if let Some(exit) = held.slots.untold_exit(slot) {
                say_plain(link, &FromKeeper::Exited { slot, exit })?;
                held.slots.exit_is_told(slot);
            }
            Ok(())
        }
    }
}

/// A message without descriptors.
fn say_plain(link: BorrowedFd<'_>, message: &FromKeeper) -> io::Result<()> {
    say(link, message)
}

fn say<Fd: AsFd>(link: BorrowedFd<'_>, message: &FromKeeper<Fd>) -> io::Result<()> {
    let packed = message.pack();
    channel::send(link, &packed.bytes, &packed.fds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::message::LENGTH;
    use crate::os::limits::Limits;

    struct Fixture {
        near: OwnedFd,
        far: Option<OwnedFd>,
        record: OwnedFd,
        slots: Slots,
        outbox: Outbox,
    }

    fn fixture() -> Fixture {
        let (near, far) = channel::pair().unwrap();
        let record = crate::os::memory::memory_file("t4a-test").unwrap().into();
        let slots = Slots::new(Limits::current(), u64::MAX);
        Fixture { near, far: Some(far), record, slots, outbox: Outbox::default() }
    }

    impl Fixture {
        fn flush(&mut self) -> Sent {
            let (listener, server) = (self.record.as_fd(), Some(&self.record));
            let mut held = Held { listener, server, slots: &mut self.slots };
            self.outbox.flush(self.near.as_fd(), &mut held)
        }

        fn hear(&self) -> Option<FromKeeper> {
            let mut bytes = [0; LENGTH];
            let packet = channel::receive(self.far.as_ref()?.as_fd(), &mut bytes).ok()??;
            FromKeeper::unpack(&bytes[..packet.length], packet.fds)
        }
    }

    #[test]
    fn a_handover_begins_with_the_listener_and_has_an_end() {
        let mut fixture = fixture();
        fixture.outbox.hand_over(&fixture.slots, Some(Unfit::Silent));
        assert_eq!(fixture.flush(), Sent::All);
        assert!(matches!(fixture.hear(), Some(FromKeeper::Listener { .. })));
        assert!(matches!(fixture.hear(), Some(FromKeeper::Server { .. })));
        assert!(matches!(fixture.hear(), Some(FromKeeper::FellBack { why: Unfit::Silent })));
        assert!(matches!(fixture.hear(), Some(FromKeeper::End)));
        assert!(fixture.hear().is_none());
    }

    #[test]
    fn notes_about_slots_that_are_gone_are_left_out() {
        let mut fixture = fixture();
        let slot = SlotId(1);
        for note in [Note::Take(slot), Note::Exited(slot), Note::SpawnFailed(slot, 11)] {
            fixture.outbox.push(note);
        }
        assert_eq!(fixture.flush(), Sent::All);
        assert!(matches!(fixture.hear(), Some(FromKeeper::SpawnFailed { errno: 11, .. })));
        assert!(fixture.hear().is_none());
    }

    #[test]
    fn what_does_not_fit_waits_and_nothing_is_lost() {
        let mut fixture = fixture();
        let many = 20_000;
        for pid in 0..many {
            fixture.outbox.push(Note::Spawned(SlotId(0), pid));
        }
        let mut next = 0;
        while fixture.flush() == Sent::Full {
            assert!(matches!(fixture.hear(), Some(FromKeeper::Spawned { pid, .. }) if pid == next));
            next += 1;
        }
        while let Some(FromKeeper::Spawned { pid, .. }) = fixture.hear() {
            assert_eq!(pid, next);
            next += 1;
        }
        assert_eq!(next, many);
    }

    #[test]
    fn a_closed_channel_means_that_the_worker_is_gone() {
        let mut fixture = fixture();
        fixture.outbox.push(Note::End);
        fixture.far = None;
        assert_eq!(fixture.flush(), Sent::Gone);
        assert!(!fixture.outbox.is_empty());
    }
}
