//! Panes and windows come, fit their places, and go.

use super::Wish;
use super::app::{App, MIN_COLS, MIN_ROWS, Pending};
use super::layout::{Area, PaneId};
use super::pane::Pane;
use super::window::Window;
use crate::command;
use crate::wire::Role;

impl App {
    pub(super) fn new_pane(&mut self, terminal: &str) -> PaneId {
        self.next_pane += 1;
        let id = PaneId(self.next_pane);
        self.add_pane(id, terminal);
        id
    }

    pub(super) fn add_pane(&mut self, id: PaneId, terminal: &str) {
        self.next_pane = self.next_pane.max(id.0);
        self.panes.insert(id, Pane::new(terminal));
        self.reattach(id, terminal);
    }

    /// Asks for the view of a pane.
    pub(super) fn reattach(&mut self, id: PaneId, terminal: &str) {
        let attach = command::Attach {
            id: terminal.to_owned(),
            role: self.start.role,
            name: self.start.name.clone(),
            cols: None,
            rows: None,
            raw: false,
        };
        self.ask(&attach, Pending::Attach(id));
    }

    pub(super) fn open_window(&mut self, terminal: &str) {
        let pane = self.new_pane(terminal);
        self.windows.push(Window::new(pane, terminal));
        self.go_to_window(self.windows.len() - 1);
    }

    pub(super) fn go_to_window(&mut self, index: usize) {
        if index < self.windows.len() {
            self.current = index;
            self.windows[index].alert = false;
        }
    }

    pub(super) fn window(&self) -> Option<&Window> {
        self.windows.get(self.current)
    }

    pub(super) fn window_mut(&mut self) -> Option<&mut Window> {
        self.windows.get_mut(self.current)
    }

    pub(super) fn focus(&self) -> Option<PaneId> {
        self.window().map(|window| window.focus)
    }

    pub(super) fn focused_pane(&mut self) -> Option<(PaneId, &mut Pane)> {
        let id = self.focus()?;
        self.panes.get_mut(&id).map(|pane| (id, pane))
    }

    /// Where panes are drawn: all but the status bar.
    pub(super) fn area(&self) -> Area {
        let bar = u16::from(self.config.status);
        Area { x: 0, y: 0, cols: self.cols, rows: self.rows.saturating_sub(bar) }
    }

    pub(super) fn too_small(&self) -> bool {
        self.cols < MIN_COLS || self.rows < MIN_ROWS
    }

    pub(super) fn view_only(&self) -> bool {
        self.start.role == Role::View
    }

    /// Terminals get the size of the panes that show them.
    pub(super) fn fit(&mut self) {
        if self.too_small() || !self.connected {
            return;
        }
        let view_only = self.view_only();
        let Some(window) = self.window() else { return };
        for placed in window.places(self.area()) {
            let size = (placed.area.cols.max(1), placed.area.rows.max(1));
            let Some(pane) = self.panes.get_mut(&placed.id) else { continue };
            if let Some(scroll) = &mut pane.scroll {
                scroll.resize(usize::from(size.1));
            }
            pane.room = size;
            let wanted = !view_only && pane.asked != Some(size);
            let Some(view) = pane.view.filter(|_| wanted) else { continue };
            pane.asked = Some(size);
            let change = command::View {
                view,
                role: None,
                cols: Some(size.0.into()),
                rows: Some(size.1.into()),
                focused: None,
            };
            self.ask(&change, Pending::Other);
        }
    }

    /// Takes a pane off the screen; with a reason to say when that was the last one.
    pub(super) fn remove_pane(&mut self, id: PaneId, why: Option<&str>) {
        let Some(pane) = self.panes.remove(&id) else { return };
        if let Some(view) = pane.view {
            self.ask(&command::Detach { view }, Pending::Other);
        }
        let holds = |window: &Window| window.tree.terminal(id).is_some();
        if let Some(at) = self.windows.iter().position(holds)
            && !self.windows[at].remove(id)
        {
            self.windows.remove(at);
            let last = self.windows.len().saturating_sub(1);
            let next = if self.current > at { self.current - 1 } else { self.current };
            self.go_to_window(next.min(last));
        }
        if self.windows.is_empty() && self.overlay.is_none() {
            let exit = pane.screen.state.exit_code.map(|code| format!("[exited: code {code}]"));
            let exit = exit.unwrap_or_else(|| "[closed]".to_owned());
            self.keep_layout();
            self.wish(Wish::Leave(why.map_or(exit, str::to_owned)));
        }
    }
}
