//! The client's state: something comes in, effects go out. No I/O, no clock.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Wish;
use super::ahead::Ahead;
use super::config::Config;
use super::keymap::Prefix;
use super::layout::{Axis, Border, PaneId};
use super::overlay::Overlay;
use super::pane::Pane;
use super::scroll::{Rows, Spot};
use super::window::Window;
use crate::command::{self, Command};
use crate::input::Key;
use crate::wire::{EventKind, Frame, Role, tagged_request_line};

/// The smallest outer terminal that is drawn on.
pub const MIN_COLS: u16 = 40;
pub const MIN_ROWS: u16 = 10;
/// How long a message stands in the status bar.
const MESSAGE_TIME: Duration = Duration::from_secs(4);
/// A pane whose program has ended is closed after this long.
pub const CLOSE_AFTER: Duration = Duration::from_secs(5);
/// Requests that wait for an answer; with more, typing has to wait too.
const MAX_PENDING: usize = 256;

/// What happens to the client.
#[derive(Debug)]
pub enum Incoming {
    Key(Key),
    /// A key that is held or let go, where the outer terminal tells.
    KeyAgain(Key, command::Kind),
    Paste(String),
    Mouse(Pointer),
    Focus(bool),
    Resize(u16, u16),
    /// What a view shows now.
    Frame(Box<Frame>),
    /// Any other line from the server.
    Line(Value),
    /// What was typed with this tag was taken.
    Typed(u64),
    Lost,
    Connected,
    /// The server that was connected to has said something.
    Answered,
    /// The configuration was read again.
    Config(Box<Config>, Vec<String>),
    /// The branch that a directory is on.
    Branch {
        cwd: String,
        branch: Option<String>,
    },
    Tick,
}

impl Incoming {
    /// A line from the server; None if it is not JSON. A frame comes with each key: it is read
    /// without a detour.
    pub fn read(line: &[u8]) -> Option<Incoming> {
        match serde_json::from_slice(line) {
            Ok(frame) => Some(Incoming::Frame(Box::new(frame))),
            Err(_) => serde_json::from_slice(line).ok().map(Incoming::Line),
        }
    }
}

/// The outer mouse, at a cell of the outer screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    pub act: command::Act,
    pub button: command::Which,
    pub x: u16,
    pub y: u16,
    pub mods: Vec<String>,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// To be done outside.
    Wish(Wish),
    /// Put text into the outer clipboard.
    Clipboard(String),
    Redraw,
}

/// What an answer is for.
#[derive(Debug)]
pub(super) enum Pending {
    Attach(PaneId),
    /// Beside the focused pane, or in a window of its own.
    Create(Option<Axis>),
    List(ListFor),
    Rows(PaneId),
    Search(PaneId),
    Commands,
    /// Text to be copied.
    Text,
    Workspace,
    /// Terminals that are only on disk.
    Dead,
    Typed,
    Preview(String),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListFor {
    /// Which panes of a layout are still there.
    Restore,
    Terminals,
    Worktrees,
    Dashboard,
}

#[derive(Debug)]
pub(super) enum Drag {
    Border(Border),
    Select(PaneId),
    /// The button was pressed here; a move makes a selection of it.
    Pressed(PaneId, Spot),
}

/// A layout as it is kept on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub(super) windows: Vec<Window>,
    pub(super) current: usize,
}

/// How the client begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Start {
    /// A terminal's id or name; None: the layout that was kept, or a choice.
    pub terminal: Option<String>,
    /// A layout to begin with instead.
    pub layout: Option<Layout>,
    pub role: Role,
    /// What others see of who this is.
    pub name: String,
    pub workspace: String,
    /// The layout is this client's own.
    pub independent: bool,
    /// Columns and rows to draw on, if not all of the outer terminal's.
    pub size: (Option<u16>, Option<u16>),
    /// Tells this client from others of the same person.
    pub mark: String,
    /// What new terminals have: directory and environment.
    pub create: command::Create,
}

/// What has to be drawn anew.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub all: bool,
    /// A frame came; these columns of panes' rows, and the cursor, are not as they were.
    pub a_frame: bool,
    pub rows: BTreeMap<(PaneId, u16), Range<u16>>,
}

impl Changed {
    pub fn add(&mut self, pane: PaneId, row: u16, columns: Range<u16>) {
        join(&mut self.rows, (pane, row), columns);
    }
}

/// Adds columns to those that are known to have changed.
pub(super) fn join<K: Ord>(rows: &mut BTreeMap<K, Range<u16>>, row: K, columns: Range<u16>) {
    let known = rows.entry(row).or_insert(columns.clone());
    *known = known.start.min(columns.start)..known.end.max(columns.end);
}

pub struct App {
    pub(super) config: Config,
    pub(super) start: Start,
    pub(super) cols: u16,
    pub(super) rows: u16,
    pub(super) windows: Vec<Window>,
    pub(super) current: usize,
    pub(super) panes: BTreeMap<PaneId, Pane>,
    pub(super) overlay: Option<Overlay>,
    pub(super) prefix: Prefix,
    pub(super) message: Option<(String, Instant)>,
    pub(super) connected: bool,
    /// Something typed may not have arrived.
    doubted: bool,
    /// What was copied last.
    pub(super) copied: String,
    pub(super) branches: BTreeMap<String, Option<String>>,
    pub(super) drag: Option<Drag>,
    pub(super) now: Instant,
    pub(super) pending: BTreeMap<u64, Pending>,
    /// The layout as it is kept on the server.
    pub(super) layout_kept: Option<Layout>,
    /// A layout that came from there, to be shown when it is known what is still there.
    pub(super) layout_coming: Option<Layout>,
    pub(super) ahead: Ahead,
    next_tag: u64,
    pub(super) next_pane: u32,
    effects: Vec<Effect>,
    pub(super) changed: Changed,
    /// What came in just now changes nothing that is seen.
    pub(super) still: bool,
}

impl App {
    pub fn new(config: Config, start: Start, cols: u16, rows: u16, now: Instant) -> App {
        App {
            config,
            cols: start.size.0.unwrap_or(cols).min(cols),
            rows: start.size.1.unwrap_or(rows).min(rows),
            start,
            windows: Vec::new(),
            current: 0,
            panes: BTreeMap::new(),
            overlay: None,
            prefix: Prefix::default(),
            message: None,
            connected: true,
            doubted: false,
            copied: String::new(),
            branches: BTreeMap::new(),
            drag: None,
            now,
            pending: BTreeMap::new(),
            layout_kept: None,
            layout_coming: None,
            ahead: Ahead::default(),
            next_tag: 0,
            next_pane: 0,
            effects: Vec::new(),
            changed: Changed { all: true, ..Changed::default() },
            still: false,
        }
    }

    /// Opens what was asked for.
    pub fn begin(&mut self) {
        self.subscribe();
        match (self.start.layout.take(), self.start.terminal.clone()) {
            (Some(layout), _) => self.show_when_listed(layout),
            (None, Some(terminal)) => self.open_window(&terminal),
            (None, None) if self.start.independent => self.list(ListFor::Terminals),
            (None, None) => self.ask_workspace(),
        }
    }

    /// Bells and notices of all terminals, and changes of the layout.
    pub(super) fn subscribe(&mut self) {
        let types = vec![
            EventKind::Bell,
            EventKind::Notification,
            EventKind::Clipboard,
            EventKind::Killed,
            EventKind::Workspace,
        ];
        let events = command::Events { terminal: None, types, since: None, count: None };
        self.ask(&events, Pending::Other);
    }

    /// What was typed last may be lost.
    pub fn doubt_typed(&mut self) {
        self.doubted = true;
    }

    /// Something to be told in the status bar.
    pub fn report(&mut self, text: String) {
        self.say(text);
    }

    pub fn on(&mut self, incoming: Incoming, now: Instant) {
        self.now = now;
        self.take_in_turn(incoming);
        if !self.still {
            self.expire();
            self.fit();
            self.keep_layout();
        }
        self.changed.all |= !std::mem::take(&mut self.still);
    }

    pub(super) fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Key(key) => self.key(key),
            Incoming::KeyAgain(key, kind) => self.key_again(key, kind),
            Incoming::Paste(text) => self.paste(&text),
            Incoming::Mouse(pointer) => self.pointer(&pointer),
            Incoming::Focus(focused) => self.focused(focused),
            Incoming::Resize(cols, rows) => {
                self.cols = self.start.size.0.unwrap_or(cols).min(cols);
                self.rows = self.start.size.1.unwrap_or(rows).min(rows);
                self.effect(Effect::Redraw);
            }
            Incoming::Frame(frame) => self.frame(&frame),
            Incoming::Line(line) => self.hear(&line),
            Incoming::Typed(tag) => {
                self.pending.remove(&tag);
                self.still = true;
            }
            Incoming::Lost => self.lost(),
            Incoming::Connected => self.connected_again(),
            Incoming::Answered => {
                let doubted = std::mem::take(&mut self.doubted);
                let doubt = if doubted { "; what was typed last may not have arrived" } else { "" };
                self.say(format!("connected again{doubt}"));
            }
            Incoming::Config(config, problems) => self.configured(*config, &problems),
            Incoming::Branch { cwd, branch } => {
                if let (Some(overlay), Some(branch)) = (&mut self.overlay, &branch) {
                    overlay.on_branch(&cwd, branch);
                }
                self.still = self.branches.get(&cwd) == Some(&branch) && self.overlay.is_none();
                self.branches.insert(cwd, branch);
            }
            Incoming::Tick => {}
        }
    }

    /// Whether something is to be drawn anew.
    pub fn has_changed(&self) -> bool {
        self.changed.all || self.changed.a_frame
    }

    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn wish(&mut self, wish: Wish) {
        self.effect(Effect::Wish(wish));
    }

    /// When `Tick` is due.
    pub fn deadline(&self) -> Option<Instant> {
        let message = self.message.as_ref().map(|(_, until)| *until);
        let died = self.panes.values().filter(|_| self.connected).filter_map(|pane| pane.died);
        let closing = died.map(|at| at + CLOSE_AFTER);
        let running = self.shows_time().then(|| self.now + Duration::from_secs(1));
        let held = self.ahead.deadline();
        closing.chain(message).chain(running).chain(held).chain(self.prefix.deadline()).min()
    }

    /// A command runs whose time is shown.
    fn shows_time(&self) -> bool {
        let shown = self.window().map(|window| window.tree.panes()).unwrap_or_default();
        shown.iter().any(|(id, _)| {
            self.panes.get(id).is_some_and(|pane| pane.screen.state.command.is_some())
        })
    }

    /// What time has made of things.
    fn expire(&mut self) {
        let now = self.now;
        let waits = self.prefix.is_on();
        self.prefix.expire(now);
        let expired = self.message.take_if(|(_, until)| *until <= now).is_some();
        self.still &= !expired && waits == self.prefix.is_on();
        // While the server is away, how its programs ended is all there is to be seen.
        let connected = self.connected;
        let over = |pane: &Pane| connected && pane.died.is_some_and(|at| at + CLOSE_AFTER <= now);
        let gone: Vec<_> =
            self.panes.iter().filter(|(_, pane)| over(pane)).map(|(id, _)| *id).collect();
        gone.into_iter().for_each(|id| self.remove_pane(id, None));
    }

    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.message = Some((text.into(), self.now + MESSAGE_TIME));
        self.still = false;
    }

    pub(super) fn ask<C: Command>(&mut self, command: &C, pending: Pending) {
        if let Some(tag) = self.new_tag(pending) {
            self.wish(Wish::Send(tagged_request_line(C::NAME, tag, command)));
        }
    }

    /// For a request that can be made now.
    pub(super) fn new_tag(&mut self, pending: Pending) -> Option<u64> {
        if !self.connected {
            self.say("no server: reconnecting");
            return None;
        }
        if self.pending.len() >= MAX_PENDING {
            self.say("the server is behind; that was not sent");
            return None;
        }
        self.next_tag += 1;
        self.pending.insert(self.next_tag, pending);
        Some(self.next_tag)
    }

    pub(super) fn copy(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        self.say(format!("copied {} characters", text.chars().count()));
        self.effect(Effect::Clipboard(text.clone()));
        self.copied = text;
    }

    pub(super) fn ask_rows(&mut self, id: PaneId, wanted: super::scroll::Wanted) {
        let Some(pane) = self.panes.get(&id) else { return };
        let cells = command::Cells {
            id: pane.terminal.clone(),
            first_line: Some(wanted.first_line),
            count: Some(wanted.count.max(1) as i64),
        };
        self.ask(&cells, Pending::Rows(id));
    }

    pub(super) fn rows_came(&mut self, id: PaneId, rows: &Rows) {
        if let Some(pane) = self.panes.get_mut(&id)
            && let Some(scroll) = &mut pane.scroll
        {
            scroll.take(rows);
            if let Some((from, to)) = pane.select.take() {
                scroll.begin_selection(from);
                scroll.drag_to(to);
            }
            if std::mem::take(&mut pane.copies) {
                self.copy_selection();
            }
        }
    }

    fn configured(&mut self, config: Config, problems: &[String]) {
        self.config = config;
        match problems.first() {
            None => self.say("the configuration was read"),
            Some(first) if problems.len() == 1 => self.say(first.clone()),
            Some(first) => self.say(format!("{first} (and {} more)", problems.len() - 1)),
        }
        self.effect(Effect::Redraw);
    }
}
