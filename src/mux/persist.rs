//! When a terminal that is to persist is written down: a while after it changed, not too often, and at
//! the end of the server. The disk itself is elsewhere, and nobody waits for it.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::kept::{Kept, Key};
use super::limits::{
    KEEP_AGAIN, KEEP_GRACE, KEEP_PACE, KEEP_QUIET, KEEP_RATE_BUSY, KEEP_RATE_QUIET, MAX_KEEPING,
    MAX_KEPT_ROWS,
};
use super::{Effect, Mux, ServerRecord, Terminal, TerminalId};
use crate::term::{Size, Transcript};

/// How a terminal stands with the disk.
#[derive(Debug, Default)]
pub struct Keeping {
    /// Something of it is there, or on its way.
    on_disk: bool,
    /// It is being written, or waits for its turn.
    busy: bool,
    /// When it first changed since it was last written down.
    changed: Option<Instant>,
    /// When that was begun, and how many bytes it took.
    last: Option<Instant>,
    bytes: usize,
    failed: bool,
    ended: Option<Instant>,
    /// The file it was restored from, if that was not its own.
    from: Option<Key>,
}

/// All of the server's.
#[derive(Debug, Default)]
pub struct Shelf {
    pub(super) always: bool,
    /// Which run of the server this is: when it began.
    pub(super) run: u64,
    writing: usize,
    queue: VecDeque<TerminalId>,
    /// The layouts are not as they are on disk.
    pub(super) layouts_changed: bool,
    parting: bool,
    /// Why the last attempt failed.
    pub(super) trouble: Option<String>,
}

impl Shelf {
    pub fn new(record: &ServerRecord) -> Shelf {
        let layouts_changed = !record.workspaces.is_empty();
        Shelf { always: record.persist, run: record.run, layouts_changed, ..Shelf::default() }
    }
}

/// A terminal to be written down. What only the system knows is yet to be filled in.
pub struct Page {
    pub kept: Kept,
    pub rows: Transcript,
    pub pid: Option<u32>,
    /// It is to be there also when the power fails.
    pub sync: bool,
}

/// What is kept of the server itself.
#[derive(Debug, Clone)]
pub struct ServerPage {
    pub run: u64,
    pub workspaces: BTreeMap<String, Value>,
    pub ended: bool,
}

impl Keeping {
    /// Of a terminal that an earlier worker served: the disk may have it or not.
    pub(super) fn inherited(on_disk: bool, now: Instant) -> Keeping {
        Keeping { on_disk, changed: Some(now), ..Keeping::default() }
    }

    /// Of one that was made from a file.
    pub(super) fn restored(own: bool, key: Key, now: Instant) -> Keeping {
        let from = (!own).then_some(key);
        Keeping { on_disk: own, changed: Some(now), from, ..Keeping::default() }
    }

    /// What could not be written is tried again.
    fn begin(&mut self, now: Instant) {
        self.failed = false;
        if !self.on_disk {
            self.has_changed(now);
        }
    }

    pub(super) fn has_changed(&mut self, now: Instant) {
        self.changed.get_or_insert(now);
    }

    fn due(&self, last_output: Instant) -> Option<Instant> {
        let changed = self.changed.filter(|_| !self.busy)?;
        let last = self.last.unwrap_or(changed);
        if self.failed {
            return Some(last + KEEP_AGAIN);
        }
        let pause = |rate: usize| KEEP_PACE.max(Duration::from_secs((self.bytes / rate) as u64));
        let soonest = self.last.map_or(changed, |last| last + pause(KEEP_RATE_QUIET));
        Some((last + pause(KEEP_RATE_BUSY)).min(soonest.max(last_output + KEEP_QUIET)))
    }
}

impl Terminal {
    pub(super) fn key(&self) -> Key {
        Key { id: self.id(), born_ms: self.identity.born_ms }
    }

    fn kept(&self, run: u64, saved_ms: u64) -> Kept {
        let (identity, Size { cols, rows }) = (&self.identity, self.grid.size());
        // Where a shell on another machine is would be of no use.
        let told = self.grid.cwd().filter(|cwd| cwd.host.is_none()).map(|cwd| cwd.path.clone());
        Kept {
            id: identity.id,
            born_ms: identity.born_ms,
            saved_ms,
            run,
            boot: String::new(),
            name: identity.name.clone(),
            labels: identity.labels.clone(),
            argv: identity.argv.clone(),
            cwd: told.unwrap_or_else(|| identity.cwd.clone()),
            command: self.grid.running_command().map(str::to_owned),
            cols,
            rows,
            scrollback_lines: identity.scrollback_lines,
            idle_timeout_ms: identity.idle_timeout_ms,
            take_over: identity.take_over,
            shell_integration: identity.shell_integration,
            persist: identity.persist,
            lines: [0, 0],
        }
    }
}

impl Mux {
    /// Whether a terminal persists, or those do that have no setting of their own.
    pub fn persists(&self, id: Option<TerminalId>) -> bool {
        let own = id.and_then(|id| self.get(id)).and_then(|terminal| terminal.identity.persist);
        own.unwrap_or(self.shelf.always)
    }

    pub fn persist_trouble(&self) -> Option<&str> {
        self.shelf.trouble.as_deref()
    }

    /// Takes effect at once: what is no longer to be kept is removed.
    pub fn set_persist(&mut self, id: Option<TerminalId>, persist: bool) {
        match id {
            None => {
                self.shelf.always = persist;
                self.remember_server();
            }
            Some(id) => {
                if let Some(terminal) = self.terminals.get_mut(&id) {
                    terminal.identity.persist = Some(persist);
                }
                self.remember(id);
            }
        }
        let all = self.terminals.keys().copied().filter(|known| id.is_none_or(|id| id == *known));
        for id in all.collect::<Vec<_>>() {
            let (now, persists) = (self.now, self.persists(Some(id)));
            match self.terminals.get_mut(&id).map(|terminal| &mut terminal.keeping) {
                Some(keeping) if persists => keeping.begin(now),
                _ => self.drop_kept(id),
            }
            self.arm(id);
        }
    }

    /// There is something about a terminal that the disk does not know.
    pub(super) fn changed(&mut self, id: TerminalId) {
        let now = self.now;
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.keeping.has_changed(now);
        }
        self.arm(id);
    }

    pub(super) fn keep_deadline(&self, id: TerminalId) -> Option<Instant> {
        let terminal = self.terminals.get(&id).filter(|terminal| terminal.started())?;
        if let Some(ended) = terminal.keeping.ended {
            return Some(ended + KEEP_GRACE);
        }
        let wanted = terminal.alive() && self.persists(Some(id));
        terminal.keeping.due(terminal.last_output).filter(|_| wanted)
    }

    pub(super) fn keep_due(&mut self, id: TerminalId) {
        if self.keep_deadline(id).is_none_or(|due| due > self.now) {
            return;
        }
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        if terminal.keeping.ended.take().is_some() {
            return self.drop_kept(id);
        }
        self.queue_keep(id);
    }

    fn queue_keep(&mut self, id: TerminalId) {
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.keeping.busy = true;
            self.shelf.queue.push_back(id);
            self.keep_next();
        }
    }

    /// Not too many at once: each is a copy of a terminal's lines.
    fn keep_next(&mut self) {
        while self.shelf.writing < MAX_KEEPING
            && let Some(id) = self.shelf.queue.pop_front()
        {
            self.keep(id);
        }
    }

    fn keep(&mut self, id: TerminalId) {
        let (now, saved_ms, sync) = (self.now, self.unix_ms(), !self.shelf.parting);
        let wanted = self.persists(Some(id));
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        if !wanted {
            terminal.keeping.busy = false;
            return;
        }
        let kept = terminal.kept(self.shelf.run, saved_ms);
        let page =
            Page { kept, rows: terminal.grid.transcript(MAX_KEPT_ROWS), pid: terminal.pid(), sync };
        let keeping = &mut terminal.keeping;
        (keeping.changed, keeping.last, keeping.on_disk) = (None, Some(now), true);
        self.shelf.writing += 1;
        self.effect(Effect::Keep(Box::new(page)));
        if self.shelf.layouts_changed {
            self.keep_layouts(false);
        }
    }

    /// It is on disk, with so many bytes, or could not be put there.
    pub(super) fn kept(&mut self, key: Key, result: Result<usize, String>) {
        self.shelf.writing = self.shelf.writing.saturating_sub(1);
        let now = self.now;
        let known = self.terminals.get_mut(&key.id).filter(|terminal| terminal.key() == key);
        if let Some(terminal) = known {
            let keeping = &mut terminal.keeping;
            keeping.busy = false;
            keeping.failed = result.is_err();
            match &result {
                Ok(bytes) => {
                    keeping.bytes = *bytes;
                    let from = keeping.from.take();
                    from.into_iter().for_each(|from| self.effect(Effect::DropKept(from)));
                }
                Err(_) => keeping.has_changed(now),
            }
            self.arm(key.id);
        }
        self.shelf.trouble = result.err();
        self.keep_next();
    }

    /// It is gone for good, or is no longer to persist.
    pub(super) fn drop_kept(&mut self, id: TerminalId) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let key = terminal.key();
        let keeping = &mut terminal.keeping;
        let files = [keeping.from.take(), std::mem::take(&mut keeping.on_disk).then_some(key)];
        for key in files.into_iter().flatten() {
            self.effect(Effect::DropKept(key));
        }
    }

    /// A program that ended is not brought back. But when the machine goes down all programs end, and
    /// the server a moment later.
    pub(super) fn ended_kept(&mut self, id: TerminalId) {
        let (now, parting) = (self.now, self.shelf.parting);
        if let Some(terminal) = self.terminals.get_mut(&id)
            && terminal.keeping.on_disk
            && !parting
        {
            terminal.keeping.ended = Some(now);
            self.arm(id);
        }
    }

    /// The server ends in good order: what lives now can be brought back.
    pub fn part(&mut self) {
        self.shelf.parting = true;
        self.terminals.values_mut().for_each(|terminal| terminal.keeping.ended = None);
        let unsaved = |terminal: &&Terminal| {
            let keeping = &terminal.keeping;
            terminal.started() && terminal.alive() && keeping.changed.is_some() && !keeping.busy
        };
        let all: Vec<_> = self.terminals.values().filter(unsaved).map(Terminal::id).collect();
        let persist = |id: &TerminalId| self.persists(Some(*id));
        let all: Vec<_> = all.into_iter().filter(persist).collect();
        all.into_iter().for_each(|id| self.queue_keep(id));
        if self.keeps_any() {
            self.keep_layouts(true);
        }
    }

    /// Something is still on its way to the disk.
    pub fn is_keeping(&self) -> bool {
        self.shelf.writing > 0 || !self.shelf.queue.is_empty()
    }

    fn keeps_any(&self) -> bool {
        self.terminals.keys().any(|id| self.persists(Some(*id)))
    }

    pub(super) fn layouts_changed(&mut self) {
        self.shelf.layouts_changed = true;
        if self.keeps_any() {
            self.keep_layouts(false);
        }
    }

    fn keep_layouts(&mut self, ended: bool) {
        self.shelf.layouts_changed = false;
        let (run, workspaces) = (self.shelf.run, self.workspaces.clone());
        self.effect(Effect::KeepServer(ServerPage { run, workspaces, ended }));
    }
}
