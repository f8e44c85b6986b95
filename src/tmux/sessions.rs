//! Sessions: made, looked for, ended.

use super::format;
use super::options::Options;
use super::target::{Kind, Session};
use super::{Failed, Tmux, pipe, say};
use crate::attach;
use crate::client::own_create;
use crate::command::{Create, Kill, List, Resize};
use crate::mux::integration;
use crate::mux::limits::MAX_SCROLLBACK_LINES;
use crate::os::process;
use crate::seat;
use crate::wire::{Pair, Role};

/// The label of what is made here, and its value for shells that tell when they are ready.
const LABEL: &str = "tmux";
const SHELL: &str = "shell";
/// tmux's own size for sessions without one.
const USUAL_SIZE: (i64, i64) = (80, 24);

impl Session {
    /// Its shell tells its first prompt; what is typed before might be cut.
    pub fn tells_prompts(&self) -> bool {
        self.labels[LABEL] == SHELL
    }

    fn is_ours(&self) -> bool {
        self.labels.get(LABEL).is_some()
    }
}

pub fn new(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let sessions = tmux.sessions()?;
    let name = match options.value('s') {
        // As tmux does: these divide the parts of a target.
        Some(name) => name.replace([':', '.'], "_"),
        None => free_name(&sessions),
    };
    if let Some(session) = sessions.iter().find(|session| session.name == name) {
        let session = session.clone();
        return match options.has('A') {
            true if options.has('d') => Ok(()),
            true => show(&session),
            false => Err(Failed(format!("duplicate session: {name}"))),
        };
    }
    let session = make(tmux, options, name)?;
    tmux.current = Some(session.id.clone());
    if options.has('P') {
        let wanted = options.value('F').unwrap_or("#{session_name}:");
        say(&format::expand(tmux, &session, wanted)?)?;
    }
    match options.has('d') {
        true => Ok(()),
        false => show(&session),
    }
}

/// The first number that is no session's name.
fn free_name(sessions: &[Session]) -> String {
    let names = (0..=sessions.len()).map(|number| number.to_string());
    let is_free = |name: &String| sessions.iter().all(|session| session.name != *name);
    names.into_iter().find(is_free).unwrap_or_default()
}

fn make(tmux: &mut Tmux, options: &Options, name: String) -> Result<Session, Failed> {
    forget_dead(tmux, &name)?;
    let (argv, kind) = program(&options.rest);
    let history = tmux.place()?.read("history-limit")?;
    let history = history.and_then(|text| String::from_utf8(text).ok()?.parse().ok());
    let mut create = Create {
        name: Some(name.clone()),
        cols: Some(options.number('x')?.unwrap_or(USUAL_SIZE.0)),
        rows: Some(options.number('y')?.unwrap_or(USUAL_SIZE.1)),
        cwd: options.value('c').map(str::to_owned),
        labels: vec![Pair { key: LABEL.to_owned(), value: kind.to_owned() }],
        scrollback_lines: history,
        cmd_args: argv,
        ..Create::new()
    };
    for variable in options.values('e') {
        create.env.push(variable.parse().map_err(Failed)?);
    }
    if tmux.pipe_follows {
        tmux.ahead = Some(pipe::Pipe::open(None)?);
    }
    let answer = tmux.client()?.ask(&own_create(create)?)?.value;
    let id = answer["id"].as_str().unwrap_or_default().to_owned();
    Ok(Session { id, name, labels: serde_json::Value::Null })
}

/// A terminal whose program has ended still has its name; a session has not.
fn forget_dead(tmux: &mut Tmux, name: &str) -> Result<(), Failed> {
    let answer = tmux.client()?.ask(&List::default())?.value;
    let mut rows = answer["terminals"].as_array().into_iter().flatten();
    let dead = rows.find(|row| row["name"] == name && row["alive"] == false);
    if let Some(id) = dead.and_then(|row| row["id"].as_str()) {
        tmux.client()?.ask(&Kill::new(id))?;
    }
    Ok(())
}

/// What to run, as tmux does: several words as they are, one by the shell. A shell alone is run
/// without another one around it, so that it can tell its prompts.
fn program(words: &[String]) -> (Vec<String>, &'static str) {
    let argv = match words {
        [] => vec![process::user_shell()],
        [line] => {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            match is_shell(&words) {
                true => words,
                false => vec![process::user_shell(), "-c".to_owned(), line.clone()],
            }
        }
        words => words.to_vec(),
    };
    let kind = if is_shell(&argv) { SHELL } else { "program" };
    (argv, kind)
}

fn is_shell(argv: &[String]) -> bool {
    integration::inject(argv, |_| None, "", "").is_some()
}

/// Shows a session on this terminal.
fn show(session: &Session) -> Result<(), Failed> {
    if !attach::Tty::is_there() {
        return Err(Failed("open terminal failed: not a terminal".to_owned()));
    }
    let name = attach::own_name();
    let said = attach::run(seat::Start {
        independent: true,
        terminal: Some(session.id.clone()),
        role: Role::Edit,
        mark: format!("{name}-{}", std::process::id()),
        name,
        layout: None,
        workspace: "main".to_owned(),
        size: (None, None),
        create: own_create(Create::new())?,
    })?;
    say(&said)?;
    Ok(())
}

pub fn attach(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    show(&tmux.find(target.as_deref(), Kind::Session)?)
}

pub fn has(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    tmux.find(target.as_deref(), Kind::Session).map(|_| ())
}

pub fn kill(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    let session = tmux.find(target.as_deref(), Kind::Session)?;
    tmux.client()?.ask(&Kill::new(session.id))?;
    Ok(())
}

/// Ends what was made here. The server has other terminals too, which are not tmux's.
pub fn kill_server(tmux: &mut Tmux, _: &Options) -> Result<(), Failed> {
    for session in tmux.sessions()?.into_iter().filter(Session::is_ours) {
        tmux.client()?.ask(&Kill::new(session.id))?;
    }
    Ok(())
}

pub fn start_server(tmux: &mut Tmux, _: &Options) -> Result<(), Failed> {
    tmux.client().map(|_| ())
}

pub fn resize(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    let session = tmux.find(target.as_deref(), Kind::Session)?;
    let info = format::info(tmux, &session)?;
    let now = |field: &str| info[field].as_i64().unwrap_or(0);
    let cols = options.number('x')?.unwrap_or_else(|| now("cols"));
    let rows = options.number('y')?.unwrap_or_else(|| now("rows"));
    tmux.client()?.ask(&Resize { id: session.id, cols, rows })?;
    Ok(())
}

/// `history-limit` counts for sessions made after it, as in tmux; other options concern what people
/// see, and are accepted.
pub fn set_option(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    if let Some(target) = options.value('t') {
        tmux.find(Some(target), Kind::Session)?;
    }
    if options.rest[0] != "history-limit" {
        tmux.client()?;
        return Ok(());
    }
    let value = options.rest.get(1).ok_or(Failed("empty value".to_owned()))?;
    let lines: u32 = value.parse().map_err(|_| Failed(format!("value is invalid: {value}")))?;
    let lines = lines.min(MAX_SCROLLBACK_LINES);
    if options.value('t').is_none() {
        tmux.place()?.write("history-limit", lines.to_string().as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: &str, kind: &str) {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let (argv, found) = program(&words);
        let shown = argv.join("|").replace(&process::user_shell(), "SHELL");
        assert_eq!((shown.as_str(), found), (expected, kind));
    }

    #[test]
    fn a_shell_alone_is_run_by_itself_and_a_line_by_a_shell() {
        check(&["bash --login"], "bash|--login", "shell");
        check(&["zsh"], "zsh", "shell");
        check(&["bash -c ls"], "SHELL|-c|bash -c ls", "program");
        check(&["cat > file; ls"], "SHELL|-c|cat > file; ls", "program");
        check(&["vim", "a file"], "vim|a file", "program");
    }
}
