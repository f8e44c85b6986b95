//! Files that are written over a long time.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

/// For the user alone. A file that is there stays as it is; a device may be written to.
pub fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::APPEND;
    let mode = Mode::RUSR | Mode::WUSR;
    match open(path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
        Ok(fd) => return Ok(fd.into()),
        Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let found = std::fs::symlink_metadata(path)?.file_type();
    match found.is_char_device() {
        true => Ok(open(path, flags, Mode::empty())?.into()),
        false if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        false => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

/// A file that was begun, to be gone on with. A last line that was cut short is cut off.
pub fn reopen(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::from(open(path, flags | OFlags::APPEND, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file any more"));
    }
    let whole = whole_lines(&file)?;
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Bytes up to and including the last line end.
fn whole_lines(file: &File) -> io::Result<u64> {
    use std::os::unix::fs::FileExt;
    const STEP: usize = 64 << 10;
    let mut end = file.metadata()?.len();
    let mut buffer = vec![0; STEP];
    while end > 0 {
        let start = end.saturating_sub(STEP as u64);
        let piece = &mut buffer[..(end - start) as usize];
        file.read_exact_at(piece, start)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// To read a file from where it stands.
pub fn lines(file: &File) -> BufReader<&File> {
    BufReader::new(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn what_is_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        create(&path).unwrap().write_all(b"one\ntw").unwrap();
        assert_eq!(create(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(create(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let gone = dir.path().join("no/a");
        assert_eq!(create(&gone).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::os::unix::fs::symlink("b", dir.path().join("link")).unwrap();
        let link = create(&dir.path().join("link")).unwrap_err();
        assert_eq!(link.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_line_that_was_cut_is_not_gone_on_with() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        create(&path).unwrap().write_all(b"one\ntw").unwrap();
        let mut file = reopen(&path).unwrap();
        let mut read = String::new();
        file.read_to_string(&mut read).unwrap();
        assert_eq!(read, "one\n");
        file.write_all(b"three\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nthree\n");
    }
}
