//! Pictures on the command line: into a file, a pipe, or onto a terminal that shows them.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::inline::{self, Way};
use super::output::Output;
use crate::client::{Answer, Client, Trouble};
use crate::command::{self, Encoding, Format, Highlight};
use crate::wire::EventKind;

#[derive(Debug, Args)]
pub struct ScreenshotArgs {
    #[command(flatten)]
    screenshot: command::Screenshot,
    /// Write it to this file; its ending tells the format
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    more: MoreArgs,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    screenshot: command::Screenshot,
    /// Directory for the pictures; it is made if need be
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// End after this many
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    #[command(flatten)]
    more: MoreArgs,
}

// Options that stand for fields which are easier to write on the wire. Said with three strokes it
// would be what `t4a screenshot` tells about itself.
#[derive(Debug, Args)]
struct MoreArgs {
    /// Leave the cursor out
    #[arg(long)]
    no_cursor: bool,
    /// Let rows stand out that changed since this stamp
    #[arg(long, value_name = "STAMP", conflicts_with = "highlight")]
    changed_since: Option<u64>,
    /// Highlight also what differs in upper and lower case only
    #[arg(long, requires = "highlight")]
    ignore_case: bool,
}

impl MoreArgs {
    fn apply(&self, screenshot: &mut command::Screenshot) {
        screenshot.cursor = !self.no_cursor;
        if let Some(since) = self.changed_since {
            let highlight = Highlight { since: Some(since), ..Highlight::default() };
            screenshot.highlight = Some(highlight);
        }
        if let Some(highlight) = &mut screenshot.highlight {
            highlight.ignore_case = self.ignore_case;
        }
    }
}

pub fn screenshot(args: ScreenshotArgs, out: &mut Output) -> Result<(), Trouble> {
    let mut screenshot = args.screenshot;
    args.more.apply(&mut screenshot);
    if let Some(file) = &args.output {
        screenshot.format = screenshot.format.or_else(|| format_of(file));
    }
    if args.output.is_none() && out.wants_json() {
        screenshot.encoding = Encoding::Base64;
    }
    let id = screenshot.id.clone();
    let format = screenshot.format.unwrap_or(Format::Png);
    let (answer, bytes) = Client::connect_or_start()?.picture(&screenshot)?;
    match args.output {
        _ if answer.value["unchanged"] == true => out.answer(Ok(answer), |_| "unchanged\n".into()),
        Some(file) => {
            write(&file, &bytes)?;
            out.answer(Ok(answer), described)
        }
        None if out.wants_json() => out.answer(Ok(answer), described),
        None if format == Format::Png && io::stdout().is_terminal() => {
            show(&id, &answer.value, &bytes)
        }
        None => Ok(io::stdout().lock().write_all(&bytes)?),
    }
}

fn format_of(file: &Path) -> Option<Format> {
    file.extension().and_then(|ending| Format::of_ending(ending.to_str()?))
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    std::fs::write(file, bytes).map_err(|error| {
        Trouble::Io(io::Error::new(error.kind(), format!("{}: {error}", file.display())))
    })
}

/// One line about a picture, for people.
fn described(answer: &Value) -> String {
    let number = |field: &str| answer[field].as_u64().unwrap_or(0);
    let size = match number("width") {
        0 => format!("{}x{} cells", number("cols"), number("rows")),
        width => {
            let tokens = answer["tokens"]["claude"].as_u64().unwrap_or(0);
            format!("{width}x{} pixels, about {tokens} tokens", number("height"))
        }
    };
    format!("{size}, {} bytes\n", number("len"))
}

/// On a terminal: the picture itself where that works, else where it would go.
fn show(id: &str, answer: &Value, bytes: &[u8]) -> Result<(), Trouble> {
    let mut stdout = io::stdout().lock();
    match inline::way(|name| std::env::var(name).ok()) {
        Some(way) => stdout.write_all(&drawn(way, bytes)?)?,
        None => writeln!(
            stdout,
            "{id}: {}this terminal shows no pictures: `-o FILE` writes it, a pipe gets it",
            described(answer).replace('\n', "; ")
        )?,
    }
    Ok(stdout.flush()?)
}

fn drawn(way: Way, png: &[u8]) -> Result<Vec<u8>, Trouble> {
    inline::draw(way, png).ok_or(Trouble::Garbled)
}

/// Writes a picture now and whenever the screen has settled after a change, until the program ends.
pub fn watch(args: WatchArgs, out: &mut Output) -> Result<(), Trouble> {
    let mut screenshot = args.screenshot;
    args.more.apply(&mut screenshot);
    std::fs::create_dir_all(&args.output)?;
    let mut events = Client::connect_or_start()?;
    let mut asking = Client::connect_or_start()?;
    let types = vec![EventKind::Screen, EventKind::Exit, EventKind::Killed];
    let terminal = Some(screenshot.id.clone());
    events.send(&command::Events { terminal, types, since: None, count: None })?;
    // The stream is open when the request behind it is answered; changes after that are told.
    events.send(&command::Cursor { id: screenshot.id.clone() })?;
    wait_for_answer(&mut events)?;
    let most = args.count.unwrap_or(usize::MAX);
    let mut written = 0;
    let mut over = false;
    loop {
        written += usize::from(take(&mut asking, &mut screenshot, &args.output, written, out)?);
        if over || written >= most {
            return Ok(());
        }
        match next_event(&mut events)?.as_deref() {
            // The last screen is looked at once more; a killed terminal has none.
            Some("exit") => over = true,
            Some("killed") | None => return Ok(()),
            _ => {}
        }
    }
}

fn wait_for_answer(events: &mut Client) -> Result<(), Trouble> {
    loop {
        let line = events.next_line()?.ok_or(Trouble::Closed)?;
        let value: Value = serde_json::from_slice(&line).map_err(|_| Trouble::Garbled)?;
        Client::check(&value)?;
        if value["ok"] == true {
            return Ok(());
        }
    }
}

/// The name of what happened next; None at the end of the stream.
fn next_event(events: &mut Client) -> Result<Option<String>, Trouble> {
    let Some(line) = events.next_line()? else { return Ok(None) };
    let value: Value = serde_json::from_slice(&line).map_err(|_| Trouble::Garbled)?;
    Ok(value["event"].as_str().map(str::to_owned))
}

/// Writes a picture if the screen is another than last time.
fn take(
    client: &mut Client,
    screenshot: &mut command::Screenshot,
    dir: &Path,
    written: usize,
    out: &mut Output,
) -> Result<bool, Trouble> {
    let (answer, bytes) = client.picture(screenshot)?;
    screenshot.if_changed_since = answer.value["stamp"].as_u64();
    if answer.value["unchanged"] == true {
        return Ok(false);
    }
    let ending = screenshot.format.unwrap_or(Format::Png).ending();
    let file = dir.join(format!("{:06}.{ending}", written + 1));
    write(&file, &bytes)?;
    tell(&file, answer, out)?;
    Ok(true)
}

/// The file's name, also as a field of the answer.
fn tell(file: &Path, mut answer: Answer, out: &mut Output) -> Result<(), Trouble> {
    answer.value["file"] = Value::String(file.display().to_string());
    answer.line = format!("{}\n", answer.value).into_bytes();
    out.answer(Ok(answer), |answer| format!("{}\n", super::output::text(&answer["file"])))
}
