//! The server's memory: its record, and the events that it told, the oldest dropped first.
//!
//! ```text
//! record | header | ring of entries, mapped twice in a row
//! entry   length and kind | seq | notice | terminal | checksum | line …
//! ```
//! An entry counts when the header's head is behind it. Before one is overwritten the tail has passed
//! it, so that a kill at any moment leaves whole entries from tail to head.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::record::{self, Record};
use crate::os::mapping::{ALIGN, Mapping};

/// Enough for the lines of the whole history and what stands before each.
const RING: usize = 9 << 20;
const MAGIC: u64 = u64::from_le_bytes(*b"t4a-log1");
const ROOM: usize = ALIGN + RING;
/// Before the line of an entry.
const HEADER: usize = 40;
const WORD: usize = 8;
/// Where header and entries begin in the file, for tests that damage them.
pub const PLACES: [usize; 2] = [record::END, record::END + ALIGN];

#[repr(C)]
struct Header {
    magic: AtomicU64,
    tail: AtomicU64,
    head: AtomicU64,
}

/// An event as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<Line = Vec<u8>> {
    pub seq: u64,
    pub kind: u32,
    pub terminal: Option<u32>,
    /// The notice of that terminal that it came of; 0 if of none.
    pub notice: u64,
    pub line: Line,
}

pub struct Log {
    pub record: Record,
    map: Mapping,
}

impl Log {
    pub fn create() -> io::Result<Log> {
        let log = Log::map(Record::create(ROOM)?)?;
        log.header().magic.store(MAGIC, Release);
        Ok(log)
    }

    pub fn open(fd: OwnedFd) -> io::Result<Log> {
        Log::map(Record::open(fd)?.with_room(ROOM)?)
    }

    fn map(record: Record) -> io::Result<Log> {
        let (header, ring) = (record::END..record::END + ALIGN, record::END + ALIGN);
        let ring = ring..ring + RING;
        let map = Mapping::new(record.file(), &[header, ring.clone(), ring])?;
        Ok(Log { record, map })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.record.fd()
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a page for it, is aligned, and lives as long as `self`; all
        // fields are atomic, so that any bytes do.
        unsafe { &*self.map.at(0).cast::<Header>() }
    }

    fn at(offset: u64) -> usize {
        ALIGN + (offset % RING as u64) as usize
    }

    /// Adds an event. False when its line is longer than the whole log.
    pub fn append(&mut self, entry: &Entry<&[u8]>) -> bool {
        let size = size_of_entry(entry.line.len());
        let Some(length) = u32::try_from(entry.line.len()).ok().filter(|_| size <= RING) else {
            return false;
        };
        let head = self.header().head.load(Relaxed);
        self.make_room(head, size);
        let first = u64::from(length) | u64::from(entry.kind) << 32;
        let words = [first, entry.seq, entry.notice, u64::from(entry.terminal.unwrap_or(0))];
        let [first, seq, notice, terminal] = words;
        let words = [first, seq, notice, terminal, checksum(words, entry.line)];
        // SAFETY: the entry lies within the ring's two mappings, behind the head and, as room was
        // made, before the tail; nobody reads it before the head is moved.
        unsafe {
            let target = self.map.at(Log::at(head));
            std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), target, HEADER);
            let target = self.map.at(Log::at(head) + HEADER);
            std::ptr::copy_nonoverlapping(entry.line.as_ptr(), target, entry.line.len());
        }
        self.header().head.store(head + size as u64, Release);
        true
    }

    fn make_room(&self, head: u64, size: usize) {
        let mut tail = self.header().tail.load(Relaxed);
        while tail < head && head - tail + size as u64 > RING as u64 {
            // What it says was checked when it was taken over, or is our own.
            tail += size_of_entry(self.length_at(tail)) as u64;
        }
        self.header().tail.store(tail.min(head), Release);
    }

    fn words_at(&self, offset: u64) -> [u64; HEADER / WORD] {
        // SAFETY: within the two mappings of the ring, which are aligned like all entries; any bytes
        // are numbers.
        unsafe { self.map.at(Log::at(offset)).cast::<[u64; HEADER / WORD]>().read() }
    }

    fn length_at(&self, offset: u64) -> usize {
        (self.words_at(offset)[0] & u64::from(u32::MAX)) as usize
    }

    /// All that is there, from the oldest to the newest. What is damaged is forgotten as a whole.
    pub fn entries(&mut self) -> Vec<Entry> {
        let header = self.header();
        let (tail, head) = (header.tail.load(Relaxed), header.head.load(Acquire));
        let sound = header.magic.load(Relaxed) == MAGIC
            && [tail, head].iter().all(|offset| offset % WORD as u64 == 0)
            && head.checked_sub(tail).is_some_and(|length| length <= RING as u64);
        let entries = if sound { self.walk(tail, head) } else { None };
        if entries.is_none() {
            let header = self.header();
            header.tail.store(0, Relaxed);
            header.head.store(0, Release);
            header.magic.store(MAGIC, Release);
        }
        entries.unwrap_or_default()
    }

    fn walk(&self, tail: u64, head: u64) -> Option<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut at = tail;
        while at < head {
            let entry = self.entry(at, head)?;
            at += size_of_entry(entry.line.len()) as u64;
            match entries.last() {
                Some(last) if last.seq >= entry.seq => return None,
                // More came at once than are kept: those before them are not missed either.
                Some(last) if last.seq + 1 != entry.seq => entries.clear(),
                _ => {}
            }
            entries.push(entry);
        }
        Some(entries)
    }

    fn entry(&self, at: u64, head: u64) -> Option<Entry> {
        let [first, seq, notice, terminal, sum] = self.words_at(at);
        let length = self.length_at(at);
        if size_of_entry(length) as u64 > head - at {
            return None;
        }
        // SAFETY: the entry ends before the head, so it lies within the ring's two mappings.
        let line = unsafe {
            std::slice::from_raw_parts(self.map.at(Log::at(at) + HEADER), length).to_vec()
        };
        if sum != checksum([first, seq, notice, terminal], &line) {
            return None;
        }
        let terminal = u32::try_from(terminal).ok()?;
        let terminal = Some(terminal).filter(|terminal| *terminal != 0);
        Some(Entry { seq, kind: (first >> 32) as u32, terminal, notice, line })
    }
}

fn checksum(words: [u64; 4], line: &[u8]) -> u64 {
    let header = words.iter().fold(MAGIC, |sum, word| record::checksum(sum ^ word, &[]));
    record::checksum(header, line)
}

fn size_of_entry(line: usize) -> usize {
    HEADER + line.next_multiple_of(WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(log: &mut Log, seq: u64, length: usize) {
        let line = vec![seq as u8; length];
        let terminal = Some(seq as u32 % 3).filter(|id| *id > 0);
        assert!(log.append(&Entry { seq, kind: 7, terminal, notice: seq * 2, line: &line[..] }));
    }

    fn reopened(log: &Log) -> Log {
        Log::open(log.fd().try_clone_to_owned().unwrap()).unwrap()
    }

    #[test]
    fn events_are_found_again_by_another_process() {
        let mut log = Log::create().unwrap();
        assert!(log.entries().is_empty());
        (5..200).for_each(|seq| put(&mut log, seq, seq as usize * 3));
        let entries = reopened(&log).entries();
        assert_eq!(entries.len(), 195);
        for (entry, seq) in entries.iter().zip(5..) {
            assert_eq!((entry.seq, entry.notice, entry.kind), (seq, seq * 2, 7));
            assert_eq!(entry.terminal, Some(seq as u32 % 3).filter(|id| *id > 0));
            assert_eq!(entry.line, vec![seq as u8; seq as usize * 3]);
        }
    }

    #[test]
    fn the_oldest_make_room() {
        let mut log = Log::create().unwrap();
        for seq in 1..=3000 {
            put(&mut log, seq, 10_000 + (seq as usize * 37) % 1000);
            if seq % 500 == 0 {
                let entries = reopened(&log).entries();
                assert_eq!(entries.last().unwrap().seq, seq);
                assert!(seq < 1000 || entries.len() > 800, "{}", entries.len());
                assert!(entries.iter().all(|e| e.line.iter().all(|b| *b == e.seq as u8)));
            }
        }
        let huge = vec![0; RING];
        assert!(!log.append(&Entry {
            seq: 1,
            kind: 0,
            terminal: None,
            notice: 0,
            line: &huge[..]
        }));
    }

    #[test]
    fn what_came_before_a_gap_is_left_out() {
        let mut log = Log::create().unwrap();
        [1, 2, 5, 6].into_iter().for_each(|seq| put(&mut log, seq, 10));
        let numbers: Vec<_> = log.entries().iter().map(|entry| entry.seq).collect();
        assert_eq!(numbers, [5, 6]);
        put(&mut log, 6, 10);
        assert!(log.entries().is_empty(), "numbers do not come twice");
    }

    #[test]
    fn a_damaged_log_is_forgotten_as_a_whole_and_goes_on() {
        for place in [0, 8, 12, 16].into_iter().chain(ALIGN..ALIGN + 3 * 64) {
            let mut log = Log::create().unwrap();
            (1..5).for_each(|seq| put(&mut log, seq, 24));
            // SAFETY: within the mapping, and nobody else uses it.
            unsafe { *log.map.at(place) ^= 0x95 };
            let mut log = reopened(&log);
            log.entries();
            assert!(log.entries().is_empty(), "{place}");
            put(&mut log, 9, 5);
            assert_eq!(log.entries().len(), 1);
        }
    }
}
