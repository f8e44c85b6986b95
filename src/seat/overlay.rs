//! What lies over the panes for a while: lists, thumbnails, the help, a line to type into.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Wish;
use super::app::{App, Pending, Pointer};
use super::keymap::Keymap;
use super::screen::Screen;
use crate::command::{self, Act};
use crate::input::{Key, KeyCode, Mods};
use crate::wire::Frame;

/// Characters of a line that is typed into an overlay.
const MAX_TYPED: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    Rename,
    Search,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Terminal(String),
    New,
    /// A command's output: from the first line up to, not including, the second.
    Output([u64; 2]),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub label: String,
    pub detail: String,
    pub choice: Choice,
}

pub struct List {
    pub title: String,
    pub items: Vec<Item>,
    pub selected: usize,
    /// Thumbnails instead of lines.
    pub grid: bool,
    /// Live screens of the terminals, by id, and the views that bring them.
    pub screens: BTreeMap<String, Screen>,
    views: BTreeMap<u32, String>,
}

pub enum Overlay {
    Help(Vec<(String, &'static str)>, usize),
    Prompt(Prompt, String),
    List(List),
}

impl Item {
    pub fn new(label: &str, detail: &str, choice: Choice) -> Item {
        Item { label: label.to_owned(), detail: detail.to_owned(), choice }
    }

    pub fn terminal(terminal: &Value) -> Item {
        let text = |field: &str| terminal[field].as_str().unwrap_or_default().to_owned();
        let (id, name) = (text("id"), text("name"));
        let label = if name.is_empty() { id.clone() } else { format!("{id} {name}") };
        let state = match (&terminal["alive"], &terminal["command"]) {
            (Value::Bool(false), _) => format!("exited {}", terminal["exit_code"]),
            (_, Value::String(command)) => format!("runs {command}"),
            _ => text("title"),
        };
        Item { label, detail: state, choice: Choice::Terminal(id) }
    }

    pub fn command(record: &Value) -> Option<Item> {
        let command = record["command"].as_str().unwrap_or("?").lines().next()?.to_owned();
        let code = record["code"].as_i64().map_or("?".to_owned(), |code| code.to_string());
        let time = record["duration_ms"].as_u64().map(duration).unwrap_or_default();
        let lines = serde_json::from_value(record["output_lines"].clone());
        let choice = lines.map_or(Choice::Nothing, Choice::Output);
        Some(Item { label: command, detail: format!("exit {code} {time}"), choice })
    }
}

/// A time as people say it.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        60_000..3_600_000 => format!("{}:{:02} min", ms / 60_000, ms / 1000 % 60),
        _ => format!("{}:{:02} h", ms / 3_600_000, ms / 60_000 % 60),
    }
}

impl Overlay {
    pub fn help(keymap: &Keymap) -> Overlay {
        Overlay::Help(keymap.help(), 0)
    }

    pub fn prompt(prompt: Prompt) -> Overlay {
        Overlay::Prompt(prompt, String::new())
    }

    pub fn list(title: &str, items: Vec<Item>, grid: bool) -> Overlay {
        Overlay::List(List {
            title: title.to_owned(),
            items,
            selected: 0,
            grid,
            screens: BTreeMap::new(),
            views: BTreeMap::new(),
        })
    }

    pub fn paste(&mut self, text: &str) {
        if let Overlay::Prompt(_, typed) = self {
            typed.extend(text.chars().filter(|c| !c.is_control()));
            *typed = typed.chars().take(MAX_TYPED).collect();
        }
    }

    /// Names the branch that a directory in the list is on.
    pub fn on_branch(&mut self, cwd: &str, branch: &str) {
        if let Overlay::List(list) = self {
            let there = list.items.iter_mut().filter(|item| item.detail == cwd);
            there.for_each(|item| item.detail = format!("{branch} {cwd}"));
        }
    }

    /// The view that shows a terminal here.
    pub fn attached(&mut self, terminal: &str, view: Option<u64>) {
        if let (Overlay::List(list), Some(view)) = (self, view) {
            list.views.insert(view as u32, terminal.to_owned());
        }
    }

    /// Takes a frame of one of its own views.
    pub fn frame(&mut self, frame: &Frame) -> bool {
        let Overlay::List(list) = self else { return false };
        let Some(terminal) = list.views.get(&frame.view) else { return false };
        list.screens.entry(terminal.clone()).or_default().apply(frame);
        true
    }
}

impl List {
    fn step(&mut self, by: isize) {
        let last = self.items.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    pub fn choice(&self) -> Option<&Choice> {
        self.items.get(self.selected).map(|item| &item.choice)
    }
}

impl App {
    pub(super) fn overlay_key(&mut self, key: &Key) {
        match &mut self.overlay {
            Some(Overlay::Help(lines, top)) => match key.code {
                KeyCode::Char('j') | KeyCode::Down => *top = (*top + 1).min(lines.len()),
                KeyCode::Char('k') | KeyCode::Up => *top = top.saturating_sub(1),
                _ => self.close_overlay(),
            },
            Some(Overlay::Prompt(..)) => self.prompt_key(key),
            Some(Overlay::List(_)) => self.list_key(key),
            None => {}
        }
    }

    fn prompt_key(&mut self, key: &Key) {
        let Some(Overlay::Prompt(prompt, typed)) = &mut self.overlay else { return };
        match key.code {
            KeyCode::Enter => {
                let (prompt, typed) = (*prompt, typed.clone());
                self.overlay = None;
                match prompt {
                    Prompt::Rename => self.rename_window(&typed),
                    Prompt::Search if typed.is_empty() => {}
                    Prompt::Search => self.search(&typed),
                }
            }
            KeyCode::Escape => self.overlay = None,
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Char('u') if key.mods.has(Mods::CTRL) => typed.clear(),
            KeyCode::Char('c') if key.mods.has(Mods::CTRL) => self.overlay = None,
            KeyCode::Char(c) if typed.chars().count() < MAX_TYPED => typed.push(c),
            _ => {}
        }
    }

    fn rename_window(&mut self, name: &str) {
        if let Some(window) = self.window_mut() {
            window.rename(name);
        }
    }

    fn list_key(&mut self, key: &Key) {
        let Some(Overlay::List(list)) = &mut self.overlay else { return };
        match key.code {
            KeyCode::Char('j') | KeyCode::Down => list.step(1),
            KeyCode::Char('k') | KeyCode::Up => list.step(-1),
            KeyCode::Char('l') | KeyCode::Right if list.grid => list.step(1),
            KeyCode::Char('h') | KeyCode::Left if list.grid => list.step(-1),
            KeyCode::Char('g') | KeyCode::Home => list.selected = 0,
            KeyCode::Char('G') | KeyCode::End => list.step(isize::MAX),
            KeyCode::Char(digit @ '1'..='9') => {
                list.selected = 0;
                list.step(digit as isize - '1' as isize);
                self.choose();
            }
            KeyCode::Enter => self.choose(),
            KeyCode::Char('y') => self.copy_output(),
            KeyCode::Char('q' | 'c' | ' ') | KeyCode::Escape => self.close_overlay(),
            _ => {}
        }
    }

    fn choose(&mut self) {
        let Some(Overlay::List(list)) = &self.overlay else { return };
        let Some(choice) = list.choice().cloned() else { return };
        self.drop_overlay();
        match choice {
            Choice::New => self.create(None),
            Choice::Terminal(terminal) => self.show_terminal(&terminal),
            Choice::Output([first, _]) => {
                self.open_scroll();
                self.in_scroll(|scroll| scroll.go_to_line(first));
            }
            Choice::Nothing => {}
        }
    }

    /// Goes where a terminal is shown, or opens a window for it.
    fn show_terminal(&mut self, terminal: &str) {
        let found = self.windows.iter().enumerate().find_map(|(at, window)| {
            let panes = window.tree.panes();
            panes.iter().find(|(_, shown)| *shown == terminal).map(|(id, _)| (at, *id))
        });
        match found {
            Some((at, pane)) => {
                self.go_to_window(at);
                self.windows[at].go(pane);
            }
            None => self.open_window(terminal),
        }
    }

    fn copy_output(&mut self) {
        let Some(Overlay::List(list)) = &self.overlay else { return };
        let Some(Choice::Output([first, end])) = list.choice().cloned() else { return };
        self.close_overlay();
        let Some((_, pane)) = self.focused_pane() else { return };
        let text = command::Text {
            first_line: Some(first),
            count: Some(end.saturating_sub(first)),
            join: true,
            ..command::Text::of(&pane.terminal)
        };
        self.ask(&text, Pending::Text);
    }

    /// Takes the overlay away and lets its views go.
    fn drop_overlay(&mut self) {
        if let Some(Overlay::List(list)) = self.overlay.take() {
            for view in list.views.into_keys() {
                self.ask(&command::Detach { view }, Pending::Other);
            }
        }
    }

    /// With nothing behind it there is nothing left to do here.
    fn close_overlay(&mut self) {
        self.drop_overlay();
        if self.windows.is_empty() {
            self.wish(Wish::Leave("[nothing chosen]".to_owned()));
        }
    }

    pub(super) fn overlay_pointer(&mut self, pointer: &Pointer) {
        let row = usize::from(pointer.y);
        match (&mut self.overlay, pointer.act) {
            (Some(Overlay::List(list)), Act::WheelUp) => list.step(-1),
            (Some(Overlay::List(list)), Act::WheelDown) => list.step(1),
            (Some(Overlay::List(list)), Act::Press) if !list.grid => {
                let top = super::draw::list_top(list, usize::from(self.rows));
                if let Some(index) = row.checked_sub(1).map(|row| top + row)
                    && index < list.items.len()
                {
                    list.selected = index;
                    self.choose();
                }
            }
            (Some(Overlay::Help(..)), Act::Press) => self.close_overlay(),
            _ => {}
        }
    }
}
