//! The human client as a person feels it, beside tmux in the same run: keys to echo, alone and
//! beside a pane that prints at full speed, a flood of output, first frame, search, resize. The outer
//! terminal is a PTY read by our own grid. Where both are measured they take turns, so that a busy
//! machine is as busy for one as for the other.
#![allow(clippy::disallowed_methods)]

use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use t4a::os::pty;
use t4a::term::{Limits, Notice, Size, Terminal};

const SIZE: Size = Size { cols: 100, rows: 30 };
const KEYS: usize = 100;
/// Keys before the line is begun anew.
const LINE: u16 = 40;
/// Keys until it is the other's turn.
const ROUND: usize = 50;
/// How often everybody sits down anew: on which processors the kernel puts whom is a matter of luck
/// that lasts as long as they sit.
const SITTINGS: usize = 8;
/// People type with pauses.
const PAUSE: Duration = Duration::from_millis(10);
const FLOOD_MB: usize = 100;
const ATTACHES: usize = 20;
const RESIZES: usize = 20;
const PATIENCE: Duration = Duration::from_secs(30);
const PREFIX: &[u8] = b"\0";

/// A multiplexer's client in an outer terminal.
struct Outer {
    pty: pty::Pty,
    child: Child,
    screen: Terminal,
    bytes: usize,
}

impl Outer {
    fn start(command: &mut Command) -> Outer {
        let pty = pty::open(SIZE).expect("a pty");
        let end = || Stdio::from(pty.slave.try_clone().expect("a descriptor"));
        // A terminal of its own is what makes a client hear of a new size.
        let mut own = Command::new("setsid");
        own.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        own.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        own.env_remove("TMUX").env_remove("T4A_TERMINAL").env("TERM", "xterm-256color");
        let child = own.stdin(end()).stdout(end()).stderr(end()).spawn().expect("setsid");
        let screen = Terminal::new(SIZE, Limits { lines: 0, bytes: 0 });
        Outer { pty, child, screen, bytes: 0 }
    }

    fn types(&self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = pty::write(self.pty.master.as_fd(), rest).expect("the client reads");
            rest = &rest[written..];
        }
    }

    /// Reads what the client draws until the screen is as it should be.
    fn until(&mut self, what: &str, is: impl Fn(&Terminal) -> bool) {
        let (start, mut buffer) = (Instant::now(), vec![0; 64 << 10]);
        while !is(&self.screen) {
            assert!(start.elapsed() < PATIENCE, "{what} was not seen:\n{}", text(&self.screen));
            let wait = Timespec { tv_sec: 1, tv_nsec: 0 };
            let mut ready = [PollFd::new(&self.pty.master, PollFlags::IN)];
            let _ = poll(&mut ready, Some(&wait));
            if let pty::Read::Data(len) = pty::read(self.pty.master.as_fd(), &mut buffer) {
                self.take(&buffer[..len]);
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let mut notices = Vec::new();
        self.screen.feed(bytes, &mut notices);
        for notice in notices {
            if let Notice::Reply(bytes) = notice {
                self.types(&bytes);
            }
        }
    }

    fn until_text(&mut self, wanted: &str) {
        self.until(wanted, |screen| text(screen).contains(wanted));
    }

    /// Splits the focused pane and waits until so many are labelled; the status bar has one label more.
    fn split(&mut self, keys: &[u8], panes: usize) {
        self.types(keys);
        self.until("a pane more", |screen| text(screen).matches("[EDIT]").count() == panes + 1);
    }

    fn resize(&mut self, size: Size) {
        self.screen.resize(size);
        pty::resize(self.pty.master.as_fd(), size).expect("a size");
    }

    /// Hangs up, which ends a client.
    fn close(self) {
        let Outer { pty, mut child, .. } = self;
        drop(pty);
        let _ = child.wait();
    }
}

fn text(screen: &Terminal) -> String {
    let mut out = String::new();
    for row in 0..screen.size().rows {
        screen.row_text(row, &mut out);
        out.push('\n');
    }
    out
}

fn cell(screen: &Terminal, row: u16, col: u16) -> String {
    let mut out = String::new();
    screen.text_at(row, col, &mut out);
    out
}

/// Either multiplexer, with a server of its own.
struct Mux {
    name: &'static str,
    dir: tempfile::TempDir,
}

impl Mux {
    fn t4a() -> Mux {
        Mux { name: "t4a", dir: tempfile::tempdir().expect("a directory") }
    }

    fn tmux() -> Option<Mux> {
        let there = Command::new("tmux").arg("-V").stdout(Stdio::null()).status().is_ok();
        let dir = tempfile::tempdir().expect("a directory");
        there.then_some(Mux { name: "tmux", dir })
    }

    fn command(&self, args: &[&str]) -> Command {
        let dir = self.dir.path();
        let mut command = match self.name {
            "tmux" => Command::new("tmux"),
            _ => Command::new(env!("CARGO_BIN_EXE_t4a")),
        };
        if self.name == "tmux" {
            command.arg("-S").arg(dir.join("tmux.sock")).args(["-f", "/dev/null"]);
        }
        command.env("T4A_SOCKET", dir.join("t4a.sock")).env("XDG_RUNTIME_DIR", dir);
        command.env("HOME", dir).args(args);
        command
    }

    /// A terminal with a script; what to call it.
    fn create(&self, script: &str) -> String {
        if self.name == "tmux" {
            let (cols, rows) = (SIZE.cols.to_string(), SIZE.rows.to_string());
            let args = ["new-session", "-d", "-P", "-F", "#{session_id}", "-x", &cols, "-y", &rows];
            let output = self.command(&args).args(["sh", "-c", script]).output().expect("tmux");
            return String::from_utf8_lossy(&output.stdout).trim().to_owned();
        }
        let output = self.command(&["create", "--", "sh", "-c", script]).output().expect("t4a");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        answer["id"].as_str().expect("an id").to_owned()
    }

    fn attach(&self, id: &str) -> Outer {
        let args: &[&str] = if self.name == "tmux" {
            &["attach", "-t", id]
        } else {
            &["attach", "--independent", id]
        };
        Outer::start(&mut self.command(args))
    }
}

impl Drop for Mux {
    fn drop(&mut self) {
        let end = if self.name == "tmux" { "kill-server" } else { "shutdown" };
        let _ = self.command(&[end]).stdout(Stdio::null()).status();
    }
}

/// Median and 99th percentile.
fn ranks(mut taken: Vec<Duration>) -> (Duration, Duration) {
    taken.sort();
    (taken[taken.len() / 2], taken[taken.len() * 99 / 100])
}

fn report(what: &str, (median, p99): (Duration, Duration)) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{what:<44}{:>10.3} ms{:>10.3} ms", ms(median), ms(p99));
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

/// Someone who types into `cat`, and how long each key took to be seen.
struct Typist {
    outer: Outer,
    row: u16,
    /// Where the line begins, and where the next key will be seen.
    first: u16,
    col: u16,
    taken: Vec<Duration>,
}

impl Typist {
    /// The first key shows where the cursor is when all is drawn.
    fn sits_down(mut outer: Outer) -> Typist {
        let shown = |screen: &Terminal| {
            let (row, col) = (screen.cursor().row, screen.cursor().col);
            col > 0 && cell(screen, row, col - 1) == "x"
        };
        outer.types(b"x");
        outer.until("a first echo", shown);
        let (row, col) = (outer.screen.cursor().row, outer.screen.cursor().col);
        Typist { outer, row, first: col - 1, col, taken: Vec::new() }
    }

    fn types(&mut self, keys: usize, pause: Duration) {
        let (row, first) = (self.row, self.first);
        for _ in 0..keys {
            if self.col >= first + LINE {
                self.outer.types(b"\x15");
                self.outer.until("an empty line", |screen| cell(screen, row, first) == " ");
                self.col = first;
            }
            let col = self.col;
            std::thread::sleep(pause);
            self.taken.push(timed(|| {
                self.outer.types(b"x");
                self.outer.until("the echo", |screen| cell(screen, row, col) == "x");
            }));
            self.col += 1;
        }
    }
}

/// From a key to its echo on the outer screen, through client, server and the kernel's tty.
fn echo(both: &[Mux], what: &str, pause: Duration) {
    let sits_down = |mux: &Mux| {
        let mut outer = mux.attach(&mux.create("echo ready; exec cat"));
        outer.until_text("ready");
        Typist::sits_down(outer)
    };
    let mut taken = vec![Vec::new(); both.len()];
    for _ in 0..SITTINGS {
        let mut typists: Vec<Typist> = both.iter().map(sits_down).collect();
        for _ in 0..KEYS / ROUND {
            typists.iter_mut().for_each(|typist| typist.types(ROUND, pause));
        }
        for (all, typist) in taken.iter_mut().zip(typists) {
            all.extend(typist.taken);
            typist.outer.close();
        }
    }
    for (mux, taken) in both.iter().zip(taken) {
        report(&format!("{what}, {}", mux.name), ranks(taken));
    }
}

/// A pane beside the one that is typed into, whose program prints as fast as it can; it is stopped
/// while the other multiplexer has its turn.
struct Noise(Pid);

impl Noise {
    fn begin(mux: &Mux, id: &str, outer: &mut Outer) -> Noise {
        let path = mux.dir.path().join("noise");
        let script = format!("echo $$ > {0}.pid; exec yes 'noise and more of it'", path.display());
        std::fs::write(&path, script).expect("a file");
        if mux.name == "tmux" {
            let split = ["split-window", "-h", "-d", "-t", id, "sh"];
            let _ = mux.command(&split).arg(&path).status();
        } else {
            outer.split(b"\0|", 2);
            outer.types(format!("exec sh {}\r", path.display()).as_bytes());
        }
        outer.until_text("noise and more");
        if mux.name == "t4a" {
            outer.types(b"\0h");
            outer.until("the left pane", |screen| screen.cursor().col < SIZE.cols / 2);
        }
        let pid = std::fs::read_to_string(path.with_extension("pid")).expect("a number");
        let pid = Pid::from_raw(pid.trim().parse().expect("a number")).expect("a process");
        let noise = Noise(pid);
        noise.tell(Signal::STOP);
        noise
    }

    fn tell(&self, signal: Signal) {
        kill_process(self.0, signal).expect("it runs");
    }
}

/// The same beside a pane that is drawn as fast as it can be.
fn echo_beside_noise(both: &[Mux]) {
    let sits_down = |mux: &Mux| {
        let id = mux.create("echo ready; exec cat");
        let mut outer = mux.attach(&id);
        outer.until_text("ready");
        let noise = Noise::begin(mux, &id, &mut outer);
        (Typist::sits_down(outer), noise)
    };
    let mut typists: Vec<(Typist, Noise)> = both.iter().map(sits_down).collect();
    for _ in 0..SITTINGS * KEYS / ROUND {
        for (typist, noise) in &mut typists {
            noise.tell(Signal::CONT);
            typist.types(ROUND, PAUSE);
            noise.tell(Signal::STOP);
        }
    }
    for (mux, (typist, noise)) in both.iter().zip(typists) {
        report(&format!("key to echo beside noise, {}", mux.name), ranks(typist.taken));
        noise.tell(Signal::KILL);
        typist.outer.close();
    }
}

fn file(dir: &Path) -> PathBuf {
    let path = dir.join("flood");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    let words = "the quick brown fox jumps over the lazy dog and runs on";
    let (mut written, mut i) = (0, 0);
    while written < FLOOD_MB << 20 {
        let line = format!("{i:08} \x1b[3{}m{words}\x1b[m\n", i % 8);
        written += line.len();
        i += 1;
        out.write_all(line.as_bytes()).expect("room");
    }
    path
}

/// How a flood of output went.
struct Flood {
    taken: Duration,
    bytes: usize,
    /// From the moment that the program's last line tells to its being seen.
    lag: Duration,
}

fn flood(mux: &Mux, path: &Path) -> Flood {
    let script =
        format!("echo ready; read x; cat {}; echo; date +the.end.%s.%N; exec cat", path.display());
    let id = mux.create(&script);
    let mut outer = mux.attach(&id);
    outer.until_text("ready");
    outer.bytes = 0;
    let mut lag = Duration::ZERO;
    let taken = timed(|| {
        outer.types(b"\r");
        outer.until_text("the.end.");
        lag = since_told(&text(&outer.screen));
    });
    let bytes = outer.bytes;
    outer.close();
    Flood { taken, bytes, lag }
}

fn since_told(text: &str) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let told = text.split("the.end.").nth(1).unwrap_or_default();
    let mut numbers = told.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
    let then = Duration::new(numbers.next().unwrap_or(0), numbers.next().unwrap_or(0) as u32);
    now.saturating_sub(then)
}

fn first_frame(both: &[Mux]) {
    let script = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo the last; exec cat";
    let ids: Vec<String> = both.iter().map(|mux| mux.create(script)).collect();
    let mut taken = vec![Vec::new(); both.len()];
    for _ in 0..ATTACHES {
        for (at, mux) in both.iter().enumerate() {
            let start = Instant::now();
            let mut outer = mux.attach(&ids[at]);
            outer.until_text("the last");
            taken[at].push(start.elapsed());
            outer.close();
        }
    }
    for (mux, taken) in both.iter().zip(taken) {
        report(&format!("attach to first full frame, {}", mux.name), ranks(taken));
    }
}

/// From Enter after a pattern to the line that has it, 10,000 lines back.
fn search(mux: &Mux) -> Duration {
    let id =
        mux.create("echo a needle; seq -f 'some text of line %g' 10000; echo the last; exec cat");
    let mut outer = mux.attach(&id);
    outer.until_text("the last");
    outer.types(PREFIX);
    outer.types(b"/");
    outer.types(b"need[l]e");
    outer.until_text("need[l]e");
    let taken = timed(|| {
        outer.types(b"\r");
        outer.until_text("a needle");
    });
    outer.types(b"q");
    outer.close();
    taken
}

/// From a new size of the outer terminal to all four panes drawn in it.
fn resize(mux: &Mux) -> (Duration, Duration) {
    let id = mux.create("echo ready; exec cat");
    let mut outer = mux.attach(&id);
    outer.until_text("ready");
    outer.split(b"\0|", 2);
    outer.split(b"\0-", 3);
    outer.types(b"\0h");
    outer.until("the left pane", |screen| screen.cursor().col < SIZE.cols / 2);
    outer.split(b"\0-", 4);
    let panes = |screen: &Terminal| {
        let size = screen.size();
        let rows: Vec<String> = text(screen).lines().map(str::to_owned).collect();
        let crossed = rows.iter().filter(|row| row.contains(['│', '├', '┤', '┼'])).count();
        let framed =
            rows[0].starts_with(['─', '┌']) || rows[0].chars().count() == usize::from(size.cols);
        framed && crossed + 4 >= usize::from(size.rows) && !rows[rows.len() - 1].trim().is_empty()
    };
    outer.until("four panes", panes);
    let mut taken = Vec::new();
    for i in 0..RESIZES {
        let size = if i % 2 == 0 { Size { cols: 140, rows: 45 } } else { SIZE };
        // What the outer terminal would show of the old size must not count.
        outer.resize(size);
        outer.take(b"\x1b[H\x1b[2J");
        taken.push(timed(|| outer.until("four panes", panes)));
    }
    outer.close();
    ranks(taken)
}

fn main() {
    let both: Vec<Mux> = [Some(Mux::t4a()), Mux::tmux()].into_iter().flatten().collect();
    println!("{:<44}{:>13}{:>13}", "", "median", "p99");
    echo(&both, "key to echo", PAUSE);
    echo(&both, "key to echo, typed at once", Duration::ZERO);
    echo_beside_noise(&both);
    first_frame(&both);
    report("resize of 4 panes, t4a", resize(&both[0]));
    let found = search(&both[0]);
    report("search of 10,000 lines, t4a", (found, found));
    println!(
        "\n{:<44}{:>13}{:>13}{:>13}",
        format!("cat of {FLOOD_MB} MB, attached"),
        "wall s",
        "MB drawn",
        "lag ms"
    );
    let path = file(both[0].dir.path());
    for mux in &both {
        let Flood { taken, bytes, lag } = flood(mux, &path);
        let (taken, drawn, lag) =
            (taken.as_secs_f64(), bytes as f64 / 1e6, lag.as_secs_f64() * 1e3);
        println!("{:<44}{taken:>13.2}{drawn:>13.2}{lag:>13.2}", mux.name);
    }
}
