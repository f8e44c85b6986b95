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
use crate::mux::{Identity, Mux, Plan, TakeOver, TerminalId, Ticket, integration};
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

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

fn is_default(value: &TakeOver) -> bool {
    *value == TakeOver::default()
}

fn is_no(value: &bool) -> bool {
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
        let program = self.program(mux, id)?;
        let identity = Identity {
            id,
            name: self.name,
            labels: self.labels,
            argv: program.asked,
            key: program.key,
            idle_timeout_ms,
            scrollback_lines,
            take_over: self.take_over,
            recordings: Vec::new(),
            created_told: false,
            exit_told: false,
            degraded: false,
            typed: String::new(),
        };
        let cwd = self.cwd.unwrap_or_else(|| mux.host.home.clone());
        let (argv, env) = (program.argv, program.env);
        let plan = Plan { id, size, argv, env, cwd, record: Vec::new() };
        mux.spawn(identity, self.ready, plan, record, ticket);
        Ok(())
    }
}

/// What is started: the program asked for, and how it is really called.
struct Program {
    asked: Vec<String>,
    argv: Vec<String>,
    env: Vec<(String, String)>,
    key: String,
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

    fn program(&self, mux: &Mux, id: TerminalId) -> Result<Program, Failure> {
        let mut env = if self.inherit_env { mux.host.env.clone() } else { Vec::new() };
        set(&mut env, "TERM", "xterm-256color");
        set(&mut env, "COLORTERM", "truecolor");
        for Pair { key, value } in &self.env {
            set(&mut env, key, value);
        }
        set(&mut env, "T4A_TERMINAL", &id.to_string());
        set(&mut env, "T4A_SOCKET", &mux.host.socket);
        let asked = match self.cmd_args.is_empty() {
            true => vec![shell(&env, &mux.host.shell)],
            false => self.cmd_args.clone(),
        };
        let mut program = Program { argv: asked.clone(), asked, env, key: String::new() };
        if self.shell_integration
            && let Some(dir) = &mux.host.integration_dir
        {
            program.integrate(dir)?;
        }
        Ok(program)
    }
}

impl Program {
    fn integrate(&mut self, dir: &str) -> Result<(), Failure> {
        let key = random_key()?;
        let get = |name: &str| {
            self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let Some(injection) = integration::inject(&self.asked, get, dir, &key) else {
            return Ok(());
        };
        self.argv = injection.argv;
        self.env.retain(|(name, _)| !injection.unset.contains(&name.as_str()));
        for (name, value) in injection.env {
            set(&mut self.env, &name, &value);
        }
        self.key = key;
        Ok(())
    }
}

/// The user's shell: the caller's own, if it says one, else the server's.
fn shell(env: &[(String, String)], fallback: &str) -> String {
    let own = env.iter().find(|(name, _)| name == "SHELL").map(|(_, shell)| shell.as_str());
    own.filter(|shell| shell.starts_with('/')).unwrap_or(fallback).to_owned()
}

fn set(env: &mut Vec<(String, String)>, name: &str, value: &str) {
    env.retain(|(known, _)| known != name);
    env.push((name.to_owned(), value.to_owned()));
}

/// A secret no program in the terminal can guess.
fn random_key() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| Failure::new(Code::System, format!("no randomness to be had: {e}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn check_variable(pair: &Pair) -> Result<(), Failure> {
    let Pair { key, value } = pair;
    if key.is_empty() || key.contains(['=', '\0']) || value.contains('\0') {
        let error = format!(
            "env: {key:?} cannot be set: a name is not empty and holds no '=', neither holds NUL"
        );
        return Err(Failure::bad_value(error));
    }
    Ok(())
}
