//! Starting the server for whoever finds none.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Trouble;
use crate::os::{paths, process};

/// A log that has grown beyond this is begun anew.
const MAX_LOG: u64 = 1 << 20;
/// How much of the log is shown when the server does not start.
const SHOWN: u64 = 2000;

pub fn log_path() -> io::Result<PathBuf> {
    Ok(paths::runtime_dir()?.join("t4a.log"))
}

/// Starts a server in the background and waits until it listens.
///
/// Two at once do no harm: the second server finds the first one's socket and ends.
pub fn server() -> Result<(), Trouble> {
    let mut log = open_log()?;
    let before = log.seek(SeekFrom::End(0))?;
    let mut child = Command::new(process::own_program()?)
        .args(["daemon", "--background"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log.try_clone()?)
        .spawn()
        .map_err(|error| Trouble::Start(error.to_string()))?;
    // It lets go of its standard output once it listens, or when it ends.
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut Vec::new())?;
    }
    // Somebody else's server may have been faster; then connecting works all the same.
    if super::Client::connect()?.is_some() {
        return Ok(());
    }
    let _ = child.wait();
    Err(Trouble::Start(last_words(log, before)))
}

fn open_log() -> Result<File, Trouble> {
    let log =
        OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(log_path()?)?;
    if log.metadata()?.len() > MAX_LOG {
        log.set_len(0)?;
    }
    Ok(log)
}

fn last_words(mut log: File, from: u64) -> String {
    let mut text = String::new();
    let read =
        log.seek(SeekFrom::Start(from)).and_then(|_| log.take(SHOWN).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "it ended without a word".to_owned(),
    }
}
