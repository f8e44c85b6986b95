//! Rows that left the top of the screen: packed records in a ring of bytes, found by line.

use super::Limits;
use super::pack::{self, MAX_RECORD, Record};
use std::collections::VecDeque;

/// The ring never gets smaller than what its largest record needs.
const MIN_BYTES: usize = 2 * MAX_RECORD;
const FIRST_BYTES: usize = 8 * 1024;
/// An entry of the index stands for this many records.
const INDEX_STEP: u64 = 64;

/// Where a record starts in the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place(usize);

/// The records lie in `head..tail`, or, once round, in `head..edge` and `0..tail`. A record is
/// never split.
#[derive(Clone, Debug, Default)]
struct Ring {
    memory: Vec<u8>,
    head: usize,
    tail: usize,
    edge: Option<usize>,
}

impl Ring {
    fn record(&self, place: Place) -> &[u8] {
        let rest = &self.memory[place.0..];
        &rest[..pack::len_at_start(rest)]
    }

    fn first(&self) -> Place {
        Place(self.head)
    }

    fn after(&self, place: Place) -> Place {
        let next = place.0 + self.record(place).len();
        if self.edge == Some(next) { Place(0) } else { Place(next) }
    }

    fn before(&self, place: Place) -> Place {
        let end = match self.edge {
            Some(edge) if place.0 == 0 => edge,
            _ => place.0,
        };
        Place(end - pack::len_at_end(&self.memory[..end]))
    }

    fn end(&self) -> Place {
        Place(self.tail)
    }

    fn live(&self) -> usize {
        match self.edge {
            Some(edge) => edge - self.head + self.tail,
            None => self.tail - self.head,
        }
    }

    /// Room for `len` bytes at the tail, without overwriting a record.
    fn fits(&self, len: usize) -> bool {
        match self.edge {
            Some(_) => self.tail + len < self.head,
            None => self.tail + len <= self.memory.len(),
        }
    }

    /// Goes on at the start of the memory, when that is free.
    fn turn(&mut self, len: usize) -> bool {
        if self.live() == 0 && self.head > 0 {
            (self.head, self.tail, self.edge) = (0, 0, None);
            return true;
        }
        let free = self.edge.is_none() && self.head > len;
        if free {
            self.edge = Some(self.tail);
            self.tail = 0;
        }
        free
    }

    fn grow(&mut self, size: usize) {
        let mut memory = Vec::with_capacity(size);
        match self.edge {
            Some(edge) => {
                memory.extend_from_slice(&self.memory[self.head..edge]);
                memory.extend_from_slice(&self.memory[..self.tail]);
            }
            None => memory.extend_from_slice(&self.memory[self.head..self.tail]),
        }
        (self.head, self.tail, self.edge) = (0, memory.len(), None);
        memory.resize(size, 0);
        self.memory = memory;
    }

    fn push(&mut self, record: &[u8]) {
        self.memory[self.tail..self.tail + record.len()].copy_from_slice(record);
        self.tail += record.len();
    }

    fn drop_first(&mut self) {
        self.head = self.after(self.first()).0;
        if self.head == 0 && self.edge.is_some() {
            self.edge = None;
        }
    }

    fn drop_last(&mut self) {
        let last = self.before(self.end()).0;
        if self.tail == 0 {
            self.edge = None;
        }
        self.tail = last;
    }
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    place: Place,
    row: u64,
    line: u64,
}

#[derive(Clone, Debug)]
pub struct Scrollback {
    ring: Ring,
    limits: Limits,
    index: VecDeque<Mark>,
    /// Numbers of the oldest record and of the next to come.
    first_row: u64,
    end_row: u64,
    /// Line numbers of the oldest record and of the next to come.
    first_line: u64,
    end_line: u64,
}

impl Scrollback {
    pub fn new(limits: Limits) -> Scrollback {
        let limits = Limits { bytes: limits.bytes.max(MIN_BYTES), ..limits };
        Scrollback {
            ring: Ring::default(),
            limits,
            index: VecDeque::new(),
            first_row: 0,
            end_row: 0,
            first_line: 0,
            end_line: 0,
        }
    }

    pub fn rows(&self) -> usize {
        (self.end_row - self.first_row) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.end_row == self.first_row
    }

    pub fn first_line(&self) -> u64 {
        self.first_line
    }

    /// Number of the line that the next record begins or goes on.
    pub fn end_line(&self) -> u64 {
        self.end_line
    }

    pub fn end_row(&self) -> u64 {
        self.end_row
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.ring.memory.len() + self.index.len() * size_of::<Mark>()
    }

    pub fn push(&mut self, record: &[u8]) {
        if self.limits.lines == 0 {
            self.count(record);
            (self.first_row, self.first_line) = (self.end_row, self.end_line);
            return;
        }
        self.make_room(record.len());
        if self.end_row.is_multiple_of(INDEX_STEP) {
            let place = self.ring.end();
            self.index.push_back(Mark { place, row: self.end_row, line: self.end_line });
        }
        self.ring.push(record);
        self.count(record);
        while self.end_line - self.first_line > u64::from(self.limits.lines) {
            self.drop_first();
        }
    }

    fn count(&mut self, record: &[u8]) {
        self.end_row += 1;
        self.end_line += u64::from(!Record(record).wraps());
    }

    /// Goes round before it grows, and grows before it forgets.
    #[inline]
    fn make_room(&mut self, len: usize) {
        while !self.ring.fits(len) {
            if self.ring.turn(len) {
                continue;
            }
            let size = (self.ring.memory.len() * 2).max(FIRST_BYTES).min(self.limits.bytes);
            if size > self.ring.memory.len() {
                self.ring.grow(size);
                self.rebuild_index();
            } else {
                self.drop_first();
            }
        }
    }

    /// Places in the ring have changed.
    fn rebuild_index(&mut self) {
        self.index.clear();
        let (mut place, mut line) = (self.ring.first(), self.first_line);
        for row in self.first_row..self.end_row {
            if row.is_multiple_of(INDEX_STEP) {
                self.index.push_back(Mark { place, row, line });
            }
            line += u64::from(!Record(self.ring.record(place)).wraps());
            place = self.ring.after(place);
        }
    }

    fn drop_first(&mut self) {
        if self.is_empty() {
            self.ring = Ring { memory: std::mem::take(&mut self.ring.memory), ..Ring::default() };
            return;
        }
        let wraps = Record(self.ring.record(self.ring.first())).wraps();
        self.ring.drop_first();
        self.first_row += 1;
        self.first_line += u64::from(!wraps);
        while self.index.front().is_some_and(|mark| mark.row < self.first_row) {
            self.index.pop_front();
        }
    }

    /// Takes the newest record back.
    pub fn pop<T>(&mut self, read: impl FnOnce(Record<'_>) -> T) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let last = self.ring.before(self.ring.end());
        let record = Record(self.ring.record(last));
        let wraps = record.wraps();
        let read = read(record);
        self.ring.drop_last();
        self.end_row -= 1;
        self.end_line -= u64::from(!wraps);
        while self.index.back().is_some_and(|mark| mark.row >= self.end_row) {
            self.index.pop_back();
        }
        Some(read)
    }

    /// The newest record.
    pub fn last(&self) -> Option<Record<'_>> {
        let last = || Record(self.ring.record(self.ring.before(self.ring.end())));
        (!self.is_empty()).then(last)
    }

    /// Forgets all; lines to come are numbered on from `line`.
    pub fn clear(&mut self, line: u64) {
        self.ring = Ring::default();
        self.index.clear();
        self.first_row = self.end_row;
        self.end_line = line;
        self.first_line = line;
    }

    /// Records from the first one of a line on, each with its own number and its line's.
    pub fn starting_at(&self, line: u64) -> impl Iterator<Item = (u64, u64, Record<'_>)> {
        let line = line.max(self.first_line);
        let at = self.index.partition_point(|mark| mark.line < line);
        let (place, row, first) = match at.checked_sub(1).and_then(|at| self.index.get(at)) {
            Some(mark) => (mark.place, mark.row, mark.line),
            None => (self.ring.first(), self.first_row, self.first_line),
        };
        self.walk(place, row, first).skip_while(move |(_, number, _)| *number < line)
    }

    fn walk(
        &self,
        place: Place,
        row: u64,
        line: u64,
    ) -> impl Iterator<Item = (u64, u64, Record<'_>)> {
        let (mut place, mut row, mut line) = (place, row, line);
        std::iter::from_fn(move || {
            if row >= self.end_row {
                return None;
            }
            let record = Record(self.ring.record(place));
            let number = line;
            line += u64::from(!record.wraps());
            row += 1;
            place = self.ring.after(place);
            Some((row - 1, number, record))
        })
    }

    /// Records from the newest to the oldest, each with its line.
    pub fn backwards(&self) -> impl Iterator<Item = (u64, Record<'_>)> {
        let (mut place, mut row, mut line) = (self.ring.end(), self.end_row, self.end_line);
        std::iter::from_fn(move || {
            if row <= self.first_row {
                return None;
            }
            place = self.ring.before(place);
            row -= 1;
            let record = Record(self.ring.record(place));
            line -= u64::from(!record.wraps());
            Some((line, record))
        })
    }
}
