//! Much at once, and programs that do not behave: neither stops the server or the others.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Client, Server, alive, eventually};

/// How much memory the worker may gain while it is flooded: one full scrollback and some change.
const FLAT_KB: u64 = 64 << 10;
const FLOW_BYTES: u64 = 200 << 20;
/// Longest the flow may take on a busy machine.
const FLOW_PATIENCE: Duration = Duration::from_secs(120);

fn create(client: &mut Client, script: &str) -> Value {
    client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", script], "idle_timeout_ms": 200}))
}

fn id_of(created: &Value) -> &str {
    created["id"].as_str().unwrap()
}

fn info(client: &mut Client, created: &Value) -> Value {
    client.ok(json!({"cmd": "info", "id": created["id"]}))
}

fn resident_kb(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Only root may look into a hardened process; others compare nothing with nothing.
fn descriptors(pid: i32) -> Option<usize> {
    std::fs::read_dir(format!("/proc/{pid}/fd")).ok().map(Iterator::count)
}

fn exit_of(server: &Server, created: &Value) -> Value {
    server.events(id_of(created), created["seq"].as_u64().unwrap()).event("exit")
}

/// A shell is served as if nothing else were going on.
fn check_served(server: &Server, shell: &str) {
    let done = server.run(shell, "sh -c 'exit 7'");
    assert_eq!((&done["code"], &done["trusted"]), (&json!(7), &json!(true)));
    server.connect().ok(json!({"cmd": "list"}));
}

#[test]
fn a_subscriber_that_never_reads_costs_nothing() {
    let server = Server::start();
    let mut client = server.connect();
    let shell = server.shell("bash");
    let worker = server.worker_pid();
    let before = resident_kb(worker);
    let mut deaf = server.connect();
    deaf.send(&json!({"cmd": "events", "types": ["output", "screen", "exit", "command_done"]}));
    let stop = server.dir().join("stop");
    let flow = create(
        &mut client,
        &format!(
            "while [ ! -e {} ]; do head -c 8M /dev/zero | tr '\\0' x; \
             yes 'some line of text that is longer than a few words' | head -c 4M; done; exit 9",
            stop.display()
        ),
    );
    let deadline = Instant::now() + FLOW_PATIENCE;
    let mut most = 0;
    while info(&mut client, &flow)["output_bytes"].as_u64().unwrap() < FLOW_BYTES {
        assert!(Instant::now() < deadline, "{}", info(&mut client, &flow));
        check_served(&server, &shell);
        let other = create(&mut client, "cat");
        client.ok(json!({"cmd": "kill", "id": other["id"]}));
        client.ok(json!({"cmd": "text", "id": flow["id"]}));
        most = most.max(resident_kb(worker));
    }
    std::fs::write(stop, "").unwrap();
    assert_eq!(exit_of(&server, &flow)["code"], 9);
    assert!(most < before + FLAT_KB, "{before} kB grew to {most} kB");
    assert!(deaf.event("lost")["events"].as_u64().unwrap() > 0);
    // From there on it hears everything again.
    assert_eq!(deaf.event_where("exit", |event| event["terminal"] == flow["id"])["code"], 9);
    assert_eq!(server.worker_pid(), worker);
}

#[test]
fn five_hundred_terminals_at_once() {
    const MANY: usize = 500;
    let server = Server::start();
    let (keeper, worker) = (server.keeper_pid(), server.worker_pid());
    let mut client = server.connect();
    // What is made once, by the first terminal, is not counted.
    let first = create(&mut client, "cat");
    client.ok(json!({"cmd": "kill", "id": first["id"]}));
    let before = (descriptors(keeper), descriptors(worker));
    let script = ["sh", "-c", "echo number $T4A_TERMINAL; exec cat"];
    let created: Vec<Value> =
        (0..MANY).map(|_| client.ok(json!({"cmd": "create", "cmd_args": script}))).collect();
    let list = client.ok(json!({"cmd": "list"}));
    let listed = list["terminals"].as_array().unwrap();
    assert_eq!(listed.len(), MANY);
    for (one, row) in created.iter().zip(listed) {
        assert_eq!(
            (&row["id"], &row["pid"], &row["alive"]),
            (&one["id"], &one["pid"], &json!(true))
        );
    }
    for one in &created {
        let expected = format!("number {}", id_of(one));
        eventually("it has written", || client.screen(id_of(one))[0] == expected);
    }
    for (number, one) in created.iter().enumerate() {
        client.send(&json!({"cmd": "kill", "id": one["id"], "tag": number}));
        if number % 50 == 49 {
            (0..50).for_each(|_| assert_eq!(client.next()["ok"], true));
        }
    }
    assert_eq!(client.ok(json!({"cmd": "list"}))["terminals"], json!([]));
    assert!(created.iter().all(|one| !alive(one["pid"].as_i64().unwrap())));
    // Some that were counted before may have been on their way to be closed.
    eventually("all descriptors are closed", || {
        descriptors(keeper) <= before.0 && descriptors(worker) <= before.1
    });
    assert_eq!((server.keeper_pid(), server.worker_pid()), (keeper, worker));
}

#[test]
fn a_hundred_connections_at_once() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut clients: Vec<Client> = (0..100).map(|_| server.connect()).collect();
    for _ in 0..5 {
        for client in &mut clients {
            for tag in 0..4 {
                let cmd = ["text", "info", "cursor", "text"][tag];
                client.send(&json!({"cmd": cmd, "id": id, "tag": tag}));
            }
        }
        for client in &mut clients {
            let mut tags: Vec<_> = (0..4).map(|_| client.next()["tag"].as_u64().unwrap()).collect();
            tags.sort_unstable();
            assert_eq!(tags, [0, 1, 2, 3]);
        }
    }
    let all = server.connect().ok(json!({"cmd": "hello"}))["clients"].as_u64().unwrap();
    assert_eq!(all, 101);
    drop(clients);
    let mut client = server.connect();
    eventually("they are forgotten", || client.ok(json!({"cmd": "hello"}))["clients"] == 1);
}

#[test]
fn a_child_that_does_not_read_holds_up_nobody() {
    let server = Server::start();
    let shell = server.shell("bash");
    let mut client = server.connect();
    let deaf = create(&mut client, "stty raw -echo; echo up; exec sleep 1000");
    server.wait_for_text(id_of(&deaf), "up");
    let chunk = "x".repeat(60_000);
    let send = json!({"cmd": "send", "id": deaf["id"], "input": chunk});
    for _ in 0..4 {
        client.ok(send.clone());
    }
    client.refused(send, "input_full");
    check_served(&server, &shell);
    let signalled = client.ok(json!({"cmd": "signal", "id": deaf["id"], "signal": "INT"}));
    assert!(signalled["dropped_bytes"].as_u64().unwrap() > 200_000, "{signalled}");
    let exit = exit_of(&server, &deaf);
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(130), &json!("INT")));
}

#[test]
fn what_is_typed_ahead_arrives_whole() {
    let server = Server::start();
    let mut client = server.connect();
    let go = server.dir().join("go");
    let script = format!(
        "stty raw -echo; echo up; while [ ! -e {} ]; do sleep 0.02; done; \
         head -c 240000 | cksum; sleep 1000",
        go.display()
    );
    let slow = create(&mut client, &script);
    server.wait_for_text(id_of(&slow), "up");
    let mut text = String::new();
    for part in 0..4 {
        let chunk: String = (0..10_000).map(|n| format!("{:06}", part * 10_000 + n)).collect();
        client.ok(json!({"cmd": "send", "id": slow["id"], "input": chunk}));
        text.push_str(&chunk);
    }
    std::fs::write(go, "").unwrap();
    let sum = cksum(server.dir(), &text);
    server.wait_for_text(id_of(&slow), &sum);
}

fn cksum(dir: &std::path::Path, text: &str) -> String {
    let file = dir.join("typed");
    std::fs::write(&file, text).unwrap();
    let input = std::fs::File::open(file).unwrap();
    let output = std::process::Command::new("cksum").stdin(input).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A program may close its tty (`login` does) and open it again; until its end it is alive.
#[test]
fn a_program_that_leaves_its_tty_may_come_back() {
    let server = Server::start();
    let mut client = server.connect();
    let (go, end) = (server.dir().join("go"), server.dir().join("end"));
    let wait =
        |path: &std::path::Path| format!("while [ ! -e {} ]; do sleep 0.02; done", path.display());
    let script = format!(
        "echo here; exec </dev/null >/dev/null 2>&1; {}; echo back >/dev/tty; {}; \
         echo last >/dev/tty; exit 5",
        wait(&go),
        wait(&end)
    );
    let created = create(&mut client, &script);
    server.wait_for_text(id_of(&created), "here");
    let pid = created["pid"].as_i64().unwrap();
    eventually("it has closed its tty", || {
        std::fs::read_link(format!("/proc/{pid}/fd/2")).is_ok_and(|to| to.ends_with("null"))
    });
    // It has gone quiet, and nothing more.
    let mut events = server.events(id_of(&created), created["seq"].as_u64().unwrap());
    events.event("idle");
    assert_eq!(info(&mut client, &created)["alive"], true);
    std::fs::write(go, "").unwrap();
    server.wait_for_text(id_of(&created), "back");
    std::fs::write(end, "").unwrap();
    assert_eq!(events.event("exit")["code"], 5);
    assert_eq!(client.screen(id_of(&created))[..3], ["here", "back", "last"]);
}

/// The worker once went on asking the kernel about a tty that had been closed for a moment.
#[test]
fn a_tty_that_was_closed_for_a_moment_does_not_keep_the_worker_busy() {
    let server = Server::start();
    let script = "exec </dev/null >/dev/null 2>&1; sleep 0.5; exec </dev/tty >/dev/tty; echo back; \
        read x; echo got $x; sleep 1000";
    let request = json!({"cmd": "create", "cmd_args": ["sh", "-c", script],
        "idle_timeout_ms": 1000});
    let created = server.connect().ok(request);
    server.wait_for_text(id_of(&created), "back");
    let since = server.connect().ok(json!({"cmd": "hello"}))["seq"].as_u64().unwrap();
    let worker = server.worker_pid();
    let before = busy_ticks(worker);
    server.events(id_of(&created), since).event("idle");
    // Of a hundred in that second.
    let busy = busy_ticks(worker) - before;
    assert!(busy < 10, "{busy} ticks");
    server.connect().type_in(id_of(&created), "it\n");
    server.wait_for_text(id_of(&created), "got it");
}

/// Processor time that a process has used.
fn busy_ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn an_end_is_told_though_a_background_job_holds_the_tty() {
    let server = Server::start();
    let mut client = server.connect();
    let created =
        create(&mut client, "trap '' HUP; sleep 1000 & echo $! >job; echo last words; exit 3");
    assert_eq!(exit_of(&server, &created)["code"], 3);
    assert_eq!(client.screen(id_of(&created))[0], "last words");
    let job: i32 =
        std::fs::read_to_string(server.home().join("job")).unwrap().trim().parse().unwrap();
    assert!(alive(job.into()), "the job was to outlive its shell");
    kill_process(Pid::from_raw(job).unwrap(), Signal::KILL).unwrap();
    client.ok(json!({"cmd": "kill", "id": created["id"]}));
}

#[test]
fn deaths_by_signals_are_told_apart() {
    let server = Server::start();
    let mut client = server.connect();
    for (name, code) in [("KILL", 137), ("TERM", 143), ("SEGV", 139), ("HUP", 129)] {
        let created = create(&mut client, &format!("ulimit -c 0; kill -{name} $$"));
        let exit = exit_of(&server, &created);
        assert_eq!((&exit["code"], &exit["signal"]), (&json!(code), &json!(name)));
    }
    // From outside, too.
    let created = create(&mut client, "exec sleep 1000");
    let pid = created["pid"].as_i64().unwrap() as i32;
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    assert_eq!(exit_of(&server, &created)["signal"], "KILL");
}

/// Runs scripts one after the other in terminals of their own beside a shell.
fn check_survived(scripts: &[&str]) {
    let server = Server::start();
    let shell = server.shell("bash");
    let mut client = server.connect();
    let worker = server.worker_pid();
    let before = resident_kb(worker);
    for script in scripts {
        let created = client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", script],
            "cols": 200, "rows": 50}));
        check_served(&server, &shell);
        exit_of(&server, &created);
        let rows = client.screen(id_of(&created));
        assert_eq!(rows.len(), 50);
        let answer = client.ok(json!({"cmd": "list"})).to_string();
        assert!(answer.len() < 4000, "{script}: a list of {} bytes", answer.len());
        check_served(&server, &shell);
        client.ok(json!({"cmd": "kill", "id": created["id"]}));
    }
    assert_eq!(server.worker_pid(), worker);
    let after = resident_kb(worker);
    assert!(after < before + FLAT_KB, "{before} kB grew to {after} kB");
}

#[test]
fn endless_strings_are_survived() {
    check_survived(&[
        "printf '\\033]0;'; head -c 50M /dev/zero | tr '\\0' y",
        "printf '\\033]52;c;'; head -c 5M /dev/zero | tr '\\0' Q; printf '\\a'",
        "printf '\\033]0;'; head -c 5M /dev/zero | tr '\\0' y; printf '\\a'",
        "printf '\\033P'; head -c 5M /dev/zero | tr '\\0' y",
        "printf '\\033_'; head -c 5M /dev/zero | tr '\\0' y; printf '\\033\\\\'",
        "printf 'e'; yes \"$(printf '\\314\\201')\" | tr -d '\\n' | head -c 2M",
        "printf '\\033['; yes '1;' | tr -d '\\n' | head -c 2M; printf m",
        "yes \"$(printf '\\033]8;;http://x/')\" | head -c 1M",
    ]);
}

#[test]
fn number_bombs_are_survived() {
    let bombs: String =
        "@ABCDEFGILMPSTXZ`abdeg".chars().map(|c| format!("\\033[2147483647{c}")).collect();
    check_survived(&[
        &format!("yes \"$(printf 'x{bombs}')\" | head -n 500"),
        "yes \"$(printf '\\033[99999999;99999999H\\033[5;4r\\033[99999999b')\" | head -n 500",
        "yes \"$(printf '\\033[?1049h\\0337\\033[?47l\\033[22t\\033[>1u')\" | head -n 5000",
        // It asks and does not read the answers.
        "stty raw -echo; yes \"$(printf '\\033[6n\\033[c\\033[?25$p')\" | head -n 20000",
    ]);
}

#[test]
fn random_bytes_are_survived() {
    check_survived(&[
        "head -c 4M /dev/urandom",
        "head -c 1M /dev/urandom | tr '\\200-\\377' '\\033'",
    ]);
}
