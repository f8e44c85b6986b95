//! What the hub has for its clients: written by itself at the end of a turn, in one piece for each. What
//! a client does not take at once is left to its connection's own task.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Semaphore, mpsc};

use super::connection::ToClient;
use crate::mux::ClientId;

/// How long an answer that nobody is in a hurry for waits for something to go with.
const LATE: Duration = Duration::from_millis(5);
/// More of them are not kept.
const MAX_LATE: usize = 4 << 10;
/// Memory kept for the next turn.
const KEPT: usize = 64 << 10;

/// One client's.
pub struct Outbox {
    write: Arc<OwnedWriteHalf>,
    /// Lets its task hand over lines.
    gate: Arc<Semaphore>,
    task: mpsc::Sender<ToClient>,
    /// Messages that its task has yet to write; all others go behind them.
    behind: usize,
    /// What this turn has for it.
    turn: Vec<u8>,
    /// There is a batch of events or a frame in that.
    streams: bool,
    /// A batch was taken whole: the next may come.
    drained: bool,
    /// It is to be looked at before the turn ends.
    due: bool,
    /// All that there is may wait.
    late: bool,
    /// It has stopped keeping to the rules: it is let go.
    overflowed: bool,
}

impl Outbox {
    pub fn new(
        write: Arc<OwnedWriteHalf>,
        gate: Arc<Semaphore>,
        task: mpsc::Sender<ToClient>,
    ) -> Outbox {
        Outbox {
            write,
            gate,
            task,
            behind: 0,
            turn: Vec::new(),
            streams: false,
            drained: false,
            due: false,
            late: false,
            overflowed: false,
        }
    }

    fn put(&mut self, message: ToClient) {
        match message {
            _ if self.behind > 0 => self.leave(message),
            ToClient::Answer(bytes) => self.add(&bytes),
            ToClient::Stream(bytes) => {
                self.streams = true;
                self.add(&bytes);
            }
            ToClient::Picture { .. } => {
                self.flush();
                self.leave(message);
                self.due |= self.drained;
            }
            ToClient::ReadOn => self.gate.add_permits(1),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.turn.extend_from_slice(bytes);
        self.due = true;
    }

    /// To its task, which writes when the client reads.
    fn leave(&mut self, message: ToClient) {
        self.behind += 1;
        self.overflowed |= self.task.try_send(message).is_err();
        self.due |= self.overflowed;
    }

    /// Writes what there is.
    fn flush(&mut self) {
        (self.due, self.late) = (false, false);
        let streams = std::mem::take(&mut self.streams);
        let written = match self.write.try_write(&self.turn) {
            _ if self.turn.is_empty() => 0,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            // Nobody reads; what it asked for before it went is still done.
            Err(_) => self.turn.len(),
        };
        if written == self.turn.len() {
            self.drained |= streams;
        } else {
            let rest = self.turn.split_off(written);
            self.leave(if streams { ToClient::Stream(rest) } else { ToClient::Answer(rest) });
        }
        self.turn.clear();
        self.turn.shrink_to(KEPT);
    }
}

/// Everybody's.
#[derive(Default)]
pub struct Outboxes {
    all: HashMap<ClientId, Outbox>,
    /// Who is to be looked at before the turn ends.
    due: Vec<ClientId>,
    /// Who has only what may wait, and until when.
    late: Vec<ClientId>,
    until: Option<Instant>,
}

impl Outboxes {
    pub fn add(&mut self, client: ClientId, outbox: Outbox) {
        self.all.insert(client, outbox);
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn remove(&mut self, client: ClientId) {
        self.all.remove(&client);
    }

    /// It gets what it has been told, and is let go.
    pub fn close(&mut self, client: ClientId) {
        if let Some(mut outbox) = self.all.remove(&client) {
            outbox.flush();
        }
    }

    pub fn close_all(&mut self) {
        self.all.drain().for_each(|(_, mut outbox)| outbox.flush());
    }

    pub fn tell(&mut self, client: ClientId, message: ToClient) {
        let Some(outbox) = self.all.get_mut(&client) else { return };
        let was_due = outbox.due;
        outbox.put(message);
        if outbox.due && !was_due {
            self.due.push(client);
        }
    }

    /// An answer that may wait a moment: it goes with what is told next, if that comes soon.
    pub fn tell_late(&mut self, client: ClientId, bytes: Vec<u8>, now: Instant) {
        let Some(outbox) = self.all.get_mut(&client) else { return };
        if outbox.behind > 0 || outbox.due || outbox.turn.len() > MAX_LATE {
            return self.tell(client, ToClient::Answer(bytes));
        }
        outbox.turn.extend_from_slice(&bytes);
        if !std::mem::replace(&mut outbox.late, true) {
            self.late.push(client);
            self.until.get_or_insert(now + LATE);
        }
    }

    /// Writes what this turn has for everybody; who took a whole batch and may have the next.
    pub fn flush(&mut self, now: Instant) -> Vec<ClientId> {
        if self.until.is_some_and(|until| until <= now) {
            self.due.append(&mut self.late);
        }
        let mut drained = Vec::new();
        for client in self.due.drain(..) {
            let Some(outbox) = self.all.get_mut(&client) else { continue };
            outbox.flush();
            if std::mem::take(&mut outbox.drained) {
                drained.push(client);
            }
            if outbox.overflowed {
                self.all.remove(&client);
            }
        }
        self.late.retain(|client| self.all.get(client).is_some_and(|outbox| outbox.late));
        self.until = self.until.filter(|_| !self.late.is_empty());
        drained
    }

    /// When `flush` is due for those who wait.
    pub fn deadline(&self) -> Option<Instant> {
        self.until
    }

    /// Its task has written a message.
    pub fn wrote(&mut self, client: ClientId) {
        if let Some(outbox) = self.all.get_mut(&client) {
            outbox.behind -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::server::clock;

    const ME: ClientId = ClientId(1);

    /// One client's outbox, its task's messages, and the client's end.
    fn open(queue: usize) -> (Outboxes, mpsc::Receiver<ToClient>, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.set_nonblocking(true).unwrap();
        let (_, write) = tokio::net::UnixStream::from_std(near).unwrap().into_split();
        let (to_task, left) = mpsc::channel(queue);
        let mut all = Outboxes::default();
        all.add(ME, Outbox::new(Arc::new(write), Arc::new(Semaphore::new(0)), to_task));
        (all, left, far)
    }

    async fn is_writable(all: &Outboxes) {
        all.all[&ME].write.writable().await.unwrap();
    }

    fn read(far: &mut UnixStream) -> String {
        let mut bytes = [0; 1 << 16];
        let count = far.read(&mut bytes).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    fn answer(text: &str) -> ToClient {
        ToClient::Answer(text.into())
    }

    #[tokio::test]
    async fn a_turn_is_written_as_one_and_then_the_next_batch_may_come() {
        let (mut all, mut left, mut far) = open(4);
        is_writable(&all).await;
        let now = clock::now();
        all.tell(ME, answer("a"));
        all.tell(ME, ToClient::ReadOn);
        all.tell(ME, ToClient::Stream("b".into()));
        assert_eq!(read(&mut far), "", "before the turn ends");
        assert_eq!(all.flush(now), [ME]);
        assert_eq!(read(&mut far), "ab");
        assert_eq!(all.all[&ME].gate.available_permits(), 1);
        assert!(all.flush(now).is_empty() && left.try_recv().is_err());
    }

    #[tokio::test]
    async fn what_may_wait_goes_with_the_next_or_after_a_moment() {
        let (mut all, _left, mut far) = open(4);
        is_writable(&all).await;
        let now = clock::now();
        all.tell_late(ME, "late".into(), now);
        assert!(all.flush(now).is_empty());
        assert_eq!((read(&mut far), all.deadline()), (String::new(), Some(now + LATE)));
        all.tell(ME, ToClient::Stream(" frame".into()));
        all.flush(now);
        assert_eq!((read(&mut far).as_str(), all.deadline()), ("late frame", None));
        all.tell_late(ME, "alone".into(), now);
        all.flush(now + LATE);
        assert_eq!((read(&mut far).as_str(), all.deadline()), ("alone", None));
        // There are only so many of them.
        all.tell_late(ME, vec![b'x'; MAX_LATE + 1], now);
        all.tell_late(ME, "y".into(), now);
        all.flush(now);
        assert!(read(&mut far).ends_with('y'));
    }

    #[tokio::test]
    async fn what_a_client_does_not_take_is_left_to_its_task_in_order() {
        let (mut all, mut left, mut far) = open(4);
        is_writable(&all).await;
        let much = vec![b'x'; 4 << 20];
        all.tell(ME, ToClient::Stream(much.clone()));
        assert!(all.flush(clock::now()).is_empty(), "it has not taken all");
        let Ok(ToClient::Stream(rest)) = left.try_recv() else { panic!("it has a rest") };
        all.tell(ME, answer("behind"));
        all.tell(ME, ToClient::ReadOn);
        all.flush(clock::now());
        let mut taken = 0;
        while let count @ 1.. = read(&mut far).len() {
            taken += count;
        }
        assert_eq!(taken + rest.len(), much.len());
        assert!(matches!(left.try_recv(), Ok(ToClient::Answer(_))));
        assert!(matches!(left.try_recv(), Ok(ToClient::ReadOn)));
        (0..3).for_each(|_| all.wrote(ME));
        is_writable(&all).await;
        all.tell(ME, answer("at once"));
        all.flush(clock::now());
        assert_eq!(read(&mut far), "at once");
    }

    #[tokio::test]
    async fn one_that_does_not_keep_to_the_rules_is_let_go() {
        let (mut all, _left, _far) = open(2);
        all.tell(ME, ToClient::Picture { header: Vec::new(), bytes: Vec::new(), size: 0 });
        (0..2).for_each(|_| all.tell(ME, answer("x")));
        all.flush(clock::now());
        assert_eq!(all.count(), 0);
    }

    #[tokio::test]
    async fn a_frame_before_a_picture_is_told_as_taken() {
        let (mut all, mut left, mut far) = open(4);
        is_writable(&all).await;
        all.tell(ME, ToClient::Stream("frame".into()));
        all.tell(ME, ToClient::Picture { header: b"{}".to_vec(), bytes: Vec::new(), size: 0 });
        assert_eq!(all.flush(clock::now()), [ME]);
        assert_eq!(read(&mut far), "frame");
        assert!(matches!(left.try_recv(), Ok(ToClient::Picture { .. })));
    }
}
