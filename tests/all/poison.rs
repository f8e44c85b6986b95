//! Faults: output that kills workers costs its own terminal something and the others nothing; workers
//! that do not come up are tried again with patience.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::attach::{self, Person};
use crate::kills::kill;
use crate::storm::{Flood, ask};
use crate::support::{Server, alive, eventually};
use crate::survival::{Outage, ask_once, kill_keeper, kill_worker};
use crate::upgrade::{hello, shelf, upgrade, worker_script};

/// A server that a word in a terminal's output harms.
fn server_with(variable: &str) -> Server {
    let server = Server::not_started();
    let started = server.command().env(variable, "POISON").arg("hello").output().unwrap();
    assert!(started.status.success());
    server
}

/// A terminal that prints the word when it is told to, and goes on.
fn poisoned(server: &Server) -> String {
    let script = "printf 'before\\n\\a'; read x; printf '%s%s' POI SON; while read x; do echo \"got $x\"; done";
    server.script(script)
}

fn degraded(server: &Server) -> Vec<Value> {
    let list = ask(server, &json!({"cmd": "list"}));
    let terminals = list["terminals"].as_array().unwrap();
    let degraded = terminals.iter().filter(|terminal| terminal["degraded"] == true);
    degraded.map(|terminal| terminal["id"].clone()).collect()
}

/// Its program is there and can be used.
fn check_use(server: &Server, id: &str, word: &str) {
    server.connect().type_in(id, &format!("{word}\n"));
    server.wait_for_text(id, &format!("got {word}"));
}

#[cfg(debug_assertions)]
#[test]
fn output_that_kills_workers_is_left_out_and_the_others_live_on() {
    let server = server_with("T4A_TEST_ABORT");
    let mut flood = Flood::bursts(&server);
    let bad = poisoned(&server);
    let shell = server.shell("bash");
    server.run(&shell, "marker=kept");
    let before = hello(&server);
    let pid = server.connect().info(&bad)["pid"].as_i64().unwrap();
    // The worker may die before it can answer.
    let _ = ask_once(&server, &json!({"cmd": "send", "id": bad, "input": "\n"}));
    eventually("it is set aside", || degraded(&server) == [json!(bad)]);
    let event = server.events(&bad, before["seq"].as_u64().unwrap()).event("degraded");
    // What was seen before is still there.
    assert_eq!(event["screen"], "older", "{event}");
    assert_eq!(server.connect().screen(&bad)[0], "before");
    assert_eq!(server.connect().info(&bad)["degraded"], true);
    assert!(alive(pid));
    assert_eq!(hello(&server)["keeper_pid"], before["keeper_pid"]);
    check_use(&server, &bad, "one");
    // Nobody dies of it again, and it stays known.
    kill_worker(&server);
    assert_eq!(degraded(&server), [json!(bad)]);
    check_use(&server, &bad, "two");
    assert_eq!(server.connect().run(&shell, "echo $marker")["lines"], json!(["kept"]));
    flood.look(&server);
    let log = std::fs::read_to_string(server.dir().join("t4a/t4a.log")).unwrap();
    // One that read it, and three that were to feed it again.
    assert_eq!(log.matches("the server ended (Signal(6))").count(), 4, "{log}");
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_costs_the_terminal_its_screen_and_nobody_else_anything() {
    let server = server_with("T4A_TEST_PANIC");
    let mut flood = Flood::bursts(&server);
    let bad = poisoned(&server);
    let worker = server.worker_pid();
    let since = server.connect().type_in(&bad, "\n");
    let mut other = server.connect();
    let event = server.events(&bad, since).event("degraded");
    assert_eq!(event["screen"], "empty");
    assert_eq!(server.worker_pid(), worker);
    assert_eq!(degraded(&server), [json!(bad)]);
    check_use(&server, &bad, "one");
    assert!(!server.connect().screen(&bad).iter().any(|row| row.contains("before")));
    other.ok(json!({"cmd": "list"}));
    kill_worker(&server);
    assert_eq!(degraded(&server), [json!(bad)]);
    check_use(&server, &bad, "two");
    assert!(server.connect().screen(&bad).iter().any(|row| row == "got one"));
    let last = hello(&server)["seq"].as_u64().unwrap();
    let mut events = server.connect();
    events.send(&json!({"cmd": "events", "since": 0, "types": ["degraded"]}));
    assert_eq!(events.next()["seq"], event["seq"], "it is told once");
    assert!(event["seq"].as_u64().unwrap() < last);
    flood.look(&server);
}

/// A worker that ended by itself may have died of what it fed, one that was killed has not: the next
/// one is told.
#[test]
fn workers_that_were_killed_are_not_held_against_terminals() {
    let server = Server::start();
    for (signal, counts) in [(Signal::KILL, false), (Signal::ABORT, true), (Signal::KILL, false)] {
        let old = server.worker_pid();
        kill_process(Pid::from_raw(old).unwrap(), signal).unwrap();
        eventually("another one answers", || {
            ask_once(&server, &json!({"cmd": "hello"}))
                .is_ok_and(|hello| hello["worker_pid"] != old)
        });
        let command = std::fs::read(format!("/proc/{}/cmdline", server.worker_pid())).unwrap();
        let words: Vec<_> = command.split(|byte| *byte == 0).collect();
        let told =
            words.windows(2).any(|two| two == [&b"--crashed"[..], old.to_string().as_bytes()]);
        assert_eq!(told, counts, "{signal:?}");
    }
}

fn starts(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

/// Workers that end as soon as they are started: tried again after a growing pause, and when they
/// can start again all is as it was.
#[test]
fn workers_that_do_not_come_up_are_tried_again_with_patience() {
    let shelf = shelf();
    let server = Server::start();
    let id = server.shell("bash");
    server.run(&id, "marker=kept");
    let (broken, count) = (shelf.path().join("broken"), shelf.path().join("starts"));
    let body = format!(
        "echo x >> {}; [ -e {} ] && exit 3; exec {} \"$@\"",
        count.display(),
        broken.display(),
        env!("CARGO_BIN_EXE_t4a")
    );
    upgrade(&server, &worker_script(&shelf, "moody", &body));
    assert_eq!(starts(&count), 1);
    // A program whose workers live for a second has done well, and the former one is let go.
    std::thread::sleep(Duration::from_millis(1100));
    std::fs::write(&broken, "").unwrap();
    let begun = Instant::now();
    let worker = server.worker_pid();
    kill(&json!(worker));
    eventually("it is gone", || !alive(worker.into()));
    let mut waiting = server.connect();
    waiting.send(&json!({"cmd": "hello"}));
    eventually("five were tried", || starts(&count) > 5);
    // 50 + 100 + 200 + 400 ms, however fast the machine is.
    assert!(begun.elapsed() > Duration::from_millis(750), "{:?}", begun.elapsed());
    // Who asks meanwhile gets an error in the end.
    let list = server.cli(&["list"]);
    assert_eq!(list.status.code(), Some(1));
    let error = String::from_utf8_lossy(&list.stderr).into_owned();
    assert!(error.contains("does not answer") && error.contains("t4a/t4a.log"), "{error}");
    assert!(starts(&count) < 12, "{} starts", starts(&count));
    let log = std::fs::read_to_string(server.dir().join("t4a/t4a.log")).unwrap();
    assert!(log.contains("the server ended (Code(3)) and is started again"), "{log}");
    std::fs::remove_file(&broken).unwrap();
    // Who has waited in line is served.
    assert_eq!(waiting.next()["ok"], true);
    assert_eq!(server.connect().run(&id, "echo $marker")["lines"], json!(["kept"]));
}

/// Connecting works without a worker; a person is not left before a screen that stands still.
#[test]
fn a_person_is_told_when_no_worker_comes() {
    let server = attach::server();
    let id = server.shell("bash");
    let person = Person::sits_down(&server, &["attach", &id]);
    person.sees("$");
    let outage = Outage::begin(&server);
    person.has_left("[server gone]");
    drop(outage);
    server.connect().ok(json!({"cmd": "info", "id": id}));
}

fn oom_score(pid: i64) -> i32 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap();
    text.trim().parse().unwrap()
}

/// The keeper may be out of the way of the kernel's killer, if it is allowed to; nobody else is.
#[test]
fn only_the_keeper_is_spared_when_memory_runs_out() {
    let own = oom_score(std::process::id().into());
    let try_it = "echo -900 > /proc/self/oom_score_adj";
    let mut sh = std::process::Command::new("sh");
    let allowed = sh.args(["-c", try_it]).stderr(std::process::Stdio::null()).status().unwrap();
    let kept = if allowed.success() { own.min(-900) } else { own };
    let server = Server::start();
    let check = || {
        let created = server.connect().ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
        assert_eq!(oom_score(created["pid"].as_i64().unwrap()), own);
        assert_eq!(oom_score(server.worker_pid().into()), own);
        assert_eq!(oom_score(server.keeper_pid().into()), kept);
    };
    check();
    kill_worker(&server);
    check();
    kill_keeper(&server);
    check();
    kill_worker(&server);
    check();
}
