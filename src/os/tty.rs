//! The terminal this process runs in, as far as it is read.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::buffer::spare_capacity;
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
