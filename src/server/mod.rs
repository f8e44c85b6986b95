//! The worker: one task, the hub, owns all state; the tasks around it only carry bytes.

mod accept;
mod clock;
mod connection;
mod effects;
mod elsewhere;
mod formats;
mod guest;
mod guests;
mod hub;
mod keeper_line;
mod outbox;
mod probe;
mod pty_line;
mod recorder;
mod recover;
mod rekeep;
mod render;
mod shelf;
mod spawn;
mod trap;
mod upgrade;

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::journal::Log;
use crate::keeper::{self, FromKeeper, Link, ToKeeper};
use crate::mux::integration;
use crate::mux::{
    Asker, Beginning, ClientId, Exit, Facts, Host, Mux, ServerRecord, TerminalId, Ticket,
};
use crate::os::limits::{self, Limits};
use crate::os::{paths, process};
use crate::view::grep::Found;
use crate::wire::Failure;
use connection::FromClient;
pub use formats::Formats;
use hub::Hub;
use recorder::Recorded;
use rekeep::Rekeep;
use render::Rendered;
use shelf::{Names, Shelved};
use spawn::Prepared;
use upgrade::Fit;

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
    /// It takes again what is painted.
    Paintable(ClientId),
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
    /// Whether a program can take over.
    Checked(Box<Result<Fit, Failure>>),
    Shelved(Box<Shelved>),
}

type ToHub = mpsc::Sender<News>;

/// What a keeper tells a worker that it starts.
pub struct Start {
    pub idle_timeout_ms: Option<u64>,
    pub scrollback_total_bytes: Option<usize>,
    /// Those that programs get, for a keeper that has to be started.
    pub limits: Option<String>,
    pub keeper_version: String,
    /// Whether terminals are kept on disk, asked when the server begins.
    pub persist: fn() -> bool,
    /// The worker before, if it ended by itself.
    pub crashed: Option<u32>,
}

/// Runs the worker that a keeper has started, until the keeper is gone or tells it to end.
///
/// To be called before the process opens anything: it closes what it inherited.
pub fn run(start: Start) -> io::Result<()> {
    keeper::close_inherited();
    let given = start.limits.as_deref().and_then(Limits::from_text);
    given.iter().for_each(Limits::restore_oom_score);
    limits::raise_nofile();
    limits::harden();
    process::set_name("t4a-worker");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut hub = take_over(start).await?;
        hub.open();
        // As a task like the others: whoever wakes the runtime's first one makes a system call.
        tokio::spawn(async move { hub.run().await }).await?
    })
}

/// Receives from the keeper all that an earlier worker left, and the socket to serve.
async fn take_over(start: Start) -> io::Result<Hub> {
    let link = Link::from_stdin()?;
    link.writable().await?;
    link.send(&ToKeeper::<OwnedFd>::Ready)?;
    let mut listener = None;
    let mut log = None;
    let mut left = Vec::new();
    let mut host = host(start.keeper_version.clone());
    loop {
        match link.recv().await? {
            FromKeeper::Listener { fd } => listener = Some(fd),
            FromKeeper::FellBack { why } => host.upgrade_error = Some(upgrade::fell_back(why)),
            FromKeeper::Server { record } => log = recover::log(record),
            FromKeeper::End => break,
            take @ FromKeeper::Take { .. } => left.push(take),
            other => return Err(io::Error::other(format!("unexpected before End: {other:?}"))),
        }
    }
    let listener = listener.ok_or_else(|| io::Error::other("the keeper gave no socket"))?;
    let rekeep = Rekeep::new(listener, start.limits.clone());
    let first = log.is_none();
    let mut log = log.map_or_else(Log::create, Ok)?;
    let state = log.record.read().and_then(|bytes| ServerRecord::read(&bytes));
    let names = Names::of(&host.socket);
    let state = state.unwrap_or_else(|| ServerRecord::first(beginning(&start, &names)));
    let mut mux = Mux::new(host, state, clock::now());
    mux.recall(recover::events(&mut log));
    let mut hub = Hub::new(mux, link, log, first, rekeep, names)?;
    let left = left.into_iter().filter_map(|take| hub.open_left(take, start.crashed));
    let left: Vec<_> = left.collect();
    left.into_iter().for_each(|left| hub.inherit(left));
    if !first {
        hub.inherited();
    }
    Ok(hub)
}

/// The very first worker of a server looks at what an earlier server left on disk.
fn beginning(start: &Start, names: &Names) -> Beginning {
    let next_id = names.next_id().unwrap_or_else(|error| {
        process::complain(&format!("what was kept on disk cannot be seen: {error}"));
        1
    });
    let Start { idle_timeout_ms, scrollback_total_bytes, .. } = *start;
    let (persist, now_ms) = ((start.persist)(), clock::unix_ms());
    Beginning { idle_timeout_ms, scrollback_total_bytes, persist, next_id, now_ms }
}

fn host(keeper_version: String) -> Host {
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
        program: process::own_path(),
        worker_pid: std::process::id(),
        keeper_pid: std::os::unix::process::parent_id(),
        keeper_version,
        upgrade_error: None,
        trap: trap::set(),
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
