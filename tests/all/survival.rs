//! kill -9 of the worker: the keeper starts another, and the terminals do not notice.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Client, Server, alive, eventually};

fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Kills the worker and waits until another one answers.
pub fn kill_worker(server: &Server) {
    let old = server.worker_pid();
    signal(old, Signal::KILL);
    eventually("the worker is gone", || !alive(old.into()));
    eventually("another one answers", || match ask_once(server, &json!({"cmd": "hello"})) {
        Ok(hello) => hello["worker_pid"] != old,
        Err(_) => false,
    });
}

/// One request on a connection of its own, which a dying worker may cut.
pub fn ask_once(server: &Server, request: &Value) -> io::Result<Value> {
    ask_at(&server.socket(), request)
}

pub fn ask_at(socket: &Path, request: &Value) -> io::Result<Value> {
    use io::{BufRead, Write};
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(crate::support::PATIENCE))?;
    stream.write_all(format!("{request}\n").as_bytes())?;
    let mut line = String::new();
    io::BufReader::new(stream).read_line(&mut line)?;
    serde_json::from_str(&line).map_err(io::Error::from)
}

/// No worker and none started: the keeper stands still until this is dropped.
pub struct Outage {
    keeper: i32,
}

impl Outage {
    pub fn begin(server: &Server) -> Outage {
        let (keeper, worker) = (server.keeper_pid(), server.worker_pid());
        signal(keeper, Signal::STOP);
        signal(worker, Signal::KILL);
        eventually("the worker is gone", || !alive(worker.into()));
        Outage { keeper }
    }
}

impl Drop for Outage {
    fn drop(&mut self) {
        signal(self.keeper, Signal::CONT);
    }
}

/// All that a list says but what is read off the screen.
fn listed(client: &mut Client) -> Vec<Value> {
    let list = client.ok(json!({"cmd": "list"}));
    let mut terminals = list["terminals"].as_array().unwrap().clone();
    for terminal in &mut terminals {
        let fields = terminal.as_object_mut().unwrap();
        fields.remove("title");
        fields.remove("command");
        fields.remove("cwd");
    }
    terminals
}

fn output(server: &Server, id: &str, done: &Value) -> Vec<String> {
    let lines = done["output_lines"].as_array().unwrap();
    let count = lines[1].as_u64().unwrap() - lines[0].as_u64().unwrap();
    let request = json!({"cmd": "text", "id": id, "first_line": lines[0], "count": count});
    let answer = server.connect().ok(request);
    let lines = answer["lines"].as_array().unwrap();
    lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

/// Runs a command at a prompt and waits for the next one.
fn run(server: &Server, id: &str, command: &str) -> Value {
    let since = server.connect().type_in(id, &format!("{command}\n"));
    let mut events = server.events(id, since);
    let done = events.event("command_done");
    events.event("prompt");
    done
}

#[test]
fn terminals_outlive_the_worker() {
    let server = Server::start();
    std::fs::write(server.home().join(".zshrc"), "").unwrap();
    let mut client = server.connect();
    let keeper = server.keeper_pid();
    let mut shells = Vec::new();
    for (number, program) in ["bash", "zsh", "fish"].into_iter().enumerate() {
        let created = client.ok(json!({"cmd": "create", "cmd_args": [program], "ready": true,
            "name": format!("my-{program}"), "labels": {"kind": program}, "cols": 90 + number}));
        shells.push(created["id"].as_str().unwrap().to_owned());
        let set = if program == "fish" { "set marker kept" } else { "marker=kept" };
        run(&server, created["id"].as_str().unwrap(), set);
    }
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "name": "kitten"}));
    client.ok(json!({"cmd": "resize", "id": "kitten", "cols": 33, "rows": 11}));
    let before = listed(&mut client);

    kill_worker(&server);
    let mut client = server.connect();
    assert_eq!(listed(&mut client), before);
    assert_eq!(server.keeper_pid(), keeper);
    for id in &shells {
        let done = run(&server, id, "echo $marker");
        assert_eq!(output(&server, id, &done), ["kept"], "{done}");
        assert_eq!((&done["code"], &done["trusted"]), (&json!(0), &json!(true)));
        assert_eq!(done["command"], "echo $marker");
    }
    client.type_in("kitten", "meow\n");
    server.wait_for_text("kitten", "meow");
    let next = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    assert_eq!(next["id"], "t5");
    client.refused(json!({"cmd": "create", "name": "kitten"}), "name_taken");
    client.ok(json!({"cmd": "kill", "id": "kitten"}));
}

/// All that can be seen of a terminal, and does not change by itself.
fn seen(client: &mut Client, id: &str) -> [Value; 3] {
    let text = client.ok(json!({"cmd": "text", "id": id, "first_line": 0, "count": 5000}));
    let cells = client.ok(json!({"cmd": "cells", "id": id}));
    let mut info = client.ok(json!({"cmd": "info", "id": id}));
    let fields = info.as_object_mut().unwrap();
    for changing in ["idle_ms", "stamp", "foreground", "waits_for_input", "attached"] {
        fields.remove(changing);
    }
    let mut cells = cells;
    cells.as_object_mut().unwrap().remove("stamp");
    [text["lines"].clone(), cells["rows"].clone(), info]
}

/// The events up to a number, as they are told now.
fn told(server: &Server, last: u64) -> Vec<Value> {
    let mut client = server.connect();
    client.send(&json!({"cmd": "events", "since": 0}));
    (0..last).map(|_| client.next()).collect()
}

#[test]
fn a_terminal_is_as_it_was_when_its_worker_is_killed() {
    let server = Server::start();
    // A question, whose answer is echoed, and a sequence that is cut.
    let script = "seq 1 3000; printf '\\033]2;my title\\007\\033]7;file:///tmp\\007'; \
        printf '\\033[?2004h\\033[?1h\\033[31;1mred\\033[0m \\033]8;;http://a.b\\007link\\033]8;;\\007'; \
        printf '\\033[6n'; sleep 0.2; printf '\\007\\033[3'; cat";
    let id = server.script_with(script, json!({"cols": 60, "rows": 12}));
    let mut client = server.connect();
    eventually("the cut sequence is read", || {
        client.ok(json!({"cmd": "info", "id": id}))["queued_input_bytes"] == 0
    });
    client.ok(json!({"cmd": "resize", "id": id, "cols": 50, "rows": 15}));
    let before = seen(&mut client, &id);
    let last = client.ok(json!({"cmd": "hello"}))["seq"].as_u64().unwrap();
    let events = told(&server, last);
    for _ in 0..3 {
        kill_worker(&server);
        let mut client = server.connect();
        for (part, known) in seen(&mut client, &id).iter().zip(&before) {
            assert_eq!(part, known);
        }
        assert_eq!(told(&server, last), events);
    }
    let mut client = server.connect();
    client.send(&json!({"cmd": "events", "since": last}));
    for number in 1..=3 {
        let event = client.next();
        assert_eq!((&event["event"], &event["seq"]), (&json!("restarted"), &json!(last + number)));
    }
    // It goes on where it was: the rest of the sequence makes it whole.
    server.connect().type_in(&id, "5mX\n");
    server.wait_for_text(&id, "X");
}

#[test]
fn an_end_that_no_worker_saw_is_told_by_the_next() {
    let server = Server::start();
    let mut client = server.connect();
    let wait = "while [ ! -e go ]; do sleep 0.02; done;";
    let request = |rest: &str| {
        json!({"cmd": "create", "cwd": server.home(),
            "cmd_args": ["sh", "-c", format!("{wait} {rest}")]})
    };
    let by_code = client.ok(request("exit 42"));
    let by_signal = client.ok(request("kill -KILL $$"));
    let seen = client.ok(json!({"cmd": "hello"}))["seq"].as_u64().unwrap();

    let outage = Outage::begin(&server);
    // Whoever comes now waits in line.
    let mut early = server.connect();
    early.send(&json!({"cmd": "hello"}));
    std::fs::write(server.home().join("go"), "").unwrap();
    for created in [&by_code, &by_signal] {
        eventually("it has ended", || !alive(created["pid"].as_i64().unwrap()));
    }
    drop(outage);
    let hello = early.next();
    assert_eq!(hello["ok"], true);
    assert!(hello["seq"].as_u64().unwrap() > seen);

    early.send(&json!({"cmd": "events", "since": seen, "types": ["exit", "restarted"]}));
    let mut told = [early.event("exit"), early.event("exit"), early.event("restarted")];
    told[..2].sort_by_key(|event| event["code"].as_i64());
    assert!(told.iter().all(|event| event["seq"].as_u64().unwrap() > seen));
    assert_eq!((&told[0]["code"], &told[0]["terminal"]), (&json!(42), &by_code["id"]));
    assert_eq!((&told[1]["code"], &told[1]["signal"]), (&json!(137), &json!("KILL")));
    check_exit_codes(&server, [42, 137]);

    // Once is enough: a third worker knows of it but does not tell it again.
    let seen = told[2]["seq"].as_u64().unwrap();
    kill_worker(&server);
    check_exit_codes(&server, [42, 137]);
    let mut late = server.connect();
    late.send(&json!({"cmd": "events", "since": seen, "types": ["exit", "restarted"]}));
    loop {
        let event = late.next();
        assert_ne!(event["event"], "exit");
        if event["event"] == "restarted" {
            break;
        }
    }
}

fn check_exit_codes(server: &Server, codes: [i64; 2]) {
    let list = listed(&mut server.connect());
    let found: Vec<_> = list.iter().map(|one| one["exit_code"].as_i64().unwrap()).collect();
    assert_eq!(found, codes);
    assert!(list.iter().all(|one| one["alive"] == false));
}

#[test]
fn output_of_an_outage_is_not_lost() {
    let server = Server::start();
    let script = "while [ ! -e go ]; do sleep 0.02; done; seq 3000; echo end; cat";
    let created = server.connect().ok(json!({"cmd": "create", "cwd": server.home(),
        "cmd_args": ["sh", "-c", script]}));
    let id = created["id"].as_str().unwrap();
    let outage = Outage::begin(&server);
    std::fs::write(server.home().join("go"), "").unwrap();
    drop(outage);
    server.wait_for_text(id, "end");
    let all = server.connect().ok(json!({"cmd": "text", "id": id, "first_line": 0, "count": 3001}));
    let mut expected: Vec<_> = (1..=3000).map(|n| n.to_string()).collect();
    expected.push("end".to_owned());
    assert_eq!(all["lines"], json!(expected));
}

#[test]
fn the_worker_may_die_twenty_times() {
    let server = Server::start();
    let id = server.shell("bash");
    let keeper = server.keeper_pid();
    let pid = server.connect().ok(json!({"cmd": "list"}))["terminals"][0]["pid"].clone();
    run(&server, &id, "deaths=0");
    let mut seq = 0;
    for death in 1..=20 {
        kill_worker(&server);
        let done = run(&server, &id, "echo $((deaths += 1))");
        assert_eq!(output(&server, &id, &done), [death.to_string()]);
        let now = done["seq"].as_u64().unwrap();
        assert!(now > seq);
        seq = now;
    }
    assert_eq!(server.keeper_pid(), keeper);
    let list = server.connect().ok(json!({"cmd": "list"}));
    assert_eq!(list["terminals"][0]["pid"], pid);
    assert_eq!(list["terminals"].as_array().unwrap().len(), 1);
}

#[test]
fn a_worker_that_dies_among_creates_leaves_nothing_behind() {
    let server = Server::start();
    let mut answered = BTreeSet::new();
    for round in 0..4 {
        let worker = server.worker_pid();
        let mut clients: Vec<_> = (0..6).map(|_| server.connect()).collect();
        for client in &mut clients {
            for _ in 0..5 {
                client.send(&json!({"cmd": "create", "cmd_args": ["cat"], "tag": 1}));
            }
        }
        // A different number of them is done each time.
        let first = (0..round).map_while(|_| clients[0].answer_or_end());
        answered.extend(first.collect::<Vec<_>>());
        signal(worker, Signal::KILL);
        for (number, client) in clients.iter_mut().enumerate() {
            // Those that no worker has accepted yet are served by the next.
            let left = if number == 0 { 5 - round } else { 5 };
            answered.extend((0..left).map_while(|_| client.answer_or_end()));
        }
        eventually("another worker answers", || {
            ask_once(&server, &json!({"cmd": "hello"})).is_ok_and(|h| h["worker_pid"] != worker)
        });
        check_all_there(&server, &answered);
    }
    assert!(!answered.is_empty());
    check_kill_all(&server);
}

impl Client {
    /// The id of a terminal that was made; None when the server is gone.
    fn answer_or_end(&mut self) -> Option<String> {
        use io::Read;
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\n") {
            match self.stream().read(&mut byte) {
                Ok(1) => line.push(byte[0]),
                _ => return None,
            }
        }
        let answer: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(answer["ok"], true, "{answer}");
        Some(answer["id"].as_str().unwrap().to_owned())
    }
}

/// Each terminal that somebody was told of is there, and no program without a terminal.
fn check_all_there(server: &Server, answered: &BTreeSet<String>) {
    let mut client = server.connect();
    let list = listed(&mut client);
    let ids: BTreeSet<_> = list.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), list.len());
    assert!(answered.is_subset(&ids), "{answered:?} {ids:?}");
    for one in &list {
        assert_eq!(one["alive"], true, "{one}");
        client.ok(json!({"cmd": "text", "id": one["id"]}));
    }
    let mut pids: Vec<_> = list.iter().map(|one| one["pid"].as_i64().unwrap()).collect();
    pids.push(server.worker_pid().into());
    pids.sort_unstable();
    assert_eq!(children(server.keeper_pid()), pids);
}

fn check_kill_all(server: &Server) {
    let mut client = server.connect();
    for one in listed(&mut client) {
        client.ok(json!({"cmd": "kill", "id": one["id"]}));
    }
    assert_eq!(children(server.keeper_pid()), [i64::from(server.worker_pid())]);
}

pub fn children(parent: i32) -> Vec<i64> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(path).unwrap();
    let mut pids: Vec<i64> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    pids.sort_unstable();
    pids
}

/// Kills the keeper and waits until the worker has another.
pub fn kill_keeper(server: &Server) {
    let old = server.keeper_pid();
    signal(old, Signal::KILL);
    eventually("another keeper", || server.keeper_pid() != old);
}

#[test]
fn terminals_outlive_the_keeper() {
    let server = Server::start();
    let id = server.shell("bash");
    run(&server, &id, "marker=kept");
    let worker = server.worker_pid();
    kill_keeper(&server);
    assert_eq!(server.worker_pid(), worker);
    let done = run(&server, &id, "echo $marker; (exit 3)");
    assert_eq!((output(&server, &id, &done), &done["code"]), (vec!["kept".to_owned()], &json!(3)));
    // The new keeper starts programs, with the limits that they had, and workers.
    let mut client = server.connect();
    let limits = |client: &mut Client, id: &str| {
        let answer =
            client.ok(json!({"cmd": "run", "id": id, "command": "ulimit -Sn; ulimit -Sc"}));
        answer["output"].clone()
    };
    let second = server.shell("bash");
    assert_eq!(limits(&mut client, &second), limits(&mut client, &id));
    kill_worker(&server);
    kill_keeper(&server);
    kill_worker(&server);
    let mut client = server.connect();
    for id in [&id, &second] {
        let done = run(&server, id, "echo here");
        assert_eq!(output(&server, id, &done), ["here"]);
    }
    // Somebody else's child by now: the kernel tells its code, or nobody can.
    let since = client.type_in(&id, "exit 42\n");
    let exit = server.events(&id, since).event("exit");
    assert!(exit["code"] == 42 || !the_kernel_tells_codes(), "{exit}");
    client.ok(json!({"cmd": "kill", "id": second}));
    assert_eq!(listed(&mut client).len(), 1);
}

fn the_kernel_tells_codes() -> bool {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let watch = t4a::os::pidfd::Watch::open(child.id()).unwrap();
    let pid = child.id();
    child.wait().unwrap();
    watch.exit(pid) == Some(t4a::os::signal::Exit::Code(0))
}

#[test]
fn a_server_whose_keeper_died_can_be_shut_down() {
    let server = Server::start();
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    // So many that their ends do not all fit into the channel at once.
    for _ in 0..300 {
        client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    }
    kill_keeper(&server);
    let (worker, keeper) = (server.worker_pid(), server.keeper_pid());
    assert!(server.cli(&["shutdown"]).status.success());
    for pid in [worker.into(), keeper.into(), created["pid"].as_i64().unwrap()] {
        eventually("it is gone", || !alive(pid));
    }
    assert!(!server.socket().exists());
    // The shutdown was not taken for another death.
    let log = std::fs::read_to_string(server.dir().join("t4a/t4a.log")).unwrap();
    assert_eq!(log.matches("another keeper is started").count(), 1, "{log}");
}

/// More events at once than are kept: the numbers go on, and who asks for older ones is told.
#[test]
fn a_flood_of_events_outlives_the_worker() {
    let server = Server::start();
    let id = server.script("printf '\\a'; head -c 30000 /dev/zero | tr '\\0' '\\a'; cat");
    let seq =
        |server: &Server| server.connect().ok(json!({"cmd": "hello"}))["seq"].as_u64().unwrap();
    eventually("all bells have rung", || seq(&server) > 30_000);
    let before = seq(&server);
    kill_worker(&server);
    let mut client = server.connect();
    client.send(&json!({"cmd": "events", "terminal": id, "since": before - 3}));
    for number in before - 2..=before {
        assert_eq!(client.event("bell")["seq"], number);
    }
    assert_eq!(client.event("restarted")["seq"], before + 1);
}

#[test]
fn a_wait_that_was_cut_off_is_asked_again_and_misses_nothing() {
    let server = Server::start();
    let id = server.script("printf '\\a'; read x; printf '\\a'; cat");
    let after = server.connect().ok(json!({"cmd": "hello"}))["seq"].as_u64().unwrap();
    let wait = json!({"cmd": "wait", "id": id, "after": after, "any": [{"event": "bell"}]});
    let mut waiting = server.connect();
    waiting.send(&wait);
    kill_worker(&server);
    assert_eq!(waiting.try_next(), None);
    // It rings, and the worker that saw it is killed too.
    server.connect().type_in(&id, "\n");
    server.events(&id, after).event("bell");
    kill_worker(&server);
    assert_eq!(server.connect().ok(wait)["condition"], "event");
}

#[test]
fn settings_outlive_the_worker() {
    let server = Server::start();
    let mut client = server.connect();
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "name": "own", "idle_timeout_ms": 77}));
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "name": "changed"}));
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "name": "plain"}));
    client.ok(json!({"cmd": "config", "idle_timeout_ms": 1234}));
    client.ok(json!({"cmd": "config", "id": "changed", "idle_timeout_ms": 88}));
    kill_worker(&server);
    let mut client = server.connect();
    let timeout = |client: &mut Client, request| client.ok(request)["idle_timeout_ms"].clone();
    assert_eq!(timeout(&mut client, json!({"cmd": "config"})), 1234);
    for (name, ms) in [("own", 77), ("changed", 88), ("plain", 1234)] {
        assert_eq!(timeout(&mut client, json!({"cmd": "config", "id": name})), ms, "{name}");
    }
}

#[test]
fn a_flood_in_one_terminal_does_not_stop_the_others() {
    let server = Server::start();
    let mut client = server.connect();
    let flood = ["sh", "-c", "while :; do yes | head -c 1000000; done"];
    let floods: Vec<_> =
        (0..2).map(|_| client.ok(json!({"cmd": "create", "cmd_args": flood}))).collect();
    let id = server.shell("bash");
    let written = |client: &mut Client| -> Vec<u64> {
        let bytes = |created: &Value| {
            let info = client.ok(json!({"cmd": "info", "id": created["id"]}));
            info["output_bytes"].as_u64().unwrap()
        };
        floods.iter().map(bytes).collect()
    };
    let before = written(&mut client);
    for number in 0..10 {
        let done = run(&server, &id, &format!("echo {number}"));
        assert_eq!(output(&server, &id, &done), [number.to_string()]);
        let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
        client.ok(json!({"cmd": "kill", "id": created["id"]}));
    }
    // None of the floods was held up by the other.
    let after = written(&mut client);
    assert!(before.iter().zip(&after).all(|(before, after)| before < after));
    for created in &floods {
        client.ok(json!({"cmd": "kill", "id": created["id"]}));
        assert!(!alive(created["pid"].as_i64().unwrap()));
    }
}

#[test]
fn commands_go_on_being_counted_and_timed() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let commands = |client: &mut Client| {
        let answer = client.ok(json!({"cmd": "commands", "id": id}));
        let commands = answer["commands"].as_array().unwrap().clone();
        commands.into_iter().map(|command| json!([command["number"], command["command"]])).collect()
    };
    run(&server, &id, "true");
    run(&server, &id, "echo two");
    let before: Vec<Value> = commands(&mut client);
    assert_eq!(before, [json!([1, "true"]), json!([2, "echo two"])]);
    let since = client.type_in(&id, "head -n 1 # waits\n");
    server.events(&id, since).event("command_start");
    let mut running = 0;
    for _ in 0..2 {
        kill_worker(&server);
        let shell = server.connect().ok(json!({"cmd": "info", "id": id}))["shell"].clone();
        assert_eq!(shell["command"], "head -n 1 # waits");
        let now = shell["running_ms"].as_u64().expect("how long it has been running");
        assert!(now >= running, "{running} and then {now}");
        running = now;
        assert_eq!(commands(&mut server.connect()), before);
    }
    let since = server.connect().type_in(&id, "go on\n");
    let done = server.events(&id, since).event("command_done");
    assert!(done["duration_ms"].as_u64().expect("a duration") >= running, "{done}");
    let after: Vec<Value> = commands(&mut server.connect());
    assert_eq!(after[2], json!([3, "head -n 1 # waits"]));
    // Nothing is left of it in how ends are told apart.
    kill_worker(&server);
    let done = run(&server, &id, "true");
    assert_eq!((&done["code"], &done["trusted"]), (&json!(0), &json!(true)));
}
