//! restore: a terminal that is only on disk any more, brought back with its text.

use serde::{Deserialize, Serialize};

use super::Command;
use super::create::{is_yes, yes};
use crate::mux::{DeadWish, Mux, Ticket, check_variable};
use crate::wire::{Failure, Pair, pairs};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// The id or name that it had
    pub id: String,
    /// Variables to set in its program's environment: those of before were not kept.
    #[serde(default, with = "pairs", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<Pair>,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub inherit_env: bool,
}

impl Command for Restore {
    const NAME: &'static str = "restore";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        self.env.iter().try_for_each(check_variable)?;
        let Restore { id: name, env, inherit_env } = self;
        mux.look_at_dead(DeadWish::Restore { name, env, inherit_env }, ticket)
    }
}
