//! run, wait and look on the command line: a command's own output and code, as scripts want them.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Value, json};

use super::output::{self, Output};
use crate::client::{Answer, Client, Trouble, own_create};
use crate::command::{self, Condition};
use crate::mux::limits::{MAX_RUN_LINES, MAX_SCROLLBACK_LINES};
use crate::wire::EventKind;

/// The code of timeout(1) for a command that took too long.
const TIMED_OUT: u8 = 124;

/// Run a command in a terminal's shell: its output on stdout, its exit code as ours.
///
/// One argument is a line for the shell, as it stands; several are its words, and are quoted. A
/// command that takes too long goes on, and the exit code is 124.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The terminal's id or name
    #[arg(required_unless_present = "new")]
    id: Option<String>,
    /// In a terminal of its own, which is gone after that
    #[arg(long, conflicts_with = "id")]
    new: bool,
    #[command(flatten)]
    run: command::Run,
    /// The command, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    words: Vec<String>,
}

#[derive(Debug, Args)]
pub struct WaitArgs {
    #[command(flatten)]
    wait: command::Wait,
    /// A text on the screen, or that comes
    #[arg(long)]
    text: Vec<String>,
    /// A regular expression that matches a line
    #[arg(long)]
    regex: Vec<String>,
    /// Only what is written from now on counts for --text and --regex
    #[arg(long)]
    new: bool,
    /// A text is not on the screen
    #[arg(long, value_name = "TEXT")]
    gone: Vec<String>,
    /// An event of this kind
    #[arg(long)]
    event: Vec<EventKind>,
    /// The shell is ready for a command
    #[arg(long)]
    prompt: bool,
    /// The program ended
    #[arg(long)]
    exit: bool,
    /// The program waits for input
    #[arg(long)]
    input: bool,
    /// The program reads without an echo
    #[arg(long)]
    password: bool,
    /// The cursor is there
    #[arg(long, value_name = "ROW,COL", value_parser = place)]
    cursor: Option<(u16, u16)>,
    /// The screen has not changed for so long
    #[arg(long, value_name = "MS")]
    settled_ms: Option<i64>,
    /// Nothing was written for so long
    #[arg(long, value_name = "MS")]
    idle_ms: Option<i64>,
}

fn place(text: &str) -> Result<(u16, u16), String> {
    let parts = text.split_once(',').ok_or("expected ROW,COL, for example 0,5")?;
    let number = |part: &str| part.parse().map_err(|_| format!("{part:?} is no place"));
    Ok((number(parts.0)?, number(parts.1)?))
}

pub fn run(args: RunArgs, out: &mut Output) -> Result<(), Trouble> {
    let mut run = args.run;
    run.command = command_line(&args.words);
    run.max_lines = run.max_lines.or(Some(MAX_RUN_LINES as i64));
    let mut client = Client::connect_or_start()?;
    let Some(id) = args.id else { return run_in_new(&mut client, run, out) };
    run.id = id;
    let answer = client.ask(&run);
    report(answer, out)
}

fn run_in_new(client: &mut Client, mut run: command::Run, out: &mut Output) -> Result<(), Trouble> {
    let create = command::Create {
        ready: true,
        scrollback_lines: Some(MAX_SCROLLBACK_LINES.into()),
        ..own_create(command::Create::new())?
    };
    let created = client.ask(&create)?;
    run.id = created.value["id"].as_str().unwrap_or_default().to_owned();
    let answer = client.ask(&run);
    let reported = report(answer, out);
    let _ = client.ask(&command::Kill::new(run.id));
    reported
}

/// Words as a shell reads them.
fn command_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn report(answer: Result<Answer, Trouble>, out: &mut Output) -> Result<(), Trouble> {
    let value = answer.as_ref().map(|answer| answer.value.clone()).unwrap_or(Value::Null);
    out.data(answer, output::output_lines)?;
    let mut stderr = io::stderr().lock();
    if let Some(left_out) = value.get("left_out") {
        let (count, lines) = (&left_out["count"], &left_out["lines"]);
        let _ = writeln!(stderr, "t4a: {count} lines are left out: {} to {}", lines[0], lines[1]);
    }
    if value["timed_out"] == json!(true) {
        let _ = writeln!(
            stderr,
            "t4a: it goes on; `t4a wait {} --event command_done --after {}` \
            waits for its end",
            output::text(&value["id"]),
            value["seq"]
        );
        return Err(Trouble::Code(TIMED_OUT));
    }
    let code = value["code"].as_i64().or(value["exit_code"].as_i64()).unwrap_or(0);
    match u8::try_from(code).unwrap_or(1) {
        0 => Ok(()),
        code => Err(Trouble::Code(code)),
    }
}

pub fn wait(args: WaitArgs, out: &mut Output) -> Result<(), Trouble> {
    let mut wait = args.wait.clone();
    wait.any = args.conditions();
    let answer = Client::connect_or_start()?.ask(&wait);
    let met = answer.as_ref().is_ok_and(|answer| answer.value["met"].is_u64());
    out.answer(answer, output::waited)?;
    if met { Ok(()) } else { Err(Trouble::Code(1)) }
}

impl WaitArgs {
    fn conditions(&self) -> Vec<Condition> {
        let new = self.new;
        let usual = Condition::default;
        let text = |text: &String| Condition { text: Some(text.clone()), new, ..usual() };
        let regex = |regex: &String| Condition { regex: Some(regex.clone()), new, ..usual() };
        let gone = |text: &String| Condition { text: Some(text.clone()), gone: true, ..usual() };
        let event = |kind: &EventKind| Condition { event: Some(*kind), ..usual() };
        let place = |(row, col): (u16, u16)| {
            let cursor = Some(command::Place { row: Some(row), col: Some(col) });
            Condition { cursor, ..usual() }
        };
        let settled = |ms| Condition { settled_ms: Some(ms), ..usual() };
        let idle = |ms| Condition { idle_ms: Some(ms), ..usual() };
        let mut any: Vec<_> = self.text.iter().map(text).collect();
        any.extend(self.regex.iter().map(regex));
        any.extend(self.gone.iter().map(gone));
        any.extend(self.event.iter().map(event));
        any.extend(self.cursor.map(place));
        any.extend(self.settled_ms.map(settled));
        any.extend(self.idle_ms.map(idle));
        any.extend(self.exit.then(|| Condition { exit: true, ..usual() }));
        any.extend(self.input.then(|| Condition { input: true, ..usual() }));
        any.extend(self.password.then(|| Condition { password: true, ..usual() }));
        if self.prompt || any.is_empty() {
            any.push(Condition { prompt: true, ..usual() });
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_argument_is_a_line_and_several_are_words() {
        let line = |words: &[&str]| {
            command_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(line(&["echo $HOME | wc"]), "echo $HOME | wc");
        assert_eq!(line(&["ls", "-l", "a b", "it's", ""]), r"ls -l 'a b' 'it'\''s' ''");
    }
}
