//! send: type something.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::Command;
use crate::input;
use crate::mux::{Input, Mux, Secret, Ticket, Typist};
use crate::wire::Failure;

/// Type into a terminal.
///
/// In INPUT, \n is Enter, \t Tab, \e Escape, \xNN any byte (\x03 is Ctrl-C) and \\ a backslash.
/// Without INPUT, standard input is sent as it is, line ends as Enter.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// The terminal's id or name
    pub id: String,
    /// What to type; standard input if left out
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Raw bytes in base64, sent unchanged
    #[arg(long, value_name = "BASE64", conflicts_with = "input")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_base64: Option<String>,
    /// Wait for the first prompt of a program that has just been started
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub when_ready: bool,
    /// Type only if the terminal does not echo, and leave no trace of it anywhere
    #[arg(long)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub secret: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Command for Send {
    const NAME: &'static str = "send";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let bytes = match (self.input, self.input_base64) {
            (Some(text), None) => input::typed(&text),
            (None, Some(encoded)) => decode(&encoded)?,
            (Some(_), Some(_)) => {
                return Err(Failure::bad_value("send: give input or input_base64, not both"));
            }
            (None, None) => {
                return Err(Failure::bad_value("send: give input or input_base64"));
            }
        };
        let terminal = mux.find(&self.id)?;
        let by = Typist::Agent;
        match (self.secret, self.when_ready) {
            (true, true) => {
                Err(Failure::bad_value("send: a secret waits for password, not for a prompt"))
            }
            (true, false) => {
                mux.type_secretly(Secret { ticket: ticket.clone(), terminal, bytes, by });
                Ok(())
            }
            (false, when_ready) => {
                mux.type_input(terminal, Input::Bytes(bytes), by, when_ready, ticket)
            }
        }
    }
}

fn decode(encoded: &str) -> Result<Vec<u8>, Failure> {
    BASE64
        .decode(encoded)
        .map_err(|e| Failure::bad_value(format!("send: input_base64 is not base64: {e}")))
}
