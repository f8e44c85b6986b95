//! Saves of a terminal, in two places written in turn: one of them is always whole.
#![allow(unsafe_code)]

use std::sync::Arc;

use crate::os::mapping::Mapping;

/// Bytes of the largest save: three screens of the largest size, and what belongs to them.
pub const MAX_SAVE: usize = (32 << 20) - HEADER;
const HEADER: usize = 48;
/// One of the two places.
const PLACE: usize = HEADER + MAX_SAVE;
/// Both of them.
pub const ROOM: usize = 2 * PLACE;
const MAGIC: u64 = u64::from_le_bytes(*b"t4a-sav1");

/// A save, and how far its terminal had come.
#[derive(Debug, PartialEq, Eq)]
pub struct Saved<'a> {
    /// The output up to here is in it.
    pub offset: u64,
    /// So many notices had come of it.
    pub notices: u64,
    pub bytes: &'a [u8],
}

pub struct Saves {
    map: Arc<Mapping>,
    /// Where in the mapping.
    start: usize,
}

impl Saves {
    pub fn new(map: Arc<Mapping>, start: usize) -> Saves {
        assert!(start + ROOM <= map.len(), "the saves lie outside of their memory");
        Saves { map, start }
    }

    /// Writes the place that the newest save is not in. False when it is too large.
    pub fn write(&mut self, generation: u64, save: &Saved<'_>) -> bool {
        if save.bytes.len() > MAX_SAVE {
            return false;
        }
        let place = self.place(generation);
        let header = header(generation, save);
        // SAFETY: both pieces lie within this place, which `new` has checked; nobody reads it before
        // its generation is published.
        unsafe {
            let target = self.map.at(place);
            std::ptr::copy_nonoverlapping(header.as_ptr().cast::<u8>(), target, HEADER);
            let target = self.map.at(place + HEADER);
            std::ptr::copy_nonoverlapping(save.bytes.as_ptr(), target, save.bytes.len());
        }
        true
    }

    /// The save of this generation. Its bytes have a checksum of their own.
    pub fn read(&self, generation: u64) -> Option<Saved<'_>> {
        let place = self.place(generation);
        // SAFETY: the header lies within the mapping, which is aligned; any bytes are numbers.
        let words: [u64; HEADER / 8] = unsafe { self.map.at(place).cast::<[u64; 6]>().read() };
        let [_, _, offset, notices, length, _] = words;
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_SAVE)?;
        // SAFETY: the length was checked; the place is written only through `&mut self`.
        let bytes = unsafe { std::slice::from_raw_parts(self.map.at(place + HEADER), length) };
        let saved = Saved { offset, notices, bytes };
        (words == header(generation, &saved)).then_some(saved)
    }

    fn place(&self, generation: u64) -> usize {
        self.start + (generation & 1) as usize * PLACE
    }
}

fn header(generation: u64, save: &Saved<'_>) -> [u64; HEADER / 8] {
    let Saved { offset, notices, bytes } = save;
    let words = [MAGIC, generation, *offset, *notices, bytes.len() as u64];
    let mix =
        |sum: u64, word: &u64| (sum ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(29);
    let [magic, generation, offset, notices, length] = words;
    [magic, generation, offset, notices, length, words.iter().fold(1, mix)]
}
