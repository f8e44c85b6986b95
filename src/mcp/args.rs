//! What the tools are given. The comments are what a model reads.

use std::collections::BTreeMap;

use rmcp::schemars;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::command::{
    Condition, Create, Keys, Press, Run, Search, Send, Target, Text, TextRegion, Wait,
};
use crate::mux::Extra;
use crate::mux::limits::{MAX_MCP_LINES, MAX_MCP_WAIT_MS};
use crate::wire::{EventKind, Pair};

const WAIT_MS: u32 = 30_000;
/// How long the screen is watched after keys, and when it counts as quiet.
const AFTER_KEYS_MS: i64 = 3000;
const QUIET_MS: i64 = 150;
/// Lines of an answer.
const LINES: u32 = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub struct CreateArgs {
    /// A name to call the terminal by, e.g. "build".
    pub name: Option<String>,
    /// Program and arguments, e.g. ["python3", "-i"]. Default: the user's shell.
    #[serde(default)]
    pub command: Vec<String>,
    /// Directory to start in.
    pub cwd: Option<String>,
    /// Environment variables to set.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Columns, default 80.
    pub cols: Option<u16>,
    /// Rows, default 24.
    pub rows: Option<u16>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub struct RunArgs {
    /// The terminal's id or name.
    pub id: String,
    /// A command line for the shell in it.
    pub command: String,
    /// Milliseconds to wait for its end, at most 50000; default 30000. It goes on after that.
    pub timeout_ms: Option<u32>,
    /// Lines of output to show, the first and the last of them; default 200.
    pub max_lines: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub struct LookArgs {
    /// The terminal's id or name.
    pub id: String,
    /// Add a picture of the screen: for colours, full-screen programs and layouts.
    #[serde(default)]
    pub picture: bool,
    /// Only rows that changed after this stamp, from an earlier answer.
    pub since: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub struct KeysArgs {
    /// The terminal's id or name.
    pub id: String,
    /// Text to type first; a line end is the Enter key.
    pub text: Option<String>,
    /// Keys to press after it, e.g. ["Escape", "Up", "C-c", "F5", "Enter"].
    #[serde(default)]
    pub keys: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub struct WaitArgs {
    /// The terminal's id or name.
    pub id: String,
    /// Until this text is on the screen or comes.
    pub text: Option<String>,
    /// Until a line matches this regular expression.
    pub regex: Option<String>,
    /// Until a command in the shell has ended.
    #[serde(default)]
    pub command_done: bool,
    /// Until the shell is ready for a command.
    #[serde(default)]
    pub prompt: bool,
    /// Until the program has ended.
    #[serde(default)]
    pub exit: bool,
    /// Until nothing was written for so many milliseconds.
    pub idle_ms: Option<u32>,
    /// Only events after this seq count, from an earlier answer.
    pub after: Option<u64>,
    /// Milliseconds to wait, at most 50000; default 30000.
    pub timeout_ms: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub struct ReadArgs {
    /// The terminal's id or name.
    pub id: String,
    /// Number of the first line to read. Default: the last lines of all.
    pub first_line: Option<u64>,
    /// How many lines; default 200, at most 2000.
    pub count: Option<u32>,
    /// Only lines that match this regular expression.
    pub pattern: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub struct KillArgs {
    /// The terminal's id or name.
    pub id: String,
}

fn bounded(timeout_ms: Option<u32>) -> Option<i64> {
    Some(timeout_ms.unwrap_or(WAIT_MS).min(MAX_MCP_WAIT_MS).into())
}

fn lines(count: Option<u32>) -> u32 {
    count.unwrap_or(LINES).clamp(1, MAX_MCP_LINES)
}

/// Variables that choose what code other programs run: a model may have been talked into setting
/// them. Those that end with `*` are beginnings of names.
const NOT_FOR_TOOLS: [&str; 9] =
    ["LD_*", "DYLD_*", "PATH", "SHELL", "BASH_ENV", "ENV", "ZDOTDIR", "PYTHON*", "GIT_*"];

fn is_for_tools(name: &str) -> bool {
    !NOT_FOR_TOOLS.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}

impl CreateArgs {
    pub fn check_env(&self) -> Result<(), String> {
        match self.env.keys().find(|name| !is_for_tools(name)) {
            None => Ok(()),
            Some(name) => Err(format!(
                "env: {name} decides what code programs run and is not set by tools; nor are {}. \
                 If it has to be, terminal_run can export it in the shell",
                NOT_FOR_TOOLS.join(", ")
            )),
        }
    }

    pub fn request(self) -> Create {
        Create {
            name: self.name,
            cols: self.cols.map(i64::from),
            rows: self.rows.map(i64::from),
            cwd: self.cwd,
            env: self.env.into_iter().map(|(key, value)| Pair { key, value }).collect(),
            cmd_args: self.command,
            ready: true,
            ..Create::new()
        }
    }
}

impl RunArgs {
    pub fn request(self) -> Run {
        Run {
            id: self.id,
            command: self.command,
            timeout_ms: bounded(self.timeout_ms),
            max_lines: Some(lines(self.max_lines).into()),
            until: None,
            idle_ms: None,
        }
    }
}

impl KeysArgs {
    pub fn text_request(&self) -> Option<Send> {
        let text = self.text.clone().filter(|text| !text.is_empty());
        text.map(|text| Send {
            id: self.id.clone(),
            input: Some(text),
            input_base64: None,
            when_ready: false,
            secret: false,
        })
    }

    pub fn keys_request(&self) -> Option<Keys> {
        let keys: Vec<_> = self.keys.iter().cloned().map(Press::Name).collect();
        let target = Target { id: Some(self.id.clone()), view: None };
        (!keys.is_empty()).then_some(Keys { target, keys, when_ready: false })
    }

    /// What came of it: the screen when it is quiet again.
    pub fn then(&self) -> Wait {
        let settled = Condition { settled_ms: Some(QUIET_MS), ..Condition::default() };
        Wait {
            id: self.id.clone(),
            any: vec![settled],
            after: None,
            timeout_ms: Some(AFTER_KEYS_MS),
            then: vec![Extra::Look],
        }
    }
}

impl WaitArgs {
    pub fn request(self) -> Wait {
        let usual = Condition::default;
        let mut any = Vec::new();
        any.extend(self.text.map(|text| Condition { text: Some(text), ..usual() }));
        any.extend(self.regex.map(|regex| Condition { regex: Some(regex), ..usual() }));
        let done = || Condition { event: Some(EventKind::CommandDone), ..usual() };
        any.extend(self.command_done.then(done));
        any.extend(self.exit.then(|| Condition { exit: true, ..usual() }));
        any.extend(self.idle_ms.map(|ms| Condition { idle_ms: Some(ms.into()), ..usual() }));
        if self.prompt || any.is_empty() {
            any.push(Condition { prompt: true, ..usual() });
        }
        let timeout_ms = bounded(self.timeout_ms);
        Wait { id: self.id, any, after: self.after, timeout_ms, then: vec![Extra::Look] }
    }
}

impl ReadArgs {
    pub fn search(&self) -> Option<Search> {
        let pattern = self.pattern.clone()?;
        Some(Search {
            id: self.id.clone(),
            pattern,
            plain: false,
            ignore_case: false,
            last: Some(lines(self.count).into()),
            context: None,
        })
    }

    pub fn request(&self) -> Text {
        let count = lines(self.count);
        let usual = Text { join: true, ..Text::of(&self.id) };
        match self.first_line {
            Some(first) => Text { first_line: Some(first), count: Some(count.into()), ..usual },
            None => Text { region: TextRegion::All, end: Some(count.into()), ..usual },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_cut_to_what_may_be() {
        let most = MAX_MCP_WAIT_MS;
        assert_eq!(bounded(Some(most)), Some(most.into()));
        assert_eq!(bounded(Some(most + 1)), Some(most.into()));
        assert_eq!([lines(Some(MAX_MCP_LINES)), lines(Some(MAX_MCP_LINES + 1))], [2000, 2000]);
        assert_eq!([lines(Some(0)), lines(Some(1999))], [1, 1999]);
    }

    #[test]
    fn variables_that_choose_code_are_not_for_tools() {
        for name in ["LD_PRELOAD", "DYLD_X", "PATH", "SHELL", "BASH_ENV", "ENV", "ZDOTDIR"] {
            assert!(!is_for_tools(name), "{name}");
        }
        for name in ["PYTHONPATH", "PYTHONSTARTUP", "GIT_SSH_COMMAND", "LD_AUDIT"] {
            assert!(!is_for_tools(name), "{name}");
        }
        for name in ["LANG", "TERM", "PATHS", "MY_PATH", "ENVIRONMENT", "GITHUB", "OLD_THING"] {
            assert!(is_for_tools(name), "{name}");
        }
    }
}
