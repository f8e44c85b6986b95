//! Keys, pastes and the mouse as agents use them, and searching in what came of them.

use serde_json::{Value, json};

use crate::support::{Client, Server};

fn keys(client: &mut Client, id: &str, keys: &[&str]) {
    client.ok(json!({"cmd": "keys", "id": id, "keys": keys}));
}

#[test]
fn vim_is_driven_by_keys_and_mouse() {
    let server = Server::start();
    let file = server.home().join("file");
    std::fs::write(&file, "first line\nsecond line\nthe third\n").unwrap();
    let argv = json!(["vim", "-u", "NONE", "-i", "NONE", "-N", "-c", "set mouse=a", file]);
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": argv, "cwd": server.home()}));
    let id = created["id"].as_str().unwrap();
    client.wait(id, json!([{"text": "second line"}]));
    client.wait(id, json!([{"settled_ms": 100}]));
    let click = json!({"cmd": "mouse", "id": id, "kind": "click", "text": "third"});
    let told = client.ok(click);
    assert_eq!((&told["told"], &told["row"], &told["col"]), (&json!(true), &json!(2), &json!(6)));
    client.wait(id, json!([{"cursor": {"row": 2, "col": 6}}]));
    keys(&mut client, id, &["c", "i", "w", "l", "a", "s", "t", "Escape"]);
    client.wait(id, json!([{"text": "the last"}]));
    keys(&mut client, id, &["C-Home", "S-o", "n", "e", "w", "Esc", ":", "w", "q", "Enter"]);
    client.wait(id, json!([{"exit": true}]));
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "new\nfirst line\nsecond line\nthe last\n");
}

#[test]
fn a_text_to_click_on_must_stand_there() {
    let server = Server::start();
    let id = server.script("printf 'OK Cancel OK\\033[?1000h\\033[?1006h\\a'; exec cat -v");
    let mut client = server.connect();
    let click = |fields: Value| {
        let mut request = json!({"cmd": "mouse", "id": id, "kind": "click"});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    let second = client.ok(click(json!({"text": "OK", "nth": 2})));
    assert_eq!((&second["row"], &second["col"]), (&json!(0), &json!(11)));
    client.wait(&id, json!([{"text": "^[[<0;12;1M"}]));
    let error = client.refused(click(json!({"text": "Apply"})), "not_found");
    assert!(error.contains("stands 0 times"), "{error}");
    client.refused(click(json!({"text": "OK", "nth": 3})), "not_found");
    client.refused(click(json!({"text": "OK", "row": 1, "col": 1})), "bad_value");
    client.refused(click(json!({"text": "OK", "whre": 1})), "unknown_field");
    client.refused(click(json!({"row": 1})), "bad_value");
    client.refused(click(json!({})), "bad_value");
}

#[test]
fn keys_go_by_several_names_and_unknown_ones_suggest_others() {
    let server = Server::start();
    let id = server.script("stty raw -echo; printf '\\a'; exec cat -v");
    let mut client = server.connect();
    keys(&mut client, &id, &["C-a", "Ctrl+b", "^e", "M-x", "Alt+y", "Up", "F5"]);
    client.wait(&id, json!([{"text": "^A^B^E^[x^[y^[[A^[[15~"}]));
    let wrong = |name: &str| json!({"cmd": "keys", "id": id, "keys": [name]});
    let error = client.refused(wrong("Retrun"), "bad_value");
    assert!(error.contains("did you mean Enter?"), "{error}");
    assert!(client.refused(wrong("Crtl+c"), "bad_value").contains("Ctrl+c"));
    let number = json!({"cmd": "keys", "id": 5, "keys": ["a"]});
    assert!(client.refused(number, "bad_value").contains("keys: id: invalid type"));
}

/// What is typed before a shell reads would be echoed twice, or lost.
#[test]
fn input_waits_for_the_first_prompt_if_asked() {
    let server = Server::start();
    std::fs::write(server.home().join(".zshrc"), "sleep 0.2").unwrap();
    std::fs::write(server.home().join(".bashrc"), "sleep 0.2").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let mut client = server.connect();
        let env = json!({"HOME": server.home()});
        let created =
            client.ok(json!({"cmd": "create", "cmd_args": [shell], "cwd": "/", "env": env}));
        let id = created["id"].as_str().unwrap();
        client.ok(json!({"cmd": "send", "id": id, "input": "echo o\"\"ne;", "when_ready": true}));
        client.ok(json!({"cmd": "keys", "id": id, "keys": ["Space"], "when_ready": true}));
        client.ok(json!({"cmd": "paste", "id": id, "text": "sh -c 'exit 3'", "when_ready": true}));
        let seq = client.type_in(id, "\n");
        let wait =
            json!({"cmd": "wait", "id": id, "any": [{"event": "command_done"}], "after": seq});
        let done = client.ok(wait);
        assert_eq!(done["found"]["code"], 3, "{shell}: {done}");
        let text = client.ok(json!({"cmd": "text", "id": id, "region": "all"})).to_string();
        assert_eq!(text.matches("echo o").count(), 1, "{shell}: {text}");
    }
}

#[test]
fn input_that_waits_for_a_program_that_ends_is_refused() {
    let server = Server::start();
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["sleep", "0.2"]}));
    let send = json!({"cmd": "send", "id": created["id"], "input": "x", "when_ready": true});
    client.refused(send, "exited");
}

#[test]
fn a_search_shows_lines_around_and_where_a_pattern_is_wrong() {
    let server = Server::start();
    let id = server.script("seq 2000; printf 'last wrapped %0120d\\n\\a' 7; exec cat");
    let mut client = server.connect();
    let search = json!({"cmd": "search", "id": id, "pattern": "^1000$", "context": 2});
    let found = client.ok(search);
    let one = json!({"line": 999, "start": 0, "length": 4, "text": "1000",
        "before": ["998", "999"], "after": ["1001", "1002"]});
    assert_eq!((&found["matches"], &found["total"]), (&json!([one]), &json!(1)));
    let wide = client.ok(json!({"cmd": "search", "id": id, "pattern": "wrapped 0+7$"}));
    assert_eq!((&wide["total"], &wide["matches"][0]["line"]), (&json!(1), &json!(2000)));
    let error = client.refused(json!({"cmd": "search", "id": id, "pattern": "a[b"}), "bad_value");
    assert!(error.contains("    a[b\n     ^"), "{error}");
    let empty = json!({"cmd": "search", "id": id, "pattern": ""});
    assert!(client.refused(empty, "bad_value").contains("empty"));
}

#[test]
fn the_output_of_a_command_is_read_by_its_number() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        client.run(id, "echo fine");
        client.run(id, "echo broken; printf 'no end'; sh -c 'exit 9'");
        client.run(id, "seq 3");
        let listed = client.ok(json!({"cmd": "commands", "id": id, "failed": true}));
        let failed = &listed["commands"][0];
        assert_eq!((&failed["number"], &failed["code"]), (&json!(2), &json!(9)), "{shell}");
        assert_eq!(failed["cwd"], server.home().to_str().unwrap());
        assert!(failed["duration_ms"].is_u64() && failed["output_lines"].is_array());
        let mut text = |which: Value| {
            client.ok(json!({"cmd": "text", "id": id, "command": which}))["lines"].clone()
        };
        assert_eq!(text(json!(1)), json!(["fine"]), "{shell}");
        assert_eq!(text(json!("last_failed")), json!(["broken", "no end"]), "{shell}");
        assert_eq!(text(json!("last")), json!(["1", "2", "3"]), "{shell}");
        client.refused(json!({"cmd": "text", "id": id, "command": 99}), "not_found");
        client.refused(json!({"cmd": "text", "id": id, "command": "first"}), "bad_value");
    });
}
