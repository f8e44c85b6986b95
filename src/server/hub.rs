//! The hub: the one task that owns the server's state, and the one place where effects happen.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::connection::{self, FromClient, ToClient, Wrote};
use super::guest::Told;
use super::guests::Guests;
use super::keeper_line::KeeperLine;
use super::outbox::Outboxes;
use super::pty_line::{PtyLine, Rest};
use super::recorder::{Done, Recorded, Recorders};
use super::rekeep::Rekeep;
use super::render::{Rendered, Renderers};
use super::shelf::{Names, Shelved, Shelves};
use super::upgrade::LAST_WRITES;
use super::{NEWS_QUEUE, News, ToHub, accept, clock, exit, spawn, upgrade};
use crate::command;
use crate::journal::Log;
use crate::keeper::{FromKeeper, Link, ToKeeper};
use crate::mux::limits::{MAX_CONNECTIONS, MAX_LINE, MAX_TERMINALS};
use crate::mux::{ClientId, Effect, Exit, Incoming, Mux, Terminal, TerminalId};
use crate::os::process;
use crate::wire::{Code, Failure};

/// Messages handled before a terminal that has output gets its turn.
const BURST: usize = 32;
/// Output read after a program's end before the end is told: a background job may go on for ever.
const MAX_LAST_WORDS: u64 = 1 << 20;
/// Longest the hub sleeps.
const LONG: Duration = Duration::from_secs(3600);

pub struct Hub {
    pub(super) mux: Mux,
    pub(super) keeper: KeeperLine,
    pub(super) log: Log,
    pub(super) lines: HashMap<TerminalId, PtyLine>,
    pub(super) outboxes: Outboxes,
    pub(super) guests: Guests,
    next_client: u64,
    /// Terminals whose turn it is to be read.
    busy: VecDeque<TerminalId>,
    /// A terminal's save, on its way to the journal.
    pub(super) buffer: Vec<u8>,
    pub(super) to_hub: ToHub,
    news: mpsc::Receiver<News>,
    pub(super) to_busy: mpsc::Sender<TerminalId>,
    readable: mpsc::Receiver<TerminalId>,
    pub(super) renderers: Renderers,
    pub(super) recorders: Recorders,
    pub(super) shelves: Shelves,
    pub(super) rekeep: Rekeep,
    /// The version of the program whose worker is to take over.
    pub(super) successor: Option<String>,
    /// One is ready: by then this worker is gone.
    pub(super) leaving: Option<Instant>,
    pub(super) accepting: Option<AbortHandle>,
    /// The keeper said that it will go.
    pub(super) parting: bool,
    /// It is dead, and the next one is not started yet.
    pub(super) keeperless: bool,
    pub(super) end: Option<io::Result<()>>,
}

impl Hub {
    pub fn new(
        mux: Mux,
        link: Link,
        log: Log,
        first: bool,
        rekeep: Rekeep,
        names: Names,
    ) -> io::Result<Hub> {
        let (to_hub, news) = mpsc::channel(NEWS_QUEUE);
        let (to_busy, readable) = mpsc::channel(MAX_TERMINALS);
        let mut keeper = KeeperLine::new(link, to_hub.clone(), 0);
        if first {
            keeper.send(ToKeeper::Keep { record: log.fd().try_clone_to_owned()? })?;
        }
        Ok(Hub {
            mux,
            keeper,
            log,
            lines: HashMap::new(),
            outboxes: Outboxes::default(),
            guests: Guests::default(),
            next_client: 0,
            busy: VecDeque::new(),
            buffer: Vec::new(),
            to_hub,
            news,
            to_busy,
            readable,
            renderers: Renderers::default(),
            rekeep,
            successor: None,
            leaving: None,
            accepting: None,
            parting: false,
            keeperless: false,
            recorders: Recorders::default(),
            shelves: Shelves::new(names),
            end: None,
        })
    }

    /// From now on clients are served.
    pub fn open(&mut self) {
        self.accept();
        self.tell_keeper(Some(ToKeeper::Serving));
    }

    pub(super) fn accept(&mut self) {
        match self.rekeep.listener.try_clone() {
            Ok(listener) => {
                let task = tokio::spawn(accept::run(listener.into(), self.to_hub.clone()));
                self.accepting = Some(task.abort_handle());
            }
            Err(error) => self.end = Some(Err(error)),
        }
    }

    pub async fn run(&mut self) -> io::Result<()> {
        loop {
            self.perform();
            self.serve_guests();
            self.flush();
            if let Some(end) = self.end.take() {
                self.finish_writes().await;
                return end;
            }
            if self.has_left() {
                self.mux.leave_typed();
                self.perform();
                return Ok(());
            }
            if self.has_more() {
                // The tasks around the hub get the processor, and new readiness is looked for.
                tokio::task::yield_now().await;
            }
            self.wait().await;
            for _ in 0..BURST {
                match self.news.try_recv() {
                    Ok(news) => self.hear(news),
                    Err(_) => break,
                }
                self.perform();
            }
            self.serve_guests();
            self.flush();
            if self.leaving.is_none() {
                self.read_one();
            }
            if self.mux.next_deadline().is_some_and(|deadline| deadline <= clock::now()) {
                self.mux.on(Incoming::Tick, clock::now());
            }
        }
    }

    /// What is recorded or kept is on the disk before the worker goes, if that does not take too long.
    async fn finish_writes(&mut self) {
        let deadline = clock::now() + LAST_WRITES;
        while self.mux.writes_recordings() || self.mux.is_keeping() || self.shelves.is_busy() {
            let news = tokio::time::timeout_at(deadline.into(), self.news.recv()).await;
            let Ok(Some(news)) = news else { return };
            if matches!(news, News::Recorded(_) | News::Shelved(_)) {
                self.hear(news);
                self.perform();
            }
        }
    }

    /// Something is to be done without anyone's saying so.
    fn has_more(&self) -> bool {
        let may_read = self.leaving.is_none() && !self.busy.is_empty();
        may_read || self.mux.has_effects() || self.guests.any_awake()
    }

    /// Until there is something to do.
    async fn wait(&mut self) {
        let guests = self.guests.deadline();
        let deadlines = [self.mux.next_deadline(), self.outboxes.deadline(), guests, self.leaving];
        let deadline = deadlines.into_iter().flatten().min();
        let deadline: Instant = deadline.unwrap_or_else(|| clock::now() + LONG);
        let has_more = self.has_more();
        tokio::select! {
            biased;
            Some(news) = self.news.recv() => self.hear(news),
            // A worker that is about to go leaves what is typed to the next.
            guest = self.guests.typed(), if self.leaving.is_none() => self.typed(guest),
            Some(id) = self.readable.recv() => self.busy.push_back(id),
            () = std::future::ready(()), if has_more => {}
            () = tokio::time::sleep_until(deadline.into()) => {}
        }
        while let Ok(id) = self.readable.try_recv() {
            self.busy.push_back(id);
        }
    }

    fn hear(&mut self, news: News) {
        let now = clock::now();
        match news {
            News::Keeper(message) => self.hear_keeper(message),
            News::KeeperGone(number, error) if number == self.keeper.number => {
                self.keeper_is_gone(error);
            }
            News::KeeperGone(..) => {}
            News::Rekeep => self.take_keeper(),
            News::KeeperReads => self.tell_keeper(None),
            News::Connection(stream) => self.connect(stream),
            News::Client(client, message) => self.hear_client(client, message),
            News::Paintable(guest) => self.guests.may_paint(guest),
            News::Writable(id) => {
                if let Some(line) = self.lines.get_mut(&id) {
                    line.may_write();
                }
                self.write(id);
            }
            News::Prepared { id, prepared } => self.spawn(id, *prepared),
            News::Status { id, bytes } => {
                let unstarted = self.lines.get(&id).is_some_and(|line| line.journal.is_unstarted());
                let result = spawn::outcome(&bytes, unstarted);
                self.mux.on(Incoming::Started { id, result }, now);
                self.begin(id);
            }
            News::Probed { id, asker, facts } => {
                self.mux.on(Incoming::Probed { id, asker, facts }, now);
            }
            News::Searched { ticket, result } => {
                self.mux.on(Incoming::Searched { ticket, result }, now);
            }
            News::Rendered(mut rendered) => {
                self.renderers.done(rendered.take_renderer(), &self.to_hub);
                let Rendered { request, result, .. } = *rendered;
                self.mux.on(Incoming::Rendered { request, result }, now);
            }
            News::Recorded(recorded) => self.hear_recorder(recorded),
            News::Checked(checked) => self.checked(*checked),
            News::Shelved(shelved) => self.hear_shelf(*shelved),
        }
    }

    fn hear_keeper(&mut self, message: FromKeeper) {
        let now = clock::now();
        match message {
            FromKeeper::Spawned { slot, pid } => {
                let id = TerminalId(slot.0);
                self.mux.on(Incoming::Forked { id, pid }, now);
                self.begin(id);
            }
            FromKeeper::SpawnFailed { slot, errno } => {
                let failure = spawn::refused("no process could be made", errno);
                let id = TerminalId(slot.0);
                self.mux.on(Incoming::Started { id, result: Err(failure) }, now);
            }
            FromKeeper::Exited { slot, exit: ended } => self.ended(TerminalId(slot.0), exit(ended)),
            FromKeeper::Successor => self.leave(),
            FromKeeper::NoSuccessor { why } => self.no_successor(upgrade::refused(why)),
            FromKeeper::Part => {
                self.parting = true;
                self.mux.on(Incoming::Part, now);
            }
            other => process::complain(&format!("the keeper said {other:?}, which is not for now")),
        }
    }

    fn hear_recorder(&mut self, mut recorded: Recorded) {
        let id = recorded.id;
        self.recorders.back(id, recorded.take_file());
        let incoming = match recorded.done {
            Done::Opened(result) => Incoming::RecordingOpened { id, result },
            Done::Wrote(result) => Incoming::RecordingWritten { id, result },
        };
        self.mux.on(incoming, clock::now());
    }

    fn hear_shelf(&mut self, shelved: Shelved) {
        let incoming = match shelved {
            Shelved::Server => return self.shelves.server_kept(&self.to_hub),
            Shelved::Kept { key, result } => {
                self.shelves.kept(key, &result);
                Incoming::Kept { key, result }
            }
            Shelved::Found { ticket, found } => Incoming::FoundDead { ticket, found },
        };
        self.mux.on(incoming, clock::now());
    }

    fn hear_client(&mut self, client: ClientId, message: FromClient) {
        let now = clock::now();
        match message {
            FromClient::Line(line, Some(fd)) => self.lend(client, &line, fd),
            FromClient::Line(line, None) if self.guests.lent_by(client).is_some() => {
                self.hear_lender(client, &line);
            }
            FromClient::Line(line, None) => self.mux.request(client, &line, now, command::run),
            FromClient::TooLong => {
                let error = format!(
                    "the line is longer than {MAX_LINE} bytes; the connection is closed after it"
                );
                self.mux.reject(client, &Failure::new(Code::LineTooLong, error));
            }
            FromClient::HalfClosed if self.guests.lent_by(client).is_some() => {
                self.end_lending(client);
            }
            FromClient::HalfClosed => self.mux.on(Incoming::HalfClosed(client), now),
            FromClient::Wrote(wrote) => {
                self.outboxes.wrote(client);
                match wrote {
                    Wrote::Nothing => {}
                    Wrote::Stream => self.mux.on(Incoming::Drained(client), now),
                    Wrote::Picture(bytes) => self.mux.on(Incoming::Taken { client, bytes }, now),
                }
            }
            FromClient::Gone => {
                self.end_lending(client);
                self.outboxes.remove(client);
                self.mux.on(Incoming::Gone(client), now);
            }
        }
    }

    fn connect(&mut self, stream: UnixStream) {
        if self.leaving.is_some() {
            return;
        }
        let client = self.new_client();
        let full = self.outboxes.count() >= MAX_CONNECTIONS;
        self.outboxes.add(client, connection::open(stream, client, self.to_hub.clone()));
        if full {
            let error = format!(
                "there are {MAX_CONNECTIONS} connections, which is the most: close one and try again"
            );
            self.mux.reject(client, &Failure::new(Code::Limit, error));
            self.mux.effect(Effect::Close(client));
        } else {
            self.mux.on(Incoming::Connected(client), clock::now());
        }
    }

    pub(super) fn new_client(&mut self) -> ClientId {
        self.next_client += 1;
        ClientId(self.next_client)
    }

    pub(super) fn runs(&self, id: TerminalId) -> bool {
        self.mux.get(id).is_some_and(Terminal::started)
    }

    /// What a program writes is read when it is known to run: what it does comes after `created`.
    pub(super) fn begin(&mut self, id: TerminalId) {
        let runs = self.runs(id);
        let Some(line) = self.lines.get_mut(&id).filter(|_| runs) else { return };
        line.begin(id);
        if let Some(exit) = line.early_exit.take() {
            self.ended(id, exit);
        }
    }

    pub(super) fn ended(&mut self, id: TerminalId, exit: Exit) {
        if self.runs(id) {
            self.read_last_words(id);
            self.mux.on(Incoming::Exited { id, exit }, clock::now());
        } else if let Some(line) = self.lines.get_mut(&id) {
            line.early_exit = Some(exit);
        }
    }

    /// One terminal's turn: a bounded read, fed to its grid.
    fn read_one(&mut self) {
        let Some(id) = self.busy.pop_front() else { return };
        let Some(line) = self.lines.get_mut(&id) else { return };
        let (range, rest) = line.read();
        match rest {
            Rest::More => self.busy.push_back(id),
            Rest::Nothing => line.wait_for_more(id),
            // A program that has let go of its tty may open it again.
            Rest::Closed if self.mux.get(id).is_some_and(Terminal::alive) => line.look_again(),
            Rest::Closed => {}
        }
        self.feed(id, range);
    }

    /// Where the kernel echoes what was typed, it often has done so by now: to hear of it takes longer
    /// than to look.
    pub(super) fn read_echo(&mut self, id: TerminalId) {
        let runs = self.leaving.is_none() && self.runs(id);
        if let Some(range) = self.lines.get_mut(&id).filter(|_| runs).map(PtyLine::drain) {
            self.feed(id, range);
        }
    }

    /// Gives what was read to its grid.
    fn feed(&mut self, id: TerminalId, range: Range<u64>) {
        let Some(line) = self.lines.get(&id).filter(|_| !range.is_empty()) else { return };
        let bytes = line.journal.bytes(range);
        self.mux.on(Incoming::Output { id, bytes }, clock::now());
        self.fed(id);
    }

    /// All that the program wrote before it ended.
    fn read_last_words(&mut self, id: TerminalId) {
        let mut read = 0;
        while read < MAX_LAST_WORDS {
            let Some(line) = self.lines.get_mut(&id) else { return };
            let range = line.drain();
            if range.is_empty() {
                break;
            }
            read += range.end - range.start;
            self.feed(id, range);
        }
    }

    pub(super) fn tell(&mut self, client: ClientId, message: ToClient) {
        match self.guests.get_mut(client) {
            Some(guest) => guest.hear(message),
            None => self.outboxes.tell(client, message),
        }
    }

    pub(super) fn tell_guest(&mut self, client: ClientId, told: Told) {
        if let Some(guest) = self.guests.get_mut(client) {
            guest.tell(told);
        }
    }

    /// Clients get what the turn had for them. What comes of that is for the next one, as there may
    /// be much to read for someone who reads fast.
    fn flush(&mut self) {
        let now = clock::now();
        for client in self.outboxes.flush(now) {
            self.mux.on(Incoming::Drained(client), now);
        }
    }

    pub(super) fn tell_keeper(&mut self, message: Option<ToKeeper>) {
        let sent = match message {
            Some(message) => self.keeper.send(message),
            None => self.keeper.flush(),
        };
        if let Err(error) = sent {
            self.keeper_is_gone(error);
        }
    }
}
