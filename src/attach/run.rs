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
        lookups: Vec::new(),
        bytes: Vec::new(),
        out: Vec::new(),
        lost_at: None,
        painted: now(),
        heard: None,
        stale: true,
        hurry: false,
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
    /// Directories whose branch is to be looked up.
    lookups: Vec<String>,
    /// What is painted; the memory is used again.
    bytes: Vec<u8>,
    /// Lines for the server.
    out: Vec<u8>,
    /// When the server was lost, until one has said something again.
    lost_at: Option<Instant>,
    painted: Instant,
    heard: Option<Instant>,
    stale: bool,
    /// Something came that is to be seen at once.
    hurry: bool,
    end: Option<String>,
}

impl Loop {
    fn serve(&mut self) -> Result<String, Trouble> {
        loop {
            self.perform()?;
            self.send();
            if let Some(end) = self.end.take() {
                return Ok(end);
            }
            self.paint_if_due()?;
            if !self.lookups.is_empty() {
                self.look_up();
                continue;
            }
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
        // The mouse and new sizes come in storms.
        self.hurry |= !matches!(incoming, Incoming::Mouse(_) | Incoming::Resize(..));
        let now = now();
        self.heard = Some(now);
        self.app.on(incoming, now);
        self.perform()
    }

    fn hear_server(&mut self) -> Result<(), Trouble> {
        let Some(server) = &mut self.server else { return Ok(()) };
        let mut lines = Vec::new();
        let taken = server.take(|line| lines.extend(Incoming::read(line)));
        if self.lost_at.take_if(|_| !lines.is_empty()).is_some() {
            self.hear(Incoming::Answered)?;
        }
        lines.into_iter().try_for_each(|line| self.hear(line))?;
        if taken.is_err() {
            self.server = None;
            self.lost_at.get_or_insert(now());
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

    /// A new worker takes over the same socket; it is only a matter of moments. Until it does, one
    /// may be connected and get no answer.
    fn reconnect(&mut self, lost_at: Instant) {
        if lost_at + RETRY_FOR <= now() {
            self.end = Some("[server gone]".to_owned());
        } else if self.server.is_none()
            && let Ok(Some(client)) = Client::connect()
        {
            self.server = Some(client.into_lines());
            self.app.on(Incoming::Connected, now());
        }
    }

    fn perform(&mut self) -> Result<(), Trouble> {
        for effect in self.app.take_effects() {
            match effect {
                Effect::Send(line) => self.out.extend(line),
                Effect::Clipboard(text) => self.tty.write(&clipboard(&text))?,
                Effect::Leave(why) => self.end = Some(why),
                Effect::Redraw => self.painter.forget(),
                Effect::Suspend => {
                    self.send();
                    self.suspend()?;
                }
                Effect::ReadConfig => {
                    let (config, problems) = read_config();
                    self.tty.set_mouse(config.mouse)?;
                    self.app.on(Incoming::Config(Box::new(config), problems), now());
                }
                Effect::LookUp(cwd) => self.lookups.push(cwd),
            }
        }
        Ok(())
    }

    /// Not before all else is painted: files are read for it.
    fn look_up(&mut self) {
        for cwd in std::mem::take(&mut self.lookups) {
            let branch = git::branch(&cwd);
            self.app.on(Incoming::Branch { cwd, branch }, now());
        }
    }

    /// When it cannot be written, reading will tell that the server is gone.
    fn send(&mut self) {
        if let Some(server) = self.server.as_mut().filter(|_| !self.out.is_empty()) {
            let _ = server.send(&self.out);
        }
        self.out.clear();
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

    /// At once when the server or the person brought it; None says so. What the mouse does, and the
    /// empty screen of the beginning, when nothing more comes, or at the pace.
    fn paint_due(&self) -> Option<Instant> {
        let pace = self.painted + PACE;
        let quiet = self.heard.map_or(pace, |heard| heard + QUIET);
        (!self.hurry).then(|| quiet.min(pace))
    }

    fn paint_if_due(&mut self) -> Result<(), Trouble> {
        self.stale |= self.app.has_changed();
        if self.stale && self.paint_due().is_none_or(|due| due <= now()) {
            let rows = self.app.update(&mut self.canvas);
            self.bytes.clear();
            self.painter.paint(&self.canvas, rows.as_ref(), &mut self.bytes);
            (self.stale, self.hurry) = (false, false);
            if !self.bytes.is_empty() {
                self.painted = now();
                self.tty.write(&self.bytes)?;
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
