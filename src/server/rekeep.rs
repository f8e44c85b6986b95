//! When the keeper dies: another one, and all that it has to hold.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use super::hub::Hub;
use super::keeper_line::KeeperLine;
use super::{News, clock, exit, keeper_exit};
use crate::keeper::{self, Backoff, Exit, Link, SlotId, ToKeeper};
use crate::mux::{Incoming, Terminal};
use crate::os::pidfd::Watch;
use crate::os::process;
use crate::wire::{Code, Failure};

/// What is needed to start a keeper.
pub struct Rekeep {
    pub listener: OwnedFd,
    /// Those that programs get, as text; without them no keeper can be started.
    limits: Option<String>,
    last: Option<(Child, Instant)>,
    backoff: Backoff,
}

/// A terminal as the keeper is to hold it.
pub struct Held<'a> {
    pub slot: SlotId,
    pub pid: u32,
    pub exit: Option<Exit>,
    pub master: BorrowedFd<'a>,
    pub record: BorrowedFd<'a>,
}

impl Rekeep {
    pub fn new(listener: OwnedFd, limits: Option<String>) -> Rekeep {
        Rekeep { listener, limits, last: None, backoff: Backoff::default() }
    }

    /// How long to wait before the next one.
    pub fn pause(&mut self, now: Instant) -> Duration {
        let Some((child, started)) = &mut self.last else { return Duration::ZERO };
        // One that is not quite gone yet was killed.
        let ended = child.try_wait().ok().flatten();
        let exit = ended.and_then(|status| status.code()).map(Exit::Code);
        let exit = exit.or(Some(Exit::Signal(libc::SIGKILL)));
        self.backoff.after(now.saturating_duration_since(*started), exit)
    }

    /// Starts a keeper: its number and the channel to it.
    pub fn start(&mut self, now: Instant) -> io::Result<(u32, Link)> {
        if let Some((mut child, _)) = self.last.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        // Where there is no watching, a keeper could not see its programs' ends.
        Watch::open(std::process::id())?;
        let limits = self.limits.as_deref().ok_or(io::ErrorKind::Unsupported)?;
        let (child, link) = keeper::start_heir(limits)?;
        let pid = child.id();
        self.last = Some((child, now));
        Ok((pid, Link::new(link)?))
    }

    /// The socket, and who serves it.
    pub fn listener(&self) -> io::Result<ToKeeper> {
        let pid = std::process::id();
        let watch = Watch::open(pid)?.fd().try_clone_to_owned()?;
        Ok(ToKeeper::Listener { fd: self.listener.try_clone()?, pid, watch })
    }
}

/// A terminal for the new keeper, and its end if that came while no keeper was there.
pub fn adopt(held: &Held<'_>) -> io::Result<(ToKeeper, Option<Exit>)> {
    let Held { slot, pid, exit, master, record } = *held;
    let watch = match exit {
        None => Watch::open(pid),
        Some(_) => Err(io::ErrorKind::NotFound.into()),
    };
    let missed = (exit.is_none() && watch.is_err()).then_some(Exit::Unknown);
    let watch = watch.and_then(|watch| watch.fd().try_clone_to_owned()).ok();
    let (master, record) =
        (master.as_fd().try_clone_to_owned()?, record.as_fd().try_clone_to_owned()?);
    let exit = exit.or(missed);
    Ok((ToKeeper::Adopt { slot, pid, exit, master, record, watch }, missed))
}

impl Hub {
    /// It did not say that it would go, so it died: another one is needed, and soon, as nobody else
    /// holds the terminals now.
    pub(super) fn keeper_is_gone(&mut self, error: io::Error) {
        if self.parting {
            self.end = Some(Ok(()));
            return;
        }
        self.stay();
        if std::mem::replace(&mut self.keeperless, true) {
            return;
        }
        process::complain(&format!("{error}; another keeper is started"));
        let (pause, news) = (self.rekeep.pause(clock::now()), self.to_hub.clone());
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let _ = news.send(News::Rekeep).await;
        });
    }

    pub(super) fn take_keeper(&mut self) {
        let unsaid = self.keeper.take_unsaid();
        match self.rekeep.start(clock::now()) {
            Ok((pid, link)) => {
                let number = self.keeper.number + 1;
                self.forget_successor();
                self.mux.host.keeper_pid = pid;
                self.mux.host.keeper_version = env!("CARGO_PKG_VERSION").to_owned();
                self.keeper = KeeperLine::new(link, self.to_hub.clone(), number);
                self.keeperless = false;
            }
            Err(error) => {
                self.end = Some(Err(error));
                return;
            }
        }
        if let Err(error) = self.hand_over(unsaid) {
            self.keeper_is_gone(error);
        }
    }

    /// One after another, as each takes descriptors until it is on its way.
    fn hand_over(&mut self, unsaid: Vec<ToKeeper>) -> io::Result<()> {
        self.keeper.send(self.rekeep.listener()?)?;
        self.keeper.send(ToKeeper::Keep { record: self.log.fd().try_clone_to_owned()? })?;
        let (mut missed, mut lost) = (Vec::new(), Vec::new());
        for (id, line) in &self.lines {
            let terminal = self.mux.get(*id);
            let Some(pid) = terminal.and_then(Terminal::pid) else {
                // Nobody knows whether it was started; if so, it hears a hang-up.
                lost.push(*id);
                continue;
            };
            let exit = terminal.and_then(Terminal::exit).map(keeper_exit);
            let (master, record) = (line.fd(), line.journal.fd());
            let held = Held { slot: SlotId(id.0), pid, exit, master, record };
            let (order, end) = adopt(&held)?;
            self.keeper.send(order)?;
            missed.extend(end.map(|end| (*id, end)));
        }
        for order in [ToKeeper::End].into_iter().chain(unsaid) {
            self.keeper.send(order)?;
        }
        for (id, end) in missed {
            self.ended(id, exit(end));
        }
        for id in lost {
            let failure =
                Failure::new(Code::System, "create: the keeper died meanwhile: try again");
            self.mux.on(Incoming::Started { id, result: Err(failure) }, clock::now());
        }
        Ok(())
    }
}
