//! The worker: one task, the hub, owns all state; the tasks around it only carry bytes.

mod accept;
mod clock;
mod connection;
mod hub;
mod keeper_line;
mod probe;
mod pty_line;
mod recorder;
mod recover;
mod rekeep;
mod render;
mod spawn;

use std::io;

use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::journal::Log;
use crate::keeper::{FromKeeper, Link};
use crate::mux::integration;
use crate::mux::{Asker, ClientId, Exit, Facts, Host, Mux, ServerRecord, TerminalId, Ticket};
use crate::os::{limits, paths, process};
use crate::view::grep::Found;
use crate::wire::Failure;
use connection::FromClient;
use hub::Hub;
use recorder::Recorded;
use rekeep::Rekeep;
use render::Rendered;
use spawn::Prepared;

/// Messages on their way to the hub; whoever has more to say waits.
const NEWS_QUEUE: usize = 64;

/// What the tasks around the hub tell it.
enum News {
    Keeper(FromKeeper),
    /// The keeper of this number.
    KeeperGone(u64, io::Error),
    /// It is time to try again to find another one.
    Rekeep,
    /// The keeper takes messages again.
    KeeperReads,
    Connection(UnixStream),
    Client(ClientId, FromClient),
    /// The program reads again what is typed.
    Writable(TerminalId),
    /// All that a new program needs is there, or cannot be had.
    Prepared {
        id: TerminalId,
        prepared: Box<Result<Prepared, Failure>>,
    },
    /// The status pipe of a new program was read to its end.
    Status {
        id: TerminalId,
        bytes: Vec<u8>,
    },
    Probed {
        id: TerminalId,
        asker: Asker,
        facts: Facts,
    },
    Searched {
        ticket: Ticket,
        result: Result<Found, Failure>,
    },
    Rendered(Box<Rendered>),
    Recorded(Recorded),
}

type ToHub = mpsc::Sender<News>;

/// What a server is started with; later it has its own record.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    pub idle_timeout_ms: Option<u64>,
    pub scrollback_total_bytes: Option<usize>,
}

/// Runs the worker that a keeper has started, until the keeper is gone or tells it to end.
pub fn run(settings: Settings, limits: Option<String>) -> io::Result<()> {
    limits::raise_nofile();
    limits::harden();
    process::set_name("t4a-worker");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (listener, mut hub) = take_over(settings, limits).await?;
        let news = hub.sender();
        tokio::spawn(accept::run(listener, news));
        hub.run().await
    })
}

/// Receives from the keeper all that an earlier worker left, and the socket to serve.
async fn take_over(
    settings: Settings,
    limits: Option<String>,
) -> io::Result<(std::os::unix::net::UnixListener, Hub)> {
    let link = Link::from_stdin()?;
    let mut listener = None;
    let mut log = None;
    let mut left = Vec::new();
    loop {
        match link.recv().await? {
            FromKeeper::Listener { fd } => listener = Some(fd.into()),
            FromKeeper::Server { record } => log = recover::log(record),
            FromKeeper::End => break,
            take @ FromKeeper::Take { .. } => left.push(take),
            other => return Err(io::Error::other(format!("unexpected before End: {other:?}"))),
        }
    }
    let listener: std::os::unix::net::UnixListener =
        listener.ok_or_else(|| io::Error::other("the keeper gave no socket"))?;
    let rekeep = Rekeep::new(listener.try_clone()?.into(), limits);
    let first = log.is_none();
    let mut log = log.map_or_else(Log::create, Ok)?;
    let state = log.record.read().and_then(|bytes| ServerRecord::read(&bytes));
    let state = state.unwrap_or_else(|| {
        ServerRecord::first(settings.idle_timeout_ms, settings.scrollback_total_bytes)
    });
    let mut mux = Mux::new(host(), state, clock::now());
    mux.recall(recover::events(&mut log));
    let mut hub = Hub::new(mux, link, log, first, rekeep)?;
    left.into_iter().for_each(|take| hub.inherit(take));
    if !first {
        hub.inherited();
    }
    Ok((listener, hub))
}

fn host() -> Host {
    let files = paths::private_files("shell", &integration::files());
    if let Err(error) = &files {
        process::complain(&format!("shells will not report commands: {error}"));
    }
    let socket = paths::socket().map(|socket| socket.path).unwrap_or_default();
    let home = dirs::home_dir().unwrap_or_else(|| "/".into());
    Host {
        socket: socket.to_string_lossy().into_owned(),
        shell: process::user_shell(),
        home: home.to_string_lossy().into_owned(),
        env: process::base_env(),
        integration_dir: files.ok().map(|dir| dir.to_string_lossy().into_owned()),
        worker_pid: std::process::id(),
        keeper_pid: std::os::unix::process::parent_id(),
        since: clock::now(),
        since_ms: clock::unix_ms(),
    }
}

fn exit(exit: crate::keeper::Exit) -> Exit {
    match exit {
        crate::keeper::Exit::Code(code) => Exit::Code(code),
        crate::keeper::Exit::Signal(signal) => Exit::Signal(signal),
        crate::keeper::Exit::Unknown => Exit::Unknown,
    }
}

fn keeper_exit(exit: Exit) -> crate::keeper::Exit {
    match exit {
        Exit::Code(code) => crate::keeper::Exit::Code(code),
        Exit::Signal(signal) => crate::keeper::Exit::Signal(signal),
        Exit::Unknown => crate::keeper::Exit::Unknown,
    }
}
