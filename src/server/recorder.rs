//! Files of recordings. Each wanders to a thread that writes to it and back, so that the hub
//! never waits for a disk.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{News, ToHub, elsewhere};
use crate::cast::Written;
use crate::mux::{Opening, RecordingId};
use crate::os::files;

#[derive(Default)]
pub struct Recorders {
    files: HashMap<RecordingId, Place>,
}

struct Place {
    path: PathBuf,
    /// None while it is written to.
    file: Option<File>,
    /// It is to be closed, and perhaps removed, when it comes back.
    closing: Option<bool>,
}

/// What comes back from a thread.
pub struct Recorded {
    pub id: RecordingId,
    file: Option<File>,
    pub done: Done,
}

pub enum Done {
    Opened(Result<Written, String>),
    Wrote(Result<(), String>),
}

impl Recorded {
    pub fn take_file(&mut self) -> Option<File> {
        self.file.take()
    }
}

impl Recorders {
    pub fn open(&mut self, id: RecordingId, path: String, opening: Opening, hub: &ToHub) {
        let path = PathBuf::from(path);
        self.files.insert(id, Place { path: path.clone(), file: None, closing: None });
        let work = move || match opened(&path, opening) {
            Ok((file, written)) => (Some(file), Ok(written)),
            Err(error) => (None, Err(said(&path, &error))),
        };
        begin(id, hub, work, Done::Opened);
    }

    pub fn write(&mut self, id: RecordingId, bytes: Vec<u8>, hub: &ToHub) {
        let Some(place) = self.files.get_mut(&id) else { return };
        let Some(mut file) = place.file.take() else { return };
        let path = place.path.clone();
        let work = move || {
            let wrote = file.write_all(&bytes).map_err(|error| said(&path, &error));
            (Some(file), wrote)
        };
        begin(id, hub, work, Done::Wrote);
    }

    /// A file has come back.
    pub fn back(&mut self, id: RecordingId, file: Option<File>) {
        let Some(place) = self.files.get_mut(&id) else { return };
        place.file = file;
        match place.closing {
            Some(remove) => self.close(id, remove),
            None if place.file.is_none() => {
                self.files.remove(&id);
            }
            None => {}
        }
    }

    pub fn close(&mut self, id: RecordingId, remove: bool) {
        let Some(place) = self.files.get_mut(&id) else { return };
        if place.file.is_none() {
            place.closing = Some(remove);
            return;
        }
        let Some(place) = self.files.remove(&id) else { return };
        // Closing may take a while, too.
        tokio::spawn(elsewhere::run(move || {
            drop(place.file);
            if remove {
                let _ = std::fs::remove_file(&place.path);
            }
        }));
    }
}

/// Has something done on another thread; the hub hears of it.
fn begin<T: Send + 'static>(
    id: RecordingId,
    hub: &ToHub,
    work: impl FnOnce() -> (Option<File>, Result<T, String>) + Send + 'static,
    done: fn(Result<T, String>) -> Done,
) {
    let hub = hub.clone();
    tokio::spawn(async move {
        let failed = || (None, Err("it could not be done".to_owned()));
        let (file, result) = elsewhere::run(work).await.unwrap_or_else(failed);
        let _ = hub.send(News::Recorded(Recorded { id, file, done: done(result) })).await;
    });
}

fn opened(path: &Path, opening: Opening) -> io::Result<(File, Written)> {
    match opening {
        Opening::New(head) => {
            let mut file = files::create(path)?;
            match file.write_all(&head) {
                Ok(()) => Ok((file, Written::default())),
                Err(error) => {
                    if file.metadata().is_ok_and(|known| known.is_file()) {
                        let _ = std::fs::remove_file(path);
                    }
                    Err(error)
                }
            }
        }
        Opening::Again(format) => {
            let file = files::reopen(path)?;
            let written = format.written(files::lines(&file))?;
            Ok((file, written))
        }
    }
}

/// What is wrong, and what to do about it.
fn said(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("the directory of {path} is not there: make it first"),
        io::ErrorKind::AlreadyExists => {
            format!("{path} is there already: choose another name, or move it away")
        }
        io::ErrorKind::IsADirectory => format!("{path} is a directory: name a file in it"),
        io::ErrorKind::PermissionDenied => {
            format!("{path} may not be written: choose a directory of your own")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("no room is left for {path}: free some, or record elsewhere")
        }
        _ => format!("{path} cannot be written: {error}"),
    }
}
