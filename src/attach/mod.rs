//! The human client: terminals in panes and windows on a person's own terminal.

mod act;
mod ahead;
mod app;
mod canvas;
pub mod config;
mod draw;
mod git;
mod hear;
mod keymap;
mod layout;
mod overlay;
mod paint;
mod pane;
mod panes;
mod play;
mod pointer;
mod restore;
mod run;
mod screen;
mod scroll;
#[cfg(test)]
mod tests;
mod tty;
mod typing;
mod window;

pub use app::Start;
pub use play::play;
pub use restore::restored_layout;
pub use run::{own_name, read_config, run};
pub use tty::Tty;
