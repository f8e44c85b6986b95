//! Request lines of a client, against a server with terminals.

use std::time::{Duration, Instant};

use t4a::command;
use t4a::mux::{ClientId, Effect, Host, Incoming, Mux, ServerRecord, TerminalId};

pub const PIECES: &[&[u8]] = &[
    b"\n",
    b"{\"cmd\":\"",
    b"create",
    b"list",
    b"text",
    b"send",
    b"events",
    b"resize",
    b"kill",
    b"signal",
    b"info",
    b"\",\"terminal\":\"t1\"",
    b",\"id\":1",
    b"}",
    b",\"text\":\"ls\\n\"",
    b",\"cols\":80",
    b",\"rows\":-1",
    b",\"since\":0",
    b",\"lines\":5",
    b"\"",
    b",\"keys\":[\"ctrl-c\"]",
    b"hello\"}",
    b"[]",
    b"null",
    b"\\ud800",
];

pub fn run(data: &[u8]) {
    let host = Host {
        socket: "/run/t4a.sock".into(),
        shell: "/bin/bash".into(),
        home: "/".into(),
        env: Vec::new(),
        integration_dir: Some("/run".into()),
        worker_pid: 2,
        keeper_pid: 1,
        since: Instant::now(),
        since_ms: 1_700_000_000_000,
    };
    let mut now = Instant::now();
    let mut mux = Mux::new(host, ServerRecord::first(None, None), now);
    let me = ClientId(1);
    mux.on(Incoming::Connected(me), now);
    let create = br#"{"cmd":"create","cmd_args":["cat"],"name":"a"}"#;
    for line in std::iter::once(&create[..]).chain(data.split(|byte| *byte == b'\n')) {
        mux.request(me, line, now, command::run);
        while let Some(effect) = mux.next_effect() {
            perform(&mut mux, effect, now);
        }
        now += Duration::from_millis(100);
        mux.on(Incoming::Drained(me), now);
        mux.on(Incoming::Tick, now);
    }
}

/// A system in which everything works at once.
fn perform(mux: &mut Mux, effect: Effect, now: Instant) {
    match effect {
        Effect::Spawn(plan) => {
            let id: TerminalId = plan.id;
            mux.on(Incoming::Forked { id, pid: id.0 }, now);
            mux.on(Incoming::Started { id, result: Ok(()) }, now);
            mux.on(Incoming::Output { id, bytes: b"$ hello\r\n" }, now);
        }
        Effect::Reply { bytes, .. } | Effect::Stream { bytes, .. } => {
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                serde_json::from_slice::<serde_json::Value>(line).expect("our lines are JSON");
            }
        }
        Effect::Probe { id, asker } => {
            mux.on(Incoming::Probed { id, asker, facts: Default::default() }, now);
        }
        Effect::Search { ticket, hunt } => {
            mux.on(Incoming::Searched { ticket, result: Ok(hunt.run()) }, now);
        }
        _ => {}
    }
}
