//! Requests that are answered when something has come: looked at when something happened, or when
//! their time is up, and never otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::{Map, Value, json};

use super::conditions::{Condition, Found, Part, Scan, Scene};
use super::extras::{Extra, Reply};
use super::limits::{MAX_WAITS, PROBE_QUIET, PROBE_SLOWEST};
use super::{Asker, ClientId, Effect, Facts, Mux, Terminal, TerminalId, Ticket};
use crate::term::LineNo;
use crate::wire::{Code, Failure};

/// A wait as it is asked for.
pub struct Wanted {
    pub terminal: TerminalId,
    pub any: Vec<Condition>,
    pub after: Option<u64>,
    pub timeout: Duration,
    pub then: Vec<Extra>,
}

struct Wait {
    ticket: Ticket,
    any: Vec<Condition>,
    after: Option<u64>,
    /// Events up to this one were looked at.
    seen: u64,
    since: Instant,
    deadline: Instant,
    then: Vec<Extra>,
}

/// Why a wait is over.
enum End {
    Met(usize, Found),
    TimedOut,
    Exited,
    /// So many events after the one that was named are gone, and what was waited for may be one.
    Lost(u64),
}

/// When the system is asked about a terminal's program, for all who wait for it.
#[derive(Default)]
pub struct Probing {
    asked: Option<Instant>,
    pace: Duration,
    next: Option<Instant>,
}

#[derive(Default)]
pub struct Waits {
    all: BTreeMap<TerminalId, Vec<Wait>>,
    /// Terminals that something happened to.
    touched: BTreeSet<TerminalId>,
    pub runs: usize,
}

impl Waits {
    pub fn count(&self) -> usize {
        self.all.values().map(Vec::len).sum::<usize>() + self.runs
    }

    pub fn remove_client(&mut self, client: ClientId) {
        for waits in self.all.values_mut() {
            waits.retain(|wait| wait.ticket.client != client);
        }
        self.all.retain(|_, waits| !waits.is_empty());
    }

    fn of(&self, id: TerminalId) -> &[Wait] {
        self.all.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Somebody reads the lines as they come.
    pub fn reads(&self, id: TerminalId) -> bool {
        let text = |condition: &Condition| matches!(condition, Condition::Text(_));
        self.of(id).iter().any(|wait| wait.any.iter().any(text))
    }

    pub fn observe(&mut self, terminal: &Terminal) {
        let waits = self.all.get_mut(&terminal.id()).into_iter().flatten();
        waits.flat_map(|wait| &mut wait.any).for_each(|condition| condition.observe(terminal));
    }

    pub fn touch(&mut self, id: TerminalId) {
        self.touched.insert(id);
    }

    fn need_facts(&self, id: TerminalId) -> bool {
        self.of(id).iter().any(|wait| wait.any.iter().any(Condition::needs_facts))
    }
}

impl Mux {
    /// Room for one more that waits.
    pub(super) fn may_wait(&self) -> Result<(), Failure> {
        if self.waits.count() >= MAX_WAITS {
            let error = format!("{MAX_WAITS} requests wait, which is the most: try again");
            return Err(Failure::new(Code::Limit, error));
        }
        Ok(())
    }

    /// Whether a request waits for something of this terminal.
    pub(super) fn is_awaited(&self, id: TerminalId) -> bool {
        let runs = self.terminals.get(&id).is_some_and(|terminal| terminal.run.is_some());
        runs || !self.waits.of(id).is_empty()
    }

    /// A text to look for, from now on or also on the screen as it is.
    pub fn scan(
        &self,
        id: TerminalId,
        pattern: Regex,
        part: Option<Part>,
        only: Only,
    ) -> Option<Scan> {
        let terminal = self.get(id)?;
        let (stamp, line) = (terminal.grid.stamp(), terminal.grid.cursor_line());
        let scan = Scan::new(pattern, part, terminal);
        Some(match only {
            Only::All => scan,
            Only::New(after) => match after.and_then(|seq| terminal.input_after(seq)) {
                Some(moment) => scan.only_new(moment.stamp, moment.line),
                None => scan.only_new(stamp, line),
            },
            Only::Since(stamp) => scan.only_new(stamp, terminal.line_since(stamp)),
            Only::From(line) => scan.starting_at(line),
        })
    }

    pub fn wait(&mut self, wanted: Wanted, ticket: &Ticket) -> Result<(), Failure> {
        self.may_wait()?;
        let Wanted { terminal, any, after, timeout, then } = wanted;
        let seen = after.unwrap_or(self.seq()).min(self.seq());
        let (since, deadline) = (self.now, self.now + timeout);
        let wait = Wait { ticket: ticket.clone(), any, after, seen, since, deadline, then };
        self.waits.all.entry(terminal).or_default().push(wait);
        self.waits.touch(terminal);
        self.probe_soon(terminal);
        Ok(())
    }

    /// Looks at the waits of all terminals that something happened to.
    pub(super) fn check_waits(&mut self) {
        while let Some(id) = self.waits.touched.pop_first() {
            self.check_run(id);
            self.check_waits_of(id, None);
            self.arm(id);
        }
    }

    pub(super) fn check_waits_of(&mut self, id: TerminalId, facts: Option<&Facts>) {
        let Some(mut waits) = self.waits.all.remove(&id) else { return };
        let mut ended = Vec::new();
        if let Some(terminal) = self.terminals.get(&id) {
            let mut kept = Vec::new();
            for mut wait in waits.drain(..) {
                let scene = self.scene(terminal, &wait, facts);
                match wait.end(&scene) {
                    Some(end) => ended.push((wait, end)),
                    None => kept.push(wait),
                }
            }
            if !kept.is_empty() {
                self.waits.all.insert(id, kept);
            }
        } else {
            // It was forgotten without its program having ended.
            ended.extend(waits.into_iter().map(|wait| (wait, End::Exited)));
        }
        for (wait, end) in ended {
            self.end_wait(id, wait, end);
        }
    }

    /// What the conditions of a wait look at.
    fn scene<'a>(
        &'a self,
        terminal: &'a Terminal,
        wait: &Wait,
        facts: Option<&'a Facts>,
    ) -> Scene<'a> {
        let idle_timeout = Duration::from_millis(self.idle_timeout_ms(Some(terminal.id())));
        let Wait { after, seen, .. } = *wait;
        Scene { terminal, events: &self.events, now: self.now, idle_timeout, after, seen, facts }
    }

    fn end_wait(&mut self, id: TerminalId, wait: Wait, end: End) {
        let timed_out = matches!(end, End::TimedOut);
        let waited = self.now.saturating_duration_since(wait.since).as_millis() as u64;
        let mut body = Map::new();
        let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
        put("id", json!(id.to_string()));
        put("timed_out", json!(timed_out));
        put("waited_ms", json!(waited));
        put("seq", json!(self.seq()));
        let terminal = self.terminals.get(&id);
        if let Some(exit) = terminal.and_then(Terminal::exit) {
            put("exit_code", json!(exit.code()));
        }
        put("stamp", json!(terminal.map(|terminal| terminal.grid.stamp())));
        let mut met = Value::Null;
        match end {
            End::Met(index, what) => {
                put("condition", json!(wait.any.get(index).map(Condition::name)));
                met = json!(index);
                if !what.is_empty() {
                    put("found", Value::Object(what));
                }
            }
            End::Lost(events) => {
                put("lost", json!(events));
            }
            End::TimedOut | End::Exited => {}
        }
        put("met", met);
        self.deliver(Reply::new(wait.ticket, id, body), &wait.then);
    }

    /// When something that is waited for is due without anything happening.
    pub(super) fn waits_deadline(&self, id: TerminalId) -> Option<Instant> {
        let terminal = self.terminals.get(&id)?;
        let due = |wait: &Wait| {
            let scene = self.scene(terminal, wait, None);
            let due = wait.any.iter().filter_map(|condition| condition.due(&scene));
            due.filter(|due| *due > self.now).chain([wait.deadline]).min()
        };
        let waits = self.waits.of(id).iter().filter_map(due).min();
        let probe = terminal.probing.next.filter(|_| terminal.probing.asked.is_none());
        let run = terminal.run.as_ref().and_then(|run| run.due(terminal, self.now));
        // What is past has been looked at, and is again when something happens.
        [waits, probe, run].into_iter().flatten().filter(|due| *due > self.now).min()
    }

    /// Something was typed or written, or a wait is new: ask the system anew, in a moment.
    pub(super) fn probe_soon(&mut self, id: TerminalId) {
        if !self.waits.need_facts(id) {
            return;
        }
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.probing.pace = PROBE_QUIET;
            terminal.probing.next = Some(terminal.last_active() + PROBE_QUIET);
        }
        self.probe_due(id);
    }

    pub(super) fn probe_due(&mut self, id: TerminalId) {
        let (now, needed) = (self.now, self.waits.need_facts(id));
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let probing = &mut terminal.probing;
        if probing.asked.is_some() || probing.next.is_none_or(|next| next > now) {
            return;
        }
        probing.next = None;
        if needed && terminal.alive() {
            terminal.probing.asked = Some(now);
            self.effect(Effect::Probe { id, asker: Asker::Waits });
        }
    }

    /// The system has told; it counts if nothing has happened since it was asked.
    pub(super) fn probed_for_waits(&mut self, id: TerminalId, facts: &Facts) {
        let now = self.now;
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let asked = terminal.probing.asked.take();
        if asked.is_some_and(|asked| terminal.last_active() < asked) {
            self.check_waits_of(id, Some(facts));
        }
        if let Some(terminal) = self.terminals.get_mut(&id) {
            let probing = &mut terminal.probing;
            probing.next = probing.next.or(Some(now + probing.pace));
            probing.pace = (probing.pace * 2).min(PROBE_SLOWEST);
        }
        self.arm(id);
    }
}

/// Which text counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// What is on the screen, and all that comes.
    All,
    /// What comes, or came after the input that followed this event.
    New(Option<u64>),
    /// What changed after a stamp of the screen.
    Since(u64),
    /// Lines from one on.
    From(LineNo),
}

impl Wait {
    fn end(&mut self, scene: &Scene) -> Option<End> {
        for (index, condition) in self.any.iter_mut().enumerate() {
            if let Some(found) = condition.met(scene) {
                return Some(End::Met(index, found));
            }
        }
        let after = self.after.is_some();
        let lost = scene.events.lost_after(self.seen);
        self.seen = scene.events.last();
        if lost > 0 && self.any.iter().any(|condition| condition.needs_events(after)) {
            return Some(End::Lost(lost));
        }
        if !scene.terminal.alive() {
            return Some(End::Exited);
        }
        (self.deadline <= scene.now).then_some(End::TimedOut)
    }
}
