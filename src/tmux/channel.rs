//! wait-for: who waits listens on a socket of its own; who signals connects to all of them.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use super::place::{Place, file_name};
use crate::mux::limits::MAX_TMUX_SIGNALS;
use crate::os::paths;

/// Someone who waits; dropping it ends that.
pub struct Waiter {
    listener: UnixListener,
    path: PathBuf,
}

impl Waiter {
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Blocks until there is a signal.
    pub fn wait(&self) -> io::Result<()> {
        self.listener.accept().map(|_| ())
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Waits for the next signal, unless one came before that nobody waited for.
pub fn join(place: &Place, channel: &str) -> io::Result<Option<Waiter>> {
    let channel = file_name(channel)?;
    if place.remove(&format!("signal-{channel}")) {
        return Ok(None);
    }
    let path = place.path(&format!("wait-{}-{channel}", std::process::id()));
    paths::check_length(&path)?;
    let _ = std::fs::remove_file(&path);
    Ok(Some(Waiter { listener: UnixListener::bind(&path)?, path }))
}

/// Wakes all who wait; how many.
pub fn wake(place: &Place, channel: &str) -> io::Result<usize> {
    let ending = format!("-{}", file_name(channel)?);
    let mut woken = 0;
    for (path, name) in place.files("wait-")? {
        let rest = name.strip_prefix("wait-").unwrap_or_default();
        let is_its = rest.trim_start_matches(|c: char| c.is_ascii_digit()) == ending;
        if is_its {
            // Nobody listens any more where a waiter was killed.
            woken += usize::from(UnixStream::connect(&path).is_ok());
            let _ = std::fs::remove_file(&path);
        }
    }
    Ok(woken)
}

/// Wakes all who wait, or else the next one who comes.
pub fn signal(place: &Place, channel: &str) -> io::Result<()> {
    if wake(place, channel)? > 0 {
        return Ok(());
    }
    if place.files("signal-")?.len() >= MAX_TMUX_SIGNALS {
        return Err(io::Error::other(format!("{MAX_TMUX_SIGNALS} channels have signals already")));
    }
    place.write(&format!("signal-{}", file_name(channel)?), b"")
}
