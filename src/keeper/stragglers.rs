//! Programs that were hung up on and are still there when the leader of their session has ended.

use std::time::{Duration, Instant};

use super::message::MAX_SLOTS;
use crate::os::inspect;
use crate::os::signal;

/// Groups that are waited for; those beyond are killed at once.
const MAX_STRAGGLERS: usize = 2 * MAX_SLOTS;
/// How long programs have to end after a hang-up.
pub const GRACE: Duration = Duration::from_secs(1);

/// A hang-up, and the group that had the keyboard then: nobody knows it when the leader is gone.
#[derive(Debug, Clone, Copy)]
pub struct HangUp {
    pub at: Instant,
    pub foreground: Option<u32>,
}

struct Straggler {
    group: u32,
    session: u32,
    deadline: Instant,
}

impl Straggler {
    fn is_there(&self) -> bool {
        signal::group_exists(self.group) && inspect::left_behind(self.group, self.session)
    }
}

#[derive(Default)]
pub struct Stragglers(Vec<Straggler>);

impl Stragglers {
    /// To be called as soon as the leader is reaped: while a group has members, its number and that
    /// of its session go to nobody else.
    pub fn watch(&mut self, leader: u32, hang_up: HangUp) {
        let others = hang_up.foreground.filter(|group| *group != leader);
        for group in [Some(leader), others].into_iter().flatten() {
            if signal::group_exists(group) {
                let full = self.0.len() >= MAX_STRAGGLERS;
                let deadline = if full { hang_up.at } else { hang_up.at + GRACE };
                self.0.push(Straggler { group, session: leader, deadline });
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn next_deadline(&self) -> Option<Instant> {
        self.0.iter().map(|straggler| straggler.deadline).min()
    }

    /// Drops those that have ended by themselves.
    pub fn forget_ended(&mut self) {
        self.0.retain(Straggler::is_there);
    }

    pub fn kill_due(&mut self, now: Instant) {
        let due = |straggler: &mut Straggler| straggler.deadline <= now;
        for straggler in self.0.extract_if(.., due).filter(Straggler::is_there) {
            let _ = signal::signal_group(straggler.group, libc::SIGKILL);
        }
    }
}
