//! What actions do, and the keys of scroll mode.

use super::Wish;
use super::app::{App, Effect, ListFor, Pending};
use super::keymap::Action;
use super::layout::{Axis, PaneId};
use super::overlay::{Overlay, Prompt};
use super::scroll::{Scroll, Spot, Wanted};
use super::window::Window;
use crate::command;
use crate::input::{Key, KeyCode, Mods};
use crate::wire::Role;

/// Cells that a pane grows by at a time.
const GROWTH: u16 = 2;

impl App {
    pub(super) fn act(&mut self, action: Action) {
        let area = self.area();
        match action {
            Action::Detach => self.wish(Wish::Leave("[detached]".to_owned())),
            Action::Suspend => self.wish(Wish::Suspend),
            Action::SplitColumns => self.split(Axis::Columns),
            Action::SplitRows => self.split(Axis::Rows),
            Action::NewWindow => self.create(None),
            Action::Close => self.close(),
            Action::CloseWindow => self.close_window(),
            Action::Break => self.break_pane(),
            Action::NextWindow => self.step_window(1),
            Action::PreviousWindow => self.step_window(self.windows.len().max(1) - 1),
            Action::Window(number) => self.go_to_window(number - 1),
            Action::RenameWindow => self.open_prompt(Prompt::Rename),
            Action::Search => self.open_prompt(Prompt::Search),
            Action::Scroll => self.open_scroll(),
            Action::Paste => self.paste_text(self.copied.clone()),
            Action::Take => self.take_or_release(),
            Action::Terminals => self.list(ListFor::Terminals),
            Action::Worktrees => self.list(ListFor::Worktrees),
            Action::Dashboard => self.list(ListFor::Dashboard),
            Action::Markers => self.ask_commands(),
            Action::Reload => self.wish(Wish::ReadConfig),
            Action::Redraw => self.effect(Effect::Redraw),
            Action::Help => self.overlay = Some(Overlay::help(&self.config.keymap)),
            Action::Focus(towards) => self.in_window(|window| window.go_towards(towards, area)),
            Action::Grow(towards) => self.in_window(|window| {
                window.tree.grow(window.focus, towards, GROWTH, area);
            }),
            Action::NextPane => self.in_window(Window::go_next),
            Action::LastPane => self.in_window(Window::go_back),
            Action::Zoom => self.in_window(|window| window.zoomed = !window.zoomed),
            Action::SwapNext => self.in_window(|window| window.swap(true)),
            Action::SwapPrevious => self.in_window(|window| window.swap(false)),
            Action::Arrange => self.in_window(Window::arrange),
        }
    }

    fn in_window(&mut self, change: impl FnOnce(&mut Window)) {
        if let Some(window) = self.window_mut() {
            change(window);
        }
    }

    fn step_window(&mut self, steps: usize) {
        if !self.windows.is_empty() {
            self.go_to_window((self.current + steps) % self.windows.len());
        }
    }

    /// Whether there is room is known before a terminal is made.
    fn split(&mut self, axis: Axis) {
        let area = self.area();
        let fits = self
            .window()
            .is_some_and(|window| window.clone().split(PaneId(u32::MAX), "", axis, area));
        if fits { self.create(Some(axis)) } else { self.say("too small to split") }
    }

    /// A new terminal with the shell, where the focused one is.
    pub(super) fn create(&mut self, beside: Option<Axis>) {
        let cwd = self.focused_pane().and_then(|(_, pane)| pane.screen.state.cwd.clone());
        let area = self.area();
        let (config, start) = (&self.config, &self.start);
        let template = start.create.clone();
        let create = command::Create {
            cols: Some(config.cols.unwrap_or(area.cols.max(1)).into()),
            rows: Some(config.rows.unwrap_or(area.rows.max(1)).into()),
            cwd: cwd.or_else(|| template.cwd.clone()),
            scrollback_lines: config.scrollback_lines.map(Into::into),
            idle_timeout_ms: config.idle_timeout_ms.map(|ms| ms as i64),
            persist: config.persist,
            ..template
        };
        self.ask(&create, Pending::Create(beside));
    }

    fn close(&mut self) {
        let Some((id, pane)) = self.focused_pane() else { return };
        let kill = command::Kill::new(pane.terminal.clone());
        self.ask(&kill, Pending::Other);
        self.remove_pane(id, None);
    }

    fn close_window(&mut self) {
        let panes: Vec<PaneId> = match self.window() {
            Some(window) => window.tree.panes().into_iter().map(|(id, _)| id).collect(),
            None => return,
        };
        for id in panes {
            if let Some(pane) = self.panes.get(&id) {
                let kill = command::Kill::new(pane.terminal.clone());
                self.ask(&kill, Pending::Other);
            }
            self.remove_pane(id, None);
        }
    }

    fn break_pane(&mut self) {
        let Some(window) = self.window_mut() else { return };
        let pane = window.focus;
        let Some(terminal) = window.tree.terminal(pane).map(str::to_owned) else { return };
        if window.remove(pane) {
            let at = self.current + 1;
            self.windows.insert(at, Window::new(pane, &terminal));
            self.go_to_window(at);
        } else {
            self.say("it has a window of its own already");
        }
    }

    fn take_or_release(&mut self) {
        let Some((_, pane)) = self.focused_pane() else { return };
        let Some(view) = pane.view else { return };
        let role = if pane.screen.state.role == Role::Take { Role::Edit } else { Role::Take };
        let change =
            command::View { view, role: Some(role), cols: None, rows: None, focused: None };
        self.ask(&change, Pending::Other);
    }

    fn ask_commands(&mut self) {
        let Some((_, pane)) = self.focused_pane() else { return };
        let commands = command::Commands { id: pane.terminal.clone(), last: None, failed: false };
        self.ask(&commands, Pending::Commands);
    }

    fn open_prompt(&mut self, prompt: Prompt) {
        if self.focus().is_some() {
            self.overlay = Some(Overlay::prompt(prompt));
        }
    }

    /// Opens scroll mode in the focused pane, if it is not open.
    pub(super) fn open_scroll(&mut self) {
        let Some((id, pane)) = self.focused_pane() else { return };
        if pane.scroll.is_some() {
            return;
        }
        let height = pane.asked.map_or(pane.screen.rows.len(), |(_, rows)| rows.into());
        let (scroll, wanted) = Scroll::open(pane.screen.top_line, height);
        pane.scroll = Some(scroll);
        self.ask_rows(id, wanted);
    }

    /// Does something in scroll mode, and asks for rows that are needed then.
    pub(super) fn in_scroll(&mut self, act: impl FnOnce(&mut Scroll) -> Option<Wanted>) {
        let Some((id, pane)) = self.focused_pane() else { return };
        if let Some(wanted) = pane.scroll.as_mut().and_then(act) {
            self.ask_rows(id, wanted);
        }
    }

    pub(super) fn end_scroll(&mut self) {
        if let Some((_, pane)) = self.focused_pane() {
            pane.scroll = None;
            pane.found.clear();
        }
    }

    pub(super) fn scroll_key(&mut self, key: &Key) {
        let ctrl = key.mods.has(Mods::CTRL);
        match (key.code, ctrl) {
            (KeyCode::Char('j') | KeyCode::Down, false) => self.in_scroll(|s| s.step(1, 0)),
            (KeyCode::Char('k') | KeyCode::Up, false) => self.in_scroll(|s| s.step(-1, 0)),
            (KeyCode::Char('h') | KeyCode::Left, false) => self.in_scroll(|s| s.step(0, -1)),
            (KeyCode::Char('l') | KeyCode::Right, false) => self.in_scroll(|s| s.step(0, 1)),
            (KeyCode::Char('0') | KeyCode::Home, false) => self.in_scroll(|s| s.step(0, -1024)),
            (KeyCode::Char('$') | KeyCode::End, false) => self.in_scroll(|s| s.step(0, 1024)),
            (KeyCode::Char('d'), true) => self.in_scroll(|s| s.turn(s.page() / 2)),
            (KeyCode::Char('u'), true) => self.in_scroll(|s| s.turn(-s.page() / 2)),
            (KeyCode::Char('f'), true) | (KeyCode::PageDown, _) => {
                self.in_scroll(|s| s.turn(s.page()));
            }
            (KeyCode::Char('b'), true) | (KeyCode::PageUp, _) => {
                self.in_scroll(|s| s.turn(-s.page()));
            }
            (KeyCode::Char('g'), false) => self.in_scroll(Scroll::go_to_start),
            (KeyCode::Char('G'), false) => self.in_scroll(Scroll::go_to_end),
            (KeyCode::Char('v' | ' '), false) => self.in_scroll(|s| {
                s.toggle_selection();
                None
            }),
            (KeyCode::Char('y') | KeyCode::Enter, false) => self.copy_selection(),
            (KeyCode::Char('/'), false) => self.open_prompt(Prompt::Search),
            (KeyCode::Char('n'), false) => self.go_to_match(false),
            (KeyCode::Char('N'), false) => self.go_to_match(true),
            (KeyCode::Char('q') | KeyCode::Escape, false) => self.end_scroll(),
            _ if self.view_only() => {}
            _ => {
                // Whoever types is done with looking back.
                self.end_scroll();
                self.type_keys(vec![key.clone()]);
            }
        }
    }

    pub(super) fn copy_selection(&mut self) {
        let Some((_, pane)) = self.focused_pane() else { return };
        let text = pane.scroll.as_ref().map(Scroll::selected_text).unwrap_or_default();
        self.end_scroll();
        self.copy(text);
    }

    /// The next match upwards, which is where one looks from the end, or downwards.
    pub(super) fn go_to_match(&mut self, down: bool) {
        let Some((_, pane)) = self.focused_pane() else { return };
        let count = pane.found.len();
        if count == 0 {
            return self.say("nothing was found");
        }
        let step = if down { 1 } else { count - 1 };
        pane.found_at = (pane.found_at + step) % count;
        let (line, at) = (pane.found[pane.found_at], pane.found_at + 1);
        self.say(format!("match {at} of {count}"));
        self.in_scroll(|scroll| scroll.go_to_line(line));
    }

    /// Begins a search upwards from the end.
    pub(super) fn search(&mut self, pattern: &str) {
        let regex = match regex::RegexBuilder::new(pattern).size_limit(1 << 20).build() {
            Ok(regex) => regex,
            Err(error) => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or("wrong").trim_start_matches("error: ");
                return self.say(format!("not a regex: {last}"));
            }
        };
        self.open_scroll();
        let Some((id, pane)) = self.focused_pane() else { return };
        if let Some(scroll) = &mut pane.scroll {
            scroll.pattern = Some(regex);
        }
        let search = command::Search::lines(&pane.terminal, pattern);
        self.ask(&search, Pending::Search(id));
    }

    pub(super) fn found(&mut self, id: PaneId, lines: Vec<u64>) {
        if let Some(pane) = self.panes.get_mut(&id) {
            pane.found_at = 0;
            pane.found = lines;
        }
        self.go_to_match(false);
    }

    /// Selects from where the mouse was pressed to where it is.
    pub(super) fn select(&mut self, id: PaneId, from: Spot, to: Spot) {
        self.open_scroll();
        if let Some(pane) = self.panes.get_mut(&id) {
            match pane.scroll.as_mut().filter(|scroll| !scroll.is_empty()) {
                Some(scroll) => {
                    scroll.begin_selection(from);
                    scroll.drag_to(to);
                }
                None => pane.select = Some((from, to)),
            }
        }
    }
}
