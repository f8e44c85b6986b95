//! Whole behaviour, by function.

mod bounds;
mod differential;
mod edit;
mod history;
mod margins;
mod memory;
mod motion;
mod osc;
mod props;
mod rect;
mod redraw;
mod reflow;
mod reflow_props;
mod reply;
mod save;
mod screens;
mod sgr;
mod shell;
mod strings;
mod sync;
mod transcript;
mod unicode;
mod vectors;
mod wrap;
