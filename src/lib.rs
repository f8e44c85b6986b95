//! t4a: terminals for agents, and for the people beside them.
//!
//! Bytes go one way. The kernel's PTY gives them to the hub ([`server`]), the one task that owns
//! all state; it feeds a grid ([`term`]), which returns notices; [`mux`] turns these into events,
//! replies and answers, which leave as effects; clients read events and ask for what they want to
//! see ([`view`]). What is typed goes the other way: [`wire`] → [`command`] → [`mux`] → PTY.
//!
//! Two processes stand behind a terminal: the [`keeper`] holds the socket, the PTYs and the
//! programs and does next to nothing; the worker ([`server`]) does everything else and may die.
//!
//! A module uses only those above it in this list; `tests/layers.rs` keeps it so.

pub mod term;

pub mod input;

pub mod view;

pub mod cast;

pub mod wire;

pub mod mux;

pub mod command;

pub mod seat;

pub mod os;

pub mod journal;

pub mod keeper;

pub mod server;

pub mod client;

pub mod attach;

pub mod tmux;

#[cfg(feature = "mcp")]
pub mod mcp;

pub mod cli;
