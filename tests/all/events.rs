//! Events: what each kind says, and who gets which.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::support::{Client, Server};

/// A terminal that prints what is typed, byte for byte.
struct Printer<'a> {
    server: &'a Server,
    id: String,
}

impl Printer<'_> {
    fn start(server: &Server) -> Printer<'_> {
        // No idle event comes in between.
        let calm = json!({"idle_timeout_ms": 3_600_000});
        let id = server.script_with("stty raw -echo; printf '\\a'; exec cat", calm);
        Printer { server, id }
    }

    /// Gives back the number of the last event before it.
    fn print(&self, bytes: &[u8]) -> u64 {
        let request = json!({"cmd": "send", "id": self.id, "input_base64": BASE64.encode(bytes)});
        self.server.connect().ok(request)["seq"].as_u64().unwrap()
    }

    /// A stream that is open: what comes from now on is in it.
    fn watch(&self, request: Value) -> Client {
        watch(self.server, request)
    }
}

/// A stream that begins with what is in the history.
fn read(server: &Server, mut request: Value) -> Client {
    request["cmd"] = json!("events");
    let mut client = server.connect();
    client.send(&request);
    client
}

fn watch(server: &Server, request: Value) -> Client {
    let mut client = read(server, request);
    // A stream has no first answer: the request behind it tells that it is open. Events may be
    // faster.
    client.send(&json!({"cmd": "list"}));
    while client.next()["ok"] != true {}
    client
}

#[test]
fn what_programs_print_becomes_events() {
    let server = Server::start();
    let printer = Printer::start(&server);
    let mut events = printer.watch(json!({"terminal": printer.id}));
    let mut check = |printed: &[u8], expected: Value| {
        let seq = printer.print(printed);
        let mut found = events.next();
        let fields = found.as_object_mut().unwrap();
        assert_eq!(fields.remove("seq"), Some(json!(seq + 1)));
        assert_eq!(fields.remove("terminal"), Some(json!(printer.id)));
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(printed).escape_debug());
    };
    let told = |body: &str| json!({"event": "notification", "body": body});
    let progress = |state: &str| json!({"event": "progress", "state": state});
    check(b"\x07", json!({"event": "bell"}));
    check(b"\x1b]2;a title\x07", json!({"event": "title", "title": "a title"}));
    check(b"\x1b]0;both;parts\x1b\\", json!({"event": "title", "title": "both;parts"}));
    check(b"\x1b]7;file://far/a%20b\x07", json!({"event": "cwd", "cwd": "/a b", "host": "far"}));
    check(b"\x1b]9;9;/tmp\x07", json!({"event": "cwd", "cwd": "/tmp"}));
    check(b"\x1b]9;done; really\x07", told("done; really"));
    check(b"\x1b]99;;from kitty\x1b\\", told("from kitty"));
    let titled = json!({"event": "notification", "title": "make", "body": "it; ended"});
    check(b"\x1b]777;notify;make;it; ended\x07", titled);
    let copied = json!({"event": "clipboard", "selection": "c", "data_base64": "Y29waWVk"});
    check(b"\x1b]52;c;Y29waWVk\x07", copied);
    let at_42 = json!({"event": "progress", "state": "normal", "percent": 42});
    check(b"\x1b]9;4;1;42\x07", at_42);
    check(b"\x1b]9;4;3\x07", progress("indeterminate"));
    check(b"\x1b]9;4;2\x07", progress("error"));
    check(b"\x1b]9;4;4\x07", progress("paused"));
    check(b"\x1b]9;4;0\x07", progress("none"));
    check(b"\x1b[?1049h", json!({"event": "alt_screen", "on": true}));
    check(b"\x1b[?1049l", json!({"event": "alt_screen", "on": false}));
    check(b"\x1b]2;a\x01\x7f\xc2\x9bb\x07", json!({"event": "title", "title": "ab"}));
}

/// Reading the clipboard is refused in silence, the same directory or title is no news, and a bad
/// string says nothing: the bell behind them is the next event.
#[test]
fn what_says_nothing_new_is_no_event() {
    let server = Server::start();
    let printer = Printer::start(&server);
    let mut events = printer.watch(json!({"terminal": printer.id}));
    printer.print(b"\x1b]7;file:///x\x07");
    assert_eq!(events.next()["event"], "cwd");
    printer.print(b"\x1b]2;x\x07");
    assert_eq!(events.next()["event"], "title");
    let silent: [&[u8]; 7] = [
        b"\x1b]2;x\x07",
        b"\x1b]7;file:///x\x07",
        b"\x1b]52;c;?\x07",
        b"\x1b]52;c;!!!\x07",
        b"\x1b]9;\x07",
        b"\x1b]9;4;9\x07",
        b"\x1b[?1049l",
    ];
    for bytes in silent {
        printer.print(&[bytes, b"\x07"].concat());
        assert_eq!(events.next()["event"], "bell", "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_wait_by_number_misses_nothing() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut other = watch(&server, json!({"terminal": id}));
    let seq = server.json(&["send", &id, r"(exit 3)\n"])["seq"].to_string();
    other.event("command_done");
    other.event("prompt");
    // All is over before anybody asks.
    let args = ["events", &id, "--since", &seq, "--types", "command_done", "--count", "1"];
    assert_eq!(server.json(&args)["code"], 3);
    let late = server.json(&["events", &id, "--since", &seq, "--count", "1"]);
    assert_eq!(late["event"], "command_start");
}

#[test]
fn history_is_read_in_order_and_each_event_once() {
    let server = Server::start();
    let printer = Printer::start(&server);
    let since = printer.print(b"\x07\x07\x07");
    let mut events = read(&server, json!({"since": since}));
    let mut seqs = Vec::new();
    for _ in 0..3 {
        seqs.push(events.event("bell")["seq"].as_u64().unwrap());
    }
    printer.print(b"\x07");
    seqs.push(events.next()["seq"].as_u64().unwrap());
    assert!(seqs.into_iter().eq(since + 1..=since + 4));
}

#[test]
fn without_a_number_or_with_one_to_come_a_stream_begins_now() {
    let server = Server::start();
    let printer = Printer::start(&server);
    for request in [json!({}), json!({"since": null}), json!({"since": u64::MAX})] {
        let mut events = printer.watch(request);
        let seq = printer.print(b"\x07");
        let first = events.next();
        assert_eq!((&first["event"], &first["seq"]), (&json!("bell"), &json!(seq + 1)));
    }
}

#[test]
fn filters_by_kind_and_terminal_go_together() {
    let server = Server::start();
    let (one, two) = (Printer::start(&server), Printer::start(&server));
    let since = one.print(b"");
    let both = ["bell", "title"];
    let mut all = watch(&server, json!({"types": both, "since": since}));
    let mut bells = watch(&server, json!({"types": ["bell"], "since": since}));
    let mut first = watch(&server, json!({"terminal": one.id, "types": both, "since": since}));
    let mut empty = watch(&server, json!({"types": [], "terminal": two.id, "since": since}));
    let what = |event: &Value| (event["event"].clone(), event["terminal"].clone());
    let expect = |kind: &str, of: &Printer| (json!(kind), json!(of.id));
    for (printer, bytes, kind) in [
        (&two, &b"\x1b]2;x\x07"[..], "title"),
        (&one, b"\x1b]2;x\x07", "title"),
        (&two, b"\x1b]9;x\x07", "notification"),
        (&two, b"\x07", "bell"),
        (&one, b"\x07", "bell"),
    ] {
        printer.print(bytes);
        if kind != "notification" {
            assert_eq!(what(&all.next()), expect(kind, printer));
        } else {
            assert_eq!(what(&empty.event(kind)), expect(kind, printer), "no types are all types");
        }
    }
    assert_eq!(what(&bells.next()), expect("bell", &two));
    assert_eq!(what(&bells.next()), expect("bell", &one));
    assert_eq!(what(&first.next()), expect("title", &one));
    assert_eq!(what(&first.next()), expect("bell", &one));
}

#[test]
fn streams_on_one_connection_are_told_apart_by_their_tags() {
    let server = Server::start();
    let printer = Printer::start(&server);
    let mut client = server.connect();
    client.send(&json!({"cmd": "events", "types": ["bell"], "tag": "b"}));
    client.send(&json!({"cmd": "events", "types": ["title"], "tag": 2}));
    client.ok(json!({"cmd": "list"}));
    printer.print(b"\x07");
    let bell = client.next();
    assert_eq!((&bell["tag"], &bell["event"]), (&json!("b"), &json!("bell")));
    printer.print(b"\x1b]2;x\x07");
    let title = client.next();
    assert_eq!((&title["tag"], &title["event"]), (&json!(2), &json!("title")));
    assert_eq!(client.ok(json!({"cmd": "list", "tag": 3}))["tag"], 3, "requests go on beside them");
}

#[test]
fn what_fell_out_of_the_history_is_told() {
    let server = Server::start();
    let printer = Printer::start(&server);
    let most = server.connect().ok(json!({"cmd": "hello"}))["limits"]["events"].as_u64().unwrap();
    let since = printer.print(&[7].repeat(most as usize + 50));
    printer.print(b"\x1b]2;end\x07");
    read(&server, json!({"since": since})).event("title");
    let mut late = read(&server, json!({"since": 0, "types": ["bell"]}));
    let lost = late.next();
    assert_eq!(lost["event"], "lost", "{lost}");
    assert_eq!(lost.get("terminal"), None);
    let gone = lost["events"].as_u64().unwrap();
    assert_eq!(gone, since + 50 + 1, "all before, and what the end pushed out");
    assert_eq!(lost["seq"], gone, "the number of the last one lost");
    assert_eq!(late.next()["seq"], gone + 1);
}

#[test]
fn raw_output_comes_to_those_who_ask() {
    let server = Server::start();
    let printer = Printer::start(&server);
    let mut usual = printer.watch(json!({"terminal": printer.id}));
    let mut raw = printer.watch(json!({"terminal": printer.id, "types": ["output", "bell"]}));
    let offset = server.connect().info(&printer.id)["output_bytes"].as_u64().unwrap();
    let mut sent: Vec<u8> = (0..=255).cycle().take(100_000).filter(|byte| *byte != 7).collect();
    sent.push(7);
    let seq = printer.print(&sent);
    let mut received = Vec::new();
    while received.len() < sent.len() {
        let event = raw.event("output");
        assert_eq!(event["offset"], offset + received.len() as u64);
        assert_eq!(event["seq"], seq, "none of its own");
        let chunk = BASE64.decode(event["data_base64"].as_str().unwrap()).unwrap();
        assert!(chunk.len() <= 48 << 10);
        received.extend(chunk);
    }
    assert!(received == sent);
    assert_eq!(raw.next()["event"], "bell", "after the output it was in");
    assert_eq!(usual.next()["event"], "bell", "no output without asking");
}

#[test]
fn changes_of_the_screen_come_to_those_who_ask() {
    let server = Server::start();
    let printer = Printer::start(&server);
    let mut usual = printer.watch(json!({"terminal": printer.id}));
    let mut screen = printer.watch(json!({"terminal": printer.id, "types": ["screen"]}));
    let mut client = server.connect();
    let before = client.ok(json!({"cmd": "text", "id": printer.id}))["stamp"].as_u64().unwrap();
    printer.print(b"something");
    let changed = screen.event("screen");
    let stamp = changed["stamp"].as_u64().unwrap();
    assert!(stamp > before);
    assert_eq!(client.ok(json!({"cmd": "text", "id": printer.id}))["stamp"], stamp);
    assert_eq!(client.screen(&printer.id)[0], "something");
    printer.print(b"\x07");
    assert_eq!(usual.next()["event"], "bell", "no screen without asking");
    let mut late = read(&server, json!({"types": ["screen", "bell"], "since": 0}));
    assert_eq!(late.next()["event"], "bell", "they are not in the history");
}

/// A program that draws without a pause is shown all the same.
#[test]
fn a_screen_that_never_rests_is_told_too() {
    let server = Server::start();
    let id = server.script("printf '\\a'; while :; do echo x; done");
    let mut screen = watch(&server, json!({"terminal": id, "types": ["screen"]}));
    let stamps: Vec<_> =
        (0..3).map(|_| screen.event("screen")["stamp"].as_u64().unwrap()).collect();
    assert!(stamps.is_sorted_by(|a, b| a < b), "{stamps:?}");
}

#[test]
fn quiet_and_output_take_turns() {
    let server = Server::start();
    let quick = json!({"idle_timeout_ms": 50});
    let id = server.script_with("stty -echo; printf '\\a'; exec cat", quick);
    let mut events = server.events(&id, 0);
    let kinds = |events: &mut Client, count: usize| -> Vec<Value> {
        (0..count).map(|_| events.next()["event"].clone()).collect()
    };
    assert_eq!(kinds(&mut events, 3), ["created", "bell", "idle"]);
    for _ in 0..3 {
        server.connect().type_in(&id, "x\n");
        assert_eq!(kinds(&mut events, 2), ["activity", "idle"]);
    }
    server.connect().type_in(&id, "\x04");
    let exit = events.next();
    assert_eq!((&exit["event"], &exit["code"]), (&json!("exit"), &json!(0)));
    server.connect().ok(json!({"cmd": "kill", "id": id}));
    assert_eq!(events.next()["event"], "killed", "the dead do not become idle");
}
