//! Recordings: all that a terminal shows, playable at any moment, and no secret in them.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use t4a::cast::{Cast, What};
use t4a::os::pty::{self, Read};
use t4a::term::{Limits, Size, Terminal};

use crate::support::{Client, PATIENCE, Server, alive, eventually};

/// A file of this server's that is not there yet.
pub fn file(server: &Server, name: &str) -> PathBuf {
    server.dir().join(name)
}

fn start(server: &Server, id: &str, path: &Path, fields: Value) -> String {
    let mut request = json!({"cmd": "record", "id": id, "path": path});
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    server.connect().ok(request)["recording"].as_str().unwrap().to_owned()
}

fn stop(server: &Server, recording: &str) -> Value {
    server.connect().ok(json!({"cmd": "record_stop", "recording": recording}))
}

/// The events of a recording as they stand in it, and its head.
pub fn lines(path: &Path) -> (Value, Vec<(f64, String, String)>) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "a line is cut");
    let mut lines = text.lines();
    let head = serde_json::from_str(lines.next().unwrap()).unwrap();
    (head, lines.map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn of(path: &Path, code: &str) -> Vec<String> {
    let (_, events) = lines(path);
    events.into_iter().filter(|(_, is, _)| is == code).map(|(.., data)| data).collect()
}

/// What our own grid shows when it is fed a recording.
pub fn final_screen(cast: &Cast) -> Vec<String> {
    let mut term = Terminal::new(cast.size, Limits { lines: 100, bytes: 1 << 20 });
    for event in &cast.events {
        match &event.what {
            What::Output(text) => term.feed(text.as_bytes(), &mut Vec::new()),
            What::Resize(size) => term.resize(*size),
            What::Mark(_) => {}
        }
    }
    screen(&term)
}

fn screen(term: &Terminal) -> Vec<String> {
    let row = |row| {
        let mut text = String::new();
        term.row_text(row, &mut text);
        text.trim_end().to_owned()
    };
    (0..term.size().rows).map(row).collect()
}

pub fn read(path: &Path) -> Cast {
    Cast::read(fs::read(path).unwrap().as_slice()).unwrap_or_else(|bad| panic!("{bad}"))
}

/// What asciinema plays.
fn asciinema(server: &Server, path: &Path) -> Vec<u8> {
    let mut play = Command::new("asciinema");
    play.args(["play", "-s", "1000", "-i", "0.01"]).arg(path).env("HOME", server.home());
    let played = play.env("LC_ALL", "C.UTF-8").output().expect("asciinema is installed");
    let stderr = String::from_utf8_lossy(&played.stderr);
    assert!(played.status.success() && stderr.is_empty(), "asciinema: {stderr}");
    played.stdout
}

const SAMPLE: &str =
    "printf 'plain \\033[1;31mred\\033[m 日本 e\\314\\201 \\360\\237\\230\\200\\n'; seq 40";

#[test]
fn a_recording_plays_in_asciinema_and_gives_the_same_screen_here() {
    let server = Server::start();
    fs::write(server.home().join(".zshrc"), "").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let path = file(&server, &format!("{shell}.cast"));
        let created =
            server.connect().ok(json!({"cmd": "create", "cmd_args": [shell], "ready": true,
            "cwd": server.home(), "env": {"HOME": server.home(), "PS1": "$ "}, "name": shell,
            "record": {"path": path}}));
        let id = created["id"].as_str().unwrap();
        let mut client = server.connect();
        assert_eq!(client.run(id, SAMPLE)["code"], 0);
        client.run(id, "echo two");
        // fish draws its prompt more than once.
        client.ok(json!({"cmd": "wait", "id": id, "any": [{"settled_ms": 500}]}));
        let recordings = client.ok(json!({"cmd": "recordings"}));
        let recording = recordings["recordings"][0]["recording"].as_str().unwrap().to_owned();
        let stopped = stop(&server, &recording);
        let shown = client.screen(id);
        assert_eq!(final_screen(&read(&path)), shown, "{shell}");
        let (head, events) = lines(&path);
        assert_eq!((&head["version"], &head["width"]), (&json!(2), &json!(80)));
        assert_eq!(head["title"], shell);
        assert_eq!(stopped["events"], events.len() as u64, "{shell}");
        assert!(stopped["duration_ms"].is_u64() && stopped["ended_by"] == "asked", "{stopped}");
        let played = asciinema(&server, &path);
        assert_eq!(String::from_utf8(played.clone()).unwrap(), of(&path, "o").concat());
        let mut term = Terminal::new(Size { cols: 80, rows: 24 }, Limits { lines: 9, bytes: 999 });
        term.feed(&played, &mut Vec::new());
        assert_eq!(screen(&term), shown, "{shell}: asciinema plays another screen");
        let marks = of(&path, "m");
        assert!(
            marks.contains(&"echo two".to_owned()) && marks.contains(&String::new()),
            "{marks:?}"
        );
        assert!(of(&path, "i").is_empty(), "nobody asked for what was typed");
        let key = of(&path, "o").concat();
        let keys = key.split(";key=").skip(1).map(|rest| &rest[..32]);
        assert!(keys.clone().count() > 0 && keys.clone().all(|key| key == "0".repeat(32)));
    }
}

#[test]
fn one_that_begins_later_begins_with_the_screen() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    client.run(&id, SAMPLE);
    let path = file(&server, "later.cast");
    let recording = start(&server, &id, &path, json!({"format": "v3"}));
    client.run(&id, "echo later");
    client.ok(json!({"cmd": "resize", "id": id, "cols": 60, "rows": 30}));
    client.run(&id, "tput cup 3 5; echo here");
    let seq = client.type_in(&id, "exit 7\n");
    server.events(&id, seq).event("exit");
    let stopped = stop(&server, &recording);
    assert_eq!((&stopped["ended_by"], &stopped["state"]), (&json!("exit"), &json!("ended")));
    let (head, events) = lines(&path);
    assert_eq!(head["term"], json!({"cols": 80, "rows": 24}));
    assert_eq!(events[0].1, "o");
    assert_eq!(of(&path, "r"), ["60x30"]);
    let (_, code, status) = events.last().unwrap();
    assert_eq!((code.as_str(), status.as_str()), ("x", "7"));
    assert!(events.iter().all(|(time, ..)| *time < PATIENCE.as_secs_f64()), "intervals");
    assert_eq!(final_screen(&read(&path)), client.screen(&id));
    let refused = json!({"cmd": "record", "id": id, "path": file(&server, "dead.cast")});
    client.refused(refused, "exited");
}

/// A character in two reads must not become two that say nothing.
#[test]
fn characters_are_whole_however_they_were_read() {
    let server = Server::start();
    let script = "stty -echo; printf '\\a'; read x; printf 'a\\342\\202'; read x; printf '\\254b\\n'; \
                  printf '\\377\\n\\a'; read x; printf '\\360\\237'";
    let id = server.script(script);
    let path = file(&server, "cut.cast");
    let recording = start(&server, &id, &path, json!({}));
    let mut output = server.connect();
    output.send(&json!({"cmd": "events", "terminal": id, "types": ["output"]}));
    let mut client = server.connect();
    client.ok(json!({"cmd": "cursor", "id": id}));
    let mut stream = server.connect();
    stream.send(&json!({"cmd": "events", "terminal": id}));
    stream.ok(json!({"cmd": "cursor", "id": id}));
    // The stream is open when the request behind it is answered.
    output.ok(json!({"cmd": "cursor", "id": id}));
    client.type_in(&id, "\n");
    output.event_where("output", |event| event["data_base64"] == "YeKC");
    client.type_in(&id, "\n");
    stream.event("bell");
    client.type_in(&id, "\n");
    stream.event("exit");
    assert_eq!(stop(&server, &recording)["ended_by"], "exit");
    let shown = of(&path, "o").concat();
    assert!(shown.ends_with("a€b\r\n\u{fffd}\r\n\u{7}"), "{shown:?}");
}

#[test]
fn what_is_typed_is_there_if_asked_for_but_no_secret() {
    let server = Server::start();
    let ask = "stty -echo; printf 'Password: \\a'; read one; read two; stty echo; echo; printf '\\a'; cat";
    let id = server.script(ask);
    let mut client = server.connect();
    let names = ["i.cast", "i3.cast", "s.json", "s.py", "s.sh"];
    for (name, format) in names.iter().zip(["v2", "v3", "json", "python", "cli"]) {
        start(&server, &id, &file(&server, name), json!({"format": format, "input": true}));
    }
    let seq = client.ok(json!({"cmd": "send", "id": id, "input": "hunter2\n", "secret": true}));
    client.wait(&id, json!([{"password": true}]));
    // One who forgets to say that it is a secret: the program says so.
    client.type_in(&id, "hunter3\n");
    server.events(&id, seq["seq"].as_u64().unwrap()).event("bell");
    // Once echoed, and once by cat.
    let twice = |line: &str| {
        server.wait_for_screen(&id, |rows| rows.iter().filter(|row| *row == line).count() == 2);
    };
    client.type_in(&id, "seen\n");
    twice("seen");
    client.ok(json!({"cmd": "keys", "id": id, "keys": ["x", "Enter"]}));
    twice("x");
    client.ok(json!({"cmd": "paste", "id": id, "text": "pasted"}));
    client.type_in(&id, "\n");
    twice("pasted");
    for recording in client.ok(json!({"cmd": "recordings"}))["recordings"].as_array().unwrap() {
        let stopped = stop(&server, recording["recording"].as_str().unwrap());
        assert!(stopped["events"].as_u64().unwrap() > 2, "{stopped}");
    }
    for name in names {
        let text = fs::read_to_string(file(&server, name)).unwrap();
        assert!(!text.contains("hunter"), "{name}: {text}");
        assert!(text.contains("seen") && text.contains("pasted"), "{name}: {text}");
    }
    for name in &names[..2] {
        assert_eq!(of(&file(&server, name), "i").concat(), "seen\rx\rpasted\r");
    }
    let text = fs::read_to_string(file(&server, "s.json")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["request"], json!({"cmd": "wait", "id": id, "any": [{"password": true}]}));
}

/// Asked after the program had read it, the terminal would echo again.
#[test]
fn whether_something_is_hidden_is_asked_before_the_program_reads_it() {
    let server = Server::start();
    let script = "while :; do stty -echo; printf '\\a'; read x; stty echo; echo; done";
    let id = server.script(script);
    let path = file(&server, "hidden.json");
    let recording = start(&server, &id, &path, json!({"format": "json"}));
    let mut client = server.connect();
    for _ in 0..20 {
        let seq = client.type_in(&id, "hunter2\n");
        server.events(&id, seq).event("bell");
    }
    client.ok(json!({"cmd": "resize", "id": id, "cols": 70, "rows": 20}));
    assert_eq!(stop(&server, &recording)["events"], 1, "the size");
    assert!(!fs::read_to_string(path).unwrap().contains("hunter2"));
}

#[test]
fn a_killed_worker_leaves_a_file_that_plays_and_the_next_one_goes_on() {
    let server = Server::start();
    let path = file(&server, "killed.cast");
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["bash"], "ready": true,
        "cwd": server.home(), "env": {"HOME": server.home()}, "record": {"path": path}}));
    let id = created["id"].as_str().unwrap().to_owned();
    let script = file(&server, "killed.sh");
    let actions = start(&server, &id, &script, json!({"format": "cli"}));
    client.run(&id, "echo before");
    eventually("it is on the disk", || fs::read_to_string(&path).unwrap().contains("before\\r\\n"));
    client.type_in(&id, "while :; do echo flood; done\n");
    eventually("the flood is there", || fs::metadata(&path).unwrap().len() > 1 << 20);
    let worker = server.worker_pid();
    kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
    eventually("it is gone", || !alive(worker.into()));
    // Whatever was killed in the middle of it: what is there plays.
    assert!(read(&path).events.len() > 3);
    eventually("another one answers", || {
        server.cli(&["hello"]).status.success() && server.worker_pid() != worker
    });
    let mut client = server.connect();
    client.ok(json!({"cmd": "signal", "id": id, "signal": "INT"}));
    let run = json!({"cmd": "run", "id": id, "command": "echo after"});
    eventually("the shell is there again", || client.ask(run.clone())["code"] == 0);
    let stopped = stop(&server, "r1");
    let (_, events) = lines(&path);
    assert_eq!(stopped["events"], events.len() as u64);
    assert!(events.windows(2).all(|two| two[0].0 <= two[1].0), "time goes on");
    let marks = of(&path, "m");
    assert!(marks.contains(&"restarted".to_owned()), "{marks:?}");
    assert!(of(&path, "o").concat().contains("after\r\n"));
    let played = asciinema(&server, &path);
    assert!(String::from_utf8(played).unwrap().contains("after\r\n"));
    assert!(stop(&server, &actions)["events"].as_u64().unwrap() >= 3);
    let script = fs::read_to_string(script).unwrap();
    assert!(script.contains("echo before") && script.contains("echo after"), "{script}");
    assert_eq!(script.matches("#!/bin/sh").count(), 1);
}

#[test]
fn a_disk_that_refuses_says_what_to_do_and_harms_no_terminal() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let there = file(&server, "there.cast");
    fs::write(&there, "mine").unwrap();
    let missing = file(&server, "no/such.cast");
    for (path, said) in [
        (there.as_path(), "there already: choose another name"),
        (&missing, "is not there: make it first"),
        (server.dir(), "is a directory: name a file in it"),
        (Path::new("/dev/full"), "no room is left for /dev/full: free some"),
        (Path::new("/proc/version"), "/proc/version"),
    ] {
        let record = json!({"cmd": "record", "id": id, "path": path});
        let error = client.refused(record, "system");
        assert!(error.contains(said), "{error}");
        let create = json!({"cmd": "create", "cmd_args": ["cat"], "record": {"path": path}});
        let error = client.refused(create, "system");
        assert!(error.contains(said), "{error}");
    }
    client.refused(json!({"cmd": "record", "id": id, "path": "here.cast"}), "bad_value");
    client.refused(json!({"cmd": "record", "id": id, "format": "v4"}), "bad_value");
    client.refused(json!({"cmd": "record_stop", "recording": "r99"}), "not_found");
    assert_eq!(fs::read_to_string(&there).unwrap(), "mine");
    assert_eq!(client.ok(json!({"cmd": "recordings"}))["recordings"], json!([]));
    let list = client.ok(json!({"cmd": "list"}));
    assert_eq!(list["terminals"].as_array().unwrap().len(), 1, "{list}");
    // A program that cannot be started leaves no file.
    let path = file(&server, "nothing.cast");
    let create =
        json!({"cmd": "create", "cmd_args": ["no-such-program"], "record": {"path": path}});
    client.refused(create, "spawn_failed");
    eventually("the file is gone", || !path.exists());
    assert_eq!(client.run(&id, "echo fine")["lines"], json!(["fine"]));
}

/// The other end of a tty stands for a disk: it can be slow, and it can break.
#[test]
fn a_slow_or_broken_disk_never_holds_the_terminal_up() {
    let server = Server::start();
    let id = server.shell("bash");
    let disk = pty::open(Size { cols: 80, rows: 24 }).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&disk.slave);
    let path = fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
    let mut client = server.connect();
    let recording = start(&server, &id, &path, json!({}));
    // Nobody reads the other end: a few kilobytes fit.
    client.run(&id, "head -c 12000000 /dev/zero | tr '\\0' x | fold -w 79");
    assert_eq!(client.run(&id, "echo goes on")["lines"], json!(["goes on"]));
    let state = client.ok(json!({"cmd": "recordings"}))["recordings"][0].clone();
    assert!(state["lost"].as_u64().unwrap_or(0) > 0, "{state}");
    assert_eq!(state["state"], "started");
    drop(disk);
    client.run(&id, "echo more");
    let failed = server.events(&id, 0).event_where("recording", |event| event["state"] == "failed");
    assert!(failed["error"].as_str().unwrap().contains("cannot be written"), "{failed}");
    let stop = json!({"cmd": "record_stop", "recording": recording});
    client.refused(stop, "system");
    assert_eq!(client.run(&id, "echo fine")["lines"], json!(["fine"]));
}

#[test]
fn a_disk_that_takes_up_again_gets_the_screen_anew() {
    let server = Server::start();
    let id = server.shell("bash");
    let disk = pty::open(Size { cols: 80, rows: 24 }).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&disk.slave);
    let path = fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
    start(&server, &id, &path, json!({}));
    let mut client = server.connect();
    client.run(&id, "head -c 12000000 /dev/zero | tr '\\0' x | fold -w 79");
    client.run(&id, "clear; echo the end");
    let shown = client.screen(&id);
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        // Its last words are a chapter of their own.
        while !String::from_utf8_lossy(&all[all.len().saturating_sub(4096)..])
            .contains("really over")
        {
            match pty::read(disk.master.as_fd(), &mut buffer) {
                Read::Data(count) => all.extend_from_slice(&buffer[..count]),
                Read::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
                _ => break,
            }
        }
        drop(disk);
        all
    });
    client.run(&id, ": really over");
    let text = String::from_utf8(reader.join().unwrap()).unwrap().replace("\r\n", "\n");
    let whole = &text[..=text.rfind('\n').unwrap()];
    let cast = Cast::read(whole.as_bytes()).unwrap_or_else(|bad| panic!("{bad}"));
    let marked = |event: &t4a::cast::Event| matches!(&event.what, What::Mark(m) if m.starts_with("left out"));
    assert!(cast.events.iter().any(marked));
    assert_eq!(final_screen(&cast)[0], shown[0], "the end");
}

/// Reads a stream to its end: what it recorded, and what was told at the end.
fn read_stream(client: &mut Client) -> (String, Value) {
    let mut all = String::new();
    loop {
        let line = client.next();
        match line["data"].as_str() {
            Some(data) => all += data,
            None => return (all, line),
        }
    }
}

#[test]
fn over_the_socket_a_deaf_client_misses_something_and_is_told() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut near = server.connect();
    let mut deaf = server.connect();
    let started = near.ok(json!({"cmd": "record", "id": id, "tag": "n"}));
    assert_eq!(started["tag"], "n");
    deaf.ok(json!({"cmd": "record", "id": id, "format": "v3"}));
    let mut client = server.connect();
    client.run(&id, "echo first");
    client.ok(json!({"cmd": "record_stop", "recording": started["recording"]}));
    let (text, end) = read_stream(&mut near);
    assert_eq!((&end["tag"], &end["ended_by"]), (&json!("n"), &json!("asked")));
    let cast = Cast::read(text.as_bytes()).unwrap_or_else(|bad| panic!("{bad}"));
    assert_eq!(final_screen(&cast), client.screen(&id));
    client.run(&id, "head -c 12000000 /dev/zero | tr '\\0' y | fold -w 79");
    client.run(&id, "echo second");
    let seq = client.type_in(&id, "exit\n");
    server.events(&id, seq).event("exit");
    let (text, end) = read_stream(&mut deaf);
    assert_eq!(end["ended_by"], "exit", "{end}");
    assert!(end["lost"].as_u64().unwrap() > 0, "{end}");
    let cast = Cast::read(text.as_bytes()).unwrap_or_else(|bad| panic!("{bad}"));
    assert!(cast.events.len() as u64 <= end["events"].as_u64().unwrap());
    assert_eq!(final_screen(&cast), client.screen(&id), "what was missed is drawn anew");
    assert!(text.ends_with("\"x\", \"0\"]\n"));
    assert_eq!(client.ok(json!({"cmd": "recordings"}))["recordings"], json!([]));
}

#[test]
fn the_command_line_prints_a_recording_until_it_ends() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut events = server.events(&id, 0);
    let mut record = server.command();
    record.args(["record", &id, "--format", "v3"]).stdout(std::process::Stdio::piped());
    let child = record.spawn().unwrap();
    events.event_where("recording", |event| event["state"] == "started");
    let mut client = server.connect();
    client.run(&id, "echo printed");
    client.type_in(&id, "exit 4\n");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("printed\\r\\n") && text.ends_with("\"x\", \"4\"]\n"), "{text}");
    let cast = Cast::read(text.as_bytes()).unwrap_or_else(|bad| panic!("{bad}"));
    assert_eq!(final_screen(&cast), client.screen(&id));
}

#[test]
fn scripts_do_it_again() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let (python, shell) = (file(&server, "again.py"), file(&server, "again.sh"));
    let recordings = [
        start(&server, &id, &python, json!({"format": "python"})),
        start(&server, &id, &shell, json!({"format": "cli"})),
    ];
    client.run(&id, "x='it'\"'\"'s \\ 1'");
    let seq = client.type_in(&id, "echo \"$x\" 日本\n");
    client.wait_after(&id, seq, json!([{"event": "prompt"}]));
    client.ok(json!({"cmd": "paste", "id": id, "text": "echo pasted; (exit 3)"}));
    client.ok(json!({"cmd": "keys", "id": id, "keys": ["Home", "End", "Enter"]}));
    client.wait(&id, json!([{"regex": "^pasted$"}]));
    client.wait(&id, json!([{"prompt": true}]));
    client.ok(json!({"cmd": "resize", "id": id, "cols": 70, "rows": 20}));
    client.refused(json!({"cmd": "keys", "id": id, "keys": ["NoKey"]}), "bad_value");
    client.run(&id, "echo last $?");
    let shown = client.screen(&id);
    for recording in recordings {
        assert_eq!(stop(&server, &recording)["events"], 9);
    }
    for (program, path) in [("python3", &python), ("sh", &shell)] {
        let again = server.shell("bash");
        let own = PathBuf::from(env!("CARGO_BIN_EXE_t4a"));
        let path_list = std::env::var("PATH").unwrap_or_default();
        let path_list = format!("{}:{path_list}", own.parent().unwrap().display());
        let mut command = Command::new(program);
        command.arg(path).arg(&again).env("T4A_SOCKET", server.socket()).env("PATH", path_list);
        let played = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&played.stderr);
        assert!(played.status.success() && stderr.is_empty(), "{program}: {stderr}");
        assert_eq!(client.screen(&again), shown, "{program}");
    }
}

#[test]
fn a_shutdown_leaves_whole_files() {
    let server = Server::start();
    let path = file(&server, "down.cast");
    let id = server
        .script_with("printf '\\a'; exec cat", json!({"record": {"path": path, "format": "v3"}}));
    server.connect().type_in(&id, "hello\n");
    server.wait_for_text(&id, "hello");
    assert!(server.cli(&["shutdown"]).status.success());
    let (_, events) = lines(&path);
    assert_eq!(events.last().unwrap().1, "x", "{events:?}");
    assert!(of(&path, "o").concat().contains("hello"));
}
