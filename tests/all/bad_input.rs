//! What is not right is answered with a code and a sentence, and harms nobody.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::support::{Client, PATIENCE, Server, eventually};

/// A line, the code of its refusal, and what the sentence must say.
type Case<'a> = (&'a [u8], &'a str, &'a [&'a str]);

/// Each line is refused as it should be, and the connection lives on.
fn check(server: &Server, cases: &[Case]) {
    let mut client = server.connect();
    for (line, code, words) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]);
        client.send_raw(line);
        client.send_raw(b"\n");
        let answer = client.next();
        assert_eq!(answer["ok"], false, "{shown} was taken: {answer}");
        assert_eq!(answer["code"], *code, "{shown}: {answer}");
        let error = answer["error"].as_str().unwrap();
        for word in *words {
            assert!(error.contains(word), "{shown}: no {word:?} in {error:?}");
        }
        client.ok(json!({"cmd": "hello"}));
    }
}

fn check_json(server: &Server, cases: &[(Value, &str, &[&str])]) {
    let lines: Vec<_> = cases.iter().map(|(request, ..)| request.to_string()).collect();
    let cases: Vec<_> = lines
        .iter()
        .zip(cases)
        .map(|(line, (_, code, words))| (line.as_bytes(), *code, *words))
        .collect();
    check(server, &cases);
}

#[test]
fn what_is_not_one_object_of_json_is_refused() {
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let cases: &[Case] = &[
        (b"", "bad_json", &["not JSON", "one JSON object a line"]),
        (b"hello", "bad_json", &["not JSON", "one JSON object a line"]),
        (b"{\"cmd\": \"list\"", "bad_json", &["not JSON"]),
        (b"{\"cmd\": \"list\"} {}", "bad_json", &["not JSON"]),
        (b"{'cmd': 'list'}", "bad_json", &["not JSON"]),
        (b"GET / HTTP/1.1\r", "bad_json", &["not JSON"]),
        (b"null", "bad_json", &["a JSON object, not null"]),
        (b"7", "bad_json", &["a JSON object, not a number"]),
        (b"\"list\"", "bad_json", &["a JSON object, not a string"]),
        (b"[{\"cmd\": \"list\"}]", "bad_json", &["a JSON object, not an array"]),
        (b"{\"cmd\": \"\xff\xfe\"}", "bad_json", &["not UTF-8 from byte 9"]),
        (b"{\"cmd\": \"\\ud800\"}", "bad_json", &["not JSON"]),
        (b"\0\0\0\0", "bad_json", &["not JSON"]),
        (&deep, "bad_json", &["not JSON", "recursion"]),
    ];
    check(&Server::start(), cases);
}

#[test]
fn a_request_needs_a_command_that_there_is() {
    let long = "x".repeat(1000);
    let cases: &[(Value, &str, &[&str])] = &[
        (json!({}), "bad_value", &["no cmd", "{\"cmd\": \"list\"}"]),
        (json!({"id": "t1"}), "bad_value", &["no cmd"]),
        (json!({"cmd": null}), "bad_value", &["cmd must be a string"]),
        (json!({"cmd": ["list"]}), "bad_value", &["cmd must be a string"]),
        (json!({"cmd": "lits"}), "unknown_command", &["\"lits\"", "create, list, kill"]),
        (json!({"cmd": ""}), "unknown_command", &["create, list, kill"]),
        (json!({"cmd": "LIST"}), "unknown_command", &["\"LIST\""]),
        (json!({"cmd": long}), "unknown_command", &["\"xxx"]),
        (json!({"cmd": "list", "tag": true}), "bad_value", &["tag must be a string or a number"]),
        (json!({"cmd": "list", "tag": long}), "bad_value", &["tag", "256 bytes"]),
    ];
    check_json(&Server::start(), cases);
}

#[test]
fn unknown_fields_and_wrong_types_are_named() {
    let server = Server::start();
    server.connect().ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let cases: &[(Value, &str, &[&str])] = &[
        (json!({"cmd": "list", "all": true}), "unknown_field", &["list", "`all`"]),
        (json!({"cmd": "create", "colums": 80}), "unknown_field", &["`colums`", "`cols`"]),
        (json!({"cmd": "cursor", "id": "t1", "Id": 1}), "unknown_field", &["`Id`", "`id`"]),
        (json!({"cmd": "create", "cols": "80"}), "bad_value", &["cols", "string", "i64"]),
        (json!({"cmd": "create", "rows": 2.5}), "bad_value", &["rows", "2.5"]),
        (json!({"cmd": "create", "cmd_args": "ls"}), "bad_value", &["cmd_args", "sequence"]),
        (json!({"cmd": "create", "cmd_args": [1]}), "bad_value", &["cmd_args[0]", "string"]),
        (json!({"cmd": "create", "env": ["A=b"]}), "bad_value", &["env", "object"]),
        (json!({"cmd": "create", "env": {"A": 1}}), "bad_value", &["env", "string"]),
        (json!({"cmd": "create", "ready": "yes"}), "bad_value", &["ready", "boolean"]),
        (json!({"cmd": "create", "labels": {"a": {}}}), "bad_value", &["labels", "string"]),
        (json!({"cmd": "kill"}), "bad_value", &["kill", "missing field `id`"]),
        (json!({"cmd": "kill", "id": 1}), "bad_value", &["id", "string"]),
        (json!({"cmd": "send", "id": "t1", "input": 7}), "bad_value", &["input", "string"]),
        (json!({"cmd": "text", "id": "t1", "trim": 1}), "bad_value", &["trim", "boolean"]),
        (json!({"cmd": "text", "id": "t1", "region": "x"}), "bad_value", &["region", "viewport"]),
        (json!({"cmd": "text", "id": "t1", "first_line": -1}), "bad_value", &["first_line", "-1"]),
        (json!({"cmd": "resize", "id": "t1", "cols": 9}), "bad_value", &["missing field `rows`"]),
        (json!({"cmd": "events", "since": "0"}), "bad_value", &["since", "string"]),
        (json!({"cmd": "events", "types": "bell"}), "bad_value", &["types", "sequence"]),
        (json!({"cmd": "events", "types": ["bel"]}), "bad_value", &["types[0]", "\"bel\"", "bell"]),
        (json!({"cmd": "config", "idle_timeout_ms": []}), "bad_value", &["idle_timeout_ms"]),
        (json!({"cmd": "signal", "id": "t1"}), "bad_value", &["missing field `signal`"]),
    ];
    check_json(&server, cases);
}

#[test]
fn values_out_of_range_are_named_with_the_range() {
    let server = Server::start();
    server.connect().ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let many: serde_json::Map<String, Value> =
        (0..33).map(|n| (format!("l{n}"), json!("x"))).collect();
    let long = "x".repeat(257);
    let size = &["1 to 1024"][..];
    let cases: &[(Value, &str, &[&str])] = &[
        (json!({"cmd": "create", "cols": 0}), "bad_value", &["cols", "1 to 1024", "not 0"]),
        (json!({"cmd": "create", "rows": 0}), "bad_value", &["rows", "1 to 1024", "not 0"]),
        (json!({"cmd": "create", "cols": 1025}), "bad_value", &["cols", "1 to 1024", "not 1025"]),
        (json!({"cmd": "create", "rows": -1}), "bad_value", &["rows", "1 to 1024", "not -1"]),
        (json!({"cmd": "create", "cols": i64::MAX}), "bad_value", size),
        (json!({"cmd": "create", "cols": u64::MAX}), "bad_value", &["cols"]),
        (json!({"cmd": "resize", "id": "t1", "cols": 80, "rows": 1025}), "bad_value", size),
        (json!({"cmd": "resize", "id": "t1", "cols": 0, "rows": 24}), "bad_value", size),
        (json!({"cmd": "create", "idle_timeout_ms": 0}), "bad_value", &["idle_timeout_ms", "1 to"]),
        (json!({"cmd": "config", "idle_timeout_ms": 86_400_001}), "bad_value", &["86400000"]),
        (json!({"cmd": "create", "scrollback_lines": -1}), "bad_value", &["scrollback_lines"]),
        (json!({"cmd": "create", "scrollback_lines": 1_000_001}), "bad_value", &["1000000"]),
        (json!({"cmd": "create", "name": ""}), "bad_value", &["name", "1 to 64"]),
        (json!({"cmd": "create", "name": "a b"}), "bad_value", &["name", "without blanks"]),
        (json!({"cmd": "create", "name": "t7"}), "bad_value", &["name", "not like an id"]),
        (json!({"cmd": "create", "name": "x".repeat(65)}), "bad_value", &["name", "1 to 64"]),
        (json!({"cmd": "create", "labels": many}), "bad_value", &["labels", "32"]),
        (json!({"cmd": "create", "labels": {"a": long}}), "bad_value", &["labels", "256 bytes"]),
        (json!({"cmd": "create", "env": {"A=B": "c"}}), "bad_value", &["env", "A=B"]),
        (json!({"cmd": "create", "env": {"": "c"}}), "bad_value", &["env", "not empty"]),
        (json!({"cmd": "create", "env": {"A": "b\0"}}), "bad_value", &["env", "NUL"]),
        (json!({"cmd": "create", "cmd_args": ["a\0b"]}), "bad_value", &["cmd_args", "NUL"]),
        (json!({"cmd": "create", "cmd_args": [""]}), "bad_value", &["cmd_args", "empty"]),
        (json!({"cmd": "text", "id": "t1", "start": -1}), "bad_value", &["start", "0 <= start"]),
        (json!({"cmd": "text", "id": "t1", "start": 5, "end": 4}), "bad_value", &["start <= end"]),
        (json!({"cmd": "text", "id": "t1", "count": 4}), "bad_value", &["count", "first_line"]),
        (
            json!({"cmd": "text", "id": "t1", "first_line": 0, "start": 1}),
            "bad_value",
            &["first_line", "start"],
        ),
        (json!({"cmd": "signal", "id": "t1", "signal": "NOPE"}), "bad_value", &["\"NOPE\"", "INT"]),
        (json!({"cmd": "signal", "id": "t1", "signal": "0"}), "bad_value", &["signal", "INT"]),
    ];
    check_json(&server, cases);
    assert_eq!(server.connect().ok(json!({"cmd": "hello"}))["terminals"], 1, "nothing was changed");
}

#[test]
fn a_terminal_that_is_not_there_is_not_found_by_any_command() {
    let server = Server::start();
    let mut client = server.connect();
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"], "name": "build"}));
    for id in ["t2", "t01", "T1", "1", "", "build ", "\u{1b}[31m"] {
        for request in [
            json!({"cmd": "kill", "id": id}),
            json!({"cmd": "send", "id": id, "input": "x"}),
            json!({"cmd": "text", "id": id}),
            json!({"cmd": "cursor", "id": id}),
            json!({"cmd": "resize", "id": id, "cols": 80, "rows": 24}),
            json!({"cmd": "events", "terminal": id}),
            json!({"cmd": "config", "id": id}),
            json!({"cmd": "info", "id": id}),
            json!({"cmd": "signal", "id": id, "signal": "INT"}),
        ] {
            let error = client.refused(request, "not_found");
            assert!(error.contains(&format!("{id:?}; there are t1")), "{error}");
        }
    }
}

/// A megabyte that was sent once came back in the sentence.
#[test]
fn what_was_sent_is_not_sent_back_in_full() {
    let server = Server::start();
    let mut client = server.connect();
    let long = "x".repeat(500_000);
    for (request, code) in [
        (json!({"cmd": "cursor", "id": long}), "not_found"),
        (json!({"cmd": long}), "unknown_command"),
        (json!({"cmd": "resize", "id": "t1", "cols": long, "rows": 1}), "bad_value"),
    ] {
        let error = client.refused(request, code);
        assert!(error.chars().count() < 1100, "{} characters", error.chars().count());
    }
}

#[test]
fn input_is_text_or_base64_and_one_of_both() {
    let server = Server::start();
    server.connect().ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let send = |fields: Value| {
        let mut request = json!({"cmd": "send", "id": "t1"});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    let both = &["input or input_base64, not both"][..];
    let bad = &["input_base64 is not base64"][..];
    check_json(
        &server,
        &[
            (send(json!({})), "bad_value", &["give input or input_base64"]),
            (send(json!({"input": null})), "bad_value", &["give input or input_base64"]),
            (send(json!({"input": "a", "input_base64": "YQ=="})), "bad_value", both),
            (send(json!({"input_base64": "Y"})), "bad_value", bad),
            (send(json!({"input_base64": "YQ"})), "bad_value", bad),
            (send(json!({"input_base64": "YQ==\n"})), "bad_value", bad),
            (send(json!({"input_base64": "-_8="})), "bad_value", bad),
            (send(json!({"input": "x".repeat(262_145)})), "input_full", &["262144"]),
        ],
    );
}

#[test]
fn what_cannot_be_started_leaves_no_terminal() {
    let server = Server::start();
    let file = server.home().join("a file");
    std::fs::write(&file, "#!/no/such/interpreter\n").unwrap();
    let plain = file.display().to_string();
    let create = |argv: &[&str], cwd: &str| json!({"cmd": "create", "cmd_args": argv, "cwd": cwd, "name": "x"});
    check_json(
        &server,
        &[
            (create(&["no-such-program"], "/"), "spawn_failed", &["cmd_args", "no-such-program"]),
            (create(&["./relative"], "/"), "spawn_failed", &["cmd_args", "relative"]),
            (create(&["/no/such/program"], "/"), "spawn_failed", &["cmd_args", "does not exist"]),
            (create(&["/"], "/"), "spawn_failed", &["cmd_args", "is a directory"]),
            (create(&[&plain], "/"), "spawn_failed", &["cmd_args", "not executable"]),
            (
                create(&["cat"], "/no/such/directory"),
                "spawn_failed",
                &["cwd", "/no/such/directory"],
            ),
            (create(&["cat"], &plain), "spawn_failed", &["cwd", "not a directory"]),
            (create(&["cat"], ""), "spawn_failed", &["cwd"]),
        ],
    );
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    // Only exec itself finds this out.
    check_json(&server, &[(create(&[&plain], "/"), "spawn_failed", &["cannot be run"])]);
    // The line itself may have 1 MiB, and the server's environment comes on top.
    let huge = json!({"cmd": "create", "cmd_args": ["cat", "x".repeat((1 << 20) - 100)]});
    check_json(&server, &[(huge, "bad_value", &["cmd_args, env", "1048576"])]);
    let mut client = server.connect();
    let hello = client.ok(json!({"cmd": "hello"}));
    assert_eq!((&hello["terminals"], &hello["seq"]), (&json!(0), &json!(0)), "nothing is told");
    let keeper = hello["keeper_pid"].as_i64().unwrap();
    eventually("only the worker is the keeper's child", || {
        let children = format!("/proc/{keeper}/task/{keeper}/children");
        std::fs::read_to_string(children).unwrap().split_whitespace().count() == 1
    });
    client.ok(create_named("x"));
}

fn create_named(name: &str) -> Value {
    json!({"cmd": "create", "cmd_args": ["cat"], "name": name})
}

#[test]
fn a_line_that_is_too_long_is_answered_and_the_connection_closed() {
    let server = Server::start();
    let most = server.connect().ok(json!({"cmd": "hello"}))["limits"]["line_bytes"].clone();
    let most = most.as_u64().unwrap() as usize;
    let mut client = server.connect();
    let padded = |length: usize| {
        let line = json!({"cmd": "list"}).to_string();
        format!("{line}{}\n", " ".repeat(length - line.len()))
    };
    client.send_raw(padded(most).as_bytes());
    assert_eq!(client.next()["ok"], true, "the longest that may be");
    for length in [most + 1, 5 * most] {
        let mut client = server.connect();
        client.send_raw(padded(length).as_bytes());
        let answer = client.next();
        assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("line_too_long")));
        assert!(answer["error"].as_str().unwrap().contains(&most.to_string()), "{answer}");
        assert_eq!(client.try_next(), None);
    }
}

#[test]
fn a_line_without_an_end_is_not_read_forever() {
    let server = Server::start();
    let mut client = server.connect();
    let chunk = [b' '; 1 << 16];
    let stream = client.stream();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let mut sent = 0;
    let error = loop {
        match stream.write(&chunk) {
            Ok(count) => sent += count,
            Err(error) => break error.kind(),
        }
        assert!(sent < 1 << 30, "it reads and reads");
    };
    assert!(matches!(error, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{error}");
    server.connect().ok(json!({"cmd": "hello"}));
}

#[test]
fn one_connection_too_many_is_told_so_and_closed() {
    let server = Server::start();
    t4a::os::limits::raise_nofile();
    let mut first = server.connect();
    let most = first.ok(json!({"cmd": "hello"}))["limits"]["connections"].as_u64().unwrap();
    let held: Vec<_> = (1..most).map(|_| server.connect()).collect();
    eventually("all are counted", || first.ok(json!({"cmd": "hello"}))["clients"] == most);
    let mut refused = server.connect();
    let answer = refused.next();
    assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("limit")));
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("1024 connections") && error.contains("close one"), "{error}");
    assert_eq!(refused.try_next(), None);
    first.ok(json!({"cmd": "list"}));
    drop(held);
    eventually("there is room again", || first.ok(json!({"cmd": "hello"}))["clients"] == 1);
    server.connect().ok(json!({"cmd": "hello"}));
}

#[test]
fn one_stream_too_many_is_refused_and_the_others_go_on() {
    let server = Server::start();
    let mut client = server.connect();
    let most = client.ok(json!({"cmd": "hello"}))["limits"]["subscriptions"].as_u64().unwrap();
    for tag in 0..most {
        client.send(&json!({"cmd": "events", "types": ["created"], "tag": tag}));
    }
    let error = client.refused(json!({"cmd": "events"}), "limit");
    assert!(error.contains("16 event streams") && error.contains("another one"), "{error}");
    server.connect().ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let mut tags: Vec<_> = (0..most).map(|_| client.next()["tag"].as_u64().unwrap()).collect();
    tags.sort_unstable();
    assert!(tags.into_iter().eq(0..most));
    client.ok(json!({"cmd": "list"}));
}

/// The server is as it was: the same worker, no client but the one who asks.
fn check_unharmed(server: &Server, worker: i32) {
    let mut client = server.connect();
    eventually("those who went are forgotten", || {
        client.ok(json!({"cmd": "hello"}))["clients"] == 1
    });
    assert_eq!(server.worker_pid(), worker);
}

#[test]
fn a_client_may_vanish_in_the_middle_of_a_line() {
    let server = Server::start();
    let worker = server.worker_pid();
    for line in [&b"{\"cmd\": \"cre"[..], b"{", b"\xf0\x9f", b"{\"cmd\": \"list\"}\n{\"cmd\""] {
        let mut client = server.connect();
        client.send_raw(line);
    }
    let mut half = server.connect();
    half.send_raw(b"{\"cmd\": \"create\", \"name\": \"never\"}");
    half.stream().shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(half.try_next(), None, "a line counts when its end has come");
    drop(half);
    check_unharmed(&server, worker);
    assert_eq!(server.connect().ok(json!({"cmd": "list"}))["terminals"], json!([]));
}

#[test]
fn what_a_client_asked_for_is_done_though_it_has_gone() {
    let server = Server::start();
    server
        .connect()
        .send_raw(b"{\"cmd\": \"create\", \"name\": \"orphan\", \"cmd_args\": [\"cat\"]}\n");
    let mut client = server.connect();
    eventually("it is there", || {
        client.ok(json!({"cmd": "list"}))["terminals"][0]["name"] == "orphan"
    });
}

#[test]
fn a_client_may_vanish_in_the_middle_of_an_answer() {
    let server = Server::start();
    let id = server.script("seq 9000; printf '\\a'; exec cat");
    let worker = server.worker_pid();
    let request = format!("{}\n", json!({"cmd": "text", "id": id, "region": "all"}));
    for _ in 0..20 {
        let mut stream = UnixStream::connect(server.socket()).unwrap();
        stream.write_all(request.repeat(50).as_bytes()).unwrap();
        let mut some = [0; 1000];
        stream.read_exact(&mut some).unwrap();
    }
    check_unharmed(&server, worker);
}

#[test]
fn a_client_may_vanish_in_the_middle_of_a_stream() {
    let server = Server::start();
    let id = server.script("printf '\\a'; yes");
    let worker = server.worker_pid();
    for _ in 0..20 {
        let mut stream = Client::new(UnixStream::connect(server.socket()).unwrap());
        stream.send(&json!({"cmd": "events", "terminal": id, "types": ["output", "screen"]}));
        stream.event("output");
    }
    check_unharmed(&server, worker);
    server.connect().ok(json!({"cmd": "kill", "id": id}));
}
