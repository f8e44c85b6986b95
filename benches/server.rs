//! The server as its clients feel it: round trips, new terminals, text, and output beside a bare
//! PTY reader in the same run.
#![allow(clippy::disallowed_methods)]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Server;
use t4a::os::pty;
use t4a::term::Size;

const TRIES: usize = 2000;
const CREATES: usize = 100;
const FLOOD_MB: usize = 100;
const SIZE: Size = Size { cols: 80, rows: 24 };

/// Median, 99th percentile.
fn measure(times: usize, mut act: impl FnMut()) -> (Duration, Duration) {
    let mut taken: Vec<_> = (0..times)
        .map(|_| {
            let start = Instant::now();
            act();
            start.elapsed()
        })
        .collect();
    taken.sort();
    (taken[times / 2], taken[times * 99 / 100])
}

fn report(what: &str, (median, p99): (Duration, Duration)) {
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    println!("{what:<44}{:>10.0} µs{:>10.0} µs", us(median), us(p99));
}

fn requests(server: &Server) {
    println!("{:<44}{:>13}{:>13}", "requests", "median", "p99");
    let mut client = server.connect();
    let id = client.ask(&json!({"cmd": "create", "cmd_args": ["cat"]}))["id"].clone();
    let cursor = json!({"cmd": "cursor", "id": id});
    report("round trip (cursor)", measure(TRIES, || drop(client.ask(&cursor))));
    let text = json!({"cmd": "text", "id": id});
    report("text, 80x24", measure(TRIES, || drop(client.ask(&text))));
    report("text, a connection each", measure(TRIES, || drop(server.connect().ask(&text))));
    report(
        "t4a cursor, the whole command",
        measure(100, || {
            assert!(server.cli(&["cursor", id.as_str().unwrap_or_default()]));
        }),
    );
    let spawned = measure(100, || {
        let _ = Command::new("true").status();
    });
    report("  beside: true, the whole command", spawned);
    let create = json!({"cmd": "create", "cmd_args": ["cat"]});
    report("create cat", measure(CREATES, || drop(client.ask(&create))));
    // Without anybody's rc files.
    let ready = json!({"cmd": "create", "cmd_args": ["bash"], "ready": true,
        "env": {"HOME": server.dir()}});
    report("create bash, to its first prompt", measure(CREATES, || drop(client.ask(&ready))));
}

fn file(dir: &Path, name: &str, line: impl Fn(usize) -> String) -> PathBuf {
    let path = dir.join(name);
    let mut out = std::io::BufWriter::new(File::create(&path).expect("a file"));
    let (mut written, mut i) = (0, 0);
    while written < FLOOD_MB << 20 {
        let line = line(i);
        written += line.len();
        i += 1;
        out.write_all(line.as_bytes()).expect("room");
    }
    path
}

/// User and system time of a process, in seconds.
fn cpu(pid: u64) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// A reader that only reads: what the kernel alone costs.
fn bare_drain(path: &Path) -> (f64, f64) {
    let me = u64::from(std::process::id());
    let (start, before) = (Instant::now(), cpu(me));
    let pty = pty::open(SIZE).expect("a pty");
    let mut child = Command::new("cat")
        .arg(path)
        .stdin(Stdio::null())
        .stdout(pty.slave.try_clone().expect("a descriptor"))
        .spawn()
        .expect("cat");
    drop(pty.slave);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match pty::read(pty.master.as_fd(), &mut buffer) {
            pty::Read::Closed => break,
            pty::Read::WouldBlock => std::thread::yield_now(),
            pty::Read::Data(_) | pty::Read::Status => {}
        }
    }
    let _ = child.wait();
    (start.elapsed().as_secs_f64(), cpu(me) - before)
}

fn through_server(server: &Server, path: &Path) -> (f64, f64) {
    let mut client = server.connect();
    let worker = client.ask(&json!({"cmd": "hello"}))["worker_pid"].as_u64().unwrap_or(0);
    let (start, before) = (Instant::now(), cpu(worker));
    let created = client.ask(&json!({"cmd": "create", "cmd_args": ["cat", path]}));
    let events = json!({"cmd": "events", "terminal": created["id"], "since": created["seq"],
        "types": ["exit"]});
    client.send(&events);
    client.next();
    (start.elapsed().as_secs_f64(), cpu(worker) - before)
}

fn flood(server: &Server) {
    println!();
    println!("{:<44}{:>13}{:>13}", format!("cat of {FLOOD_MB} MB"), "wall s", "CPU s");
    let words = "the quick brown fox jumps over the lazy dog and runs on";
    let dir = server.dir();
    let ascii = file(dir, "ascii", |i| format!("{i:08} {words}\n"));
    let colour =
        file(dir, "colour", |i| format!("\x1b[3{}m{words}\x1b[0m \x1b[1m{i}\x1b[m\n", i % 8));
    for (name, path) in [("ascii", ascii), ("colour", colour)] {
        for (who, (wall, cpu)) in
            [("bare PTY reader", bare_drain(&path)), ("t4a worker", through_server(server, &path))]
        {
            println!("{:<44}{wall:>13.2}{cpu:>13.2}", format!("{name}, {who}"));
        }
    }
}

fn memory(server: &Server) {
    let mut client = server.connect();
    let hello = client.ask(&json!({"cmd": "hello"}));
    let kb = |pid: &Value| {
        let mut status = String::new();
        let path = format!("/proc/{}/status", pid.as_u64().unwrap_or(0));
        let _ = File::open(path).and_then(|mut file| file.read_to_string(&mut status));
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        line.split_whitespace().nth(1).unwrap_or("?").to_owned()
    };
    let terminals = &hello["terminals"];
    println!(
        "\nmemory with {terminals} terminals: worker {} kB, keeper {} kB",
        kb(&hello["worker_pid"]),
        kb(&hello["keeper_pid"])
    );
}

fn main() {
    let server = Server::start();
    requests(&server);
    flood(&server);
    memory(&server);
}
