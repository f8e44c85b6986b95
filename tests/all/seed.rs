//! Clients written from the first description of the protocol work: each of its requests and
//! answers, its events, its command lines, and its Python sample by way of /tmp/t4a.sock.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Client, Server, alive, eventually};

const SEED_PATH: &str = "/tmp/t4a.sock";

/// As the page has it: one connection, one line, one line.
fn request(server: &Server, request: Value) -> Value {
    server.connect().ask(request)
}

/// The answer has every field that the page shows, and of the same type.
fn shows(found: &Value, shown: &Value) {
    let same_type = std::mem::discriminant(shown) == std::mem::discriminant(found);
    assert!(same_type, "{shown} is {found}");
    for (key, value) in shown.as_object().into_iter().flatten() {
        shows(found.get(key).unwrap_or_else(|| panic!("no {key} in {found}")), value);
    }
    if let (Some(shown), Some(found)) = (shown.as_array(), found.as_array()) {
        let first = shown.first().zip(found.first());
        first.into_iter().for_each(|(shown, found)| shows(found, shown));
    }
}

fn check(server: &Server, asked: Value, shown: &Value) -> Value {
    let found = request(server, asked);
    shows(&found, shown);
    assert_eq!(found["ok"], shown["ok"], "{found}");
    found
}

#[test]
fn requests_and_answers_are_those_of_the_page() {
    let server = Server::start();
    let done = json!({"ok": true});
    let created = check(
        &server,
        json!({"cmd": "create", "cols": 80, "rows": 24, "cmd_args": ["bash"],
            "cwd": server.home(), "env": {}}),
        &json!({"ok": true, "id": "t1", "cols": 80, "rows": 24, "pid": 12345}),
    );
    assert_eq!((&created["cols"], &created["rows"]), (&json!(80), &json!(24)));
    let id = &created["id"];
    let row = json!({"id": "t1", "cols": 80, "rows": 24, "pid": 12345, "alive": true,
        "title": "bash"});
    let listed = check(&server, json!({"cmd": "list"}), &json!({"ok": true, "terminals": [row]}));
    assert_eq!(listed["terminals"][0]["pid"], created["pid"]);
    assert_eq!(listed["terminals"][0]["title"], "bash");
    check(&server, json!({"cmd": "send", "id": id, "input": "cargo build --release\n"}), &done);
    check(&server, json!({"cmd": "send", "id": id, "input_base64": "ZWNobyBoaQ0="}), &done);
    let text = json!({"ok": true, "lines": ["$ cargo build", " Compiling..."],
        "region": "viewport", "start": 0, "end": 5, "total_lines": 24});
    let last = json!({"cmd": "text", "id": id, "start": 0, "end": 5, "trim": true});
    let last = check(&server, last, &text);
    assert_eq!(last["lines"].as_array().unwrap().len(), 5);
    let all = check(&server, json!({"cmd": "text", "id": id, "trim": true}), &text);
    assert_eq!(all["lines"].as_array().unwrap().len(), 24);
    assert_eq!((&all["region"], &all["total_lines"]), (&json!("viewport"), &json!(24)));
    let cursor = json!({"ok": true, "row": 5, "col": 32, "visible": true});
    check(&server, json!({"cmd": "cursor", "id": id}), &cursor);
    check(&server, json!({"cmd": "resize", "id": id, "cols": 120, "rows": 40}), &done);
    check(&server, json!({"cmd": "config", "idle_timeout_ms": 2000}), &done);
    check(&server, json!({"cmd": "kill", "id": id}), &done);
    let refused = json!({"ok": false, "error": "..."});
    check(&server, json!({"cmd": "kill", "id": id}), &refused);
}

#[test]
fn all_fields_of_create_but_cmd_are_optional() {
    let server = Server::start();
    let created = request(&server, json!({"cmd": "create"}));
    assert_eq!((&created["cols"], &created["rows"]), (&json!(80), &json!(24)));
    let list = request(&server, json!({"cmd": "list"}));
    assert_eq!(list["terminals"][0]["title"], "bash", "$SHELL is what runs");
}

/// A terminal with a program and the stream of its events from the start.
fn watched(server: &Server, program: &str) -> (String, Client) {
    let argv = ["sh", "-c", program];
    let created = server.connect().ok(json!({"cmd": "create", "cmd_args": argv}));
    let id = created["id"].as_str().unwrap().to_owned();
    (id.clone(), server.events(&id, 0))
}

#[test]
fn text_counts_from_the_bottom() {
    let server = Server::start();
    let (id, mut events) = watched(&server, "seq 1 40; printf '\\a'; exec cat");
    events.event("bell");
    let read = |start: u32, end: u32| {
        request(&server, json!({"cmd": "text", "id": id, "start": start, "end": end}))["lines"]
            .clone()
    };
    assert_eq!(read(0, 3), json!(["39", "40", ""]), "0 is the last row, where the cursor is");
    assert_eq!(read(1, 3), json!(["39", "40"]));
    assert_eq!(read(22, 24), json!(["18", "19"]));
    let untrimmed = json!({"cmd": "text", "id": id, "start": 1, "end": 2, "trim": false});
    assert_eq!(request(&server, untrimmed)["lines"][0], format!("{:<80}", "40"));
}

#[test]
fn what_is_sent_is_what_keys_send() {
    let server = Server::start();
    let (id, mut events) = watched(&server, "stty raw -echo; printf '\\a'; exec od -An -tx1 -w1");
    events.event("bell");
    for input in ["\n", "\u{3}", "\u{1b}[A"] {
        check(&server, json!({"cmd": "send", "id": id, "input": input}), &json!({"ok": true}));
    }
    check(&server, json!({"cmd": "send", "id": id, "input_base64": "Cv8="}), &json!({"ok": true}));
    let rows = server.wait_for_text(&id, "ff");
    let bytes: Vec<_> = rows.iter().flat_map(|row| row.split_whitespace()).collect();
    assert_eq!(bytes, ["0d", "03", "1b", "5b", "41", "0a", "ff"]);
}

#[test]
fn resize_tells_the_program() {
    let server = Server::start();
    let program = "trap 'stty size' WINCH; printf '\\a'; while :; do sleep 0.05; done";
    let (id, mut events) = watched(&server, program);
    events.event("bell");
    request(&server, json!({"cmd": "resize", "id": id, "cols": 120, "rows": 40}));
    server.wait_for_text(&id, "40 120");
}

#[test]
fn kill_hangs_up_on_the_whole_group() {
    let server = Server::start();
    let note = server.home().join("hung-up");
    let child = format!(
        "trap 'echo > {}; exit' HUP; printf \"\\a\"; while :; do sleep 0.05; done",
        note.display()
    );
    // The shell waits for a child of its own, which is in its group.
    let (id, mut events) = watched(&server, &format!("sh -c {child:?}; exit"));
    events.event("bell");
    check(&server, json!({"cmd": "kill", "id": id}), &json!({"ok": true}));
    eventually("the child has heard of it", || note.exists());
}

#[test]
fn events_are_those_of_the_page() {
    let server = Server::start();
    request(&server, json!({"cmd": "config", "idle_timeout_ms": 100}));
    let program = "printf '\\a\\033]2;vim src/main.rs\\007\\033]7777;done;0\\007'; \
        read line; echo $line; exit 0";
    let created = request(&server, json!({"cmd": "create", "cmd_args": ["sh", "-c", program]}));
    let id = created["id"].as_str().unwrap();
    let mut events = server.connect();
    events.send(&json!({"cmd": "events", "terminal": id, "since": 0}));
    let mut check = |kind: &str, shown: Value| {
        let found = events.event(kind);
        for (key, value) in shown.as_object().unwrap() {
            assert_eq!(&found[key], value, "{found}");
        }
        assert_eq!(found["terminal"], id);
    };
    check("bell", json!({"event": "bell"}));
    check("title", json!({"event": "title", "title": "vim src/main.rs"}));
    check("command_done", json!({"event": "command_done", "code": 0}));
    check("idle", json!({"event": "idle", "after_ms": 100}));
    request(&server, json!({"cmd": "send", "id": id, "input": "go on\n"}));
    check("activity", json!({"event": "activity"}));
    check("exit", json!({"event": "exit", "code": 0}));
}

#[test]
fn without_a_filter_events_of_all_terminals_come() {
    let server = Server::start();
    let mut all = server.connect();
    all.send(&json!({"cmd": "events"}));
    // A stream has no first answer: the request behind it tells that it is open.
    all.ok(json!({"cmd": "list"}));
    let one = watched(&server, "read x; printf '\\a'; exec cat").0;
    let two = watched(&server, "read x; printf '\\a'; exec cat").0;
    let mut first = server.connect();
    first.send(&json!({"cmd": "events", "terminal": one}));
    first.ok(json!({"cmd": "list"}));
    for id in [&two, &one] {
        request(&server, json!({"cmd": "send", "id": id, "input": "\n"}));
        assert_eq!(all.event("bell")["terminal"], **id);
    }
    assert_eq!(first.event("bell")["terminal"], *one, "with a filter only its own");
}

#[test]
fn command_lines_are_those_of_the_page() {
    let server = Server::start();
    let id = server.json(&["create"])["id"].clone();
    let id = id.as_str().unwrap();
    let cat = server.json(&["create", "--", "cat"])["id"].clone();
    let cat = cat.as_str().unwrap();
    assert_eq!(server.json(&["list"])["terminals"].as_array().unwrap().len(), 2);
    assert_eq!(server.json(&["send", cat, r"by argument\n"])["ok"], true);
    // The tty echoes at once, cat comes later: the next line must not come in between.
    server.wait_for_screen(cat, |rows| {
        rows.iter().filter(|row| row.contains("argument")).count() == 2
    });
    let mut sender = server
        .command()
        .args(["send", cat])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    sender.stdin.take().unwrap().write_all(b"by standard input\n").unwrap();
    assert!(sender.wait().unwrap().success());
    server
        .wait_for_screen(cat, |rows| rows.iter().filter(|row| row.contains("input")).count() == 2);
    let text = |args: &[&str]| String::from_utf8(server.cli(args).stdout).unwrap();
    assert!(text(&["text", cat]).contains("by argument\nby argument\nby standard input\n"));
    assert_eq!(text(&["text", cat, "0:5"]).lines().count(), 5);
    assert_eq!(server.json(&["cursor", cat])["row"], 4);
    assert_eq!(server.json(&["resize", cat, "120", "40"])["ok"], true);
    let size = request(&server, json!({"cmd": "list"}))["terminals"][1].clone();
    assert_eq!((&size["cols"], &size["rows"]), (&json!(120), &json!(40)));
    for filter in [&[cat][..], &[]] {
        let args = [&["events"][..], filter, &["--since", "0", "--count", "1"]].concat();
        assert_eq!(server.json(&args)["event"], "created");
    }
    assert_eq!(server.json(&["kill", cat])["ok"], true);
    assert_eq!(server.json(&["kill", id])["ok"], true);
}

/// `t4a events | head -n 1` once hung until the next event: the broken pipe showed only then.
#[test]
fn a_stream_of_events_ends_with_its_reader() {
    let server = Server::start();
    let mut command = server.command();
    let mut events = command.arg("events").stdout(Stdio::piped()).spawn().unwrap();
    drop(events.stdout.take());
    eventually("it has ended", || events.try_wait().unwrap().is_some());
    assert!(events.wait().unwrap().success());
}

/// A server at the usual place, in the foreground.
struct Usual {
    place: Server,
    daemon: Child,
}

impl Usual {
    fn start(idle_timeout_ms: &str) -> Usual {
        let place = Server::not_started();
        let mut command = place.command();
        command.env_remove("T4A_SOCKET").args(["daemon", idle_timeout_ms]);
        let daemon = command.stdout(Stdio::null()).spawn().unwrap();
        let usual = Usual { place, daemon };
        eventually("it listens", || UnixStream::connect(usual.socket()).is_ok());
        usual
    }

    fn socket(&self) -> PathBuf {
        self.place.dir().join("t4a/t4a.sock")
    }

    fn owns_the_link(&self) -> bool {
        std::fs::read_link(SEED_PATH).is_ok_and(|target| target == self.socket())
    }

    fn shut_down(&mut self) {
        let mut command = self.place.command();
        command.env_remove("T4A_SOCKET").arg("shutdown").stdout(Stdio::null());
        let _ = command.status();
        let _ = self.daemon.wait();
    }
}

impl Drop for Usual {
    fn drop(&mut self) {
        self.shut_down();
    }
}

#[test]
fn the_sample_of_the_page_runs_by_way_of_the_old_path() {
    let mut server = Usual::start("3000");
    let hello =
        Client::new(UnixStream::connect(server.socket()).unwrap()).ok(json!({"cmd": "hello"}));
    assert_eq!(hello["idle_timeout_ms"], 3000);
    if !server.owns_the_link() {
        eprintln!("{SEED_PATH} belongs to another server: the sample is not run");
        return;
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/examples/seed_client.py");
    let output = Command::new("python3").arg(sample).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.lines().any(|line| line == "error near the bottom"), "{stdout}");
    let worker = hello["worker_pid"].as_i64().unwrap();
    server.shut_down();
    assert!(!server.owns_the_link(), "the link goes with the server");
    assert!(!alive(worker));
}
