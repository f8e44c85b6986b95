//! The history of events and what each subscriber has yet to read of it.

use std::collections::VecDeque;

use super::limits::{MAX_EVENT_BYTES, MAX_EVENTS, MAX_LIVE_BYTES};
use super::{TerminalId, ToldEvent};
use crate::wire::{Event, EventKind, Tag, event_line};

type Told<'a> = ToldEvent<&'a Vec<u8>>;

/// Numbers set aside at a time, so that a new worker never gives one out twice.
pub const SEQ_BLOCK: u64 = 4096;

/// A finished line and what filters ask about it.
struct Kept {
    /// Its own number in the history; among live events, the last number given before it.
    seq: u64,
    kind: EventKind,
    terminal: Option<TerminalId>,
    /// The terminal's notice that it came of, if of one.
    notice: u64,
    line: Vec<u8>,
}

impl Kept {
    /// The memory that it takes, in bytes.
    fn size(&self) -> usize {
        size_of::<Kept>() + self.line.len()
    }
}

/// A bounded queue whose items keep their number when older ones fall out.
#[derive(Default)]
struct Ring {
    items: VecDeque<Kept>,
    bytes: usize,
    /// Number of the first item still held.
    first: u64,
}

impl Ring {
    fn push(&mut self, kept: Kept, max_items: usize, max_bytes: usize) {
        self.bytes += kept.size();
        self.items.push_back(kept);
        while self.items.len() > max_items || (self.bytes > max_bytes && self.items.len() > 1) {
            if let Some(old) = self.items.pop_front() {
                self.bytes -= old.size();
                self.first += 1;
            }
        }
    }

    fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    fn get(&self, number: u64) -> Option<&Kept> {
        self.items.get(number.checked_sub(self.first)? as usize)
    }
}

pub struct Events {
    history: Ring,
    live: Ring,
    reserved: u64,
    /// The last number that is safe from the end of this worker.
    kept: u64,
}

/// One `events` request: a filter and a place in both queues.
pub struct Subscription {
    tag: Option<Tag>,
    /// None for all.
    pub terminal: Option<TerminalId>,
    pub kinds: Kinds,
    next: u64,
    next_live: u64,
}

/// A bit for each kind.
pub type Kinds = u32;

pub fn bit(kind: EventKind) -> Kinds {
    1 << kind as u32
}

impl Subscription {
    fn wants(&self, kind: EventKind, terminal: Option<TerminalId>) -> bool {
        let ours = self.terminal.is_none() || terminal.is_none() || self.terminal == terminal;
        self.kinds & bit(kind) != 0 && ours
    }

    fn put(&self, line: &[u8], out: &mut Vec<u8>) {
        match &self.tag {
            Some(tag) => tag.mark(line, out),
            None => out.extend_from_slice(line),
        }
    }
}

impl Events {
    /// `seen` is the last number an earlier worker may have given out.
    pub fn new(seen: u64) -> Events {
        let history = Ring { first: seen + 1, ..Ring::default() };
        Events { history, live: Ring::default(), reserved: seen, kept: seen }
    }

    /// Takes the history over that an earlier worker left, from the oldest to the newest.
    pub fn recall(&mut self, told: impl Iterator<Item = ToldEvent>) {
        for ToldEvent { seq, kind, terminal, notice, line } in told {
            if self.history.items.is_empty() {
                self.history.first = seq;
            }
            let kept = Kept { seq, kind, terminal, notice, line };
            self.history.push(kept, MAX_EVENTS, MAX_EVENT_BYTES);
        }
        self.kept = self.last();
        self.reserved = self.reserved.max(self.kept);
    }

    /// Gives each event that the next worker would not know of; it will when `keep` has seen it.
    pub fn keep(&mut self, mut keep: impl FnMut(&Told<'_>)) {
        while self.kept < self.last() {
            self.kept += 1;
            if let Some(Kept { seq, kind, terminal, notice, line }) = self.history.get(self.kept) {
                let (seq, kind, terminal, notice) = (*seq, *kind, *terminal, *notice);
                keep(&ToldEvent { seq, kind, terminal, notice, line });
            }
        }
    }

    /// Events in the history, and their bytes.
    pub fn kept_now(&self) -> (usize, usize) {
        (self.history.items.len(), self.history.bytes)
    }

    /// The last number given out.
    pub fn last(&self) -> u64 {
        self.history.end() - 1
    }

    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Sets the next block aside when the present one is used up; it is to be remembered first.
    pub fn reserve(&mut self) -> Option<u64> {
        if self.last() < self.reserved {
            return None;
        }
        self.reserved = self.last() + SEQ_BLOCK;
        Some(self.reserved)
    }

    pub fn push(&mut self, terminal: Option<TerminalId>, notice: u64, event: &Event) {
        let seq = self.history.end();
        let kept = Kept { notice, ..Events::finish(seq, terminal, event) };
        self.history.push(kept, MAX_EVENTS, MAX_EVENT_BYTES);
    }

    /// For those who read along now; not in the history.
    pub fn push_live(&mut self, terminal: TerminalId, event: &Event) {
        let kept = Events::finish(self.last(), Some(terminal), event);
        self.live.push(kept, usize::MAX, MAX_LIVE_BYTES);
    }

    fn finish(seq: u64, terminal: Option<TerminalId>, event: &Event) -> Kept {
        let name = terminal.map(|id| id.to_string());
        let line = event_line(seq, name.as_deref(), event);
        Kept { seq, kind: event.kind(), terminal, notice: 0, line }
    }

    pub fn subscribe(
        &self,
        tag: Option<Tag>,
        terminal: Option<TerminalId>,
        kinds: &[EventKind],
        since: Option<u64>,
    ) -> Subscription {
        let usual = || EventKind::ALL.iter().filter(|kind| !kind.opt_in()).copied().collect();
        let kinds: Vec<_> = if kinds.is_empty() { usual() } else { kinds.to_vec() };
        let kinds = kinds.into_iter().map(bit).fold(bit(EventKind::Lost), |all, one| all | one);
        let next = since.map_or(self.history.end(), |seq| seq.saturating_add(1));
        let next = next.min(self.history.end());
        Subscription { tag, terminal, kinds, next, next_live: self.live.end() }
    }

    /// How many of the events after a number are no longer in the history.
    pub fn lost_after(&self, seq: u64) -> u64 {
        self.history.first.saturating_sub(seq.saturating_add(1))
    }

    /// A terminal's events of a kind after a number, as they were told.
    pub fn after(
        &self,
        seq: u64,
        terminal: TerminalId,
        kind: EventKind,
    ) -> impl Iterator<Item = &[u8]> {
        let from = seq.saturating_add(1).max(self.history.first);
        let kept = (from..self.history.end()).filter_map(|number| self.history.get(number));
        let wanted = move |kept: &&Kept| kept.kind == kind && kept.terminal == Some(terminal);
        kept.filter(wanted).map(|kept| kept.line.as_slice())
    }

    /// Moves unread lines for `to` into `out` until it holds `budget` bytes.
    pub fn read(&self, to: &mut Subscription, budget: usize, out: &mut Vec<u8>) {
        self.tell_lost(to, out);
        while out.len() < budget {
            let kept = self.history.get(to.next);
            let live = self.live.get(to.next_live);
            // A live event stands after the numbered ones that were there when it came.
            let live_first = match (kept, live) {
                (Some(kept), Some(live)) => live.seq < kept.seq,
                (kept, live) => kept.is_none() && live.is_some(),
            };
            let Some(item) = (if live_first { live } else { kept }) else { break };
            if to.wants(item.kind, item.terminal) {
                to.put(&item.line, out);
            }
            if live_first { to.next_live += 1 } else { to.next += 1 }
        }
    }

    fn tell_lost(&self, to: &mut Subscription, out: &mut Vec<u8>) {
        let mut lost = self.history.first.saturating_sub(to.next);
        if to.kinds & (bit(EventKind::Screen) | bit(EventKind::Output)) != 0 {
            lost += self.live.first.saturating_sub(to.next_live);
        }
        to.next = to.next.max(self.history.first);
        to.next_live = to.next_live.max(self.live.first);
        if lost > 0 {
            to.put(&event_line(to.next - 1, None, &Event::Lost { events: lost }), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const T1: TerminalId = TerminalId(1);
    const T2: TerminalId = TerminalId(2);

    fn read(events: &Events, to: &mut Subscription) -> Vec<Value> {
        let mut out = Vec::new();
        events.read(to, usize::MAX, &mut out);
        let lines = out.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    #[test]
    fn an_event_between_two_requests_is_not_lost() {
        let mut events = Events::new(0);
        let seq = events.last();
        events.push(Some(T1), 0, &Event::Bell);
        let mut late = events.subscribe(None, None, &[], Some(seq));
        assert_eq!(read(&events, &mut late)[0]["event"], "bell");
        assert!(read(&events, &mut late).is_empty());
    }

    #[test]
    fn filters_by_terminal_and_kind() {
        let mut events = Events::new(0);
        let mut one = events.subscribe(None, Some(T1), &[EventKind::Bell], None);
        events.push(Some(T2), 0, &Event::Bell);
        events.push(Some(T1), 0, &Event::Activity);
        events.push(Some(T1), 0, &Event::Bell);
        let got = read(&events, &mut one);
        assert_eq!((got.len(), &got[0]["seq"]), (1, &Value::from(3)));
    }

    #[test]
    fn what_fell_out_is_told() {
        let mut events = Events::new(0);
        let mut slow = events.subscribe(None, None, &[], None);
        for _ in 0..MAX_EVENTS + 7 {
            events.push(Some(T1), 0, &Event::Bell);
        }
        let got = read(&events, &mut slow);
        assert_eq!((&got[0]["event"], &got[0]["events"]), (&"lost".into(), &7.into()));
        assert_eq!(got[1]["seq"], 8);
        assert_eq!(got.len(), MAX_EVENTS + 1);
    }

    #[test]
    fn live_events_keep_their_place_and_only_those_who_asked_get_them() {
        let mut events = Events::new(0);
        let all = [EventKind::Output, EventKind::Bell];
        let mut asked = events.subscribe(None, None, &all, None);
        let mut usual = events.subscribe(None, None, &[], None);
        events.push(Some(T1), 0, &Event::Bell);
        events.push_live(T1, &Event::Output { offset: 0, data_base64: String::new() });
        events.push(Some(T1), 0, &Event::Bell);
        let kinds: Vec<_> =
            read(&events, &mut asked).iter().map(|line| line["event"].clone()).collect();
        assert_eq!(kinds, ["bell", "output", "bell"]);
        assert_eq!(read(&events, &mut usual).len(), 2);
    }

    #[test]
    fn a_number_from_the_future_is_taken_as_now() {
        let mut events = Events::new(5);
        let mut odd = events.subscribe(None, None, &[], Some(u64::MAX));
        events.push(None, 0, &Event::Restarted);
        assert_eq!(read(&events, &mut odd)[0]["seq"], 6);
    }

    #[test]
    fn the_history_is_bounded_by_number_and_by_bytes() {
        let mut events = Events::new(0);
        for _ in 0..MAX_EVENTS {
            events.push(Some(T1), 0, &Event::Bell);
        }
        assert_eq!((events.kept_now().0, events.history.first), (MAX_EVENTS, 1));
        events.push(Some(T1), 0, &Event::Bell);
        assert_eq!((events.kept_now().0, events.history.first), (MAX_EVENTS, 2));
        // Each takes just 1 MiB.
        let mut events = Events::new(0);
        let title = |length: usize| Event::Title { title: "x".repeat(length) };
        let around = Events::finish(1, Some(T1), &title(0)).size();
        for _ in 0..8 {
            events.push(Some(T1), 0, &title((1 << 20) - around));
        }
        assert_eq!(events.kept_now(), (8, MAX_EVENT_BYTES));
        events.push(Some(T1), 0, &Event::Bell);
        let (count, bytes) = events.kept_now();
        assert!(count == 8 && bytes < MAX_EVENT_BYTES, "{count} {bytes}");
        assert_eq!(events.history.first, 2, "the oldest has gone");
    }

    #[test]
    fn live_events_are_bounded_by_bytes() {
        let mut events = Events::new(0);
        let mut slow = events.subscribe(None, None, &[EventKind::Output], None);
        let output = |length: usize| Event::Output { offset: 0, data_base64: "x".repeat(length) };
        let around = Events::finish(0, Some(T1), &output(0)).size();
        for _ in 0..4 {
            events.push_live(T1, &output((1 << 20) - around));
        }
        assert_eq!(events.live.bytes, MAX_LIVE_BYTES);
        assert_eq!(read(&events, &mut slow).len(), 4, "nothing is lost");
        for _ in 0..5 {
            events.push_live(T1, &output((1 << 20) - around));
        }
        let got = read(&events, &mut slow);
        assert_eq!((got.len(), &got[0]["event"]), (5, &"lost".into()));
    }
}
