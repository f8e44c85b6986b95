//! All tests that go through the real program, in one binary.
#![allow(clippy::disallowed_methods)]

#[path = "all/commands.rs"]
mod commands;
#[path = "all/support.rs"]
mod support;
