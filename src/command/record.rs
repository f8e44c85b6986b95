//! record: write down what a terminal shows, or what is asked of it.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::cast::Format;
use crate::mux::limits::MAX_PATH;
use crate::mux::{Mux, RecordWish, Ticket};
use crate::wire::Failure;

/// Record a terminal as an asciicast, or what is asked of it as a script.
///
/// With -o the server writes the file, and goes on when this command is done: record-stop ends it.
/// Without, the recording is printed until it ends or you interrupt it.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The terminal's id or name
    pub id: String,
    /// Write it to this file, which is not there yet; its ending tells the format
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is written [default: v2]
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Record what is typed, too; secrets and what a program reads without an echo are left out
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub input: bool,
}

/// The same as a part of `create`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordPart {
    pub path: String,
    #[serde(default)]
    pub format: Format,
    #[serde(default, skip_serializing_if = "is_false")]
    pub input: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl RecordPart {
    pub fn wish(self) -> Result<RecordWish, Failure> {
        check(&self.path)?;
        Ok(RecordWish { format: self.format, input: self.input, path: Some(self.path) })
    }
}

/// The server's own directory says nothing to a client.
fn check(path: &str) -> Result<(), Failure> {
    if !path.starts_with('/') || path.contains('\0') || path.len() > MAX_PATH {
        let error = format!(
            "record: path must be absolute and have at most {MAX_PATH} bytes, not {path:?}"
        );
        return Err(Failure::bad_value(error));
    }
    Ok(())
}

impl Command for Record {
    const NAME: &'static str = "record";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = mux.find(&self.id)?;
        self.path.as_deref().map(check).transpose()?;
        let format = self.format.unwrap_or_default();
        mux.record(terminal, RecordWish { format, input: self.input, path: self.path }, ticket)
    }
}
