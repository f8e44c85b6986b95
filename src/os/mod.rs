//! System calls: the only place that knows rustix.

pub mod channel;
pub mod date;
pub mod files;
pub mod inspect;
pub mod limits;
pub mod mapping;
pub mod memory;
pub mod paths;
pub mod pidfd;
pub mod poll;
pub mod process;
pub mod program;
pub mod pty;
pub mod ready;
pub mod shelf;
pub mod signal;
pub mod socket;
pub mod tty;

use std::io;

/// The same error with a sentence around it, so that the person who reads it knows what failed.
fn explain(error: impl Into<io::Error>, what: &str) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
