//! A recording on the person's own terminal: fed to a grid of ours and drawn from that, so that
//! nothing in it can steer the outer one.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::app::Incoming;
use super::canvas::{Canvas, Caret};
use super::paint::Painter;
use super::screen::Palette;
use super::tty::{self, Tty};
use crate::cast::{Cast, Event, Pace, What};
use crate::os::signal;
use crate::term::{Limits, Terminal};
use crate::wire::Looks;

/// Keys on their way.
const QUEUE: usize = 64;
/// Painting does not go on faster than this.
const FRAME: Duration = Duration::from_millis(8);
/// Bytes fed before keys are looked at.
const TURN: usize = 1 << 20;

enum News {
    Tty(Incoming),
    End,
}

/// Shows a recording until its end or until the person has seen enough; its last screen.
pub fn play(cast: &Cast, pace: Pace) -> io::Result<Terminal> {
    let (news, heard) = mpsc::sync_channel(QUEUE);
    let tty = Tty::take(false)?;
    let keys = news.clone();
    std::thread::spawn(move || {
        while let Ok(event) = tty::next_event() {
            if event.is_some_and(|event| keys.send(News::Tty(event)).is_err()) {
                break;
            }
        }
    });
    signal::on_end(move || {
        let _ = news.try_send(News::End);
    })?;
    let mut player = Player {
        events: pace.times(&cast.events).collect(),
        next: 0,
        term: Terminal::new(cast.size, Limits { lines: 0, bytes: 0 }),
        clock: Clock { since: now(), paused: None },
        painter: Painter::new(Tty::depth()),
        tty,
    };
    player.run(&heard)?;
    player.tty.leave();
    Ok(player.term)
}

struct Player<'a> {
    events: Vec<(Duration, &'a Event)>,
    next: usize,
    term: Terminal,
    clock: Clock,
    painter: Painter,
    tty: Tty,
}

/// The time within the recording.
struct Clock {
    since: Instant,
    /// Where it stands still.
    paused: Option<Duration>,
}

impl Clock {
    fn at(&self) -> Duration {
        self.paused.unwrap_or_else(|| now().saturating_duration_since(self.since))
    }

    fn toggle(&mut self) {
        match self.paused.take() {
            Some(at) => self.since = now().checked_sub(at).unwrap_or(self.since),
            None => self.paused = Some(self.at()),
        }
    }

    fn jump(&mut self, to: Duration) {
        match &mut self.paused {
            Some(at) => *at = to,
            None => self.since = now().checked_sub(to).unwrap_or(self.since),
        }
    }
}

impl Player<'_> {
    fn run(&mut self, heard: &Receiver<News>) -> io::Result<()> {
        self.paint()?;
        while let Some((due, _)) = self.events.get(self.next).copied() {
            let wait = match self.clock.paused {
                Some(at) if due > at => Duration::MAX,
                _ => due.saturating_sub(self.clock.at()),
            };
            match heard.recv_timeout(wait) {
                Ok(News::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(News::Tty(Incoming::Resize(..))) => self.painter.forget(),
                Ok(News::Tty(Incoming::Key(key))) => {
                    if self.press(&key.to_string()) {
                        return Ok(());
                    }
                }
                Ok(News::Tty(_)) | Err(RecvTimeoutError::Timeout) => {}
            }
            self.feed();
            self.paint()?;
        }
        self.term.end_sync();
        self.paint()
    }

    /// Whether the person has seen enough.
    fn press(&mut self, key: &str) -> bool {
        match key {
            "q" | "Ctrl+c" | "Escape" => return true,
            "Space" => self.clock.toggle(),
            "]" => {
                let later = self.events[self.next..].iter();
                let mut marks = later.filter(|(_, event)| matches!(event.what, What::Mark(_)));
                let end = self.events.last().map(|(at, _)| *at);
                let to = marks.find(|(at, _)| *at > self.clock.at()).map(|(at, _)| *at).or(end);
                to.into_iter().for_each(|to| self.clock.jump(to));
            }
            _ => {}
        }
        false
    }

    /// All that is due, and what comes so soon after it that nobody would see it apart.
    fn feed(&mut self) {
        let until = match self.clock.paused {
            Some(at) => at,
            None => self.clock.at() + FRAME,
        };
        let (mut fed, mut notices) = (0, Vec::new());
        while let Some((at, event)) = self.events.get(self.next)
            && *at <= until
            && fed < TURN
        {
            match &event.what {
                What::Output(text) => {
                    self.term.feed(text.as_bytes(), &mut notices);
                    fed += text.len();
                }
                What::Resize(size) => self.term.resize(*size),
                What::Mark(_) => {}
            }
            notices.clear();
            self.next += 1;
        }
    }

    /// Where the outer terminal is smaller, the part with the cursor is shown.
    fn paint(&mut self) -> io::Result<()> {
        let (cols, rows) = Tty::size();
        let size = self.term.size();
        let cursor = self.term.cursor();
        let top = (cursor.row + 1).saturating_sub(rows);
        let shown = self.term.snapshot(top..size.rows);
        let mut looks = Looks::default();
        let runs: Vec<_> = shown.rows.iter().map(|row| looks.row(&shown, row)).collect();
        let palette = Palette::of(&looks.into_list());
        let mut canvas = Canvas::new(cols, rows);
        for (y, runs) in (0..rows).zip(&runs) {
            canvas.put_row(0, y, &palette.row(runs, size.cols));
        }
        let inside = cursor.visible && cursor.col < cols && cursor.row - top < rows;
        canvas.caret = inside.then(|| Caret {
            x: cursor.col,
            y: cursor.row - top,
            shape: cursor.shape,
            blink: cursor.blink,
        });
        let mut out = Vec::new();
        self.painter.paint(&canvas, None, &mut out);
        if out.is_empty() { Ok(()) } else { self.tty.write(&out) }
    }
}

#[allow(clippy::disallowed_methods, reason = "a player shows things at their time")]
fn now() -> Instant {
    Instant::now()
}
