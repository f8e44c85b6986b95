//! Signals to the keeper, turned into something that can be polled.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level::pipe};

pub struct Signals {
    wake: UnixStream,
    end: Arc<AtomicBool>,
}

impl Signals {
    /// In the background a hang-up is none of our business.
    pub fn catch(background: bool) -> io::Result<Signals> {
        let (wake, write) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let end = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            let ends = signal != SIGHUP || !background;
            let flag = if ends { Arc::clone(&end) } else { Arc::default() };
            flag::register(signal, flag)?;
            pipe::register(signal, write.try_clone()?)?;
        }
        pipe::register(SIGCHLD, write)?;
        Ok(Signals { wake, end })
    }

    /// Takes what has arrived; whether it is time to end.
    pub fn drain(&self) -> bool {
        let mut buf = [0; 64];
        while matches!((&self.wake).read(&mut buf), Ok(1..)) {}
        self.end.swap(false, Ordering::Relaxed)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
