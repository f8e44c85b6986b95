//! Frames: what a view is shown next, at its own pace.

use std::collections::BTreeMap;
use std::time::Instant;

use super::super::{ClientId, Effect, Mux, Terminal, TerminalId};
use super::{KITTY_EVENT_TYPES, Shown, View, ViewId};
use crate::wire::{Attached, Frame, FrameRow, Looks, ViewState, frame_line};

impl Mux {
    /// When a frame of this terminal is due that may not be sent yet; others go at the end of
    /// the turn.
    pub(in crate::mux) fn frame_deadline(&self, id: TerminalId) -> Option<Instant> {
        let waits = |view: &View| view.stale && !self.clients.is_writing(view.client);
        let terminal = self.terminals.get(&id)?;
        let views = self.views.of(id).filter(|(_, view)| waits(view));
        let due = views.filter_map(|(_, view)| view.due(terminal));
        due.filter(|due| *due > self.now).min()
    }

    /// Frames for those of `to` who are ready for one and have not got the newest.
    pub(in crate::mux) fn send_frames(&mut self, to: impl Fn(ClientId) -> bool) {
        let stale = |(_, view): &(&ViewId, &View)| {
            view.stale && to(view.client) && !self.clients.is_writing(view.client)
        };
        let stale: Vec<_> = self.views.all.iter().filter(stale).map(|(id, _)| *id).collect();
        let mut batches: BTreeMap<ClientId, Vec<u8>> = BTreeMap::new();
        let mut frames = Vec::new();
        for id in stale {
            let Some(view) = self.views.all.get(&id) else { continue };
            let due = self.terminals.get(&view.terminal).and_then(|terminal| view.due(terminal));
            if due.is_some_and(|due| due > self.now) {
                let terminal = view.terminal;
                self.arm(terminal);
            } else if self.clients.is_seated(view.client) {
                let client = view.client;
                let frame = self.next_frame(id).map(Box::new);
                frame.into_iter().for_each(|frame| frames.push((client, frame)));
            } else {
                let (client, line) = (view.client, self.next_line(id));
                batches.entry(client).or_default().extend(line);
            }
        }
        for (client, bytes) in batches.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
            self.clients.writes(client);
            self.effect(Effect::Stream { client, bytes });
        }
        for (client, frame) in frames {
            self.clients.writes(client);
            self.effect(Effect::Frame { client, frame });
        }
    }

    /// The line that brings a view up to date; empty when it is.
    fn next_line(&mut self, id: ViewId) -> Vec<u8> {
        let Some(view) = self.views.all.get_mut(&id) else { return Vec::new() };
        let Some(terminal) = self.terminals.get(&view.terminal) else { return Vec::new() };
        match &mut view.raw {
            Some(raw) => {
                view.stale = false;
                raw.next(id, terminal)
                    .map(|raw| frame_line(view.tag.as_ref(), &raw))
                    .unwrap_or_default()
            }
            None => {
                let tag = view.tag.clone();
                let frame = self.next_frame(id);
                frame.map(|frame| frame_line(tag.as_ref(), &frame)).unwrap_or_default()
            }
        }
    }

    fn next_frame(&mut self, id: ViewId) -> Option<Frame> {
        let view = self.views.all.get(&id)?;
        let terminal = self.terminals.get(&view.terminal)?;
        let shown = Shown { stamp: terminal.grid.stamp(), size: terminal.grid.size() };
        let news = (!self.is_told(view, terminal)).then(|| self.view_state(view, terminal));
        let mut next = None;
        if news.is_some() || view.shown != Some(shown) {
            let running_ms = self.running_ms(terminal);
            let state = news.clone().map(|state| ViewState { running_ms, ..state });
            next = Some(Frame { state, ..frame(id, view.shown, terminal) });
        }
        let now = self.now;
        if let Some(view) = self.views.all.get_mut(&id) {
            view.stale = false;
            if next.is_some() {
                (view.shown, view.sent, view.typed) = (Some(shown), Some(now), None);
                view.told = news.or(view.told.take());
            }
        }
        next
    }

    /// Whether the state that was told last is that of now. It is asked for each frame, and seldom news:
    /// nothing is made for it.
    fn is_told(&self, view: &View, terminal: &Terminal) -> bool {
        let Some(told) = &view.told else { return false };
        // A field that is forgotten here does not compile.
        let ViewState {
            name,
            title,
            cwd,
            alive,
            exit_code,
            command,
            running_ms: _,
            last_code,
            alt_screen,
            mouse,
            key_events,
            role,
            attached,
            typing,
            refused,
        } = told;
        let grid = &terminal.grid;
        let same = |(before, (id, view)): (&Attached, (ViewId, &View))| {
            before.view == id.0 && before.role == view.role && before.name == view.name
        };
        let viewers = self.views.of(view.terminal);
        *name == terminal.identity.name
            && *title == terminal.title()
            && cwd.as_deref() == grid.cwd().map(|cwd| cwd.path.as_str())
            && *alive == terminal.alive()
            && *exit_code == terminal.exit().and_then(|exit| exit.code())
            && command.as_deref() == grid.running_command()
            && *last_code == last_code_of(terminal)
            && *alt_screen == grid.modes().alt_screen()
            && *mouse == wants_mouse(terminal)
            && *key_events == wants_key_events(terminal)
            && *role == view.role
            && attached.len() == viewers.count()
            && attached.iter().zip(self.views.of(view.terminal)).all(same)
            && typing.as_deref() == terminal.typing.as_ref().map(|(name, _)| name.as_str())
            && *refused == terminal.refused
    }

    fn view_state(&self, view: &View, terminal: &Terminal) -> ViewState {
        let grid = &terminal.grid;
        ViewState {
            name: terminal.identity.name.clone(),
            title: terminal.title().to_owned(),
            cwd: grid.cwd().map(|cwd| cwd.path.clone()),
            alive: terminal.alive(),
            exit_code: terminal.exit().and_then(|exit| exit.code()),
            command: grid.running_command().map(str::to_owned),
            running_ms: None,
            last_code: last_code_of(terminal),
            alt_screen: grid.modes().alt_screen(),
            mouse: wants_mouse(terminal),
            key_events: wants_key_events(terminal),
            role: view.role,
            attached: self.views.attached(view.terminal),
            typing: terminal.typing.as_ref().map(|(name, _)| name.clone()),
            refused: terminal.refused,
        }
    }
}

fn last_code_of(terminal: &Terminal) -> Option<i32> {
    terminal.history.iter().next_back().and_then(|record| record.code)
}

fn wants_mouse(terminal: &Terminal) -> bool {
    terminal.grid.modes().mouse() != crate::term::Mouse::Off
}

fn wants_key_events(terminal: &Terminal) -> bool {
    terminal.grid.keyboard_flags() & KITTY_EVENT_TYPES != 0
}

/// What changed on a screen since it was last shown, or all of it.
fn frame(id: ViewId, before: Option<Shown>, terminal: &Terminal) -> Frame {
    let grid = &terminal.grid;
    let size = grid.size();
    // A grid that was made anew counts from the beginning.
    let same = |before: &Shown| before.size == size && before.stamp <= grid.stamp();
    let before = before.filter(same).map(|before| before.stamp);
    let mut looks = Looks::default();
    let changed = grid.rows_since(before);
    let rows = changed.map(|(row, seen)| FrameRow { row, runs: looks.row(seen) });
    let lines = rows.filter(|row| before.is_some() || !row.runs.is_empty()).collect();
    Frame {
        frame: grid.stamp(),
        view: id.0,
        terminal: terminal.id().to_string(),
        cols: size.cols,
        rows: size.rows,
        full: before.is_none(),
        lines,
        styles: looks.into_list(),
        cursor: grid.cursor().into(),
        top_line: grid.line_of_row(0).0,
        state: None,
    }
}
