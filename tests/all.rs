//! All tests that go through the real program, in one binary.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

#[path = "all/attach.rs"]
mod attach;
#[path = "all/bad_input.rs"]
mod bad_input;
#[path = "all/bindings.rs"]
mod bindings;
#[path = "all/cli.rs"]
mod cli;
#[path = "all/clients.rs"]
mod clients;
#[path = "all/commands.rs"]
mod commands;
#[path = "all/docs.rs"]
mod docs;
#[path = "all/events.rs"]
mod events;
#[path = "all/faults.rs"]
mod faults;
#[path = "all/fuzz.rs"]
mod fuzz;
#[path = "../fuzz/targets/mod.rs"]
mod fuzz_targets;
#[path = "all/journal.rs"]
mod journal;
#[path = "all/kills.rs"]
mod kills;
#[path = "all/lend.rs"]
mod lend;
#[path = "all/limits.rs"]
mod limits;
#[path = "all/load.rs"]
mod load;
#[path = "all/look.rs"]
mod look;
#[cfg(feature = "mcp")]
#[path = "all/mcp.rs"]
mod mcp;
#[path = "all/persist.rs"]
mod persist;
#[path = "all/pictures.rs"]
mod pictures;
#[path = "all/playing.rs"]
mod playing;
#[path = "all/poison.rs"]
mod poison;
#[path = "all/programs.rs"]
mod programs;
#[path = "all/reading.rs"]
mod reading;
#[path = "all/recording.rs"]
mod recording;
#[path = "all/run.rs"]
mod run;
#[path = "all/scrollback.rs"]
mod scrollback;
#[path = "all/seed.rs"]
mod seed;
#[path = "all/shells.rs"]
mod shells;
#[path = "all/soak.rs"]
mod soak;
#[path = "all/storm.rs"]
mod storm;
#[path = "all/support.rs"]
mod support;
#[path = "all/survival.rs"]
mod survival;
#[path = "all/threats.rs"]
mod threats;
#[path = "all/tmux.rs"]
mod tmux;
#[path = "all/typing.rs"]
mod typing;
#[path = "all/upgrade.rs"]
mod upgrade;
#[path = "all/views.rs"]
mod views;
#[path = "all/wait.rs"]
mod wait;
