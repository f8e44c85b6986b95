//! Ways to see a terminal.

pub mod export;
pub mod grep;
pub mod image;
pub mod look;
pub mod search;
pub mod sheet;
pub mod shot;
pub mod text;
pub mod theme;
pub mod tokens;
