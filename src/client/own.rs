//! Terminals that start where their maker is.

use super::Trouble;
use crate::command::Create;
use crate::os::process;
use crate::wire::Pair;

/// A command-line user's terminal starts where the user is, with what the user has.
pub fn own_create(mut create: Create) -> Result<Create, Trouble> {
    let here = std::env::current_dir()?;
    let cwd = create.cwd.map_or_else(|| here.clone(), |cwd| here.join(cwd));
    create.cwd = Some(cwd.to_string_lossy().into_owned());
    create.inherit_env = false;
    // What the terminal can do is not what the caller's can.
    let own =
        process::base_env().into_iter().filter(|(key, _)| key != "TERM" && key != "COLORTERM");
    let own = own.map(|(key, value)| Pair { key, value });
    // What was asked for comes last and so counts.
    create.env = own.chain(create.env).collect();
    Ok(create)
}
