//! keys: presses keys by their names, encoded for the modes the program has set.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use super::target::Target;
use crate::input::{Key, KeyKind, MAX_TEXT_CHARS};
use crate::mux::limits::MAX_KEYS;
use crate::mux::{Input, Mux, Ticket};
use crate::wire::Failure;

/// Press keys by their names.
///
/// A character is itself; others are Enter, Tab, Escape, Up, PageDown, F5 …; with modifiers:
/// Ctrl+c, Alt+Enter, Shift+Up, or as in tmux: C-c, M-x, S-Up.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,
    /// Names of keys
    #[arg(required = true, value_parser = press, allow_hyphen_values = true)]
    pub keys: Vec<Press>,
    /// Wait for the first prompt of a program that has just been started
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub when_ready: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn press(name: &str) -> Result<Press, std::convert::Infallible> {
    Ok(Press::Name(name.to_owned()))
}

/// A key's name, or all that a keyboard told of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Press {
    Name(String),
    Event(KeyEvent),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyEvent {
    pub key: String,
    #[serde(default)]
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Press,
    Repeat,
    Release,
}

impl Command for Keys {
    const NAME: &'static str = "keys";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let (id, by) = self.target.find(mux, ticket)?;
        if self.keys.is_empty() || self.keys.len() > MAX_KEYS {
            return Err(Failure::bad_value(format!("keys: 1 to {MAX_KEYS} keys")));
        }
        let keys = self.keys.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        mux.type_input(id, Input::Keys(keys), by, self.when_ready, ticket)
    }
}

impl From<Kind> for KeyKind {
    fn from(kind: Kind) -> KeyKind {
        match kind {
            Kind::Press => KeyKind::Press,
            Kind::Repeat => KeyKind::Repeat,
            Kind::Release => KeyKind::Release,
        }
    }
}

impl From<&Key> for Press {
    fn from(key: &Key) -> Press {
        let name = key.clone().of_kind(KeyKind::Press).to_string();
        let kind = match key.kind {
            KeyKind::Press => return Press::Name(name),
            KeyKind::Repeat => Kind::Repeat,
            KeyKind::Release => Kind::Release,
        };
        Press::Event(KeyEvent { key: name, kind, text: None })
    }
}

fn key(press: &Press) -> Result<Key, Failure> {
    let parse = |name: &str| {
        name.parse::<Key>().map_err(|error| Failure::bad_value(format!("keys: {error}")))
    };
    match press {
        Press::Name(name) => parse(name),
        Press::Event(event) => {
            if event.text.as_ref().is_some_and(|text| text.chars().count() > MAX_TEXT_CHARS) {
                let error = format!("keys: text has at most {MAX_TEXT_CHARS} characters");
                return Err(Failure::bad_value(error));
            }
            let key = Key { text: event.text.clone(), ..parse(&event.key)? };
            Ok(key.of_kind(event.kind.into()))
        }
    }
}
