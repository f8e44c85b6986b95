//! Bytes into the grid: MB/s of t4a's grid and of its peers in the same run, and memory.
#![allow(clippy::disallowed_methods)]

use std::num::NonZero;
use std::time::Instant;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use t4a::term::{Limits, Size, Terminal};

const COLS: u16 = 80;
const ROWS: u16 = 24;
const LINES: u32 = 10_000;
/// Bytes of each workload, and how they are handed over: as the PTY does.
const VOLUME: usize = 16 << 20;
const CHUNK: usize = 4096;
/// The best of so many runs, taken in turns, so that a busy machine hits all alike.
const ROUNDS: usize = 5;

struct Screen;

impl Dimensions for Screen {
    fn total_lines(&self) -> usize {
        ROWS.into()
    }

    fn screen_lines(&self) -> usize {
        ROWS.into()
    }

    fn columns(&self) -> usize {
        COLS.into()
    }
}

fn ours(bytes: &[u8]) {
    let limits = Limits { lines: LINES, bytes: 32 << 20 };
    let mut terminal = Terminal::new(Size { cols: COLS, rows: ROWS }, limits);
    let mut notices = Vec::new();
    for chunk in bytes.chunks(CHUNK) {
        terminal.feed(chunk, &mut notices);
        notices.clear();
    }
    std::hint::black_box(&terminal);
}

fn alacritty(bytes: &[u8]) {
    let config = Config { scrolling_history: LINES as usize, ..Config::default() };
    let mut terminal = Term::new(config, &Screen, VoidListener);
    let mut parser: Processor = Processor::new();
    for chunk in bytes.chunks(CHUNK) {
        parser.advance(&mut terminal, chunk);
    }
    std::hint::black_box(&terminal);
}

fn vt100(bytes: &[u8]) {
    let (Some(rows), Some(cols)) = (NonZero::new(ROWS), NonZero::new(COLS)) else { return };
    let mut parser = vt100::Parser::new(rows, cols, LINES as usize);
    for chunk in bytes.chunks(CHUNK) {
        parser.process(chunk);
    }
    std::hint::black_box(&parser);
}

fn repeat(mut unit: impl FnMut(usize) -> String) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(VOLUME + 4096);
    let mut i = 0;
    while bytes.len() < VOLUME {
        bytes.extend_from_slice(unit(i).as_bytes());
        i += 1;
    }
    bytes
}

fn workloads() -> Vec<(&'static str, Vec<u8>)> {
    let words = "the quick brown fox jumps over the lazy dog and runs on";
    vec![
        ("ascii lines", repeat(|i| format!("{i:08} {words}\r\n"))),
        ("long lines", repeat(|_| "x".repeat(4000))),
        (
            "compiler with SGR",
            repeat(|i| format!("\x1b[1m\x1b[38;5;9merror\x1b[0m\x1b[1m: {words}\x1b[0m {i}\r\n")),
        ),
        (
            "truecolor",
            repeat(|i| {
                let (r, g, b) = (i % 256, i / 7 % 256, i / 31 % 256);
                format!("\x1b[38;2;{r};{g};{b}m\x1b[48;2;{b};{r};{g}m#")
            }),
        ),
        ("cursor motion", repeat(|i| format!("\x1b[{};{}H\x1b[K{i}", i % 24 + 1, i * 7 % 80 + 1))),
        ("cjk", repeat(|_| "日本語の文字列です漢字仮名交じり文\r\n".to_owned())),
        ("emoji", repeat(|_| "a😀b🎉c👍🏽d❤️\r\n".to_owned())),
        ("scroll region", repeat(|i| format!("\x1b[5;20r\x1b[20;1H{i:06} {words}\n"))),
    ]
}

fn main() {
    type Feed = fn(&[u8]);
    let engines: [(&str, Feed); 3] =
        [("t4a", ours), ("alacritty_terminal", alacritty), ("vt100", vt100)];
    println!("feed, {COLS}x{ROWS}, scrollback {LINES}, MB/s (best of {ROUNDS})");
    println!(
        "{:<20}{:>10}{:>20}{:>10}{:>16}{:>10}",
        "", "t4a", "alacritty_terminal", "vt100", "vs alacritty", "vs vt100"
    );
    for (name, bytes) in workloads() {
        let mut best = [f64::MAX; 3];
        for _ in 0..ROUNDS {
            for (engine, best) in engines.iter().zip(&mut best) {
                let start = Instant::now();
                (engine.1)(&bytes);
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        let speed = best.map(|seconds| bytes.len() as f64 / seconds / 1e6);
        println!(
            "{name:<20}{:>10.0}{:>20.0}{:>10.0}{:>15.1}x{:>9.1}x",
            speed[0],
            speed[1],
            speed[2],
            speed[0] / speed[1],
            speed[0] / speed[2]
        );
    }
}
