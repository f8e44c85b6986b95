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
    println!("{:<16}{:>20}{:>20}{:>20}", "", ENGINES[0].0, ENGINES[1].0, ENGINES[2].0);
    for (name, cols) in [("ascii", 80), ("ascii", 200), ("sgr", 80), ("cjk", 80), ("empty", 80)] {
        let kb = ENGINES.map(|(engine, _)| {
            let me = std::env::current_exe().expect("a path");
            let bytes = if name == "empty" { "0" } else { "2000000" };
            let workload = if name == "empty" { "ascii" } else { name };
            let out = Command::new(me)
                .args(["--once", engine, workload, bytes, &cols.to_string(), "1"])
                .output()
                .expect("ourselves");
            String::from_utf8_lossy(&out.stdout).trim().to_owned()
        });
        println!("{:<16}{:>20}{:>20}{:>20}", format!("{name}, {cols}"), kb[0], kb[1], kb[2]);
    }
}

fn resident_kb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}

fn once(args: &[String]) -> Option<()> {
    let [engine, name, bytes, cols, times] = args else { return None };
    let engine = ENGINES.iter().find(|(known, _)| known == engine)?.1;
    let unit = WORKLOADS.iter().find(|(known, _)| known == name)?.1;
    let bytes = workload(unit, bytes.parse().ok()?);
    let before = resident_kb();
    let terminal = engine(&bytes, cols.parse().ok()?, times.parse().ok()?);
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
        _ => {
            speed();
            memory();
        }
    }
}
