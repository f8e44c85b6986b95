//! Whole behaviour, by function.

mod edit;
mod history;
mod margins;
mod memory;
mod motion;
mod osc;
mod props;
mod rect;
mod reflow;
mod reply;
mod save;
mod screens;
mod sgr;
mod shell;
mod strings;
mod sync;
mod unicode;
mod wrap;
