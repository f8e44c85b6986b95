//! A recording on the person's own terminal: fed to a grid of ours and drawn from that, so that
//! nothing in it can steer the outer one.

use std::io;
use std::time::{Duration, Instant};

use super::now;
use super::tty::{Person, Tty};
use crate::cast::{Cast, Event, Pace, What};
use crate::os::poll;
use crate::os::signal::{self, Heard};
use crate::seat::{Canvas, Caret, Incoming, Painter, Palette, Typed};
use crate::term::{Limits, Terminal};
use crate::wire::Looks;

/// Painting does not go on faster than this.
const FRAME: Duration = Duration::from_millis(8);
/// Bytes fed before keys are looked at.
const TURN: usize = 1 << 20;

/// Longest it is waited for keys.
const LONG: Duration = Duration::from_secs(3600);

/// Shows a recording until its end or until the person has seen enough; its last screen.
pub fn play(cast: &Cast, pace: Pace) -> io::Result<Terminal> {
    let (ends, resizes) = (Heard::of(signal::ENDS)?, Heard::of(signal::RESIZES)?);
    let tty = Tty::take(false)?;
    let mut player = Player {
        events: pace.times(&cast.events).collect(),
        next: 0,
        term: Terminal::new(cast.size, Limits { lines: 0, bytes: 0 }),
        clock: Clock { since: now(), paused: None },
        painter: Painter::new(Tty::depth()),
        tty,
        person: Person::new(),
        typed: Typed::default(),
        ends,
        resizes,
    };
    player.run()?;
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
    person: Person,
    typed: Typed,
    ends: Heard,
    resizes: Heard,
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
    fn run(&mut self) -> io::Result<()> {
        self.paint()?;
        while let Some((due, _)) = self.events.get(self.next).copied() {
            let wait = match self.clock.paused {
                Some(at) if due > at => LONG,
                _ => due.saturating_sub(self.clock.at()),
            };
            if self.listen(wait)? {
                return Ok(());
            }
            self.feed();
            self.paint()?;
        }
        self.term.end_sync();
        self.paint()
    }

    /// Waits for the person; whether it is over.
    fn listen(&mut self, wait: Duration) -> io::Result<bool> {
        let escape = self.typed.deadline().map(|due| due.saturating_duration_since(now()));
        let wait = escape.map_or(wait, |escape| escape.min(wait)).min(LONG);
        let fds = [self.person.fd(), self.ends.fd(), self.resizes.fd()].map(Some);
        let [typed, ended, resized] = poll::readable(fds, wait)?;
        if ended && self.ends.any() {
            return Ok(true);
        }
        if resized && self.resizes.any() {
            self.painter.forget();
        }
        let inputs = match typed.then(|| self.person.read()) {
            Some(Ok(bytes)) => self.typed.feed(bytes, now()),
            Some(Err(_)) => return Ok(true),
            None => self.typed.give_up(now()),
        };
        let mut keys = inputs.into_iter().filter_map(|input| match input {
            Incoming::Key(key) => Some(key.to_string()),
            _ => None,
        });
        Ok(keys.any(|key| self.press(&key)))
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
        let runs: Vec<_> = shown.rows.iter().map(|row| looks.row(shown.seen(row))).collect();
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
