//! look: what a terminal shows and does, in one answer.

use serde_json::{Value, json};

use crate::support::Server;

fn look(server: &Server, id: &str, fields: Value) -> Value {
    let mut request = json!({"cmd": "look", "id": id});
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    server.connect().ok(request)
}

#[test]
fn a_shell_is_at_its_prompt_and_its_last_command_is_told() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        server.connect().run(id, "echo hello; sh -c 'exit 3'");
        server.connect().wait(id, json!([{"prompt": true}]));
        let look = look(&server, id, json!({}));
        assert_eq!(look["state"], "at_prompt", "{shell}: {look}");
        assert_eq!(look["last_command"]["code"], 3, "{shell}");
        assert_eq!(look["cwd"], server.home().to_str().unwrap());
        let rows = look["lines"].as_array().unwrap();
        let hello = rows.iter().find(|row| row["text"] == "hello").unwrap();
        assert!(hello["row"].as_u64().unwrap() < look["cursor"]["row"].as_u64().unwrap());
        assert_eq!((&look["running"], &look["running_ms"]), (&Value::Null, &Value::Null));
    });
}

#[test]
fn states_are_told_apart() {
    let server = Server::start();
    let state = |id: &str| look(&server, id, json!({}))["state"].as_str().unwrap().to_owned();
    let id = server.shell("bash");
    let mut client = server.connect();
    let seq = client.type_in(&id, "printf '\\a'; while :; do :; done\n");
    client.wait_after(&id, seq, json!([{"event": "bell"}]));
    assert_eq!(state(&id), "running");
    assert!(look(&server, &id, json!({}))["running"].as_str().unwrap().starts_with("printf"));
    let seq = client.type_in(&id, "\x03");
    client.ok(json!({"cmd": "wait", "id": id, "any": [{"prompt": true}], "after": seq}));
    assert_eq!(state(&id), "at_prompt");
    let full = server.script("printf '\\033[?1049h\\a'; exec sleep 1000");
    assert_eq!(state(&full), "full_screen");
    let over = server.script("printf '\\a'; exit 3");
    client.wait(&over, json!([{"exit": true}]));
    let look = look(&server, &over, json!({}));
    assert_eq!((&look["state"], &look["exit_code"]), (&json!("exited"), &json!(3)));
}

#[test]
fn only_rows_that_changed_come_after_a_stamp() {
    let server = Server::start();
    let id = server.script("stty -echo; printf 'one\\ntwo\\nthree\\n\\a'; read x; printf '\\033[2;1H\\033[K\\033[3;1HTHREE\\a'; exec cat");
    let before = look(&server, &id, json!({}));
    assert_eq!(before["lines"].as_array().unwrap().len(), 3);
    let seq = server.connect().type_in(&id, "\n");
    server.events(&id, seq).event("bell");
    let after = look(&server, &id, json!({"since": before["stamp"]}));
    let rows = json!([{"row": 1, "text": ""}, {"row": 2, "text": "THREE"}]);
    assert_eq!(after["lines"], rows);
    assert_eq!(look(&server, &id, json!({"since": after["stamp"]}))["lines"], json!([]));
}

#[test]
fn a_budget_leaves_out_the_middle() {
    let server = Server::start();
    let id = server.script("seq -f 'line number %.0f' 20; printf '\\a'; exec cat");
    let whole = look(&server, &id, json!({"max_tokens": 1000}));
    assert_eq!((whole["lines"].as_array().unwrap().len(), whole.get("left_out")), (20, None));
    let part = look(&server, &id, json!({"max_tokens": 40}));
    let rows: Vec<_> = part["lines"].as_array().unwrap().iter().map(|row| &row["row"]).collect();
    let left = &part["left_out"];
    assert_eq!(rows.len() as u64 + left["count"].as_u64().unwrap(), 20);
    assert_eq!((rows[0], rows[rows.len() - 1]), (&json!(0), &json!(19)));
    assert_eq!(left["rows"], json!([2, 16]), "{part}");
    let error =
        server.connect().refused(json!({"cmd": "look", "id": id, "max_tokens": 0}), "bad_value");
    assert!(error.contains("max_tokens must be 1"), "{error}");
}

#[test]
fn a_picture_comes_with_it_and_the_command_line_shows_it() {
    let server = Server::start();
    let id = server.script("printf 'hello\\a'; exec cat");
    let look = look(&server, &id, json!({"screenshot": true}));
    assert!(look["screenshot"]["data_base64"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert_eq!(server.json(&["look", &id])["lines"][0]["text"], "hello");
}
