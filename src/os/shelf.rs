//! The directory where terminals are kept for when everything else is gone. For the user alone, and
//! what is found there is looked at with suspicion.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::{explain, paths, process};

/// Names looked at; a directory of our own never has so many.
const MAX_NAMES: usize = 8192;
/// What is being written has this before its name.
const HALF: char = '.';

pub struct Shelf {
    path: PathBuf,
    dir: OwnedFd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub bytes: u64,
    /// When it was written, in nanoseconds since 1970.
    pub written: i128,
}

/// `$XDG_STATE_HOME/t4a`, else `~/.local/state/t4a`.
pub fn path() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let dir = named.filter(|dir| dir.is_absolute());
    Some(dir.or_else(|| Some(dirs::home_dir()?.join(".local/state")))?.join("t4a"))
}

impl Shelf {
    /// The one that is there; none if there is none.
    pub fn open() -> io::Result<Option<Shelf>> {
        let Some(path) = path() else { return Ok(None) };
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Shelf::at(path).map(Some),
        }
    }

    /// Makes it if need be.
    pub fn make() -> io::Result<Shelf> {
        use std::os::unix::fs::DirBuilderExt;
        let path = path().ok_or_else(|| io::Error::other("there is no home directory"))?;
        if let Some(parent) = path.parent() {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
            made.map_err(|error| explain(error, &format!("cannot make {}", parent.display())))?;
        }
        Shelf::at(path)
    }

    fn at(path: PathBuf) -> io::Result<Shelf> {
        let dir = paths::make_private_for(&path, "XDG_STATE_HOME")?;
        Ok(Shelf { path, dir })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All files, also those that were never finished.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.dir)?.take(MAX_NAMES) {
            entries.extend(self.entry(entry?.file_name()));
        }
        Ok(entries)
    }

    #[allow(clippy::unnecessary_cast, reason = "the fields' widths differ between systems")]
    fn entry(&self, name: &CStr) -> Option<Entry> {
        let stat = rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let name = name.to_str().ok().filter(|_| !is_dir)?.to_owned();
        let written = i128::from(stat.st_mtime) * 1_000_000_000 + stat.st_mtime_nsec as i128;
        Some(Entry { name, bytes: stat.st_size as u64, written })
    }

    /// A whole file; one that is a link, is somebody else's or has more than `most` bytes is refused.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.dir, name, flags, Mode::empty()) {
            Err(rustix::io::Errno::LOOP) => return Err(refused("it is a link, not a file")),
            file => File::from(file?),
        };
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(refused("it is not a file"));
        }
        if stat.st_uid != process::my_uid() {
            return Err(refused("it belongs to somebody else"));
        }
        let mut bytes = Vec::new();
        if file.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
            return Err(refused("it is too large"));
        }
        Ok(bytes)
    }

    /// Under another name, then renamed: there is the old one or the new one. With `sync` also when
    /// the power fails.
    pub fn write(&self, name: &str, bytes: &[u8], sync: bool) -> io::Result<()> {
        let half = format!("{HALF}{name}");
        let _ = rustix::fs::unlinkat(&self.dir, &half, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.dir, &half, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        let written = file
            .write_all(bytes)
            .and_then(|()| if sync { file.sync_data() } else { Ok(()) })
            .and_then(|()| Ok(rustix::fs::renameat(&self.dir, &half, &self.dir, name)?));
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&self.dir, &half, AtFlags::empty());
        }
        written
    }

    /// And what was begun under that name.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let _ = rustix::fs::unlinkat(&self.dir, format!("{HALF}{name}"), AtFlags::empty());
        match rustix::fs::unlinkat(&self.dir, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes files, the oldest first, until there are no more than so many and so many bytes. Those
    /// that `spared` names go last.
    pub fn trim(&self, files: usize, bytes: u64, spared: impl Fn(&str) -> bool) -> io::Result<()> {
        let mut entries = self.entries()?;
        let mut left: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut count = entries.len();
        if count <= files && left <= bytes {
            return Ok(());
        }
        entries.sort_by_key(|entry| (spared(&entry.name), entry.written));
        for entry in &entries {
            if count <= files && left <= bytes {
                break;
            }
            self.remove(&entry.name)?;
            count -= 1;
            left -= entry.bytes;
        }
        Ok(())
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn shelf() -> (tempfile::TempDir, Shelf) {
        let temp = tempfile::tempdir().unwrap();
        let shelf = Shelf::at(temp.path().join("t4a")).unwrap();
        (temp, shelf)
    }

    fn names(shelf: &Shelf) -> Vec<String> {
        let mut names: Vec<_> = shelf.entries().unwrap().into_iter().map(|e| e.name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_for_its_user_alone_and_replaced_as_a_whole() {
        let (_temp, shelf) = shelf();
        shelf.write("a", b"one", true).unwrap();
        shelf.write("a", b"two", false).unwrap();
        assert_eq!(shelf.read("a", 3).unwrap(), b"two");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(shelf.path()), mode(&shelf.path().join("a"))), (0o700, 0o600));
        assert_eq!(names(&shelf), ["a"]);
        shelf.remove("a").unwrap();
        shelf.remove("a").unwrap();
        assert_eq!(names(&shelf), [""; 0]);
    }

    #[test]
    fn what_is_no_file_of_ours_is_not_read_and_not_written_through() {
        let (temp, shelf) = shelf();
        let target = temp.path().join("target");
        std::fs::write(&target, "mine").unwrap();
        symlink(&target, shelf.path().join("a")).unwrap();
        assert_eq!(shelf.read("a", 9).unwrap_err().to_string(), "it is a link, not a file");
        symlink(&target, shelf.path().join(".a")).unwrap();
        shelf.write("a", b"ours", true).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"mine");
        assert_eq!(shelf.read("a", 4).unwrap(), b"ours");
        assert_eq!(shelf.read("a", 3).unwrap_err().to_string(), "it is too large");
    }

    #[test]
    fn the_oldest_go_first_and_those_in_use_last() {
        let (_temp, shelf) = shelf();
        for name in ["d", "c", "b", "a"] {
            shelf.write(name, b"12345", false).unwrap();
            let file = File::open(shelf.path().join(name)).unwrap();
            let time =
                std::time::UNIX_EPOCH + std::time::Duration::from_secs(name.as_bytes()[0].into());
            file.set_modified(time).unwrap();
        }
        shelf.trim(4, 20, |_| false).unwrap();
        assert_eq!(names(&shelf), ["a", "b", "c", "d"]);
        shelf.trim(3, 20, |name| name == "a").unwrap();
        assert_eq!(names(&shelf), ["a", "c", "d"]);
        shelf.trim(3, 9, |name| name == "a").unwrap();
        assert_eq!(names(&shelf), ["a"]);
        shelf.trim(0, 0, |name| name == "a").unwrap();
        assert_eq!(names(&shelf), [""; 0]);
    }
}
