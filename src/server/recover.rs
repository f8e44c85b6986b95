//! What an earlier worker left, brought back to where it was.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::hub::Hub;
use super::pty_line::PtyLine;
use super::{clock, exit, spawn};
use crate::journal::{Entry, Journal, Log, SCROLLBACK};
use crate::keeper::{Exit, FromKeeper, SlotId, ToKeeper};
use crate::mux::limits::MAX_SCROLLBACK_BYTES;
use crate::mux::{self, Incoming, Past, TerminalId, ToldEvent};
use crate::os::{process, pty};
use crate::term::{Memory, Size, Terminal};
use crate::wire::{EventKind, LeftScreen};

/// So many workers may die while they feed a terminal's output. The next one leaves out what none of
/// them has fed before, later ones all since the save, and then the save too. Those that were killed
/// from outside do not count.
const MAX_READS: u64 = 3;
const MAX_FEEDS: u64 = 5;
const MAX_RESTORES: u64 = 7;
/// A terminal that writes all the time never rests by itself; so often it is made to, lest what has
/// long been saved takes memory.
const REST_AGAIN: Duration = Duration::from_secs(10);

const _: () = assert!(MAX_SCROLLBACK_BYTES <= SCROLLBACK);

/// None if it is not of this version.
pub fn log(fd: OwnedFd) -> Option<Log> {
    let log = Log::open(fd);
    if let Err(error) = &log {
        process::complain(&format!("the server's memory cannot be taken over: {error}"));
    }
    log.ok()
}

pub fn events(log: &mut Log) -> Vec<ToldEvent> {
    let told = |entry: Entry| {
        let Entry { seq, kind, terminal, notice, line } = entry;
        let kind = *EventKind::ALL.get(kind as usize)?;
        Some(ToldEvent { seq, kind, terminal: terminal.map(TerminalId), notice, line })
    };
    // One that this version does not know would leave a gap: then all are forgotten.
    log.entries().into_iter().map(told).collect::<Option<_>>().unwrap_or_default()
}

/// A terminal that an earlier worker served.
pub struct Left {
    id: TerminalId,
    pid: u32,
    exit: Option<Exit>,
    line: PtyLine,
}

impl Hub {
    /// Opens what is left of a terminal. `crashed` is the last worker, if it ended by itself.
    pub fn open_left(&mut self, take: FromKeeper, crashed: Option<u32>) -> Option<Left> {
        let FromKeeper::Take { slot, pid, exit, master, record } = take else { return None };
        let id = TerminalId(slot.0);
        let line = Journal::open(record)
            .and_then(|journal| PtyLine::new(master, journal, self.to_busy.clone()));
        if let Ok(line) = &line {
            line.journal.count_death(crashed);
        }
        line.map_err(|error| self.let_go(id, &error)).ok().map(|line| Left { id, pid, exit, line })
    }

    fn let_go(&mut self, id: TerminalId, error: &io::Error) {
        process::complain(&format!("{id} could not be taken over: {error}"));
        let _ = self.keeper.send(ToKeeper::Forget { slot: SlotId(id.0) });
    }

    pub fn inherit(&mut self, left: Left) {
        let Left { id, pid, exit: ended, line } = left;
        match self.restore(id, pid, line) {
            Ok(line) => {
                self.lines.insert(id, line);
                self.fed(id);
                match self.runs(id) {
                    true => self.begin(id),
                    false => spawn::look(id, pid, self.to_hub.clone()),
                }
                if let Some(exit) = ended.map(exit).filter(|exit| !self.mux.bury_told(id, *exit)) {
                    self.ended(id, exit);
                }
            }
            Err(error) => self.let_go(id, &error),
        }
    }

    /// Gives a terminal its grid back, and feeds what no worker has fed.
    fn restore(&mut self, id: TerminalId, pid: u32, mut line: PtyLine) -> io::Result<PtyLine> {
        let size = pty::size(line.fd()).unwrap_or(Size { cols: 80, rows: 24 });
        let record = line.journal.record.read().unwrap_or_default();
        let identity = self.mux.inherit(&record, pid, size).filter(|identity| identity.id == id);
        let lines = identity.map(|identity| identity.scrollback_lines);
        let lines = lines.ok_or_else(|| io::Error::other("its record is damaged"))?;
        let past = past(&mut line.journal, lines, size);
        let (degraded, fed) = (past.degraded.is_some(), past.offset + past.fed.len() as u64);
        self.mux.restore(id, size, past);
        let bytes = line.journal.bytes(fed..line.journal.head());
        if !bytes.is_empty() && !degraded {
            self.mux.on(Incoming::Output { id, bytes }, clock::now());
        }
        if degraded {
            process::complain(&format!("{id} is degraded: its screen could not be brought back"));
            // What could not be fed is not tried again, whatever becomes of this worker.
            if let Some(terminal) = self.mux.get(id) {
                save(terminal, &mut line, &mut self.buffer);
            }
        }
        line.journal.end_feeding();
        Ok(line)
    }

    pub fn inherited(&mut self) {
        self.mux.inherited();
    }

    /// What came of a terminal's output is certain as soon as its events are written down; only then
    /// does it happen.
    pub(super) fn fed(&mut self, id: TerminalId) {
        self.keep_events();
        let Some(line) = self.lines.get(&id) else { return };
        let Some(terminal) = self.mux.get(id) else { return };
        line.journal.set_told(terminal.notices);
        if line.journal.is_filling() {
            self.save(id);
        } else if line.journal.is_large() && clock::now() > line.rested + REST_AGAIN {
            self.rest(id);
        }
    }

    pub(super) fn keep_events(&mut self) {
        let log = &mut self.log;
        self.mux.keep_events(|event| keep(log, event));
    }

    pub(super) fn save(&mut self, id: TerminalId) {
        if let (Some(line), Some(terminal)) = (self.lines.get_mut(&id), self.mux.get(id)) {
            save(terminal, line, &mut self.buffer);
        }
    }

    pub(super) fn rest(&mut self, id: TerminalId) {
        if self.lines.get(&id).is_some_and(|line| !line.journal.unsaved().is_empty()) {
            self.save(id);
        }
        if let Some(line) = self.lines.get_mut(&id) {
            line.journal.rest();
            line.rested = clock::now();
        }
    }
}

fn save(terminal: &mux::Terminal, line: &mut PtyLine, buffer: &mut Vec<u8>) {
    buffer.clear();
    terminal.grid.save(buffer);
    if !line.journal.save(terminal.notices, buffer) {
        process::complain(&format!("the screen of {} is too large to be saved", terminal.id()));
    }
}

/// Writes an event down for the next worker.
pub fn keep(log: &mut Log, event: &ToldEvent<&Vec<u8>>) {
    let ToldEvent { seq, kind, terminal, notice, line } = event;
    let (seq, kind, notice) = (*seq, *kind as u32, *notice);
    let terminal = terminal.map(|id| id.0);
    if !log.append(&Entry { seq, kind, terminal, notice, line: line.as_slice() }) {
        process::complain("an event is too long to be kept for the next worker");
    }
}

/// The memory that a terminal's scrollback lies in.
pub fn memory(journal: &mut Journal) -> Memory {
    match journal.lend() {
        Some(lent) => {
            let release = lent.releaser();
            Memory::lent_in_parts(lent, release)
        }
        None => Memory::own(MAX_SCROLLBACK_BYTES),
    }
}

/// The newest state of a terminal that can be had.
pub fn past(journal: &mut Journal, lines: u32, size: Size) -> Past<'_> {
    let deaths = journal.begin_feeding();
    let (head, told) = (journal.head(), journal.told());
    let memory_now = memory(journal);
    let saved = journal.saved();
    let from_save = saved.is_some();
    let (start, notices) = saved.as_ref().map_or((0, 0), |saved| (saved.offset, saved.notices));
    let restored = match saved {
        _ if deaths >= MAX_RESTORES => {
            drop(memory_now);
            None
        }
        Some(saved) => Terminal::restore(saved.bytes, memory_now).ok(),
        None => Some(Terminal::with_memory(size, lines, memory_now)),
    };
    // Where the output ends that is fed.
    let (end, degraded) = match &restored {
        Some(_) if deaths < MAX_READS => (journal.fed(), None),
        Some(_) if deaths < MAX_FEEDS => (journal.fed(), Some(LeftScreen::Older)),
        Some(_) if from_save => (start, Some(LeftScreen::Older)),
        _ => (start, Some(LeftScreen::Empty)),
    };
    let mut grid = restored.unwrap_or_else(|| Terminal::with_memory(size, lines, memory(journal)));
    // Each byte may have been fed alone and have got a stamp of its own.
    grid.skip_stamps(head - start);
    Past { grid, offset: start, notices, told, fed: journal.bytes(start..end), head, degraded }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 20, rows: 3 };

    /// A journal with a save of "saved", then "later" that was fed, and "new" that was not.
    fn journal() -> Journal {
        let mut journal = Journal::create().unwrap();
        let mut grid = Terminal::with_memory(SIZE, 100, memory(&mut journal));
        journal.append(b"saved \x1b[5n");
        let mut notices = Vec::new();
        grid.feed(journal.unsaved(), &mut notices);
        let mut bytes = Vec::new();
        grid.save(&mut bytes);
        assert!(journal.save(notices.len() as u64, &bytes));
        journal.append(b"later");
        journal.set_told(1);
        journal.append(b" new");
        journal
    }

    fn text(past: &mut Past<'_>) -> String {
        past.grid.feed(past.fed, &mut Vec::new());
        let mut text = String::new();
        past.grid.row_text(0, &mut text);
        text.trim_end().to_owned()
    }

    #[test]
    fn the_save_and_what_came_after_it_make_up_the_grid() {
        let mut journal = journal();
        let mut past = past(&mut journal, 100, SIZE);
        assert_eq!((past.offset, past.notices, past.told, past.head), (10, 1, 1, 19));
        assert_eq!(past.degraded, None);
        assert_eq!(text(&mut past), "saved later");
    }

    /// Output that ends every worker that feeds it, and then a save that does.
    #[test]
    fn what_workers_die_of_is_left_out_in_the_end() {
        let mut journal = journal();
        let own = std::process::id();
        for deaths in 0..=MAX_RESTORES {
            // Neither others that died, nor those that were killed, are counted.
            for other in [Some(own + 1), None] {
                journal.count_death(other);
                past(&mut journal, 100, SIZE);
            }
            let mut past = past(&mut journal, 100, SIZE);
            let (expected, degraded) = match deaths {
                _ if deaths < MAX_READS => ("saved later", None),
                _ if deaths < MAX_FEEDS => ("saved later", Some(LeftScreen::Older)),
                _ if deaths < MAX_RESTORES => ("saved", Some(LeftScreen::Older)),
                _ => ("", Some(LeftScreen::Empty)),
            };
            assert_eq!((past.degraded, past.head), (degraded, 19), "{deaths}");
            assert_eq!(text(&mut past), expected, "{deaths}");
            journal.count_death(Some(own));
        }
        journal.end_feeding();
        assert_eq!(text(&mut past(&mut journal, 100, SIZE)), "saved later");
    }

    #[test]
    fn a_save_that_is_refused_leaves_an_empty_screen_and_says_so() {
        let mut journal = journal();
        assert!(journal.save(7, b"nonsense"));
        journal.append(b"more");
        let mut past = past(&mut journal, 100, SIZE);
        assert_eq!(past.degraded, Some(LeftScreen::Empty));
        assert_eq!((past.told, past.notices), (7, 7));
        assert_eq!((text(&mut past), past.head), (String::new(), journal.head()));
    }

    /// What the file in memory takes of it.
    #[cfg(target_os = "linux")]
    fn taken(journal: &Journal) -> u64 {
        rustix::fs::fstat(journal.fd()).unwrap().st_blocks as u64 * 512
    }

    /// The oldest rows were shed after the save: their memory is the system's again, a new worker
    /// finds them gone, and the rest with the same numbers.
    #[cfg(target_os = "linux")]
    #[test]
    fn scrollback_that_was_shed_takes_no_memory_and_stays_away() {
        let mut journal = Journal::create().unwrap();
        let mut grid = Terminal::with_memory(SIZE, 1_000_000, memory(&mut journal));
        grid.bound_scrollback(5, usize::MAX);
        for n in 0..20_000 {
            grid.feed(format!("{n}\r\n").as_bytes(), &mut Vec::new());
        }
        let mut bytes = Vec::new();
        grid.save(&mut bytes);
        assert!(journal.save(0, &bytes));
        let (before, lines) = (taken(&journal), grid.lines());
        grid.shed_scrollback();
        assert_eq!(before - taken(&journal), 64 << 10);
        let kept = grid.lines();
        assert!(kept.start > lines.start && kept.end == lines.end);
        drop(grid);
        let restored = past(&mut journal, 1_000_000, SIZE).grid;
        assert_eq!(restored.lines(), kept);
        assert_eq!(restored.oldest_scrollback(), Some(5), "its time is remembered");
        let (_, row) = restored.rows_from(kept.start).next().unwrap();
        let mut text = String::new();
        row.text(&mut text);
        assert_eq!(text.trim_end(), kept.start.0.to_string());
        // A copy to be searched, and a look at all of it, take nothing back.
        restored.copy_lines().each(|_, _| {});
        assert!(taken(&journal) <= before - (60 << 10), "{before} {}", taken(&journal));
        drop(restored);
        drop(Terminal::with_memory(SIZE, 100, memory(&mut journal)));
        assert!(taken(&journal) < 128 << 10, "one that begins anew has nothing of the old one");
    }
}
