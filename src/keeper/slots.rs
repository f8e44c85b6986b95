//! The terminals that the keeper holds: their descriptors, children and ends.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::child::{self, Parts};
use super::message::{Exit, FromKeeper, MAX_SLOTS, SlotId, Target};
use super::stragglers::{HangUp, Stragglers};
use crate::os::limits::Limits;
use crate::os::pidfd::Watch;
use crate::os::signal;

/// Descriptors that terminals may not use up: a new worker needs some to be started.
const RESERVED_FDS: u64 = 64;
/// Children whose slot is gone but that do not end; beyond this no new ones are started.
const MAX_FORGOTTEN: usize = MAX_SLOTS;
/// How long to wait until another parent has heard of a program's end, if only then its code is known.
const REAP_TIME: Duration = Duration::from_secs(5);
/// How often to look.
pub const REAP_LOOK: Duration = Duration::from_millis(5);

pub struct Slot {
    pid: u32,
    master: OwnedFd,
    record: OwnedFd,
    exit: Option<Exit>,
    /// Whether the present worker knows of the exit.
    told: bool,
    hang_up: Option<HangUp>,
    /// The program itself, if an earlier keeper was its parent.
    watch: Option<Watch>,
    /// When it was seen to have ended, while its code is not known.
    ended: Option<Instant>,
}

pub struct Slots {
    slots: BTreeMap<SlotId, Slot>,
    forgotten: BTreeSet<u32>,
    pub stragglers: Stragglers,
    limits: Limits,
    max_fd: u64,
}

/// What an earlier keeper held of a terminal.
pub struct Heirloom {
    pub pid: u32,
    pub exit: Option<Exit>,
    pub master: OwnedFd,
    pub record: OwnedFd,
    pub watch: Option<OwnedFd>,
}

/// What a worker asks to have started.
pub struct Order {
    pub master: OwnedFd,
    pub record: OwnedFd,
    pub parts: Parts,
}

impl Slots {
    /// `limits` are those that programs get, `max_files` what this process may open itself.
    pub fn new(limits: Limits, max_files: u64) -> Slots {
        let max_fd = max_files.saturating_sub(RESERVED_FDS);
        let (slots, forgotten) = (BTreeMap::new(), BTreeSet::new());
        Slots { slots, forgotten, stragglers: Stragglers::default(), limits, max_fd }
    }

    pub fn spawn(&mut self, id: SlotId, order: Order) -> Result<u32, i32> {
        self.check_room(id, &order)?;
        let Order { master, record, parts } = order;
        let spawned = child::spawn(parts, record.as_fd(), &self.limits);
        let pid = spawned.map_err(|error| error.raw_os_error().unwrap_or(libc::EAGAIN))?;
        let (exit, told, hang_up, watch, ended) = (None, false, None, None, None);
        self.slots.insert(id, Slot { pid, master, record, exit, told, hang_up, watch, ended });
        Ok(pid)
    }

    /// A terminal that an earlier keeper held.
    pub fn adopt(&mut self, id: SlotId, heirloom: Heirloom) {
        let Heirloom { pid, exit, master, record, watch } = heirloom;
        let watch = watch.map(Watch::from_fd);
        let (told, hang_up, ended) = (exit.is_some(), None, None);
        if self.slots.len() < MAX_SLOTS {
            self.slots.insert(id, Slot { pid, master, record, exit, told, hang_up, watch, ended });
        }
    }

    /// Descriptors that can be read when a program that is no child has ended.
    pub fn watches(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let alive = self.slots.values().filter(|slot| slot.alive());
        alive.filter_map(|slot| slot.watch.as_ref()).map(Watch::fd)
    }

    /// A program that is no child and has ended.
    pub fn ended_elsewhere(&mut self, now: Instant) -> Option<(u32, Exit)> {
        let mut alive = self.slots.values_mut().filter(|slot| slot.exit.is_none());
        alive.find_map(|slot| Some((slot.pid, slot.ended_elsewhere(now)?)))
    }

    /// Whether a program has ended whose code is yet to be known.
    pub fn awaits_code(&self) -> bool {
        self.slots.values().any(|slot| slot.exit.is_none() && slot.ended.is_some())
    }

    fn check_room(&self, id: SlotId, order: &Order) -> Result<(), i32> {
        let highest = order.master.as_raw_fd().max(order.record.as_raw_fd());
        if self.slots.contains_key(&id) {
            return Err(libc::EEXIST);
        }
        if self.slots.len() >= MAX_SLOTS || self.forgotten.len() >= MAX_FORGOTTEN {
            return Err(libc::EAGAIN);
        }
        if u64::try_from(highest).is_ok_and(|fd| fd >= self.max_fd) {
            return Err(libc::EMFILE);
        }
        Ok(())
    }

    /// Takes note of an end; the slot it happened in, if the child still has one.
    pub fn ended(&mut self, pid: u32, exit: Exit) -> Option<SlotId> {
        self.forgotten.remove(&pid);
        let alive = |slot: &Slot| slot.pid == pid && slot.exit.is_none();
        let (id, slot) = self.slots.iter_mut().find(|(_, slot)| alive(slot))?;
        slot.exit = Some(exit);
        slot.told = false;
        if let Some(hang_up) = slot.hang_up {
            self.stragglers.watch(pid, hang_up);
        }
        Some(*id)
    }

    /// Closes the master and hangs up on what still runs there, as the kernel would once the last
    /// copy of the master is closed.
    pub fn forget(&mut self, id: SlotId) {
        if let Some(slot) = self.slots.remove(&id)
            && slot.alive()
        {
            slot.signal_both(libc::SIGHUP);
            slot.signal_both(libc::SIGCONT);
            self.forgotten.insert(slot.pid);
        }
    }

    /// Only while the child is not reaped: its number cannot belong to anyone else until then.
    pub fn signal(
        &mut self,
        id: SlotId,
        signal: i32,
        target: Target,
        now: Instant,
    ) -> io::Result<()> {
        let slot = self.slots.get_mut(&id).filter(|slot| slot.alive());
        let slot = slot.ok_or(io::ErrorKind::NotFound)?;
        if slot.watch.as_ref().is_some_and(Watch::has_ended) {
            // Somebody else reaps it, and its number may be another's by now.
            return Err(io::ErrorKind::NotFound.into());
        }
        // Nothing but the end of a terminal hangs up on the program's own group.
        if signal == libc::SIGHUP && target == Target::Group {
            slot.hang_up_at(now);
        }
        slot.signal(signal, target)
    }

    /// Tells all programs that it is over; a stopped one hears of it only when it goes on.
    pub fn hang_up_all(&mut self, now: Instant) {
        let alive = self.slots.values_mut().filter(|slot| slot.alive());
        alive.for_each(|slot| slot.hang_up_at(now));
        self.signal_all(libc::SIGHUP);
        self.signal_all(libc::SIGCONT);
    }

    /// To every child that has not ended, and to what runs in the foreground of its terminal.
    pub fn signal_all(&self, signal: i32) {
        for slot in self.slots.values().filter(|slot| slot.alive()) {
            slot.signal_both(signal);
        }
        for pid in &self.forgotten {
            let _ = signal::signal_group(*pid, signal);
        }
    }

    pub fn any_alive(&self) -> bool {
        !self.forgotten.is_empty()
            || !self.stragglers.is_empty()
            || self.slots.values().any(Slot::alive)
    }

    /// For a new worker, which knows nothing yet.
    pub fn tell_anew(&mut self) {
        self.slots.values_mut().for_each(|slot| slot.told = false);
    }

    pub fn ids(&self) -> impl Iterator<Item = SlotId> {
        self.slots.keys().copied()
    }

    pub fn take_message(&self, id: SlotId) -> Option<FromKeeper<BorrowedFd<'_>>> {
        let slot = self.slots.get(&id)?;
        let (master, record) = (slot.master.as_fd(), slot.record.as_fd());
        Some(FromKeeper::Take { slot: id, pid: slot.pid, exit: slot.exit, master, record })
    }

    /// The exit that the worker has not heard of.
    pub fn untold_exit(&self, id: SlotId) -> Option<Exit> {
        self.slots.get(&id).filter(|slot| !slot.told).and_then(|slot| slot.exit)
    }

    pub fn exit_is_told(&mut self, id: SlotId) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.told = slot.exit.is_some();
        }
    }
}

impl Slot {
    fn alive(&self) -> bool {
        self.exit.is_none() && self.ended.is_none()
    }

    fn ended_elsewhere(&mut self, now: Instant) -> Option<Exit> {
        let watch = self.watch.as_ref().filter(|watch| watch.has_ended())?;
        let since = *self.ended.get_or_insert(now);
        let late = now.saturating_duration_since(since) >= REAP_TIME;
        watch.exit(self.pid).or(late.then_some(Exit::Unknown))
    }

    fn hang_up_at(&mut self, at: Instant) {
        let foreground = signal::foreground_of(self.master.as_fd(), self.pid);
        self.hang_up.get_or_insert(HangUp { at, foreground });
    }

    /// Whom it does not reach is gone already.
    fn signal_both(&self, signal: i32) {
        let _ = self.signal(signal, Target::Foreground);
        let _ = self.signal(signal, Target::Group);
    }

    fn signal(&self, signal: i32, target: Target) -> io::Result<()> {
        match target {
            Target::Group => signal::signal_group(self.pid, signal),
            Target::Foreground => signal::signal_foreground(self.master.as_fd(), self.pid, signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::os::pty;
    use crate::term::Size;

    /// A number that belonged to a program in a terminal, and now belongs to someone else.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "any moment does")]
    fn a_number_that_was_given_away_gets_no_signals() {
        let mut someone = Command::new("cat");
        let pty = pty::open(Size { cols: 80, rows: 24 }).unwrap();
        someone.process_group(0).stdin(pty.slave).stderr(Stdio::null());
        let mut someone = someone.spawn().unwrap();
        let (now, id) = (Instant::now(), SlotId(1));
        let mut slots = Slots::new(Limits::current(), 1024);
        let record = pty.master.try_clone().unwrap();
        let (pid, exit, watch) = (someone.id(), None, None);
        slots.adopt(id, Heirloom { pid, exit, master: pty.master, record, watch });
        assert_eq!(slots.ended(pid, Exit::Code(0)), Some(id));
        for target in [Target::Group, Target::Foreground] {
            let sent = slots.signal(id, libc::SIGKILL, target, now);
            assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::NotFound);
        }
        slots.hang_up_all(now);
        slots.signal_all(libc::SIGKILL);
        slots.forget(id);
        // The master is closed: it ends by itself, and by no signal.
        assert!(someone.wait().unwrap().code().is_some());
    }
}
