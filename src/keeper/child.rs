//! The way from a fork to the program in a new terminal.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::descriptors;
use super::spec::{ChildFailure, Spec};
use crate::journal;
use crate::os::limits::Limits;

/// The exit code that shells give when a command cannot be run.
const NOT_RUN: c_int = 127;
const LAST_SIGNAL: c_int = 31;

pub struct Parts {
    pub slave: OwnedFd,
    pub spec: OwnedFd,
    pub status: OwnedFd,
}

/// Forks; the child becomes what the spec says or reports through the status pipe why not.
///
/// In `memory`, the terminal's own, it notes that too.
pub fn spawn(parts: Parts, memory: BorrowedFd<'_>, limits: &Limits) -> io::Result<u32> {
    // A signal that hit the child before its dispositions are reset would run the keeper's handler
    // there and reach the keeper's own pipe.
    let mask = block_signals();
    // SAFETY: the keeper has one thread, so the child may allocate and lock as its parent could.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        run(parts, memory, limits);
    }
    let error = io::Error::last_os_error();
    set_mask(&mask);
    u32::try_from(pid).map_err(|_| error)
}

fn run(parts: Parts, memory: BorrowedFd<'_>, limits: &Limits) -> ! {
    let mut status = File::from(parts.status);
    let failure = become_program(&parts.slave, parts.spec, limits);
    let _ = journal::mark_unstarted(memory);
    // SAFETY: sets a disposition; nobody may be left to read, and that is not to be the end.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let _ = status.write_all(&failure.to_bytes());
    // SAFETY: ends the process at once; the keeper's destructors must not run a second time.
    unsafe { libc::_exit(NOT_RUN) }
}

/// Comes back only with a failure.
fn become_program(slave: &OwnedFd, spec: OwnedFd, limits: &Limits) -> ChildFailure {
    default_signals();
    if let Err(error) = take_terminal(slave) {
        return ChildFailure::Tty(errno(&error));
    }
    limits.restore();
    let Some(spec) = Spec::decode(&File::from(spec)) else { return ChildFailure::Spec };
    let Some((name, arguments)) = spec.argv.split_first() else { return ChildFailure::Spec };
    if let Err(error) = std::env::set_current_dir(&spec.cwd) {
        return ChildFailure::Cwd(errno(&error));
    }
    descriptors::close_on_exec();
    let mut command = Command::new(&spec.program);
    command.arg0(name).args(arguments).env_clear().envs(spec.env);
    ChildFailure::Exec(errno(&command.exec()))
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EINVAL)
}

/// A session of its own, with the slave as its controlling terminal and as descriptors 0, 1 and 2.
fn take_terminal(slave: &OwnedFd) -> io::Result<()> {
    let slave = slave.as_raw_fd();
    // SAFETY: plain system calls on a descriptor that is open; no memory is involved.
    unsafe {
        check(libc::setsid())?;
        check(libc::ioctl(slave, libc::TIOCSCTTY as _, 0))?;
        for standard in 0..=2 {
            check(libc::dup2(slave, standard))?;
        }
    }
    Ok(())
}

fn check(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Ignored signals would stay ignored in the program; handlers must not run in this process.
fn default_signals() {
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: sets a default disposition; the kernel refuses it for SIGKILL and SIGSTOP.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    set_mask(&empty_mask());
}

fn block_signals() -> libc::sigset_t {
    let mut all = empty_mask();
    let mut old = empty_mask();
    // SAFETY: both sets are initialised and live across the calls.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
    }
    old
}

fn set_mask(mask: &libc::sigset_t) {
    // SAFETY: the set is initialised; the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}

fn empty_mask() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the whole set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    }
}
