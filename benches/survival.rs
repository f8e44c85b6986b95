//! What survival costs: reading with and without the journal in one run, memory of idle terminals,
//! and how long a kill of the worker is felt.
#![allow(clippy::disallowed_methods)]

mod support;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::Server;
use t4a::journal::{Journal, TURN};
use t4a::mux::limits::{MAX_KEPT_ROWS, MAX_KEPT_TEXT};
use t4a::os::{poll, pty};
use t4a::term::{Limits, Memory, Size, Terminal};

const ROUNDS: usize = 9;
/// Floods with and without the journal, in turns: many short ones, as a machine that is noisy for a
/// second is so for both of a pair.
const PAIRS: usize = 120;
const FLOOD_MB: usize = 8;
const LINES: u32 = 10_000;
const TERMINALS: usize = 200;
const SIZE: Size = Size { cols: 80, rows: 24 };

/// One way to bring output from a PTY into a grid. False when it is closed.
trait Way {
    fn turn(&mut self, master: BorrowedFd<'_>) -> bool;
}

struct Plain {
    buffer: Vec<u8>,
    grid: Terminal,
}

impl Way for Plain {
    fn turn(&mut self, master: BorrowedFd<'_>) -> bool {
        let mut filled = 0;
        let open = loop {
            if filled == self.buffer.len() {
                break true;
            }
            match pty::read(master, &mut self.buffer[filled..]) {
                pty::Read::Data(count) => filled += count,
                pty::Read::Status => {}
                pty::Read::WouldBlock => break true,
                pty::Read::Closed => break false,
            }
        };
        self.grid.feed(&self.buffer[..filled], &mut Vec::new());
        open
    }
}

struct Kept {
    journal: Journal,
    grid: Terminal,
    save: Vec<u8>,
}

impl Way for Kept {
    fn turn(&mut self, master: BorrowedFd<'_>) -> bool {
        let start = self.journal.head();
        let open = loop {
            if self.journal.head() - start >= TURN as u64 {
                break true;
            }
            match self.journal.read(master) {
                pty::Read::Data(_) | pty::Read::Status => {}
                pty::Read::WouldBlock => break true,
                pty::Read::Closed => break false,
            }
        };
        let range = start..self.journal.head();
        self.grid.feed(self.journal.bytes(range), &mut Vec::new());
        self.journal.set_told(0);
        if self.journal.is_filling() {
            self.save.clear();
            self.grid.save(&mut self.save);
            self.journal.save(0, &self.save);
        }
        open
    }
}

/// Seconds of the clock and of the processor, without the journal and with it.
type Pair = ((f64, f64), (f64, f64));

/// Seconds of the clock and of the processor.
fn drain(path: &Path, way: &mut dyn Way) -> (f64, f64) {
    let pty::Pty { master, slave } = pty::open(SIZE).expect("a pty");
    let mut cat = Command::new("cat");
    let mut child = cat.arg(path).stdin(Stdio::null()).stdout(slave).spawn().expect("cat");
    // It holds the tty open too.
    drop(cat);
    let (start, before) = (Instant::now(), cpu());
    while way.turn(master.as_fd()) {
        let _ = poll::wait(&[master.as_fd()], None, None);
    }
    let _ = child.wait();
    (start.elapsed().as_secs_f64(), cpu() - before)
}

/// Processor time of this process in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn throughput() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("text");
    let mut out = std::io::BufWriter::new(File::create(&path).expect("a file"));
    let line =
        |i: usize| format!("\x1b[3{}m{i:08}\x1b[m the quick brown fox jumps over it\n", i % 8);
    let mut written = 0;
    for i in 0.. {
        written += out.write(line(i).as_bytes()).expect("room");
        if written > FLOOD_MB << 20 {
            break;
        }
    }
    drop(out);
    let limits = Limits { lines: LINES, bytes: 32 << 20 };
    let mut plain = Plain { buffer: vec![0; TURN], grid: Terminal::new(SIZE, limits) };
    let mut journal = Journal::create().expect("memory");
    let memory = Memory::lent(journal.lend().expect("nobody has it"));
    let grid = Terminal::with_memory(SIZE, LINES, memory);
    let mut kept = Kept { journal, grid, save: Vec::new() };
    let mut pairs = Vec::new();
    for at in 0..PAIRS {
        // Nobody is always the first.
        pairs.push(if at % 2 == 0 {
            let without = drain(&path, &mut plain);
            (without, drain(&path, &mut kept))
        } else {
            let with = drain(&path, &mut kept);
            (drain(&path, &mut plain), with)
        });
    }
    println!(
        "{:<44}{:>13}{:>13}",
        format!("cat of {FLOOD_MB} MB into a grid, median of {PAIRS}"),
        "wall s",
        "CPU s"
    );
    let of = |pick: fn(&Pair) -> f64| median(pairs.iter().map(pick).collect());
    println!("{:<44}{:>13.4}{:>13.4}", "without journal", of(|p| p.0.0), of(|p| p.0.1));
    println!("{:<44}{:>13.4}{:>13.4}", "with journal", of(|p| p.1.0), of(|p| p.1.1));
    let [wall, cpu] = [of(|p| p.1.0 / p.0.0), of(|p| p.1.1 / p.0.1)];
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    println!("{:<44}{:>12.1}%{:>12.1}%", "more, in a pair", percent(wall), percent(cpu));
}

/// A terminal on its way to the disk and back: what the hub does, and what a thread does.
fn on_disk() {
    println!(
        "\n{:<34}{:>11}{:>12}{:>12}{:>12}",
        "kept on disk, median", "bytes", "copy ms", "write ms", "read ms"
    );
    for lines in [0, LINES, 20 * LINES] {
        let limits = Limits { lines, bytes: 32 << 20 };
        let mut grid = Terminal::new(SIZE, limits);
        for i in 0..lines {
            let line =
                format!("\x1b[3{}m{i:08}\x1b[m the quick brown fox jumps over it\r\n", i % 8);
            grid.feed(line.as_bytes(), &mut Vec::new());
        }
        let (mut times, mut text) = ([Vec::new(), Vec::new(), Vec::new()], String::new());
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let rows = grid.transcript(MAX_KEPT_ROWS);
            times[0].push(start.elapsed().as_secs_f64() * 1e3);
            let start = Instant::now();
            text.clear();
            let kept = rows.write(MAX_KEPT_TEXT, &mut text);
            times[1].push(start.elapsed().as_secs_f64() * 1e3);
            let start = Instant::now();
            Terminal::new(SIZE, limits).begin_with(kept.start, &text);
            times[2].push(start.elapsed().as_secs_f64() * 1e3);
        }
        let [copy, write, read] = times.map(median);
        let (name, bytes) = (format!("{lines} lines of 47 characters"), text.len());
        println!("{name:<34}{bytes:>11}{copy:>12.3}{write:>12.3}{read:>12.3}");
    }
}

fn idle_memory() {
    let server = Server::start();
    let before = server.memory();
    let create = json!({"cmd": "create", "cmd_args": ["sh", "-c", "printf '$ '; exec cat"]});
    for _ in 0..TERMINALS {
        server.ask(&create);
    }
    // Until all are idle.
    std::thread::sleep(Duration::from_secs(4));
    let after = server.memory();
    let each = after.saturating_sub(before) as f64 / TERMINALS as f64;
    println!(
        "\n{TERMINALS} idle terminals: {each:.1} kB each (PSS of worker, keeper and shared memory)"
    );
}

fn restart() {
    let server = Server::start();
    let script =
        format!("seq -f '%09.0f the quick brown fox jumps over the lazy dog' {LINES}; exec cat");
    let create = json!({"cmd": "create", "cmd_args": ["sh", "-c", script]});
    let mut last = String::new();
    for _ in 0..TERMINALS {
        let created = server.ask(&create).expect("an answer");
        last = created["id"].as_str().unwrap_or_default().to_owned();
    }
    let info = json!({"cmd": "info", "id": last});
    let full = |info: &Value| info["lines"][1].as_u64().unwrap_or(0) > u64::from(LINES);
    while !server.ask(&info).is_some_and(|info| full(&info)) {
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs(3));
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let old = server.hello()["worker_pid"].clone();
        let pid = Pid::from_raw(old.as_i64().unwrap_or(0) as i32).expect("a process");
        let start = Instant::now();
        kill_process(pid, Signal::KILL).expect("it is ours");
        while server.hello()["worker_pid"] == old {}
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    assert!(full(&server.ask(&info).unwrap_or_default()), "the text is gone");
    println!(
        "kill of a worker with {TERMINALS} terminals of {LINES} lines: {:.0} ms to the first answer",
        median(times)
    );
}

fn main() {
    on_disk();
    throughput();
    idle_memory();
    restart();
}
