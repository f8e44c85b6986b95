//! What survives the worker, in memory that the keeper holds.

pub mod record;

pub use record::Record;
