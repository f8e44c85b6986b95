//! One file a command: its arguments, for the wire and the command line alike, and what it does.

mod config;
mod create;
mod cursor;
mod events;
mod hello;
mod info;
mod kill;
mod list;
mod resize;
mod screenshot;
mod send;
mod shutdown;
mod signal;
mod text;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use config::Config;
pub use create::Create;
pub use cursor::Cursor;
pub use events::Events;
pub use hello::Hello;
pub use info::Info;
pub use kill::Kill;
pub use list::List;
pub use resize::Resize;
pub use screenshot::{Encoding, Format, Highlight, Screenshot};
pub use send::Send;
pub use shutdown::Shutdown;
pub use signal::Signal;
pub use text::Text;

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

        /// Runs the command a request names.
        pub fn run(mux: &mut Mux, request: Request, ticket: &Ticket) -> Result<(), Failure> {
            match request.cmd.as_str() {
                $($command::NAME => request.fields::<$command>()?.run(mux, ticket),)*
                other => Err(unknown(other)),
            }
        }
    };
}

commands! {
    Create, List, Kill, Send, Screenshot, Text, Cursor, Resize, Events, Config, Hello, Info, Signal,
    Shutdown,
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

/// A whole number within bounds, for fields that have them.
fn within(what: &str, value: i64, min: u64, max: u64) -> Result<u64, Failure> {
    match u64::try_from(value) {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        _ => Err(Failure::bad_value(format!("{what} must be {min} to {max}, not {value}"))),
    }
}
