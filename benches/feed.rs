//! Bytes into the grid: MB/s of t4a's grid and of its peers in the same run, and their memory.
//!
//! `feed --once ENGINE WORKLOAD BYTES COLS TIMES` feeds the same bytes so many times and prints the
//! memory it took; benches/callgrind counts the instructions of that.
#![allow(clippy::disallowed_methods)]

use std::any::Any;
use std::num::NonZero;
use std::process::Command;
use std::time::Instant;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use t4a::term::{Limits, Size, Terminal};

const COLS: u16 = 80;
const ROWS: u16 = 24;
const LINES: u32 = 10_000;
/// Bytes of each workload, handed over as the PTY does.
const VOLUME: usize = 16 << 20;
const CHUNK: usize = 4096;
/// The best of so many runs, taken in turns, so that a busy machine hits all alike.
const ROUNDS: usize = 5;

struct Screen(u16);

impl Dimensions for Screen {
    fn total_lines(&self) -> usize {
        ROWS.into()
    }

    fn screen_lines(&self) -> usize {
        ROWS.into()
    }

    fn columns(&self) -> usize {
        self.0.into()
    }
}

fn ours(bytes: &[u8], cols: u16, times: usize) -> Box<dyn Any> {
    let limits = Limits { lines: LINES, bytes: 32 << 20 };
    let mut terminal = Terminal::new(Size { cols, rows: ROWS }, limits);
    let mut notices = Vec::new();
    for chunk in chunks(bytes, times) {
        terminal.feed(chunk, &mut notices);
        notices.clear();
    }
    Box::new(terminal)
}

fn alacritty(bytes: &[u8], cols: u16, times: usize) -> Box<dyn Any> {
    let config = Config { scrolling_history: LINES as usize, ..Config::default() };
    let mut terminal = Term::new(config, &Screen(cols), VoidListener);
    let mut parser: Processor = Processor::new();
    for chunk in chunks(bytes, times) {
        parser.advance(&mut terminal, chunk);
    }
    Box::new(terminal)
}

fn vt100(bytes: &[u8], cols: u16, times: usize) -> Box<dyn Any> {
    let (rows, cols) = (NonZero::new(ROWS).expect("rows"), NonZero::new(cols).expect("cols"));
    let mut parser = vt100::Parser::new(rows, cols, LINES as usize);
    for chunk in chunks(bytes, times) {
        parser.process(chunk);
    }
    Box::new(parser)
}

fn chunks(bytes: &[u8], times: usize) -> impl Iterator<Item = &[u8]> {
    (0..times).flat_map(move |_| bytes.chunks(CHUNK))
}

type Feed = fn(&[u8], u16, usize) -> Box<dyn Any>;

const ENGINES: [(&str, Feed); 3] =
    [("t4a", ours), ("alacritty_terminal", alacritty), ("vt100", vt100)];

const WORDS: &str = "the quick brown fox jumps over the lazy dog and runs on";

type Unit = fn(usize) -> String;

const WORKLOADS: [(&str, Unit); 9] = [
    ("ascii", |i| format!("{i:08} {WORDS}\r\n")),
    ("long-lines", |_| "x".repeat(4000)),
    ("sgr", |i| format!("\x1b[1m\x1b[38;5;9merror\x1b[0m\x1b[1m: {WORDS}\x1b[0m {i}\r\n")),
    ("truecolor", |i| {
        let (r, g, b) = (i % 256, i / 7 % 256, i / 31 % 256);
        format!("\x1b[38;2;{r};{g};{b}m\x1b[48;2;{b};{r};{g}m#")
    }),
    ("cursor-motion", |i| format!("\x1b[{};{}H\x1b[K{i}", i % 24 + 1, i * 7 % 80 + 1)),
    ("cjk", |_| "日本語の文字列です漢字仮名交じり文\r\n".to_owned()),
    ("emoji", |_| "a😀b🎉c👍🏽d❤️\r\n".to_owned()),
    ("scroll-region", |i| format!("\x1b[5;20r\x1b[20;1H{i:06} {WORDS}\n")),
    ("alt-repaint", |i| match i {
        0 => "\x1b[?1049h".to_owned(),
        _ => format!("\x1b[{};1H\x1b[3{}m{i:06} {WORDS} {WORDS}\x1b[m", i % 24 + 1, i % 8),
    }),
];

fn workload(unit: Unit, volume: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(volume + 4096);
    let mut i = 0;
    while bytes.len() < volume {
        bytes.extend_from_slice(unit(i).as_bytes());
        i += 1;
    }
    bytes
}

fn speed() {
    println!("feed, {COLS}x{ROWS}, scrollback {LINES}, MB/s (best of {ROUNDS})");
    let head = ["t4a", "alacritty_terminal", "vt100", "vs alacritty", "vs vt100"];
    println!(
        "{:<16}{:>20}{:>20}{:>20}{:>14}{:>14}",
        "", head[0], head[1], head[2], head[3], head[4]
    );
    for (name, unit) in WORKLOADS {
        let bytes = workload(unit, VOLUME);
        let mut best = [f64::MAX; 3];
        for _ in 0..ROUNDS {
            for (engine, best) in ENGINES.iter().zip(&mut best) {
                let start = Instant::now();
                std::hint::black_box((engine.1)(&bytes, COLS, 1));
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        let [ours, alacritty, vt100] = best.map(|seconds| bytes.len() as f64 / seconds / 1e6);
        let (a, v) = (ours / alacritty, ours / vt100);
        println!("{name:<16}{ours:>20.0}{alacritty:>20.0}{vt100:>20.0}{a:>13.1}x{v:>13.1}x");
    }
}

/// Each engine in a process of its own, so that one's leavings do not count for the next.
fn memory() {
    println!("\nmemory with a full scrollback of {LINES} lines, kB");
    let head = [ENGINES[0].0, ENGINES[1].0, ENGINES[2].0, "of alacritty's"];
    println!("{:<20}{:>16}{:>20}{:>16}{:>16}", "", head[0], head[1], head[2], head[3]);
    for (name, cols) in MEMORY {
        // A cell of this one takes up to 40 bytes of input.
        let per_cell = if name == "truecolor" { 40 } else { 2 };
        let bytes = LINES as usize * usize::from(cols) * per_cell;
        let [ours, alacritty, vt100] =
            ENGINES.map(|(engine, _)| alone(engine, name, bytes, cols, 1));
        let part = format!("1/{:.1}", alacritty as f64 / ours.max(1) as f64);
        let name = format!("{name}, {cols}");
        println!("{name:<20}{ours:>16}{alacritty:>20}{vt100:>16}{part:>16}");
    }
}

/// Ten thousand lines of these, and columns.
const MEMORY: [(&str, u16); 8] = [
    ("ascii", 80),
    ("full-lines", 80),
    ("full-lines", 200),
    ("sgr", 80),
    ("sgr", 200),
    ("cjk", 80),
    ("truecolor", 80),
    ("empty", 80),
];

/// A gigabyte of each workload: what it takes after a sixteenth, and after all of it.
fn flat() {
    println!("memory of t4a after 64 MB and after 1 GB of one workload, kB");
    for (name, _) in WORKLOADS {
        let [some, all] = [4, 64].map(|times| alone("t4a", name, VOLUME, COLS, times));
        println!("{name:<20}{some:>12}{all:>12}");
    }
}

fn alone(engine: &str, workload: &str, bytes: usize, cols: u16, times: usize) -> i64 {
    let numbers = [bytes, cols.into(), times].map(|number| number.to_string());
    let out = Command::new(std::env::current_exe().expect("a path"))
        .args(["--once", engine, workload])
        .args(numbers)
        .output()
        .expect("ourselves");
    String::from_utf8_lossy(&out.stdout).trim().parse().unwrap_or(-1)
}

/// Memory that is ours alone, without pages of the program.
fn resident_kb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}

fn full_lines(cols: u16, bytes: usize) -> Vec<u8> {
    let line = |i: usize| {
        let words: String = WORDS.chars().cycle().take(usize::from(cols) - 9).collect();
        format!("{i:08} {words}\r\n")
    };
    (0..bytes / usize::from(cols)).flat_map(|i| line(i).into_bytes()).collect()
}

fn once(args: &[String]) -> Option<()> {
    let [engine, name, bytes, cols, times] = args else { return None };
    let engine = ENGINES.iter().find(|(known, _)| known == engine)?.1;
    let cols: u16 = cols.parse().ok()?;
    let bytes = match name.as_str() {
        // Lines that fill all columns, and no two alike.
        "full-lines" => full_lines(cols, bytes.parse().ok()?),
        "empty" => Vec::new(),
        _ => {
            let unit = WORKLOADS.iter().find(|(known, _)| known == name)?.1;
            workload(unit, bytes.parse().ok()?)
        }
    };
    let before = resident_kb();
    let terminal = engine(&bytes, cols, times.parse().ok()?);
    println!("{}", resident_kb() - before);
    drop(terminal);
    Some(())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((first, rest)) if first == "--once" => {
            once(rest).expect("--once ENGINE WORKLOAD BYTES COLS TIMES");
        }
        _ if args.iter().any(|arg| arg == "flat") => flat(),
        _ if args.iter().any(|arg| arg == "memory") => memory(),
        _ => {
            speed();
            memory();
        }
    }
}
