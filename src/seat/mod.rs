//! A person's seat: what they see and type, in panes and windows. Whoever has their terminal, the
//! client or the worker, brings it what comes and does what it wants.

mod act;
mod ahead;
mod app;
mod canvas;
pub mod config;
mod draw;
mod hear;
mod keymap;
mod layout;
pub mod lend;
mod outer;
mod overlay;
mod paint;
mod pane;
mod panes;
mod pointer;
mod restore;
mod screen;
mod scroll;
#[cfg(test)]
mod tests;
mod typed;
mod typing;
mod window;

use std::time::{Duration, Instant};

use app::App;
pub use app::{Incoming, Layout, Start};
pub use canvas::{Canvas, Caret};
use config::Found;
pub use outer::mouse;
pub use paint::{Depth, Painter};
pub use restore::restored_layout;
pub use screen::Palette;
pub use typed::Typed;
pub use typing::Typing;

/// Painting does not go on faster than this.
const PACE: Duration = Duration::from_millis(8);
/// Nothing more came for so long: what there is, is painted.
const QUIET: Duration = Duration::from_millis(1);

/// What whoever has the terminal is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// A line for the server.
    Send(Vec<u8>),
    /// Keys for it.
    Type(Typing),
    Leave(String),
    Suspend,
    ReadConfig,
    /// The branch that a directory is on.
    LookUp(String),
    /// The layout is this now.
    Layout(Layout),
}

pub struct Seat {
    app: App,
    typed: Typed,
    painter: Painter,
    canvas: Canvas,
    mouse: bool,
    /// For the outer terminal, besides the picture.
    asides: Vec<u8>,
    painted: Instant,
    heard: Option<Instant>,
    stale: bool,
    /// Something came that is to be seen at once.
    hurry: bool,
}

impl Seat {
    pub fn new(
        found: &Found,
        start: Start,
        (cols, rows): (u16, u16),
        depth: Depth,
        now: Instant,
    ) -> Seat {
        let (config, problems) = found.read();
        let mouse = config.mouse;
        let mut app = App::new(config, start, cols, rows, now);
        app.begin();
        problems.into_iter().take(1).for_each(|problem| app.report(problem));
        Seat {
            app,
            typed: Typed::default(),
            painter: Painter::new(depth),
            canvas: Canvas::new(cols, rows),
            mouse,
            asides: Vec::new(),
            painted: now,
            heard: None,
            stale: true,
            hurry: false,
        }
    }

    /// What the person typed, as it came from their terminal.
    pub fn types(&mut self, bytes: &[u8], now: Instant) {
        for incoming in self.typed.feed(bytes, now) {
            self.on(incoming, now);
        }
    }

    /// A line from the server.
    pub fn hear(&mut self, line: &[u8], now: Instant) {
        if let Some(incoming) = Incoming::read(line) {
            self.on(incoming, now);
        }
    }

    pub fn on(&mut self, incoming: Incoming, now: Instant) {
        // The mouse and new sizes come in storms.
        self.hurry |= !matches!(incoming, Incoming::Mouse(_) | Incoming::Resize(..));
        self.heard = Some(now);
        self.app.on(incoming, now);
    }

    /// The configuration was read again.
    pub fn configure(&mut self, found: &Found, now: Instant) {
        let (config, problems) = found.read();
        if std::mem::replace(&mut self.mouse, config.mouse) != config.mouse {
            self.asides.extend(mouse(config.mouse));
        }
        self.on(Incoming::Config(Box::new(config), problems), now);
    }

    /// The terminal was someone else's meanwhile.
    pub fn resume(&mut self, (cols, rows): (u16, u16), now: Instant) {
        self.painter.forget();
        self.on(Incoming::Resize(cols, rows), now);
    }

    /// What was typed last may be lost; it is told when there is a server again.
    pub fn doubt_typed(&mut self) {
        self.app.doubt_typed();
    }

    /// What time has brought; to be called after the deadline.
    pub fn tick(&mut self, now: Instant) {
        for incoming in self.typed.give_up(now) {
            self.on(incoming, now);
        }
        if self.app.deadline().is_some_and(|due| due <= now) {
            self.app.on(Incoming::Tick, now);
        }
    }

    /// When `tick` or `paint` is due.
    pub fn deadline(&self) -> Option<Instant> {
        let paint = self.paint_due().filter(|_| self.stale);
        [self.app.deadline(), self.typed.deadline(), paint].into_iter().flatten().min()
    }

    pub fn wishes(&mut self) -> Vec<Wish> {
        let mut wishes = Vec::new();
        for effect in self.app.take_effects() {
            match effect {
                app::Effect::Wish(wish) => wishes.push(wish),
                app::Effect::Clipboard(text) => self.asides.extend(outer::clipboard(&text)),
                app::Effect::Redraw => self.painter.forget(),
            }
        }
        wishes
    }

    /// Adds what is to be written to the person's terminal now, if anything is.
    pub fn paint(&mut self, now: Instant, out: &mut Vec<u8>) {
        out.append(&mut self.asides);
        self.stale |= self.app.has_changed();
        if !self.stale || self.paint_due().is_some_and(|due| due > now) {
            return;
        }
        let before = out.len();
        let rows = self.app.update(&mut self.canvas);
        self.painter.paint(&self.canvas, rows.as_ref(), out);
        (self.stale, self.hurry) = (false, false);
        if out.len() > before {
            self.painted = now;
        }
    }

    /// At once when the server or the person brought it; None says so. What the mouse does, and the
    /// empty screen of the beginning, when nothing more comes, or at the pace.
    fn paint_due(&self) -> Option<Instant> {
        let pace = self.painted + PACE;
        let quiet = self.heard.map_or(pace, |heard| heard + QUIET);
        (!self.hurry).then(|| quiet.min(pace))
    }
}
