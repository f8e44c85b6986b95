//! What was asked of a terminal, as a script that asks for it again.

use std::io::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::quote::{python, shell, typed};
use super::{Format, Written};
use crate::term::Size;

/// How an action begins, to be counted.
pub const PYTHON_CALL: &str = "ask({";
pub const CLI_CALLS: [&str; 2] = ["ask ", "t4a run "];

/// Shorter pauses are none.
const PAUSE: Duration = Duration::from_millis(50);
/// These come back when it is time to go on.
const WAITING: [&str; 2] = ["run", "wait"];

/// Where the actions come from, for a terminal like it.
pub struct Origin<'a> {
    pub terminal: &'a str,
    pub size: Size,
    pub argv: &'a [String],
}

pub struct Script {
    format: Format,
    /// When the last action began; None when it waited by itself.
    last: Option<Duration>,
    pub actions: u64,
}

impl Script {
    pub fn new(format: Format, written: Written) -> Script {
        Script { format, last: None, actions: written.events }
    }

    pub fn head(&self, origin: &Origin, out: &mut Vec<u8>) {
        let Origin { terminal, size: Size { cols, rows }, argv } = origin;
        match self.format {
            Format::Python => {
                let create = json!({ "cmd": "create", "cols": cols, "rows": rows, "ready": true,
                    "cmd_args": argv });
                let create = python(&create);
                let text = PYTHON_HEAD.replace("ORIGIN", terminal).replace("CREATE", &create);
                out.extend(text.bytes());
            }
            Format::Cli => {
                let argv: Vec<_> = argv.iter().map(|word| shell(word)).collect();
                let create = format!("--cols {cols} --rows {rows} --ready -- {}", argv.join(" "));
                let text = CLI_HEAD.replace("ORIGIN", terminal).replace("CREATE", &create);
                out.extend(text.bytes());
            }
            _ => {}
        }
    }

    /// One request, with its fields as they were sent.
    pub fn action(
        &mut self,
        at: Duration,
        cmd: &str,
        fields: &Map<String, Value>,
        out: &mut Vec<u8>,
    ) {
        let pause = self.last.map(|last| at.saturating_sub(last)).filter(|pause| *pause >= PAUSE);
        self.last = (!WAITING.contains(&cmd)).then_some(at);
        self.actions += 1;
        let seconds = pause.map(|pause| pause.as_secs_f64());
        // Writing to memory does not fail.
        let _ = match self.format {
            Format::Python => {
                let pause = seconds.map(|s| format!("time.sleep({s:.2})\n")).unwrap_or_default();
                writeln!(out, "{pause}{}", python_call(cmd, fields))
            }
            Format::Cli => {
                let pause = seconds.map(|s| format!("sleep {s:.2}\n")).unwrap_or_default();
                writeln!(out, "{pause}{}", cli_call(cmd, fields))
            }
            _ => {
                let mut request = Map::from_iter([("cmd".to_owned(), Value::from(cmd))]);
                request.extend(fields.clone());
                let time = (at.as_secs_f64() * 1000.0).round() / 1000.0;
                writeln!(out, "{}", json!({ "time": time, "request": request }))
            }
        };
    }
}

const PYTHON_HEAD: &str = r#"#!/usr/bin/env python3
"""Recorded by t4a from ORIGIN. Plays in the terminal named as argument, else in a new one."""
import json
import socket
import subprocess
import sys
import time

hello = subprocess.run(["t4a", "hello"], stdout=subprocess.PIPE, check=True)
stream = socket.socket(socket.AF_UNIX)
stream.connect(json.loads(hello.stdout)["socket"])
lines = stream.makefile("rw", encoding="utf-8")
seq = 0


def ask(request):
    global seq
    lines.write(json.dumps(request) + "\n")
    lines.flush()
    answer = json.loads(lines.readline())
    if not answer["ok"]:
        sys.exit(answer["error"])
    seq = answer.get("seq", seq)
    return answer


terminal = sys.argv[1] if len(sys.argv) > 1 else ask(CREATE)["id"]

"#;

const CLI_HEAD: &str = r#"#!/bin/sh
# Recorded by t4a from ORIGIN. Plays in the terminal named as argument, else in a new one.

# Answers tell the last event before what was asked: waits look from there on.
ask() {
    answer=$(t4a "$@") || return
    case $answer in *'"seq":'*) seq=${answer##*'"seq":'} seq=${seq%%[,\}]*} ;; esac
}
seq=0
terminal=$1
if [ -z "$terminal" ]; then
    ask create CREATE || exit
    terminal=${answer#*'"id":"'} terminal=${terminal%%'"'*}
fi

"#;

/// The terminal and the number of the last event are others when it plays.
fn python_call(cmd: &str, fields: &Map<String, Value>) -> String {
    let mut out = format!("{PYTHON_CALL}\"cmd\": \"{cmd}\"");
    for (name, value) in fields {
        let value = match name.as_str() {
            "id" => "terminal".to_owned(),
            "after" => "seq".to_owned(),
            _ => python(value),
        };
        out += &format!(", \"{name}\": {value}");
    }
    out + "})"
}

/// A command line; what only the wire can say is left out.
fn cli_call(cmd: &str, fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let mut words = Vec::new();
    let mut last = Vec::new();
    for name in ["timeout_ms", "max_lines", "until", "idle_ms", "nth", "button", "input_base64"] {
        if let Some(value) = fields.get(name) {
            words.push(format!("--{}", name.replace('_', "-")));
            words.push(plain(value));
        }
    }
    if fields.get("when_ready") == Some(&Value::Bool(true)) {
        words.push("--when-ready".to_owned());
    }
    match cmd {
        "send" => last.extend(text("input").map(typed)),
        "paste" => last.extend(text("text").map(str::to_owned)),
        "run" => last.extend(text("command").map(str::to_owned)),
        "keys" => last.extend(keys(&fields["keys"])),
        "signal" => last.extend(text("signal").map(str::to_owned)),
        "resize" => last.extend(["cols", "rows"].map(|name| plain(&fields[name]))),
        "mouse" => {
            words.extend(text("text").iter().flat_map(|text| ["--text".into(), (*text).into()]));
            let mods = fields.get("mods").and_then(Value::as_array).into_iter().flatten();
            words.extend(mods.flat_map(|name| ["--mod".to_owned(), plain(name)]));
            let places = ["kind", "row", "col"].iter().filter_map(|name| fields.get(*name));
            last.extend(places.map(plain));
        }
        "wait" => words.extend(conditions(&fields["any"])),
        _ => {}
    }
    let words: Vec<_> = words.iter().map(|word| shell(word)).collect();
    let last: Vec<_> = last.iter().map(|word| shell(word)).collect();
    let mut line = match cmd {
        "run" => "t4a run \"$terminal\"".to_owned(),
        cmd => format!("ask {cmd} \"$terminal\""),
    };
    for word in words {
        line += &format!(" {word}");
    }
    if fields.contains_key("after") {
        line += " --after \"$seq\"";
    }
    if !last.is_empty() {
        line += &format!(" -- {}", last.join(" "));
    }
    line
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Names of keys; those let go are no presses.
fn keys(keys: &Value) -> Vec<String> {
    let presses = keys.as_array().into_iter().flatten().filter(|key| key["kind"] != "release");
    presses.map(|key| plain(key.get("key").unwrap_or(key))).collect()
}

fn conditions(any: &Value) -> Vec<String> {
    let mut words = Vec::new();
    for condition in any.as_array().into_iter().flatten() {
        let is = |name: &str| condition[name] == Value::Bool(true);
        let mut option =
            |name: &str, value: &Value| words.extend([format!("--{name}"), plain(value)]);
        match condition {
            _ if is("gone") => option("gone", &condition["text"]),
            Value::Object(fields) => {
                for name in ["text", "regex", "event"] {
                    fields.get(name).into_iter().for_each(|value| option(name, value));
                }
                for (name, flag) in [("settled_ms", "settled-ms"), ("idle_ms", "idle-ms")] {
                    fields.get(name).into_iter().for_each(|value| option(flag, value));
                }
            }
            _ => {}
        }
        if let (Some(row), Some(col)) =
            (condition["cursor"]["row"].as_u64(), condition["cursor"]["col"].as_u64())
        {
            words.extend(["--cursor".to_owned(), format!("{row},{col}")]);
        }
        let flags =
            ["prompt", "exit", "input", "password", "new"].into_iter().filter(|name| is(name));
        words.extend(flags.map(|name| format!("--{name}")));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(format: Format) -> Vec<String> {
        let mut script = Script::new(format, Written::default());
        let mut out = Vec::new();
        let mut act = |ms, cmd: &str, fields: Value| {
            let fields = fields.as_object().unwrap();
            script.action(Duration::from_millis(ms), cmd, fields, &mut out);
        };
        act(0, "send", json!({"id": "t1", "input": "it's\\\n\x03"}));
        act(
            1200,
            "keys",
            json!({"id": "t1", "keys": ["Ctrl+c", {"key": "q"},
            {"key": "q", "kind": "release"}]}),
        );
        act(
            1210,
            "wait",
            json!({"id": "t1", "after": 7, "any": [
            {"event": "exit"}, {"text": "a b", "new": true}, {"prompt": true}]}),
        );
        act(9000, "run", json!({"id": "t1", "command": "make -j2", "timeout_ms": 9}));
        act(9001, "resize", json!({"id": "t1", "cols": 100, "rows": 30}));
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn as_requests() {
        let lines = lines(Format::Json);
        assert_eq!(lines.len(), 5);
        let second: Value = serde_json::from_str(&lines[1]).unwrap();
        assert_eq!(second["time"], 1.2);
        assert_eq!(second["request"]["cmd"], "keys");
        assert_eq!(second["request"]["id"], "t1");
    }

    #[test]
    fn as_python() {
        assert_eq!(
            lines(Format::Python),
            [
                r#"ask({"cmd": "send", "id": terminal, "input": "it's\\\n\u0003"})"#,
                "time.sleep(1.20)",
                r#"ask({"cmd": "keys", "id": terminal, "keys": ["Ctrl+c", {"key": "q"}, {"key": "q", "kind": "release"}]})"#,
                r#"ask({"cmd": "wait", "after": seq, "any": [{"event": "exit"}, {"new": True, "text": "a b"}, {"prompt": True}], "id": terminal})"#,
                r#"ask({"cmd": "run", "command": "make -j2", "id": terminal, "timeout_ms": 9})"#,
                r#"ask({"cmd": "resize", "cols": 100, "id": terminal, "rows": 30})"#,
            ]
        );
    }

    #[test]
    fn as_a_shell_script() {
        assert_eq!(
            lines(Format::Cli),
            [
                r#"ask send "$terminal" -- 'it'\''s\\\n\x03'"#,
                "sleep 1.20",
                r#"ask keys "$terminal" -- Ctrl+c q"#,
                r#"ask wait "$terminal" --event exit --text 'a b' --new --prompt --after "$seq""#,
                r#"t4a run "$terminal" --timeout-ms 9 -- 'make -j2'"#,
                r#"ask resize "$terminal" -- 100 30"#,
            ]
        );
    }
}
