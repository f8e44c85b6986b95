//! What reaches the state, and what it wants done.

use std::collections::BTreeSet;
use std::time::Instant;

use serde::Serialize;

use super::{
    ClientId, DeadFound, DeadWish, Exit, Key, Opening, Page, PictureRequest, Plan, RecordingId,
    Reply, Secret, ServerPage, TerminalId, Ticket,
};
use crate::cast::Written;
use crate::term::Size;
use crate::view::grep::{Found, Hunt};
use crate::view::shot::{Order, Picture};
use crate::wire::{Failure, Frame};

/// What the machine is like, told once at the start.
#[derive(Debug, Clone)]
pub struct Host {
    pub socket: String,
    pub shell: String,
    pub home: String,
    /// The server's own environment, cleaned.
    pub env: Vec<(String, String)>,
    /// Where the files of the shell integration lie.
    pub integration_dir: Option<String>,
    /// The file that this worker was started from.
    pub program: String,
    pub worker_pid: u32,
    pub keeper_pid: u32,
    pub keeper_version: String,
    /// Why this worker serves though a newer one should.
    pub upgrade_error: Option<String>,
    /// Sees all output before the grid does; for tests.
    pub trap: Option<fn(&[u8])>,
    /// A moment, and when it was: milliseconds since 1970.
    pub since: Instant,
    pub since_ms: u64,
}

/// What happens to the server.
pub enum Incoming<'a> {
    Connected(ClientId),
    /// A client that is in this process.
    Seated(ClientId),
    /// It sends nothing more but still reads.
    HalfClosed(ClientId),
    Gone(ClientId),
    /// It took the last batch of events.
    Drained(ClientId),
    Output {
        id: TerminalId,
        bytes: &'a [u8],
    },
    Forked {
        id: TerminalId,
        pid: u32,
    },
    /// The program runs, or could not be started.
    Started {
        id: TerminalId,
        result: Result<(), Failure>,
    },
    Exited {
        id: TerminalId,
        exit: Exit,
    },
    Probed {
        id: TerminalId,
        asker: Asker,
        facts: Facts,
    },
    /// A search is done.
    Searched {
        ticket: Ticket,
        result: Result<Found, Failure>,
    },
    /// A picture is done, or could not be made.
    Rendered {
        request: PictureRequest,
        result: Result<Picture, Failure>,
    },
    /// It took so many bytes of pictures.
    Taken {
        client: ClientId,
        bytes: usize,
    },
    /// Whether the program reads without an echo what is about to be typed.
    Echo {
        id: TerminalId,
        hidden: bool,
    },
    RecordingOpened {
        id: RecordingId,
        result: Result<Written, String>,
    },
    RecordingWritten {
        id: RecordingId,
        result: Result<(), String>,
    },
    /// A worker of another program, with this version, is ready to take over; or will not be.
    Upgraded(Result<String, Failure>),
    /// A terminal is on disk, with so many bytes, or could not be put there.
    Kept {
        key: Key,
        result: Result<usize, String>,
    },
    FoundDead {
        ticket: Ticket,
        found: Result<DeadFound, Failure>,
    },
    /// The server is about to end in good order.
    Part,
    Tick,
}

/// Who asked the system about a terminal's program.
pub enum Asker {
    Info(Ticket),
    Reply(Box<Reply>),
    /// All who wait for what only the system knows.
    Waits,
    Secret(Box<Secret>),
}

/// What only the system knows about a terminal's program.
#[derive(Debug, Default, Serialize)]
pub struct Facts {
    pub foreground: Option<Foreground>,
    pub echo: Option<bool>,
    pub canonical: Option<bool>,
    #[serde(skip)]
    pub reads_tty: Option<bool>,
}

#[derive(Debug, Serialize)]
pub struct Foreground {
    pub pid: u32,
    pub name: String,
    pub command: Vec<String>,
    pub cwd: Option<String>,
}

/// Which processes of a terminal a signal goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The group of the program that t4a started.
    Group,
    /// The group that has the keyboard.
    Foreground,
}

/// What the hub is to do. Nothing else leaves the server.
pub enum Effect {
    Reply {
        client: ClientId,
        bytes: Vec<u8>,
    },
    /// An answer that nobody is in a hurry for: it may wait a moment for something to go with.
    Late {
        client: ClientId,
        bytes: Vec<u8>,
    },
    /// A batch of events; `Drained` comes back when it was taken.
    Stream {
        client: ClientId,
        bytes: Vec<u8>,
    },
    /// A frame for a client that is in this process; `Drained` comes back as for a batch.
    Frame {
        client: ClientId,
        frame: Box<Frame>,
    },
    /// What such a client typed was taken.
    Typed {
        client: ClientId,
        tag: u64,
    },
    ReadOn(ClientId),
    Close(ClientId),
    Spawn(Box<Plan>),
    /// There is something typed to be written.
    Input(TerminalId),
    Resize {
        id: TerminalId,
        size: Size,
    },
    Signal {
        id: TerminalId,
        signal: i32,
        target: Target,
    },
    Probe {
        id: TerminalId,
        asker: Asker,
    },
    /// Lines are to be searched; `Searched` comes back.
    Search {
        ticket: Ticket,
        hunt: Box<Hunt>,
    },
    /// A picture is to be made; `Rendered` comes back.
    Render {
        request: PictureRequest,
        order: Box<Order>,
    },
    /// An answer whose bytes follow its line or are in it; `Taken` comes back with the picture's
    /// size when they were written.
    Picture {
        client: ClientId,
        header: Vec<u8>,
        bytes: Vec<u8>,
        size: usize,
    },
    /// Someone records what is typed; `Echo` comes back before it is.
    LookForEcho(TerminalId),
    /// A file for a recording; `RecordingOpened` comes back.
    OpenRecording {
        id: RecordingId,
        path: String,
        opening: Opening,
    },
    /// More of it; `RecordingWritten` comes back.
    WriteRecording {
        id: RecordingId,
        bytes: Vec<u8>,
    },
    CloseRecording {
        id: RecordingId,
        remove: bool,
    },
    /// A terminal is to be put on disk; `Kept` comes back.
    Keep(Box<Page>),
    /// What is on disk of it may go.
    DropKept(Key),
    KeepServer(ServerPage),
    /// Something about terminals that are only on disk; `FoundDead` comes back.
    LookAtDead {
        ticket: Ticket,
        wish: DeadWish,
        live: BTreeSet<Key>,
        run: u64,
    },
    /// The terminal is gone: let its descriptors go.
    Forget(TerminalId),
    Remember {
        id: TerminalId,
        record: Vec<u8>,
    },
    /// Something happened to a terminal's grid that is not in its output: it is to be saved.
    Save(TerminalId),
    /// It has gone quiet and may stay so for long.
    Rest(TerminalId),
    RememberServer(Vec<u8>),
    /// A program is to take over; `Upgraded` comes back.
    Upgrade {
        program: String,
    },
    Shutdown,
}
