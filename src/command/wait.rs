//! wait: one request that is answered when one of several things has come.

use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::screenshot::Region;
use super::{Command, within};
use crate::mux::limits::{DEFAULT_WAIT_MS, MAX_CONDITIONS, MAX_IDLE_TIMEOUT_MS, MAX_WAIT_MS};
use crate::mux::patterns::pattern;
use crate::mux::{self, Extra, Mux, Only, Part, TerminalId, Ticket, Wanted};
use crate::term::Size;
use crate::wire::{EventKind, Failure};

/// Wait until one of several things has come.
///
/// Without any it waits for the prompt. The exit code is 0 when something has come, 1 when the time
/// was up or the program ended before.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The terminal's id or name
    pub id: String,
    #[arg(skip)]
    pub any: Vec<Condition>,
    /// Only what happens after the event of this number counts, as `send` and others tell it
    #[arg(long, value_name = "SEQ")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Milliseconds to wait at most [default: 30000]
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
    /// What the answer has besides
    #[arg(long, value_enum, value_delimiter = ',')]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Extra>,
}

/// One thing to wait for: exactly one of the fields that name one, and what belongs to it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<EventKind>,
    /// Fields that the event must have.
    #[serde(rename = "where", skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub ignore_case: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub gone: bool,
    /// Only what is written from now on.
    #[serde(skip_serializing_if = "is_false")]
    pub new: bool,
    /// Only rows that changed after this stamp, and what comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<i64>,
    #[serde(skip_serializing_if = "is_false")]
    pub idle: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub prompt: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub exit: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub input: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub password: bool,
}

/// A place of the cursor; what is left out may be any.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub col: Option<u16>,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Command for Wait {
    const NAME: &'static str = "wait";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = mux.find(&self.id)?;
        if self.any.is_empty() || self.any.len() > MAX_CONDITIONS {
            let error = format!("wait: any: 1 to {MAX_CONDITIONS} conditions");
            return Err(Failure::bad_value(error));
        }
        let timeout = timeout(self.timeout_ms, DEFAULT_WAIT_MS)?;
        let any = self.any.iter().enumerate().map(|(at, condition)| {
            condition.wanted(mux, terminal, self.after).map_err(|failure| Failure {
                error: format!("wait: any[{at}]: {}", failure.error),
                ..failure
            })
        });
        let any = any.collect::<Result<_, _>>()?;
        mux.wait(Wanted { terminal, any, after: self.after, timeout, then: self.then }, ticket)
    }
}

/// A time-out within bounds; 0 is one look.
pub fn timeout(ms: Option<i64>, usual: u64) -> Result<Duration, Failure> {
    let ms = within("timeout_ms", ms.unwrap_or(usual as i64), 0, MAX_WAIT_MS)?;
    Ok(Duration::from_millis(ms))
}

fn quiet(what: &str, ms: i64) -> Result<Duration, Failure> {
    within(what, ms, 1, MAX_IDLE_TIMEOUT_MS).map(Duration::from_millis)
}

impl Condition {
    fn wanted(
        &self,
        mux: &Mux,
        id: TerminalId,
        after: Option<u64>,
    ) -> Result<mux::Condition, Failure> {
        self.check()?;
        Ok(if let Some(kind) = self.event {
            mux::Condition::Event { kind, fields: self.fields.clone() }
        } else if let Some(cursor) = self.cursor {
            mux::Condition::Cursor { row: cursor.row, col: cursor.col }
        } else if let Some(ms) = self.settled_ms {
            mux::Condition::Settled(quiet("settled_ms", ms)?)
        } else if let Some(ms) = self.idle_ms {
            mux::Condition::Idle(Some(quiet("idle_ms", ms)?))
        } else if self.idle {
            mux::Condition::Idle(None)
        } else if self.prompt {
            mux::Condition::Prompt
        } else if self.exit {
            mux::Condition::Exit
        } else if self.input {
            mux::Condition::Input
        } else if self.password {
            mux::Condition::Password
        } else {
            self.text_wanted(mux, id, after)?
        })
    }

    /// Exactly one of them, and nothing that does not belong to it.
    fn check(&self) -> Result<(), Failure> {
        let text = self.text.is_some() || self.regex.is_some();
        let named = [
            self.event.is_some(),
            self.text.is_some(),
            self.regex.is_some(),
            self.cursor.is_some(),
            self.settled_ms.is_some(),
            self.idle_ms.is_some(),
            self.idle,
            self.prompt,
            self.exit,
            self.input,
            self.password,
        ];
        if named.into_iter().filter(|named| *named).count() != 1 {
            return Err(Failure::bad_value(
                "name one of event, text, regex, cursor, settled_ms, idle_ms, idle, prompt, exit, \
                 input, password; several conditions are several objects",
            ));
        }
        if self.event.is_none() && !self.fields.is_empty() {
            return Err(Failure::bad_value("where goes with event"));
        }
        if self.event.is_some_and(EventKind::opt_in) {
            return Err(Failure::bad_value(
                "event: screen and output are not kept; settled_ms, idle_ms and text wait for them",
            ));
        }
        let belongs = self.gone || self.new || self.ignore_case || self.region.is_some();
        if !text && (belongs || self.since.is_some()) {
            return Err(Failure::bad_value(
                "gone, new, since, region and ignore_case go with text or regex",
            ));
        }
        if self.gone && (self.new || self.since.is_some()) {
            return Err(Failure::bad_value("gone is of the screen: it goes without new and since"));
        }
        Ok(())
    }

    fn text_wanted(
        &self,
        mux: &Mux,
        id: TerminalId,
        after: Option<u64>,
    ) -> Result<mux::Condition, Failure> {
        let (what, text, plain) = match (&self.text, &self.regex) {
            (Some(text), _) => ("text", text, true),
            (_, regex) => ("regex", &regex.clone().unwrap_or_default(), false),
        };
        let pattern = pattern(what, text, plain, self.ignore_case)?;
        let size = mux.get(id).map_or(Size { cols: 1, rows: 1 }, |terminal| terminal.grid.size());
        let part = self.region.as_ref().map(|region| part(region, size)).transpose()?;
        let only = match (self.since, self.new) {
            (Some(stamp), _) => Only::Since(stamp),
            (None, true) => Only::New(after),
            (None, false) => Only::All,
        };
        let gone = || Failure::bad_value("the terminal has just gone");
        let scan = mux.scan(id, pattern, part, only).ok_or_else(gone)?;
        Ok(if self.gone { mux::Condition::Gone(scan) } else { mux::Condition::Text(scan) })
    }
}

fn part(region: &Region, size: Size) -> Result<Part, Failure> {
    let span = |what: &str, from: i64, count: Option<i64>, most: u16| {
        let from = within(&format!("region: {what}"), from, 0, u64::from(most) - 1)? as u16;
        let rest = u64::from(most - from);
        let count = within(&format!("region: {what}s"), count.unwrap_or(rest as i64), 1, rest)?;
        Ok::<_, Failure>(from..from + count as u16)
    };
    Ok(Part {
        rows: span("row", region.row, region.rows, size.rows)?,
        cols: span("col", region.col, region.cols, size.cols)?,
    })
}
