//! What survives the worker, in memory that the keeper holds.

mod log;
mod output;
pub mod record;
mod saves;

pub use log::{Entry, Log};
pub use output::{Journal, Lent, RING, SCROLLBACK, TURN};
pub use record::Record;
pub use saves::Saved;
