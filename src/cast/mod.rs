//! Recordings: what a terminal showed as an asciicast, what was done to it as a script.

mod film;
mod joiner;
mod pace;
mod quote;
mod read;
mod script;
mod write;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use film::{Film, FilmFormat, MAX_FILM_BYTES, MAX_FRAMES};
pub use pace::Pace;
pub use read::{Bad, Cast, Event, MAX_CAST_BYTES, MAX_CAST_LINE, What};
pub use script::{Origin, Script};
pub use write::{Head, Writer};

/// What a recording is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Asciicast, version 2
    #[default]
    V2,
    /// Asciicast, version 3
    V3,
    /// The requests that were made, one JSON object a line
    Json,
    /// The same as a program
    Python,
    /// The same as a shell script
    Cli,
}

impl Format {
    /// Requests are written down, not what the terminal shows.
    pub fn is_script(self) -> bool {
        matches!(self, Format::Json | Format::Python | Format::Cli)
    }

    /// What an earlier worker has written of a recording.
    pub fn written(self, bytes: impl std::io::BufRead) -> std::io::Result<Written> {
        let mut written = Written::default();
        for line in bytes.split(b'\n') {
            let line = line?;
            written.add(self, &line);
        }
        Ok(written)
    }
}

/// How far a recording has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    pub events: u64,
    /// When its last event was.
    pub last: Duration,
}

impl Written {
    fn add(&mut self, format: Format, line: &[u8]) {
        let counts: &[u8] = match format {
            Format::V2 | Format::V3 => b"[",
            Format::Json => b"{",
            Format::Python => script::PYTHON_CALL.as_bytes(),
            Format::Cli => script::CLI_CALLS[0].as_bytes(),
        };
        let also = format == Format::Cli && line.starts_with(script::CLI_CALLS[1].as_bytes());
        self.events += u64::from(line.starts_with(counts) || also);
        let number = line.get(1..).and_then(|rest| rest.split(|byte| *byte == b',').next());
        let number = number.filter(|_| line.starts_with(b"[")).and_then(|n| str::from_utf8(n).ok());
        let time = number.and_then(|number| number.trim().parse().ok());
        let time = time.and_then(|time| Duration::try_from_secs_f64(time).ok());
        match (format, time) {
            (Format::V2, Some(time)) => self.last = time,
            (Format::V3, Some(time)) => self.last += time,
            _ => {}
        }
    }
}
