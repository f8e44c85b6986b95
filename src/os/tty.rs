//! The terminal that a person sits at: this process's own, or one that was lent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// What was typed, to the end of `buffer` as far as it has room; an error when the terminal is gone.
pub fn read(tty: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        match rustix::io::read(tty, spare_capacity(buffer)) {
            Err(Errno::INTR) => {}
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            result => return Ok(result?),
        }
    }
}

/// Writes what the terminal takes.
pub fn write(tty: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::io::write(tty, bytes) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// The terminal that this process reads and writes, opened anew: whether it waits is then its own
/// affair and not that of the shell, which has the same one.
pub fn own() -> io::Result<OwnedFd> {
    let (stdin, stdout) = (rustix::stdio::stdin(), rustix::stdio::stdout());
    let name = rustix::termios::ttyname(stdin, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let tty = rustix::fs::open(&name, flags, Mode::empty())?;
    let device = |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).map(|stat| stat.st_rdev);
    let wanted = device(tty.as_fd())?;
    match device(stdin)? == wanted && device(stdout)? == wanted {
        true => Ok(tty),
        false => Err(io::Error::other("input and output are not one terminal")),
    }
}

/// A descriptor that someone lent: a terminal, and one that does not make its reader wait.
pub fn lent(fd: OwnedFd) -> io::Result<OwnedFd> {
    if !rustix::termios::isatty(&fd) {
        return Err(io::Error::other("it is not a terminal"));
    }
    rustix::io::ioctl_fionbio(&fd, true)?;
    Ok(fd)
}
