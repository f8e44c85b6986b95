//! pipe-pane: a process beside the server that feeds what a program writes to a command.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::options::Options;
use super::place::Place;
use super::target::Kind;
use super::{Failed, Tmux, channel};
use crate::client::{Client, Trouble};
use crate::command::{Events, Hello};
use crate::os::process;
use crate::wire::EventKind;

/// What the process says when it reads along, and again when it feeds the command.
const READY: [u8; 1] = [b'.'];

/// The process, which reads along and has yet to be told what to do with it.
pub struct Pipe {
    child: Child,
}

impl Pipe {
    /// Reads along with a terminal, or with all of them as long as there is none.
    pub fn open(terminal: Option<&str>) -> Result<Pipe, Failed> {
        let child = Command::new(process::own_program()?)
            .arg("__pipe")
            .args(terminal)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // What ends the caller's terminal does not end it.
            .process_group(0)
            .spawn()?;
        let mut pipe = Pipe { child };
        pipe.hear()?;
        Ok(pipe)
    }

    fn hear(&mut self) -> Result<(), Failed> {
        let mut said = [0];
        let heard = self.child.stdout.as_mut().map(|stdout| stdout.read_exact(&mut said));
        match heard {
            Some(Ok(())) if said == READY => Ok(()),
            _ => Err(Failed("pipe-pane: the pipe could not be opened".to_owned())),
        }
    }

    /// From now on it feeds `command` and goes its own way.
    fn feed(mut self, terminal: &str, command: &str) -> Result<(), Failed> {
        if let Some(mut stdin) = self.child.stdin.take() {
            stdin.write_all(format!("{terminal}\0{command}").as_bytes())?;
        }
        self.hear()
    }
}

pub fn pipe_pane(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    let session = tmux.find(target.as_deref(), Kind::Pane)?;
    let place = tmux.place()?;
    let was_open = channel::wake(&place, &channel_of(&session.id))? > 0;
    drop(place);
    let command = options.rest.first().filter(|command| !command.is_empty());
    // `-o` is for a key that opens and closes it in turn.
    let Some(command) = command.filter(|_| !(options.has('o') && was_open)) else { return Ok(()) };
    let ahead = tmux.ahead.take().filter(|_| tmux.current.as_ref() == Some(&session.id));
    let pipe = match ahead {
        Some(pipe) => pipe,
        None => Pipe::open(Some(&session.id))?,
    };
    pipe.feed(&session.id, command)
}

fn channel_of(terminal: &str) -> String {
    format!("pipe {terminal}")
}

/// The process itself.
pub fn serve(terminal: Option<String>) -> Result<(), Trouble> {
    let mut client = Client::connect()?.ok_or(Trouble::Closed)?;
    let types = vec![EventKind::Output, EventKind::Exit, EventKind::Killed];
    client.send(&Events { terminal, types, since: None, count: None })?;
    client.send(&Hello {})?;
    let (early, hello) = until_answer(&mut client)?;
    say_ready()?;
    let mut told = String::new();
    io::stdin().lock().read_to_string(&mut told)?;
    let Some((terminal, command)) = told.split_once('\0') else { return Ok(()) };
    let stopped = watch(&hello, terminal)?;
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    say_ready()?;
    if let Some(mut stdin) = child.stdin.take() {
        let lines = early.into_iter().map(Ok).chain(std::iter::from_fn(|| next(&mut client)));
        copy(lines, terminal, &mut stdin)?;
    }
    child.wait()?;
    drop(stopped);
    Ok(())
}

/// Events that came before the answer, and the answer.
fn until_answer(client: &mut Client) -> Result<(Vec<Value>, Value), Trouble> {
    let mut early = Vec::new();
    while let Some(line) = next(client) {
        let line = line?;
        match line.get("ok").is_some() {
            true => return Client::check(&line).map(|()| (early, line)),
            false => early.push(line),
        }
    }
    Err(Trouble::Closed)
}

fn next(client: &mut Client) -> Option<Result<Value, Trouble>> {
    let line = client.next_line().transpose()?;
    Some(line.and_then(|line| serde_json::from_slice(&line).map_err(|_| Trouble::Garbled)))
}

/// Ends this process when `pipe-pane` is asked to end or to replace it.
fn watch(hello: &Value, terminal: &str) -> Result<Stop, Trouble> {
    let socket = hello["socket"].as_str().unwrap_or_default();
    let place = Place::open(socket, &hello["keeper_pid"].to_string())?;
    let waiter = channel::join(&place, &channel_of(terminal))?;
    let path = waiter.as_ref().map(channel::Waiter::path);
    std::thread::spawn(move || {
        if waiter.is_some_and(|waiter| waiter.wait().is_ok()) {
            std::process::exit(0);
        }
    });
    Ok(Stop(path))
}

/// Takes the watch away at the end.
struct Stop(Option<std::path::PathBuf>);

impl Drop for Stop {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Until the program ends, or the command reads no more.
fn copy(
    lines: impl Iterator<Item = Result<Value, Trouble>>,
    terminal: &str,
    to: &mut ChildStdin,
) -> Result<(), Trouble> {
    for line in lines {
        let line = line?;
        if line["terminal"] != terminal {
            continue;
        }
        let Some(data) = line["data_base64"].as_str() else { break };
        let bytes = BASE64.decode(data).map_err(|_| Trouble::Garbled)?;
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    Ok(())
}

fn say_ready() -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(&READY)?;
    stdout.flush()
}
