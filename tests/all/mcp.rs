//! `t4a mcp` with the clients of the official SDKs, in Rust and in Python.

use std::os::fd::OwnedFd;
use std::process::{Child, Command};

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Value, json};

use crate::support::{PATIENCE, Server, installed};

/// A client of the SDK, and the server's process at the other end.
struct Mcp {
    client: RunningService<RoleClient, ()>,
    child: Child,
}

/// What a tool answered.
struct Answer {
    /// The facts in the first text.
    facts: Value,
    text: String,
    images: Vec<(String, String)>,
    whole: CallToolResult,
}

impl Mcp {
    async fn start(server: &Server) -> Mcp {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let input: OwnedFd = theirs.try_clone().unwrap().into();
        let output: OwnedFd = theirs.into();
        let child = server.command().arg("mcp").stdin(input).stdout(output).spawn().unwrap();
        ours.set_nonblocking(true).unwrap();
        let stream = tokio::net::UnixStream::from_std(ours).unwrap();
        let client = ().serve(stream.into_split()).await.unwrap();
        Mcp { client, child }
    }

    async fn try_call(&self, tool: &str, args: Value) -> Result<CallToolResult, ServiceError> {
        let args = args.as_object().unwrap().clone();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        tokio::time::timeout(2 * PATIENCE, self.client.call_tool(params)).await.expect("no answer")
    }

    async fn call(&self, tool: &str, args: Value) -> Answer {
        let whole = self.try_call(tool, args.clone()).await.unwrap();
        assert_ne!(whole.is_error, Some(true), "{tool} {args}: {whole:?}");
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        for block in &whole.content {
            match block {
                ContentBlock::Text(text) => texts.push(text.text.clone()),
                ContentBlock::Image(image) => {
                    images.push((image.mime_type.clone(), image.data.clone()));
                }
                other => panic!("{tool}: {other:?}"),
            }
        }
        let facts = serde_json::from_str(&texts[0]).unwrap();
        Answer { facts, text: texts[1..].join("\n"), images, whole }
    }

    /// What a call is refused with.
    async fn refused(&self, tool: &str, args: Value) -> String {
        match self.try_call(tool, args).await {
            Ok(answer) => {
                assert_eq!(answer.is_error, Some(true), "{tool}: {answer:?}");
                let text = answer.content.iter().filter_map(|block| block.as_text());
                text.map(|text| text.text.clone()).collect()
            }
            Err(error) => error.to_string(),
        }
    }

    async fn stop(mut self) {
        self.client.cancel().await.unwrap();
        assert!(self.child.wait().unwrap().success(), "it ends well with its input");
    }
}

fn with_client<F: Future<Output = ()>>(server: &Server, test: impl FnOnce(Mcp) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { test(Mcp::start(server).await).await });
}

const TOOLS: [&str; 8] = [
    "terminal_create",
    "terminal_keys",
    "terminal_kill",
    "terminal_list",
    "terminal_look",
    "terminal_read",
    "terminal_run",
    "terminal_wait",
];

#[test]
fn the_tools_are_listed_before_the_server_is_touched() {
    let server = Server::not_started();
    with_client(&server, |mcp| async {
        let info = mcp.client.peer_info().unwrap();
        assert_eq!(info.server_info.as_ref().unwrap().name, "t4a");
        assert!(info.instructions.as_ref().unwrap().contains("terminal_create"));
        let tools = mcp.client.list_all_tools().await.unwrap();
        let mut names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
        names.sort();
        assert_eq!(names, TOOLS);
        for tool in &tools {
            let schema = Value::Object((*tool.input_schema).clone());
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            for (name, field) in fields {
                let described = field["description"].as_str().is_some_and(|text| text.len() > 5);
                assert!(described, "{}: {name}", tool.name);
            }
            assert!(tool.description.as_ref().is_some_and(|text| text.len() > 30));
            assert!(tool.output_schema.is_none(), "a picture must not come twice");
        }
        let size = serde_json::to_string(&tools).unwrap().len();
        assert!(size < 9000, "{size} bytes of schemas in every conversation");
        mcp.stop().await;
    });
    assert!(!server.socket().exists(), "no call was made");
}

#[test]
fn every_tool_does_its_work() {
    let server = Server::not_started();
    with_client(&server, |mcp| async {
        let made = mcp
            .call(
                "terminal_create",
                json!({"name": "work", "command": ["bash"],
            "env": {"COLOUR": "blue", "PS1": "$ "}, "cols": 60, "rows": 10}),
            )
            .await;
        assert_eq!((&made.facts["id"], &made.facts["ready"]), (&json!("t1"), &json!(true)));

        let args = json!({"id": "work", "command": "echo $COLOUR; (exit 3)"});
        let ran = mcp.call("terminal_run", args).await;
        assert_eq!((&ran.facts["done"], &ran.facts["code"]), (&json!(true), &json!(3)));
        assert_eq!(ran.text, "blue\n");

        let look = mcp.call("terminal_look", json!({"id": "work", "picture": true})).await;
        assert_eq!(look.facts["state"], "at_prompt");
        assert!(look.text.contains("blue"), "{}", look.text);
        let [(kind, data)] = &look.images[..] else { panic!("one picture") };
        assert_eq!(kind, "image/png");
        assert!(data.starts_with("iVBORw0KGgo"), "a PNG in base64");
        assert!(look.whole.structured_content.is_none() && !look.text.contains("iVBOR"));

        let command = ["sh", "-c", "stty -echo; echo ready; exec cat"];
        let made = mcp.call("terminal_create", json!({"name": "cat", "command": command})).await;
        assert_eq!(made.facts["name"], "cat");
        mcp.call("terminal_wait", json!({"id": "cat", "text": "ready"})).await;
        let keys = ["Space", "x", "BSpace", "y", "Enter"];
        mcp.call("terminal_keys", json!({"id": "cat", "text": "one\ntwo", "keys": keys})).await;
        let waited = mcp.call("terminal_wait", json!({"id": "cat", "regex": "^two y$"})).await;
        assert_eq!(
            (&waited.facts["done"], &waited.facts["condition"]),
            (&json!(true), &json!("text"))
        );
        assert_eq!(waited.text, "ready\none\ntwo y\n");
        mcp.call("terminal_keys", json!({"id": "cat", "keys": ["C-d"]})).await;
        let waited = mcp.call("terminal_wait", json!({"id": "cat", "exit": true})).await;
        assert_eq!(
            (&waited.facts["done"], &waited.facts["state"]),
            (&json!(true), &json!("exited"))
        );
        mcp.call("terminal_kill", json!({"id": "cat"})).await;

        let read = mcp.call("terminal_read", json!({"id": "work", "pattern": "^bl.e$"})).await;
        assert_eq!(read.facts["total"], 1);
        assert!(read.text.ends_with(": blue\n"), "{}", read.text);
        let list = mcp.call("terminal_list", json!({})).await;
        assert!(list.text.contains("\"name\":\"work\""), "{}", list.text);
        let killed = mcp.call("terminal_kill", json!({"id": "work"})).await;
        assert_eq!(killed.facts["id"], "t1");
        assert_eq!(mcp.call("terminal_list", json!({})).await.facts["terminals"], 0);
        mcp.stop().await;
    });
}

#[test]
fn what_takes_too_long_is_not_done_and_can_be_waited_for() {
    let server = Server::start();
    let id = server.shell("bash");
    with_client(&server, |mcp| async {
        let line = "sh -c 'echo started; exec sleep 1000'";
        let args = json!({"id": id, "command": line, "timeout_ms": 300});
        let ran = mcp.call("terminal_run", args).await;
        assert_eq!(ran.facts["done"], false);
        assert!(ran.facts["next"].as_str().unwrap().contains("terminal_wait"));
        let after = &ran.facts["seq"];
        // Before it has the keyboard, Ctrl-C would be its shell's.
        mcp.call("terminal_wait", json!({"id": id, "regex": "^started$"})).await;
        let args = json!({"id": id, "command_done": true, "after": after, "timeout_ms": 300});
        let waited = mcp.call("terminal_wait", args.clone()).await;
        assert_eq!(
            (&waited.facts["done"], &waited.facts["state"]),
            (&json!(false), &json!("running"))
        );
        let busy = mcp.refused("terminal_run", json!({"id": id, "command": "ls"})).await;
        assert!(busy.contains("sleep 1000") && busy.contains("C-c"), "{busy}");
        mcp.call("terminal_keys", json!({"id": id, "keys": ["C-c"]})).await;
        let args = json!({"id": id, "command_done": true, "after": after});
        let waited = mcp.call("terminal_wait", args).await;
        assert_eq!(waited.facts["done"], true);
        assert_eq!(waited.facts["found"]["code"], 130);
        mcp.stop().await;
    });
}

#[test]
fn long_output_comes_in_pages() {
    let server = Server::start();
    let id = server.shell("bash");
    with_client(&server, |mcp| async {
        let args =
            json!({"id": id, "command": "seq -f 'line %.0f of many' 1 5000", "max_lines": 2000});
        let ran = mcp.call("terminal_run", args).await;
        assert!(ran.text.len() < 26_000, "{}", ran.text.len());
        assert!(ran.text.starts_with("line 1 of many\n"));
        assert!(ran.text.ends_with("line 5000 of many\n"));
        assert!(ran.text.contains("lines left out: terminal_read with first_line"));
        let mut next = ran.facts["output_lines"][0].as_u64().unwrap();
        let mut all = String::new();
        while !all.contains("line 5000 of many\n") {
            let args = json!({"id": id, "first_line": next, "count": 2000});
            let page = mcp.call("terminal_read", args).await;
            assert!(page.text.len() < 26_000);
            let went_on = page.facts["next_line"].as_u64().unwrap();
            assert!(went_on > next);
            next = went_on;
            all += &page.text;
        }
        let numbers: Vec<_> = all.lines().filter(|line| line.ends_with("of many")).collect();
        assert_eq!(numbers.len(), 5000, "none twice, none left out");
        let tail = mcp.call("terminal_read", json!({"id": id, "count": 30})).await;
        assert!(tail.text.contains("line 5000 of many"), "{}", tail.text);
        mcp.stop().await;
    });
}

#[test]
fn refusals_tell_what_to_do_next() {
    let server = Server::start();
    let id = server.script("printf '\\a'; exit 0");
    with_client(&server, |mcp| async {
        let refusals = [
            ("terminal_run", json!({"id": "nobody", "command": "ls"}), "terminal_create makes one"),
            (
                "terminal_create",
                json!({"command": ["no-such-program"]}),
                "Check the program's name",
            ),
            ("terminal_create", json!({"cols": 5000}), "cols must be 1 to 1024"),
            ("terminal_keys", json!({"id": "nobody", "keys": ["Enter"]}), "terminal_list"),
            ("terminal_keys", json!({"id": id}), "give text or keys"),
            ("terminal_wait", json!({"id": id, "regex": "("}), "regex"),
            ("terminal_look", json!({"id": id, "pictures": true}), "pictures"),
            ("terminal_look", json!({}), "id"),
        ];
        for (tool, args, expected) in refusals {
            let told = mcp.refused(tool, args.clone()).await;
            assert!(told.contains(expected), "{tool} {args}: {told}");
        }
        mcp.call("terminal_wait", json!({"id": id, "exit": true})).await;
        let told = mcp.refused("terminal_keys", json!({"id": id, "text": "x"})).await;
        assert!(told.contains("has ended") && told.contains("terminal_read"), "{told}");
        mcp.stop().await;
    });
}

/// The SDK of another language sees the same.
#[test]
fn the_python_client_is_served() {
    let server = Server::not_started();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/mcp_client.py");
    let mut command = Command::new(installed("python/bin/python"));
    for (name, value) in server.command().get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let output = command.args([script, env!("CARGO_BIN_EXE_t4a")]).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("all 8 tools"), "{out}");
}

#[test]
fn calls_beyond_the_limit_wait_for_their_turn() {
    let server = Server::start();
    server.connect().ok(json!({"cmd": "create", "cmd_args": ["cat"], "name": "c"}));
    with_client(&server, |mcp| async {
        for (waits, first) in [(63, "list"), (64, "wait")] {
            let (told, mut order) = tokio::sync::mpsc::unbounded_channel();
            let mark = format!("go{waits}");
            let call = |tool: &str, args: Value| {
                let params = CallToolRequestParams::new(tool.to_owned())
                    .with_arguments(args.as_object().unwrap().clone());
                let (peer, told) = (mcp.client.peer().clone(), told.clone());
                let name = tool.trim_start_matches("terminal_").to_owned();
                tokio::spawn(async move {
                    peer.call_tool(params).await.unwrap();
                    told.send(name).unwrap();
                });
            };
            for _ in 0..waits {
                call("terminal_wait", json!({"id": "c", "text": mark}));
            }
            let mut client = server.connect();
            while client.ok(json!({"cmd": "hello"}))["used"]["waits"] != waits {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            call("terminal_list", json!({}));
            let mut answered = None;
            if first == "list" {
                answered = order.recv().await;
            }
            client.type_in("c", &format!("{mark}\n"));
            let answered = match answered {
                Some(answered) => answered,
                None => order.recv().await.unwrap(),
            };
            assert_eq!(answered, first, "{waits} calls wait");
            for _ in 0..waits {
                order.recv().await.unwrap();
            }
        }
        mcp.stop().await;
    });
}

/// A model may have been talked into it: what chooses the code that other programs run is refused.
#[test]
fn variables_that_choose_code_are_refused() {
    let server = Server::start();
    with_client(&server, |mcp| async {
        let names = ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PATH", "SHELL", "BASH_ENV", "ENV"];
        for name in names.into_iter().chain(["ZDOTDIR", "PYTHONPATH", "GIT_SSH_COMMAND"]) {
            let args = json!({"command": ["cat"], "env": {"GOOD": "1", name: "/tmp/x"}});
            let said = mcp.refused("terminal_create", args).await;
            assert!(said.contains(name) && said.contains("not set by tools"), "{said}");
        }
        assert_eq!(server.connect().ok(json!({"cmd": "list"}))["terminals"], json!([]));
        let args = json!({"command": ["sh", "-c", "echo $GOOD; exec cat"], "env": {"GOOD": "yes"}});
        let id = mcp.call("terminal_create", args).await.facts["id"].clone();
        mcp.call("terminal_wait", json!({"id": id, "text": "yes"})).await;
        mcp.stop().await;
    });
}
