//! look: everything about a terminal as it is now, in one answer.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, within};
use crate::mux::limits::MAX_TOKENS;
use crate::mux::{Extra, LookWish, Mux, Reply, Ticket};
use crate::wire::Failure;

/// Show what a terminal shows and does now.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// The terminal's id or name
    pub id: String,
    /// Only rows that changed after this stamp
    #[arg(long, value_name = "STAMP")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Leave out rows in the middle, so that the text takes no more tokens, by estimate
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<i64>,
    /// Add a picture, in base64.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "is_false")]
    pub screenshot: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Command for Look {
    const NAME: &'static str = "look";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = mux.find(&self.id)?;
        let budget = self.max_tokens.map(|max| within("max_tokens", max, 1, MAX_TOKENS));
        let max_tokens = budget.transpose()?.map(|max| max as usize);
        let wish = LookWish { since: self.since, max_tokens };
        let extras: &[Extra] = if self.screenshot { &[Extra::Screenshot] } else { &[] };
        mux.deliver(Reply::look(ticket.clone(), terminal, wish), extras);
        Ok(())
    }
}
