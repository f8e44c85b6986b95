//! Which terminal has to be looked at when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use super::TerminalId;

/// Entries are never taken back: a terminal that wakes too early is looked at and armed again.
#[derive(Default)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(Instant, TerminalId)>>,
}

impl Timers {
    /// Arms `deadline` unless an earlier one is armed for the same terminal already.
    pub fn arm(&mut self, id: TerminalId, deadline: Option<Instant>, armed: &mut Option<Instant>) {
        let Some(deadline) = deadline else { return };
        if armed.is_none_or(|armed| deadline < armed) {
            *armed = Some(deadline);
            self.heap.push(Reverse((deadline, id)));
        }
    }

    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((deadline, _))| *deadline)
    }

    pub fn due(&mut self, now: Instant) -> Option<TerminalId> {
        let Reverse((deadline, id)) = *self.heap.peek()?;
        if deadline > now {
            return None;
        }
        self.heap.pop();
        Some(id)
    }
}
