//! One terminal's memory: what its program wrote, saves of what came of it, room for scrollback.
//!
//! ```text
//! record | header | ring, mapped twice in a row | two saves | scrollback
//! ```
//! Output is read from the PTY into the ring such that whoever finds it after a kill at any moment
//! knows what was read. The kernel puts a byte before the output, which goes into the header:
//!
//! ```text
//! packet = NOTHING    no read has happened since
//! base   = head
//! want   = bytes that are there; they cannot become fewer, as nobody else reads
//! read     packet := 0 by the kernel, then just `want` bytes behind `head`
//! head   = base + want
//! ```
//! A kill may come between the read and the last line, and under load it does so every other time.
//! Then packet is 0 and base is head, and what was read is taken in.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut, Range};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU64};
use std::sync::{Arc, Weak};

use super::record::{self, Record};
use super::saves::{self, Saved, Saves};
use crate::os::mapping::{ALIGN, Mapping};
use crate::os::pty::{self, Read};

/// Output that is kept until a save has what came of it.
pub const RING: usize = 256 << 10;
/// Output that one turn may read: so much room there is in the ring before each.
pub const TURN: usize = 64 << 10;
/// Memory for packed rows.
pub const SCROLLBACK: usize = 32 << 20;

const MAGIC: u64 = u64::from_le_bytes(*b"t4a-out1");
/// Not one of the kernel's own values.
const NOTHING: u8 = 0xff;
/// A ring that held more than a page is given back when its terminal rests.
const WORTH_RELEASING: u64 = 4 << 10;

/// Where things lie in the file.
const HEADER_PART: Range<usize> = record::END..record::END + ALIGN;
const RING_PART: Range<usize> = HEADER_PART.end..HEADER_PART.end + RING;
const REST_PART: Range<usize> = RING_PART.end..RING_PART.end + saves::ROOM + SCROLLBACK;
const ROOM: usize = REST_PART.end - record::END;

/// Where header, ring and the two saves begin in the file, for tests that damage them.
pub const PLACES: [usize; 4] =
    [HEADER_PART.start, RING_PART.start, REST_PART.start, REST_PART.start + saves::ROOM / 2];

/// Where things lie in the mapping.
const RING_AT: usize = ALIGN;
const SAVES_AT: usize = RING_AT + 2 * RING;
const SCROLLBACK_AT: usize = SAVES_AT + saves::ROOM;

#[repr(C)]
struct Header {
    magic: AtomicU64,
    /// All that was ever read, in bytes.
    head: AtomicU64,
    base: AtomicU64,
    want: AtomicU64,
    /// Number of the newest save; 0 before the first.
    generation: AtomicU64,
    /// Notices whose effects happened, and the output that they came of.
    told: AtomicU64,
    fed: AtomicU64,
    /// Workers that died of what was left when they fed it.
    deaths: AtomicU64,
    /// The number of the process that began to, and has not come to its end.
    feeder: AtomicU64,
    /// The program could not be started; written by its process itself.
    unstarted: AtomicU64,
    packet: AtomicU8,
}

pub struct Journal {
    pub record: Record,
    map: Arc<Mapping>,
    saves: Saves,
    /// The output before this is in the newest save.
    keep: u64,
    /// The output before this has left the ring's memory.
    released: u64,
    lent: Weak<()>,
}

impl Journal {
    pub fn create() -> io::Result<Journal> {
        let mut journal = Journal::map(Record::create(ROOM)?)?;
        journal.begin();
        Ok(journal)
    }

    /// Takes over what another process left; what is damaged begins anew.
    pub fn open(fd: OwnedFd) -> io::Result<Journal> {
        let mut journal = Journal::map(Record::open(fd)?.with_room(ROOM)?)?;
        let saved = journal.saved().map(|saved| saved.offset);
        journal.keep = saved.unwrap_or(0);
        journal.adopt();
        if !journal.is_sound() {
            journal.begin();
        }
        Ok(journal)
    }

    fn map(record: Record) -> io::Result<Journal> {
        let parts = [HEADER_PART, RING_PART, RING_PART, REST_PART];
        let map = Arc::new(Mapping::new(record.file(), &parts)?);
        let saves = Saves::new(map.clone(), SAVES_AT);
        Ok(Journal { record, map, saves, keep: 0, released: 0, lent: Weak::new() })
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a page for it, is aligned, and lives as long as `self`; all
        // fields are atomic, so that any bytes do.
        unsafe { &*self.map.at(0).cast::<Header>() }
    }

    /// Empty, as at the start of its terminal.
    fn begin(&mut self) {
        let header = self.header();
        header.magic.store(0, Release);
        header.packet.store(NOTHING, Relaxed);
        let counts = [&header.head, &header.generation, &header.told, &header.fed];
        for count in counts {
            count.store(0, Relaxed);
        }
        header.deaths.store(0, Relaxed);
        header.feeder.store(0, Relaxed);
        header.unstarted.store(0, Relaxed);
        header.magic.store(MAGIC, Release);
        (self.keep, self.released) = (0, 0);
    }

    fn is_sound(&self) -> bool {
        let (header, head) = (self.header(), self.head());
        let within = |count: u64| self.keep <= count && count <= head;
        header.magic.load(Acquire) == MAGIC
            && within(head)
            && head - self.keep <= RING as u64
            && within(header.fed.load(Relaxed))
            && (self.saved().is_some() || header.generation.load(Relaxed) == 0)
    }

    /// Takes in a read that was done and not published.
    fn adopt(&mut self) {
        let (header, head) = (self.header(), self.head());
        let want = header.want.load(Relaxed);
        let room = (RING as u64).saturating_sub(head.wrapping_sub(self.keep));
        let done = header.packet.load(Acquire) == 0 && header.base.load(Relaxed) == head;
        if done && want <= room {
            header.head.store(head + want, Release);
        }
        header.packet.store(NOTHING, Release);
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.record.fd()
    }

    /// All that was read, in bytes.
    pub fn head(&self) -> u64 {
        self.header().head.load(Relaxed)
    }

    /// Up to where output has had all its effects.
    pub fn fed(&self) -> u64 {
        self.header().fed.load(Relaxed)
    }

    /// So many notices have had theirs.
    pub fn told(&self) -> u64 {
        self.header().told.load(Relaxed)
    }

    /// The effects of all that was read are certain, with so many notices in all.
    pub fn set_told(&self, notices: u64) {
        self.header().told.store(notices, Release);
        self.header().fed.store(self.head(), Release);
    }

    /// Output that is still in the ring: since the newest save.
    pub fn bytes(&self, range: Range<u64>) -> &[u8] {
        let inside = self.keep <= range.start && range.start <= range.end;
        assert!(inside && range.end <= self.head(), "output that is not in the ring");
        let at = RING_AT + (range.start % RING as u64) as usize;
        let length = (range.end - range.start) as usize;
        // SAFETY: at most a ring's length, checked above, from within the first of its two mappings;
        // only `read` and `append` write there, behind the head, through `&mut self`.
        unsafe { std::slice::from_raw_parts(self.map.at(at), length) }
    }

    /// The newest save, and the output since it.
    pub fn unsaved(&self) -> &[u8] {
        self.bytes(self.keep..self.head())
    }

    fn room(&self) -> usize {
        RING - (self.head() - self.keep) as usize
    }

    /// One read from the PTY, by the rules above. Nobody else may read there. Nothing is read while
    /// there is no room: then a save is due.
    pub fn read(&mut self, master: BorrowedFd<'_>) -> Read {
        let (header, head) = (self.header(), self.head());
        if self.room() == 0 {
            return Read::WouldBlock;
        }
        // A device that cannot tell would have its status read for ever, and no output.
        let Ok(waiting) = pty::waiting(master) else { return Read::Closed };
        header.packet.store(NOTHING, Release);
        header.base.store(head, Release);
        let want = waiting.min(self.room()).min(TURN);
        header.want.store(want as u64, Release);
        let at = RING_AT + (head % RING as u64) as usize;
        self.map.touch(at, want);
        // SAFETY: behind the head and within the room that is left nobody reads or writes; a ring
        // that is mapped twice has that room in one piece.
        let read = unsafe { pty::read_into(master, &header.packet, self.map.at(at), want) };
        if let Read::Data(count) = read {
            header.head.store(head + count as u64, Release);
        }
        read
    }

    /// Output that did not come from a PTY; as much as there is room for.
    pub fn append(&mut self, bytes: &[u8]) {
        let (header, head) = (self.header(), self.head());
        let bytes = &bytes[..bytes.len().min(self.room())];
        let at = RING_AT + (head % RING as u64) as usize;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.map.at(at), bytes.len()) };
        header.head.store(head + bytes.len() as u64, Release);
    }

    /// The last read may not have had room for all that there was.
    pub fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// The next turn may find no room.
    pub fn is_filling(&self) -> bool {
        self.room() < TURN
    }

    /// What came of all the output so far. One that is too large is not kept: then the terminal
    /// would begin with an empty screen.
    pub fn save(&mut self, notices: u64, bytes: &[u8]) -> bool {
        let offset = self.head();
        self.set_told(notices);
        let generation = self.header().generation.load(Relaxed) + 1;
        let empty = Saved { offset, notices, bytes: &[] };
        let fits = self.saves.write(generation, &Saved { offset, notices, bytes });
        if !fits {
            self.saves.write(generation, &empty);
        }
        self.header().generation.store(generation, Release);
        self.keep = offset;
        fits
    }

    pub fn saved(&self) -> Option<Saved<'_>> {
        let generation = self.header().generation.load(Acquire);
        self.saves.read(generation).filter(|_| generation > 0)
    }

    /// The ring takes memory that is worth giving back.
    pub fn is_large(&self) -> bool {
        self.head() - self.released > WORTH_RELEASING
    }

    /// After a save: gives back the ring's memory, as the terminal may stay quiet for long.
    pub fn rest(&mut self) {
        if self.keep == self.head() && self.is_large() {
            self.map.release(&(RING_AT..RING_AT + RING));
            self.released = self.keep;
        }
    }

    /// Counts the end of a worker that was not killed from outside, if it came when it fed this. To
    /// be called for all terminals before any is fed: only the last worker's end is known.
    pub fn count_death(&self, crashed: Option<u32>) {
        let feeder = self.header().feeder.swap(0, Relaxed);
        if crashed.is_some_and(|pid| u64::from(pid) == feeder) {
            self.header().deaths.fetch_add(1, Relaxed);
        }
    }

    /// This process begins to feed what is left; how many have died of it so far.
    pub fn begin_feeding(&self) -> u64 {
        self.header().feeder.store(std::process::id().into(), Relaxed);
        self.header().deaths.load(Relaxed)
    }

    pub fn end_feeding(&self) {
        self.header().deaths.store(0, Relaxed);
        self.header().feeder.store(0, Relaxed);
    }

    /// Whether its program could not be started.
    pub fn is_unstarted(&self) -> bool {
        self.header().unstarted.load(Relaxed) != 0
    }

    /// The memory for scrollback; none while someone has it.
    pub fn lend(&mut self) -> Option<Lent> {
        if self.lent.strong_count() > 0 {
            return None;
        }
        let token = Arc::new(());
        self.lent = Arc::downgrade(&token);
        Some(Lent { map: self.map.clone(), _token: token })
    }
}

/// Notes in a terminal's memory that its program could not be started: a worker that takes over
/// cannot know it otherwise.
pub fn mark_unstarted(fd: BorrowedFd<'_>) -> io::Result<()> {
    let place = HEADER_PART.start + std::mem::offset_of!(Header, unstarted);
    File::from(fd.try_clone_to_owned()?).write_all_at(&[1], place as u64)
}

/// Memory for scrollback, given back by dropping it.
pub struct Lent {
    map: Arc<Mapping>,
    _token: Arc<()>,
}

impl Lent {
    /// Gives parts back to the system, where they take no memory until they are written again. To be
    /// called by whoever has this memory, and only while nothing there is borrowed.
    pub fn releaser(&self) -> impl FnMut(Range<usize>) + Send + use<> {
        let map = self.map.clone();
        move |part| {
            assert!(part.end <= SCROLLBACK, "outside of the memory for scrollback");
            map.release(&(SCROLLBACK_AT + part.start..SCROLLBACK_AT + part.end));
        }
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: within the mapping; there is one `Lent` at a time, and nobody else goes there.
        unsafe { std::slice::from_raw_parts(self.map.at(SCROLLBACK_AT), SCROLLBACK) }
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.map.at(SCROLLBACK_AT), SCROLLBACK) }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
