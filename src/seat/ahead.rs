//! What is typed ahead of what it is meant for: a window, a list, a view that are on their way.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::app::{App, Incoming, Pending};

/// It waits at most so long, and is at most so much.
const HOLD_TIME: Duration = Duration::from_secs(2);
const MAX_HELD: usize = 1024;

#[derive(Default)]
pub(super) struct Ahead {
    held: VecDeque<Incoming>,
    /// Since when there is anything.
    since: Option<Instant>,
}

impl Ahead {
    /// When it is not waited any more.
    pub fn deadline(&self) -> Option<Instant> {
        self.since.map(|since| since + HOLD_TIME)
    }
}

impl App {
    /// Takes what comes in; keys in the order in which they were typed, when it is known what for.
    pub(super) fn take_in_turn(&mut self, incoming: Incoming) {
        let typed =
            matches!(incoming, Incoming::Key(_) | Incoming::KeyAgain(..) | Incoming::Paste(_));
        if typed && (self.must_hold() || !self.ahead.held.is_empty()) {
            self.hold(incoming);
        } else {
            self.take(incoming);
        }
        self.let_go();
    }

    /// Whether something was asked for that decides where keys go, and may still come soon.
    fn must_hold(&self) -> bool {
        let focus = self.focus();
        let decides = |pending: &Pending| match pending {
            Pending::Attach(pane) => Some(*pane) == focus,
            Pending::Create(_) | Pending::List(_) | Pending::Commands | Pending::Workspace => true,
            _ => false,
        };
        let soon = self.ahead.deadline().is_none_or(|due| due > self.now);
        soon && self.pending.values().any(decides)
    }

    fn hold(&mut self, incoming: Incoming) {
        self.ahead.since.get_or_insert(self.now);
        if self.ahead.held.len() < MAX_HELD {
            self.ahead.held.push_back(incoming);
            self.still = true;
        } else {
            self.say("the server is behind; that was not sent");
        }
    }

    fn let_go(&mut self) {
        let mut still = self.still;
        while !self.must_hold()
            && let Some(incoming) = self.ahead.held.pop_front()
        {
            self.still = false;
            self.take(incoming);
            still &= self.still;
        }
        self.still = still;
        if self.ahead.held.is_empty() {
            self.ahead.since = None;
        }
    }
}
