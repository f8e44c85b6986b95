//! wait: whatever is waited for is seen, whenever it came.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Server;

/// A terminal whose program prints what it reads, each line as `printf` takes it.
fn printer(server: &Server) -> String {
    server.script("stty -echo; printf 'ready\\a'; while read -r x; do printf \"$x\"; done")
}

#[test]
fn an_event_that_came_before_the_wait_is_seen_by_its_number() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let seq = client.type_in(&id, "(exit 3)\n");
    client.wait_after(&id, seq, json!([{"event": "prompt"}]));
    let wait = |condition: Value, timeout: u64| json!({"cmd": "wait", "id": id, "any": [condition], "after": seq, "timeout_ms": timeout});
    let done = json!({"event": "command_done", "where": {"code": 3}});
    assert_eq!(client.ok(wait(done, 0))["found"]["command"], "(exit 3)");
    // Without a number only what comes counts, with it also what came; the values must be those.
    let other = json!({"event": "command_done", "where": {"code": 4}});
    assert_eq!(client.ok(wait(other, 0))["timed_out"], true);
    assert_eq!(client.ok(wait(json!({"prompt": true}), 0))["condition"], "prompt");
    let now = json!({"cmd": "wait", "id": id, "any": [{"event": "command_done"}], "timeout_ms": 0});
    assert_eq!(client.ok(now)["met"], Value::Null);
}

#[test]
fn a_prompt_that_is_there_is_not_the_one_after_a_command() {
    let server = Server::start();
    server.each_shell(|_, id| {
        let mut client = server.connect();
        assert_eq!(client.wait(id, json!([{"prompt": true}]))["waited_ms"], 0);
        let seq = client.type_in(id, "sleep 0.2\n");
        let wait = json!({"cmd": "wait", "id": id, "any": [{"prompt": true}], "after": seq});
        assert!(client.ok(wait)["waited_ms"].as_u64().unwrap() > 100);
    });
}

#[test]
fn the_first_of_several_conditions_that_is_met_is_told() {
    let server = Server::start();
    let id = printer(&server);
    let mut client = server.connect();
    client.type_in(&id, "the end\n");
    let any = json!([{"text": "never"}, {"regex": "e.d$"}, {"exit": true}]);
    let met = client.wait(&id, any);
    assert_eq!((&met["met"], &met["condition"]), (&json!(1), &json!("text")));
    assert_eq!(
        (&met["found"]["text"], &met["found"]["row"], &met["found"]["line"]),
        (&json!("end"), &json!(0), &json!(0))
    );
}

/// A line that was on the screen for less than a moment was there all the same.
#[test]
fn text_that_scrolls_by_in_a_flood_is_seen() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    client.send(&json!({"cmd": "wait", "id": id, "any": [{"text": "needle 77777."}]}));
    let mut typist = server.connect();
    typist.type_in(&id, "seq -f 'needle %.0f.' 100000\n");
    let met = client.next();
    assert_eq!(met["found"]["text"], "needle 77777.", "{met}");
    typist.wait(&id, json!([{"regex": "^needle 100000\\.$"}]));
}

#[test]
fn only_what_is_new_counts_if_it_is_asked_so() {
    let server = Server::start();
    let id = printer(&server);
    let mut client = server.connect();
    client.type_in(&id, "one\n");
    client.wait(&id, json!([{"text": "readyone"}]));
    let look = |any: Value| json!({"cmd": "wait", "id": id, "any": [any], "timeout_ms": 0});
    assert_eq!(client.ok(look(json!({"text": "one", "new": true})))["timed_out"], true);
    // The number of the screen before typing finds what came of it, however late it is asked for.
    let typed = client.ok(json!({"cmd": "send", "id": id, "input": "\\ntwo\n"}));
    client.wait(&id, json!([{"text": "two"}]));
    let since = |text: &str| json!({"text": text, "since": typed["stamp"]});
    assert_eq!(client.ok(look(since("two")))["met"], 0);
    assert_eq!(client.ok(look(since("one")))["met"], Value::Null);
    client.send(&json!({"cmd": "wait", "id": id, "any": [{"text": "one", "new": true}]}));
    server.connect().type_in(&id, "\\none\n");
    assert_eq!(client.next()["found"]["line"], 2);
}

/// What came of some input is found though it has left the screen before the wait began.
#[test]
fn text_that_has_scrolled_by_before_the_wait_is_found_by_its_moment() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    client.run(&id, "echo needle 1.");
    let typed =
        client.ok(json!({"cmd": "send", "id": id, "input": "seq -f 'needle %.0f.' 3000\n"}));
    let after = |condition: Value| {
        json!({"cmd": "wait", "id": id, "any": [condition], "after": typed["seq"],
            "timeout_ms": 20_000})
    };
    client.ok(after(json!({"event": "command_done"})));
    let first = typed_line(&client.ok(after(json!({"text": "needle 1.", "new": true}))));
    let since = json!({"regex": "^needle 1\\.$", "since": typed["stamp"]});
    assert_eq!(typed_line(&client.ok(after(since))), first);
    assert_eq!(first, 3, "the one before is older");
}

fn typed_line(answer: &Value) -> u64 {
    answer["found"]["line"].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_part_of_the_screen_can_be_watched() {
    let server = Server::start();
    let id = printer(&server);
    let mut client = server.connect();
    let part = json!({"text": "x", "region": {"row": 3, "rows": 1, "col": 10, "cols": 5}});
    client.send(&json!({"cmd": "wait", "id": id, "any": [part]}));
    let mut typist = server.connect();
    typist.type_in(&id, "x\\033[4;9Hx\\033[4;16Hx\n");
    typist.wait(&id, json!([{"cursor": {"row": 3, "col": 16}}]));
    typist.type_in(&id, "\\033[4;15Hx\n");
    assert_eq!(client.next()["found"]["row"], 3);
    let wrong = json!({"text": "x", "region": {"row": 24}});
    let error = client.refused(json!({"cmd": "wait", "id": id, "any": [wrong]}), "bad_value");
    assert!(error.contains("any[0]: region: row must be 0 to 23"), "{error}");
}

#[test]
fn text_that_goes_and_the_cursor_are_waited_for() {
    let server = Server::start();
    let id = printer(&server);
    let mut client = server.connect();
    client.send(&json!({"cmd": "wait", "id": id, "any": [{"text": "ready", "gone": true}]}));
    server.connect().type_in(&id, "\\033[2J\\033[5;7H\n");
    assert_eq!(client.next()["condition"], "gone");
    client.wait(&id, json!([{"cursor": {"row": 4}}]));
    client.wait(&id, json!([{"cursor": {"row": 4, "col": 6}}]));
}

#[test]
fn a_screen_is_settled_when_nothing_has_changed_on_it_for_so_long() {
    let server = Server::start();
    let id = server
        .script("printf '\\a'; for i in 1 2 3 4 5 6; do sleep 0.05; printf $i; done; exec cat");
    let mut client = server.connect();
    let met = client.wait(&id, json!([{"settled_ms": 800}]));
    assert!(met["waited_ms"].as_u64().unwrap() >= 800, "{met}");
    assert_eq!(client.screen(&id)[0], "123456");
    client.wait(&id, json!([{"idle_ms": 150}]));
    // It counts from what was typed: nothing can have come of it yet.
    client.type_in(&id, "x");
    let met = client.wait(&id, json!([{"idle_ms": 150}]));
    assert!(met["waited_ms"].as_u64().unwrap() >= 140, "{met}");
}

/// What is drawn in a synchronized update is not seen before its end, and is no rest either.
#[test]
fn a_synchronized_update_is_waited_for() {
    let server = Server::start();
    let id = server
        .script("printf '\\a\\033[?2026hhalf'; sleep 0.3; printf ' done\\033[?2026l'; exec cat");
    let mut client = server.connect();
    let met = client.wait(&id, json!([{"text": "half"}, {"settled_ms": 50}]));
    assert_eq!(met["met"], 0, "{met}");
    assert_eq!(client.screen(&id)[0], "half done");
}

#[test]
fn time_that_is_up_is_an_answer() {
    let server = Server::start();
    let id = printer(&server);
    let mut client = server.connect();
    let wait =
        |ms: i64| json!({"cmd": "wait", "id": id, "any": [{"exit": true}], "timeout_ms": ms});
    let start = Instant::now();
    let answer = client.ok(wait(100));
    assert_eq!((&answer["timed_out"], &answer["met"]), (&json!(true), &Value::Null));
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert_eq!(client.ok(wait(0))["timed_out"], true);
    assert!(client.refused(wait(-1), "bad_value").contains("0 to 86400000"));
    assert!(client.refused(wait(86_400_001), "bad_value").contains("timeout_ms"));
    // A wait of hours that nobody is there for any more ends with its connection.
    server.connect().send(&wait(86_400_000));
    client.ok(json!({"cmd": "kill", "id": id}));
}

#[test]
fn a_program_that_ends_or_is_killed_ends_all_waits() {
    let server = Server::start();
    let mut client = server.connect();
    let waits = |id: &str| json!({"cmd": "wait", "id": id, "any": [{"text": "never"}]});
    let id = server.script("printf '\\a'; read x; printf last; exit 5");
    client.send(&waits(&id));
    let mut other = server.connect();
    other.send(&json!({"cmd": "wait", "id": id, "any": [{"text": "last"}]}));
    let mut third = server.connect();
    third.send(&json!({"cmd": "wait", "id": id, "any": [{"exit": true}], "then": ["text"]}));
    server.connect().type_in(&id, "\n");
    let answer = client.next();
    let told = (&answer["met"], &answer["timed_out"], &answer["exit_code"]);
    assert_eq!(told, (&Value::Null, &json!(false), &json!(5)));
    assert_eq!(other.next()["met"], 0, "its last words count");
    let answer = third.next();
    assert_eq!((&answer["exit_code"], &answer["lines"][1]), (&json!(5), &json!("last")));
    // The dead answer at once.
    assert_eq!(client.ok(waits(&id))["exit_code"], 5);
    let id = printer(&server);
    client.send(&waits(&id));
    server.connect().ok(json!({"cmd": "kill", "id": id}));
    assert_eq!(client.next()["met"], Value::Null);
}

#[test]
fn a_password_is_asked_for() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        let any = json!([{"password": true}]);
        let asked = |client: &mut crate::support::Client, line: &str| {
            let seq = client.type_in(id, line);
            let wait = json!({"cmd": "wait", "id": id, "any": any, "after": seq, "then": ["look"]});
            let answer = client.ok(wait);
            assert_eq!(answer["look"]["state"], "password", "{shell}: {line}: {answer}");
            client.ok(json!({"cmd": "send", "id": id, "input": "secret\n", "secret": true}));
            let done = json!({"cmd": "wait", "id": id, "any": [{"prompt": true}], "after": seq});
            assert_eq!(client.ok(done)["met"], 0);
        };
        asked(&mut client, "python3 -c 'import getpass; getpass.getpass()'\n");
        asked(&mut client, "bash -c 'read -s -p Password: x'\n");
        if shell == "bash" {
            asked(&mut client, "read -s -p Password: x\n");
        }
        let shown = json!({"cmd": "send", "id": id, "input": "secret\n", "secret": true});
        client.refused(shown, "echoes");
        let text = client.ok(json!({"cmd": "text", "id": id, "region": "all"}));
        assert!(!text.to_string().contains("secret"), "{text}");
    });
}

#[test]
fn a_program_that_reads_is_told_from_one_that_works() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        let wait = |seq: u64, ms: u64| {
            json!({"cmd": "wait", "id": id, "any": [{"input": true}], "after": seq,
                "timeout_ms": ms, "then": ["look"]})
        };
        let seq = client.type_in(id, "sleep 0.5; sh -c 'read x'\n");
        assert_eq!(client.ok(wait(seq, 200))["timed_out"], true, "{shell}");
        let answer = client.ok(wait(seq, 20_000));
        assert_eq!(answer["look"]["state"], "waiting_for_input", "{shell}: {answer}");
        client.type_in(id, "\n");
        client.ok(json!({"cmd": "wait", "id": id, "any": [{"prompt": true}], "after": seq}));
        let answer = client.ok(wait(seq, 20_000));
        assert_eq!(answer["look"]["state"], "at_prompt", "{shell}: {answer}");
    });
}

#[test]
fn the_answer_brings_along_what_is_asked_for() {
    let server = Server::start();
    let id = printer(&server);
    let then = json!(["text", "screenshot", "info", "look"]);
    let wait = json!({"cmd": "wait", "id": id, "any": [{"text": "ready"}], "then": then, "tag": 7});
    let answer = server.connect().ok(wait);
    assert_eq!((&answer["tag"], &answer["lines"][0]), (&json!(7), &json!("ready")));
    assert_eq!(answer["info"]["id"], id.as_str());
    assert_eq!(answer["look"]["lines"][0], json!({"row": 0, "text": "ready"}));
    let picture = &answer["screenshot"];
    assert_eq!((&picture["format"], &picture["width"]), (&json!("png"), &json!(560)));
    assert!(picture["data_base64"].as_str().unwrap().starts_with("iVBORw0KGgo"));
}

#[test]
fn what_cannot_be_waited_for_is_refused_with_its_place() {
    let server = Server::start();
    let id = printer(&server);
    let mut client = server.connect();
    let mut check = |any: Value, said: &str| {
        let error = client.refused(json!({"cmd": "wait", "id": id, "any": any}), "bad_value");
        assert!(error.contains(said), "{any}: {error}");
    };
    check(json!([]), "1 to 16 conditions");
    check(json!([{"exit": true}, {}]), "any[1]: name one of");
    check(json!([{"exit": true, "text": "x"}]), "name one of");
    check(json!([{"regex": "a(b"}]), "a(b\n     ^");
    check(json!([{"text": ""}]), "empty");
    check(json!([{"event": "output"}]), "not kept");
    check(json!([{"event": "nope"}]), "no event is called");
    check(json!([{"prompt": true, "gone": true}]), "go with text");
    check(json!([{"exit": true, "where": {"code": 1}}]), "where goes with event");
    check(json!([{"settled_ms": 0}]), "1 to 86400000");
    let unknown = json!({"cmd": "wait", "id": id, "any": [{"txt": "x"}]});
    assert!(client.ask(unknown)["error"].as_str().unwrap().contains("txt"));
}

#[test]
fn the_command_line_waits() {
    let server = Server::start();
    let id = server.shell("bash");
    assert!(server.cli(&["wait", &id]).status.success());
    server.connect().run(&id, "echo hello");
    let answer = server.json(&["wait", &id, "--regex", "^hello$", "--then", "text"]);
    assert_eq!(answer["condition"], "text");
    let late = server.cli(&["wait", &id, "--exit", "--timeout-ms", "50"]);
    assert_eq!(late.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&late.stdout).contains("\"timed_out\":true"));
}
