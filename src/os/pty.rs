//! The pair of devices behind a terminal: open, read, write, size, and what the kernel knows.
#![allow(unsafe_code)]

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Winsize,
};

use super::explain;
use super::ready::Ready;
use crate::term::Size;

#[cfg(target_os = "linux")]
const DEVICE: OpenptFlags =
    OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);
/// Elsewhere the flag against inheriting has to be set afterwards.
#[cfg(not(target_os = "linux"))]
const DEVICE: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY);

pub struct Pty {
    pub master: OwnedFd,
    pub slave: OwnedFd,
}

/// A new pair of the given size: master non-blocking and in packet mode, slave with sane settings.
pub fn open(size: Size) -> io::Result<Pty> {
    let master = rustix::pty::openpt(DEVICE).map_err(no_device)?;
    rustix::io::ioctl_fioclex(&master)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let slave = open_slave(&master)?;
    make_sane(&slave)?;
    resize(master.as_fd(), size)?;
    set_packet_mode(&master)?;
    let status = rustix::fs::fcntl_getfl(&master)?;
    rustix::fs::fcntl_setfl(&master, status | OFlags::NONBLOCK)?;
    Ok(Pty { master, slave })
}

fn no_device(error: Errno) -> io::Error {
    match error {
        Errno::AGAIN | Errno::NOSPC => {
            explain(error, "the system has no terminal device left; raise kernel.pty.max")
        }
        _ => explain(error, "cannot open a terminal device"),
    }
}

/// Through the master itself: no name is looked up, so no other mount of devpts can interfere.
#[cfg(target_os = "linux")]
fn open_slave(master: &OwnedFd) -> io::Result<OwnedFd> {
    match rustix::pty::ioctl_tiocgptpeer(master, DEVICE) {
        Ok(slave) => Ok(slave),
        Err(_) => open_slave_by_name(master),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_slave(master: &OwnedFd) -> io::Result<OwnedFd> {
    open_slave_by_name(master)
}

fn open_slave_by_name(master: &OwnedFd) -> io::Result<OwnedFd> {
    let name = rustix::pty::ptsname(master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(&name, flags, rustix::fs::Mode::empty())?)
}

/// What a login on a modern terminal has; systems differ in what a new device starts with.
fn make_sane(slave: &OwnedFd) -> io::Result<()> {
    let mut tty = rustix::termios::tcgetattr(slave)?;
    tty.input_modes |= InputModes::ICRNL | InputModes::IXON;
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        tty.input_modes |= InputModes::IUTF8;
    }
    tty.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
    tty.local_modes |= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tty.local_modes |= LocalModes::ECHOE | LocalModes::ECHOK | LocalModes::IEXTEN;
    tty.local_modes |= LocalModes::ECHOCTL | LocalModes::ECHOKE;
    let keys = [
        (SpecialCodeIndex::VINTR, 0x03),
        (SpecialCodeIndex::VQUIT, 0x1c),
        (SpecialCodeIndex::VERASE, 0x7f),
        (SpecialCodeIndex::VKILL, 0x15),
        (SpecialCodeIndex::VEOF, 0x04),
        (SpecialCodeIndex::VSUSP, 0x1a),
    ];
    for (index, code) in keys {
        tty.special_codes[index] = code;
    }
    Ok(rustix::termios::tcsetattr(slave, OptionalActions::Now, &tty)?)
}

fn set_packet_mode(master: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: TIOCPKT reads one int through the pointer, which lives across the call.
    match unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCPKT as _, &raw const on) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// So many bytes of output are in the buffer.
    Data(usize),
    /// Something about the device changed; no output was taken.
    Status,
    WouldBlock,
    /// Nobody has the slave open any more, and all output has been read.
    Closed,
}

/// One read. In packet mode the kernel puts a byte before the output, which tells data from status.
pub fn read(master: BorrowedFd<'_>, buf: &mut [u8]) -> Read {
    let mut kind = [0xff];
    loop {
        let mut parts = [IoSliceMut::new(&mut kind), IoSliceMut::new(buf)];
        match rustix::io::readv(master, &mut parts) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Read::WouldBlock,
            Err(_) | Ok(0) => return Read::Closed,
            Ok(count) if kind[0] == 0 && count > 1 => return Read::Data(count - 1),
            Ok(_) => return Read::Status,
        }
    }
}

/// Bytes of output that a read would find. More may come at any time, none can go.
pub fn waiting(master: BorrowedFd<'_>) -> io::Result<usize> {
    Ok(usize::try_from(rustix::io::ioctl_fionread(master)?).unwrap_or(0))
}

/// One read whose parts go where they are told: the kernel's own byte first, then the output.
///
/// # Safety
/// `target` must have room for `length` bytes that nobody else uses during the call.
pub unsafe fn read_into(
    master: BorrowedFd<'_>,
    kind: &AtomicU8,
    target: *mut u8,
    length: usize,
) -> Read {
    let parts = [
        libc::iovec { iov_base: kind.as_ptr().cast(), iov_len: 1 },
        libc::iovec { iov_base: target.cast(), iov_len: length },
    ];
    let used = if length == 0 { 1 } else { 2 };
    loop {
        // SAFETY: the first part is one byte that may be written through a shared reference, the
        // second is the caller's promise.
        let count = unsafe { libc::readv(master.as_raw_fd(), parts.as_ptr(), used) };
        match usize::try_from(count) {
            Ok(0) => return Read::Closed,
            Ok(count) if kind.load(Ordering::Acquire) == 0 && count > 1 => {
                return Read::Data(count - 1);
            }
            Ok(_) => return Read::Status,
            Err(_) => match io::Error::last_os_error().kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => return Read::WouldBlock,
                _ => return Read::Closed,
            },
        }
    }
}

/// Reads by `read`, and re-arms `ready` when there is nothing left.
pub fn read_ready(ready: &Ready, read: impl FnOnce(BorrowedFd<'_>) -> Read) -> Read {
    let attempt = ready.try_read(|master| match read(master) {
        Read::WouldBlock => Err(io::ErrorKind::WouldBlock.into()),
        got => Ok(got),
    });
    attempt.unwrap_or(Read::WouldBlock)
}

/// Writes what the kernel takes now; 0 when the program does not read.
pub fn write(master: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::io::write(master, bytes) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(0),
            result => return Ok(result?),
        }
    }
}

/// `write` that re-arms `ready` when the kernel takes nothing.
pub fn write_ready(ready: &Ready, bytes: &[u8]) -> io::Result<usize> {
    let attempt = ready.try_write(|master| match write(master, bytes)? {
        0 if !bytes.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
        count => Ok(count),
    });
    match attempt {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}

/// The kernel tells the foreground programs by SIGWINCH.
pub fn resize(master: BorrowedFd<'_>, size: Size) -> io::Result<()> {
    let winsize = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(rustix::termios::tcsetwinsize(master, winsize)?)
}

pub fn size(master: BorrowedFd<'_>) -> io::Result<Size> {
    let winsize = rustix::termios::tcgetwinsize(master)?;
    Ok(Size { cols: winsize.ws_col, rows: winsize.ws_row })
}

/// The process group that reads the keyboard now.
pub fn foreground(master: BorrowedFd<'_>) -> Option<u32> {
    let group = rustix::termios::tcgetpgrp(master).ok()?;
    u32::try_from(group.as_raw_nonzero().get()).ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TtyFlags {
    pub echo: bool,
    pub canonical: bool,
}

pub fn flags(master: BorrowedFd<'_>) -> Option<TtyFlags> {
    let modes = rustix::termios::tcgetattr(master).ok()?.local_modes;
    let echo = modes.contains(LocalModes::ECHO);
    Some(TtyFlags { echo, canonical: modes.contains(LocalModes::ICANON) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 80, rows: 24 };

    fn say(pty: &Pty, text: &str) {
        rustix::io::write(&pty.slave, text.as_bytes()).unwrap();
    }

    /// Output passes through a kernel thread, so it may come a little later than it was written.
    fn wait(fd: &OwnedFd) {
        use rustix::event::{PollFd, PollFlags, poll};
        poll(&mut [PollFd::new(fd, PollFlags::IN)], None).unwrap();
    }

    fn output(pty: &Pty, length: usize) -> String {
        let mut text = Vec::new();
        while text.len() < length {
            wait(&pty.master);
            let mut buf = [0; 4096];
            if let Read::Data(count) = read(pty.master.as_fd(), &mut buf) {
                text.extend_from_slice(&buf[..count]);
            }
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn output_is_read_with_its_newlines_translated() {
        let pty = open(SIZE).unwrap();
        assert_eq!(read(pty.master.as_fd(), &mut [0; 8]), Read::WouldBlock);
        say(&pty, "a\nb");
        assert_eq!(output(&pty, 4), "a\r\nb");
    }

    #[test]
    fn a_small_buffer_takes_output_in_pieces() {
        let pty = open(SIZE).unwrap();
        say(&pty, "abcde");
        wait(&pty.master);
        let mut buf = [0; 2];
        assert_eq!(read(pty.master.as_fd(), &mut buf), Read::Data(2));
        assert_eq!(&buf, b"ab");
        assert_eq!(output(&pty, 3), "cde");
    }

    #[test]
    fn typed_text_is_echoed_and_reaches_the_program() {
        let pty = open(SIZE).unwrap();
        assert_eq!(write(pty.master.as_fd(), "hé\x7f\r".as_bytes()).unwrap(), 5);
        // One backspace takes away both bytes of the é: the device knows UTF-8.
        assert_eq!(output(&pty, 8), "hé\x08 \x08\r\n");
        wait(&pty.slave);
        let mut line = [0; 16];
        let count = rustix::io::read(&pty.slave, &mut line).unwrap();
        assert_eq!(&line[..count], b"h\n");
    }

    #[test]
    fn a_program_that_does_not_read_stops_the_writer_without_blocking_it() {
        let pty = open(SIZE).unwrap();
        let chunk = [b'x'; 4096];
        let mut total = 0;
        while let Ok(count @ 1..) = write(pty.master.as_fd(), &chunk) {
            total += count;
            assert!(total < 1 << 20, "the kernel's buffer has an end");
        }
        assert_eq!(write(pty.master.as_fd(), b"y").unwrap(), 0);
    }

    #[test]
    fn the_last_output_is_read_before_closed() {
        let Pty { master, slave } = open(SIZE).unwrap();
        rustix::io::write(&slave, b"bye").unwrap();
        drop(slave);
        let mut buf = [0; 16];
        let mut seen = Vec::new();
        loop {
            match read(master.as_fd(), &mut buf) {
                Read::Data(count) => seen.extend_from_slice(&buf[..count]),
                Read::Closed => break,
                Read::Status | Read::WouldBlock => wait(&master),
            }
        }
        assert_eq!(seen, b"bye");
    }

    #[test]
    fn a_flush_by_the_program_is_a_status_and_no_data() {
        let pty = open(SIZE).unwrap();
        rustix::termios::tcflush(&pty.slave, rustix::termios::QueueSelector::IFlush).unwrap();
        assert_eq!(read(pty.master.as_fd(), &mut [0; 8]), Read::Status);
        assert_eq!(read(pty.master.as_fd(), &mut [0; 8]), Read::WouldBlock);
    }

    #[test]
    fn size_and_flags_are_what_was_set() {
        let pty = open(Size { cols: 132, rows: 43 }).unwrap();
        assert_eq!(size(pty.master.as_fd()).unwrap(), Size { cols: 132, rows: 43 });
        resize(pty.master.as_fd(), SIZE).unwrap();
        assert_eq!(size(pty.master.as_fd()).unwrap(), SIZE);
        assert_eq!(flags(pty.master.as_fd()), Some(TtyFlags { echo: true, canonical: true }));
        assert_eq!(foreground(pty.master.as_fd()), None);
    }
}
