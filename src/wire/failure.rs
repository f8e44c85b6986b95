//! Why a request was refused: a code for programs, a sentence for people.

use serde::Serialize;
use serde_json::{Map, Value};

/// Characters of a sentence: what a client sent is not sent back in full.
const MAX_ERROR: usize = 1000;

/// The short, documented list of reasons. PROTOCOL.md has a row for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The line is not one JSON object in UTF-8.
    BadJson,
    /// No command of that name.
    UnknownCommand,
    /// A field the command does not have.
    UnknownField,
    /// A field is missing, mistyped or out of range.
    BadValue,
    /// No such terminal.
    NotFound,
    /// The name belongs to another terminal.
    NameTaken,
    /// The terminal's program has ended.
    Exited,
    /// The program does not read what was typed before.
    InputFull,
    /// Someone else has the keyboard, or this view may not type.
    Held,
    /// The shell is not at a prompt, or none came.
    Busy,
    /// The shell wants more of the command, or ran nothing.
    Incomplete,
    /// A secret would be seen: the terminal echoes.
    Echoes,
    /// A limit of the server is reached.
    Limit,
    /// The line is longer than the server reads; the connection is closed.
    LineTooLong,
    /// The program could not be started.
    SpawnFailed,
    /// A program of another version cannot take over.
    Incompatible,
    /// The system refused something; the sentence says what.
    System,
}

impl Code {
    pub const ALL: [Code; 17] = [
        Code::BadJson,
        Code::UnknownCommand,
        Code::UnknownField,
        Code::BadValue,
        Code::NotFound,
        Code::NameTaken,
        Code::Exited,
        Code::InputFull,
        Code::Held,
        Code::Busy,
        Code::Incomplete,
        Code::Echoes,
        Code::Limit,
        Code::LineTooLong,
        Code::SpawnFailed,
        Code::Incompatible,
        Code::System,
    ];
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: Code,
    pub error: String,
    /// What else the answer has, for programs.
    pub more: Option<Box<Map<String, Value>>>,
}

impl Failure {
    pub fn new(code: Code, error: impl Into<String>) -> Failure {
        let mut error = error.into();
        if let Some((at, _)) = error.char_indices().nth(MAX_ERROR) {
            error.truncate(at);
            error.push('…');
        }
        Failure { code, error, more: None }
    }

    /// With one more field in the answer.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Failure {
        self.more.get_or_insert_default().insert(field.to_owned(), value.into());
        self
    }

    pub fn bad_value(error: impl Into<String>) -> Failure {
        Failure::new(Code::BadValue, error)
    }
}
