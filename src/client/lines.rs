//! A connection that is read as far as there is something to read.

use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::os::{channel, socket};

const READ_CHUNK: usize = 64 << 10;
/// Bytes taken at a time, so that whoever reads a flood gets to do other things.
const MAX_TAKEN: usize = 1 << 20;

pub struct Lines {
    pub(super) stream: UnixStream,
    /// The beginning of a line.
    pub(super) buffer: Vec<u8>,
}

impl Lines {
    /// Readable when there may be lines.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Sends whole lines, waiting if need be.
    pub fn send(&mut self, lines: &[u8]) -> io::Result<()> {
        self.stream.write_all(lines)
    }

    /// Sends a line with a descriptor, which goes with its first byte.
    pub fn send_with(&mut self, line: &[u8], fd: OwnedFd) -> io::Result<()> {
        let (first, rest) = line.split_at(1);
        channel::send(self.stream.as_fd(), first, &[fd.as_fd()])?;
        self.send(rest)
    }

    /// Hands over the lines that have come; does not wait. An error when there will be no more.
    pub fn take(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let ended = self.fill();
        let whole = self.buffer.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = self.buffer[..whole].split(|byte| *byte == b'\n');
        lines.filter(|line| !line.is_empty()).for_each(&mut each);
        self.buffer.drain(..whole);
        ended
    }

    fn fill(&mut self) -> io::Result<()> {
        let most = self.buffer.len() + MAX_TAKEN;
        while self.buffer.len() < most {
            self.buffer.reserve(READ_CHUNK);
            let room = self.buffer.capacity() - self.buffer.len();
            match socket::read_now(self.stream.as_fd(), &mut self.buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) if count == room => {}
                // That was all; if more comes, it can be read again.
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
