//! What terminals tell about themselves: text, cursor, size, info.

use serde_json::{Value, json};

use crate::support::{Client, Server, eventually};

fn lines(client: &mut Client, id: &str, fields: Value) -> Vec<String> {
    let answer = text(client, id, fields);
    let lines = answer["lines"].as_array().unwrap().iter();
    lines.map(|line| line.as_str().unwrap().to_owned()).collect()
}

fn text(client: &mut Client, id: &str, fields: Value) -> Value {
    let mut request = json!({"cmd": "text", "id": id});
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    client.ok(request)
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

/// Twenty numbers on four rows: 1 to 17 have scrolled off, the cursor stands below 20.
fn twenty(server: &Server) -> String {
    server.script_with("seq 20; printf '\\a'; exec cat", json!({"rows": 4, "cols": 10}))
}

#[test]
fn each_region_counts_from_its_own_bottom() {
    let server = Server::start();
    let id = twenty(&server);
    let mut client = server.connect();
    let mut check = |fields: Value, expected: &[String]| {
        assert_eq!(lines(&mut client, &id, fields.clone()), expected, "{fields}");
    };
    let with_last = |mut rows: Vec<String>| {
        rows.push(String::new());
        rows
    };
    check(json!({"region": "viewport"}), &with_last(numbers(18..=20)));
    check(json!({"region": "scrollback"}), &numbers(1..=17));
    check(json!({"region": "scrollback", "start": 0, "end": 2}), &numbers(16..=17));
    check(json!({"region": "scrollback", "start": 15}), &numbers(1..=2));
    check(json!({"region": "all"}), &with_last(numbers(1..=20)));
    check(json!({"region": "all", "start": 1, "end": 6}), &numbers(16..=20));
    check(json!({"region": "all", "start": 4, "end": 1000}), &numbers(1..=17));
    check(json!({"region": "all", "start": 1000, "end": 1001}), &[]);
    check(json!({"start": 2, "end": 2}), &[]);
}

#[test]
fn the_answer_tells_which_lines_it_has() {
    let server = Server::start();
    let id = twenty(&server);
    let mut client = server.connect();
    let mut check = |fields: Value, expected: [u64; 3]| {
        let answer = text(&mut client, &id, fields.clone());
        let found = ["total_lines", "first_line", "next_line"].map(|n| answer[n].as_u64().unwrap());
        assert_eq!(found, expected, "{fields}");
    };
    check(json!({}), [4, 17, 21]);
    check(json!({"region": "scrollback"}), [17, 0, 17]);
    check(json!({"region": "all", "start": 2, "end": 4}), [21, 17, 19]);
    check(json!({"first_line": 3, "count": 2}), [21, 3, 5]);
}

#[test]
fn lines_are_read_by_their_numbers() {
    let server = Server::start();
    let id = twenty(&server);
    let mut client = server.connect();
    let mut read = |fields: Value| lines(&mut client, &id, fields);
    assert_eq!(read(json!({"first_line": 0, "count": 3})), numbers(1..=3));
    assert_eq!(read(json!({"first_line": 16, "count": 2})), numbers(17..=18));
    assert_eq!(read(json!({"first_line": 19})), ["20", ""]);
    assert!(read(json!({"first_line": 5, "count": 0})).is_empty());
    assert!(read(json!({"first_line": 1000})).is_empty());
}

#[test]
fn a_wrapped_line_is_one_line_of_several_rows() {
    let server = Server::start();
    let script = "printf 'abcdefghijklmnopqrstuvwxy\\nend\\n\\a'; exec cat";
    let id = server.script_with(script, json!({"rows": 6, "cols": 10}));
    let mut client = server.connect();
    let rows = text(&mut client, &id, json!({"first_line": 0, "count": 2}));
    assert_eq!(rows["lines"], json!(["abcdefghij", "klmnopqrst", "uvwxy", "end"]));
    assert_eq!(rows["wrapped"], json!([1, 2]));
    assert_eq!(rows["next_line"], 2);
    let joined = text(&mut client, &id, json!({"first_line": 0, "count": 2, "join": true}));
    assert_eq!(joined["lines"], json!(["abcdefghijklmnopqrstuvwxy", "end"]));
    assert_eq!(joined.get("wrapped"), None);
    let cut = lines(&mut client, &id, json!({"join": true, "start": 3, "end": 5}));
    assert_eq!(cut, ["klmnopqrstuvwxy"], "of rows asked for, those of one line are joined");
}

#[test]
fn blanks_at_the_end_are_cut_or_kept() {
    let server = Server::start();
    let script = "printf 'a  \\n  b\\a'; exec cat";
    let id = server.script_with(script, json!({"rows": 2, "cols": 6}));
    let mut client = server.connect();
    assert_eq!(lines(&mut client, &id, json!({})), ["a", "  b"]);
    assert_eq!(lines(&mut client, &id, json!({"trim": false})), ["a     ", "  b   "]);
}

#[test]
fn the_scrollback_holds_as_many_rows_as_asked_for() {
    let server = Server::start();
    let mut client = server.connect();
    let script = "seq 2000; printf '\\a'; exec cat";
    for most in [0, 100] {
        let id = server.script_with(script, json!({"scrollback_lines": most}));
        let held = text(&mut client, &id, json!({"region": "scrollback"}))["total_lines"].clone();
        assert_eq!(held, most, "{most}");
        let oldest = client.info(&id)["lines"][0].as_u64().unwrap();
        assert_eq!(oldest, 2000 - 23 - most);
        let answer = text(&mut client, &id, json!({"first_line": 0, "count": 1}));
        assert_eq!(answer["first_line"], oldest, "what is gone is answered from the oldest on");
        assert_eq!(answer["lines"], json!([(oldest + 1).to_string()]));
    }
    let id = server.script(script);
    assert_eq!(lines(&mut client, &id, json!({"region": "scrollback"})), numbers(1..=1977));
}

#[test]
fn the_stamp_is_the_same_while_the_screen_is() {
    let server = Server::start();
    let id = server.script("stty -echo; printf '\\a'; exec cat");
    let mut client = server.connect();
    let stamp = |client: &mut Client| text(client, &id, json!({}))["stamp"].as_u64().unwrap();
    let before = stamp(&mut client);
    assert_eq!(stamp(&mut client), before);
    assert_eq!(client.info(&id)["stamp"], before);
    client.type_in(&id, "more\n");
    server.wait_for_text(&id, "more");
    assert!(stamp(&mut client) > before);
}

#[test]
fn the_cursor_has_a_place_a_look_and_may_be_hidden() {
    let server = Server::start();
    let mut client = server.connect();
    let mut check = |printed: &str, expected: Value| {
        let id = server.script(&format!("printf '{printed}\\a'; exec cat"));
        let mut found = client.ok(json!({"cmd": "cursor", "id": id}));
        assert_eq!(client.info(&id)["cursor"]["shape"], found["shape"]);
        found.as_object_mut().unwrap().remove("ok");
        assert_eq!(found, expected, "{printed}");
    };
    let cursor = |row: u32, col: u32, visible: bool, shape: &str, blink: bool| json!({"row": row, "col": col, "visible": visible, "shape": shape, "blink": blink});
    check("ab\\ncd日", cursor(1, 4, true, "block", false));
    check("\\033[5;9H\\033[?25l", cursor(4, 8, false, "block", false));
    check("\\033[3 q", cursor(0, 0, true, "underline", true));
    check("\\033[6 q", cursor(0, 0, true, "bar", false));
}

#[test]
fn a_resize_wraps_anew_loses_nothing_and_is_told_once() {
    let server = Server::start();
    let script = "printf 'abcdefghijklmno\\nend\\a'; exec cat";
    let id = server.script_with(script, json!({"rows": 4, "cols": 20}));
    let mut client = server.connect();
    let resize = |client: &mut Client, cols: u32, rows: u32| {
        let answer = client.ok(json!({"cmd": "resize", "id": id, "cols": cols, "rows": rows}));
        assert_eq!((&answer["cols"], &answer["rows"]), (&json!(cols), &json!(rows)));
        answer["seq"].as_u64().unwrap()
    };
    let since = resize(&mut client, 6, 3);
    let all = json!({"region": "all"});
    assert_eq!(lines(&mut client, &id, all.clone()), ["abcdef", "ghijkl", "mno", "end"]);
    let joined = lines(&mut client, &id, json!({"region": "all", "join": true}));
    assert_eq!(joined, ["abcdefghijklmno", "end"]);
    resize(&mut client, 6, 3);
    resize(&mut client, 20, 4);
    assert_eq!(lines(&mut client, &id, all)[..2], ["abcdefghijklmno", "end"]);
    let info = client.info(&id);
    assert_eq!((&info["cols"], &info["rows"]), (&json!(20), &json!(4)));
    let mut events = server.events(&id, since);
    let sizes: Vec<_> = (0..2).map(|_| events.event("resized")).collect();
    assert_eq!((&sizes[0]["cols"], &sizes[0]["rows"]), (&json!(6), &json!(3)));
    assert_eq!((&sizes[1]["cols"], &sizes[1]["seq"]), (&json!(20), &json!(since + 2)));
}

#[test]
fn info_and_list_tell_what_a_shell_runs() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let at_prompt = client.info(&id);
    assert_eq!(at_prompt["shell"]["state"], "input");
    assert_eq!(at_prompt["shell"]["integrated"], true);
    assert_eq!(at_prompt["waits_for_input"], true);
    assert_eq!(at_prompt["foreground"]["pid"], at_prompt["pid"]);
    assert_eq!(at_prompt["argv"], json!(["bash"]));
    let since = client.type_in(&id, "cd /; sh -c 'printf \"\\a\"; exec sleep 1000'\n");
    server.events(&id, since).event("bell");
    eventually("sleep runs", || client.info(&id)["foreground"]["name"] == "sleep");
    let running = client.info(&id);
    let foreground = &running["foreground"];
    assert_eq!(foreground["command"], json!(["sleep", "1000"]));
    assert_eq!(foreground["cwd"], "/");
    assert_ne!(foreground["pid"], running["pid"]);
    assert_eq!(running["shell"]["state"], "running");
    let command = running["shell"]["command"].as_str().unwrap();
    assert!(command.starts_with("cd /; sh -c"), "{command}");
    assert!(running["shell"]["running_ms"].is_u64());
    assert_eq!(client.ok(json!({"cmd": "list"}))["terminals"][0]["command"], command);
    assert_ne!(running["waits_for_input"], true);
}

#[test]
fn info_tells_how_the_tty_is_set() {
    let server = Server::start();
    let mut client = server.connect();
    let mut check = |setting: &str, echo: bool, canonical: bool| {
        let id = server.script(&format!("stty {setting}; printf '\\a'; read x"));
        let info = client.info(&id);
        let found = (&info["echo"], &info["canonical"]);
        assert_eq!(found, (&json!(echo), &json!(canonical)), "{setting}");
        // Null where the kernel does not tell.
        eventually("it waits", || client.info(&id)["waits_for_input"] != false);
    };
    check("sane", true, true);
    check("-echo", false, true);
    check("raw -echo", false, false);
}

#[test]
fn a_busy_program_does_not_wait_for_input() {
    let server = Server::start();
    let id = server.script("printf '\\a'; while :; do :; done");
    let mut client = server.connect();
    eventually("it works", || client.info(&id)["waits_for_input"] == false);
}

#[test]
fn info_tells_what_a_program_has_set() {
    let server = Server::start();
    let script = "printf '\\033[?1049h\\033[?1h\\033[?2004h\\033[?1000;1006h\\033]2;a title\\a\\a'; \
                  exec cat";
    let id = server.script_with(script, json!({"cwd": "/", "cols": 33, "rows": 7}));
    let info = server.connect().info(&id);
    assert_eq!(info["alt_screen"], true);
    let modes: Vec<_> =
        info["modes"].as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    for mode in ["app_cursor", "bracketed_paste", "mouse_normal", "mouse_sgr", "alt_screen"] {
        assert!(modes.contains(&mode), "{mode} is not in {modes:?}");
    }
    assert_eq!(info["title"], "a title");
    assert_eq!(info["cwd"], "/");
    assert_eq!((&info["cols"], &info["rows"]), (&json!(33), &json!(7)));
    assert_eq!(info["output_bytes"], 47);
    assert_eq!(info["attached"], json!([]));
}

#[test]
fn info_tells_how_long_a_program_has_been_quiet() {
    let server = Server::start();
    let id = server.script_with("printf '\\a'; exec cat", json!({"idle_timeout_ms": 50}));
    server.events(&id, 0).event("idle");
    let mut client = server.connect();
    let info = client.info(&id);
    assert_eq!(info["idle"], true);
    assert!(info["idle_ms"].as_u64().unwrap() >= 50, "{info}");
    client.ok(json!({"cmd": "config", "id": id, "idle_timeout_ms": 3_600_000}));
    let since = client.type_in(&id, "x");
    server.events(&id, since).event("activity");
    assert_eq!(client.info(&id)["idle"], false);
}

#[test]
fn a_dead_terminal_tells_how_it_ended() {
    let server = Server::start();
    let mut client = server.connect();
    for (script, code) in [("echo last words; exit 7", 7), ("echo last words; kill -9 $$", 137)] {
        let created = client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", script]}));
        let id = created["id"].as_str().unwrap();
        server.events(id, created["seq"].as_u64().unwrap()).event("exit");
        let info = client.info(id);
        assert_eq!((&info["alive"], &info["exit_code"]), (&json!(false), &json!(code)));
        assert_eq!((&info["foreground"], &info["waits_for_input"]), (&Value::Null, &json!(false)));
        assert_eq!(info["pid"], created["pid"]);
        assert_eq!(client.screen(id)[0], "last words");
        let resized = client.ok(json!({"cmd": "resize", "id": id, "cols": 5, "rows": 9}));
        assert_eq!(resized["cols"], 5);
        assert_eq!(client.screen(id)[..2], ["last", "words"]);
    }
}
