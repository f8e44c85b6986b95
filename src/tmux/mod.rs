//! The part of tmux's command line that harnesses call, so that a link named `tmux` serves them.
//!
//! A session is a terminal: one window, one pane. Exit codes and error texts are tmux's.

mod capture;
mod channel;
mod format;
mod names;
mod options;
mod pipe;
mod place;
mod sessions;
mod target;
mod typing;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::client::{Client, Trouble};
use crate::command::Hello;
use crate::os::paths;
use options::Options;
use place::Place;

pub use pipe::serve as pipe;

/// The version whose behaviour is followed.
const VERSION: &str = concat!("tmux 3.3 (t4a ", env!("CARGO_PKG_VERSION"), ")");
/// Options of tmux itself that change nothing here.
const OWN_OPTIONS: &str = "2uf:";

/// A sentence for stderr; the exit code is 1.
#[derive(Debug, PartialEq, Eq)]
pub struct Failed(pub String);

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Failed {
        Failed(trouble.to_string())
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed(error.to_string())
    }
}

/// A command: its names, its options as letters, how many arguments it needs, what it does.
struct Known {
    name: &'static str,
    alias: &'static str,
    options: &'static str,
    least: usize,
    run: fn(&mut Tmux, &Options) -> Result<(), Failed>,
}

macro_rules! known {
    ($($name:literal $alias:literal $options:literal $least:literal $run:path)*) => {
        const KNOWN: &[Known] = &[$(Known {
            name: $name, alias: $alias, options: $options, least: $least, run: $run,
        }),*];
    };
}

known! {
    "attach-session"  "attach"   "Et:"             0 sessions::attach
    "capture-pane"    "capturep" "aCeJNpPqb:E:S:t:" 0 capture::capture
    "display-message" "display"  "pt:"             0 format::display
    "has-session"     "has"      "t:"              0 sessions::has
    "kill-server"     ""         ""                0 sessions::kill_server
    "kill-session"    ""         "t:"              0 sessions::kill
    "list-panes"      "lsp"      "asF:t:"          0 format::list_panes
    "list-sessions"   "ls"       "F:"              0 format::list_sessions
    "load-buffer"     "loadb"    "b:"              1 typing::load_buffer
    "new-session"     "new"      "AdPc:e:F:n:s:x:y:" 0 sessions::new
    "paste-buffer"    "pasteb"   "dprb:s:t:"       0 typing::paste_buffer
    "pipe-pane"       "pipep"    "oOt:"            0 pipe::pipe_pane
    "resize-window"   "resizew"  "t:x:y:"          0 sessions::resize
    "send-keys"       "send"     "HlN:t:"          0 typing::send_keys
    "set-buffer"      "setb"     "b:"              0 typing::set_buffer
    "set-option"      "set"      "agopqsuwt:"      1 sessions::set_option
    "show-buffer"     "showb"    "b:"              0 typing::show_buffer
    "start-server"    "start"    ""                0 sessions::start_server
    "wait-for"        "wait"     "S"               1 wait_for
}

/// One run of the program: commands one after another, on one connection.
pub struct Tmux {
    client: Option<Client>,
    /// Only some commands start a server; the others find none.
    may_start: bool,
    /// The session that a command before made: the usual target of those after it.
    current: Option<String>,
    /// A pipe that was opened before its session was made, so that nothing escapes it.
    ahead: Option<pipe::Pipe>,
    pipe_follows: bool,
}

/// Whether the program was called by the name that harnesses call.
pub fn is_called_so() -> bool {
    let name = std::env::args_os().next().unwrap_or_default();
    Path::new(&name).file_name().is_some_and(|name| name == "tmux")
}

/// Runs a command line without its first word.
pub fn main(args: &[String]) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), Failed> {
    if args.first().is_some_and(|arg| arg == "-V") {
        return say(VERSION);
    }
    let own = Options::parse("tmux", OWN_OPTIONS, args)?;
    let mut commands = split(&own.rest);
    if commands.is_empty() {
        commands.push(vec!["new-session".to_owned()]);
    }
    let found: Result<Vec<_>, _> = commands.iter().map(|command| command_of(command)).collect();
    let found = found?;
    let mut tmux =
        Tmux { client: None, may_start: false, current: None, ahead: None, pipe_follows: false };
    for (at, (known, options)) in found.iter().enumerate() {
        tmux.may_start = matches!(known.name, "new-session" | "start-server");
        tmux.pipe_follows = found[at + 1..].iter().any(|(known, _)| known.name == "pipe-pane");
        (known.run)(&mut tmux, options)?;
    }
    Ok(())
}

/// A line on standard output.
fn say(line: &str) -> Result<(), Failed> {
    print(format!("{line}\n").as_bytes())
}

fn print(bytes: &[u8]) -> Result<(), Failed> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // Whoever closes the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Commands that a `;` divides. At the end of an argument it divides too, unless `\` is before it.
fn split(args: &[String]) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    for arg in args {
        let (word, ends) = match arg.strip_suffix(';') {
            None => (arg.clone(), false),
            Some(head) => match head.strip_suffix('\\') {
                Some(head) => (format!("{head};"), false),
                None => (head.to_owned(), true),
            },
        };
        if let Some(command) = commands.last_mut().filter(|_| !(ends && word.is_empty())) {
            command.push(word);
        }
        if ends {
            commands.push(Vec::new());
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

/// The command that is meant, also by the beginning of its name, and its options.
fn command_of(words: &[String]) -> Result<(&'static Known, Options), Failed> {
    let (name, args) = words.split_first().ok_or(Failed("no command".to_owned()))?;
    let exactly = |known: &&Known| known.name == name || known.alias == name;
    let mut begins = KNOWN.iter().filter(|known| known.name.starts_with(name.as_str()));
    let only = match (begins.next(), begins.next()) {
        (Some(known), None) => Some(known),
        _ => None,
    };
    let known = KNOWN.iter().find(exactly).or(only).ok_or_else(|| {
        let names: Vec<_> = KNOWN.iter().map(|known| known.name).collect();
        Failed(format!("unknown command: {name}; t4a understands {}", names.join(", ")))
    })?;
    let options = Options::parse(known.name, known.options, args)?;
    if options.rest.len() < known.least {
        let (name, least) = (known.name, known.least);
        return Err(Failed(format!("command {name}: too few arguments (need at least {least})")));
    }
    Ok((known, options))
}

impl Tmux {
    pub fn client(&mut self) -> Result<&mut Client, Failed> {
        if self.client.is_none() {
            self.client = match self.may_start {
                true => Some(Client::connect_or_start()?),
                false => Client::connect()?,
            };
        }
        match &mut self.client {
            Some(client) => Ok(client),
            None => {
                let socket = paths::socket()?.path;
                Err(Failed(format!("no server running on {}", socket.display())))
            }
        }
    }

    /// Where buffers, channels and settings are; nobody else has it meanwhile.
    pub fn place(&mut self) -> Result<Place, Failed> {
        let hello = self.client()?.ask(&Hello {})?.value;
        let socket = hello["socket"].as_str().unwrap_or_default();
        Ok(Place::open(socket, &hello["keeper_pid"].to_string())?)
    }

    /// The target of a command, else the session made before it.
    pub fn target(&self, options: &Options) -> Option<String> {
        options.value('t').map(str::to_owned).or_else(|| self.current.clone())
    }
}

fn wait_for(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let channel = &options.rest[0];
    let place = tmux.place()?;
    if options.has('S') {
        return Ok(channel::signal(&place, channel)?);
    }
    let waiter = channel::join(&place, channel)?;
    drop(place);
    Ok(waiter.map_or(Ok(()), |waiter| waiter.wait())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(words: &[&str]) -> Vec<String> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        split(&words).iter().map(|command| command.join("|")).collect()
    }

    #[test]
    fn a_semicolon_divides_commands_also_at_the_end_of_a_word() {
        assert_eq!(commands(&["a", "b", ";", "c"]), ["a|b", "c"]);
        assert_eq!(commands(&["send-keys", "ls;", "Enter"]), ["send-keys|ls", "Enter"]);
        assert_eq!(commands(&["send-keys", r"ls\;", "a;b"]), ["send-keys|ls;|a;b"]);
        assert_eq!(commands(&["send-keys", r"\;"]), ["send-keys|;"]);
        assert_eq!(commands(&[";", ";"]), [""; 0]);
    }

    #[test]
    fn commands_are_known_by_alias_and_by_beginning() {
        let name = |word: &str| command_of(&[word.to_owned()]).map(|(known, _)| known.name);
        assert_eq!(name("ls"), Ok("list-sessions"));
        assert_eq!(name("has"), Ok("has-session"));
        assert_eq!(name("capture"), Ok("capture-pane"));
        assert!(name("kill").is_err(), "two begin so");
        let Failed(error) = name("split-window").unwrap_err();
        assert!(error.starts_with("unknown command: split-window; t4a understands attach-session"));
    }
}
