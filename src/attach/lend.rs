//! The terminal lent to the worker, which reads and paints it beside the grids: a key and its echo
//! need not wake this process. The worker may die; then the terminal is still here.

use std::time::{Duration, Instant};

use super::run::{Signals, find_config};
use super::tty::Tty;
use super::{git, now};
use crate::client::{Client, Lines, Trouble};
use crate::os::{poll, tty};
use crate::seat::config::Found;
use crate::seat::lend::{self, FromLender, Lend, ToLender};
use crate::seat::{Layout, Start};

/// How long the worker may take to say that it does not use the terminal any more.
const BACK_WITHIN: Duration = Duration::from_millis(500);
/// Nobody answers for so long to one who lends: it is done without.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);
/// A new worker is there in less; until then the screen stays as it was.
const NEW_WORKER_WITHIN: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(3600);

/// Why the terminal is this process's again.
pub enum Ended {
    /// The person left; what to say.
    Left(String),
    /// The worker cannot have it.
    NotTaken,
    /// The worker is gone, and this was the layout.
    Gone(Option<Layout>),
}

pub fn run(
    server: &mut Lines,
    tty: &mut Tty,
    signals: &mut Signals,
    start: &Start,
    found: &Found,
) -> Result<Ended, Trouble> {
    let Ok(outer) = tty::own() else { return Ok(Ended::NotTaken) };
    let lend = Lend {
        version: lend::VERSION,
        start: start.clone(),
        size: Tty::size(),
        depth: Tty::depth(),
        config: found.clone(),
    };
    let line = lend::line(&FromLender::Lend(Box::new(lend)));
    if server.send_with(&line, outer).is_err() {
        return Ok(Ended::Gone(None));
    }
    let until = Some(now() + TAKEN_WITHIN);
    let (taken, ending) = (false, false);
    Lender { server, tty, signals, layout: None, taken, ending, until, ended: None }.serve()
}

struct Lender<'a> {
    server: &'a mut Lines,
    tty: &'a mut Tty,
    signals: &'a mut Signals,
    layout: Option<Layout>,
    taken: bool,
    /// A signal wants this process to end.
    ending: bool,
    /// Until when an answer is waited for.
    until: Option<Instant>,
    ended: Option<Ended>,
}

impl Lender<'_> {
    fn serve(mut self) -> Result<Ended, Trouble> {
        loop {
            self.listen()?;
            if let Some(ended) = self.ended.take() {
                return Ok(ended);
            }
        }
    }

    fn listen(&mut self) -> Result<(), Trouble> {
        let Signals { ends, resizes } = &mut *self.signals;
        let fds = [Some(self.server.fd()), Some(ends.fd()), Some(resizes.fd())];
        let patience = self.until.map_or(LONG, |until| until.saturating_duration_since(now()));
        let [told, ended, resized] = poll::readable(fds, patience)?;
        if resized && resizes.any() {
            let (cols, rows) = Tty::size();
            self.tell(&FromLender::Resized(cols, rows));
        }
        if ended && self.signals.ends.any() {
            self.tell(&FromLender::Back);
            (self.ending, self.until) = (true, Some(now() + BACK_WITHIN));
        }
        if told {
            self.hear()?;
        }
        if self.until.is_some_and(|until| until <= now()) {
            // A worker that takes the terminal later finds its lender gone.
            let late = match self.ending {
                true => Ended::Left("[ended by a signal]".to_owned()),
                false => Ended::Gone(None),
            };
            self.ended.get_or_insert(late);
        }
        Ok(())
    }

    /// When it cannot be told, reading will say that the worker is gone.
    fn tell(&mut self, message: &FromLender) {
        let _ = self.server.send(&lend::line(message));
    }

    fn hear(&mut self) -> Result<(), Trouble> {
        let mut messages = Vec::new();
        let open = self.server.take(|line| messages.push(serde_json::from_slice(line)));
        for message in messages {
            match message {
                Ok(message) => self.on(message)?,
                // A worker that knows nothing of this says so as to any request.
                Err(_) if !self.taken => self.ended = Some(Ended::NotTaken),
                Err(_) => {}
            }
        }
        if open.is_err() && self.ended.is_none() {
            self.ended = Some(Ended::Gone(self.layout.take()));
        }
        Ok(())
    }

    fn on(&mut self, message: ToLender) -> Result<(), Trouble> {
        match message {
            ToLender::Taken if self.ending => self.taken = true,
            ToLender::Taken => (self.taken, self.until) = (true, None),
            ToLender::Leave(why) => self.ended = Some(Ended::Left(why)),
            ToLender::Failed => self.ended = Some(Ended::Gone(self.layout.take())),
            ToLender::Suspend => {
                self.tty.suspend()?;
                let (cols, rows) = Tty::size();
                self.tell(&FromLender::Resumed(cols, rows));
            }
            ToLender::ReadConfig => {
                let found = find_config();
                self.tty.set_mouse(found.read().0.mouse);
                self.tell(&FromLender::Config(found));
            }
            ToLender::LookUp(cwd) => {
                let branch = git::branch(&cwd);
                self.tell(&FromLender::Branch { cwd, branch });
            }
            ToLender::Layout(layout) => self.layout = Some(layout),
        }
        Ok(())
    }
}

/// A new worker takes over the same socket; it is only a matter of moments.
pub fn find_server(retry: Duration) -> Option<Lines> {
    let until = now() + NEW_WORKER_WITHIN;
    loop {
        match Client::connect() {
            Ok(Some(client)) => return Some(client.into_lines()),
            _ if now() >= until => return None,
            _ => std::thread::sleep(retry),
        }
    }
}
