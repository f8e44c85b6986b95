//! What a person types: to the client itself, or to the program in the pane that has the focus.

use super::Wish;
use super::app::{App, Pending};
use super::keymap::Step;
use crate::command::{self, Command};
use crate::input::Key;
use crate::wire::tagged_request_line;

/// Keys that a view's program is to get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    pub tag: u64,
    pub view: u32,
    pub keys: Vec<Key>,
}

impl Typing {
    /// As a request.
    pub fn line(&self) -> Vec<u8> {
        let keys = self.keys.iter().map(command::Press::from).collect();
        let target = command::Target::view(self.view);
        let command = command::Keys { target, keys, when_ready: false };
        tagged_request_line(command::Keys::NAME, self.tag, &command)
    }
}

impl App {
    pub(super) fn key(&mut self, key: Key) {
        if self.overlay.is_some() {
            return self.overlay_key(&key);
        }
        let view = self.view_only();
        let keymap = &self.config.keymap;
        let waits = self.prefix.is_on();
        match self.prefix.press(key.clone(), keymap, view, self.now) {
            Step::Act(action) => self.act(action),
            Step::Wait => {}
            Step::Nothing | Step::Type(_) if self.scrolls() => self.scroll_key(&key),
            Step::Nothing => {}
            Step::Type(keys) => {
                // Its echo is what will be seen; what has to be said comes after.
                self.still = !waits;
                self.type_keys(keys);
            }
        }
    }

    /// Programs that asked for it hear it; for all others a key that is held is pressed again.
    pub(super) fn key_again(&mut self, key: Key, kind: command::Kind) {
        let told = self.focused_pane().is_some_and(|(_, pane)| pane.screen.state.key_events);
        let typing = self.overlay.is_none() && !self.scrolls() && !self.prefix.is_on();
        if told && typing && !self.view_only() {
            self.still = true;
            self.type_keys(vec![key.of_kind(kind.into())]);
        } else if kind == command::Kind::Repeat {
            self.key(key);
        } else {
            self.still = true;
        }
    }

    pub(super) fn scrolls(&self) -> bool {
        let pane = self.focus().and_then(|id| self.panes.get(&id));
        pane.is_some_and(|pane| pane.scroll.is_some())
    }

    pub(super) fn type_keys(&mut self, keys: Vec<Key>) {
        let Some((_, pane)) = self.focused_pane() else { return };
        if pane.died.is_some() {
            return;
        }
        let Some(view) = pane.view else { return };
        if let Some(tag) = self.new_tag(Pending::Typed) {
            self.wish(Wish::Type(Typing { tag, view, keys }));
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(overlay) = &mut self.overlay {
            overlay.paste(text);
        } else if !self.view_only() {
            self.paste_text(text.to_owned());
        }
    }

    pub(super) fn paste_text(&mut self, text: String) {
        let Some((_, pane)) = self.focused_pane() else { return };
        pane.scroll = None;
        let Some(view) = pane.view else { return };
        let command =
            command::Paste { target: command::Target::view(view), text, when_ready: false };
        self.ask(&command, Pending::Typed);
    }

    pub(super) fn focused(&mut self, focused: bool) {
        let Some((_, pane)) = self.focused_pane() else { return };
        let Some(view) = pane.view else { return };
        let change =
            command::View { view, role: None, cols: None, rows: None, focused: Some(focused) };
        self.ask(&change, Pending::Other);
    }
}
