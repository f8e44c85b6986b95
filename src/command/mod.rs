//! One file a command: its arguments, for the wire and the command line alike, and what it does.

mod action;
mod attach;
mod cells;
mod commands;
mod config;
mod create;
mod cursor;
mod detach;
mod events;
mod hello;
mod info;
mod keys;
mod kill;
mod list;
mod look;
mod mouse;
mod paste;
mod record;
mod record_stop;
mod recordings;
mod resize;
mod restore;
mod run;
mod screenshot;
mod search;
mod send;
mod shutdown;
mod signal;
mod target;
mod text;
mod upgrade;
mod view;
mod wait;
mod workspace;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use attach::Attach;
pub use cells::Cells;
pub use commands::Commands;
pub use config::Config;
pub use create::Create;
pub use cursor::Cursor;
pub use detach::Detach;
pub use events::Events;
pub use hello::Hello;
pub use info::Info;
pub use keys::{KeyEvent, Keys, Kind, Press};
pub use kill::Kill;
pub use list::List;
pub use look::Look;
pub use mouse::{Act, Mouse, Which};
pub use paste::Paste;
pub use record::{Record, RecordPart};
pub use record_stop::RecordStop;
pub use recordings::Recordings;
pub use resize::Resize;
pub use restore::Restore;
pub use run::Run;
pub use screenshot::{Encoding, Format, Highlight, Screenshot};
pub use search::Search;
pub use send::Send;
pub use shutdown::Shutdown;
pub use signal::Signal;
pub use target::Target;
pub use text::{Region as TextRegion, Text};
pub use upgrade::Upgrade;
pub use view::View;
pub use wait::{Condition, Place, Wait};
pub use workspace::Workspace;

use crate::mux::limits::{MAX_COLS, MAX_ROWS};
use crate::mux::{Mux, Ticket};
use crate::term::Size;
use crate::wire::{Code, Failure, Request};

/// A command as it stands on the wire.
pub trait Command: Serialize + DeserializeOwned {
    const NAME: &'static str;

    /// Answers `ticket`, now or later, or says why not.
    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure>;
}

macro_rules! commands {
    ($($command:ident),* $(,)?) => {
        /// Every command's name.
        pub const NAMES: &[&str] = &[$($command::NAME),*];

        fn perform(mux: &mut Mux, request: Request, ticket: &Ticket) -> Result<(), Failure> {
            match request.cmd.as_str() {
                $($command::NAME => request.fields::<$command>()?.run(mux, ticket),)*
                other => Err(unknown(other)),
            }
        }
    };
}

commands! {
    Create, List, Kill, Run, Wait, Look, Send, Keys, Paste, Mouse, Screenshot, Text, Cells, Search, Cursor, Resize,
    Events, Config, Hello, Info, Commands, Signal, Attach, View, Detach, Workspace, Record, RecordStop,
    Recordings, Restore, Upgrade, Shutdown,
}

/// Runs the command a request names.
pub fn run(mux: &mut Mux, request: Request, ticket: &Ticket) -> Result<(), Failure> {
    let written_down = action::begin(mux, &request, ticket);
    let done = perform(mux, request, ticket);
    if let Some(terminal) = written_down {
        mux.end_action(terminal, done.is_ok());
    }
    done
}

fn unknown(name: &str) -> Failure {
    const SHOWN: usize = 40;
    let name: String = name.chars().take(SHOWN).collect();
    let error = format!("no command is called {name:?}; there are {}", NAMES.join(", "));
    Failure::new(Code::UnknownCommand, error)
}

/// A size a terminal can have.
fn size(cols: i64, rows: i64) -> Result<Size, Failure> {
    let fits = |what: &str, value: i64, max: u16| match u16::try_from(value) {
        Ok(value) if (1..=max).contains(&value) => Ok(value),
        _ => Err(Failure::bad_value(format!("{what} must be 1 to {max}, not {value}"))),
    };
    Ok(Size { cols: fits("cols", cols, MAX_COLS)?, rows: fits("rows", rows, MAX_ROWS)? })
}

/// Both or neither of columns and rows.
fn optional_size(
    command: &str,
    cols: Option<i64>,
    rows: Option<i64>,
) -> Result<Option<Size>, Failure> {
    match (cols, rows) {
        (None, None) => Ok(None),
        (Some(cols), Some(rows)) => size(cols, rows).map(Some),
        _ => Err(Failure::bad_value(format!("{command}: cols and rows go together"))),
    }
}

/// A whole number within bounds, for fields that have them.
fn within(what: &str, value: i64, min: u64, max: u64) -> Result<u64, Failure> {
    match u64::try_from(value) {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        _ => Err(Failure::bad_value(format!("{what} must be {min} to {max}, not {value}"))),
    }
}
