//! doctor: what is running, where, which version, and what is wrong.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use super::output::{self, Output};
use crate::attach::read_config;
use crate::client::{Client, Trouble, log_path};
use crate::command::{Config, Hello, List};
use crate::mux::limits::{self, MAX_SOCKET_PATH};
use crate::os::shelf::{self, Shelf};
use crate::os::{inspect, paths, socket};

const _: () = assert!(MAX_SOCKET_PATH + 1 == paths::MAX_SOCKET_PATH);

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
    /// Of the server's processes, in bytes.
    memory: Option<Memory>,
    /// Those of this program; the server tells its own.
    limits: Map<String, Value>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct Kept {
    directory: String,
    files: usize,
    bytes: u64,
}

#[derive(Serialize)]
struct Memory {
    keeper: Option<u64>,
    worker: Option<u64>,
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
        memory: server.as_ref().map(|(hello, ..)| memory(hello)),
        server: server.map(|(hello, ..)| hello),
        persist,
        kept,
        limits: limits::PROGRAM.iter().map(|(name, value)| named(name, *value)).collect(),
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

fn named(name: &str, value: u64) -> (String, Value) {
    (name.to_owned(), value.into())
}

fn memory(hello: &Value) -> Memory {
    let of = |pid: &str| inspect::resident(u32::try_from(hello[pid].as_u64()?).ok()?);
    Memory { keeper: of("keeper_pid"), worker: of("worker_pid") }
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
        let memory = |of: &str| output::size(report["memory"][of].as_u64().unwrap_or(0));
        lines.push(format!("memory    keeper {}, worker {}", memory("keeper"), memory("worker")));
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
    let shown = limits_shown(report);
    lines.extend(shown.iter().enumerate().map(|(at, line)| match at {
        0 => format!("limits    {line}"),
        _ => format!("          {line}"),
    }));
    let problems = report["problems"].as_array().into_iter().flatten();
    lines.extend(problems.map(|problem| format!("problem   {}", output::text(problem))));
    if report["ok"] == Value::Bool(true) {
        lines.push("all is well".to_owned());
    }
    lines.join("\n") + "\n"
}

/// All limits, several a line; what is in use of them before it.
fn limits_shown(report: &Value) -> Vec<String> {
    const COLUMNS: usize = 3;
    let server = &report["server"];
    // Without a server those of this version are told.
    let running = |(name, value): &(&'static str, u64)| {
        (*name, server["limits"][name].as_u64().unwrap_or(*value), server["used"][name].as_u64())
    };
    let program = limits::PROGRAM.iter().map(|(name, value)| (*name, *value, None));
    let all = limits::SERVER.iter().map(running).chain(program);
    let words: Vec<String> = all
        .map(|(name, value, used)| {
            let bytes = name.ends_with("_bytes");
            let shown = |value: u64, is: bool| match is {
                true => output::size(value),
                false => value.to_string(),
            };
            let used = used.map(|used| format!("{} of ", shown(used, bytes))).unwrap_or_default();
            // Limits are told exactly.
            format!("{name} {used}{}", shown(value, bytes && value.is_multiple_of(1024)))
        })
        .collect();
    let width = words.iter().map(String::len).max().unwrap_or(0) + 2;
    let line = |words: &[String]| {
        let padded: String = words.iter().map(|word| format!("{word:width$}")).collect();
        padded.trim_end().to_owned()
    };
    words.chunks(COLUMNS).map(line).collect()
}
