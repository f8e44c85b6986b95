//! What a client that has lent its terminal to the worker, and the worker, tell each other. Not for
//! others: both are this program, and one that does not understand the other's words does without.

use serde::{Deserialize, Serialize};

use super::config::Found;
use super::{Depth, Layout, Start};

/// Another one is not understood.
pub const VERSION: u32 = 1;

/// A terminal that is lent; its descriptor comes with the line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lend {
    pub version: u32,
    pub start: Start,
    pub size: (u16, u16),
    pub depth: Depth,
    pub config: Found,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromLender {
    Lend(Box<Lend>),
    Resized(u16, u16),
    /// The terminal is to be used again after `Suspend`.
    Resumed(u16, u16),
    Config(Found),
    Branch {
        cwd: String,
        branch: Option<String>,
    },
    /// It is wanted back; `Leave` tells when it is no longer used.
    Back,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToLender {
    Taken,
    /// The terminal is no longer used: what to say to the person.
    Leave(String),
    /// It is no longer used and something went wrong: the client is to go on by itself.
    Failed,
    /// It is not used until `Resumed`.
    Suspend,
    ReadConfig,
    LookUp(String),
    /// For when the worker is gone.
    Layout(Layout),
}

/// A message as a line.
pub fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
