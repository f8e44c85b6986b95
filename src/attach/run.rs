//! The client's loop: threads that only read, one that owns the state and paints.

use std::io::{BufRead, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::Value;

use super::app::{App, Effect, Incoming, Start};
use super::canvas::Canvas;
use super::config::{self, Config};
use super::git;
use super::paint::Painter;
use super::tty::{self, Tty};
use crate::client::{Client, Trouble, Writer};
use crate::os::{paths, process, signal};

/// Messages on their way to the loop; whoever has more to say waits.
const QUEUE: usize = 256;
/// Messages taken before the screen is painted.
const BURST: usize = 64;
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

enum News {
    Tty(Incoming),
    Line(Value),
    /// The connection of this number has ended.
    Lost(u64),
    End(&'static str),
}

/// Shows terminals until the person leaves; what to say then.
pub fn run(start: Start) -> Result<String, Trouble> {
    let (news, heard) = mpsc::sync_channel(QUEUE);
    let (config, problems) = read_config();
    let writer = connect(&news, 0)?;
    let tty = Tty::take(config.mouse)?;
    watch_tty(news.clone());
    watch_signals(&news)?;
    let (cols, rows) = Tty::size();
    let mut app = App::new(config, start, cols, rows, now());
    app.begin();
    if let Some(problem) = problems.into_iter().next() {
        app.report(problem);
    }
    let mut looper = Loop {
        app,
        tty,
        painter: Painter::new(Tty::depth()),
        canvas: Canvas::new(cols, rows),
        writer: Some(writer),
        news,
        connections: 0,
        lost_at: None,
        painted: None,
        heard: now(),
        stale: true,
        end: None,
    };
    let end = looper.serve(&heard);
    looper.tty.leave();
    end
}

struct Loop {
    app: App,
    tty: Tty,
    painter: Painter,
    canvas: Canvas,
    writer: Option<Writer>,
    news: SyncSender<News>,
    connections: u64,
    lost_at: Option<Instant>,
    painted: Option<Instant>,
    heard: Instant,
    stale: bool,
    end: Option<String>,
}

impl Loop {
    fn serve(&mut self, heard: &Receiver<News>) -> Result<String, Trouble> {
        loop {
            self.perform()?;
            if let Some(end) = self.end.take() {
                return Ok(end);
            }
            self.paint_if_due()?;
            match heard.recv_timeout(self.patience()) {
                Ok(news) => self.hear(news),
                Err(RecvTimeoutError::Timeout) => self.tick(),
                Err(RecvTimeoutError::Disconnected) => return Ok("[the end]".to_owned()),
            }
            for _ in 0..BURST {
                let Ok(news) = heard.try_recv() else { break };
                self.perform()?;
                self.hear(news);
            }
        }
    }

    /// How long nothing has to be done.
    fn patience(&self) -> Duration {
        let paint = self.paint_due().filter(|_| self.stale);
        let retry = self.lost_at.map(|_| now() + RETRY);
        let next = [self.app.deadline(), paint, retry].into_iter().flatten().min();
        next.map_or(LONG, |next| next.saturating_duration_since(now()))
    }

    fn hear(&mut self, news: News) {
        self.heard = now();
        match news {
            News::Tty(incoming) => self.app.on(incoming, now()),
            News::Line(line) => self.app.on(Incoming::Line(line), now()),
            News::Lost(connection) if connection == self.connections => {
                self.writer = None;
                self.lost_at = Some(now());
                self.app.on(Incoming::Lost, now());
            }
            News::Lost(_) => {}
            News::End(why) => self.end = Some(why.to_owned()),
        }
    }

    fn tick(&mut self) {
        if let Some(lost_at) = self.lost_at {
            self.reconnect(lost_at);
        }
        self.app.on(Incoming::Tick, now());
    }

    /// A new worker takes over the same socket; it is only a matter of moments.
    fn reconnect(&mut self, lost_at: Instant) {
        match connect(&self.news, self.connections + 1) {
            Ok(writer) => {
                self.connections += 1;
                (self.writer, self.lost_at) = (Some(writer), None);
                self.app.on(Incoming::Connected, now());
            }
            Err(_) if lost_at + RETRY_FOR > now() => {}
            Err(_) => self.end = Some("[server gone]".to_owned()),
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

    /// When it cannot be written the reader will tell that the server is gone.
    fn send(&mut self, line: &[u8]) {
        if let Some(writer) = &mut self.writer {
            let _ = writer.write_all(line);
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

fn connect(news: &SyncSender<News>, number: u64) -> Result<Writer, Trouble> {
    let client = match number {
        0 => Client::connect_or_start()?,
        _ => Client::connect()?.ok_or(Trouble::Closed)?,
    };
    let (mut reader, writer) = client.split()?;
    let news = news.clone();
    std::thread::spawn(move || {
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
            let parsed = serde_json::from_slice(&line);
            line.clear();
            if let Ok(value) = parsed
                && news.send(News::Line(value)).is_err()
            {
                return;
            }
        }
        let _ = news.send(News::Lost(number));
    });
    Ok(writer)
}

fn watch_tty(news: SyncSender<News>) {
    std::thread::spawn(move || {
        loop {
            let message = match tty::next_event() {
                Ok(Some(incoming)) => News::Tty(incoming),
                Ok(None) => continue,
                Err(_) => News::End("[the terminal is gone]"),
            };
            let over = matches!(message, News::End(_));
            if news.send(message).is_err() || over {
                return;
            }
        }
    });
}

/// A signal that would end the client ends it in good order.
fn watch_signals(news: &SyncSender<News>) -> Result<(), Trouble> {
    let news = news.clone();
    signal::on_end(move || {
        let _ = news.send(News::End("[ended by a signal]"));
    })?;
    Ok(())
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
    match paths::read_text(&path, config::MAX_CONFIG) {
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
