//! Terminals that write without end and clients that look on, to see that every line is there once
//! and in order, and so is every event, whatever happens to the server.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{PATIENCE, Server, eventually};
use crate::survival::ask_once;

/// Terminals that write in bursts, and are read to the last line.
const BURSTS: usize = 2;
/// Lines asked for at a time.
const PAGE: u64 = 4000;

/// An answer, however many workers die meanwhile.
pub fn ask(server: &Server, request: &Value) -> Value {
    let mut answer = Value::Null;
    eventually("an answer", || match ask_once(server, request) {
        Ok(value) if value["ok"] == true => {
            answer = value;
            true
        }
        Ok(value) => panic!("{request} was refused: {value}"),
        Err(_) => false,
    });
    answer
}

/// A terminal whose lines have their own number, and how many of them were looked at.
pub struct Flood {
    pub id: String,
    seen: u64,
}

const FORMAT: &str = "%09.0f what is written here is there once and in order";

fn line(number: u64) -> String {
    format!("{number:09} what is written here is there once and in order")
}

impl Flood {
    /// A program that writes as fast as it can.
    fn start(server: &Server) -> Flood {
        Flood::run(server, &format!("seq -f '{FORMAT}' 0 999999999"))
    }

    /// One that writes no more than can be read with patience, but that at once.
    pub fn bursts(server: &Server) -> Flood {
        let burst = format!("seq -f '{FORMAT}' $i $((i+799)); i=$((i+800)); sleep 0.15");
        Flood::run(server, &format!("i=0; while :; do {burst}; done"))
    }

    fn run(server: &Server, script: &str) -> Flood {
        let created = ask(
            server,
            &json!({"cmd": "create", "cmd_args": ["sh", "-c", script],
                "scrollback_lines": 1_000_000}),
        );
        Flood { id: created["id"].as_str().unwrap().to_owned(), seen: 0 }
    }

    /// Goes on a few pages before the end: a line's number tells how many came before it.
    fn skip(&mut self, server: &Server) {
        let info = ask(server, &json!({"cmd": "info", "id": self.id}));
        self.seen = info["lines"][1].as_u64().unwrap().saturating_sub(PAGE / 2);
    }

    /// Reads all lines that came since the last time.
    pub fn look(&mut self, server: &Server) {
        let info = ask(server, &json!({"cmd": "info", "id": self.id}));
        assert_ne!(info["degraded"], true, "{info}");
        // The last one may not be whole yet.
        let end = info["lines"][1].as_u64().unwrap().saturating_sub(1);
        while self.seen < end {
            let count = PAGE.min(end - self.seen);
            let text = ask(
                server,
                &json!({"cmd": "text", "id": self.id, "first_line": self.seen, "count": count}),
            );
            let lines = text["lines"].as_array().unwrap();
            assert_eq!(lines.len() as u64, count, "{}: lines from {}", self.id, self.seen);
            for found in lines {
                assert_eq!(found, &line(self.seen), "{}: line {}", self.id, self.seen);
                self.seen += 1;
            }
        }
    }
}

/// A connection that may end at any time.
fn lines_of(server_socket: &std::path::Path, request: &Value) -> Option<BufReader<UnixStream>> {
    let mut stream = UnixStream::connect(server_socket).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("{request}\n").as_bytes()).ok()?;
    Some(BufReader::new(stream))
}

/// Reads whole lines until the connection ends, or `act` has had enough.
fn each_line(mut stream: BufReader<UnixStream>, mut act: impl FnMut(Value) -> bool) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if !matches!(stream.read_until(b'\n', &mut bytes), Ok(1..)) || !bytes.ends_with(b"\n") {
            return;
        }
        if !act(serde_json::from_slice(&bytes).unwrap()) {
            return;
        }
    }
}

/// Follows all events: none is missing and none comes twice. Gives the titles and the restarts.
fn follow_events(server: &Server, over: &Arc<AtomicU64>) -> JoinHandle<(u64, u64)> {
    let (socket, over) = (server.socket(), over.clone());
    std::thread::spawn(move || {
        let (mut seq, mut titles, mut restarts) = (0, 0, 0);
        // Up to the number that is set when all is over.
        while seq < over.load(Ordering::Relaxed) {
            let Some(stream) = lines_of(&socket, &json!({"cmd": "events", "since": seq})) else {
                continue;
            };
            each_line(stream, |event| {
                assert_ne!(event["event"], "lost", "{event}");
                assert_eq!(event["seq"], seq + 1, "{event}");
                seq += 1;
                if event["event"] == "title" {
                    assert_eq!(event["title"], format!("title {titles}"), "{event}");
                    titles += 1;
                }
                restarts += u64::from(event["event"] == "restarted");
                seq < over.load(Ordering::Relaxed)
            });
        }
        (titles, restarts)
    })
}

/// A view of a terminal, opened again whenever it ends.
fn follow_view(server: &Server, id: &str, over: &Arc<AtomicU64>) -> JoinHandle<u64> {
    let (socket, over) = (server.socket(), over.clone());
    let request = json!({"cmd": "attach", "id": id});
    std::thread::spawn(move || {
        let mut frames = 0;
        let goes_on = || over.load(Ordering::Relaxed) == u64::MAX;
        while goes_on() {
            if let Some(stream) = lines_of(&socket, &request) {
                each_line(stream, |line| {
                    frames += u64::from(line["ok"] != false);
                    goes_on()
                });
            }
        }
        frames
    })
}

/// Titles that count, slowly enough that the history holds those of an outage.
fn start_titles(server: &Server) {
    let script =
        "i=0; while :; do printf '\\033]2;title %d\\007' $i; i=$((i+1)); sleep 0.002; done";
    ask(server, &json!({"cmd": "create", "cmd_args": ["sh", "-c", script]}));
}

/// A server in the middle of all that.
pub struct Storm {
    pub server: Server,
    bursts: Vec<Flood>,
    flood: Flood,
    over: Arc<AtomicU64>,
    events: JoinHandle<(u64, u64)>,
    view: JoinHandle<u64>,
    random: u64,
}

impl Storm {
    pub fn over(server: Server) -> Storm {
        let bursts: Vec<_> = (0..BURSTS).map(|_| Flood::bursts(&server)).collect();
        let flood = Flood::start(&server);
        start_titles(&server);
        let over = Arc::new(AtomicU64::new(u64::MAX));
        let events = follow_events(&server, &over);
        let view = follow_view(&server, &flood.id, &over);
        Storm { server, bursts, flood, over, events, view, random: 1 }
    }

    pub fn hello(&self) -> Value {
        ask(&self.server, &json!({"cmd": "hello"}))
    }

    /// A number below `end`, another one each time.
    pub fn random(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % end
    }

    pub fn pause(&mut self, at_most: Duration) {
        let micros = self.random(at_most.as_micros() as u64);
        std::thread::sleep(Duration::from_micros(micros));
    }

    /// What was written since the last look is all there.
    pub fn look(&mut self) {
        self.bursts.iter_mut().for_each(|flood| flood.look(&self.server));
        self.flood.skip(&self.server);
        self.flood.look(&self.server);
    }

    /// Nothing was missed by anyone; how many workers have told that they took over.
    pub fn end(mut self) -> u64 {
        self.over.store(self.hello()["seq"].as_u64().unwrap(), Ordering::Relaxed);
        self.look();
        let floods = self.bursts.iter().chain([&self.flood]);
        assert!(floods.into_iter().all(|flood| flood.seen > 1000), "there was no flood");
        let (titles, restarts) = self.events.join().unwrap();
        assert!(titles > 100, "only {titles} titles");
        assert!(self.view.join().unwrap() > restarts / 2, "the view saw nothing");
        restarts
    }
}
