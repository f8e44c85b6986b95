//! The bytes that scrollback is kept in: our own, which grow as they are needed, or some that
//! were handed in, such as memory shared with another process.

use std::fmt;
use std::ops::DerefMut;

/// Our own memory grows by this much.
const STEP: usize = 8 * 1024;

pub struct Memory(Kind);

enum Kind {
    Own { bytes: Vec<u8>, most: usize },
    Lent(Box<dyn DerefMut<Target = [u8]> + Send>),
}

impl Memory {
    /// Memory of our own, of at most so many bytes; none of it is taken before it is written.
    pub fn own(most: usize) -> Memory {
        Memory::filled(Vec::new(), most)
    }

    /// The same, with something in it.
    pub fn filled(bytes: Vec<u8>, most: usize) -> Memory {
        Memory(Kind::Own { bytes, most })
    }

    /// Memory that is handed in; it is given back by dropping it.
    pub fn lent(bytes: impl DerefMut<Target = [u8]> + Send + 'static) -> Memory {
        Memory(Kind::Lent(Box::new(bytes)))
    }

    /// The first bytes as memory of our own.
    pub fn copied(&self, len: usize) -> Memory {
        let bytes = self.bytes();
        let bytes = bytes[..len.min(bytes.len())].to_vec();
        Memory(Kind::Own { bytes, most: self.most() })
    }

    /// Bytes there can be.
    pub fn most(&self) -> usize {
        match &self.0 {
            Kind::Own { most, .. } => *most,
            Kind::Lent(bytes) => bytes.len(),
        }
    }

    /// Bytes of our own that are taken; what was handed in costs us nothing.
    pub fn taken(&self) -> Option<usize> {
        match &self.0 {
            Kind::Own { bytes, .. } => Some(bytes.len()),
            Kind::Lent(_) => None,
        }
    }

    /// What was never written may be missing.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Kind::Own { bytes, .. } => bytes,
            Kind::Lent(bytes) => bytes,
        }
    }

    /// Room for `len` bytes at a place; it must be within `most`.
    #[inline]
    pub fn room(&mut self, at: usize, len: usize) -> &mut [u8] {
        let end = at + len;
        match &mut self.0 {
            Kind::Own { bytes, .. } => {
                if bytes.len() < end {
                    bytes.resize(end.next_multiple_of(STEP), 0);
                }
                &mut bytes[at..end]
            }
            Kind::Lent(bytes) => &mut bytes[at..end],
        }
    }

    /// Gives up all bytes, if they are our own.
    pub fn release(&mut self) -> bool {
        match &mut self.0 {
            Kind::Own { bytes, .. } => *bytes = Vec::new(),
            Kind::Lent(_) => return false,
        }
        true
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} of {})", self.bytes().len(), self.most())
    }
}
