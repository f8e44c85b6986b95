//! Files that live in memory and have no name.

use std::fs::File;
use std::io;

/// A nameless file, closed on exec, that can be handed to another process.
#[cfg(target_os = "linux")]
pub fn memory_file(name: &str) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::io::Errno;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag that forbids executing it.
    match memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => Ok(memfd_create(name, flags)?.into()),
        made => Ok(made?.into()),
    }
}

/// Where there is no memfd: a private file whose name is gone before anyone else can see it.
#[cfg(not(target_os = "linux"))]
pub fn memory_file(name: &str) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let random = super::paths::random_name()?;
    let path = super::paths::runtime_dir()?.join(format!(".{name}.{random}"));
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Fixes the length for ever, so that no holder can cut it off under another's mapping.
#[cfg(target_os = "linux")]
pub fn seal_length(file: &File) -> io::Result<()> {
    use rustix::fs::{SealFlags, fcntl_add_seals};
    Ok(fcntl_add_seals(file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?)
}

/// Seals are a Linux thing; elsewhere the holders are trusted.
#[cfg(not(target_os = "linux"))]
pub fn seal_length(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn a_memory_file_holds_what_is_written() {
        let file = memory_file("t4a-test").unwrap();
        file.write_all_at(b"abc", 10).unwrap();
        let mut back = [0; 3];
        file.read_exact_at(&mut back, 10).unwrap();
        assert_eq!(&back, b"abc");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_sealed_file_keeps_its_length() {
        let file = memory_file("t4a-test").unwrap();
        file.set_len(100).unwrap();
        seal_length(&file).unwrap();
        assert!(file.set_len(10).is_err());
        assert!(file.set_len(1000).is_err());
    }
}
