//! upgrade: a newly installed t4a takes over, and what came of it is told.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::output::{self, Output};
use crate::client::{Client, Trouble};
use crate::command::{self, Hello};
use crate::os::process;

/// For so long a worker may take to answer after it has taken over.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub struct UpgradeArgs {
    /// The program that is to take over [default: this very one]
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,
}

pub fn run(args: UpgradeArgs, out: &mut Output) -> Result<(), Trouble> {
    let Some(mut client) = Client::connect()? else {
        return out.report(json!({ "ok": true, "running": false }), people);
    };
    let old = client.ask(&Hello {})?.value;
    if !knows_upgrade(&old) {
        let error = format!(
            "the server is version {}, which cannot be upgraded while it runs: `t4a shutdown` ends \
             it and its terminals, and the next command starts the new one",
            output::text(&old["version"])
        );
        return Err(Trouble::Usage(error));
    }
    let program = match args.from {
        Some(path) => std::path::absolute(path)?.to_string_lossy().into_owned(),
        None => process::own_path(),
    };
    if let Err(trouble) = client.ask(&command::Upgrade { program }) {
        return out.answer(Err(trouble), output::nothing);
    }
    // The old worker is gone when it closes the connection.
    while client.next_line().is_ok_and(|line| line.is_some()) {}
    let new = greet()?;
    if let Some(error) = new["upgrade_error"].as_str() {
        let code = "spawn_failed".to_owned();
        let line = format!("{}\n", json!({ "ok": false, "error": error, "code": code }));
        let (error, line) = (error.to_owned(), line.into_bytes());
        return out.answer(Err(Trouble::Refused { error, code, line }), output::nothing);
    }
    let told = |hello: &Value| {
        json!({ "version": hello["version"], "program": hello["program"],
            "worker_pid": hello["worker_pid"] })
    };
    let report = json!({ "ok": true, "running": true, "old": told(&old), "new": told(&new),
        "keeper_pid": new["keeper_pid"], "keeper_version": new["keeper_version"] });
    out.report(report, people)
}

fn knows_upgrade(hello: &Value) -> bool {
    let mut commands = hello["commands"].as_array().into_iter().flatten();
    commands.any(|name| name == "upgrade")
}

/// Whoever serves now: the new worker, or one of the old program.
fn greet() -> Result<Value, Trouble> {
    let mut client = Client::connect()?.ok_or(Trouble::Closed)?;
    client.set_patience(PATIENCE)?;
    Ok(client.ask(&Hello {})?.value)
}

fn people(report: &Value) -> String {
    if report["running"] == Value::Bool(false) {
        return "no server runs; the next command starts this version\n".to_owned();
    }
    let told = |of: &str| {
        let text = |field: &str| output::text(&report[of][field]);
        format!("{} (worker {}, {})", text("version"), text("worker_pid"), text("program"))
    };
    format!("{} → {}\n", told("old"), told("new"))
}
