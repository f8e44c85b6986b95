//! Each command, through the real program and a real shell.

use serde_json::json;

use crate::support::{Server, alive, eventually};

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
