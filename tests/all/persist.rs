//! What can be kept when worker and keeper are gone: terminals on disk, listed and restored.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::{Value, json};

use crate::attach::Person;
use crate::support::{Client, Server, alive, eventually};
use crate::survival::kill_worker;

fn shelf(server: &Server) -> PathBuf {
    server.home().join(".local/state/t4a")
}

/// A server whose configuration has it keep all terminals.
fn persistent() -> Server {
    let server = Server::not_started();
    let config = server.home().join(".config/t4a");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "persist = true\n").unwrap();
    fs::write(server.home().join(".zshrc"), "").unwrap();
    fs::write(server.home().join(".bashrc"), "PS1='$ '\n").unwrap();
    assert!(server.cli(&["hello"]).status.success());
    server
}

/// What is on disk of terminals, by name of file.
fn files(server: &Server) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(shelf(server)).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let paths = paths.filter(|path| name(path).contains(":t") && !name(path).starts_with('.'));
    let read = |path: PathBuf| fs::read_to_string(&path).ok().map(|text| (path, text));
    let mut files: Vec<_> = paths.filter_map(read).collect();
    files.sort();
    files
}

/// Waits until a terminal is on disk that ends with these words; its file.
fn wait_kept(server: &Server, words: &str) -> PathBuf {
    let mut found = None;
    eventually(&format!("{words:?} is on disk"), || {
        found = files(server).into_iter().find(|(_, text)| text.ends_with(words));
        found.is_some()
    });
    found.unwrap().0
}

fn signal(pid: i64, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid as i32).unwrap(), signal);
}

/// Ends keeper, worker and all programs at once, as when the power fails. Neither can start another.
fn pull_the_plug(server: &Server) {
    let mut client = server.connect();
    let list = client.ok(json!({"cmd": "list"}));
    let terminals = list["terminals"].as_array().unwrap();
    let programs = terminals.iter().filter(|one| one["alive"] == true).map(|one| &one["pid"]);
    let hello = client.ok(json!({"cmd": "hello"}));
    let pids = [&hello["keeper_pid"], &hello["worker_pid"]].into_iter().chain(programs);
    let pids: Vec<i64> = pids.map(|pid| pid.as_i64().unwrap()).collect();
    pids.iter().for_each(|pid| signal(*pid, Signal::STOP));
    pids.iter().for_each(|pid| signal(*pid, Signal::KILL));
    for pid in pids {
        eventually("it is gone", || !alive(pid));
    }
}

fn dead(server: &Server) -> Vec<Value> {
    let list = server.json(&["list", "--dead"]);
    list["dead"].as_array().unwrap().clone()
}

/// Lines of a terminal with all that can be seen of them.
fn seen(client: &mut Client, id: &str, lines: [u64; 2]) -> Vec<Value> {
    let shot = json!({"cmd": "screenshot", "id": id, "format": "json", "lines": lines,
        "cursor": false});
    let answer = client.ok(shot);
    let bytes = client.bytes(answer["len"].as_u64().unwrap() as usize);
    let picture: Value = serde_json::from_slice(&bytes).unwrap();
    let mut lines = picture["lines"].as_array().unwrap().clone();
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("row");
    }
    lines
}

fn texts(client: &mut Client, id: &str, [first, end]: [u64; 2]) -> Value {
    let request = json!({"cmd": "text", "id": id, "first_line": first, "count": end - first});
    client.ok(request)["lines"].clone()
}

const SHOW: &str = "cd sub; seq 3000; printf '\\033[1;31mred\\033[0m \\033[48;2;1;2;3mon blue\\033[0m \
    日本語 e\\314\\201 \\033]8;;http://a.b\\033\\\\link\\033]8;;\\033\\\\\\n'; \
    printf 'long %0.s' $(seq 60); printf '\\n%s-%s\\n' the end";

#[test]
fn what_persists_comes_back_with_its_text_when_all_was_killed() {
    let server = persistent();
    fs::create_dir(server.home().join("sub")).unwrap();
    let mut client = server.connect();
    let mut before = Vec::new();
    for (at, shell) in ["bash", "zsh"].into_iter().enumerate() {
        let made = client.ok(json!({"cmd": "create", "cmd_args": [shell], "ready": true,
            "name": format!("my-{shell}"), "labels": {"kind": shell}, "cols": 70 + at, "rows": 20,
            "cwd": server.home(), "env": {"PS1": "$ ", "SECRET": "hunter2"}}));
        let id = made["id"].as_str().unwrap().to_owned();
        assert_eq!(client.run(&id, SHOW)["code"], 0);
        client.wait(&id, json!([{"prompt": true}]));
        let end = client.info(&id)["cursor"]["row"].as_u64().unwrap() + 1;
        let top = client.ok(json!({"cmd": "cells", "id": id}))["top_line"].as_u64().unwrap();
        // Some rows of the screen are of one line.
        let lines = [0, client.info(&id)["lines"][1].as_u64().unwrap().min(top + end)];
        before.push((
            id.clone(),
            lines,
            texts(&mut client, &id, lines),
            seen(&mut client, &id, lines),
        ));
    }
    let never = client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "persist": false}));
    eventually("both are on disk", || {
        let done = |text: &String| text.contains("\nthe-end\n") && text.ends_with("$\n");
        files(&server).iter().filter(|(_, text)| done(text)).count() == 2
    });
    for (path, text) in files(&server) {
        assert!(!text.contains("hunter2"));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(shelf(&server).metadata().unwrap().permissions().mode() & 0o777, 0o700);

    pull_the_plug(&server);
    let rows = dead(&server);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for (row, shell) in rows.iter().zip(["bash", "zsh"]) {
        assert_eq!((&row["name"], &row["argv"]), (&json!(format!("my-{shell}")), &json!([shell])));
        assert_eq!((&row["gone"], &row["labels"]), (&json!("killed"), &json!({"kind": shell})));
        assert_eq!(row["cwd"], json!(server.home().join("sub")));
        assert!(row["bytes"].as_u64().unwrap() > 14_000 && row["saved_ms"].is_u64(), "{row}");
    }
    let mut client = server.connect();
    let made = client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "persist": false}));
    assert_ne!(made["id"], before[0].0, "an id that is on disk is not given out");

    assert!(server.cli(&["restore", "my-bash"]).status.success());
    client.ok(json!({"cmd": "restore", "id": before[1].0, "env": {"PS1": "$ "}}));
    assert_eq!(dead(&server), [] as [Value; 0]);
    for (at, (id, lines, text, looks)) in before.iter().enumerate() {
        client.wait(id, json!([{"prompt": true}]));
        assert_eq!(&texts(&mut client, id, *lines), text);
        let now = seen(&mut client, id, *lines);
        assert_eq!(now.len(), looks.len());
        for (now, then) in now.iter().zip(looks) {
            assert_eq!(now, then);
        }
        let below = texts(&mut client, id, [lines[1], lines[1] + 2]);
        assert!(below[0].as_str().unwrap().starts_with("── restored, from 20"), "{below}");
        assert_eq!(below[1], "$", "{below}");
        let info = client.info(id);
        assert_eq!((&info["cols"], &info["rows"]), (&json!(70 + at), &json!(20)));
        assert_eq!(
            (&info["persist"], &info["labels"]),
            (&json!(true), &json!({"kind": rows[at]["labels"]["kind"]}))
        );
        let ran = client.run(id, "pwd; echo \"[$SECRET]\"");
        assert_eq!(ran["lines"], json!([server.home().join("sub"), "[]"]));
        assert_eq!(client.run(id, "false")["code"], 1);
    }
    // It persists as it did, also what came after.
    wait_kept(&server, "$ false\n$\n");
    let next = client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "persist": false}));
    let number = |id: &Value| id.as_str().unwrap()[1..].parse::<u32>().unwrap();
    assert!(number(&next["id"]) > number(&never["id"]));
}

#[test]
fn windows_and_splits_come_back_with_their_terminals() {
    let server = persistent();
    let person = Person::sits_down(&server, &["attach"]);
    person.sees("$");
    person.prefix("|");
    person.sees("[t2] [EDIT]");
    person.types("echo right-$((6 * 7))\n");
    person.sees("right-42");
    person.prefix("h");
    person.types("echo left-$((6 * 7))\n");
    person.sees("left-42");
    wait_kept(&server, "left-42\n$\n");
    wait_kept(&server, "right-42\n$\n");
    let layouts = |text: &str| {
        let entries = fs::read_dir(shelf(&server)).unwrap().map(|entry| entry.unwrap().path());
        let mut files = entries.filter(|path| path.to_str().unwrap().ends_with(":layouts"));
        files.any(|path| fs::read_to_string(path).unwrap().contains(text))
    };
    eventually("the layout is on disk", || layouts("\"terminal\":\"t2\""));
    person.prefix("d");
    person.has_left("[detached]");
    drop(person);

    pull_the_plug(&server);
    // One who looks first finds a new terminal, and a hint.
    let person = Person::sits_down(&server, &["attach"]);
    person.sees("2 terminals of before: t4a restore --all");
    let out = server.cli(&["restore", "--all"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    person.sees("2:");
    person.prefix("n");
    let rows = person.sees_screen(|rows| {
        let shows = |text: &str| rows.iter().any(|row| row.contains(text));
        shows("left-42") && shows("right-42") && shows("restored, from")
    });
    assert!(rows[0].starts_with("┌─ [t1]"), "{}", rows[0]);
    assert_eq!(rows[0].chars().nth(50), Some('┬'), "{}", rows[0]);
    assert!(rows[0].chars().skip(51).collect::<String>().contains("[t2]"), "{}", rows[0]);
}

#[test]
fn what_ended_in_good_order_is_not_kept_but_what_lived_at_a_shutdown_is() {
    let server = persistent();
    let mut client = server.connect();
    let cat = |client: &mut Client, name: &str, text: &str| {
        let script = format!("echo {text}; exec cat");
        client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", script], "name": name}))
    };
    cat(&mut client, "ends", "one");
    cat(&mut client, "killed", "two");
    cat(&mut client, "lives", "three");
    for word in ["one\n", "two\n", "three\n"] {
        wait_kept(&server, word);
    }
    client.ok(json!({"cmd": "send", "id": "ends", "input": "\u{4}"}));
    client.ok(json!({"cmd": "kill", "id": "killed"}));
    let words = |word: &str| files(&server).iter().any(|(_, text)| text.ends_with(word));
    eventually("what was killed is gone", || !words("two\n"));
    kill_worker(&server);
    let mut client = server.connect();
    assert_eq!(client.ok(json!({"cmd": "list", "dead": true}))["dead"], json!([]));
    eventually("what ended is gone", || !words("one\n"));
    client.type_in("lives", "last words\n");
    server.wait_for_text("lives", "last words");
    assert!(server.cli(&["shutdown"]).status.success());

    let rows = dead(&server);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["name"], &rows[0]["gone"]), (&json!("lives"), &json!("shutdown")));
    assert!(words("last words\nlast words\n"));
    let mut client = server.connect();
    let error = client.refused(json!({"cmd": "kill", "id": "ends", "dead": true}), "not_found");
    assert!(error.contains("there are t3"), "{error}");
    assert!(server.cli(&["kill", "--dead", "lives"]).status.success());
    assert_eq!((dead(&server), files(&server)), (Vec::new(), Vec::new()));
    client.refused(json!({"cmd": "restore", "id": "lives"}), "not_found");
}

#[test]
fn what_is_damaged_on_disk_is_refused_with_a_reason_and_does_no_harm() {
    let server = persistent();
    let mut client = server.connect();
    let gone = server.home().join("gone");
    fs::create_dir(&gone).unwrap();
    client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", "echo kept; exec cat"],
        "name": "whole", "cwd": gone}));
    let file = wait_kept(&server, "kept\n");
    pull_the_plug(&server);
    fs::remove_dir(&gone).unwrap();
    let good = fs::read_to_string(&file).unwrap();
    let prefix = file.to_str().unwrap().split(":t1:").next().unwrap().to_owned();
    let put = |id: u32, text: &str| fs::write(format!("{prefix}:t{id}:1"), text).unwrap();
    put(11, &good.replace("kept", "KEPT"));
    put(12, &good[..good.len() / 2]);
    put(13, &good.replacen(" 1 ", " 7 ", 1));
    put(14, "");
    symlink(&file, format!("{prefix}:t15:1")).unwrap();
    fs::create_dir(format!("{prefix}:t16:1")).unwrap();
    fs::write(format!("{prefix}:t17:1"), vec![0xff; 4096]).unwrap();
    fs::File::create(format!("{prefix}:t18:1")).unwrap().set_len(1 << 30).unwrap();
    fs::write(format!("{prefix}:layouts"), "nonsense").unwrap();

    let rows = dead(&server);
    let error = |id: &str| {
        let row = rows.iter().find(|row| row["id"] == id);
        row.map(|row| row["error"].as_str().unwrap_or("").to_owned())
    };
    let expected = [
        ("t1", Some("")),
        ("t11", Some("it is damaged or cut")),
        ("t12", Some("it is damaged or cut")),
        ("t13", Some("it is of version 7; this t4a reads 1")),
        ("t14", Some("it is cut")),
        ("t15", Some("it is a link, not a file")),
        ("t16", None),
        ("t17", Some("it is damaged")),
        ("t18", Some("it is too large")),
    ];
    for (id, why) in expected {
        assert_eq!(error(id).as_deref(), why, "{id}");
    }
    let mut client = server.connect();
    let refused = client.refused(json!({"cmd": "restore", "id": "t13"}), "system");
    assert!(refused.contains("version 7") && refused.contains("kill --dead t13"), "{refused}");
    let worker = server.worker_pid();
    let out = server.cli(&["restore", "--all"]);
    let (stdout, stderr) =
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("t11") && stderr.contains("t18"), "{stderr}");
    let answers: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let restored: Vec<_> = answers.iter().filter(|answer| answer["ok"] == true).collect();
    assert_eq!(restored.len(), 1, "{stdout}");
    assert_eq!((&restored[0]["id"], &restored[0]["cwd"]), (&json!("t1"), &json!(server.home())));
    // The directory is gone, which is said.
    let screen = client.screen("whole").concat();
    assert!(screen.contains(&format!("{} is not there: it starts in", gone.display())), "{screen}");
    assert_eq!(server.worker_pid(), worker);
    for id in ["t11", "t12", "t13", "t14", "t15", "t17", "t18"] {
        assert!(server.cli(&["kill", "--dead", id]).status.success(), "{id}");
    }
    assert_eq!(dead(&server), [] as [Value; 0]);
    assert!(file.exists(), "what a link names is not what is removed");
}

/// What the server says is wrong with the disk.
fn trouble(client: &mut Client) -> String {
    client.ok(json!({"cmd": "config"}))["persist_error"].as_str().unwrap_or_default().to_owned()
}

fn complaints(server: &Server) -> usize {
    let log = fs::read_to_string(server.dir().join("t4a/t4a.log")).unwrap_or_default();
    log.matches("terminals cannot be kept on disk").count()
}

#[test]
fn a_directory_that_is_not_ones_own_is_not_used_and_told_once() {
    let server = persistent();
    let elsewhere = server.dir().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir_all(shelf(&server).parent().unwrap()).unwrap();
    symlink(&elsewhere, shelf(&server)).unwrap();
    let mut client = server.connect();
    let made = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let id = made["id"].as_str().unwrap();
    eventually("it is told", || trouble(&mut client).contains("is not a directory of your own"));
    client.type_in(id, "works\n");
    server.wait_for_text(id, "works");
    client.refused(json!({"cmd": "list", "dead": true}), "system");
    let doctor = server.cli(&["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("not a directory of your own"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    fs::remove_file(shelf(&server)).unwrap();
    fs::create_dir(shelf(&server)).unwrap();
    fs::set_permissions(shelf(&server), fs::Permissions::from_mode(0o755)).unwrap();
    client.ok(json!({"cmd": "config", "persist": true}));
    eventually("it is told", || trouble(&mut client).contains("open to others"));
    assert_eq!((files(&server).len(), complaints(&server)), (0, 1));
    fs::set_permissions(shelf(&server), fs::Permissions::from_mode(0o700)).unwrap();
    client.ok(json!({"cmd": "config", "persist": true}));
    wait_kept(&server, "works\nworks\n");
    eventually("all is well again", || trouble(&mut client).is_empty());
}

/// As a full disk: no file may grow.
#[test]
fn a_full_disk_holds_nothing_up_and_is_told_once() {
    let server = persistent();
    let mut client = server.connect();
    let made = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let id = made["id"].as_str().unwrap();
    let file = wait_kept(&server, "}\n");
    let worker = server.worker_pid();
    let limit = |bytes: Option<u64>| {
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(Pid::from_raw(worker), Resource::Fsize, limit).unwrap();
    };
    limit(Some(100));
    client.type_in(id, "one\n");
    eventually("it is told", || trouble(&mut client).contains("no room is left"));
    for _ in 0..2 {
        client.ok(json!({"cmd": "config", "id": id, "persist": true}));
        client.type_in(id, "two\n");
        server.wait_for_text(id, "two");
    }
    assert_eq!((server.worker_pid(), complaints(&server)), (worker, 1));
    // What was there before stays, and nothing half done.
    assert!(fs::read_to_string(&file).unwrap().ends_with("}\n"));
    assert_eq!(fs::read_dir(shelf(&server)).unwrap().count(), 1);
    limit(None);
    client.ok(json!({"cmd": "config", "id": id, "persist": true}));
    wait_kept(&server, "two\n");
    eventually("all is well again", || trouble(&mut client).is_empty());
}

#[test]
fn the_oldest_files_make_room() {
    let server = persistent();
    let limits = server.connect().ok(json!({"cmd": "hello"}))["limits"].clone();
    let most = limits["kept_terminals"].as_u64().unwrap();
    let make = |name: String, bytes: u64, age: u64| {
        let file = fs::File::create(shelf(&server).join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000 - age)).unwrap();
    };
    fs::create_dir_all(shelf(&server)).unwrap();
    fs::set_permissions(shelf(&server), fs::Permissions::from_mode(0o700)).unwrap();
    for age in 0..most {
        make(format!("%other:t{age}:1"), 10, age);
    }
    let mut client = server.connect();
    client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", "echo first; exec cat"]}));
    let first = wait_kept(&server, "first\n");
    let count = || fs::read_dir(shelf(&server)).unwrap().count() as u64;
    eventually("there is room for it", || count() == most);
    let there = |age: u64| shelf(&server).join(format!("%other:t{age}:1")).exists();
    assert!(!there(most - 1) && there(most - 2) && there(0));

    make("%other:huge:1".to_owned(), limits["kept_bytes"].as_u64().unwrap(), 200_000);
    client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", "echo second; exec cat"]}));
    wait_kept(&server, "second\n");
    eventually("what is huge made room", || !shelf(&server).join("%other:huge:1").exists());
    // A terminal that lives stays, also when it is the oldest.
    let old = fs::File::open(&first).unwrap();
    old.set_modified(UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    make("%other:huge:2".to_owned(), limits["kept_bytes"].as_u64().unwrap(), 0);
    client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", "echo third; exec cat"]}));
    wait_kept(&server, "third\n");
    eventually("all others made room", || count() == 3);
    assert!(first.exists());
}

#[test]
fn without_persist_nothing_is_on_disk() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    client.run(&id, "echo secret");
    let config = client.ok(json!({"cmd": "config", "id": id}));
    assert_eq!(config["persist"], false);
    // Twice what it takes where terminals persist.
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "name": "kept", "persist": true}));
    wait_kept(&server, "}\n");
    client.ok(json!({"cmd": "kill", "id": "kept"}));
    eventually("nothing is left", || files(&server).is_empty());
    assert!(server.cli(&["shutdown"]).status.success());
    assert!(files(&server).is_empty());
    assert_eq!(dead(&server), [] as [Value; 0]);
    let fresh = Server::start();
    fresh.shell("bash");
    assert!(fresh.cli(&["shutdown"]).status.success());
    assert!(!fresh.home().join(".local").exists());
}
