//! One piece of state as opaque bytes: a kill in the middle of a write leaves the one before.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use crate::os::mapping::ALIGN;
use crate::os::memory;

pub const MAX_RECORD: usize = 1 << 20;
const MAGIC: u64 = u64::from_le_bytes(*b"t4a-rec1");
/// Magic, generation, length, checksum.
const HEADER: usize = 32;
const SLOT: u64 = (HEADER + MAX_RECORD) as u64;
/// Where in its file other things may follow a record.
pub(super) const END: usize = (2 * SLOT as usize).next_multiple_of(ALIGN);

/// Two slots, written in turn. A slot counts when its checksum is right; the higher generation wins.
pub struct Record {
    file: File,
    generation: u64,
}

impl Record {
    /// With room for something else behind it. None of it is taken before it is written.
    pub fn create(room: usize) -> io::Result<Record> {
        let file = memory::memory_file("t4a-memory")?;
        file.set_len((END + room) as u64)?;
        memory::seal_length(&file)?;
        Ok(Record { file, generation: 0 })
    }

    /// Takes over a record that another process made; what is in it is not trusted.
    pub fn open(fd: OwnedFd) -> io::Result<Record> {
        let file = File::from(fd);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a record must be a file"));
        }
        let generation = newest(&file).map_or(0, |(generation, _)| generation);
        Ok(Record { file, generation })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The file, if it has just this much room behind the record.
    pub(super) fn with_room(self, room: usize) -> io::Result<Record> {
        if self.file.metadata()?.len() != (END + room) as u64 {
            let message = "memory of another version of the server";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(self)
    }

    /// Replaces the content. The header goes last: until then the slot's checksum is wrong.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > MAX_RECORD {
            let message = format!("a record of {} bytes; {MAX_RECORD} are allowed", bytes.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let generation = self.generation.wrapping_add(1);
        let offset = offset_of(generation);
        self.file.write_all_at(bytes, offset + HEADER as u64)?;
        self.file.write_all_at(&header(generation, bytes), offset)?;
        self.generation = generation;
        Ok(())
    }

    /// The newest content that is whole.
    pub fn read(&self) -> Option<Vec<u8>> {
        newest(&self.file).map(|(_, bytes)| bytes)
    }
}

fn offset_of(generation: u64) -> u64 {
    (generation & 1) * SLOT
}

fn header(generation: u64, bytes: &[u8]) -> [u8; HEADER] {
    let words = [MAGIC, generation, bytes.len() as u64, checksum(generation, bytes)];
    let mut header = [0; HEADER];
    for (place, word) in header.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    header
}

fn newest(file: &File) -> Option<(u64, Vec<u8>)> {
    let slots = [0, 1].map(|slot| read_slot(file, slot));
    slots.into_iter().flatten().max_by_key(|(generation, _)| *generation)
}

fn read_slot(file: &File, slot: u64) -> Option<(u64, Vec<u8>)> {
    let mut head = [0; HEADER];
    file.read_exact_at(&mut head, slot * SLOT).ok()?;
    let word = |index: usize| {
        let bytes = head.get(index * 8..index * 8 + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let (generation, length) = (word(1)?, usize::try_from(word(2)?).ok()?);
    if word(0)? != MAGIC || generation & 1 != slot || length > MAX_RECORD {
        return None;
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, slot * SLOT + HEADER as u64).ok()?;
    (word(3)? == checksum(generation, &bytes)).then_some((generation, bytes))
}

/// FNV-1a over words instead of bytes: a guard against torn writes, not against forgery.
pub(super) fn checksum(generation: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(PRIME).rotate_left(23);
    let mut hash = mix(mix(0xcbf2_9ce4_8422_2325, generation), bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reopened(record: &Record) -> Record {
        Record::open(record.fd().try_clone_to_owned().unwrap()).unwrap()
    }

    #[test]
    fn the_last_write_is_read_also_by_another_process() {
        let mut record = Record::create(0).unwrap();
        assert_eq!(record.read(), None);
        for content in [&b"one"[..], b"", b"three", &[7; 100_000]] {
            record.write(content).unwrap();
            assert_eq!(record.read().as_deref(), Some(content));
            assert_eq!(reopened(&record).read().as_deref(), Some(content));
        }
        let mut other = reopened(&record);
        other.write(b"next").unwrap();
        assert_eq!(record.read().as_deref(), Some(&b"next"[..]));
    }

    #[test]
    fn the_largest_fits_and_one_byte_more_is_refused() {
        let mut record = Record::create(0).unwrap();
        record.write(&vec![1; MAX_RECORD]).unwrap();
        assert_eq!(record.read().unwrap().len(), MAX_RECORD);
        assert!(record.write(&vec![2; MAX_RECORD + 1]).is_err());
        assert_eq!(record.read().unwrap()[0], 1);
    }

    /// A kill between any two bytes of a write: the new content's first bytes, the old header.
    #[test]
    fn a_torn_write_leaves_the_older_content() {
        for torn in 0..=3 {
            let mut record = Record::create(0).unwrap();
            for content in [b"aaa", b"bbb"] {
                record.write(content).unwrap();
            }
            let offset = offset_of(record.generation + 1) + HEADER as u64;
            record.file.write_all_at(&b"ccc"[..torn], offset).unwrap();
            assert_eq!(record.read().unwrap(), b"bbb");
            assert_eq!(reopened(&record).read().unwrap(), b"bbb");
        }
    }

    #[test]
    fn a_torn_header_leaves_the_older_content() {
        for torn in 0..HEADER {
            let mut record = Record::create(0).unwrap();
            record.write(b"aaa").unwrap();
            record.write(b"bbb").unwrap();
            let next = record.generation + 1;
            record.file.write_all_at(b"cccc", offset_of(next) + HEADER as u64).unwrap();
            record.file.write_all_at(&header(next, b"cccc")[..torn], offset_of(next)).unwrap();
            let found = record.read().unwrap();
            assert!(found == b"bbb" || found == b"cccc", "{torn}");
            record.write(b"dddd").unwrap();
            assert_eq!(reopened(&record).read().unwrap(), b"dddd", "{torn}");
        }
    }

    #[test]
    fn wrong_bytes_anywhere_are_never_taken() {
        let mut record = Record::create(0).unwrap();
        record.write(b"content").unwrap();
        let offset = offset_of(1);
        for place in 0..(HEADER + 7) as u64 {
            let mut byte = [0];
            record.file.read_exact_at(&mut byte, offset + place).unwrap();
            record.file.write_all_at(&[byte[0] ^ 0x40], offset + place).unwrap();
            assert_eq!(record.read(), None, "byte {place}");
            record.file.write_all_at(&byte, offset + place).unwrap();
        }
        assert_eq!(record.read().unwrap(), b"content");
    }

    #[test]
    fn a_file_that_is_no_record_reads_as_nothing() {
        let file = memory::memory_file("t4a-test").unwrap();
        file.write_all_at(&[0xff; 100], 0).unwrap();
        assert_eq!(Record::open(file.into()).unwrap().read(), None);
        let (end, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(Record::open(end.into()).is_err());
    }
}
