//! Recordings on the command line: made by the server, played and exported without it.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::output::{self, Output};
use crate::attach;
use crate::cast::{Cast, Film, FilmFormat, Format, Pace, What};
use crate::client::{Client, Trouble};
use crate::command::{self, Record};
use crate::term::Terminal;
use crate::view::export;
use crate::view::image::{MAX_SCALE, MIN_SCALE};
use crate::view::sheet::{Manner, lay_out};
use crate::view::theme::Theme;

/// At this a cell has 10 by 20 pixels.
const FILM_SCALE: usize = 100;
/// How fast, and how slow, a recording can be shown.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.01..=1000.0;

#[derive(Debug, Args)]
pub struct PaceArgs {
    /// How fast: 2 is twice as fast
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    speed: f64,
    /// Pauses are not longer than so many seconds
    #[arg(long, value_name = "SECONDS")]
    idle_limit: Option<f64>,
}

#[derive(Debug, Args)]
pub struct PlayArgs {
    /// The recording, an asciicast of version 2 or 3
    file: PathBuf,
    #[command(flatten)]
    pace: PaceArgs,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The recording, an asciicast of version 2 or 3
    file: PathBuf,
    /// The picture; its ending tells the format: gif, png, apng or svg
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Size in parts of a hundred; at 100 a cell has 10x20 pixels
    #[arg(long, default_value_t = FILM_SCALE)]
    scale: usize,
    #[command(flatten)]
    pace: PaceArgs,
}

impl PaceArgs {
    fn pace(&self) -> Result<Pace, Trouble> {
        if !SPEEDS.contains(&self.speed) {
            let error = format!("--speed must be {} to {}", SPEEDS.start(), SPEEDS.end());
            return Err(Trouble::Usage(error));
        }
        let limit = self.idle_limit.map(Duration::try_from_secs_f64).transpose();
        let idle_limit =
            limit.map_err(|_| Trouble::Usage("--idle-limit must be seconds, 0 or more".into()))?;
        Ok(Pace { speed: self.speed, idle_limit })
    }
}

/// A path as the server can use it, which is in another directory.
pub fn absolute(path: &str) -> Result<String, Trouble> {
    let path = std::env::current_dir()?.join(path);
    path.into_os_string()
        .into_string()
        .map_err(|_| Trouble::Usage("the file's path is not UTF-8".to_owned()))
}

pub fn record(mut record: Record, out: &mut Output) -> Result<(), Trouble> {
    match record.path {
        Some(path) => {
            record.format = record.format.or_else(|| format_of(Path::new(&path)));
            record.path = Some(absolute(&path)?);
            let answer = Client::connect_or_start()?.ask(&record);
            out.answer(answer, |answer| format!("{}\n", output::text(&answer["recording"])))
        }
        None => stream(&record),
    }
}

fn format_of(file: &Path) -> Option<Format> {
    match file.extension()?.to_str()? {
        "py" => Some(Format::Python),
        "sh" => Some(Format::Cli),
        "json" | "jsonl" => Some(Format::Json),
        _ => None,
    }
}

/// Prints a recording as it is made.
fn stream(record: &Record) -> Result<(), Trouble> {
    let mut client = Client::connect_or_start()?;
    client.ask(record)?;
    super::end_with_stdout();
    loop {
        let line = client.next_line()?.ok_or(Trouble::Closed)?;
        let value: Value = serde_json::from_slice(&line).map_err(|_| Trouble::Garbled)?;
        let Some(data) = value["data"].as_str() else { return Ok(()) };
        let mut stdout = io::stdout().lock();
        stdout.write_all(data.as_bytes())?;
        stdout.flush()?;
    }
}

pub fn list(answer: &Value) -> String {
    let recordings = answer["recordings"].as_array().into_iter().flatten();
    let rows: Vec<_> = recordings.map(row).collect();
    if rows.is_empty() {
        return "no recordings; `t4a record` begins one\n".to_owned();
    }
    let head = ["ID", "TERMINAL", "FORMAT", "STATE", "SECONDS", "EVENTS", "FILE"];
    output::table(std::iter::once(head.map(str::to_owned)).chain(rows).collect())
}

fn row(recording: &Value) -> [String; 7] {
    let seconds = recording["duration_ms"].as_u64().unwrap_or(0) / 1000;
    let file = match &recording["error"] {
        Value::Null => output::text(&recording["path"]),
        error => output::text(error),
    };
    let text = |name: &str| output::text(&recording[name]);
    let (id, terminal) = (text("recording"), text("id"));
    [id, terminal, text("format"), text("state"), seconds.to_string(), text("events"), file]
}

/// One line about what a recording came to.
pub fn stopped(answer: &Value) -> String {
    let seconds = answer["duration_ms"].as_u64().unwrap_or(0) as f64 / 1000.0;
    let text = |name: &str| output::text(&answer[name]);
    format!(
        "{seconds:.1} seconds, {} events{}\n",
        text("events"),
        match text("path").as_str() {
            "" => String::new(),
            path => format!(" in {path}"),
        }
    )
}

fn read(file: &Path) -> Result<Cast, Trouble> {
    let named = |error: String| io::Error::other(format!("{}: {error}", file.display()));
    let open = File::open(file).map_err(|error| named(error.to_string()))?;
    Ok(Cast::read(BufReader::new(open)).map_err(|bad| named(bad.to_string()))?)
}

/// On a terminal it is drawn; a pipe gets the bytes of the program at their time.
pub fn play(args: &PlayArgs) -> Result<(), Trouble> {
    let pace = args.pace.pace()?;
    let cast = read(&args.file)?;
    if !io::stdout().is_terminal() {
        return replay(&cast, pace);
    }
    let term = attach::play(&cast, pace)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(last_screen(&term).as_bytes())?;
    Ok(stdout.flush()?)
}

fn replay(cast: &Cast, pace: Pace) -> Result<(), Trouble> {
    let mut shown = Duration::ZERO;
    let mut stdout = io::stdout().lock();
    for (at, event) in pace.times(&cast.events) {
        if let What::Output(text) = &event.what {
            std::thread::sleep(at.saturating_sub(shown));
            shown = at;
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
        }
    }
    Ok(())
}

/// What stays to be seen when the player has given the terminal back.
fn last_screen(term: &Terminal) -> String {
    let size = term.size();
    let manner = Manner {
        cols: 0..size.cols.into(),
        cursor: false,
        gutter: None,
        highlight: None,
        theme: Theme::default(),
        double: false,
    };
    let text = export::ansi(&lay_out(&term.snapshot(0..size.rows), &manner));
    format!("{}\n", text.trim_end_matches('\n'))
}

pub fn export(args: &ExportArgs, out: &mut Output) -> Result<(), Trouble> {
    let pace = args.pace.pace()?;
    let ending = args.output.extension().and_then(|ending| ending.to_str());
    let format = ending.and_then(FilmFormat::of_ending).ok_or_else(|| {
        let error = format!("{}: end it with .gif, .png, .apng or .svg", args.output.display());
        Trouble::Usage(error)
    })?;
    if !(MIN_SCALE..=MAX_SCALE).contains(&args.scale) {
        return Err(Trouble::Usage(format!("--scale must be {MIN_SCALE} to {MAX_SCALE}")));
    }
    let named = |path: &Path, error: &str| {
        Trouble::Io(io::Error::other(format!("{}: {error}", path.display())))
    };
    let cast = read(&args.file)?;
    let film =
        Film::make(&cast, pace, format, args.scale).map_err(|error| named(&args.file, &error))?;
    std::fs::write(&args.output, &film.bytes)
        .map_err(|error| named(&args.output, &error.to_string()))?;
    let value = json!({ "ok": true, "file": args.output, "frames": film.frames,
        "width": film.width, "height": film.height, "len": film.bytes.len(),
        "duration_ms": film.duration.as_millis() as u64 });
    let line = format!("{value}\n").into_bytes();
    out.answer(Ok(crate::client::Answer { line, value }), |value| {
        format!(
            "{} frames of {}x{} pixels, {} bytes\n",
            value["frames"], value["width"], value["height"], value["len"]
        )
    })
}

/// A recording from the start, as `create` wants it.
pub fn of_create(create: &mut command::Create, input: bool) -> Result<(), Trouble> {
    if let Some(record) = &mut create.record {
        record.format = format_of(Path::new(&record.path)).unwrap_or_default();
        record.path = absolute(&record.path)?;
        record.input = input;
    }
    Ok(())
}
