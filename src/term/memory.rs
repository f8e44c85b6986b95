//! The bytes that scrollback is kept in: our own, which grow as they are needed, or some that
//! were handed in, such as memory shared with another process.

use std::fmt;
use std::ops::{DerefMut, Range};

/// Our own memory grows by this much.
const STEP: usize = 8 * 1024;
/// Memory is given back in blocks of this size.
pub const BLOCK: usize = 64 * 1024;

pub struct Memory {
    kind: Kind,
    /// Up to where each block was written.
    written: Vec<usize>,
    taken: usize,
}

/// Gives a part of what was handed in back to the system; it reads as zeros then.
type Release = Box<dyn FnMut(Range<usize>) + Send>;

enum Kind {
    Own { bytes: Vec<u8>, most: usize },
    Lent { bytes: Box<dyn DerefMut<Target = [u8]> + Send>, release: Release },
}

impl Memory {
    fn new(kind: Kind) -> Memory {
        Memory { kind, written: Vec::new(), taken: 0 }
    }

    /// Memory of our own, of at most so many bytes; none of it is taken before it is written.
    pub fn own(most: usize) -> Memory {
        Memory::filled(Vec::new(), most)
    }

    /// The same, with something in it.
    pub fn filled(bytes: Vec<u8>, most: usize) -> Memory {
        Memory::new(Kind::Own { bytes, most })
    }

    /// Memory that is handed in; it is given back by dropping it.
    pub fn lent(bytes: impl DerefMut<Target = [u8]> + Send + 'static) -> Memory {
        Memory::lent_in_parts(bytes, |_| {})
    }

    /// The same, if parts of it can be given back while others are used.
    pub fn lent_in_parts(
        bytes: impl DerefMut<Target = [u8]> + Send + 'static,
        release: impl FnMut(Range<usize>) + Send + 'static,
    ) -> Memory {
        Memory::new(Kind::Lent { bytes: Box::new(bytes), release: Box::new(release) })
    }

    /// These parts, at the same places, as memory of our own. The others are not even looked at,
    /// since that would take again what was given back.
    pub fn copied(&self, parts: impl Iterator<Item = Range<usize>> + Clone) -> Memory {
        let mut bytes = vec![0; parts.clone().map(|part| part.end).max().unwrap_or(0)];
        parts.for_each(|part| bytes[part.clone()].copy_from_slice(&self.bytes()[part]));
        Memory::filled(bytes, self.most())
    }

    /// Bytes there can be.
    pub fn most(&self) -> usize {
        match &self.kind {
            Kind::Own { most, .. } => *most,
            Kind::Lent { bytes, .. } => bytes.len(),
        }
    }

    /// Bytes that were written and not given back.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// What was never written may be missing.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.kind {
            Kind::Own { bytes, .. } => bytes,
            Kind::Lent { bytes, .. } => bytes,
        }
    }

    /// Room for `len` bytes at a place; it must be within `most`, and in one block.
    #[inline]
    pub fn room(&mut self, at: usize, len: usize) -> &mut [u8] {
        let end = at + len;
        self.take(at / BLOCK, end - at / BLOCK * BLOCK);
        match &mut self.kind {
            Kind::Own { bytes, .. } => {
                if bytes.len() < end {
                    bytes.resize(end.next_multiple_of(STEP), 0);
                }
                &mut bytes[at..end]
            }
            Kind::Lent { bytes, .. } => &mut bytes[at..end],
        }
    }

    /// A block is in use up to here.
    #[inline]
    pub fn take(&mut self, block: usize, end: usize) {
        if self.written.len() <= block {
            self.written.resize(block + 1, 0);
        }
        let written = &mut self.written[block];
        if *written < end {
            self.taken += end - *written;
            *written = end;
        }
    }

    /// Something was written in this block, and not given back.
    pub fn has(&self, block: usize) -> bool {
        self.written.get(block).is_some_and(|end| *end > 0)
    }

    /// Gives back all blocks that are not to be kept. Our own are only forgotten.
    pub fn keep_only(&mut self, keep: impl Fn(usize) -> bool) {
        let mut free = 0..0;
        for block in 0..self.written.len() {
            if keep(block) || self.written[block] == 0 {
                continue;
            }
            self.taken -= std::mem::take(&mut self.written[block]);
            if free.end != block {
                self.release(std::mem::replace(&mut free, block..block));
            }
            free.end = block + 1;
        }
        self.release(free);
    }

    fn release(&mut self, blocks: Range<usize>) {
        if let (Kind::Lent { release, .. }, false) = (&mut self.kind, blocks.is_empty()) {
            release(blocks.start * BLOCK..blocks.end * BLOCK);
        }
    }

    /// Another process may have written anywhere. These blocks are kept, each up to its end, and
    /// all others given back.
    pub fn adopt(&mut self, kept: &[(usize, usize)]) {
        if matches!(self.kind, Kind::Lent { .. }) {
            let blocks = self.most() / BLOCK;
            (self.written, self.taken) = (vec![BLOCK; blocks], blocks * BLOCK);
            self.keep_only(|block| kept.iter().any(|(other, _)| *other == block));
        }
        (self.written, self.taken) = (Vec::new(), 0);
        kept.iter().for_each(|(block, end)| self.take(*block, *end));
    }

    /// Gives up all bytes, if they are our own.
    pub fn give_up(&mut self) -> bool {
        let own = matches!(self.kind, Kind::Own { .. });
        if let Kind::Own { bytes, .. } = &mut self.kind {
            *bytes = Vec::new();
            (self.written, self.taken) = (Vec::new(), 0);
        }
        own
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} of {})", self.taken, self.most())
    }
}
