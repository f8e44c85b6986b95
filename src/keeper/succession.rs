//! Another program to start workers from: one of it is ready before the present worker goes, and if
//! it does not do well the former program is taken again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::message::{Exit, LENGTH, ToKeeper, Unfit};
use super::outbox::Note;
use super::serve::{Keeper, Phase, now};
use super::worker::{LONG_LIFE, Worker};
use crate::os::program::Program;
use crate::os::{channel, process, signal};

/// From the start of a new program's worker until it is ready.
const START_TIME: Duration = Duration::from_secs(5);
/// From then until the worker that asked for it is gone.
const GO_TIME: Duration = Duration::from_secs(5);
/// From then until the new one serves.
const TAKE_OVER_TIME: Duration = Duration::from_secs(10);

#[derive(Default)]
pub struct Succession {
    candidate: Option<Candidate>,
    /// What workers were started from before, until one of the present program has done well.
    former: Option<Program>,
    /// Why the last new program was given up.
    pub unfit: Option<Unfit>,
}

/// A worker that waits for its turn.
struct Candidate {
    worker: Worker,
    program: Program,
    ready: bool,
    /// By then it is ready, or else the worker before it is gone.
    deadline: Instant,
}

impl Succession {
    /// Readable when the candidate says something.
    pub fn link(&self) -> Option<BorrowedFd<'_>> {
        let candidate = self.candidate.as_ref().filter(|candidate| !candidate.ready)?;
        candidate.worker.link.as_ref().map(AsFd::as_fd)
    }

    pub fn deadline(&self, worker: Option<&Worker>) -> Option<Instant> {
        let candidate = self.candidate.as_ref().map(|candidate| candidate.deadline);
        let serving = worker.filter(|_| self.former.is_some()).and_then(due);
        candidate.into_iter().chain(serving).min()
    }

    /// The candidate that is ready, if any. One that is not was asked for by a worker that is gone.
    fn take_ready(&mut self) -> Option<Candidate> {
        let candidate = self.candidate.take()?;
        if !candidate.ready {
            candidate.kill();
            return None;
        }
        Some(candidate)
    }
}

/// When a worker that takes over has to serve.
fn due(worker: &Worker) -> Option<Instant> {
    (!worker.serving).then(|| worker.started + TAKE_OVER_TIME)
}

impl Candidate {
    /// With what it may have started.
    fn kill(self) {
        let _ = signal::signal_group(self.worker.pid, libc::SIGKILL);
    }

    /// Whether it has said that it is ready. When it hangs up its end is near.
    fn says_ready(&mut self) -> bool {
        let mut bytes = [0; LENGTH];
        let Some(link) = &self.worker.link else { return false };
        match channel::receive(link.as_fd(), &mut bytes) {
            Ok(Some(packet)) => {
                let message = ToKeeper::unpack(&bytes[..packet.length.min(LENGTH)], packet.fds);
                matches!(message, Some(ToKeeper::Ready))
            }
            Ok(None) => {
                self.worker.link = None;
                false
            }
            Err(_) => false,
        }
    }
}

impl Keeper {
    /// Starts a worker of another program beside the present one.
    pub(super) fn try_program(&mut self, fd: OwnedFd) {
        let started = match self.phase {
            Phase::Serving if self.succession.candidate.is_none() => self.start_candidate(fd),
            _ => Err(io::Error::from_raw_os_error(libc::EBUSY)),
        };
        match started {
            Ok(candidate) => self.succession.candidate = Some(candidate),
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
                self.outbox.push(Note::NoSuccessor(Unfit::Start(errno)));
            }
        }
    }

    fn start_candidate(&self, fd: OwnedFd) -> io::Result<Candidate> {
        let program = Program::from_fd(fd).inherited()?;
        let worker = self.plan.start(&program, None, now())?;
        Ok(Candidate { worker, program, ready: false, deadline: now() + START_TIME })
    }

    /// Hears the candidate, and acts when something takes too long.
    pub(super) fn look_at_succession(&mut self) {
        let late = |deadline: Instant| now() >= deadline;
        if let Some(candidate) = &mut self.succession.candidate {
            if !candidate.ready && candidate.says_ready() {
                candidate.ready = true;
                candidate.deadline = now() + GO_TIME;
                self.outbox.push(Note::Successor);
            } else if late(candidate.deadline) && candidate.ready {
                candidate.deadline = now() + GO_TIME;
                self.dismiss_worker();
            } else if late(candidate.deadline) {
                self.drop_candidate(Unfit::Silent);
            }
        }
        let Some(worker) = self.worker.as_mut().filter(|_| self.succession.former.is_some()) else {
            return;
        };
        if due(worker).is_some_and(late) {
            worker.late = true;
            self.dismiss_worker();
        } else if worker.has_done_well(now()) {
            self.succession.former = None;
        }
    }

    /// Whether it was the candidate that ended.
    pub(super) fn candidate_ended(&mut self, pid: u32, exit: Exit) -> bool {
        let own = |candidate: &mut Candidate| candidate.worker.pid == pid;
        let Some(candidate) = self.succession.candidate.take_if(own) else { return false };
        let why = Unfit::Ended(exit);
        if candidate.ready {
            // The present worker goes already: the next one tells of it.
            self.succession.unfit = Some(why);
        }
        self.outbox.push(Note::NoSuccessor(why));
        true
    }

    pub(super) fn drop_candidate(&mut self, why: Unfit) {
        if let Some(candidate) = self.succession.candidate.take() {
            candidate.kill();
            self.outbox.push(Note::NoSuccessor(why));
        }
    }

    /// The worker is gone: the one that waits for its turn takes over.
    pub(super) fn succeed(&mut self) -> bool {
        let Some(candidate) = self.succession.take_ready() else { return false };
        let Candidate { worker, program, .. } = candidate;
        self.succession.former = Some(std::mem::replace(&mut self.plan.program, program));
        self.succession.unfit = None;
        self.welcome(Worker { started: now(), ..worker });
        true
    }

    /// A worker ended. If it was of a new program that has not done well yet, the former one is
    /// taken again, unless it was killed from outside: that is not its fault.
    pub(super) fn fall_back(&mut self, worker: &Worker, exit: Exit) -> bool {
        let killed = exit == Exit::Signal(libc::SIGKILL);
        if worker.has_done_well(now()) {
            self.succession.former = None;
        }
        let Some(former) = self.succession.former.take_if(|_| !killed) else { return false };
        self.plan.program = former;
        let why = if worker.late { Unfit::Silent } else { Unfit::Ended(exit) };
        self.succession.unfit = Some(why);
        process::complain(&format!("the new server failed ({why:?}); the former one is started"));
        true
    }
}

impl Worker {
    fn has_done_well(&self, now: Instant) -> bool {
        self.serving && now.saturating_duration_since(self.started) >= LONG_LIFE
    }
}
