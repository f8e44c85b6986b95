//! What tmux's server would remember: a directory beside the socket, emptied for each new server.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::mux::limits::{MAX_TMUX_BUFFER, MAX_TMUX_BUFFERS};
use crate::os::paths;

/// Bytes of a name in the directory: file systems allow 255.
const MAX_NAME: usize = 80;

const BUFFER: &str = "buffer-";

pub struct Place {
    dir: PathBuf,
    /// Held for as long as this lives: what is read and then written stays true in between.
    _lock: File,
}

impl Place {
    /// Waits until nobody else has it. `server` tells one server from the one after it.
    pub fn open(socket: &str, server: &str) -> io::Result<Place> {
        let dir = PathBuf::from(format!("{socket}.tmux"));
        paths::make_private(&dir)?;
        let lock =
            OpenOptions::new().create(true).append(true).mode(0o600).open(dir.join("lock"))?;
        lock.lock()?;
        let place = Place { dir, _lock: lock };
        if place.read("server")?.as_deref() != Some(server.as_bytes()) {
            for (path, _) in place.files("")?.iter().filter(|(_, name)| name != "lock") {
                fs::remove_file(path)?;
            }
            place.write("server", server.as_bytes())?;
        }
        Ok(place)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match File::open(self.path(name)) {
            Ok(file) => read_bounded(file, name).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file =
            options.create(true).write(true).truncate(true).mode(0o600).open(self.path(name))?;
        file.write_all(bytes)
    }

    /// Whether it was there.
    pub fn remove(&self, name: &str) -> bool {
        fs::remove_file(self.path(name)).is_ok()
    }

    /// The files whose names begin so.
    pub fn files(&self, prefix: &str) -> io::Result<Vec<(PathBuf, String)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(prefix) {
                found.push((entry.path(), name));
            }
        }
        Ok(found)
    }

    /// Keeps a buffer; without a name it gets the next one, as `buffer0`.
    pub fn set_buffer(&self, name: Option<&str>, bytes: &[u8]) -> io::Result<()> {
        let kept = self.files(BUFFER)?;
        let name = match name {
            Some(name) => buffer_file(name)?,
            None => (0..)
                .map(|number| format!("{BUFFER}buffer{number}"))
                .find(|name| kept.iter().all(|(_, kept)| kept != name))
                .unwrap_or_default(),
        };
        if kept.len() >= MAX_TMUX_BUFFERS && kept.iter().all(|(_, kept)| *kept != name) {
            let oldest = kept.iter().min_by_key(|(path, _)| changed(path));
            if let Some((path, _)) = oldest {
                fs::remove_file(path)?;
            }
        }
        self.write(&name, bytes)
    }

    /// A buffer's file: the named one, or the newest.
    pub fn buffer(&self, name: Option<&str>) -> io::Result<Option<String>> {
        let kept = self.files(BUFFER)?;
        match name {
            Some(name) => {
                let name = buffer_file(name)?;
                Ok(kept.into_iter().map(|(_, kept)| kept).find(|kept| *kept == name))
            }
            None => {
                let newest = kept.into_iter().max_by_key(|(path, _)| changed(path));
                Ok(newest.map(|(_, name)| name))
            }
        }
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

fn buffer_file(name: &str) -> io::Result<String> {
    file_name(name).map(|name| format!("{BUFFER}{name}"))
}

/// Any name as one that a file can have.
pub fn file_name(name: &str) -> io::Result<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let letter = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02x}"),
    };
    let encoded: String = name.bytes().map(letter).collect();
    if encoded.is_empty() || encoded.len() > MAX_NAME {
        let error = format!("a name has 1 to {MAX_NAME} letters, not {name:?}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    }
    Ok(encoded)
}

/// All of it, if that is not too much.
pub fn read_bounded(from: impl Read, what: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_TMUX_BUFFER + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 <= MAX_TMUX_BUFFER {
        true => Ok(bytes),
        false => {
            let error = format!("{what} has more than {MAX_TMUX_BUFFER} bytes");
            Err(io::Error::new(io::ErrorKind::InvalidData, error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(dir: &Path, server: &str) -> Place {
        Place::open(dir.join("sock").to_str().unwrap(), server).unwrap()
    }

    #[test]
    fn a_new_server_finds_nothing_of_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        place(dir.path(), "1").set_buffer(Some("a/b"), b"x").unwrap();
        let same = place(dir.path(), "1");
        let file = same.buffer(Some("a/b")).unwrap().unwrap();
        assert_eq!(same.read(&file).unwrap().unwrap(), b"x");
        drop(same);
        assert_eq!(place(dir.path(), "2").buffer(Some("a/b")).unwrap(), None);
    }

    #[test]
    fn buffers_are_bounded_and_the_newest_is_the_usual_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), "1");
        for number in 0..MAX_TMUX_BUFFERS + 5 {
            place.set_buffer(None, number.to_string().as_bytes()).unwrap();
        }
        assert_eq!(place.files(BUFFER).unwrap().len(), MAX_TMUX_BUFFERS);
        assert!(place.buffer(None).unwrap().is_some());
    }
}
