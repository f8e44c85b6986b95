//! A new program: its PTY, its journal, and the order for the keeper to start it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt;

use super::{News, ToHub, elsewhere, recover};
use crate::journal::Journal;
use crate::keeper::spec::MAX_SPEC;
use crate::keeper::{self, ChildFailure, SlotId, Spec, ToKeeper, read_status};
use crate::mux::limits::MAX_SPAWN;
use crate::mux::{OldText, Plan, TerminalId};
use crate::os::{inspect, process, pty};
use crate::term::{Size, Terminal};
use crate::wire::{Code, Failure};

const _: () = assert!(MAX_SPAWN == MAX_SPEC);

/// Between looks at a process that may not be its program yet, and how often.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const MAX_LOOKS: usize = 1000;
/// Longer than any status; a child that writes more is not ours.
const MAX_STATUS: u64 = 64;

/// What the worker keeps and what the keeper gets.
pub struct Prepared {
    pub master: OwnedFd,
    pub journal: Journal,
    pub order: ToKeeper,
    /// Closed by exec, or by a child that failed and said why.
    pub status: OwnedFd,
    /// The terminal's grid, if it begins with a text.
    pub grid: Option<Box<Terminal>>,
}

/// Off the hub: a directory may lie on a file system that does not answer.
pub fn start(plan: Plan, news: ToHub) {
    tokio::spawn(async move {
        let id = plan.id;
        let prepared = elsewhere::run(move || prepare(&plan)).await;
        let failed = || Failure::new(Code::System, "create: the program could not be prepared");
        let prepared = Box::new(prepared.unwrap_or_else(|| Err(failed())));
        let _ = news.send(News::Prepared { id, prepared }).await;
    });
}

fn prepare(plan: &Plan) -> Result<Prepared, Failure> {
    let spec = spec(plan)?;
    open(plan, &spec).map_err(|error| {
        let code = match error.kind() {
            io::ErrorKind::InvalidInput => Code::BadValue,
            _ => Code::System,
        };
        Failure::new(code, format!("create: {error}"))
    })
}

fn spec(plan: &Plan) -> Result<Spec, Failure> {
    let cwd = PathBuf::from(&plan.cwd);
    if !cwd.is_dir() {
        let error = format!("create: cwd: {:?} is not a directory that can be entered", plan.cwd);
        return Err(Failure::new(Code::SpawnFailed, error));
    }
    let name = plan.argv.first().map_or("", String::as_str);
    let path = plan.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
    let program = process::find_program(name, path, Path::new(&cwd))
        .map_err(|error| Failure::new(Code::SpawnFailed, format!("create: cmd_args: {error}")))?;
    Ok(Spec { program, argv: plan.argv.clone(), env: plan.env.clone(), cwd })
}

fn open(plan: &Plan, spec: &Spec) -> io::Result<Prepared> {
    // First, because it says in a client's words what is too long.
    let spec = spec.encode()?;
    let pty = pty::open(plan.size)?;
    let mut journal = Journal::create().map_err(|error| {
        io::Error::new(error.kind(), format!("no memory for the terminal: {error}"))
    })?;
    journal.record.write(&plan.record)?;
    let grid = plan.old_text.as_ref().map(|old| begin_with(plan.size, old, &mut journal));
    let (status, write_end) = io::pipe()?;
    let order = ToKeeper::Spawn {
        slot: SlotId(plan.id.0),
        master: pty.master.try_clone()?,
        record: journal.fd().try_clone_to_owned()?,
        slave: pty.slave,
        spec,
        status: write_end.into(),
    };
    let (master, status, grid) = (pty.master, status.into(), grid.map(Box::new));
    Ok(Prepared { master, journal, order, status, grid })
}

/// The text is in the journal's memory, and a save tells of it: so the next worker finds it too.
fn begin_with(size: Size, old: &OldText, journal: &mut Journal) -> Terminal {
    let memory = recover::memory(journal);
    let mut grid = Terminal::with_memory(size, old.scrollback_lines, memory);
    grid.begin_with(old.first, &old.text);
    let mut save = Vec::new();
    grid.save(&mut save);
    journal.save(0, &save);
    grid
}

/// Tells the hub when the status pipe is closed.
pub fn watch(id: TerminalId, status: OwnedFd, news: ToHub) -> io::Result<()> {
    let pipe = tokio::net::unix::pipe::Receiver::from_owned_fd(status)?;
    tokio::spawn(async move {
        let mut bytes = Vec::new();
        let _ = pipe.take(MAX_STATUS).read_to_end(&mut bytes).await;
        let _ = news.send(News::Status { id, bytes }).await;
    });
    Ok(())
}

/// Tells the hub when it is certain whether a program runs that another worker has had started.
pub fn look(id: TerminalId, pid: u32, news: ToHub) {
    tokio::spawn(async move {
        for _ in 0..MAX_LOOKS {
            if inspect::name_of(pid).as_deref() != Some(keeper::NAME) {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let _ = news.send(News::Status { id, bytes: Vec::new() }).await;
    });
}

/// What the child reported, as a sentence. If it reported to another worker there is only the mark.
pub fn outcome(bytes: &[u8], unstarted: bool) -> Result<(), Failure> {
    let marked = if unstarted { Err(ChildFailure::Spec) } else { Ok(()) };
    let told = read_status(bytes).and(marked);
    told.map_err(|failure| {
        let (what, errno) = match failure {
            ChildFailure::Cwd(errno) => ("cwd cannot be entered", errno),
            ChildFailure::Exec(errno) => ("the program cannot be run", errno),
            ChildFailure::Tty(errno) => ("the terminal cannot be set up", errno),
            ChildFailure::Spec => ("the program's description was damaged", 0),
        };
        refused(what, errno)
    })
}

pub fn refused(what: &str, errno: i32) -> Failure {
    let why = io::Error::from_raw_os_error(errno);
    Failure::new(Code::SpawnFailed, format!("create: {what}: {why}"))
}
