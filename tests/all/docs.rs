//! The documents say what is so: their examples run, their lists are complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use t4a::mux::limits;
use t4a::wire::{Code, EventKind};

use crate::support::{Client, Server, on_a_terminal};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The fenced blocks of a language, in order.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("\n```{language}\n");
    let parts = text.split(&fence).skip(1);
    parts.map(|part| part.split("\n```").next().unwrap().to_owned()).collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The part of a document under a heading, up to the next of the same or a higher rank.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let rank = heading.split(' ').next().unwrap();
    let start = text.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let body = &text[start + heading.len() + 2..];
    let is_next = |line: &str| {
        let hashes = line.chars().take_while(|c| *c == '#').count();
        (1..=rank.len()).contains(&hashes) && line[hashes..].starts_with(' ')
    };
    let mut length = 0;
    for line in body.lines() {
        if is_next(line) {
            break;
        }
        length += line.len() + 1;
    }
    &body[..length.min(body.len())]
}

/// Names in the first column of the tables of a section.
fn first_column(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    rows.flat_map(|row| quoted(row.split('|').next().unwrap())).collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Compares an answer with the example, by the rule that stands in PROTOCOL.md.
struct Comparison {
    volatile: BTreeSet<String>,
    request: Value,
}

impl Comparison {
    fn check(&self, path: &str, shown: &Value, found: &Value) {
        let name = path.rsplit('.').next().unwrap_or(path);
        let volatile = self.volatile.contains(name);
        match (shown, found) {
            (Value::Object(shown), Value::Object(found)) => {
                let keys = |map: &serde_json::Map<String, Value>| -> BTreeSet<String> {
                    map.keys().cloned().collect()
                };
                assert_eq!(keys(shown), keys(found), "{}: fields of {path:?}", self.request);
                if volatile {
                    return;
                }
                for (key, value) in shown {
                    self.check(&format!("{path}.{key}"), value, &found[key]);
                }
            }
            (_, Value::Null) if volatile => {}
            _ if volatile => assert_eq!(kind(shown), kind(found), "{}: {path}", self.request),
            (Value::Array(shown), Value::Array(found)) if shown.len() == found.len() => {
                let pairs = shown.iter().zip(found).enumerate();
                pairs.for_each(|(i, (a, b))| self.check(&format!("{path}[{i}]"), a, b));
            }
            _ => assert_eq!(shown, found, "{}: {path}", self.request),
        }
    }
}

/// Fills what an example takes from the answers above it.
fn fill(request: &mut Value, seq: &Value, output: &Value) {
    for name in ["since", "after"] {
        if request[name].as_u64().is_some_and(|number| number > 0) {
            request[name] = seq.clone();
        }
    }
    if request.get("first_line").is_some() {
        request["first_line"] = output[0].clone();
    }
}

fn run_block(block: &str, client: &mut Client, volatile: &BTreeSet<String>) {
    let (mut seq, mut output) = (json!(0), Value::Null);
    let mut request = Value::Null;
    for line in block.lines() {
        let parse = |text: &str| -> Value {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
        };
        if let Some(text) = line.strip_prefix("→ ") {
            request = parse(text);
            fill(&mut request, &seq, &output);
            client.send(&request);
        } else {
            let shown = parse(line.strip_prefix("← ").expect("a line begins with → or ←"));
            let found = client.next();
            if found.get("data_base64").is_none() {
                // A picture's bytes.
                client.bytes(found["len"].as_u64().unwrap_or(0) as usize);
            }
            let comparison = Comparison { volatile: volatile.clone(), request: request.clone() };
            comparison.check("", &shown, &found);
            if found.get("event").is_none() && found.get("seq").is_some() {
                seq = found["seq"].clone();
            }
            if found.get("output_lines").is_some() {
                output = found["output_lines"].clone();
            }
        }
    }
}

#[test]
fn the_examples_of_the_protocol_are_what_the_server_answers() {
    let text = document("PROTOCOL.md");
    let rule = text.split("differ from run to run:").nth(1).unwrap();
    let volatile = quoted(rule.split("In a request").next().unwrap());
    assert!(volatile.contains("pid"));
    let server = Server::start();
    let blocks = blocks(&text, "t4a");
    assert!(blocks.len() > 10);
    for block in blocks {
        run_block(&block, &mut server.connect(), &volatile);
    }
}

#[test]
fn every_command_has_its_section() {
    let text = document("PROTOCOL.md");
    for name in t4a::command::NAMES {
        let body = section(&text, &format!("### {name}"));
        assert!(body.len() > 100, "{name}");
    }
}

/// A command's fields are learnt from the server itself: it names them when it meets a wrong one.
#[test]
fn every_field_of_every_command_is_described() {
    let text = document("PROTOCOL.md");
    let server = Server::start();
    let mut client = server.connect();
    // Those that share fields name what is missing first, and no list of what there is.
    let shared = [
        ("keys", &["id", "view", "keys", "when_ready"][..]),
        ("paste", &["id", "view", "text", "when_ready"]),
        ("mouse", &["id", "view", "kind", "row", "col", "text", "nth", "button", "mods"]),
    ];
    for name in t4a::command::NAMES {
        let fields: Vec<String> = match shared.iter().find(|(of, _)| of == name) {
            Some((_, fields)) => fields.iter().map(|field| (*field).to_owned()).collect(),
            None => {
                let error = client.refused(json!({"cmd": name, "no such": 1}), "unknown_field");
                quoted(error.split("expected").nth(1).unwrap_or_default()).into_iter().collect()
            }
        };
        let body = quoted(section(&text, &format!("### {name}")));
        for field in fields {
            assert!(body.contains(&field), "{name} has {field}, which PROTOCOL.md does not tell");
        }
    }
}

#[test]
fn the_lists_of_events_and_error_codes_are_complete() {
    let text = document("PROTOCOL.md");
    let events: BTreeSet<_> = EventKind::ALL.iter().map(|kind| kind.name().to_owned()).collect();
    assert_eq!(first_column(section(&text, "## Event reference")), events);
    let code = |code: &Code| serde_json::to_value(code).unwrap().as_str().unwrap().to_owned();
    let codes: BTreeSet<_> = Code::ALL.iter().map(code).collect();
    assert_eq!(first_column(section(&text, "## Error codes")), codes);
}

#[test]
fn the_limits_are_the_real_ones() {
    let text = document("PROTOCOL.md");
    let table = section(&text, "## Limits");
    let all = || limits::SERVER.iter().chain(limits::PROGRAM);
    assert_eq!(first_column(table), all().map(|(name, _)| (*name).to_owned()).collect());
    for (name, value) in all() {
        let row = format!("| `{name}` | {value} |");
        assert!(table.contains(&row), "PROTOCOL.md has no {row}");
    }
}

/// Every number as one `0`.
fn without_numbers(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }) {
        if c != '0' || !out.ends_with('0') {
            out.push(c);
        }
    }
    out
}

/// Numbers, paths and the width of columns differ from run to run.
fn essence(output: &str) -> Vec<Vec<String>> {
    let word = |word: &str| match word.split_once('/') {
        Some((before, _)) => format!("{before}/"),
        None => without_numbers(word),
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>();
    output.lines().map(line).filter(|words| !words.is_empty()).collect()
}

#[test]
fn the_examples_of_the_readme_print_what_it_shows() {
    let server = Server::not_started();
    let blocks = blocks(&document("README.md"), "console");
    assert!(!blocks.is_empty());
    for step in blocks.iter().flat_map(|block| block.split("$ ").skip(1)) {
        let (line, shown) = step.split_once('\n').unwrap_or((step, ""));
        let found = on_a_terminal(&server, line);
        if !shown.trim().is_empty() {
            assert_eq!(essence(shown), essence(&found), "{line} prints\n{found}");
        }
    }
}

#[test]
fn the_example_harness_runs() {
    let server = Server::start();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_t4a"));
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("python3")
        .arg(root().join("contrib/examples/harness.py"))
        .env("T4A_SOCKET", server.socket())
        .env("HOME", server.home())
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("code 0"), "{stdout}");
    assert!(stdout.contains("code 3"), "{stdout}");
    let list = server.connect().ok(json!({"cmd": "list"}));
    assert_eq!(list["terminals"], json!([]), "it leaves no terminal behind");
}

#[test]
fn the_newest_entry_of_the_change_log_is_this_version() {
    let text = document("CHANGELOG.md");
    let entries = text.lines().filter_map(|line| line.strip_prefix("## ["));
    let newest = entries.filter_map(|entry| entry.split(']').next()).find(|v| *v != "Unreleased");
    assert_eq!(newest, Some(env!("CARGO_PKG_VERSION")));
}

/// A path in backticks that looks like one of ours must be there.
#[test]
fn files_that_the_documents_name_exist() {
    for name in ["README.md", "PROTOCOL.md", "ARCHITECTURE.md"] {
        for path in quoted(&document(name)) {
            let ours = ["src/", "tests/", "contrib/"].iter().any(|dir| path.starts_with(dir));
            let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
            if ours && plain {
                assert!(root().join(&path).exists(), "{name} names {path}");
            }
        }
    }
}

#[test]
fn links_within_the_documents_lead_somewhere() {
    for name in ["README.md", "PROTOCOL.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        let text = document(name);
        let anchor = |line: &str| -> String {
            let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            title.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
        };
        let anchors: BTreeSet<_> =
            text.lines().filter(|line| line.starts_with('#')).map(anchor).collect();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if let Some(wanted) = link.strip_prefix('#') {
                assert!(anchors.contains(wanted), "{name} links to #{wanted}");
            } else if !link.contains("://") {
                let file = link.split('#').next().unwrap();
                assert!(root().join(file).exists(), "{name} links to {file}");
            }
        }
    }
}
