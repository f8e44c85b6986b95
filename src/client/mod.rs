//! A client's end of the socket: connect, or start the server; ask; stream.

mod lines;
mod own;
mod start;
mod trouble;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;

pub use lines::Lines;
pub use own::own_create;
pub use start::log_path;
pub use trouble::Trouble;

use crate::command::{Command, Hello, Screenshot};
use crate::os::{paths, socket};
use crate::wire::request_line;

/// An answer as it came and as it reads.
pub struct Answer {
    pub line: Vec<u8>,
    pub value: Value,
}

/// After so long without an answer it is looked whether anyone is there to give one.
const LOOK_AFTER: Duration = Duration::from_secs(10);
/// For so long, in which a new worker may yet come.
const LOOK_FOR: Duration = Duration::from_secs(5);

pub struct Client {
    stream: BufReader<UnixStream>,
    /// The answer may take as long as it likes, if only the server lives.
    waits: bool,
}

impl Client {
    /// None if there is no server.
    pub fn connect() -> Result<Option<Client>, Trouble> {
        match socket::connect(&paths::socket()?.path) {
            Ok(stream) => {
                stream.set_read_timeout(Some(LOOK_AFTER))?;
                Ok(Some(Client { stream: BufReader::new(stream), waits: true }))
            }
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub fn connect_or_start() -> Result<Client, Trouble> {
        if let Some(client) = Client::connect()? {
            return Ok(client);
        }
        start::server()?;
        Client::connect()?.ok_or(Trouble::Closed)
    }

    /// How long to wait for an answer before giving up.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), Trouble> {
        self.waits = false;
        Ok(self.stream.get_ref().set_read_timeout(Some(patience))?)
    }

    /// For those who have more to do than to wait for lines.
    pub fn into_lines(self) -> Lines {
        let buffer = self.stream.buffer().to_vec();
        Lines { stream: self.stream.into_inner(), buffer }
    }

    pub fn send<C: Command>(&mut self, command: &C) -> Result<(), Trouble> {
        let line = request_line(C::NAME, command);
        Ok(self.stream.get_mut().write_all(&line)?)
    }

    /// The next line, with its end; None when the server closed the connection.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let mut line = Vec::new();
        loop {
            match self.stream.read_until(b'\n', &mut line) {
                Ok(0) => return Ok(None),
                Ok(_) => return Ok(Some(line)),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) if is_late(&error) && self.waits => look_for_server()?,
                Err(error) if is_late(&error) => return Err(Trouble::Silent),
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub fn ask<C: Command>(&mut self, command: &C) -> Result<Answer, Trouble> {
        self.send(command)?;
        let line = self.next_line()?.ok_or(Trouble::Closed)?;
        let value = serde_json::from_slice(&line).map_err(|_| Trouble::Garbled)?;
        match Client::check(&value) {
            Ok(()) => Ok(Answer { line, value }),
            Err(Trouble::Refused { error, code, .. }) => {
                Err(Trouble::Refused { error, code, line })
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// An answer with the bytes that follow it.
    pub fn picture(&mut self, command: &Screenshot) -> Result<(Answer, Vec<u8>), Trouble> {
        let answer = self.ask(command)?;
        let inline = answer.value.get("data_base64").is_some();
        let length = answer.value["len"].as_u64().filter(|_| !inline).unwrap_or(0);
        let mut bytes = Vec::new();
        match self.stream.by_ref().take(length).read_to_end(&mut bytes) {
            Err(error) if is_late(&error) => return Err(Trouble::Silent),
            read => read?,
        };
        match bytes.len() as u64 == length {
            true => Ok((answer, bytes)),
            false => Err(Trouble::Closed),
        }
    }

    /// Whether a line says that something was refused.
    pub fn check(value: &Value) -> Result<(), Trouble> {
        if value["ok"] != Value::Bool(false) {
            return Ok(());
        }
        let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
        Err(Trouble::Refused { error: text("error"), code: text("code"), line: Vec::new() })
    }
}

fn is_late(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
}

/// Connecting is no sign of life: without a worker whoever comes waits in line.
fn look_for_server() -> Result<(), Trouble> {
    let Some(mut other) = Client::connect()? else { return Ok(()) };
    other.set_patience(LOOK_FOR)?;
    match other.ask(&Hello {}) {
        Err(Trouble::Silent) => Err(Trouble::Silent),
        // Even a refusal is an answer, and one's own connection tells the rest.
        _ => Ok(()),
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}
