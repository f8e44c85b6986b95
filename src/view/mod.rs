//! Ways to see a terminal.

pub mod text;
