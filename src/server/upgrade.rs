//! A worker of another program in place of this one: the keeper hands over as after a crash.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::formats::Formats;
use super::hub::Hub;
use super::{News, clock, elsewhere};
use crate::keeper::{Exit, ToKeeper, Unfit};
use crate::mux::Incoming;
use crate::os::program::Program;
use crate::os::{poll, signal};
use crate::wire::{Code, Failure};

/// How long a program may take to tell its formats, and how many bytes.
const CHECK_TIME: Duration = Duration::from_secs(5);
const MAX_TOLD: usize = 4096;
/// How long a worker that is to go waits for the disk and for its clients.
pub const LAST_WRITES: Duration = Duration::from_millis(500);

/// A program that can take over.
pub struct Fit {
    program: Program,
    version: String,
}

impl Hub {
    /// Off the hub: a program is run.
    pub(super) fn check_program(&self, from: String) {
        let news = self.to_hub.clone();
        tokio::spawn(async move {
            let checked = elsewhere::run(move || check(&from)).await;
            let failed = || Failure::new(Code::System, "upgrade: the program was not looked at");
            let checked = checked.unwrap_or_else(|| Err(failed()));
            let _ = news.send(News::Checked(Box::new(checked))).await;
        });
    }

    pub(super) fn checked(&mut self, checked: Result<Fit, Failure>) {
        match checked {
            Ok(Fit { program, version }) => {
                self.successor = Some(version);
                self.tell_keeper(Some(ToKeeper::Upgrade { program: program.into_fd() }));
            }
            Err(failure) => self.no_successor(failure),
        }
    }

    pub(super) fn no_successor(&mut self, failure: Failure) {
        self.successor = None;
        self.mux.on(Incoming::Upgraded(Err(failure)), clock::now());
    }

    /// The keeper that should have seen to it is gone.
    pub(super) fn forget_successor(&mut self) {
        if self.successor.is_some() {
            let error = "upgrade: the keeper died meanwhile: try again";
            self.no_successor(Failure::new(Code::System, error));
        }
    }

    /// A worker is ready to take over: this one ends in good order.
    pub(super) fn leave(&mut self) {
        let Some(version) = self.successor.take() else { return };
        self.mux.on(Incoming::Upgraded(Ok(version)), clock::now());
        self.perform();
        self.leaving = Some(clock::now() + LAST_WRITES);
        // Each connection is closed when it has taken what was answered.
        self.outboxes.close_all();
        self.accepting.iter().for_each(tokio::task::AbortHandle::abort);
    }

    /// The keeper died, so this worker is needed.
    pub(super) fn stay(&mut self) {
        if self.leaving.take().is_some() {
            self.accept();
        }
    }

    /// What was recorded is on the disk and what was answered is out, or it took too long. Without a
    /// keeper to hand over, nobody leaves.
    pub(super) fn has_left(&self) -> bool {
        let all_done = || self.mux.clients() == 0 && !self.mux.writes_recordings();
        let done = |deadline| deadline <= clock::now() || all_done();
        self.leaving.is_some_and(done) && self.keeper.is_open()
    }
}

/// Opens a program and asks it what it can take over.
fn check(from: &str) -> Result<Fit, Failure> {
    let unfit = |code, why: String| Failure::new(code, format!("upgrade: {from} {why}"));
    let cannot = |error: io::Error| unfit(Code::SpawnFailed, format!("cannot be run: {error}"));
    let program = Program::open(from)
        .map_err(|error| Failure::new(Code::SpawnFailed, format!("upgrade: {error}")))?;
    let told = told(&program).map_err(cannot)?;
    let formats: Formats = serde_json::from_slice(&told).map_err(|_| {
        let why = "does not say what it can take over: it is not t4a, or too old for this";
        unfit(Code::Incompatible, why.to_owned())
    })?;
    match formats.differs() {
        None => Ok(Fit { program, version: formats.version }),
        Some(why) => {
            let (new, own) = (formats.version, env!("CARGO_PKG_VERSION"));
            let why = format!(
                "is t4a {new}, which cannot take over from this server, {own}: {why}. Nothing has \
                 changed. `t4a shutdown` ends this server and its terminals, and the next command \
                 starts the new one"
            );
            Err(unfit(Code::Incompatible, why))
        }
    }
}

/// What a program says of its formats.
fn told(program: &Program) -> io::Result<Vec<u8>> {
    let mut command = program.command()?;
    command.arg0("t4a").arg("__formats").process_group(0);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let told = read_all(&mut child);
    // It has said all, or enough; what it started goes with it.
    let _ = signal::signal_group(child.id(), libc::SIGKILL);
    let _ = child.wait();
    told
}

fn read_all(child: &mut Child) -> io::Result<Vec<u8>> {
    let deadline = clock::now() + CHECK_TIME;
    let mut told = Vec::new();
    let Some(stdout) = &mut child.stdout else { return Ok(told) };
    while told.len() <= MAX_TOLD {
        let left = deadline.saturating_duration_since(clock::now());
        if left.is_zero() {
            let error = format!("it says nothing for {} s", CHECK_TIME.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, error));
        }
        poll::wait(&[stdout.as_fd()], None, Some(left))?;
        let mut chunk = [0; 512];
        if poll::is_readable(stdout.as_fd()) {
            match stdout.read(&mut chunk)? {
                0 => return Ok(told),
                count => told.extend_from_slice(&chunk[..count]),
            }
        }
    }
    Err(io::Error::other(format!("it says more than {MAX_TOLD} bytes")))
}

/// Why there is no successor.
pub fn refused(why: Unfit) -> Failure {
    let error = format!("upgrade: the new worker {}; this one goes on", reason(why));
    Failure::new(Code::SpawnFailed, error)
}

/// What a worker has to tell that serves because a new one failed.
pub fn fell_back(why: Unfit) -> String {
    format!("the last upgrade failed: the new worker {}; the former one is back", reason(why))
}

fn reason(why: Unfit) -> String {
    match why {
        Unfit::Start(errno) => {
            format!("could not be started: {}", io::Error::from_raw_os_error(errno))
        }
        Unfit::Ended(Exit::Code(code)) => format!("ended with code {code}"),
        Unfit::Ended(Exit::Signal(signal)) => format!("was ended by signal {signal}"),
        Unfit::Ended(Exit::Unknown) => "ended".to_owned(),
        Unfit::Silent => "did not take over in time".to_owned(),
    }
}
