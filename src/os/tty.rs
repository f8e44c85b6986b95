//! The terminal this process runs in, as far as it is read.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

/// What was typed; an error when the terminal is gone.
pub fn read(tty: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(tty, &mut *buffer) {
            Err(Errno::INTR) => {}
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            result => return Ok(result?),
        }
    }
}
