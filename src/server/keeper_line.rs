//! Messages to and from the keeper; the hub never waits for it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::{News, ToHub};
use crate::keeper::{Link, ToKeeper};

pub struct KeeperLine {
    link: Arc<Link>,
    /// Bounded by what terminals there are: a few messages each.
    waiting: VecDeque<ToKeeper>,
    news: ToHub,
    /// Counts the keepers that this worker has had.
    pub number: u64,
}

impl KeeperLine {
    pub fn new(link: Link, news: ToHub, number: u64) -> KeeperLine {
        let link = Arc::new(link);
        tokio::spawn(receive(link.clone(), news.clone(), number));
        KeeperLine { link, waiting: VecDeque::new(), news, number }
    }

    pub fn send(&mut self, message: ToKeeper) -> io::Result<()> {
        self.waiting.push_back(message);
        if self.waiting.len() == 1 { self.flush() } else { Ok(()) }
    }

    pub fn is_open(&self) -> bool {
        self.link.is_open()
    }

    /// What was not sent and can be said to another keeper as well.
    pub fn take_unsaid(&mut self) -> Vec<ToKeeper> {
        let again =
            |message: &ToKeeper| matches!(message, ToKeeper::Signal { .. } | ToKeeper::Shutdown);
        self.waiting.drain(..).filter(again).collect()
    }

    /// Sends what the keeper takes; comes back by `KeeperReads` for the rest.
    pub fn flush(&mut self) -> io::Result<()> {
        while let Some(message) = self.waiting.front() {
            match self.link.send(message) {
                Ok(()) => {
                    self.waiting.pop_front();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let (link, news) = (self.link.clone(), self.news.clone());
                    tokio::spawn(async move {
                        let _ = link.writable().await;
                        let _ = news.send(News::KeeperReads).await;
                    });
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

async fn receive(link: Arc<Link>, news: ToHub, number: u64) {
    loop {
        let message = match link.recv().await {
            Ok(message) => News::Keeper(message),
            Err(error) => {
                let _ = news.send(News::KeeperGone(number, error)).await;
                return;
            }
        };
        if news.send(message).await.is_err() {
            return;
        }
    }
}
