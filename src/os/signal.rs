//! Signals to children, and their ends.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::inspect;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Nobody could tell: its parent was gone, and the kernel is old.
    Unknown,
}

impl Exit {
    fn of(status: WaitStatus) -> Option<Exit> {
        let code = status.exit_status().map(Exit::Code);
        code.or_else(|| status.terminating_signal().map(Exit::Signal))
    }
}

/// A child that has ended, taken from the kernel; never waits.
pub fn reap() -> Option<(u32, Exit)> {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Err(Errno::INTR) => {}
            Ok(Some((pid, status))) => {
                // Stops are not asked for, so every report is an end.
                if let Some(exit) = Exit::of(status) {
                    return Some((pid.as_raw_nonzero().get().cast_unsigned(), exit));
                }
            }
            _ => return None,
        }
    }
}

/// Signals the process group of a child. The child must not have been reaped yet.
pub fn signal_group(pid: u32, signal: i32) -> io::Result<()> {
    let (pid, signal) = (to_pid(pid)?, to_signal(signal)?);
    match rustix::process::kill_process_group(pid, signal) {
        // A child that has just been forked has no group of its own yet.
        Err(Errno::SRCH) => Ok(rustix::process::kill_process(pid, signal)?),
        result => Ok(result?),
    }
}

/// Whether a process group has any member, be it one that has ended and was not reaped.
pub fn group_exists(group: u32) -> bool {
    to_pid(group).is_ok_and(|group| rustix::process::test_kill_process_group(group).is_ok())
}

pub fn signal_process(pid: u32, signal: i32) -> io::Result<()> {
    Ok(rustix::process::kill_process(to_pid(pid)?, to_signal(signal)?)?)
}

/// Signals the programs that read the keyboard, if they belong to the session of `leader`; else
/// the leader's own group.
pub fn signal_foreground(master: BorrowedFd<'_>, leader: u32, signal: i32) -> io::Result<()> {
    match foreground_of(master, leader) {
        Some(group) => Ok(rustix::process::kill_process_group(to_pid(group)?, to_signal(signal)?)?),
        None => signal_group(leader, signal),
    }
}

/// The group that reads the keyboard, if it belongs to the session of `leader`.
///
/// A terminal remembers its foreground group even when the number belongs to strangers by now.
pub fn foreground_of(master: BorrowedFd<'_>, leader: u32) -> Option<u32> {
    let group = super::pty::foreground(master)?;
    inspect::group_in_session(group, leader).then_some(group)
}

fn to_pid(pid: u32) -> io::Result<Pid> {
    // 1 and below mean "everyone" in one call or another.
    let raw = i32::try_from(pid).ok().filter(|raw| *raw > 1);
    raw.and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn to_signal(signal: i32) -> io::Result<Signal> {
    Signal::from_named_raw(signal).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Puts this process to sleep; comes back when it goes on. Not by SIGTSTP, which a process whose
/// shell has no job control would never hear.
pub fn stop_self() {
    let own = rustix::process::getpid();
    let _ = rustix::process::kill_process(own, rustix::process::Signal::STOP);
}

/// A write beyond the limit of a file's size fails, instead of ending this process.
pub fn ignore_file_limit() {
    // A handler, not SIG_IGN, which programs started from here would inherit.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, std::sync::Arc::default());
}

/// Signals that would end this process.
pub const ENDS: &[i32] = {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    &[SIGTERM, SIGHUP, SIGINT, SIGQUIT]
};
/// The terminal has another size.
pub const RESIZES: &[i32] = &[signal_hook::consts::SIGWINCH];

/// Signals that this process hears of when it looks, instead of what they would do.
pub struct Heard {
    wake: UnixStream,
}

impl Heard {
    pub fn of(signals: &[i32]) -> io::Result<Heard> {
        let (wake, write) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        for signal in signals {
            signal_hook::low_level::pipe::register(*signal, write.try_clone()?)?;
        }
        Ok(Heard { wake })
    }

    /// Readable when one came.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Whether any came since it was asked last.
    pub fn any(&mut self) -> bool {
        let mut any = false;
        while matches!(self.wake.read(&mut [0; 64]), Ok(1..)) {
            any = true;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pids_that_mean_everyone_and_numbers_that_are_no_signals_are_refused() {
        for pid in [0, 1, u32::MAX] {
            assert_eq!(to_pid(pid).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{pid}");
        }
        for signal in [0, -1, 4711] {
            assert!(to_signal(signal).is_err(), "{signal}");
        }
        assert_eq!(to_signal(libc::SIGTERM).unwrap(), Signal::TERM);
    }
}
