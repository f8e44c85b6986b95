//! Views over the socket: frames, raw streams, and who may type.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use t4a::term::{Limits, Size, Terminal};

use crate::support::{Client, Server};

/// The text of a screen that is made up by frames.
fn apply(screen: &mut Vec<String>, frame: &Value) {
    let rows = frame["rows"].as_u64().unwrap() as usize;
    if frame["full"] == true {
        *screen = vec![String::new(); rows];
    }
    for line in frame["lines"].as_array().unwrap() {
        let runs = line["runs"].as_array().unwrap().iter();
        let text: String = runs.map(|run| run[0].as_str().unwrap()).collect();
        screen[line["row"].as_u64().unwrap() as usize] = text.trim_end().to_owned();
    }
}

fn attach(client: &mut Client, request: Value) -> u64 {
    client.ok(request)["view"].as_u64().unwrap()
}

/// Reads frames until the screen they make up is as it should be; how many it took.
fn frames_until(
    client: &mut Client,
    screen: &mut Vec<String>,
    is: impl Fn(&[String]) -> bool,
) -> usize {
    for count in 1.. {
        let frame = client.next();
        assert!(frame.get("frame").is_some(), "{frame}");
        apply(screen, &frame);
        if is(screen) {
            return count;
        }
    }
    unreachable!()
}

#[test]
fn the_first_frame_is_whole_and_others_have_what_changed() {
    let server = Server::start();
    let id = server.script("printf 'one\\ntwo\\n'; printf '\\a'; exec cat");
    server.wait_for_text(&id, "two");
    let mut viewer = server.connect();
    attach(&mut viewer, json!({"cmd": "attach", "id": id, "name": "ann"}));
    let first = viewer.next();
    assert_eq!((&first["full"], &first["terminal"]), (&json!(true), &json!(id)));
    assert_eq!(first["state"]["attached"][0]["name"], "ann");
    let mut screen = Vec::new();
    apply(&mut screen, &first);
    assert_eq!(screen[..2], ["one", "two"]);

    server.connect().type_in(&id, "three\n");
    let second = viewer.next();
    assert_eq!(second.get("full"), None);
    assert!(second["lines"].as_array().unwrap().iter().all(|line| line["row"].as_u64() >= Some(2)));
    apply(&mut screen, &second);
    frames_until(&mut viewer, &mut screen, |screen| screen[3] == "three");
    assert_eq!(screen[..4], ["one", "two", "three", "three"]);
}

#[test]
fn several_views_share_a_connection_by_tag() {
    let server = Server::start();
    let ids = ["left", "right"]
        .map(|text| server.script(&format!("echo {text}; printf '\\a'; exec cat")));
    let mut viewer = server.connect();
    for (id, text) in ids.iter().zip(["left", "right"]) {
        server.wait_for_text(id, text);
        viewer.send(&json!({"cmd": "attach", "id": id, "role": "view", "tag": text}));
    }
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let line = viewer.next();
        if line.get("frame").is_some() {
            let mut screen = Vec::new();
            apply(&mut screen, &line);
            assert_eq!(screen[0], line["tag"]);
            seen.push(screen[0].clone());
        }
    }
    seen.sort();
    assert_eq!(seen, ["left", "right"]);
}

#[test]
fn who_reads_late_gets_the_newest_and_no_backlog() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut viewer = server.connect();
    attach(&mut viewer, json!({"cmd": "attach", "id": id}));
    // More than the kernel holds for a socket, were each change sent.
    server.run(
        &id,
        "for i in {1..200000}; do echo \"line $i $RANDOM$RANDOM$RANDOM\"; done; echo end",
    );
    let mut screen = Vec::new();
    let count =
        frames_until(&mut viewer, &mut screen, |screen| screen.iter().any(|row| row == "end"));
    assert!(count < 2000, "{count} frames");
}

#[test]
fn one_who_takes_types_alone() {
    let server = Server::start();
    let id = server.script("printf '\\a'; exec cat");
    let mut events = server.events(&id, 0);
    let [mut ann, mut bob] = [server.connect(), server.connect()];
    let taker = attach(
        &mut ann,
        json!({"cmd": "attach", "id": id, "role": "take", "name": "ann", "tag": 1}),
    );
    assert_eq!(events.event("taken")["name"], "ann");
    let error = bob.refused(json!({"cmd": "attach", "id": id, "role": "take"}), "held");
    assert!(error.contains("ann"), "{error}");
    bob.refused(json!({"cmd": "send", "id": id, "input": "agent\n"}), "held");
    bob.refused(json!({"cmd": "keys", "id": id, "keys": ["a"]}), "held");
    bob.refused(json!({"cmd": "paste", "id": id, "text": "a"}), "held");
    bob.refused(json!({"cmd": "detach", "view": taker}), "not_found");

    ann.send(&json!({"cmd": "keys", "view": taker, "keys": ["h", "i", "Enter"], "tag": 2}));
    server.wait_for_text(&id, "hi");
    ann.send(&json!({"cmd": "view", "view": taker, "role": "edit", "tag": 3}));
    assert_eq!(events.event("released")["name"], "ann");
    bob.ok(json!({"cmd": "send", "id": id, "input": "agent\n"}));
    server.wait_for_text(&id, "agent");
    drop(ann);
    assert_eq!(events.event("detached")["view"], taker);
}

#[test]
fn a_terminal_may_refuse_to_be_taken_or_need_it() {
    let server = Server::start();
    let id = server.script_with("printf '\\a'; exec cat", json!({"take_over": "refused"}));
    let mut ann = server.connect();
    let error = ann.refused(json!({"cmd": "attach", "id": id, "role": "take"}), "held");
    assert!(error.contains("take-over"), "{error}");
    server.connect().ok(json!({"cmd": "config", "id": id, "take_over": "needed"}));
    ann.send(&json!({"cmd": "attach", "id": id, "role": "edit", "tag": 1}));
    let view = ann.next()["view"].clone();
    let mut answer = |request: Value| {
        ann.send(&request);
        loop {
            let line = ann.next();
            if line.get("ok").is_some() {
                return line;
            }
        }
    };
    let keys = json!({"cmd": "keys", "view": view, "keys": ["a"], "tag": 2});
    assert_eq!(answer(keys.clone())["code"], "held");
    assert_eq!(answer(json!({"cmd": "view", "view": view, "role": "take", "tag": 3}))["ok"], true);
    assert_eq!(answer(keys)["ok"], true);
}

#[test]
fn what_is_no_view_is_named() {
    let server = Server::start();
    let id = server.script("printf '\\a'; exec cat");
    let mut client = server.connect();
    client.refused(json!({"cmd": "attach", "id": "t99"}), "not_found");
    client.refused(json!({"cmd": "attach", "id": id, "role": "own"}), "bad_value");
    client.refused(json!({"cmd": "attach", "id": id, "cols": 0, "rows": 5}), "bad_value");
    client.refused(json!({"cmd": "view", "view": 5}), "not_found");
    let error = client.refused(json!({"cmd": "detach", "view": 5}), "not_found");
    assert!(error.contains("attach"), "{error}");
}

#[test]
fn no_frame_comes_after_a_detach() {
    let server = Server::start();
    let id = server.script("printf '\\a'; exec cat");
    let mut viewer = server.connect();
    let view = attach(&mut viewer, json!({"cmd": "attach", "id": id}));
    viewer.next();
    viewer.send(&json!({"cmd": "detach", "view": view}));
    while viewer.next().get("ok").is_none() {}
    let mut other = server.connect();
    other.type_in(&id, "more\n");
    server.wait_for_text(&id, "more");
    assert_eq!(viewer.ok(json!({"cmd": "cursor", "id": id}))["ok"], true);
}

/// A viewer with a terminal of its own.
struct Viewer {
    client: Client,
    term: Terminal,
}

impl Viewer {
    fn new(server: &Server, id: &str) -> Viewer {
        let mut client = server.connect();
        attach(&mut client, json!({"cmd": "attach", "id": id, "role": "view", "raw": true}));
        let limits = Limits { lines: 0, bytes: 0 };
        Viewer { client, term: Terminal::new(Size { cols: 80, rows: 24 }, limits) }
    }

    fn take(&mut self) -> Value {
        let line = self.client.next();
        let bytes = BASE64.decode(line["raw"].as_str().unwrap()).unwrap();
        let number = |name: &str| line[name].as_u64().unwrap() as u16;
        self.term.resize(Size { cols: number("cols"), rows: number("rows") });
        self.term.feed(&bytes, &mut Vec::new());
        line
    }

    fn screen(&self) -> Vec<String> {
        let row = |row| {
            let mut text = String::new();
            self.term.row_text(row, &mut text);
            text.trim_end().to_owned()
        };
        (0..self.term.size().rows).map(row).collect()
    }

    fn takes_until(&mut self, text: &str) {
        while !self.screen().iter().any(|row| row == text) {
            self.take();
        }
    }
}

#[test]
fn a_raw_view_is_a_redraw_and_then_the_programs_bytes() {
    let server = Server::start();
    let id = server.script("printf '\\033[?1049h\\033[31mred\\033[5;5Hhere\\a'; exec cat");
    server.wait_for_text(&id, "here");
    let mut viewer = Viewer::new(&server, &id);
    let first = viewer.take();
    assert_eq!((&first["redraw"], first.get("lost")), (&json!(true), None));
    assert_eq!(viewer.screen(), server.connect().screen(&id));
    assert!(viewer.term.modes().alt_screen());
    server.connect().type_in(&id, "typed\n");
    viewer.takes_until("typed");
    assert_eq!(viewer.screen(), server.connect().screen(&id));

    server.connect().ok(json!({"cmd": "resize", "id": id, "cols": 40, "rows": 10}));
    while viewer.take()["redraw"] != true {}
    assert_eq!(viewer.screen(), server.connect().screen(&id));
}

#[test]
fn a_raw_viewer_that_reads_too_slowly_gets_a_fresh_redraw() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut viewer = Viewer::new(&server, &id);
    server.run(&id, "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end");
    let mut lost = 0;
    while !viewer.screen().iter().any(|row| row == "end") {
        let line = viewer.take();
        let bytes = line.get("lost").map_or(0, |lost| lost.as_u64().unwrap());
        assert!(bytes == 0 || line["redraw"] == true, "{bytes} bytes were lost without a redraw");
        lost += bytes;
    }
    assert!(lost > 1_000_000, "{lost}");
}
