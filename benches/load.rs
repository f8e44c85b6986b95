//! Much at once, for a while: a thousand terminals that write, two hundred views and two hundred
//! subscribers, of which every other never reads. How soon the others see what was written, what the
//! memory does, and whether anything is missing.
//!
//! `load SECONDS LINES` runs for longer, and each terminal writes so many lines a second.
#![allow(clippy::disallowed_methods)]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use support::{Client, Server};

const TERMINALS: usize = 1000;
/// Of each kind; every other one never reads.
const WATCHERS: usize = 200;
const SECONDS: u64 = 30;
/// What each terminal writes in a second.
const LINES: u64 = 1;
/// Longest that those who read along sleep.
const NAP: Duration = Duration::from_millis(200);
const SCROLLBACK: u32 = 100;
/// Before that it writes so many at once, which is more than its ring of output holds, and then some
/// quickly, which is more than the queue of live events holds: all that is bounded has been filled, and
/// from then on memory must not grow.
const FIRST: u64 = 12_000;
const QUICK: u64 = 300;
const QUICK_PERIOD: Duration = Duration::from_millis(100);
const WARM_UP: Duration = Duration::from_secs(50);
/// How often the memory is looked at.
const PARTS: u32 = 4;
const TICK: Duration = Duration::from_millis(10);

/// Microseconds since 1970, which all processes agree on.
fn micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}

/// The program in each terminal: its lines have a number and the time when they were written.
fn write_lines(phase: Duration, period: Duration) -> std::io::Result<()> {
    let write = |number: u64| {
        let line = format!("#{number:08}@{:016}\n", micros());
        std::io::stdout().write_all(line.as_bytes())
    };
    (0..FIRST).try_for_each(write)?;
    let mut next = Instant::now() + phase;
    (FIRST..).try_for_each(|number| {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        next += if number < FIRST + QUICK { QUICK_PERIOD } else { period };
        write(number)
    })
}

/// Number and time of each line in some text.
fn stamps(text: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    const LENGTH: usize = 1 + 8 + 1 + 16;
    let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
    text.windows(LENGTH).filter_map(move |line| {
        let stamp = line[0] == b'#' && line[9] == b'@';
        stamp.then(|| Some((number(&line[1..9])?, number(&line[10..])?))).flatten()
    })
}

/// One who reads along.
struct Watcher {
    stream: UnixStream,
    /// What came and is not a whole line yet.
    rest: Vec<u8>,
    /// Number of the newest line it knows.
    newest: Option<u64>,
    /// It hears of every line and not only of the newest.
    every_line: bool,
    missing: u64,
    /// When lines were written, and when they were seen.
    seen: Vec<(u64, u64)>,
}

impl Watcher {
    fn new(server: &Server, request: &Value, every_line: bool) -> Watcher {
        let mut stream = UnixStream::connect(server.socket()).expect("the server");
        stream.write_all(format!("{request}\n").as_bytes()).expect("the server reads");
        stream.set_nonblocking(true).expect("a socket");
        let (rest, seen) = (Vec::new(), Vec::new());
        Watcher { stream, rest, newest: None, every_line, missing: 0, seen }
    }

    fn read(&mut self) {
        let mut buffer = [0; 16 << 10];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => panic!("the server closed a connection"),
                Ok(count) => self.rest.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        let now = micros();
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.hear(line, now);
        }
    }

    fn hear(&mut self, line: &[u8], now: u64) {
        if !self.every_line {
            return self.see(line, now);
        }
        let event: Value = serde_json::from_slice(line).expect("JSON");
        self.missing += u64::from(event["event"] == "lost");
        if let Some(data) = event["data_base64"].as_str() {
            let bytes = base64::engine::general_purpose::STANDARD.decode(data);
            self.see(&bytes.expect("base64"), now);
        }
    }

    fn see(&mut self, text: &[u8], now: u64) {
        for (number, written) in stamps(text) {
            if self.newest.is_some_and(|newest| number <= newest) {
                continue;
            }
            if let Some(newest) = self.newest {
                self.missing += u64::from(self.every_line) * (number - newest - 1);
                self.seen.push((written, now));
            }
            self.newest = Some(number);
        }
    }
}

/// All who look on.
struct Crowd {
    views: Vec<Watcher>,
    subscribers: Vec<Watcher>,
    /// They never read.
    deaf: Vec<Watcher>,
}

impl Crowd {
    fn gather(server: &Server, ids: &[String]) -> Crowd {
        let mut crowd = Crowd { views: Vec::new(), subscribers: Vec::new(), deaf: Vec::new() };
        for (at, id) in ids.iter().take(WATCHERS).enumerate() {
            let attach = json!({"cmd": "attach", "id": id, "role": "view"});
            let events = json!({"cmd": "events", "terminal": id, "types": ["output", "exit"]});
            let both = [(attach, false), (events, true)];
            let [view, subscriber] = both.map(|(ask, every)| Watcher::new(server, &ask, every));
            if at % 2 == 0 {
                crowd.views.push(view);
                crowd.subscribers.push(subscriber);
            } else {
                crowd.deaf.extend([view, subscriber]);
            }
        }
        crowd
    }

    fn read_along(&mut self, time: Duration) {
        let start = Instant::now();
        let timeout = Timespec::try_from(NAP).expect("a short time");
        while start.elapsed() < time {
            let all = self.views.iter().chain(&self.subscribers);
            let mut fds: Vec<_> = all
                .map(|one| PollFd::from_borrowed_fd(one.stream.as_fd(), PollFlags::IN))
                .collect();
            let _ = poll(&mut fds, Some(&timeout));
            let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
            let all = self.views.iter_mut().chain(&mut self.subscribers);
            all.zip(ready).filter(|(_, ready)| *ready).for_each(|(one, _)| one.read());
        }
    }

    fn forget_seen(&mut self) {
        self.views.iter_mut().chain(&mut self.subscribers).for_each(|one| one.seen.clear());
    }
}

/// What the machine itself does to everything here, as one hears it who does nothing but listen to a
/// clock.
#[derive(Default)]
struct Machine {
    /// How late each tick was heard.
    late: Vec<u64>,
    /// When it was, and what a hypervisor had taken of each processor by then, in microseconds.
    stolen: Vec<(u64, Vec<u64>)>,
}

impl Machine {
    fn listen(time: Duration) -> Machine {
        let mut machine = Machine::default();
        let mut due = Instant::now();
        let end = due + time;
        while due < end {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            machine.late.push(due.elapsed().as_micros() as u64);
            machine.stolen.push((micros(), stolen()));
            due += TICK;
        }
        machine
    }

    /// The most that was taken of any processor meanwhile: more than what held up one line, as that may
    /// have been on another.
    fn stolen_between(&self, from: u64, to: u64) -> u64 {
        let before = self.stolen.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let after = self.stolen.partition_point(|(at, _)| *at < to).min(self.stolen.len() - 1);
        let (before, after) = (&self.stolen[before].1, &self.stolen[after].1);
        before.iter().zip(after).map(|(before, after)| after - before).max().unwrap_or(0)
    }
}

/// What a hypervisor has taken of each processor so far.
fn stolen() -> Vec<u64> {
    const FIELD: usize = 8;
    const TICK_US: u64 = 10_000;
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let cpus = stat.lines().skip(1).take_while(|line| line.starts_with("cpu"));
    let ticks = cpus.map(|line| line.split_whitespace().nth(FIELD)?.parse::<u64>().ok());
    ticks.map(|ticks| ticks.unwrap_or(0) * TICK_US).collect()
}

/// The memory at the beginning and after each part of the time. Reading it takes long: who reads
/// along must not wait for it.
fn weigh_along(server: &Server, time: Duration) -> Vec<u64> {
    let mut memory = vec![server.memory()];
    for _ in 0..PARTS {
        std::thread::sleep(time / PARTS);
        memory.push(server.memory());
    }
    memory
}

fn report(what: &str, mut delays: Vec<u64>) {
    delays.sort_unstable();
    let ms = |part: usize| {
        let at = (delays.len() * part / 1000).min(delays.len().saturating_sub(1));
        delays.get(at).map_or(f64::NAN, |us| *us as f64 / 1e3)
    };
    let [median, most, nearly_all, worst] = [500, 990, 999, 1000].map(ms);
    let count = delays.len();
    println!("{what:<26}{count:>9}{median:>9.1}{most:>9.1}{nearly_all:>9.1}{worst:>9.1}");
}

fn report_watchers(what: &str, watchers: &[Watcher], machine: &Machine) {
    let seen = || watchers.iter().flat_map(|one| &one.seen);
    report(what, seen().map(|(written, seen)| seen.saturating_sub(*written)).collect());
    let own = |(written, seen): &(u64, u64)| {
        seen.saturating_sub(*written).saturating_sub(machine.stolen_between(*written, *seen))
    };
    report("  but for what was stolen", seen().map(own).collect());
    let missing: u64 = watchers.iter().map(|one| one.missing).sum();
    println!("{:<26}{missing:>9}", "  missing");
}

/// A line's number tells how many came before it: terminals in which they differ.
fn torn(client: &mut Client, ids: &[String]) -> usize {
    let is_torn = |id: &&String| {
        let text = client.ask(&json!({"cmd": "text", "id": id, "region": "all"}));
        let first = text["first_line"].as_u64().expect("a number");
        let lines = text["lines"].as_array().expect("lines");
        let written = lines.iter().filter_map(Value::as_str).filter(|line| !line.is_empty());
        let numbers = written.map(|line| stamps(line.as_bytes()).next().map(|(number, _)| number));
        !numbers.enumerate().all(|(at, number)| number == Some(first + at as u64))
    };
    ids.iter().filter(is_torn).count()
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "--write-lines") {
        let [phase, period] =
            [1, 2].map(|n| Duration::from_micros(words[at + n].parse().expect("microseconds")));
        // It ends when nobody reads it any more.
        let _ = write_lines(phase, period);
        return;
    }
    let mut numbers = words.iter().filter_map(|word| word.parse().ok());
    let seconds = numbers.next().unwrap_or(SECONDS);
    let period = Duration::from_secs(1) / numbers.next().unwrap_or(LINES) as u32;
    let server = Server::start();
    let mut client = server.connect();
    let me = std::env::current_exe().expect("a program");
    let start = Instant::now();
    let ids: Vec<String> = (0..TERMINALS)
        .map(|at| {
            let phase = period * at as u32 / TERMINALS as u32;
            let [phase, period] = [phase, period].map(|time| time.as_micros().to_string());
            let create = json!({"cmd": "create", "scrollback_lines": SCROLLBACK,
                "cmd_args": [me, "--write-lines", phase, period]});
            client.ask(&create)["id"].as_str().expect("an id").to_owned()
        })
        .collect();
    println!("{TERMINALS} terminals made in {:.1} s", start.elapsed().as_secs_f64());
    let mut crowd = Crowd::gather(&server, &ids);
    crowd.read_along(WARM_UP);
    crowd.forget_seen();
    let time = Duration::from_secs(seconds);
    let (memory, machine) = std::thread::scope(|scope| {
        let weigher = scope.spawn(|| weigh_along(&server, time));
        let listener = scope.spawn(|| Machine::listen(time));
        crowd.read_along(time);
        (weigher.join().expect("memory"), listener.join().expect("a clock"))
    });
    println!(
        "{:<26}{:>9}{:>9}{:>9}{:>9}{:>9}",
        format!("{seconds} s; ms till seen"),
        "count",
        "median",
        "99 %",
        "99.9 %",
        "worst"
    );
    report_watchers("views", &crowd.views, &machine);
    report_watchers("subscribers", &crowd.subscribers, &machine);
    report("ticks of a clock", machine.late);
    println!(
        "terminals with a line too many or too few: {} of {TERMINALS}",
        torn(&mut client, &ids)
    );
    let mb: Vec<String> = memory.iter().map(|kb| format!("{:.1}", *kb as f64 / 1024.0)).collect();
    println!(
        "memory of worker and keeper, with {} who never read, after each quarter: {} MB",
        crowd.deaf.len(),
        mb.join(", ")
    );
}
