//! A connection that is read as far as there is something to read.

use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::os::socket;

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

    /// Sends a whole line, waiting if need be.
    pub fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.stream.write_all(line)
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
        let mut chunk = [0; READ_CHUNK];
        let most = self.buffer.len() + MAX_TAKEN;
        while self.buffer.len() < most {
            match socket::read_now(self.fd(), &mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.buffer.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
