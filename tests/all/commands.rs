//! Each command that changes something, through the real program and a real shell.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Client, Server, alive, eventually, open_files};

fn pid(of: &Value) -> i64 {
    of["pid"].as_i64().unwrap()
}

fn proc_file(pid: i64, name: &str) -> String {
    String::from_utf8(std::fs::read(format!("/proc/{pid}/{name}")).unwrap()).unwrap()
}

/// What a program was started with.
fn environment(pid: i64) -> BTreeMap<String, String> {
    let text = proc_file(pid, "environ");
    let pairs = text.split('\0').filter_map(|entry| entry.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn directory(pid: i64) -> PathBuf {
    std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap()
}

/// A server started by a shell line that ends in `exec "$0" "$@"`, with the arguments of t4a.
fn started_by(line: &str, variables: &[(&str, &str)]) -> Server {
    let server = Server::not_started();
    let own = server.command();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line]).arg(own.get_program()).arg("hello");
    for (name, value) in own.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        shell.env(name, value);
    }
    shell.envs(variables.iter().copied()).env_remove("T4A_TERMINAL");
    assert!(shell.output().unwrap().status.success());
    server
}

#[test]
fn create_answers_when_the_program_runs() {
    let server = Server::start();
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cols": 100, "rows": 30}));
    assert_eq!((&created["cols"], &created["rows"]), (&json!(100), &json!(30)));
    assert!(alive(created["pid"].as_i64().unwrap()));
    let id = created["id"].as_str().unwrap();
    let list = client.ok(json!({"cmd": "list"}));
    assert_eq!(list["terminals"][0]["id"], id);
    assert_eq!(list["terminals"][0]["alive"], true);
}

#[test]
fn kill_ends_the_program_and_forgets_the_terminal() {
    let server = Server::start();
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    client.ok(json!({"cmd": "kill", "id": created["id"]}));
    assert!(!alive(created["pid"].as_i64().unwrap()));
    client.refused(json!({"cmd": "cursor", "id": created["id"]}), "not_found");
}

#[test]
fn kill_does_not_ask_twice() {
    let server = Server::start();
    let mut client = server.connect();
    let deaf = ["sh", "-c", "trap '' HUP; echo deaf; while :; do sleep 100; done"];
    let created = client.ok(json!({"cmd": "create", "cmd_args": deaf}));
    let id = created["id"].as_str().unwrap();
    server.wait_for_text(id, "deaf");
    client.ok(json!({"cmd": "kill", "id": id}));
    eventually("the program is gone", || !alive(created["pid"].as_i64().unwrap()));
}

#[test]
fn a_terminal_has_the_name_and_labels_it_was_given() {
    let server = Server::start();
    let mut client = server.connect();
    let labels = json!({"task": "17", "who": "ü"});
    let request = json!({"cmd": "create", "cmd_args": ["cat"], "name": "build", "labels": labels});
    let created = client.ok(request.clone());
    assert_eq!(created["name"], "build");
    let mut events = server.events("build", created["seq"].as_u64().unwrap());
    assert_eq!(events.event("created")["name"], "build");
    let listed = client.ok(json!({"cmd": "list"}))["terminals"][0].clone();
    let told = client.info("build");
    for answer in [listed, told] {
        assert_eq!((&answer["name"], &answer["labels"]), (&json!("build"), &labels), "{answer}");
    }
    let error = client.refused(request.clone(), "name_taken");
    assert!(error.contains("\"build\" is taken"), "{error}");
    client.ok(json!({"cmd": "kill", "id": "build"}));
    assert_ne!(client.ok(request)["id"], created["id"], "the name is free, the id is not");
}

#[test]
fn every_command_takes_an_id_or_a_name() {
    let server = Server::start();
    let mut client = server.connect();
    let request = json!({"cmd": "create", "cmd_args": ["cat"], "name": "build"});
    let id = client.ok(request)["id"].clone();
    for name in [&id, &json!("build")] {
        client.ok(json!({"cmd": "text", "id": name}));
        client.ok(json!({"cmd": "cursor", "id": name}));
        client.ok(json!({"cmd": "resize", "id": name, "cols": 90, "rows": 20}));
        client.ok(json!({"cmd": "config", "id": name}));
        client.ok(json!({"cmd": "send", "id": name, "input": "x"}));
        client.ok(json!({"cmd": "signal", "id": name, "signal": "CONT"}));
        assert_eq!(client.ok(json!({"cmd": "info", "id": name}))["id"], id);
        let mut events = server.connect();
        events.send(&json!({"cmd": "events", "terminal": name, "since": 0}));
        assert_eq!(events.event("created")["terminal"], id);
    }
    assert_eq!(client.ok(json!({"cmd": "kill", "id": "build"}))["id"], id);
}

#[test]
fn the_environment_is_the_servers_without_what_does_not_belong() {
    let unwanted = [
        ("TMUX", "/x,1,0"),
        ("TMUX_PANE", "%1"),
        ("STY", "1.pts"),
        ("TERM_PROGRAM", "other"),
        ("COLUMNS", "7"),
        ("LINES", "7"),
        ("LISTEN_FDNAMES", "x"),
        ("LD_PRELOAD", "/no/such/library.so"),
        ("LD_LIBRARY_PATH", "/no/such/directory"),
    ];
    let own = [("TERM", "dumb"), ("COLORTERM", "none"), ("MINE", "kept"), ("T4A_TERMINAL", "t9")];
    let server = started_by("exec \"$0\" \"$@\"", &[&unwanted[..], &own[..]].concat());
    let request = json!({"cmd": "create", "cmd_args": ["cat"], "env": {"A": "b=c", "MORE": ""}});
    let created = server.connect().ok(request);
    let found = environment(pid(&created));
    let socket = server.socket().display().to_string();
    let expected = [
        ("TERM", "xterm-256color"),
        ("COLORTERM", "truecolor"),
        ("T4A_TERMINAL", created["id"].as_str().unwrap()),
        ("T4A_SOCKET", &socket),
        ("MINE", "kept"),
        ("A", "b=c"),
        ("MORE", ""),
    ];
    for (name, value) in expected {
        assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}");
    }
    for (name, _) in unwanted {
        assert_eq!(found.get(name), None, "{name}");
    }
}

#[test]
fn an_environment_of_its_own_holds_only_what_was_asked_for() {
    let server = Server::start();
    let request = json!({"cmd": "create", "cmd_args": ["cat"], "inherit_env": false,
        "env": {"TERM": "vt100", "COLORTERM": "", "ONLY": "this"}});
    let created = server.connect().ok(request);
    let found = environment(pid(&created));
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(names, ["COLORTERM", "ONLY", "T4A_SOCKET", "T4A_TERMINAL", "TERM"]);
    assert_eq!((found["TERM"].as_str(), found["COLORTERM"].as_str()), ("vt100", ""));
}

#[test]
fn a_program_starts_at_home_or_where_it_is_told_to() {
    let server = Server::start();
    let mut client = server.connect();
    let place = server.home().join("a place");
    std::fs::create_dir(&place).unwrap();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    assert_eq!(directory(pid(&created)), server.home());
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "cwd": place}));
    assert_eq!(directory(pid(&created)), place);
}

#[test]
fn a_program_inherits_its_tty_and_nothing_else() {
    let line = "trap '' HUP INT QUIT PIPE; ulimit -S -n 300; exec 9</dev/null; exec \"$0\" \"$@\"";
    let server = started_by(line, &[]);
    let id = server.script("printf '\\a'; read line");
    let pid = pid(&server.connect().info(&id));
    let open = open_files(pid);
    assert_eq!(open.len(), 3, "{open:?}");
    assert!(open.iter().all(|target| target.starts_with("/dev/pts")), "{open:?}");
    let status = proc_file(pid, "status");
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        // The C library keeps the two signals above the classic ones to itself.
        u64::from_str_radix(line.trim(), 16).unwrap() & 0x7fff_ffff
    };
    assert_eq!((mask("SigIgn:"), mask("SigBlk:")), (0, 0));
    let limits = proc_file(pid, "limits");
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("300"), "{files}");
    let stat = proc_file(pid, "stat");
    let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let own = pid.to_string();
    assert_eq!((fields[2], fields[3]), (own.as_str(), own.as_str()), "its own group and session");
}

#[test]
fn a_group_that_does_not_listen_is_killed_whole() {
    let server = Server::start();
    let note = server.home().join("child");
    let script =
        format!("trap '' HUP; sleep 1000 & echo $! > {}; printf '\\a'; wait; wait", note.display());
    let id = server.script(&script);
    let mut client = server.connect();
    let leader = pid(&client.info(&id));
    let child: i64 = std::fs::read_to_string(note).unwrap().trim().parse().unwrap();
    let since = client.ok(json!({"cmd": "hello"}))["seq"].as_u64().unwrap();
    let mut events = server.events(&id, since);
    client.ok(json!({"cmd": "kill", "id": id}));
    assert!(!alive(leader));
    eventually("the child is gone too", || !alive(child));
    assert_eq!(events.event("exit")["signal"], "KILL");
    assert_eq!(events.event("killed")["reason"], "asked");
}

/// The leader listens, so that it is gone long before the grace time is over.
#[test]
fn one_of_a_group_that_does_not_listen_is_killed_too() {
    let server = Server::start();
    let note = server.home().join("child");
    let script = format!(
        "sh -c 'trap \"\" HUP; echo $$ > {}; printf \"\\a\"; exec sleep 1000' & wait",
        note.display()
    );
    let id = server.script(&script);
    let child: i64 = std::fs::read_to_string(note).unwrap().trim().parse().unwrap();
    server.connect().ok(json!({"cmd": "kill", "id": id}));
    eventually("the child is gone", || !alive(child));
}

/// A shell puts a command into a group of its own, which has the keyboard.
#[test]
fn a_command_that_does_not_listen_is_killed_with_its_shell() {
    for ends in ["kill", "shutdown"] {
        let server = Server::start();
        let id = server.shell("bash");
        let mut client = server.connect();
        let line = "sh -c 'trap \"\" HUP; printf \"\\a\"; exec sleep 1000'\n";
        let since = client.type_in(&id, line);
        server.events(&id, since).event("bell");
        eventually("it runs", || client.info(&id)["foreground"]["name"] == "sleep");
        let command = client.info(&id)["foreground"]["pid"].as_i64().unwrap();
        match ends {
            "kill" => drop(client.ok(json!({"cmd": "kill", "id": id}))),
            _ => assert!(server.cli(&["shutdown"]).status.success()),
        }
        eventually("the command is gone", || !alive(command));
    }
}

#[test]
fn a_stopped_program_can_be_killed() {
    let server = Server::start();
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    client.ok(json!({"cmd": "signal", "id": created["id"], "signal": "STOP"}));
    eventually("it stands still", || proc_file(pid(&created), "stat").contains(") T "));
    client.ok(json!({"cmd": "kill", "id": created["id"]}));
    assert!(!alive(pid(&created)));
}

#[test]
fn the_dead_stay_readable_until_there_are_too_many() {
    let server = Server::start();
    let mut client = server.connect();
    let most = client.ok(json!({"cmd": "hello"}))["limits"]["dead_terminals"].as_u64().unwrap();
    let mut events = server.connect();
    events.send(&json!({"cmd": "events", "types": ["exit", "killed"], "since": 0}));
    for number in 0..=most {
        let words = format!("printf 'words of {number}'; exit {number}");
        client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", words]}));
        events.event("exit");
    }
    let killed = events.event("killed");
    assert_eq!((&killed["terminal"], &killed["reason"]), (&json!("t1"), &json!("evicted")));
    client.refused(json!({"cmd": "text", "id": "t1"}), "not_found");
    assert_eq!(client.screen("t2")[0], "words of 1");
    let listed = client.ok(json!({"cmd": "list"}))["terminals"].clone();
    assert_eq!(listed.as_array().unwrap().len() as u64, most);
    assert_eq!((&listed[0]["alive"], &listed[0]["exit_code"]), (&json!(false), &json!(1)));
    let error = client.refused(json!({"cmd": "signal", "id": "t2", "signal": "INT"}), "exited");
    assert!(error.contains("t2 has ended"), "{error}");
    client.ok(json!({"cmd": "kill", "id": "t2"}));
    client.refused(json!({"cmd": "text", "id": "t2"}), "not_found");
}

#[test]
fn line_ends_of_any_kind_are_the_enter_key() {
    let server = Server::start();
    let id = server.script("stty raw -echo; printf '\\a'; exec od -v -An -tx1 -w1");
    server.connect().type_in(&id, "");
    server.connect().type_in(&id, "a\r\nb\n\rc\n\n~");
    let rows = server.wait_for_text(&id, "7e");
    let bytes: Vec<_> = rows.iter().flat_map(|row| row.split_whitespace()).collect();
    assert_eq!(bytes, ["61", "0d", "62", "0d", "0d", "63", "0d", "0d", "7e"]);
}

#[test]
fn a_signal_reaches_the_foreground_and_not_the_shell() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let since = client.type_in(&id, "sh -c 'printf \"\\a\"; exec sleep 1000'\n");
    let mut events = server.events(&id, since);
    events.event("bell");
    client.ok(json!({"cmd": "signal", "id": id, "signal": "sigterm"}));
    assert_eq!(events.event("command_done")["code"], 143);
    assert_eq!(client.info(&id)["alive"], true);
}

/// INT drops what was typed, as the key does: `load` has that. Others leave it to the program.
#[test]
fn a_signal_passes_a_paste_that_is_queued() {
    let server = Server::start();
    let script =
        "stty raw -echo; trap 'echo heard' USR1; printf '\\a'; while :; do sleep 0.02; done";
    let id = server.script(script);
    let mut client = server.connect();
    client.type_in(&id, &"x".repeat(200_000));
    let signalled = client.ok(json!({"cmd": "signal", "id": id, "signal": "USR1"}));
    assert_eq!(signalled["dropped_bytes"], 0);
    server.wait_for_text(&id, "heard");
    let queued = client.info(&id)["queued_input_bytes"].as_u64().unwrap();
    assert!(queued > 100_000, "{queued}");
}

#[test]
fn another_idle_time_counts_at_once_for_the_server_and_for_one_terminal() {
    let server = Server::start();
    let mut client = server.connect();
    client.ok(json!({"cmd": "config", "idle_timeout_ms": 3_600_000}));
    let usual = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}))["id"].clone();
    let request = json!({"cmd": "create", "cmd_args": ["cat"], "idle_timeout_ms": 7_200_000});
    let own = client.ok(request)["id"].clone();
    let setting = |client: &mut Client, id: &Value| {
        client.ok(json!({"cmd": "config", "id": id}))["idle_timeout_ms"].clone()
    };
    assert_eq!(setting(&mut client, &usual), 3_600_000);
    assert_eq!(setting(&mut client, &own), 7_200_000);
    let mut events = server.connect();
    events.send(&json!({"cmd": "events", "types": ["idle"], "since": 0}));
    client.ok(json!({"cmd": "config", "idle_timeout_ms": 20}));
    let idle = events.event("idle");
    assert_eq!((&idle["terminal"], &idle["after_ms"]), (&usual, &json!(20)));
    assert_eq!(setting(&mut client, &own), 7_200_000, "its own stays");
    client.ok(json!({"cmd": "config", "id": own, "idle_timeout_ms": 30}));
    let idle = events.event("idle");
    assert_eq!((&idle["terminal"], &idle["after_ms"]), (&own, &json!(30)));
    assert_eq!(client.ok(json!({"cmd": "config"}))["idle_timeout_ms"], 20);
}

#[test]
fn hello_tells_who_is_there() {
    let server = Server::start();
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let hello = client.ok(json!({"cmd": "hello"}));
    assert_eq!(hello["socket"], server.socket().display().to_string());
    assert_eq!(hello["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(hello["terminals"], 1);
    let parent = |pid: i64| -> i64 {
        let stat = proc_file(pid, "stat");
        stat.rsplit(") ").next().unwrap().split(' ').nth(1).unwrap().parse().unwrap()
    };
    let keeper = hello["keeper_pid"].as_i64().unwrap();
    assert_eq!(parent(hello["worker_pid"].as_i64().unwrap()), keeper);
    assert_eq!(parent(pid(&created)), keeper, "the keeper holds the programs");
}

#[test]
fn untagged_requests_sent_at_once_are_answered_in_order() {
    let server = Server::start();
    let id = server.script("trap '' HUP; printf '\\a'; while :; do sleep 100; done");
    let mut client = server.connect();
    let mut lines = format!("{}\n", json!({"cmd": "kill", "id": id}));
    for cols in 1..=200 {
        lines += &format!("{}\n", json!({"cmd": "create", "cols": cols, "cmd_args": ["true"]}));
    }
    client.send_raw(lines.as_bytes());
    assert_eq!(client.next()["id"], *id, "the next one waits for an answer that takes a second");
    for cols in 1..=200 {
        assert_eq!(client.next()["cols"], cols);
    }
}

#[test]
fn tagged_requests_overtake_a_slow_one() {
    let server = Server::start();
    let id = server.script("trap '' HUP; printf '\\a'; while :; do sleep 100; done");
    let mut client = server.connect();
    client.send(&json!({"cmd": "kill", "id": id, "tag": "slow"}));
    let tags = [json!(0), json!(-7), json!(1.5), json!("ü\"\n"), json!("")];
    tags.iter().for_each(|tag| client.send(&json!({"cmd": "info", "id": id, "tag": tag})));
    let mut answered: Vec<_> = tags.iter().map(|_| client.next()["tag"].to_string()).collect();
    let mut asked: Vec<_> = tags.iter().map(Value::to_string).collect();
    answered.sort();
    asked.sort();
    assert_eq!(answered, asked);
    let last = client.next();
    assert_eq!((&last["tag"], &last["ok"]), (&json!("slow"), &json!(true)));
}

#[test]
fn more_tagged_requests_than_may_be_under_way_are_all_answered() {
    let server = Server::start();
    let mut client = server.connect();
    let most = client.ok(json!({"cmd": "hello"}))["limits"]["in_flight"].as_u64().unwrap();
    let request = |tag| json!({"cmd": "create", "cmd_args": ["true"], "tag": tag});
    let lines: String = (0..3 * most).map(|tag| format!("{}\n", request(tag))).collect();
    client.send_raw(lines.as_bytes());
    let mut tags: Vec<_> = (0..3 * most).map(|_| client.next()["tag"].as_u64().unwrap()).collect();
    tags.sort_unstable();
    assert!(tags.into_iter().eq(0..3 * most));
}

#[test]
fn a_client_that_sends_no_more_gets_its_answers() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(&json!({"cmd": "create", "cmd_args": ["cat"]}));
    client.send(&json!({"cmd": "list"}));
    client.stream().shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.next()["id"], "t1");
    assert_eq!(client.next()["terminals"][0]["id"], "t1");
    assert_eq!(client.try_next(), None);
}

#[test]
fn shutdown_ends_the_server_and_every_program() {
    let server = Server::start();
    let deaf = server.script("trap '' HUP; printf '\\a'; while :; do sleep 100; done");
    let mut client = server.connect();
    let hello = client.ok(json!({"cmd": "hello"}));
    let deaf = pid(&client.info(&deaf));
    let cat = pid(&client.ok(json!({"cmd": "create", "cmd_args": ["cat"]})));
    assert_eq!(client.ok(json!({"cmd": "shutdown"})), json!({"ok": true}));
    assert_eq!(client.try_next(), None, "it is over when the connection ends");
    assert!(!alive(deaf) && !alive(cat));
    assert!(!server.socket().exists());
    eventually("both processes are gone", || {
        !alive(hello["keeper_pid"].as_i64().unwrap())
            && !alive(hello["worker_pid"].as_i64().unwrap())
    });
}
