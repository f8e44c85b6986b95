//! The worker's end of the channel to the keeper.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::message::{FromKeeper, LENGTH, ToKeeper};
use crate::os::{channel, poll, process, ready::Ready};

pub struct Link(Ready);

impl Link {
    /// The keeper starts a worker with the channel as its standard input. Inside a tokio runtime.
    pub fn from_stdin() -> io::Result<Link> {
        let fd = io::stdin().as_fd().try_clone_to_owned()?;
        process::null_stdin()?;
        Link::new(fd)
    }

    pub fn new(fd: OwnedFd) -> io::Result<Link> {
        Ok(Link(Ready::new(fd)?))
    }

    /// The next message. An error means that the keeper is gone, and the worker has to end.
    pub async fn recv(&self) -> io::Result<FromKeeper> {
        loop {
            self.0.readable().await?;
            match self.0.try_read(receive) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }

    /// Sends at once or not at all; `WouldBlock` when the keeper is very far behind.
    pub fn send<Fd: AsFd>(&self, message: &ToKeeper<Fd>) -> io::Result<()> {
        let packed = message.pack();
        self.0.try_write(|fd| channel::send(fd, &packed.bytes, &packed.fds))
    }

    /// Whether the keeper is alive, even if it has not been heard to its end.
    pub fn is_open(&self) -> bool {
        !poll::is_hung_up(self.0.fd())
    }

    /// Waits for room to `send`.
    pub async fn writable(&self) -> io::Result<()> {
        self.0.writable().await
    }
}

fn receive(fd: BorrowedFd<'_>) -> io::Result<FromKeeper> {
    let mut bytes = [0; LENGTH];
    let gone = || io::Error::new(io::ErrorKind::UnexpectedEof, "the keeper is gone");
    let packet = channel::receive(fd, &mut bytes)?.ok_or_else(gone)?;
    if packet.lost_fds {
        return Err(io::Error::other("too many open files to take over a terminal"));
    }
    let message = FromKeeper::unpack(&bytes[..packet.length], packet.fds);
    message.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the keeper speaks nonsense"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::message::{Exit, SlotId};

    fn pair() -> (Link, OwnedFd) {
        let (near, far) = channel::pair().unwrap();
        (Link::new(near).unwrap(), far)
    }

    fn say(far: &OwnedFd, message: &FromKeeper) {
        let packed = message.pack();
        channel::send(far.as_fd(), &packed.bytes, &packed.fds).unwrap();
    }

    #[tokio::test]
    async fn messages_arrive_in_order_and_then_the_end() {
        let (link, far) = pair();
        let (slot, exit) = (SlotId(3), Exit::Code(7));
        say(&far, &FromKeeper::Spawned { slot, pid: 9 });
        say(&far, &FromKeeper::Exited { slot, exit });
        assert!(link.is_open());
        drop(far);
        // A process that another test forks has it for a moment.
        while link.is_open() {
            std::thread::yield_now();
        }
        assert!(matches!(link.recv().await.unwrap(), FromKeeper::Spawned { pid: 9, .. }));
        assert!(
            matches!(link.recv().await.unwrap(), FromKeeper::Exited { exit: e, .. } if e == exit)
        );
        let error = link.recv().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[tokio::test]
    async fn nonsense_is_an_error() {
        let (link, far) = pair();
        channel::send(far.as_fd(), &[0; LENGTH], &[]).unwrap();
        assert_eq!(link.recv().await.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[tokio::test]
    async fn sending_never_waits() {
        let (link, far) = pair();
        let message: ToKeeper = ToKeeper::Forget { slot: SlotId(1) };
        link.writable().await.unwrap();
        let error = loop {
            if let Err(error) = link.send(&message) {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        while matches!(channel::receive(far.as_fd(), &mut [0; LENGTH]), Ok(Some(_))) {}
        link.writable().await.unwrap();
        link.send(&message).unwrap();
    }
}
