//! config check: what is wrong in the person's configuration, without a server.

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::Output;
use crate::attach::read_config;
use crate::client::Trouble;
use crate::command;
use crate::os::paths;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ConfigArgs {
    #[command(flatten)]
    pub config: command::Config,
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigAction {
    /// Say what is wrong in your configuration file, with line and key
    Check,
}

pub fn check(out: &mut Output) -> Result<(), Trouble> {
    let (_, problems) = read_config();
    let file = paths::config_file().unwrap_or_default();
    let report = json!({"ok": problems.is_empty(), "file": file, "exists": file.exists(),
        "problems": problems});
    out.report(report, |report| {
        let file = report["file"].as_str().unwrap_or_default();
        let problems = report["problems"].as_array().into_iter().flatten();
        let lines: Vec<_> = problems.filter_map(|problem| problem.as_str()).collect();
        match (lines.is_empty(), report["exists"] == true) {
            (false, _) => lines.join("\n") + "\nThe rest of it applies.\n",
            (true, true) => format!("{file}: all is well\n"),
            (true, false) => format!("{file} is not there: the defaults apply\n"),
        }
    })?;
    if problems.is_empty() { Ok(()) } else { Err(Trouble::Ill) }
}
