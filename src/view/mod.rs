//! Ways to see a terminal.

pub mod image;
pub mod look;
pub mod search;
pub mod sheet;
pub mod text;
pub mod theme;
