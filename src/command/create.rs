//! create: a new terminal with a program in it.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, RecordPart, size, within};
use crate::cast::Format;
use crate::mux::limits::{
    DEFAULT_COLS, DEFAULT_ROWS, DEFAULT_SCROLLBACK_LINES, MAX_IDLE_TIMEOUT_MS, MAX_LABEL,
    MAX_LABELS, MAX_SCROLLBACK_LINES,
};
use crate::mux::names::check_name;
use crate::mux::{Identity, Mux, Plan, TakeOver, Ticket, Wish, check_variable};
use crate::wire::{Code, Failure, Pair, pairs};

/// Make a terminal and start a program in it, by default your shell.
///
/// Prints the new terminal's id. The program gets your current directory and environment.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// Width in columns [default: 80]
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<i64>,
    /// Height in rows [default: 24]
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// Directory to start in [default: the current one]
    #[arg(long, value_name = "DIR")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Set a variable in the program's environment; may be repeated
    #[arg(long = "env", value_name = "KEY=VALUE")]
    #[serde(default, with = "pairs", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<Pair>,
    /// Start from the server's environment; else from `env` alone.
    #[arg(skip = true)]
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub inherit_env: bool,
    /// A name to call it by besides its id
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Note something about it; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    #[serde(default, with = "pairs", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Pair>,
    /// Answer at the first prompt instead of when the program runs
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_no")]
    pub ready: bool,
    /// Let bash, zsh and fish report prompts and commands by themselves.
    #[arg(skip = true)]
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub shell_integration: bool,
    /// Milliseconds without output after which this terminal is idle [default: the server's]
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<i64>,
    /// Lines of scrollback to keep [default: 10000]
    #[arg(long, value_name = "LINES")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrollback_lines: Option<i64>,
    /// Whether people may take the keyboard for themselves
    #[arg(long, value_enum, default_value_t)]
    #[serde(default, skip_serializing_if = "is_default")]
    pub take_over: TakeOver,
    /// Keep its text on disk, to be restored when everything else is gone [default: the server's]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persist: Option<bool>,
    /// Record it from the start, as an asciicast, in this file
    #[arg(long, value_name = "FILE", value_parser = record_part)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordPart>,
    /// Program and arguments, after `--` [default: $SHELL]
    #[arg(last = true, value_name = "CMD")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cmd_args: Vec<String>,
}

impl Create {
    /// A terminal with the usual shell, as the command line makes it.
    pub fn new() -> Create {
        Create { inherit_env: true, shell_integration: true, ..Create::default() }
    }
}

fn record_part(path: &str) -> Result<RecordPart, std::convert::Infallible> {
    Ok(RecordPart { path: path.to_owned(), format: Format::default(), input: false })
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn is_yes(value: &bool) -> bool {
    *value
}

fn is_default(value: &TakeOver) -> bool {
    *value == TakeOver::default()
}

pub(super) fn is_no(value: &bool) -> bool {
    !*value
}

impl Command for Create {
    const NAME: &'static str = "create";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let cols = self.cols.unwrap_or(DEFAULT_COLS.into());
        let rows = self.rows.unwrap_or(DEFAULT_ROWS.into());
        let size = size(cols, rows)?;
        self.check(mux)?;
        let scrollback_lines = self.scrollback_lines()?;
        let idle_timeout_ms = self.idle_timeout_ms()?;
        let record = self.record.clone().map(RecordPart::wish).transpose()?;
        if record.is_some() {
            mux.check_recordings()?;
        }
        let id = mux.new_id()?;
        let wish = Wish {
            argv: self.cmd_args,
            env: self.env,
            inherit_env: self.inherit_env,
            integrate: self.shell_integration,
        };
        let program = mux.program(id, &wish)?;
        let cwd = self.cwd.unwrap_or_else(|| mux.host.home.clone());
        let identity = Identity {
            id,
            name: self.name,
            labels: self.labels,
            argv: program.asked,
            key: program.key,
            idle_timeout_ms,
            scrollback_lines,
            take_over: self.take_over,
            cwd: cwd.clone(),
            shell_integration: self.shell_integration,
            persist: self.persist,
            born_ms: mux.unix_ms(),
            recordings: Vec::new(),
            created_told: false,
            exit_told: false,
            degraded: false,
            running: Vec::new(),
            commands: 0,
            typed: String::new(),
        };
        let (argv, env) = (program.argv, program.env);
        let plan = Plan { id, size, argv, env, cwd, record: Vec::new(), old_text: None };
        mux.spawn(identity, self.ready, plan, record, ticket);
        Ok(())
    }
}

impl Create {
    fn check(&self, mux: &Mux) -> Result<(), Failure> {
        if let Some(name) = &self.name {
            check_name(name)?;
            if mux.name_taken(name) {
                let error = format!("name: {name:?} is taken by another terminal");
                return Err(Failure::new(Code::NameTaken, error));
            }
        }
        if self.labels.len() > MAX_LABELS {
            return Err(Failure::bad_value(format!("labels: at most {MAX_LABELS}")));
        }
        let long = |pair: &Pair| pair.key.len() > MAX_LABEL || pair.value.len() > MAX_LABEL;
        if self.labels.iter().any(long) {
            return Err(Failure::bad_value(format!("labels: at most {MAX_LABEL} bytes each")));
        }
        if self.cmd_args.first().is_some_and(String::is_empty) {
            return Err(Failure::bad_value("cmd_args: the program's name is empty"));
        }
        let nul = |text: &String| text.contains('\0');
        if self.cmd_args.iter().any(nul) || self.cwd.iter().any(nul) {
            return Err(Failure::bad_value("cmd_args and cwd cannot hold a NUL character"));
        }
        self.env.iter().try_for_each(check_variable)
    }

    fn scrollback_lines(&self) -> Result<u32, Failure> {
        let lines = self.scrollback_lines.unwrap_or(DEFAULT_SCROLLBACK_LINES.into());
        let max = MAX_SCROLLBACK_LINES.into();
        within("scrollback_lines", lines, 0, max).map(|lines| lines as u32)
    }

    fn idle_timeout_ms(&self) -> Result<Option<u64>, Failure> {
        let ms = self.idle_timeout_ms;
        ms.map(|ms| within("idle_timeout_ms", ms, 1, MAX_IDLE_TIMEOUT_MS)).transpose()
    }
}
