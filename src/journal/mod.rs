//! What survives the worker, in memory that the keeper holds.

mod log;
mod output;
pub mod record;
mod saves;

/// To be raised with every change of where things lie in the files, and of what they mean.
pub const VERSION: u32 = 1;

#[doc(hidden)]
pub use log::PLACES as LOG_PLACES;
pub use log::{Entry, Log};
#[doc(hidden)]
pub use output::PLACES as JOURNAL_PLACES;
pub use output::{Journal, Lent, RING, SCROLLBACK, TURN, mark_unstarted};
pub use record::Record;
pub use saves::Saved;
