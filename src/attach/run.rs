//! The client's loop: one thread hears the person, the server and signals, and paints.

use std::time::{Duration, Instant};

use base64::Engine;

use super::app::{App, Effect, Incoming, Start};
use super::canvas::Canvas;
use super::config::{self, Config};
use super::git;
use super::paint::Painter;
use super::tty::{Person, Tty};
use crate::client::{Client, Lines, Trouble};
use crate::mux::limits::MAX_CONFIG;
use crate::os::signal::{self, Heard};
use crate::os::{paths, poll, process};

/// Painting does not go on faster than this.
const PACE: Duration = Duration::from_millis(8);
/// Nothing more came for so long: what there is, is painted.
const QUIET: Duration = Duration::from_millis(1);
/// Between tries to reach a server that is gone, and for how long in all.
const RETRY: Duration = Duration::from_millis(50);
const RETRY_FOR: Duration = Duration::from_secs(10);
/// Longest the loop sleeps.
const LONG: Duration = Duration::from_secs(3600);
/// Characters copied at most; terminals refuse more.
const MAX_CLIPBOARD: usize = 1 << 20;

/// Shows terminals until the person leaves; what to say then.
pub fn run(start: Start) -> Result<String, Trouble> {
    let (config, problems) = read_config();
    let server = Client::connect_or_start()?.into_lines();
    let (ends, resizes) = (Heard::of(signal::ENDS)?, Heard::of(signal::RESIZES)?);
    let tty = Tty::take(config.mouse)?;
    let (cols, rows) = Tty::size();
    let mut app = App::new(config, start, cols, rows, now());
    app.begin();
    if let Some(problem) = problems.into_iter().next() {
        app.report(problem);
    }
    let mut looper = Loop {
        app,
        tty,
        person: Person::new(),
        server: Some(server),
        ends,
        resizes,
        painter: Painter::new(Tty::depth()),
        canvas: Canvas::new(cols, rows),
        lost_at: None,
        painted: None,
        heard: now(),
        stale: true,
        end: None,
    };
    let end = looper.serve();
    looper.tty.leave();
    end
}

struct Loop {
    app: App,
    tty: Tty,
    person: Person,
    /// None while it is gone.
    server: Option<Lines>,
    ends: Heard,
    resizes: Heard,
    painter: Painter,
    canvas: Canvas,
    lost_at: Option<Instant>,
    painted: Option<Instant>,
    heard: Instant,
    stale: bool,
    end: Option<String>,
}

impl Loop {
    fn serve(&mut self) -> Result<String, Trouble> {
        loop {
            self.perform()?;
            if let Some(end) = self.end.take() {
                return Ok(end);
            }
            self.paint_if_due()?;
            self.listen()?;
        }
    }

    /// Waits until something happens, and tells the client of it.
    fn listen(&mut self) -> Result<(), Trouble> {
        let server = self.server.as_ref().map(Lines::fd);
        let fds = [Some(self.person.fd()), server, Some(self.ends.fd()), Some(self.resizes.fd())];
        let [typed, answered, ended, resized] = poll::readable(fds, self.patience())?;
        if ended && self.ends.any() {
            self.end = Some("[ended by a signal]".to_owned());
            return Ok(());
        }
        if resized && self.resizes.any() {
            let (cols, rows) = Tty::size();
            self.hear(Incoming::Resize(cols, rows))?;
        }
        match self.person.heard(typed, now()) {
            Ok(all) => all.into_iter().try_for_each(|incoming| self.hear(incoming))?,
            Err(_) => self.end = Some("[the terminal is gone]".to_owned()),
        }
        if answered {
            self.hear_server()?;
        }
        let due = self.app.deadline().is_some_and(|due| due <= now());
        if due || !(typed || answered || resized) { self.tick() } else { Ok(()) }
    }

    /// How long nothing has to be done.
    fn patience(&self) -> Duration {
        let paint = self.paint_due().filter(|_| self.stale);
        let retry = self.lost_at.map(|_| now() + RETRY);
        let next = [self.app.deadline(), self.person.deadline(), paint, retry];
        let next = next.into_iter().flatten().min();
        next.map_or(LONG, |next| next.saturating_duration_since(now()))
    }

    fn hear(&mut self, incoming: Incoming) -> Result<(), Trouble> {
        self.heard = now();
        self.app.on(incoming, self.heard);
        self.perform()
    }

    fn hear_server(&mut self) -> Result<(), Trouble> {
        let Some(server) = &mut self.server else { return Ok(()) };
        let mut lines = Vec::new();
        let taken = server.take(|line| lines.extend(serde_json::from_slice(line)));
        lines.into_iter().try_for_each(|line| self.hear(Incoming::Line(line)))?;
        if taken.is_err() {
            self.server = None;
            self.lost_at = Some(now());
            self.hear(Incoming::Lost)?;
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Trouble> {
        if let Some(lost_at) = self.lost_at {
            self.reconnect(lost_at);
        }
        self.app.on(Incoming::Tick, now());
        self.perform()
    }

    /// A new worker takes over the same socket; it is only a matter of moments.
    fn reconnect(&mut self, lost_at: Instant) {
        match Client::connect() {
            Ok(Some(client)) => {
                (self.server, self.lost_at) = (Some(client.into_lines()), None);
                self.app.on(Incoming::Connected, now());
            }
            _ if lost_at + RETRY_FOR > now() => {}
            _ => self.end = Some("[server gone]".to_owned()),
        }
    }

    fn perform(&mut self) -> Result<(), Trouble> {
        for effect in self.app.take_effects() {
            match effect {
                Effect::Send(line) => self.send(&line),
                Effect::Clipboard(text) => self.tty.write(&clipboard(&text))?,
                Effect::Leave(why) => self.end = Some(why),
                Effect::Redraw => self.painter.forget(),
                Effect::Suspend => self.suspend()?,
                Effect::ReadConfig => {
                    let (config, problems) = read_config();
                    self.tty.set_mouse(config.mouse)?;
                    self.app.on(Incoming::Config(Box::new(config), problems), now());
                }
                Effect::LookUp(cwd) => {
                    let branch = git::branch(&cwd);
                    self.app.on(Incoming::Branch { cwd, branch }, now());
                }
            }
        }
        Ok(())
    }

    /// When it cannot be written, reading will tell that the server is gone.
    fn send(&mut self, line: &[u8]) {
        if let Some(server) = &mut self.server {
            let _ = server.send(line);
        }
    }

    fn suspend(&mut self) -> Result<(), Trouble> {
        self.tty.leave();
        signal::stop_self();
        self.tty.enter()?;
        self.painter.forget();
        let (cols, rows) = Tty::size();
        self.app.on(Incoming::Resize(cols, rows), now());
        Ok(())
    }

    /// At once after a pause, and when nothing more comes, so that a typed key is seen at once;
    /// else at the pace.
    fn paint_due(&self) -> Option<Instant> {
        self.painted.map(|at| at + PACE).min(Some(self.heard + QUIET))
    }

    fn paint_if_due(&mut self) -> Result<(), Trouble> {
        self.stale |= self.app.has_changed();
        if self.stale && self.paint_due().is_none_or(|due| due <= now()) {
            let mut bytes = Vec::new();
            let rows = self.app.update(&mut self.canvas);
            self.painter.paint(&self.canvas, rows.as_ref(), &mut bytes);
            self.stale = false;
            if !bytes.is_empty() {
                self.tty.write(&bytes)?;
                self.painted = Some(now());
            }
        }
        Ok(())
    }
}

/// The outer terminal's clipboard, by OSC 52.
fn clipboard(text: &str) -> Vec<u8> {
    let end = text.char_indices().nth(MAX_CLIPBOARD).map_or(text.len(), |(at, _)| at);
    let data = base64::engine::general_purpose::STANDARD.encode(&text[..end]);
    format!("\x1b]52;c;{data}\x1b\\").into_bytes()
}

/// The person's configuration, and what is wrong with it.
pub fn read_config() -> (Config, Vec<String>) {
    let Some(path) = paths::config_file() else { return (Config::default(), Vec::new()) };
    match paths::read_text(&path, MAX_CONFIG) {
        Ok(Some(text)) => {
            let (config, problems) = config::parse(&text);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (config, problems.iter().map(|problem| format!("{name}: {problem}")).collect())
        }
        Ok(None) => (Config::default(), Vec::new()),
        Err(error) => (Config::default(), vec![format!("{}: {error}", path.display())]),
    }
}

/// What others see of who this is.
pub fn own_name() -> String {
    process::user_name().unwrap_or_else(|| "someone".to_owned())
}

#[allow(clippy::disallowed_methods, reason = "the client's own clock")]
fn now() -> Instant {
    Instant::now()
}
