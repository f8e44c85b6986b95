//! A command and its end: `run true` beside the shell alone, and beside tmux as harnesses drive it,
//! by typing and looking at the screen every 100 ms.
#![allow(clippy::disallowed_methods)]

mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use support::Server;

const TRIES: usize = 300;
const TMUX_TRIES: usize = 30;
const POLL: Duration = Duration::from_millis(100);

fn report(what: &str, times: usize, mut act: impl FnMut()) {
    let mut taken: Vec<_> = (0..times)
        .map(|_| {
            let start = Instant::now();
            act();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    taken.sort_by(f64::total_cmp);
    println!("{what:<48}{:>9.2} ms{:>9.2} ms", taken[times / 2], taken[times * 99 / 100]);
}

fn ours(server: &Server) {
    let mut client = server.connect();
    std::fs::write(server.dir().join(".zshrc"), "").expect("a file");
    for shell in ["bash", "zsh", "fish"] {
        let create = json!({"cmd": "create", "cmd_args": [shell], "ready": true,
            "env": {"HOME": server.dir()}});
        let id = client.ask(&create)["id"].clone();
        for command in ["true", "/bin/true"] {
            let run = json!({"cmd": "run", "id": id, "command": command});
            report(&format!("run {command} in {shell}"), TRIES, || {
                assert_eq!(client.ask(&run)["code"], 0);
            });
        }
        let id = id.as_str().unwrap_or_default().to_owned();
        report(&format!("  t4a run {shell} -- true, the whole command"), 50, || {
            assert!(server.cli(&["run", &id, "--", "true"]));
        });
    }
}

fn tmux(server: &Server, args: &[&str]) -> String {
    let mut command = Command::new("tmux");
    command.arg("-S").arg(server.dir().join("tmux.sock")).env("HOME", server.dir());
    let output = command.args(args).output().expect("tmux");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// As harnesses do it: a mark that the shell prints after the command, looked for again and again.
fn by_polling(server: &Server) {
    tmux(server, &["new-session", "-d", "-s", "s", "-x", "80", "-y", "24", "bash --norc"]);
    while tmux(server, &["capture-pane", "-p", "-t", "s"]).trim().is_empty() {
        std::thread::sleep(POLL);
    }
    let mut number = 0;
    let mut run = |first: Duration| {
        number += 1;
        let line = format!("true; echo \"end\"-{number}-$?");
        tmux(server, &["send-keys", "-t", "s", &line, "Enter"]);
        let mark = format!("end-{number}-0");
        std::thread::sleep(first);
        while !tmux(server, &["capture-pane", "-p", "-t", "s"]).contains(&mark) {
            std::thread::sleep(POLL);
        }
    };
    report("tmux, looked at every 100 ms", TMUX_TRIES, || run(POLL));
    // What no harness does, as it costs two processes each: at once.
    report("tmux, looked at at once, then every 100 ms", TMUX_TRIES, || run(Duration::ZERO));
    tmux(server, &["kill-server"]);
}

fn main() {
    println!("{:<48}{:>12}{:>12}", "a command, to its end", "median", "p99");
    report("bash -c true, a process each", TRIES, || {
        assert!(Command::new("bash").args(["-c", "true"]).status().is_ok_and(|s| s.success()));
    });
    let server = Server::start();
    ours(&server);
    if Command::new("tmux").arg("-V").output().is_ok() {
        by_polling(&server);
    }
}
