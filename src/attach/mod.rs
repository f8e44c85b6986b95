//! The human client: a person's own terminal for their seat, here or in the worker.

mod git;
mod lend;
mod play;
mod run;
mod tty;

pub use play::play;
pub use run::{own_name, read_config, run};
pub use tty::Tty;

use std::time::Instant;

#[allow(clippy::disallowed_methods, reason = "the client's own clock")]
fn now() -> Instant {
    Instant::now()
}
