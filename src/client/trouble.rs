//! What can go wrong for a client, and what to do next.

use std::fmt;
use std::io;

use super::log_path;

#[derive(Debug)]
pub enum Trouble {
    Io(io::Error),
    /// The server said no; `line` is its answer.
    Refused {
        error: String,
        code: String,
        line: Vec<u8>,
    },
    Usage(String),
    /// The server could not be started.
    Start(String),
    Closed,
    /// No answer for as long as the client has patience.
    Silent,
    Garbled,
    /// The doctor found something.
    Ill,
    /// A command ended with this code; all was said.
    Code(u8),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Trouble::Io(error) => write!(f, "{error}"),
            Trouble::Refused { error, .. } | Trouble::Usage(error) => f.write_str(error),
            Trouble::Start(why) => write!(f, "the server could not be started: {why}"),
            Trouble::Closed => f.write_str("the server closed the connection"),
            Trouble::Silent => match log_path() {
                Ok(log) => write!(f, "the server does not answer; {} may say why", log.display()),
                Err(_) => f.write_str("the server does not answer"),
            },
            Trouble::Garbled => f.write_str("the server's answer is not JSON"),
            Trouble::Ill => f.write_str("something is wrong; see above"),
            Trouble::Code(code) => write!(f, "it ended with code {code}"),
        }
    }
}

impl Trouble {
    /// The next step.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Trouble::Refused { code, .. } => match code.as_str() {
                "not_found" => Some("t4a list shows all terminals"),
                "unknown_command" | "unknown_field" => {
                    Some("server and client differ in version? t4a doctor tells")
                }
                "exited" => Some("t4a text still shows its screen; t4a kill forgets it"),
                "limit" => Some("t4a list shows what could go; t4a hello shows the limits"),
                _ => None,
            },
            Trouble::Start(_) | Trouble::Garbled | Trouble::Silent => {
                Some("t4a doctor looks for the cause")
            }
            Trouble::Closed => Some(
                "a new worker may have taken over: t4a list tells what was done; a wait takes the same --after",
            ),
            Trouble::Usage(_) => Some("--help shows how"),
            Trouble::Io(_) | Trouble::Ill | Trouble::Code(_) => None,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Trouble::Usage(_) => 2,
            Trouble::Code(code) => *code,
            _ => 1,
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Io(error)
    }
}
