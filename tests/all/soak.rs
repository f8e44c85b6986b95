//! Everything at random for a while: when it is over, descriptors, memory and processes are back
//! where they were.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{PATIENCE, Server, alive, eventually};
use crate::survival::ask_once;

/// More with T4A_STRESS_SECONDS.
const SECONDS: u64 = 6;
const TERMINALS: usize = 12;
const WATCHERS: usize = 12;
/// What allocators keep for themselves.
const MEMORY_KB: u64 = 24 << 10;

/// Numbers that repeat, so that a failure does too.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        (!from.is_empty()).then(|| &from[self.throw(from.len())])
    }
}

/// What is to be the same before and after.
#[derive(Debug)]
struct Level {
    descriptors: [usize; 2],
    memory_kb: u64,
    children: usize,
}

impl Level {
    fn of(server: &Server) -> Level {
        let pids = [server.keeper_pid(), server.worker_pid()];
        let count = |pid| std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        Level {
            descriptors: pids.map(count),
            memory_kb: pids.iter().map(|pid| memory_kb(*pid)).sum(),
            children: children(pids[0]).len() + children(pids[1]).len(),
        }
    }

    fn is_back_at(&self, before: &Level) -> bool {
        self.children <= before.children
            && self.descriptors[0] <= before.descriptors[0]
            && self.descriptors[1] <= before.descriptors[1]
            && self.memory_kb <= before.memory_kb + MEMORY_KB
    }
}

/// Private memory, and the shared memory that is mapped.
fn memory_kb(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn children(pid: i32) -> Vec<i32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let list = std::fs::read_to_string(path).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// A server that everything is done to.
struct Soak {
    server: Server,
    dice: Dice,
    terminals: Vec<String>,
    /// Programs that were started: none may be left.
    pids: BTreeSet<i64>,
    /// Connections with a view or events; nobody reads them.
    watchers: Vec<UnixStream>,
    number: u64,
}

impl Soak {
    /// None if a worker died meanwhile. What was refused was too late, or too early.
    fn ask(&self, request: &Value) -> Option<Value> {
        ask_once(&self.server, request).ok().filter(|answer| answer["ok"] == true)
    }

    fn create(&mut self) {
        if self.terminals.len() >= TERMINALS {
            return;
        }
        let scripts = [
            "exec cat",
            "exec bash --norc",
            "seq 100000; exec cat",
            "yes 'a line that comes again and again'",
            "trap '' HUP; echo deaf; exec cat",
            "sleep 1000 & echo child; exec cat",
            "printf '\\033[?1049h\\033[31mfull\\033[5;5H'; exec cat",
        ];
        self.number += 1;
        let name = format!("soak{}", self.number);
        let script = *self.dice.pick(&scripts).unwrap();
        let request = json!({"cmd": "create", "name": name, "scrollback_lines": 2000,
            "cmd_args": ["sh", "-c", script]});
        // A worker that died may have made it all the same.
        if let Some(created) = self.ask(&request) {
            self.pids.insert(created["pid"].as_i64().unwrap());
        }
        self.terminals.push(name);
    }

    fn watch(&mut self, id: &str) {
        if self.watchers.len() >= WATCHERS {
            let at = self.dice.throw(WATCHERS);
            self.watchers.swap_remove(at);
        }
        let requests = [
            json!({"cmd": "attach", "id": id}),
            json!({"cmd": "attach", "id": id, "raw": true, "role": "view"}),
            json!({"cmd": "attach", "id": id, "role": "take"}),
            json!({"cmd": "events", "terminal": id, "types": ["output", "screen"]}),
            json!({"cmd": "wait", "id": id, "any": [{"text": "never"}], "timeout_ms": 3_600_000}),
            json!({"cmd": "record", "id": id}),
        ];
        let request = self.dice.pick(&requests).unwrap();
        let Ok(mut stream) = UnixStream::connect(self.server.socket()) else { return };
        if stream.write_all(format!("{request}\n").as_bytes()).is_ok() {
            self.watchers.push(stream);
        }
    }

    /// One request that is answered.
    fn use_it(&mut self, id: &str) {
        let (cols, rows) = (1 + self.dice.throw(200), 1 + self.dice.throw(60));
        let requests = [
            json!({"cmd": "send", "id": id, "input": "some text\r"}),
            json!({"cmd": "resize", "id": id, "cols": cols, "rows": rows}),
            json!({"cmd": "screenshot", "id": id, "encoding": "base64"}),
            json!({"cmd": "text", "id": id, "region": "all"}),
            json!({"cmd": "search", "id": id, "pattern": "l.ne"}),
            json!({"cmd": "info", "id": id}),
            json!({"cmd": "signal", "id": id, "signal": "INT"}),
        ];
        let request = self.dice.pick(&requests).unwrap();
        self.ask(request);
    }

    fn end_one(&mut self) {
        if self.terminals.is_empty() {
            return;
        }
        let at = self.dice.throw(self.terminals.len());
        if self.ask(&json!({"cmd": "kill", "id": self.terminals[at]})).is_some() {
            self.terminals.swap_remove(at);
        }
    }

    fn kill(&mut self, who: &str) {
        let Some(hello) = self.ask(&json!({"cmd": "hello"})) else { return };
        let pid = Pid::from_raw(hello[who].as_i64().unwrap() as i32).unwrap();
        let _ = kill_process(pid, Signal::KILL);
        eventually("another one is there", || {
            ask_once(&self.server, &json!({"cmd": "hello"}))
                .is_ok_and(|now| now["ok"] == true && now[who] != hello[who])
        });
    }

    /// Both processes are new: one that took over from a dead one has other descriptors.
    fn renew(&mut self) {
        self.terminals.clear();
        self.kill("keeper_pid");
        self.kill("worker_pid");
    }

    fn act(&mut self) {
        let id = self.dice.pick(&self.terminals).cloned();
        match (self.dice.throw(100), id) {
            (0..15, _) | (_, None) => self.create(),
            (15..35, Some(id)) => self.watch(&id),
            (35..46, _) => self.end_one(),
            (46, _) => self.kill("worker_pid"),
            (47, _) => self.kill("keeper_pid"),
            (_, Some(id)) => self.use_it(&id),
        }
    }

    /// Ends all that was begun.
    fn clear(&mut self) {
        self.watchers.clear();
        let mut client = self.server.connect();
        let list = client.ok(json!({"cmd": "list"}));
        for terminal in list["terminals"].as_array().unwrap() {
            self.pids.insert(terminal["pid"].as_i64().unwrap_or(0));
            client.ok(json!({"cmd": "kill", "id": terminal["id"]}));
        }
        eventually("all recordings are over", || {
            let recordings = client.ok(json!({"cmd": "recordings"}));
            recordings["recordings"].as_array().unwrap().iter().all(|one| one["state"] != "started")
        });
    }
}

#[test]
fn after_all_sorts_of_use_nothing_is_left_behind() {
    let seconds = std::env::var("T4A_STRESS_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(SECONDS));
    let server = Server::start();
    let (dice, terminals, pids) = (Dice(1), Vec::new(), BTreeSet::new());
    let mut soak = Soak { server, dice, terminals, pids, watchers: Vec::new(), number: 0 };
    // What is made once, at the first use, is not counted.
    (0..30).for_each(|_| soak.act());
    soak.clear();
    soak.renew();
    let before = Level::of(&soak.server);
    let (start, mut acts) = (Instant::now(), 0_u64);
    while start.elapsed() < time {
        soak.act();
        acts += 1;
    }
    soak.clear();
    soak.renew();
    assert!(acts > 100, "only {acts}");
    let mut after = Level::of(&soak.server);
    let deadline = Instant::now() + PATIENCE;
    while !after.is_back_at(&before) {
        assert!(Instant::now() < deadline, "{acts} acts: {before:?} became {after:?}");
        std::thread::sleep(Duration::from_millis(20));
        after = Level::of(&soak.server);
    }
    assert!(soak.pids.iter().all(|pid| *pid == 0 || !alive(*pid)), "a program is left");
}
