//! Waiting for descriptors without a runtime.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Sleeps until something can be read from one of `read`, or written to `write`, or time is up.
/// A signal ends it too.
pub fn wait(
    read: &[BorrowedFd<'_>],
    write: Option<BorrowedFd<'_>>,
    timeout: Option<Duration>,
) -> io::Result<()> {
    let reading = read.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN));
    let writing = write.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT));
    let mut fds: Vec<_> = reading.chain(writing).collect();
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether there is something to read now.
pub fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut fds, Some(&now)), Ok(1..))
}

/// Whether nobody is left at the other end.
pub fn is_hung_up(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut fds, Some(&now)), Ok(1..))
}

/// Sleeps until something can be read from one of a few descriptors, or time is up; which of them.
/// A signal ends it too.
pub fn readable<const N: usize>(
    fds: [Option<BorrowedFd<'_>>; N],
    timeout: Duration,
) -> io::Result<[bool; N]> {
    let mut polled: Vec<PollFd<'_>> =
        fds.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let timeout = Timespec::try_from(timeout).ok();
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok([false; N]),
        Err(error) => return Err(error.into()),
    }
    let mut polled = polled.iter();
    Ok(fds.map(|fd| fd.is_some() && polled.next().is_some_and(|fd| !fd.revents().is_empty())))
}

/// Sleeps until nobody is left to read what is written to `fd`.
pub fn wait_for_hangup(fd: BorrowedFd<'_>) {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::empty())];
    while matches!(poll(&mut fds, None), Ok(0) | Err(Errno::INTR)) {}
}
