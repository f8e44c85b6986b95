//! Rows that left the top of the screen, as packed records; found by line.

use super::memory::Memory;
use super::pack::{MAX_RECORD, Record};
use super::pages::{PAGE, Pages, Place};
use super::save::{MAX_COUNT, Reader, Refused, Save, ensure};

/// One page can always be filled while another is read.
const MIN_BYTES: usize = 2 * PAGE;

#[derive(Debug)]
pub struct Scrollback {
    pages: Pages,
    /// Lines kept.
    limit: u32,
    /// Numbers of the next record and of the line that it begins or goes on.
    end_row: u64,
    end_line: u64,
}

impl PartialEq for Scrollback {
    /// The same rows with the same numbers, wherever they lie.
    fn eq(&self, other: &Scrollback) -> bool {
        let numbers = |s: &Scrollback| (s.limit, s.first_row(), s.end_row, s.end_line);
        let rows = |s: &Scrollback| s.rows();
        let same = || self.backwards().zip(other.backwards()).all(|(a, b)| a.1.0 == b.1.0);
        numbers(self) == numbers(other) && rows(self) == rows(other) && same()
    }
}

impl Scrollback {
    /// Own memory is at least as much as is needed, and so must be what is handed in.
    pub fn new(lines: u32, memory: Memory) -> Scrollback {
        let memory = if memory.most() < MIN_BYTES { Memory::own(MIN_BYTES) } else { memory };
        Scrollback { pages: Pages::new(memory), limit: lines, end_row: 0, end_line: 0 }
    }

    pub fn rows(&self) -> usize {
        (self.end_row - self.first_row()) as usize
    }

    fn first_row(&self) -> u64 {
        self.pages.runs.front().map_or(self.end_row, |run| run.row)
    }

    pub fn first_line(&self) -> u64 {
        self.pages.runs.front().map_or(self.end_line, |run| run.line)
    }

    /// Number of the line that the next record begins or goes on.
    pub fn end_line(&self) -> u64 {
        self.end_line
    }

    pub fn end_row(&self) -> u64 {
        self.end_row
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.pages.bytes()
    }

    pub fn into_memory(self) -> Memory {
        self.pages.memory
    }

    /// The same rows in memory of their own.
    pub fn copied(&self) -> Scrollback {
        let (limit, end_row, end_line) = (self.limit, self.end_row, self.end_line);
        Scrollback { pages: self.pages.copied(), limit, end_row, end_line }
    }

    /// What comes from now on is of this time, and no more bytes than these are taken for it: older
    /// rows make room.
    pub fn bound(&mut self, now: u64, bytes: usize) {
        self.pages.now = now;
        self.pages.most = bytes.max(MIN_BYTES) / PAGE;
    }

    /// When the newest of the rows that `shed` would drop came.
    pub fn oldest(&self) -> Option<u64> {
        self.pages.oldest()
    }

    /// Drops the oldest page of rows, and gives its memory back.
    pub fn shed(&mut self) {
        self.pages.shed();
    }

    /// Gives back memory that no row lies in.
    pub fn tidy(&mut self) {
        self.pages.tidy();
    }

    /// The newest rows, of at most so many bytes, in memory of their own and without a limit.
    pub fn newest(&self, most: usize) -> Scrollback {
        let pages = self.pages.newest(most);
        let (limit, end_row, end_line) = (u32::MAX, self.end_row, self.end_line);
        Scrollback { pages, limit, end_row, end_line }
    }

    pub fn push(&mut self, record: &[u8]) {
        if self.limit > 0 && record.len() <= MAX_RECORD {
            self.make_room(record.len());
            self.pages.push(record, self.end_row, self.end_line);
        } else {
            self.pages.clear();
        }
        self.end_row += 1;
        self.end_line += u64::from(!Record(record).wraps());
        while self.end_line - self.first_line() > u64::from(self.limit) {
            self.pages.drop_first();
        }
    }

    #[inline]
    fn make_room(&mut self, len: usize) {
        while !self.pages.fits(len) && !self.pages.turn() {
            self.pages.drop_page();
        }
    }

    /// Takes the newest record back.
    pub fn pop<T>(&mut self, read: impl FnOnce(Record<'_>) -> T) -> Option<T> {
        let record = self.pages.last()?;
        let wraps = record.wraps();
        let read = read(record);
        self.pages.drop_last();
        self.end_row -= 1;
        self.end_line -= u64::from(!wraps);
        Some(read)
    }

    /// The newest record.
    pub fn last(&self) -> Option<Record<'_>> {
        self.pages.last()
    }

    /// Forgets all; lines to come are numbered on from `line`.
    pub fn clear(&mut self, line: u64) {
        self.pages.clear();
        self.end_line = line;
    }

    /// Records from the first one of a line on, each with its own number and its line's.
    pub fn starting_at(&self, line: u64) -> impl Iterator<Item = (u64, u64, Record<'_>)> {
        let line = line.max(self.first_line());
        // The line may begin in a run and go on in the next.
        let run = self.pages.runs.partition_point(|run| run.line < line).saturating_sub(1);
        let (row, first) = self.pages.runs.get(run).map_or((0, 0), |run| (run.row, run.line));
        self.walk(self.pages.start_of(run), row, first)
            .skip_while(move |(_, number, _)| *number < line)
    }

    fn walk(
        &self,
        place: Place,
        row: u64,
        line: u64,
    ) -> impl Iterator<Item = (u64, u64, Record<'_>)> {
        let (mut place, mut row, mut line) = (place, row, line);
        std::iter::from_fn(move || {
            let record = self.pages.record(place)?;
            let number = line;
            line += u64::from(!record.wraps());
            row += 1;
            place = self.pages.after(place);
            Some((row - 1, number, record))
        })
    }

    /// Records from the newest to the oldest, each with its line.
    pub fn backwards(&self) -> impl Iterator<Item = (u64, Record<'_>)> {
        let (mut place, mut line) = (self.pages.end(), self.end_line);
        std::iter::from_fn(move || {
            place = self.pages.before(place)?;
            let record = self.pages.record(place)?;
            line -= u64::from(!record.wraps());
            Some((line, record))
        })
    }
}

impl Scrollback {
    /// Takes the memory that the rows of a save lie in.
    pub fn attach(&mut self, memory: Memory) -> Result<(), Refused> {
        let memory = if memory.most() < MIN_BYTES { Memory::own(MIN_BYTES) } else { memory };
        let fits = self.pages.attach(memory, (self.end_row, self.end_line));
        ensure(fits, "it tells of more memory than there is")
    }
}

impl Save for Scrollback {
    fn put(&self, out: &mut Vec<u8>) {
        let Scrollback { pages, limit, end_row, end_line } = self;
        pages.put(out);
        limit.put(out);
        end_row.put(out);
        end_line.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let pages = from.take()?;
        let (limit, end_row, end_line) = (from.take()?, from.take()?, from.take()?);
        ensure(end_row < MAX_COUNT && end_line < MAX_COUNT, "the number of a line")?;
        Ok(Scrollback { pages, limit, end_row, end_line })
    }
}
