//! Small messages and file descriptors between two processes of ours.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::LazyLock;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sockopt,
};

/// Descriptors that one message may carry.
pub const MAX_FDS: usize = 8;
/// Asked of the kernel for each direction: about two thousand messages on the way.
const BUFFER: usize = 2 << 20;

/// Keeps the bounds of messages.
#[cfg(target_os = "linux")]
const KIND: SocketType = SocketType::SEQPACKET;
/// Elsewhere a stream, on which all messages have the same length.
#[cfg(not(target_os = "linux"))]
const KIND: SocketType = SocketType::STREAM;

/// Two connected ends, closed on exec and non-blocking.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (a, b) = open_pair()?;
    for end in [&a, &b] {
        // The kernel may give less; that only means earlier waiting.
        let _ = sockopt::set_socket_send_buffer_size(end, BUFFER);
    }
    Ok((a, b))
}

#[cfg(target_os = "linux")]
fn open_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socketpair(AddressFamily::UNIX, KIND, flags, None)?)
}

#[cfg(not(target_os = "linux"))]
fn open_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (a, b) = rustix::net::socketpair(AddressFamily::UNIX, KIND, SocketFlags::empty(), None)?;
    for end in [&a, &b] {
        rustix::io::ioctl_fioclex(end)?;
        rustix::io::ioctl_fionbio(end, true)?;
    }
    Ok((a, b))
}

/// Sends one message or none; never waits. `WouldBlock`: the other end has to read first.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let too_many = || io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors");
    if fds.len() > MAX_FDS {
        return Err(too_many());
    }
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(too_many());
    }
    loop {
        match rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, send_flags()) {
            Err(Errno::INTR) => {}
            Ok(count) if count == bytes.len() => return Ok(()),
            Ok(_) => return Err(io::Error::other("a message was cut")),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Sends some bytes of a stream such that no read of the other end goes on past them: they carry a
/// descriptor, which the kernel drops with a reader that does not ask for any.
pub fn send_alone(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    static NOTHING: LazyLock<io::Result<File>> = LazyLock::new(|| File::open("/dev/null"));
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<BorrowedFd<'_>> = NOTHING.as_ref().map(AsFd::as_fd).into_iter().collect();
    control.push(SendAncillaryMessage::ScmRights(&fds));
    loop {
        match rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, send_flags()) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

#[cfg(not(target_vendor = "apple"))]
fn send_flags() -> SendFlags {
    SendFlags::NOSIGNAL | SendFlags::DONTWAIT
}

/// There SIGPIPE is ignored by Rust's start-up code instead.
#[cfg(target_vendor = "apple")]
fn send_flags() -> SendFlags {
    SendFlags::DONTWAIT
}

pub struct Packet {
    pub length: usize,
    pub fds: Vec<OwnedFd>,
    /// The kernel had to throw descriptors away: this process has too many open.
    pub lost_fds: bool,
}

/// The next message; `None` when the other end is closed. Never waits.
pub fn receive(socket: BorrowedFd<'_>, buf: &mut [u8]) -> io::Result<Option<Packet>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        let mut parts = [IoSliceMut::new(buf)];
        match rustix::net::recvmsg(socket, &mut parts, &mut control, receive_flags()) {
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) => return Ok(None),
            result => break result?,
        }
    };
    let fds = take_fds(&mut control);
    let lost_fds = got.flags.contains(ReturnFlags::CTRUNC);
    let closed = got.bytes == 0 && fds.is_empty() && !lost_fds;
    Ok((!closed).then_some(Packet { length: got.bytes, fds, lost_fds }))
}

fn take_fds(control: &mut RecvAncillaryBuffer<'_>) -> Vec<OwnedFd> {
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    #[cfg(target_vendor = "apple")]
    for fd in &fds {
        let _ = rustix::io::ioctl_fioclex(fd);
    }
    fds
}

#[cfg(not(target_vendor = "apple"))]
fn receive_flags() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT
}

#[cfg(target_vendor = "apple")]
fn receive_flags() -> RecvFlags {
    RecvFlags::DONTWAIT
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::os::poll;

    fn take(socket: &OwnedFd) -> (Vec<u8>, usize) {
        let mut buf = [0; 64];
        let packet = receive(socket.as_fd(), &mut buf).unwrap().unwrap();
        (buf[..packet.length].to_vec(), packet.fds.len())
    }

    #[test]
    fn messages_and_descriptors_arrive_together_and_apart() {
        let (a, b) = pair().unwrap();
        send(a.as_fd(), b"one.", &[a.as_fd(), b.as_fd()]).unwrap();
        send(a.as_fd(), b"two.", &[]).unwrap();
        assert_eq!(take(&b), (b"one.".to_vec(), 2));
        assert_eq!(take(&b), (b"two.".to_vec(), 0));
        let nothing = receive(b.as_fd(), &mut [0; 4]).err().unwrap();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_passed_descriptor_reaches_the_same_file() {
        let (a, b) = pair().unwrap();
        let file = crate::os::memory::memory_file("t4a-test").unwrap();
        send(a.as_fd(), b"file", &[file.as_fd()]).unwrap();
        let packet = receive(b.as_fd(), &mut [0; 4]).unwrap().unwrap();
        rustix::io::pwrite(&packet.fds[0], b"x", 0).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 1);
        let flags = rustix::io::fcntl_getfd(&packet.fds[0]).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }

    /// A client of the first protocol description reads a header so: with what follows, if it can.
    #[test]
    fn a_read_ends_behind_what_was_sent_alone() {
        use std::io::{Read, Write};
        use std::os::unix::net::UnixStream;
        let (mut server, mut client) = UnixStream::pair().unwrap();
        assert_eq!(send_alone(server.as_fd(), b"header\n").unwrap(), 7);
        server.write_all(b"picture").unwrap();
        let mut buf = [0; 4096];
        assert_eq!(client.read(&mut buf).unwrap(), 7);
        assert_eq!(client.read(&mut buf).unwrap(), 7);
    }

    #[test]
    fn a_full_channel_says_so_and_a_closed_one_too() {
        let (a, _b) = pair().unwrap();
        let mut count = 0;
        let error = loop {
            match send(a.as_fd(), &[0; 32], &[]) {
                Ok(()) => count += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(count > 100, "only {count} messages fit");
        let (a, b) = pair().unwrap();
        drop(b);
        // A process that another test forks has it for a moment.
        poll::wait_for_hangup(a.as_fd());
        assert_eq!(send(a.as_fd(), &[0; 32], &[]).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert!(receive(a.as_fd(), &mut [0; 4]).unwrap().is_none());
    }

    #[test]
    fn too_many_descriptors_are_refused_before_sending() {
        let (a, _b) = pair().unwrap();
        let fds = [a.as_fd(); MAX_FDS + 1];
        let error = send(a.as_fd(), b"x", &fds).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
