//! The client's loop: one thread hears the person, the server and signals, and paints. It runs when
//! the terminal cannot be lent to the worker, or when that is gone.

use std::time::{Duration, Instant};

use super::lend::{self, Ended};
use super::tty::{Person, Tty};
use super::{git, now};
use crate::client::{Client, Lines, Trouble};
use crate::mux::limits::MAX_CONFIG;
use crate::os::signal::{self, Heard};
use crate::os::{paths, poll, process};
use crate::seat::config::{Config, Found};
use crate::seat::{Incoming, Seat, Start, Wish};

/// Between tries to reach a server that is gone, and for how long in all.
const RETRY: Duration = Duration::from_millis(50);
const RETRY_FOR: Duration = Duration::from_secs(10);
/// Longest the loop sleeps.
const LONG: Duration = Duration::from_secs(3600);

/// Signals that the client hears.
pub struct Signals {
    pub ends: Heard,
    pub resizes: Heard,
}

/// Shows terminals until the person leaves; what to say then.
pub fn run(mut start: Start) -> Result<String, Trouble> {
    let found = find_config();
    let mut server = Client::connect_or_start()?.into_lines();
    let mut signals =
        Signals { ends: Heard::of(signal::ENDS)?, resizes: Heard::of(signal::RESIZES)? };
    let mut tty = Tty::take(found.read().0.mouse)?;
    let ended = lend::run(&mut server, &mut tty, &mut signals, &start, &found)?;
    let mut looper = match ended {
        Ended::Left(why) => {
            tty.leave();
            return Ok(why);
        }
        Ended::NotTaken => Loop::new(&found, start, tty, signals, Some(server)),
        Ended::Gone(layout) => {
            (start.terminal, start.layout) = (start.terminal.filter(|_| layout.is_none()), layout);
            let server = lend::find_server(RETRY);
            let mut looper = Loop::new(&find_config(), start, tty, signals, server);
            looper.after_loss();
            looper
        }
    };
    let end = looper.serve();
    looper.tty.leave();
    end
}

struct Loop {
    seat: Seat,
    tty: Tty,
    person: Person,
    /// None while it is gone.
    server: Option<Lines>,
    signals: Signals,
    /// Directories whose branch is to be looked up.
    lookups: Vec<String>,
    /// What is painted; the memory is used again.
    bytes: Vec<u8>,
    /// Lines for the server.
    out: Vec<u8>,
    /// When the server was lost, until one has said something again.
    lost_at: Option<Instant>,
    end: Option<String>,
}

impl Loop {
    fn new(found: &Found, start: Start, tty: Tty, signals: Signals, server: Option<Lines>) -> Loop {
        Loop {
            seat: Seat::new(found, start, Tty::size(), Tty::depth(), now()),
            tty,
            person: Person::new(),
            server,
            signals,
            lookups: Vec::new(),
            bytes: Vec::new(),
            out: Vec::new(),
            lost_at: None,
            end: None,
        }
    }

    /// The worker that had the terminal is gone; what it had read and not yet typed is too.
    fn after_loss(&mut self) {
        self.seat.doubt_typed();
        self.lost_at = Some(now());
        if self.server.is_none() {
            self.seat.on(Incoming::Lost, now());
        }
    }

    fn serve(&mut self) -> Result<String, Trouble> {
        loop {
            self.perform()?;
            self.send();
            if let Some(end) = self.end.take() {
                return Ok(end);
            }
            self.paint()?;
            if !self.lookups.is_empty() {
                self.look_up();
                continue;
            }
            self.listen()?;
        }
    }

    /// Waits until something happens, and tells the seat of it.
    fn listen(&mut self) -> Result<(), Trouble> {
        let server = self.server.as_ref().map(Lines::fd);
        let Signals { ends, resizes } = &mut self.signals;
        let fds = [Some(self.person.fd()), server, Some(ends.fd()), Some(resizes.fd())];
        let patience = match self.lost_at {
            Some(_) => RETRY,
            None => LONG,
        };
        let due = self.seat.deadline().map(|due| due.saturating_duration_since(now()));
        let patience = due.map_or(patience, |due| due.min(patience));
        let [typed, answered, ended, resized] = poll::readable(fds, patience)?;
        if ended && ends.any() {
            self.end = Some("[ended by a signal]".to_owned());
            return Ok(());
        }
        if resized && resizes.any() {
            let (cols, rows) = Tty::size();
            self.seat.on(Incoming::Resize(cols, rows), now());
        }
        if typed {
            match self.person.read() {
                Ok(bytes) => self.seat.types(bytes, now()),
                Err(_) => self.end = Some("[the terminal is gone]".to_owned()),
            }
        }
        if answered {
            self.hear_server();
        }
        if let Some(lost_at) = self.lost_at {
            self.reconnect(lost_at);
        }
        self.seat.tick(now());
        Ok(())
    }

    fn hear_server(&mut self) {
        let Some(server) = &mut self.server else { return };
        let (seat, lost_at) = (&mut self.seat, &mut self.lost_at);
        let taken = server.take(|line| {
            if lost_at.take().is_some() {
                seat.on(Incoming::Answered, now());
            }
            seat.hear(line, now());
        });
        if taken.is_err() {
            self.server = None;
            self.lost_at.get_or_insert(now());
            self.seat.on(Incoming::Lost, now());
        }
    }

    /// A new worker takes over the same socket; it is only a matter of moments. Until it does, one
    /// may be connected and get no answer.
    fn reconnect(&mut self, lost_at: Instant) {
        if lost_at + RETRY_FOR <= now() {
            self.end = Some("[server gone]".to_owned());
        } else if self.server.is_none()
            && let Ok(Some(client)) = Client::connect()
        {
            self.server = Some(client.into_lines());
            self.seat.on(Incoming::Connected, now());
        }
    }

    fn perform(&mut self) -> Result<(), Trouble> {
        for wish in self.seat.wishes() {
            match wish {
                Wish::Send(line) => self.out.extend(line),
                Wish::Type(typed) => self.out.extend(typed.line()),
                Wish::Leave(why) => self.end = Some(why),
                Wish::Suspend => {
                    self.send();
                    self.tty.suspend()?;
                    self.seat.resume(Tty::size(), now());
                }
                Wish::ReadConfig => {
                    let found = find_config();
                    self.tty.set_mouse(found.read().0.mouse);
                    self.seat.configure(&found, now());
                }
                Wish::LookUp(cwd) => self.lookups.push(cwd),
                Wish::Layout(_) => {}
            }
        }
        Ok(())
    }

    /// Not before all else is painted: files are read for it.
    fn look_up(&mut self) {
        for cwd in std::mem::take(&mut self.lookups) {
            let branch = git::branch(&cwd);
            self.seat.on(Incoming::Branch { cwd, branch }, now());
        }
    }

    /// When it cannot be written, reading will tell that the server is gone.
    fn send(&mut self) {
        if let Some(server) = self.server.as_mut().filter(|_| !self.out.is_empty()) {
            let _ = server.send(&self.out);
        }
        self.out.clear();
    }

    fn paint(&mut self) -> Result<(), Trouble> {
        self.bytes.clear();
        self.seat.paint(now(), &mut self.bytes);
        if !self.bytes.is_empty() {
            self.tty.write(&self.bytes)?;
        }
        Ok(())
    }
}

/// The person's configuration file.
pub fn find_config() -> Found {
    let Some(path) = paths::config_file() else { return Found::default() };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match paths::read_text(&path, MAX_CONFIG) {
        Ok(text) => Found { name, text, error: None },
        Err(error) => Found {
            name: path.to_string_lossy().into_owned(),
            text: None,
            error: Some(error.to_string()),
        },
    }
}

/// What it says, and what is wrong with it.
pub fn read_config() -> (Config, Vec<String>) {
    find_config().read()
}

/// What others see of who this is.
pub fn own_name() -> String {
    process::user_name().unwrap_or_else(|| "someone".to_owned())
}
