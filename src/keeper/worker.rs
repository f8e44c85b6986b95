//! Starting the worker, and how long to wait before the next one.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::message::Exit;
use crate::os::channel;
use crate::os::limits::Limits;
use crate::os::pidfd::Watch;
use crate::os::program::Program;

const FIRST_DELAY: Duration = Duration::from_millis(50);
const LONGEST_DELAY: Duration = Duration::from_secs(5);
/// After one that was killed.
const KILLED_DELAY: Duration = Duration::from_millis(20);
/// A worker that lived so long was no failure to start.
pub const LONG_LIFE: Duration = Duration::from_secs(1);
/// What systemd told the keeper alone.
const NOT_FOR_WORKERS: [&str; 4] = ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"];

pub struct Worker {
    pub pid: u32,
    /// None when it was told to go, or hung up, and has not ended yet.
    pub link: Option<OwnedFd>,
    pub started: Instant,
    /// It has taken over.
    pub serving: bool,
    /// It hung up, and has to end by itself until then.
    pub hung_up: Option<Instant>,
    /// The keeper has killed it.
    pub dismissed: bool,
    pub late: bool,
    /// One that was there before this keeper, and is not its child.
    pub watch: Option<Watch>,
}

impl Worker {
    pub fn new(pid: u32, link: OwnedFd, started: Instant) -> Worker {
        let (serving, dismissed, late) = (false, false, false);
        let (hung_up, watch) = (None, None);
        Worker { pid, link: Some(link), started, serving, hung_up, dismissed, late, watch }
    }
}

/// How to start one.
pub struct Plan {
    pub program: Program,
    pub idle_timeout_ms: Option<u64>,
    pub scrollback_total_bytes: Option<usize>,
    /// Where the server is reached, when that is not the usual place.
    pub socket: Option<PathBuf>,
    /// What programs may use, for a keeper that has to take over.
    pub limits: Limits,
}

impl Plan {
    /// `crashed` is the number of the worker before it, if that ended by itself.
    pub fn start(
        &self,
        program: &Program,
        crashed: Option<u32>,
        now: Instant,
    ) -> io::Result<Worker> {
        let (link, end) = channel::pair()?;
        let mut command = Command::new(program.path()?);
        command.arg0("t4a").args(["__worker", "--limits", &self.limits.to_text()]);
        command.args(["--keeper-version", env!("CARGO_PKG_VERSION")]);
        if let Some(timeout) = self.idle_timeout_ms {
            command.arg("--idle-timeout-ms").arg(timeout.to_string());
        }
        if let Some(crashed) = crashed {
            command.arg("--crashed").arg(crashed.to_string());
        }
        if let Some(bytes) = self.scrollback_total_bytes {
            command.arg("--scrollback-total-bytes").arg(bytes.to_string());
        }
        if let Some(socket) = &self.socket {
            command.env("T4A_SOCKET", socket);
        }
        for name in NOT_FOR_WORKERS {
            command.env_remove(name);
        }
        // A group of its own: Ctrl-C is for the keeper, which ends the worker last.
        command.process_group(0).stdin(Stdio::from(end));
        // Reaped by the keeper's own loop, like all its children.
        let pid = command.spawn()?.id();
        Ok(Worker::new(pid, link, now))
    }
}

/// Grows while workers die young.
#[derive(Debug, Default)]
pub struct Backoff(Option<Duration>);

impl Backoff {
    /// How long to wait after a worker that lived for `life`. One that was killed did not fail by
    /// itself, but may be killed again by the same cause: there is a pause, which does not grow.
    pub fn after(&mut self, life: Duration, exit: Option<Exit>) -> Duration {
        self.0 = match self.0 {
            _ if life >= LONG_LIFE => None,
            _ if exit == Some(Exit::Signal(libc::SIGKILL)) => Some(KILLED_DELAY),
            None => Some(FIRST_DELAY),
            Some(delay) => Some((delay * 2).min(LONGEST_DELAY)),
        };
        self.0.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_die_young_are_waited_for_longer_and_longer() {
        let mut backoff = Backoff::default();
        let code = Some(Exit::Code(101));
        let mut after = |millis| backoff.after(Duration::from_millis(millis), code).as_millis();
        assert_eq!([after(1500), after(0), after(999), after(3)], [0, 50, 100, 200]);
        assert_eq!([after(1000), after(5)], [0, 50]);
        assert_eq!((0..20).map(|_| after(1)).last(), Some(5000));
        let killed = Some(Exit::Signal(libc::SIGKILL));
        assert_eq!(backoff.after(Duration::ZERO, killed), KILLED_DELAY);
        assert_eq!(backoff.after(Duration::ZERO, killed), KILLED_DELAY);
    }
}
