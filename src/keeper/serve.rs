//! The keeper's loop: what the worker asks, what children do, what the worker has to hear.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::child::Parts;
use super::heir::Legacy;
use super::message::{Exit, LENGTH, ToKeeper, Unfit};
use super::outbox::{Held, Note, Outbox, Sent};
use super::place::Place;
use super::signals::Signals;
use super::slots::{Order, REAP_LOOK, Slots};
use super::stragglers::GRACE;
use super::succession::Succession;
use super::worker::{Backoff, Plan, Worker};
use crate::os::pidfd::Watch;
use crate::os::{channel, poll, process, signal};

/// Requests heard before children and signals are looked at again.
const BATCH: usize = 64;
/// How long to wait when the kernel is short of something.
const RETRY: Duration = Duration::from_millis(10);
/// How often it is looked, at the end, whether what outlived its leader has ended too.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Serving,
    /// All programs were told to hang up.
    HungUp,
    /// All programs were killed; what is left then cannot be helped.
    Killed,
    /// The worker was told to go, by the end of its channel.
    Parting,
    Over,
}

enum Heard {
    Request(ToKeeper),
    /// A message that cannot be understood, and the answer to it.
    Broken(Option<Note>),
    Nothing,
    End,
}

pub struct Keeper {
    place: Place,
    pub(super) plan: Plan,
    slots: Slots,
    /// The record of the server itself.
    server: Option<OwnedFd>,
    pub(super) outbox: Outbox,
    last_sent: Sent,
    pub(super) worker: Option<Worker>,
    pub(super) succession: Succession,
    /// The last worker, if it ended by itself.
    crashed: Option<u32>,
    backoff: Backoff,
    restart_at: Instant,
    pub(super) phase: Phase,
    /// When the present phase of the end is over at the latest.
    deadline: Instant,
}

impl Keeper {
    pub fn new(place: Place, plan: Plan, slots: Slots) -> io::Result<Keeper> {
        let worker = plan.start(&plan.program, None, now())?;
        let mut keeper = Keeper::with(place, plan, slots, worker);
        keeper.outbox.hand_over(&keeper.slots, None);
        Ok(keeper)
    }

    /// Goes on for a keeper that died; its worker has handed over what it had.
    pub fn adopt(legacy: Legacy, plan: Plan, place: Place) -> Keeper {
        let Legacy { slots, server, worker, .. } = legacy;
        Keeper { server, ..Keeper::with(place, plan, slots, worker) }
    }

    fn with(place: Place, plan: Plan, slots: Slots, worker: Worker) -> Keeper {
        Keeper {
            place,
            plan,
            slots,
            server: None,
            outbox: Outbox::default(),
            last_sent: Sent::All,
            worker: Some(worker),
            succession: Succession::default(),
            crashed: None,
            backoff: Backoff::default(),
            restart_at: now(),
            phase: Phase::Serving,
            deadline: now(),
        }
    }

    pub fn serve(mut self, signals: &Signals) -> io::Result<()> {
        while self.phase != Phase::Over {
            self.flush();
            self.wait(signals)?;
            if signals.drain() {
                self.begin_end();
            }
            self.reap();
            self.listen_to_worker();
            self.dismiss_the_silent();
            self.look_at_succession();
            self.start_worker();
            self.slots.stragglers.kill_due(now());
            self.advance_end();
        }
        Ok(())
    }

    fn link(&self) -> Option<BorrowedFd<'_>> {
        self.worker.as_ref()?.link.as_ref().map(AsFd::as_fd)
    }

    fn wait(&self, signals: &Signals) -> io::Result<()> {
        let mut read = vec![signals.as_fd()];
        // A worker that does not take its news is not listened to.
        read.extend(self.link().filter(|_| self.outbox.is_empty()));
        read.extend(self.succession.link());
        read.extend(self.slots.watches());
        read.extend(self.worker.as_ref().and_then(|worker| Some(worker.watch.as_ref()?.fd())));
        let write = self.link().filter(|_| self.last_sent == Sent::Full);
        poll::wait(&read, write, self.timeout())
    }

    fn timeout(&self) -> Option<Duration> {
        let until = |time: Instant| time.saturating_duration_since(now());
        let ending = (self.phase != Phase::Serving).then(|| until(self.deadline));
        let starting = self.needs_worker().then(|| until(self.restart_at));
        let again = (self.last_sent == Sent::Later).then_some(RETRY);
        let stragglers = self.slots.stragglers.next_deadline();
        let stragglers = stragglers.map(|deadline| match self.phase {
            Phase::Serving => until(deadline),
            _ => LOOK_AGAIN,
        });
        let hung_up = self.worker.as_ref().filter(|worker| !worker.dismissed);
        let hung_up = hung_up.and_then(|worker| worker.hung_up).map(until);
        let again = again.or_else(|| self.slots.awaits_code().then_some(REAP_LOOK));
        let succession = self.succession.deadline(self.worker.as_ref()).map(until);
        [ending, starting, again, stragglers, hung_up, succession].into_iter().flatten().min()
    }

    fn flush(&mut self) {
        let Some(link) = self.worker.as_ref().and_then(|worker| worker.link.as_ref()) else {
            self.last_sent = Sent::All;
            return;
        };
        let (listener, server) = (self.place.listener.as_fd(), self.server.as_ref());
        let mut held = Held { listener, server, slots: &mut self.slots };
        self.last_sent = self.outbox.flush(link.as_fd(), &mut held);
        if self.last_sent == Sent::Gone {
            self.worker_hung_up();
        }
    }

    fn reap(&mut self) {
        while let Some((pid, exit)) = self.next_end() {
            if self.worker.as_ref().is_some_and(|worker| worker.pid == pid) {
                self.worker_ended(exit);
            } else if !self.candidate_ended(pid, exit)
                && let Some(slot) = self.slots.ended(pid, exit)
                && self.link().is_some()
            {
                self.outbox.push(Note::Exited(slot));
            }
        }
    }

    /// A child that has ended, or one of an earlier keeper.
    fn next_end(&mut self) -> Option<(u32, Exit)> {
        let worker = self
            .worker
            .as_ref()
            .filter(|worker| worker.watch.as_ref().is_some_and(Watch::has_ended));
        // How it ended is worth less than a new one at once.
        let exit = |pid, watch: &Watch| watch.exit(pid).unwrap_or(Exit::Unknown);
        let worker = worker.map(|worker| (worker.pid, worker.watch.as_ref()));
        let worker = worker.and_then(|(pid, watch)| Some((pid, exit(pid, watch?))));
        signal::reap().or(worker).or_else(|| self.slots.ended_elsewhere(now()))
    }

    fn listen_to_worker(&mut self) {
        for _ in 0..BATCH {
            if !self.outbox.is_empty() {
                return;
            }
            match self.next_request() {
                Heard::Request(request) => self.obey(request),
                Heard::Broken(note) => note.into_iter().for_each(|note| self.outbox.push(note)),
                Heard::Nothing => return,
                Heard::End => return self.worker_hung_up(),
            }
            self.flush();
        }
    }

    fn next_request(&self) -> Heard {
        let Some(link) = self.link() else { return Heard::Nothing };
        let mut bytes = [0; LENGTH];
        let packet = match channel::receive(link, &mut bytes) {
            Ok(Some(packet)) => packet,
            Ok(None) => return Heard::End,
            Err(_) => return Heard::Nothing,
        };
        let errno = if packet.lost_fds { libc::EMFILE } else { libc::EINVAL };
        let bytes = &bytes[..packet.length.min(LENGTH)];
        match ToKeeper::unpack(bytes, packet.fds).filter(|_| !packet.lost_fds) {
            Some(request) => Heard::Request(request),
            None => Heard::Broken(
                ToKeeper::slot_of_spawn(bytes).map(|slot| Note::SpawnFailed(slot, errno)),
            ),
        }
    }

    fn obey(&mut self, request: ToKeeper) {
        match request {
            ToKeeper::Spawn { slot, master, record, slave, spec, status } => {
                let parts = Parts { slave, spec, status };
                let spawned = match self.phase {
                    Phase::Serving => self.slots.spawn(slot, Order { master, record, parts }),
                    _ => Err(libc::ECANCELED),
                };
                self.outbox.push(match spawned {
                    Ok(pid) => Note::Spawned(slot, pid),
                    Err(errno) => Note::SpawnFailed(slot, errno),
                });
            }
            ToKeeper::Keep { record } => self.server = Some(record),
            ToKeeper::Ready => {}
            ToKeeper::Serving => {
                self.worker.iter_mut().for_each(|worker| worker.serving = true);
            }
            ToKeeper::Upgrade { program } => self.try_program(program),
            // Only at the start of a keeper that takes over.
            ToKeeper::Listener { .. } | ToKeeper::Adopt { .. } | ToKeeper::End => {}
            ToKeeper::Signal { slot, signal, target } => {
                // Whom it does not reach is gone, and the worker hears of that by itself.
                let _ = self.slots.signal(slot, signal, target, now());
            }
            ToKeeper::Forget { slot } => self.slots.forget(slot),
            ToKeeper::Shutdown => self.begin_end(),
        }
    }

    /// It is about to end, mostly: how it does that is worth knowing.
    fn worker_hung_up(&mut self) {
        self.close_link();
        if let Some(worker) = &mut self.worker {
            worker.hung_up.get_or_insert(now() + GRACE);
        }
    }

    fn dismiss_the_silent(&mut self) {
        let worker = self.worker.as_ref().filter(|worker| !worker.dismissed);
        if worker.and_then(|worker| worker.hung_up).is_some_and(|deadline| now() >= deadline) {
            self.dismiss_worker();
        }
    }

    /// For a worker that cannot be of use any more.
    pub(super) fn dismiss_worker(&mut self) {
        self.close_link();
        if let Some(worker) = &mut self.worker {
            worker.dismissed = true;
            let _ = signal::signal_process(worker.pid, libc::SIGKILL);
        }
    }

    /// What a worker said before its end still counts.
    fn close_link(&mut self) {
        loop {
            match self.next_request() {
                Heard::Request(request) => self.obey(request),
                Heard::Broken(_) => {}
                Heard::Nothing | Heard::End => break,
            }
        }
        self.outbox.clear();
        if let Some(worker) = &mut self.worker {
            worker.link = None;
        }
    }

    fn worker_ended(&mut self, exit: Exit) {
        self.close_link();
        let Some(worker) = self.worker.take() else { return };
        let by_us = worker.dismissed && exit == Exit::Signal(libc::SIGKILL);
        let exit = if by_us { Exit::Unknown } else { exit };
        self.crashed = Some(worker.pid).filter(|_| exit != Exit::Signal(libc::SIGKILL));
        if self.phase != Phase::Serving || self.succeed() {
            return;
        }
        if self.fall_back(&worker, exit) {
            self.restart_at = now();
            return;
        }
        let life = now().saturating_duration_since(worker.started);
        self.restart_at = now() + self.backoff.after(life, Some(exit));
        process::complain(&format!("the server ended ({exit:?}) and is started again"));
    }

    fn needs_worker(&self) -> bool {
        self.worker.is_none() && matches!(self.phase, Phase::Serving)
    }

    fn start_worker(&mut self) {
        if !self.needs_worker() || now() < self.restart_at {
            return;
        }
        match self.plan.start(&self.plan.program, self.crashed, now()) {
            Ok(worker) => self.welcome(worker),
            Err(error) => {
                self.restart_at = now() + self.backoff.after(Duration::ZERO, None);
                process::complain(&format!("the server cannot be started: {error}"));
            }
        }
    }

    /// Hands everything over to a new worker.
    pub(super) fn welcome(&mut self, worker: Worker) {
        self.worker = Some(worker);
        self.slots.tell_anew();
        self.outbox.hand_over(&self.slots, self.succession.unfit);
    }

    fn begin_end(&mut self) {
        if self.phase == Phase::Serving {
            self.drop_candidate(Unfit::Silent);
            // Before the ends of all programs, behind which it might not fit any more.
            self.outbox.push(Note::Part);
            self.slots.hang_up_all(now());
            self.enter(Phase::HungUp);
        }
    }

    fn advance_end(&mut self) {
        if self.phase != Phase::Serving {
            self.slots.stragglers.forget_ended();
        }
        let late = now() >= self.deadline;
        match self.phase {
            Phase::HungUp if late && self.slots.any_alive() => {
                self.slots.signal_all(libc::SIGKILL);
                self.enter(Phase::Killed);
            }
            Phase::HungUp | Phase::Killed if late || !self.slots.any_alive() => self.part(),
            Phase::Parting if self.worker.is_none() => self.phase = Phase::Over,
            Phase::Parting if late => {
                self.dismiss_worker();
                self.enter(Phase::Parting);
            }
            _ => {}
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.deadline = now() + GRACE;
    }

    fn part(&mut self) {
        // Before clients see the worker go: whoever comes then is to find no server.
        self.place.leave();
        self.flush();
        if let Some(worker) = &mut self.worker {
            worker.link = None;
        }
        self.outbox.clear();
        self.enter(Phase::Parting);
    }
}

#[allow(clippy::disallowed_methods, reason = "the keeper times restarts and its own end")]
pub fn now() -> Instant {
    Instant::now()
}
