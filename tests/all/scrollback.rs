//! Scrollback of all terminals together stays below its ceiling: the oldest lines go first.

use std::os::unix::fs::MetadataExt;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Client, Server, eventually};

/// Bytes; the least that can be set.
const CEILING: u64 = 4 << 20;
/// What a terminal keeps in memory besides: its ring, its saves, its record.
const BESIDES: u64 = 512 << 10;

/// Lines of a hundred characters that tell their number.
fn print(server: &Server, client: &mut Client, id: &str, lines: std::ops::Range<u64>) {
    let since = client.ok(json!({"cmd": "hello"}))["seq"].as_u64().unwrap();
    let request = format!("{} {}\n", lines.start, lines.end - 1);
    client.type_in(id, &request);
    server.events(id, since).event("bell");
}

/// A terminal that prints numbered lines from one number to another, as often as it is asked.
fn printer(server: &Server, client: &mut Client) -> String {
    let script =
        "stty -echo; printf '\\a'; while read a b; do seq -f %0100.0f $a $b; printf '\\a'; done";
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", script],
        "cols": 120, "rows": 10, "scrollback_lines": 1_000_000}));
    let id = created["id"].as_str().unwrap().to_owned();
    server.events(&id, created["seq"].as_u64().unwrap()).event("bell");
    id
}

/// The first line held, which must be the one of its number, and so the next.
fn first_held(client: &mut Client, id: &str) -> u64 {
    let first = client.info(id)["lines"][0].as_u64().unwrap();
    let text = client.ok(json!({"cmd": "text", "id": id, "first_line": 0, "count": 2}));
    assert_eq!(text["first_line"], first, "a line that is gone is answered from the oldest held");
    let expected: Vec<Value> = (first..first + 2).map(|n| format!("{n:0100}").into()).collect();
    if first < client.info(id)["lines"][1].as_u64().unwrap() - 12 {
        assert_eq!(text["lines"], json!(expected));
    }
    first
}

fn used(client: &mut Client) -> u64 {
    client.ok(json!({"cmd": "hello"}))["used"]["scrollback_total_bytes"].as_u64().unwrap()
}

/// Bytes of all files in memory that a process holds; None where one may not look.
fn shared_memory(pid: i32) -> Option<u64> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let paths = entries.flatten().map(|entry| entry.path());
    let files = paths.filter(|path| {
        std::fs::read_link(path).is_ok_and(|to| to.to_string_lossy().starts_with("/memfd:"))
    });
    // A descriptor may be closed meanwhile; two may be of the same file.
    let mut files: Vec<_> = files.filter_map(|path| std::fs::metadata(path).ok()).collect();
    files.sort_by_key(MetadataExt::ino);
    files.dedup_by_key(|file| file.ino());
    Some(files.iter().map(|file| file.blocks() * 512).sum())
}

fn check_memory(server: &Server, client: &mut Client, terminals: u64) {
    assert!(used(client) <= CEILING, "{}", used(client));
    let most = CEILING + (terminals + 1) * BESIDES;
    let shared = shared_memory(server.worker_pid());
    assert!(shared.is_none_or(|bytes| bytes <= most), "{shared:?} of {most}");
}

#[test]
fn the_oldest_lines_of_all_terminals_go_first() {
    let server = Server::start();
    let mut client = server.connect();
    let set = client.ok(json!({"cmd": "config", "scrollback_total_bytes": CEILING}));
    assert_eq!(set["scrollback_total_bytes"], CEILING);
    assert_eq!(client.ok(json!({"cmd": "hello"}))["limits"]["scrollback_total_bytes"], CEILING);
    let ids: Vec<String> = (0..4).map(|_| printer(&server, &mut client)).collect();
    // 1 MiB each time. The first one writes first and then falls silent.
    print(&server, &mut client, &ids[0], 0..9000);
    assert_eq!(first_held(&mut client, &ids[0]), 0);
    for from in [0, 9000] {
        for id in &ids[1..] {
            print(&server, &mut client, id, from..from + 9000);
            check_memory(&server, &mut client, 4);
        }
    }
    let held: Vec<u64> = ids.iter().map(|id| first_held(&mut client, id)).collect();
    assert_eq!(held[0], 8991, "all of the oldest, but not the screen");
    // Then the first round of the others, but for what shares a page with the second, and of that
    // what came first.
    assert!(held[1..].iter().all(|first| (8000..17_000).contains(first)), "{held:?}");
    assert!(held[1] > held[2] && held[2] >= held[3], "{held:?}");
    for id in &ids[1..] {
        let lines = &client.info(id)["lines"];
        let newest = json!({"cmd": "text", "id": id, "first_line": 17_000, "count": 990});
        let newest = client.ok(newest)["lines"].as_array().unwrap().clone();
        let expected: Vec<Value> = (17_000..17_990).map(|n| format!("{n:0100}").into()).collect();
        assert_eq!(newest, expected, "{id} holds {lines}");
    }
    let screen = client.screen(&ids[0]);
    assert_eq!(screen[8], format!("{:0100}", 8999));
    check_restart(&server, &ids, &held);
}

/// A new worker finds the same lines, and keeps to the same ceiling.
fn check_restart(server: &Server, ids: &[String], held: &[u64]) {
    let worker = server.worker_pid();
    kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
    eventually("another worker", || server.worker_pid() != worker);
    let mut client = server.connect();
    let now: Vec<u64> = ids.iter().map(|id| first_held(&mut client, id)).collect();
    assert_eq!(now, held);
    assert_eq!(client.ok(json!({"cmd": "config"}))["scrollback_total_bytes"], CEILING);
    check_memory(server, &mut client, 4);
    // It remembers which are the oldest: the last terminal has written after the second.
    print(server, &mut client, &ids[0], 9000..18_000);
    let after: Vec<u64> = ids.iter().map(|id| first_held(&mut client, id)).collect();
    assert!(after[0] < 9100 && after[1] > held[1], "{held:?} {after:?}");
    assert!(after[3] <= after[1], "{held:?} {after:?}");
    check_memory(server, &mut client, 4);
}

#[test]
fn a_lower_ceiling_takes_effect_at_once_and_killed_terminals_make_room() {
    let server = Server::start();
    let mut client = server.connect();
    let id = printer(&server, &mut client);
    print(&server, &mut client, &id, 0..60_000);
    let before = used(&mut client);
    assert!(before > 6 << 20, "{before}");
    client.ok(json!({"cmd": "config", "scrollback_total_bytes": CEILING}));
    check_memory(&server, &mut client, 1);
    let first = first_held(&mut client, &id);
    assert!((20_000..55_000).contains(&first), "{first}");
    // What was searched does not come back.
    let found = client.ok(json!({"cmd": "search", "id": id, "pattern": "0000059999$"}));
    assert_eq!(found["total"], 1);
    check_memory(&server, &mut client, 1);
    client.ok(json!({"cmd": "kill", "id": id}));
    assert_eq!(used(&mut client), 0);
    for refused in [CEILING - 1, (64 << 30) + 1] {
        let request = json!({"cmd": "config", "scrollback_total_bytes": refused});
        let error = client.refused(request, "bad_value");
        assert!(error.contains("4194304 to 68719476736"), "{error}");
    }
    let request = json!({"cmd": "config", "scrollback_total_bytes": 64_u64 << 30});
    assert_eq!(client.ok(request)["scrollback_total_bytes"], 64_u64 << 30);
}

/// One turn of output can fill a scrollback by scrolling alone.
#[test]
fn scrolling_by_numbers_stays_below_the_ceiling_too() {
    let server = Server::start();
    let mut client = server.connect();
    client.ok(json!({"cmd": "config", "scrollback_total_bytes": CEILING}));
    let created = client.ok(json!({"cmd": "create", "cols": 200, "rows": 1000,
        "scrollback_lines": 1_000_000, "cmd_args": ["sh", "-c",
        "yes \"$(printf '\\033[1;1H%0200d\\033[9999S' 7)\" | head -n 2000; printf '\\a'; exec cat"]}));
    let id = created["id"].as_str().unwrap();
    server.events(id, created["seq"].as_u64().unwrap()).event("bell");
    check_memory(&server, &mut client, 1);
    let lines = client.info(id)["lines"].clone();
    assert!(lines[1].as_u64().unwrap() >= 2_000_000, "{lines}");
}

/// Set in the person's configuration, it counts from the server's start.
#[test]
fn the_ceiling_comes_from_the_configuration() {
    let server = Server::not_started();
    let file = server.home().join(".config/t4a/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "scrollback_total_bytes = 8388608\n").unwrap();
    let config = server.json(&["config"]);
    assert_eq!(config["scrollback_total_bytes"], 8 << 20);
    std::fs::write(&file, "scrollback_total_bytes = 1\n").unwrap();
    let checked = server.cli(&["config", "check"]);
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(
        said.contains("line 1: scrollback_total_bytes: must be a number from 4194304"),
        "{said}"
    );
}
