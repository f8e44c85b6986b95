//! A pane: a view of one terminal, and what this client does with it.

use std::time::Instant;

use super::screen::{Change, Screen};
use super::scroll::{Scroll, Spot};
use crate::wire::{Frame, Role};

pub struct Pane {
    pub terminal: String,
    /// None until the server has answered.
    pub view: Option<u32>,
    pub screen: Screen,
    /// Looking back; None: it shows what is now.
    pub scroll: Option<Scroll>,
    /// To be selected when the rows have come.
    pub select: Option<(Spot, Spot)>,
    /// And copied then: the button was let go before they came.
    pub copies: bool,
    /// Lines that match the search, and which of them is shown.
    pub found: Vec<u64>,
    pub found_at: usize,
    /// What it has room for on the outer screen.
    pub room: (u16, u16),
    /// The size that was asked for last.
    pub asked: Option<(u16, u16)>,
    /// When its program ended.
    pub died: Option<Instant>,
    /// When the command that runs began.
    pub command_since: Option<Instant>,
}

impl Pane {
    pub fn new(terminal: &str) -> Pane {
        Pane {
            terminal: terminal.to_owned(),
            view: None,
            screen: Screen::default(),
            scroll: None,
            select: None,
            copies: false,
            found: Vec::new(),
            found_at: 0,
            room: (0, 0),
            asked: None,
            died: None,
            command_since: None,
        }
    }

    /// What has changed on the screen, and whether an agent was refused since the last frame because
    /// this person holds the keyboard.
    pub fn apply(&mut self, frame: &Frame, now: Instant) -> (Vec<Change>, bool) {
        let (role, refused) = (self.screen.state.role, self.screen.state.refused);
        let changes = self.screen.apply(frame);
        let state = &self.screen.state;
        if frame.state.is_some() {
            let ran = |ms: u64| now.checked_sub(std::time::Duration::from_millis(ms));
            self.command_since = state.command.as_ref().and(state.running_ms.and_then(ran));
        }
        if !state.alive && frame.state.is_some() {
            self.died.get_or_insert(now);
        }
        (changes, role == Role::Take && state.refused > refused)
    }

    /// The view's connection is gone.
    pub fn forget_view(&mut self) {
        self.view = None;
        self.asked = None;
    }

    /// The first row and column that are shown: of a terminal larger than the pane, those with
    /// the cursor.
    pub fn shown_from(&self) -> (usize, usize) {
        let from = |length: usize, room: u16, cursor: u16| {
            let room = usize::from(room).max(1);
            (usize::from(cursor) + 1).saturating_sub(room).min(length.saturating_sub(room))
        };
        let cursor = self.screen.cursor;
        let row = from(self.screen.rows.len(), self.room.1, cursor.row);
        (row, from(usize::from(self.screen.cols), self.room.0, cursor.col))
    }

    /// What it is called: the terminal's name, else its id.
    pub fn label(&self) -> &str {
        self.screen.state.name.as_deref().unwrap_or(&self.terminal)
    }
}
