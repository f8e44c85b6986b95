//! What the server says: frames, answers and events.

use serde::Deserialize;
use serde_json::Value;

use super::Wish;
use super::app::{App, Effect, Layout, ListFor, Pending};
use super::layout::{Axis, PaneId};
use super::overlay::{Choice, Item, Overlay};
use super::scroll::Rows;
use super::window::Window;
use crate::command;
use crate::wire::Frame;

impl App {
    pub(super) fn hear(&mut self, line: &Value) {
        if line.get("frame").is_some() {
            self.unreadable(line);
        } else if let Some(kind) = line["event"].as_str() {
            self.event(kind, line);
        } else if let Some(pending) = line["tag"].as_u64().and_then(|tag| self.pending.remove(&tag))
        {
            self.answer(pending, line);
        }
    }

    /// A frame that cannot be read, of a newer server perhaps, is left out and said.
    fn unreadable(&mut self, line: &Value) {
        let error = Frame::deserialize(line).err().map(|error| error.to_string());
        self.say(format!("a frame that this client cannot read: {}", error.unwrap_or_default()));
    }

    pub(super) fn frame(&mut self, frame: &Frame) {
        let now = self.now;
        if self.overlay.as_mut().is_some_and(|overlay| overlay.frame(frame)) {
            return;
        }
        let found = self.panes.iter_mut().find(|(_, pane)| pane.view == Some(frame.view));
        let Some((id, pane)) = found else { return };
        let (before, size) = (pane.shown_from(), pane.screen.size());
        let (changes, refused) = pane.apply(frame, now);
        let moved = pane.shown_from() != before || pane.screen.size() != size || frame.full;
        if !moved && frame.state.is_none() && pane.scroll.is_none() {
            self.still = true;
            self.changed.a_frame = true;
            changes.into_iter().for_each(|(row, columns)| self.changed.add(*id, row, columns));
        }
        let cwd = frame.state.as_ref().and_then(|state| state.cwd.clone());
        if refused {
            self.say("an agent wanted to type and was refused: you hold the keyboard");
        }
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) {
            self.wish(Wish::LookUp(cwd));
        }
    }

    fn answer(&mut self, pending: Pending, line: &Value) {
        if line["ok"] == Value::Bool(false) {
            return self.refused(&pending, line);
        }
        match pending {
            Pending::Attach(pane) => self.attached(pane, line),
            Pending::Create(beside) => self.created(beside, line),
            Pending::List(purpose) => self.listed(purpose, line),
            Pending::Rows(pane) => match serde_json::from_value::<Rows>(line.clone()) {
                Ok(rows) => self.rows_came(pane, &rows),
                Err(error) => self.say(format!("rows that this client cannot read: {error}")),
            },
            Pending::Search(pane) => {
                let matches = line["matches"].as_array().into_iter().flatten();
                let mut lines: Vec<u64> =
                    matches.filter_map(|found| found["line"].as_u64()).collect();
                lines.dedup();
                self.found(pane, lines);
            }
            Pending::Commands => self.show_commands(line),
            Pending::Text => {
                let lines = line["lines"].as_array().into_iter().flatten();
                let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
                self.copy(lines.join("\n"));
            }
            Pending::Workspace => self.restore(line),
            Pending::Dead => self.tell_dead(line),
            Pending::Preview(terminal) => {
                if let Some(overlay) = &mut self.overlay {
                    overlay.attached(&terminal, line["view"].as_u64());
                }
            }
            Pending::Typed | Pending::Other => self.still = true,
        }
    }

    fn refused(&mut self, pending: &Pending, line: &Value) {
        let error = line["error"].as_str().unwrap_or("the server refused that");
        self.say(error.to_owned());
        match pending {
            Pending::Attach(pane) => {
                // One who may not take the keyboard may still look on and type along.
                let held = line["code"] == "held";
                if held && self.start.role == crate::wire::Role::Take {
                    self.start.role = crate::wire::Role::Edit;
                    if let Some(terminal) = self.panes.get(pane).map(|pane| pane.terminal.clone()) {
                        self.add_pane(*pane, &terminal);
                    }
                } else {
                    self.remove_pane(*pane, Some(error));
                }
            }
            Pending::Create(_) if self.windows.is_empty() => {
                self.wish(Wish::Leave(error.to_owned()));
            }
            _ => {}
        }
    }

    fn attached(&mut self, id: PaneId, line: &Value) {
        let view = line["view"].as_u64().map(|view| view as u32);
        match self.panes.get_mut(&id) {
            Some(pane) => pane.view = view,
            // It was closed meanwhile.
            None => {
                if let Some(view) = view {
                    self.ask(&command::Detach { view }, Pending::Other);
                }
            }
        }
    }

    fn created(&mut self, beside: Option<Axis>, line: &Value) {
        let Some(terminal) = line["id"].as_str() else { return };
        let area = self.area();
        match (beside, self.current < self.windows.len()) {
            (Some(axis), true) => {
                let pane = self.new_pane(terminal);
                let fits = self
                    .window_mut()
                    .is_some_and(|window| window.split(pane, terminal, axis, area));
                if !fits {
                    self.windows.push(Window::new(pane, terminal));
                    self.go_to_window(self.windows.len() - 1);
                }
            }
            _ => self.open_window(terminal),
        }
    }

    pub(super) fn list(&mut self, purpose: ListFor) {
        self.ask(&command::List::default(), Pending::List(purpose));
    }

    fn listed(&mut self, purpose: ListFor, line: &Value) {
        let terminals = line["terminals"].as_array().cloned().unwrap_or_default();
        match purpose {
            ListFor::Restore => self.restore_layout(&terminals),
            ListFor::Terminals if terminals.is_empty() => self.create(None),
            ListFor::Terminals => self.show_terminals("terminals", &terminals, false),
            ListFor::Dashboard => self.show_terminals("all terminals", &terminals, true),
            ListFor::Worktrees => self.show_worktrees(&terminals),
        }
    }

    fn show_terminals(&mut self, title: &str, terminals: &[Value], grid: bool) {
        let mut items: Vec<Item> = terminals.iter().map(Item::terminal).collect();
        if !grid {
            items.push(Item::new("a new terminal", "with your shell", Choice::New));
        }
        self.overlay = Some(Overlay::list(title, items, grid));
        let attach = |terminal: &Value| command::Attach {
            id: terminal["id"].as_str().unwrap_or_default().to_owned(),
            role: crate::wire::Role::View,
            name: self.start.name.clone(),
            cols: None,
            rows: None,
            raw: false,
        };
        let previews: Vec<_> = terminals.iter().map(attach).collect();
        for attach in previews {
            let terminal = attach.id.clone();
            self.ask(&attach, Pending::Preview(terminal));
        }
    }

    /// Terminals by the work tree that their directory belongs to.
    fn show_worktrees(&mut self, terminals: &[Value]) {
        let mut items: Vec<Item> = terminals.iter().map(Item::terminal).collect();
        for (item, terminal) in items.iter_mut().zip(terminals) {
            let cwd = terminal["cwd"].as_str().unwrap_or("?");
            item.detail = cwd.to_owned();
            // What branch it is on comes in a moment.
            self.wish(Wish::LookUp(cwd.to_owned()));
        }
        items.sort_by(|a, b| (&a.detail, &a.label).cmp(&(&b.detail, &b.label)));
        self.overlay = Some(Overlay::list("terminals by directory and branch", items, false));
    }

    fn show_commands(&mut self, line: &Value) {
        let commands = line["commands"].as_array().into_iter().flatten();
        let items: Vec<Item> = commands.rev().filter_map(Item::command).collect();
        if items.is_empty() {
            return self.say("no commands yet that the shell has reported");
        }
        self.overlay =
            Some(Overlay::list("commands: Enter jumps there, y copies output", items, false));
    }

    fn event(&mut self, kind: &str, line: &Value) {
        let terminal = line["terminal"].as_str().unwrap_or_default();
        match kind {
            "bell" | "notification" => {
                self.alert(terminal);
                if let Some(body) = line["body"].as_str() {
                    self.say(format!("{terminal}: {body}"));
                }
            }
            "clipboard" if self.config.programs_set_clipboard => self.program_copies(line),
            "killed" => {
                let gone: Vec<_> = self
                    .panes
                    .iter()
                    .filter(|(_, pane)| pane.terminal == terminal)
                    .map(|(id, _)| *id)
                    .collect();
                gone.into_iter().for_each(|id| self.remove_pane(id, None));
            }
            "workspace" if self.shares(line) => self.ask_workspace(),
            _ => {}
        }
    }

    fn alert(&mut self, terminal: &str) {
        let current = self.current;
        for (at, window) in self.windows.iter_mut().enumerate() {
            let shows = window.tree.panes().iter().any(|(_, shown)| *shown == terminal);
            window.alert |= shows && at != current;
        }
    }

    fn program_copies(&mut self, line: &Value) {
        use base64::Engine;
        let data = line["data_base64"].as_str().unwrap_or_default();
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).unwrap_or_default();
        if let Ok(text) = String::from_utf8(bytes) {
            self.effect(Effect::Clipboard(text));
        }
    }

    /// Someone else changed the layout that this client shows too.
    fn shares(&self, line: &Value) -> bool {
        let same = line["name"].as_str() == Some(&self.start.workspace);
        same && !self.start.independent && line["by"].as_str() != Some(&self.start.mark)
    }

    pub(super) fn ask_workspace(&mut self) {
        let name = self.start.workspace.clone();
        let workspace = command::Workspace { name, layout: None, by: None, dead: false };
        self.ask(&workspace, Pending::Workspace);
    }

    /// Keeps the layout whenever it has changed: on the server, if it is shared.
    pub(super) fn keep_layout(&mut self) {
        // What someone else has changed meanwhile is shown first.
        if !self.connected || self.windows.is_empty() || self.layout_coming.is_some() {
            return;
        }
        let same = |kept: &Layout| kept.current == self.current && kept.windows == self.windows;
        if self.layout_kept.as_ref().is_some_and(same) {
            return;
        }
        let layout = Layout { windows: self.windows.clone(), current: self.current };
        if !self.start.independent && !self.view_only() {
            let workspace = command::Workspace {
                name: self.start.workspace.clone(),
                layout: serde_json::to_value(&layout).ok(),
                by: Some(self.start.mark.clone()),
                dead: false,
            };
            self.ask(&workspace, Pending::Other);
        }
        self.layout_kept = Some(layout.clone());
        self.wish(Wish::Layout(layout));
    }

    fn restore(&mut self, line: &Value) {
        match serde_json::from_value::<Layout>(line["layout"].clone()) {
            Ok(layout) if !layout.windows.is_empty() => {
                self.show_when_listed(layout);
            }
            _ if self.windows.is_empty() => {
                self.list(ListFor::Terminals);
                self.ask(&command::List { dead: true }, Pending::Dead);
            }
            _ => {}
        }
    }

    /// Shows a layout when it is known what is still there.
    pub(super) fn show_when_listed(&mut self, layout: Layout) {
        self.layout_coming = Some(layout);
        self.list(ListFor::Restore);
    }

    /// A person who finds nothing may miss what was there before.
    fn tell_dead(&mut self, line: &Value) {
        match line["dead"].as_array().map_or(0, Vec::len) {
            0 => self.still = true,
            count => self.say(format!("{count} terminals of before: t4a restore --all")),
        }
    }

    /// Shows the kept layout, without what has gone meanwhile.
    fn restore_layout(&mut self, terminals: &[Value]) {
        let Some(layout) = self.layout_coming.take() else { return };
        let there: Vec<&str> = terminals.iter().filter_map(|t| t["id"].as_str()).collect();
        let mut windows = Vec::new();
        for mut window in layout.windows {
            let gone = |(_, terminal): &(PaneId, &str)| !there.contains(terminal);
            let gone: Vec<PaneId> =
                window.tree.panes().into_iter().filter(gone).map(|(id, _)| id).collect();
            if gone.into_iter().all(|pane| window.remove(pane)) {
                windows.push(window);
            }
        }
        if windows.is_empty() {
            if self.windows.is_empty() {
                self.list(ListFor::Terminals);
            }
            return;
        }
        self.show_windows(windows, layout.current);
    }

    /// Panes that are shown already stay as they are.
    fn show_windows(&mut self, windows: Vec<Window>, current: usize) {
        let wanted: Vec<(PaneId, String)> = windows
            .iter()
            .flat_map(|window| window.tree.panes())
            .map(|(id, terminal)| (id, terminal.to_owned()))
            .collect();
        let stays = |id: &PaneId, terminal: &str| {
            wanted.iter().any(|(wanted, shown)| wanted == id && shown == terminal)
        };
        let gone: Vec<PaneId> = self
            .panes
            .iter()
            .filter(|(id, pane)| !stays(id, &pane.terminal))
            .map(|(id, _)| *id)
            .collect();
        self.windows = windows;
        self.current = current.min(self.windows.len() - 1);
        for id in gone {
            if let Some(view) = self.panes.remove(&id).and_then(|pane| pane.view) {
                self.ask(&command::Detach { view }, Pending::Other);
            }
        }
        for (id, terminal) in wanted {
            if !self.panes.contains_key(&id) {
                self.add_pane(id, &terminal);
            }
        }
        self.layout_kept = Some(Layout { windows: self.windows.clone(), current: self.current });
    }

    /// The server is gone: what was under way has no answer.
    pub(super) fn lost(&mut self) {
        let typed = |pending: &Pending| matches!(pending, Pending::Typed);
        let typed = self.pending.values().filter(|pending| typed(pending)).count();
        if typed > 0 {
            self.doubt_typed();
        }
        self.connected = false;
        self.pending.clear();
        self.overlay = None;
        self.panes.values_mut().for_each(super::pane::Pane::forget_view);
        self.say(match typed {
            0 => "the server is gone; reconnecting".to_owned(),
            _ => format!("the server is gone; {typed} keys may not have arrived; reconnecting"),
        });
    }

    pub(super) fn connected_again(&mut self) {
        self.connected = true;
        let panes: Vec<(PaneId, String)> =
            self.panes.iter().map(|(id, pane)| (*id, pane.terminal.clone())).collect();
        if panes.is_empty() {
            return self.begin();
        }
        self.subscribe();
        for (id, terminal) in panes {
            self.reattach(id, &terminal);
        }
    }
}
