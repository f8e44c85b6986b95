//! doctor: what is running, where, which version, and what is wrong.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::output::{self, Output};
use crate::attach::read_config;
use crate::client::{Client, Trouble, log_path};
use crate::command::{Config, Hello, List};
use crate::os::shelf::{self, Shelf};
use crate::os::{paths, socket};

#[derive(Serialize)]
struct Report {
    ok: bool,
    client_version: &'static str,
    socket: String,
    seed_link: String,
    log: Option<String>,
    running: bool,
    server: Option<Value>,
    terminals: Option<usize>,
    /// Whether terminals are kept on disk, and what is there.
    persist: Option<bool>,
    kept: Option<Kept>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct Kept {
    directory: String,
    files: usize,
    bytes: u64,
}

/// Looks, and starts nothing.
pub fn run(out: &mut Output) -> Result<(), Trouble> {
    let report = examine();
    let healthy = report.problems.is_empty();
    out.report(serde_json::to_value(&report).unwrap_or_default(), people)?;
    if healthy { Ok(()) } else { Err(Trouble::Ill) }
}

fn examine() -> Report {
    let mut problems = Vec::new();
    let mut note = |problem: String| problems.push(problem);
    if let Err(error) = paths::runtime_dir() {
        note(error.to_string());
    }
    let path = paths::socket().map_err(|error| note(error.to_string())).ok();
    let server = greet().map_err(|trouble| note(trouble.to_string())).ok().flatten();
    let socket = path.map(|socket| socket.path).unwrap_or_default();
    if let Some(problem) = stale(&socket, server.is_some()) {
        note(problem);
    }
    let version = server.as_ref().and_then(|server| server.0["version"].as_str());
    if let Some(version) = version.filter(|version| *version != env!("CARGO_PKG_VERSION")) {
        note(format!("the server is version {version}; t4a upgrade has this one take over"));
    }
    let failed = server.as_ref().and_then(|server| server.0["upgrade_error"].as_str());
    failed.into_iter().for_each(|error| note(error.to_owned()));
    let kept = kept().map_err(|error| note(error.to_string())).ok();
    let config = server.as_ref().map(|(.., config)| config);
    let persist = config.and_then(|config| config["persist"].as_bool());
    if let Some(error) = config.and_then(|config| config["persist_error"].as_str()) {
        note(format!("terminals cannot be kept on disk: {error}"));
    }
    if let (Some(false), Some(true)) = (persist, read_config().0.persist) {
        note(
            "your configuration has persist = true, and the server began before that: \
             `t4a config --persist` tells it"
                .to_owned(),
        );
    }
    Report {
        ok: problems.is_empty(),
        client_version: env!("CARGO_PKG_VERSION"),
        socket: socket.display().to_string(),
        seed_link: seed_link(),
        log: log_path().ok().map(|path| path.display().to_string()),
        running: server.is_some(),
        terminals: server.as_ref().map(|(_, terminals, _)| *terminals),
        server: server.map(|(hello, ..)| hello),
        persist,
        kept,
        problems,
    }
}

fn kept() -> io::Result<Kept> {
    let entries = Shelf::open()?.map_or(Ok(Vec::new()), |shelf| shelf.entries())?;
    let directory = shelf::path().unwrap_or_default().display().to_string();
    let bytes = entries.iter().map(|entry| entry.bytes).sum();
    Ok(Kept { directory, files: entries.len(), bytes })
}

/// The server's greeting, the number of its terminals and its settings; None if there is no server.
fn greet() -> Result<Option<(Value, usize, Value)>, Trouble> {
    let Some(mut client) = Client::connect()? else { return Ok(None) };
    let hello = client.ask(&Hello {})?.value;
    let list = client.ask(&List::default())?.value;
    let config = client.ask(&Config::default())?.value;
    Ok(Some((hello, list["terminals"].as_array().map_or(0, Vec::len), config)))
}

fn stale(socket: &Path, running: bool) -> Option<String> {
    let left = !running && socket.symlink_metadata().is_ok();
    left.then(|| {
        format!(
            "{} is left over: nobody listens there; the next command replaces it",
            socket.display()
        )
    })
}

fn seed_link() -> String {
    match std::fs::read_link(socket::SEED_PATH) {
        Ok(target) => format!("{} -> {}", socket::SEED_PATH, target.display()),
        Err(_) => format!("{} is not ours", socket::SEED_PATH),
    }
}

fn people(report: &Value) -> String {
    let text = |name: &str| output::text(&report[name]);
    let mut lines = vec![
        format!("t4a {}", text("client_version")),
        format!("socket    {}", text("socket")),
        format!("link      {}", text("seed_link")),
        format!("log       {}", text("log")),
    ];
    let server = &report["server"];
    if report["running"] == Value::Bool(true) {
        let of = |name: &str| output::text(&server[name]);
        // After an upgrade it is still the process that was started first.
        let keeper = match of("keeper_version") {
            version if version == of("version") => of("keeper_pid"),
            version => format!("{} of version {version}", of("keeper_pid")),
        };
        lines.push(format!("program   {}", of("program")));
        lines.push(format!(
            "server    version {}, keeper {keeper}, worker {}, {} terminals, {} clients",
            of("version"),
            of("worker_pid"),
            text("terminals"),
            of("clients"),
        ));
    } else {
        lines.push("server    not running; any command starts it".to_owned());
    }
    let kept = &report["kept"];
    if !kept.is_null() {
        let of = |name: &str| output::text(&kept[name]);
        lines.push(format!(
            "kept      {} files, {} bytes in {}",
            of("files"),
            of("bytes"),
            of("directory")
        ));
    }
    let problems = report["problems"].as_array().into_iter().flatten();
    lines.extend(problems.map(|problem| format!("problem   {}", output::text(problem))));
    if report["ok"] == Value::Bool(true) {
        lines.push("all is well".to_owned());
    }
    lines.join("\n") + "\n"
}
