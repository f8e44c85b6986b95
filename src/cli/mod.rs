//! The command line: the same commands as on the wire, and a few that concern the server itself.

mod agent;
mod args;
mod config;
mod dead;
mod doctor;
mod escape;
mod inline;
mod output;
mod picture;
mod recording;
mod sixel;
mod upgrade;

use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::attach;
use crate::client::{Client, Trouble, own_create};
use crate::command::{self, Command};
use crate::keeper;
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::mux::integration;
use crate::os::limits::Limits;
use crate::os::poll;
use crate::seat;
use crate::server;
use crate::tmux;
use crate::wire::Role;
use args::{Action, AttachArgs, Cli, CreateArgs, DaemonArgs, IntegratedShell};
use output::{Format, Output};

/// Runs the command line; the exit code is 0, 1 for a failure or 2 for wrong usage, or that
/// of a command that was run.
pub fn main() -> ExitCode {
    if tmux::is_called_so() {
        return tmux::main(&words(1));
    }
    // Its options are its own: `--json` may be a key to be typed.
    if std::env::args_os().nth(1).is_some_and(|word| word == "tmux") {
        return tmux::main(&words(2));
    }
    let cli = Cli::parse();
    let format = match cli.json || !io::stdout().is_terminal() {
        true => Format::Json,
        false => Format::People,
    };
    let Some(action) = cli.action.or_else(usual_action) else {
        eprintln!("{}", Cli::command().render_help());
        return ExitCode::from(2);
    };
    match run(action, &mut Output::new(format, cli.json)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever closes the pipe has seen enough.
        Err(Trouble::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Trouble::Code(code)) => ExitCode::from(code),
        Err(trouble) => {
            eprintln!("t4a: {trouble}");
            if let Some(hint) = trouble.hint() {
                eprintln!("hint: {hint}");
            }
            ExitCode::from(trouble.exit_code())
        }
    }
}

/// The words of the command line after the first ones.
fn words(from: usize) -> Vec<String> {
    std::env::args_os().skip(from).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// `t4a` alone, on a terminal, shows terminals.
fn usual_action() -> Option<Action> {
    attach::Tty::is_there().then(|| {
        let workspace = "main".to_owned();
        Action::Attach(AttachArgs { workspace, ..AttachArgs::default() })
    })
}

fn run(action: Action, out: &mut Output) -> Result<(), Trouble> {
    match action {
        Action::Create(args) => ask(create(args)?, out, output::created),
        Action::Attach(args) => attach(args, out),
        Action::New(args) => new(args, out),
        Action::Keys(keys) => ask(keys, out, output::nothing),
        Action::Paste(paste) => ask(pasted(paste)?, out, output::nothing),
        Action::Mouse(mouse) => ask(mouse, out, output::nothing),
        Action::Search(search) => ask(search, out, output::matches),
        Action::Commands(commands) => ask(commands, out, output::commands),
        Action::Run(args) => agent::run(args, out),
        Action::Wait(args) => agent::wait(args, out),
        Action::Look(look) => ask(look, out, output::look),
        Action::List(list) if list.dead => ask(list, out, dead::list),
        Action::List(list) => ask(list, out, output::list),
        Action::Restore(args) => dead::restore(args, out),
        Action::Send(send) => ask(typed(send)?, out, output::nothing),
        Action::Screenshot(args) => picture::screenshot(args, out),
        Action::Watch(args) => picture::watch(args, out),
        Action::Text(text) => self::text(text, out),
        Action::Cursor(cursor) => ask(cursor, out, output::fields),
        Action::Info(info) => ask(info, out, output::fields),
        Action::Resize(resize) => ask(resize, out, output::nothing),
        Action::Signal(signal) => ask(signal, out, output::nothing),
        Action::Kill(kill) => ask(kill, out, output::nothing),
        Action::Config(args) => match args.action {
            None => ask(args.config, out, output::fields),
            Some(config::ConfigAction::Check) => config::check(out),
        },
        Action::Hello(hello) => ask(hello, out, output::fields),
        Action::Events(events) => stream(&events, out),
        Action::Record(record) => recording::record(record, out),
        Action::RecordStop(stop) => ask(stop, out, recording::stopped),
        Action::Recordings(list) => ask(list, out, recording::list),
        Action::Play(args) => recording::play(&args),
        Action::Export(args) => recording::export(&args, out),
        Action::Shutdown(shutdown) => stop(&shutdown, out),
        Action::Doctor => doctor::run(out),
        Action::Daemon(args) => Ok(keeper::run(keeper_start(&args)?)?),
        Action::Upgrade(args) => upgrade::run(args, out),
        Action::Worker(args) => {
            let persist = || attach::read_config().0.persist.unwrap_or(false);
            Ok(server::run(server::Start {
                idle_timeout_ms: args.idle_timeout_ms,
                scrollback_total_bytes: args.scrollback_total_bytes,
                limits: args.limits,
                keeper_version: args.keeper_version,
                crashed: args.crashed,
                persist,
            })?)
        }
        Action::Formats => {
            let formats = serde_json::to_string(&server::Formats::own()).unwrap_or_default();
            out.raw(format!("{formats}\n").as_bytes())
        }
        Action::Keeper(args) => {
            let limits = Limits::from_text(&args.limits);
            let wrong = || Trouble::Usage("limits are four numbers".to_owned());
            Ok(keeper::adopt(limits.ok_or_else(wrong)?)?)
        }
        #[cfg(feature = "mcp")]
        Action::Mcp => mcp::serve(),
        // Reached only with an option of t4a's own before it.
        Action::Tmux { .. } => Err(Trouble::Usage("`tmux` is the first word: t4a tmux …".into())),
        Action::Pipe { terminal } => tmux::pipe(terminal),
        Action::ShellInit { shell } => shell_init(shell, out),
        Action::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut visible(&Cli::command()), "t4a", &mut script);
            out.raw(&script)
        }
        Action::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            out.raw(&page)
        }
    }
}

/// The command line as people know it: completions would offer what is hidden too.
fn visible(all: &clap::Command) -> clap::Command {
    let args = all.get_arguments().filter(|arg| !arg.is_hide_set()).cloned();
    let subcommands = all.get_subcommands().filter(|command| !command.is_hide_set()).map(visible);
    let shown = clap::Command::new(all.get_name().to_owned()).args(args).subcommands(subcommands);
    let shown = shown.about(all.get_about().cloned().unwrap_or_default());
    match all.get_version() {
        Some(version) => shown.version(version.to_owned()),
        None => shown,
    }
}

fn ask<C: Command>(
    command: C,
    out: &mut Output,
    people: fn(&serde_json::Value) -> String,
) -> Result<(), Trouble> {
    let answer = Client::connect_or_start()?.ask(&command);
    out.answer(answer, people)
}

fn create(args: CreateArgs) -> Result<command::Create, Trouble> {
    let mut create = args.create;
    create.shell_integration = !args.no_integration;
    recording::of_create(&mut create, args.record_input)?;
    own_create(create)
}

/// A terminal of one's own, shown at once.
fn new(mut args: AttachArgs, out: &mut Output) -> Result<(), Trouble> {
    let (create, name) = (own_create(command::Create::new())?, args.id.take());
    let answer = Client::connect_or_start()?.ask(&command::Create { name, ..create })?;
    args.id = answer.value["id"].as_str().map(str::to_owned);
    attach(args, out)
}

fn attach(args: AttachArgs, out: &mut Output) -> Result<(), Trouble> {
    if !attach::Tty::is_there() {
        let error = "attach needs a terminal; `t4a text` and `t4a screenshot` do not";
        return Err(Trouble::Usage(error.to_owned()));
    }
    if let Some(own) = std::env::var_os("T4A_TERMINAL") {
        let own = own.to_string_lossy();
        let error = format!("this is {own}: it would show itself; unset T4A_TERMINAL to insist");
        return Err(Trouble::Usage(error));
    }
    let role = match (args.view, args.take) {
        (true, _) => Role::View,
        (_, true) => Role::Take,
        _ => Role::Edit,
    };
    let name = attach::own_name();
    let said = attach::run(seat::Start {
        independent: args.independent || args.id.is_some(),
        terminal: args.id,
        role,
        mark: format!("{name}-{}", std::process::id()),
        name,
        layout: None,
        workspace: args.workspace,
        size: (args.cols, args.rows),
        create: own_create(command::Create::new())?,
    })?;
    out.raw(format!("{said}\n").as_bytes())
}

fn pasted(mut paste: command::Paste) -> Result<command::Paste, Trouble> {
    if paste.text.is_empty() {
        io::stdin().lock().read_to_string(&mut paste.text)?;
    }
    Ok(paste)
}

fn typed(mut send: command::Send) -> Result<command::Send, Trouble> {
    match (&send.input, &send.input_base64) {
        (Some(input), _) => match escape::unescape(input).map_err(Trouble::Usage)? {
            escape::Typed::Text(text) => send.input = Some(text),
            escape::Typed::Bytes(base64) => {
                send.input = None;
                send.input_base64 = Some(base64);
            }
        },
        (None, None) => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            match String::from_utf8(bytes) {
                Ok(text) => send.input = Some(text),
                Err(error) => send.input_base64 = Some(escape::base64(error.as_bytes())),
            }
        }
        (None, Some(_)) => {}
    }
    Ok(send)
}

/// Text is data: it is printed as it is also in a pipe, and as JSON only when asked for.
fn text(mut text: command::Text, out: &mut Output) -> Result<(), Trouble> {
    if let Some((start, end)) = text.range {
        text.start = Some(start);
        text.end = Some(end);
    }
    let answer = Client::connect_or_start()?.ask(&text);
    out.data(answer, output::lines)
}

fn stream(events: &command::Events, out: &mut Output) -> Result<(), Trouble> {
    let mut client = Client::connect_or_start()?;
    client.send(events)?;
    end_with_stdout();
    for _ in 0..events.count.unwrap_or(usize::MAX) {
        let line = client.next_line()?.ok_or(Trouble::Closed)?;
        let value = serde_json::from_slice(&line).unwrap_or(serde_json::Value::Null);
        match Client::check(&value) {
            Ok(()) => out.event(&line, &value)?,
            refused => return out.refusal(&line).and(refused),
        }
    }
    Ok(())
}

/// Between two events nothing is written that could fail: `t4a events | head -n 1` must end.
fn end_with_stdout() {
    std::thread::spawn(|| {
        poll::wait_for_hangup(io::stdout().as_fd());
        std::process::exit(0);
    });
}

fn stop(shutdown: &command::Shutdown, out: &mut Output) -> Result<(), Trouble> {
    match Client::connect()? {
        None => out.raw(b""),
        Some(mut client) => {
            let answer = client.ask(shutdown);
            // It is over when the server closes the connection.
            while client.next_line().is_ok_and(|line| line.is_some()) {}
            out.answer(answer, output::nothing)
        }
    }
}

fn keeper_start(args: &DaemonArgs) -> Result<keeper::Start, Trouble> {
    let max = crate::mux::limits::MAX_IDLE_TIMEOUT_MS;
    if args.timeout_ms.is_some_and(|ms| !(1..=max).contains(&ms)) {
        return Err(Trouble::Usage(format!("TIMEOUT_MS must be 1 to {max}")));
    }
    // What is wrong in it is told by those who have someone to tell.
    let (config, _) = attach::read_config();
    Ok(keeper::Start {
        idle_timeout_ms: args.timeout_ms,
        scrollback_total_bytes: config.scrollback_total_bytes,
        background: args.background,
    })
}

fn shell_init(shell: IntegratedShell, out: &mut Output) -> Result<(), Trouble> {
    let name = match shell {
        IntegratedShell::Bash => "bash",
        IntegratedShell::Zsh => "zsh",
        IntegratedShell::Fish => "fish",
    };
    out.raw(integration::snippet(name).unwrap_or_default().as_bytes())
}

impl Output {
    fn raw(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        Ok(stdout.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
