//! Waiting for a descriptor inside tokio, in one place.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A non-blocking descriptor that can be awaited.
///
/// `readable` comes back at once, again and again, until a `try_read` has met `WouldBlock`; only
/// that arms it anew. So whoever waits may tell another to read: nothing is lost in between.
pub struct Ready(AsyncFd<OwnedFd>);

impl Ready {
    /// Must be called inside a tokio runtime.
    pub fn new(fd: OwnedFd) -> io::Result<Ready> {
        // SAFETY: an OwnedFd gives the same open descriptor for all its life, and it lives in the
        // AsyncFd until that is deregistered.
        let registered = unsafe { AsyncFd::register(fd) };
        Ok(Ready(registered.map_err(io::Error::from)?))
    }

    /// For one that is written to directly: nobody is woken because it can be written to, which is told
    /// after each time that its reader has read.
    pub fn for_reading(fd: OwnedFd) -> io::Result<Ready> {
        // SAFETY: as above.
        let registered = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
        Ok(Ready(registered.map_err(io::Error::from)?))
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }

    pub fn into_inner(self) -> OwnedFd {
        self.0.into_inner()
    }

    pub async fn readable(&self) -> io::Result<()> {
        self.0.readable().await.map(|mut guard| guard.retain_ready())
    }

    /// Whether there may be something to read; if not, the task is woken when there is.
    pub fn is_readable(&self, context: &mut Context<'_>) -> bool {
        match self.0.poll_read_ready(context) {
            Poll::Ready(Ok(mut guard)) => {
                guard.retain_ready();
                true
            }
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }

    pub async fn writable(&self) -> io::Result<()> {
        self.0.writable().await.map(|mut guard| guard.retain_ready())
    }

    /// Runs `read` if the descriptor may be readable; its `WouldBlock` arms `readable` again.
    pub fn try_read<T>(&self, read: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>) -> io::Result<T> {
        self.0.try_io(Interest::READABLE, |fd| read(fd.as_fd()))
    }

    /// All that was there when it was last heard to be readable has been read: arms `readable` again
    /// without another try. What has come since then is told anew.
    pub fn read_all(&self) {
        let _ = self.try_read::<()>(|_| Err(io::ErrorKind::WouldBlock.into()));
    }

    /// Runs `write` if the descriptor may be writable; its `WouldBlock` arms `writable` again.
    pub fn try_write<T>(
        &self,
        write: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.0.try_io(Interest::WRITABLE, |fd| write(fd.as_fd()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::task::Waker;

    use super::*;

    fn pair() -> (Ready, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        (Ready::new(near.into()).unwrap(), far)
    }

    fn take(ready: &Ready) -> io::Result<usize> {
        ready.try_read(|fd| {
            let mut stream = UnixStream::from(fd.try_clone_to_owned()?);
            stream.read(&mut [0])
        })
    }

    fn is_pending(waiting: impl Future) -> bool {
        let waiting = std::pin::pin!(waiting);
        matches!(waiting.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending)
    }

    #[tokio::test]
    async fn readable_stays_until_reading_would_block() {
        let (ready, mut far) = pair();
        far.write_all(b"ab").unwrap();
        ready.readable().await.unwrap();
        ready.readable().await.unwrap();
        assert_eq!(take(&ready).unwrap(), 1);
        ready.readable().await.unwrap();
        assert_eq!(take(&ready).unwrap(), 1);
        assert_eq!(take(&ready).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(is_pending(ready.readable()));
    }

    #[tokio::test]
    async fn what_comes_after_would_block_wakes_again() {
        let (ready, mut far) = pair();
        for _ in 0..1000 {
            far.write_all(b"x").unwrap();
            ready.readable().await.unwrap();
            while take(&ready).is_ok() {}
        }
        drop(far);
        ready.readable().await.unwrap();
        assert_eq!(take(&ready).unwrap(), 0);
    }

    #[tokio::test]
    async fn a_full_pipe_is_not_writable_until_it_is_read() {
        let (ready, mut far) = pair();
        let put = || {
            ready.try_write(|fd| {
                let mut stream = UnixStream::from(fd.try_clone_to_owned()?);
                stream.write(&[0; 4096])
            })
        };
        ready.writable().await.unwrap();
        let mut total = 0;
        while let Ok(count) = put() {
            total += count;
        }
        assert!(is_pending(ready.writable()));
        far.read_exact(&mut vec![0; total]).unwrap();
        ready.writable().await.unwrap();
        assert!(put().is_ok());
    }
}
