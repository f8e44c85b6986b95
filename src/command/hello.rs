//! hello: who the server is and what it can do.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, NAMES};
use crate::mux::{Mux, Ticket};
use crate::wire::{EventKind, Failure};

/// The version of the wire format; grows when a client has to know.
pub const PROTOCOL: u32 = 1;

/// Show the server's version, abilities and limits.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {}

#[derive(Serialize)]
struct Greeting<'a> {
    server: &'static str,
    version: &'static str,
    protocol: u32,
    socket: &'a str,
    program: &'a str,
    worker_pid: u32,
    keeper_pid: u32,
    keeper_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    upgrade_error: Option<&'a str>,
    terminals: usize,
    clients: usize,
    seq: u64,
    idle_timeout_ms: u64,
    commands: &'static [&'static str],
    events: &'static [EventKind],
    used: Named,
    limits: Named,
}

/// An object of numbers, in the order in which they are listed.
struct Named(Vec<(&'static str, u64)>);

impl Serialize for Named {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl Command for Hello {
    const NAME: &'static str = "hello";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let line = ticket.line(Greeting {
            server: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            protocol: PROTOCOL,
            socket: &mux.host.socket,
            program: &mux.host.program,
            worker_pid: mux.host.worker_pid,
            keeper_pid: mux.host.keeper_pid,
            keeper_version: &mux.host.keeper_version,
            upgrade_error: mux.host.upgrade_error.as_deref(),
            terminals: mux.terminals().count(),
            clients: mux.clients(),
            seq: mux.seq(),
            idle_timeout_ms: mux.idle_timeout_ms(None),
            commands: NAMES,
            events: EventKind::ALL,
            used: Named(mux.used().collect()),
            limits: Named(mux.limits().collect()),
        });
        mux.reply(ticket, line);
        Ok(())
    }
}
