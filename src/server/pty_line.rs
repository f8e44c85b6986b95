//! The worker's end of one terminal: who waits for its program to write or to read.

use std::io;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::{News, ToHub, clock};
use crate::journal::{Journal, TURN};
use crate::mux::{Exit, TerminalId};
use crate::os::pty::{self, Read};
use crate::os::ready::Ready;

/// Between looks at a tty that its program has closed.
const CLOSED_PAUSE: Duration = Duration::from_millis(250);

/// Whoever reads less than this has read all that there was: a flood comes in larger pieces.
const SHORT: usize = 1 << 10;

pub struct PtyLine {
    master: Arc<Ready>,
    pub journal: Journal,
    /// All that was there has been read: wait for more.
    again: Arc<Notify>,
    readable: mpsc::Sender<TerminalId>,
    /// None before the first read.
    watch: Option<JoinHandle<()>>,
    /// The program ended before it was known to have begun: its last words are yet to be read.
    pub early_exit: Option<Exit>,
    /// When its memory was last given back.
    pub rested: Instant,
    /// A task waits until the program reads.
    waits_to_write: bool,
    /// The registration has seen the tty closed, and goes on saying so for ever.
    stale: bool,
}

/// How a turn of reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// There may be more.
    More,
    /// Nothing for now.
    Nothing,
    /// Nobody has the tty open.
    Closed,
}

impl PtyLine {
    pub fn new(
        master: OwnedFd,
        journal: Journal,
        readable: mpsc::Sender<TerminalId>,
    ) -> io::Result<PtyLine> {
        let master = Arc::new(Ready::new(master)?);
        let again = Arc::new(Notify::new());
        let (watch, early_exit) = (None, None);
        let (waits_to_write, stale, rested) = (false, false, clock::now());
        Ok(PtyLine {
            master,
            journal,
            again,
            readable,
            watch,
            early_exit,
            rested,
            waits_to_write,
            stale,
        })
    }

    /// From now on the program is read.
    pub fn begin(&mut self, id: TerminalId) {
        self.watch.get_or_insert_with(|| {
            let (master, again) = (self.master.clone(), self.again.clone());
            tokio::spawn(watch(id, master, again, self.readable.clone()))
        });
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.master.fd()
    }

    pub fn ready(&self) -> Arc<Ready> {
        self.master.clone()
    }

    /// Reads into the journal: where it lies there, and whether there is more. After so much others
    /// have their turn.
    pub fn read(&mut self) -> (Range<u64>, Rest) {
        let start = self.journal.head();
        let rest = loop {
            if self.journal.head() - start >= TURN as u64 {
                break Rest::More;
            }
            match pty::read_ready(&self.master, |master| self.journal.read(master)) {
                Read::Data(count) if count < SHORT && !self.journal.is_full() => {
                    self.master.read_all();
                    break Rest::Nothing;
                }
                Read::Data(_) | Read::Status => {}
                Read::WouldBlock => break Rest::Nothing,
                Read::Closed => break Rest::Closed,
            }
        };
        (start..self.journal.head(), rest)
    }

    /// Reads what is there even if nobody has said that there is anything.
    pub fn drain(&mut self) -> Range<u64> {
        let start = self.journal.head();
        loop {
            match self.journal.read(self.master.fd()) {
                Read::Status => {}
                Read::Data(_) | Read::WouldBlock | Read::Closed => {
                    return start..self.journal.head();
                }
            }
        }
    }

    /// All that was there has been read: wait for more.
    pub fn wait_for_more(&mut self, id: TerminalId) {
        if self.stale && self.register_anew().is_ok() {
            return self.begin(id);
        }
        self.again.notify_one();
    }

    /// The tty is open again: a new registration has not heard that it was ever closed.
    fn register_anew(&mut self) -> io::Result<()> {
        self.master = Arc::new(Ready::new(self.master.fd().try_clone_to_owned()?)?);
        self.watch.take().iter().for_each(JoinHandle::abort);
        self.again = Arc::new(Notify::new());
        self.stale = false;
        Ok(())
    }

    /// The kernel does not tell when a closed tty is opened again.
    pub fn look_again(&mut self) {
        self.stale = true;
        let again = self.again.clone();
        tokio::spawn(async move {
            tokio::time::sleep(CLOSED_PAUSE).await;
            again.notify_one();
        });
    }

    /// Writes what the kernel takes; 0 when it takes nothing now.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        pty::write_ready(&self.master, bytes)
    }

    pub fn wait_to_write(&mut self, id: TerminalId, news: &ToHub) {
        if std::mem::replace(&mut self.waits_to_write, true) {
            return;
        }
        let (master, news) = (self.master.clone(), news.clone());
        tokio::spawn(async move {
            if master.writable().await.is_ok() {
                let _ = news.send(News::Writable(id)).await;
            }
        });
    }

    pub fn may_write(&mut self) {
        self.waits_to_write = false;
    }
}

impl Drop for PtyLine {
    fn drop(&mut self) {
        self.watch.iter().for_each(JoinHandle::abort);
    }
}

/// Tells the hub whenever there is something to read, and not again before it has been read.
async fn watch(
    id: TerminalId,
    master: Arc<Ready>,
    again: Arc<Notify>,
    readable: mpsc::Sender<TerminalId>,
) {
    while master.readable().await.is_ok() && readable.send(id).await.is_ok() {
        again.notified().await;
    }
}
