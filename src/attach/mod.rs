//! The human client: terminals in panes and windows on a person's own terminal.

mod canvas;
pub mod config;
mod keymap;
mod layout;
mod paint;
#[cfg(test)]
mod tests;
