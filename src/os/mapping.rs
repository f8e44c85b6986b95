//! Parts of a file as memory that other processes share.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

#[cfg(target_os = "linux")]
use rustix::mm::{Advice, madvise};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

/// Every part begins and ends at a multiple of this, which the pages of all systems divide.
pub const ALIGN: usize = 64 << 10;

/// Memory that stays where it is; whoever uses it makes sure that no two do at the same place.
pub struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is a range of addresses that belongs to the whole process.
unsafe impl Send for Mapping {}
// SAFETY: it gives out pointers only; what is done with them is their user's care.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps ranges of a file one behind the other; a range may come twice.
    pub fn new(file: &File, parts: &[Range<usize>]) -> io::Result<Mapping> {
        let aligned = |part: &Range<usize>| {
            part.start.is_multiple_of(ALIGN) && part.end.is_multiple_of(ALIGN)
        };
        if !parts.iter().all(aligned) || parts.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a part is not aligned"));
        }
        let length = parts.iter().map(ExactSizeIterator::len).sum();
        // SAFETY: a new range of addresses; nothing is replaced.
        let start =
            unsafe { mmap_anonymous(null_mut(), length, ProtFlags::empty(), MapFlags::PRIVATE)? };
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Mapping { start, length };
        let mut at = 0;
        for part in parts {
            mapping.place(file, at, part)?;
            at += part.len();
        }
        Ok(mapping)
    }

    fn place(&self, file: &File, at: usize, part: &Range<usize>) -> io::Result<()> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: replaces a piece of the range that was reserved above, which is ours alone.
        unsafe {
            let target = self.at(at).cast::<c_void>();
            mmap(target, part.len(), protection, flags, file, part.start as u64)?;
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where a byte is; `offset` must be within the mapping, or at its end.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.length, "outside of the mapping");
        // SAFETY: just checked to be within the mapping or one past it.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Has the pages of a range at hand, so that the kernel meets no fault when it fills them. What
    /// is in their first bytes is lost.
    pub fn touch(&self, offset: usize, length: usize) {
        const PAGE: usize = 4096;
        assert!(offset + length <= self.length, "outside of the mapping");
        let mut at = offset;
        while at < offset + length {
            // SAFETY: within the mapping, as just checked, and a byte can be written anywhere.
            unsafe { self.at(at).write_volatile(0) };
            at = (at + 1).next_multiple_of(PAGE);
        }
    }
}

impl Mapping {
    /// Gives the pages of a range back to the system, in the file too; they read as zeros
    /// afterwards. Whoever calls it makes sure that nobody uses them meanwhile.
    #[cfg(target_os = "linux")]
    pub fn release(&self, part: &Range<usize>) {
        let (start, length) = (self.at(part.start), self.at(part.end) as usize);
        let length = length.saturating_sub(start as usize);
        // Where it cannot be done the memory stays taken, and that is all.
        // SAFETY: within the mapping, as `at` has checked; it stays mapped.
        let _ = unsafe { madvise(start.cast(), length, Advice::LinuxRemove) };
    }

    /// Elsewhere they stay taken.
    #[cfg(not(target_os = "linux"))]
    pub fn release(&self, _part: &Range<usize>) {}
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and those who used it had a share of `self`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::os::memory::memory_file;

    #[test]
    fn a_part_that_is_mapped_twice_goes_on_at_its_start() {
        let file = memory_file("t4a-test").unwrap();
        file.set_len(3 * ALIGN as u64).unwrap();
        let ring = ALIGN..2 * ALIGN;
        let map = Mapping::new(&file, &[0..ALIGN, ring.clone(), ring.clone()]).unwrap();
        // SAFETY: within the mapping, and nobody else uses it.
        unsafe { std::ptr::copy_nonoverlapping(b"abcd".as_ptr(), map.at(2 * ALIGN - 2), 4) };
        let mut back = [0; 2];
        file.read_exact_at(&mut back, 2 * ALIGN as u64 - 2).unwrap();
        assert_eq!(&back, b"ab");
        file.read_exact_at(&mut back, ALIGN as u64).unwrap();
        assert_eq!(&back, b"cd");
        map.release(&ring);
        file.read_exact_at(&mut back, ALIGN as u64).unwrap();
        assert!(!cfg!(target_os = "linux") || back == [0; 2]);
    }

    #[test]
    fn parts_that_are_not_aligned_are_refused() {
        let file = memory_file("t4a-test").unwrap();
        assert!(Mapping::new(&file, &[]).is_err());
        for part in [1..ALIGN, 0..ALIGN + 1] {
            assert!(Mapping::new(&file, &[part]).is_err());
        }
    }
}
