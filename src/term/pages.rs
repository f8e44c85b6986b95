//! Where packed rows lie: pages of memory, filled one after another, the oldest freed as a whole.
//!
//! ```text
//! page    generation u64 | record | record | …
//! ```
//! What was written is never overwritten while its page is in use, so that a save that tells of
//! it stays good while the terminal goes on. When a page is used again it gets a new generation
//! first: a save that is older sees that what it tells of is gone. Feeding the same bytes after
//! a restore writes the same records after the same ones.

use super::MAX_ROWS;
use super::memory::{BLOCK, Memory};
use super::pack::{self, MAX_RECORD, Record};
use super::save::{MAX_COUNT, Reader, Refused, Save, ensure, saved};
use std::collections::VecDeque;
use std::sync::atomic::{Ordering, compiler_fence};

/// A page takes the largest record.
pub const PAGE: usize = BLOCK;
const HEADER: usize = 8;
/// More than any memory has.
const MAX_PAGES: usize = usize::MAX / PAGE;
const _: () = assert!(HEADER + MAX_RECORD <= PAGE);
/// Pages that a copy has room for besides what it begins with: one for each row of two screens.
const MORE: usize = 2 * MAX_ROWS as usize;

/// Records one after another on a page, none of them dropped.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub page: usize,
    pub generation: u64,
    pub start: usize,
    pub end: usize,
    /// Numbers of the first record and of its line.
    pub row: u64,
    pub line: u64,
    /// When the last record came.
    pub time: u64,
}

/// The page that is being filled, and up to where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Open {
    pub page: usize,
    pub end: usize,
}

/// A record's run and where it starts, or one past the last record.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    run: usize,
    at: usize,
}

#[derive(Debug)]
pub struct Pages {
    pub memory: Memory,
    /// From the oldest to the newest; none is empty.
    pub runs: VecDeque<Run>,
    pub open: Option<Open>,
    /// Pages taken so far.
    pub generation: u64,
    /// How many may be in use, and the time of what is put there: both as of now.
    pub most: usize,
    pub now: u64,
}

impl Pages {
    pub fn new(mut memory: Memory) -> Pages {
        memory.adopt(&[]);
        let runs = VecDeque::new();
        Pages { memory, runs, open: None, generation: 0, most: usize::MAX, now: 0 }
    }

    /// The same records in memory of their own.
    pub fn copied(&self) -> Pages {
        let place = |run: &Run| run.page * PAGE + run.start..run.page * PAGE + run.end;
        let Pages { memory, runs, open, generation, most, now } = self;
        let memory = memory.copied(runs.iter().map(place));
        let (runs, open) = (runs.clone(), *open);
        Pages { memory, runs, open, generation: *generation, most: *most, now: *now }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.memory.taken() + self.runs.capacity() * size_of::<Run>()
    }

    fn count(&self) -> usize {
        self.memory.most() / PAGE
    }

    /// Whether a record of this length fits on the page that is being filled.
    #[inline]
    pub fn fits(&self, len: usize) -> bool {
        self.open.is_some_and(|open| open.end + len <= PAGE)
    }

    /// Begins to fill a page that is not in use; false if there is none.
    pub fn turn(&mut self) -> bool {
        let Some(page) = self.free_page() else {
            return false;
        };
        self.claim(page);
        self.open = Some(Open { page, end: HEADER });
        true
    }

    fn claim(&mut self, page: usize) {
        self.generation += 1;
        let header = self.generation.to_le_bytes();
        self.memory.room(page * PAGE, HEADER).copy_from_slice(&header);
        // Who finds this memory after a crash must not see new records under the old header.
        compiler_fence(Ordering::SeqCst);
    }

    /// A page that is not in use, one that has memory before one that would take some. The one filled last comes last, even if its records
    /// were all taken back: the newest save may tell of them.
    fn free_page(&self) -> Option<usize> {
        let used = self.used();
        if used.iter().filter(|used| **used).count() >= self.most {
            return None;
        }
        let last = self.open.map(|open| open.page);
        let free = |page: &usize| !used[*page];
        let others = (0..used.len()).filter(free).filter(|page| Some(*page) != last);
        let other = others.min_by_key(|page| !self.memory.has(*page));
        other.or(last.filter(free))
    }

    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.count()];
        for run in &self.runs {
            used[run.page] = true;
        }
        used
    }

    /// Puts a record, which must fit, as the one with this number and line.
    #[inline]
    pub fn push(&mut self, record: &[u8], row: u64, line: u64) {
        let Some(Open { page, end: start }) = self.open else {
            return;
        };
        let end = start + record.len();
        self.memory.room(page * PAGE + start, record.len()).copy_from_slice(record);
        self.open = Some(Open { page, end });
        match self.runs.back_mut() {
            Some(run) if run.page == page && run.end == start => {
                run.end = end;
                run.time = self.now;
            }
            _ => {
                let (generation, time) = (self.generation, self.now);
                self.runs.push_back(Run { page, generation, start, end, row, line, time });
            }
        }
    }

    /// When the newest record of the oldest page came.
    pub fn oldest(&self) -> Option<u64> {
        let first = self.runs.front()?.page;
        let on_it = self.runs.iter().take_while(|run| run.page == first);
        on_it.map(|run| run.time).last()
    }

    /// Drops all records of the oldest page and gives its memory back. A save that tells of it
    /// sees that it is gone.
    pub fn shed(&mut self) {
        let page = self.runs.front().map(|run| run.page);
        self.drop_page();
        self.open = self.open.filter(|open| Some(open.page) != page);
        self.tidy();
    }

    /// Gives back the memory of pages that are no longer in use.
    pub fn tidy(&mut self) {
        let (used, open) = (self.used(), self.open.map(|open| open.page));
        self.memory.keep_only(|page| used[page] || open == Some(page));
    }

    /// Drops the oldest record.
    pub fn drop_first(&mut self) {
        let Some(record) = self.record(self.first()) else {
            return;
        };
        let (len, wraps) = (record.0.len(), record.wraps());
        if let Some(run) = self.runs.front_mut() {
            run.start += len;
            run.row += 1;
            run.line += u64::from(!wraps);
            if run.start == run.end {
                self.runs.pop_front();
            }
        }
    }

    /// Drops all records of the oldest page.
    pub fn drop_page(&mut self) {
        let page = self.runs.front().map(|run| run.page);
        while page.is_some() && self.runs.front().map(|run| run.page) == page {
            self.runs.pop_front();
        }
    }

    /// Drops the newest record. Its bytes stay, as an older save may tell of them.
    pub fn drop_last(&mut self) {
        let len = self.last().map_or(0, |record| record.0.len());
        if let Some(run) = self.runs.back_mut() {
            run.end -= len;
            if run.start == run.end {
                self.runs.pop_back();
            }
        }
    }

    /// Drops all records. In memory that was handed in they stay, as an older save may tell of
    /// them, and the next ones go after them.
    pub fn clear(&mut self) {
        self.runs = VecDeque::new();
        if self.memory.give_up() {
            self.open = None;
        }
    }

    /// The bytes of a run, those dropped at its start included.
    fn run_bytes(&self, run: &Run) -> &[u8] {
        let start = run.page * PAGE;
        &self.memory.bytes()[start..start + run.end]
    }

    pub fn first(&self) -> Place {
        Place { run: 0, at: self.runs.front().map_or(0, |run| run.start) }
    }

    pub fn end(&self) -> Place {
        Place { run: self.runs.len(), at: 0 }
    }

    /// The first record of a run.
    pub fn start_of(&self, run: usize) -> Place {
        Place { run, at: self.runs.get(run).map_or(0, |run| run.start) }
    }

    #[inline]
    pub fn record(&self, place: Place) -> Option<Record<'_>> {
        let rest = &self.run_bytes(self.runs.get(place.run)?)[place.at..];
        Some(Record(&rest[..pack::len_at_start(rest)]))
    }

    pub fn after(&self, place: Place) -> Place {
        let len = self.record(place).map_or(0, |record| record.0.len());
        let at = place.at + len;
        match self.runs.get(place.run) {
            Some(run) if at < run.end => Place { run: place.run, at },
            _ => self.start_of(place.run + 1),
        }
    }

    pub fn before(&self, place: Place) -> Option<Place> {
        let run = match self.runs.get(place.run) {
            Some(run) if place.at > run.start => place.run,
            _ => place.run.checked_sub(1)?,
        };
        let end = if run == place.run { place.at } else { self.runs.get(run)?.end };
        let bytes = &self.run_bytes(self.runs.get(run)?)[..end];
        Some(Place { run, at: end - pack::len_at_end(bytes) })
    }

    /// The newest record.
    pub fn last(&self) -> Option<Record<'_>> {
        self.record(self.before(self.end())?)
    }

    /// The newest runs, of at most so many bytes, in memory of their own with room for more.
    pub fn newest(&self, most: usize) -> Pages {
        let mut left = most;
        let fits = |run: &&Run| {
            let len = run.end - run.start;
            let fits = len <= left;
            left = left.saturating_sub(len);
            fits
        };
        let kept = self.runs.iter().rev().take_while(fits).count();
        let runs = self.runs.range(self.runs.len() - kept..);
        // Runs of one page follow one another, and so do the copies of pages.
        let mut bytes = Vec::with_capacity((kept * PAGE).min(self.memory.bytes().len()));
        let (mut from, mut copies) = (None, VecDeque::new());
        for run in runs {
            if from.replace(run.page) != Some(run.page) {
                bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
            }
            let page = bytes.len() / PAGE;
            bytes.extend_from_slice(&self.run_bytes(run)[bytes.len() % PAGE..]);
            copies.push_back(Run { page, ..*run });
        }
        let memory = Memory::filled(bytes, (kept + MORE) * PAGE);
        Pages { runs: copies, ..Pages::new(memory) }
    }

    /// Takes memory for that which the runs tell of, and drops those that are no longer there,
    /// with all older ones. `end` has the numbers that come after the newest.
    pub fn attach(&mut self, memory: Memory, end: (u64, u64)) -> bool {
        self.memory = memory;
        let fits = |page: usize| page < self.count();
        if !self.runs.iter().all(|run| fits(run.page)) || !self.open.is_none_or(|o| fits(o.page)) {
            return false;
        }
        let mut next = end;
        let good = |run: &&Run| {
            let good = self.holds(run, next);
            next = (run.row, run.line);
            good
        };
        let kept = self.runs.iter().rev().take_while(good).count();
        self.runs.drain(..self.runs.len() - kept);
        let runs = self.runs.iter().map(|run| (run.page, run.end));
        let told: Vec<_> = runs.chain(self.open.map(|open| (open.page, open.end))).collect();
        self.memory.adopt(&told);
        self.reopen();
        true
    }

    /// Goes on with the page that was being filled, though what was on it may be gone: so the
    /// next pages begin with the same records as they did.
    fn reopen(&mut self) {
        let there = self.memory.bytes().len();
        self.open = self.open.filter(|open| (open.page + 1) * PAGE <= there);
        match self.open {
            Some(open) if !self.is_own(open.page, self.generation) => self.claim(open.page),
            _ => {}
        }
    }

    fn is_own(&self, page: usize, generation: u64) -> bool {
        let start = page * PAGE;
        let header = self.memory.bytes().get(start..start + HEADER);
        header == Some(&generation.to_le_bytes())
    }

    /// The run's records are there, whole, and lead to the numbers of the next one.
    fn holds(&self, run: &Run, next: (u64, u64)) -> bool {
        let start = run.page * PAGE;
        let Some(bytes) = self.memory.bytes().get(start..start + run.end) else {
            return false;
        };
        let (mut at, mut row, mut line) = (run.start, run.row, run.line);
        while let Some(record) = bytes.get(at..).and_then(pack::whole_at_start) {
            at += record.0.len();
            row += 1;
            line += u64::from(!record.wraps());
        }
        self.is_own(run.page, run.generation) && at == run.end && (row, line) == next
    }
}

saved!(struct Run { page, generation, start, end, row, line, time });
saved!(struct Open { page, end });

impl Save for Pages {
    fn put(&self, out: &mut Vec<u8>) {
        let Pages { memory: _, runs, open, generation, most: _, now: _ } = self;
        (runs.len() as u32).put(out);
        runs.iter().for_each(|run| run.put(out));
        open.put(out);
        generation.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let runs = from.list(usize::MAX)?.into();
        let (open, generation) = (from.take()?, from.take()?);
        let pages = Pages { runs, open, generation, ..Pages::new(Memory::own(0)) };
        ensure(pages.is_sound(), "where rows lie")?;
        Ok(pages)
    }
}

impl Pages {
    /// Runs lie within a page, and what is written next overwrites none of them.
    fn is_sound(&self) -> bool {
        let free = |run: &Run| match self.open {
            Some(open) if open.page == run.page => {
                run.end <= open.end && run.generation == self.generation
            }
            _ => true,
        };
        let run = |run: &Run| {
            let numbers = run.row.max(run.line).max(run.generation) < MAX_COUNT;
            let place = HEADER <= run.start && run.start < run.end && run.end <= PAGE;
            numbers && place && run.page < MAX_PAGES && free(run)
        };
        let open = |open: Open| (HEADER..=PAGE).contains(&open.end) && open.page < MAX_PAGES;
        self.generation < MAX_COUNT && self.open.is_none_or(open) && self.runs.iter().all(run)
    }
}
