//! System calls that fail, in worker and keeper: every request is answered, and when the trouble is
//! over all is as before. strace puts the failures in, so that nothing in the program knows of them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::{Value, json};

use crate::storm::Flood;
use crate::support::{Client, Server, alive, eventually};
use crate::survival::{ask_once, kill_worker};

/// How long a request may take that waits for a program which the trouble has stopped.
const WAIT_MS: u64 = 1500;

/// One kind of trouble: which calls fail, how, and when, as strace is told.
struct Fault {
    calls: &'static str,
    error: &'static str,
    /// `1` is the first one, `2+3` the second and every third after it, `1+` all.
    when: &'static str,
    /// Only calls that have to do with this file.
    path: Option<&'static str>,
}

const fn fault(calls: &'static str, error: &'static str, when: &'static str) -> Fault {
    Fault { calls, error, when, path: None }
}

/// Failures that are being put in; they end when this is dropped.
struct Injection {
    strace: Child,
    log: PathBuf,
}

impl Injection {
    fn begin(dir: &Path, pid: i32, threads: bool, fault: &Fault) -> Injection {
        let log = dir.join("strace.log");
        let mut command = Command::new("strace");
        command.arg("-o").arg(&log).args(["-p", &pid.to_string()]);
        command.args(threads.then_some("-f")).args(fault.path.iter().flat_map(|path| ["-P", path]));
        command.args(["-e", &format!("trace={}", fault.calls)]);
        let inject = format!("inject={}:error={}:when={}", fault.calls, fault.error, fault.when);
        command.args(["-e", &inject]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut strace = command.spawn().expect("strace: contrib/test installs it");
        let mut said = BufReader::new(strace.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert!(line.contains("attached"), "{line}");
        // Nobody reads on, but what is said must go somewhere.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Injection { strace, log }
    }

    /// Ends the trouble; how many calls failed.
    fn end(self) -> usize {
        let log = self.log.clone();
        drop(self);
        std::fs::read_to_string(log).unwrap().matches("(INJECTED)").count()
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.strace.id() as i32).unwrap();
        let _ = kill_process(pid, Signal::TERM);
        let _ = self.strace.wait();
    }
}

/// A server with a shell and a terminal that writes numbered lines all the time.
struct Stage {
    server: Server,
    shell: String,
    flood: Flood,
    /// Makes what is typed differ each time.
    round: u32,
}

impl Stage {
    /// None where one may not look into a hardened process.
    fn set() -> Option<Stage> {
        if !geteuid().is_root() {
            eprintln!("not tested: only root may make the server's system calls fail");
            return None;
        }
        let server = Server::start();
        let (shell, flood) = (server.shell("bash"), Flood::bursts(&server));
        Some(Stage { server, shell, flood, round: 0 })
    }

    /// All sorts of requests; whatever comes of them, each is answered.
    fn requests(&self) -> Vec<Value> {
        let (shell, round) = (&self.shell, self.round);
        let cast = self.server.dir().join(format!("{round}.cast"));
        vec![
            json!({"cmd": "create", "cmd_args": ["sh", "-c", "echo up; exec cat"],
                "name": format!("new{round}")}),
            json!({"cmd": "send", "id": shell, "input": format!("echo sent {round}\n")}),
            json!({"cmd": "wait", "id": shell, "any": [{"text": format!("sent {round}")}],
                "timeout_ms": WAIT_MS}),
            json!({"cmd": "run", "id": shell, "command": "true", "timeout_ms": WAIT_MS}),
            json!({"cmd": "screenshot", "id": shell, "encoding": "base64"}),
            json!({"cmd": "search", "id": shell, "pattern": "sent"}),
            json!({"cmd": "resize", "id": shell, "cols": 90 + round % 9, "rows": 30}),
            json!({"cmd": "record", "id": shell, "path": cast}),
            json!({"cmd": "recordings"}),
            json!({"cmd": "info", "id": shell}),
            json!({"cmd": "look", "id": shell}),
            json!({"cmd": "create", "cmd_args": ["sh", "-c", "exit 3"]}),
            json!({"cmd": "kill", "id": format!("new{round}")}),
            json!({"cmd": "list"}),
        ]
    }

    /// Asks for everything while the calls fail. The answers are successes or say what is wrong.
    fn suffer(&mut self, who: &str, fault: &Fault) {
        self.round += 1;
        let (pid, mut client) = (self.pid(who), self.server.connect());
        let injection = Injection::begin(self.server.dir(), pid, who == "worker_pid", fault);
        for request in self.requests() {
            let answer = match fault.calls {
                "accept4" => ask_once(&self.server, &request).expect("an answer"),
                _ => client.ask(request.clone()),
            };
            let told = answer["error"].as_str().is_some_and(|error| !error.is_empty());
            let sound = answer["ok"] == true || told && answer["code"].is_string();
            assert!(sound, "{} fails: {request}: {answer}", fault.calls);
        }
        let failed = injection.end();
        assert!(failed > 0, "{} never failed", fault.calls);
        assert_eq!(self.pid(who), pid, "{} {} killed it", fault.calls, fault.error);
    }

    fn pid(&self, who: &str) -> i32 {
        self.server.connect().ok(json!({"cmd": "hello"}))[who].as_i64().unwrap() as i32
    }

    /// All that was there is there, and everything works.
    fn check(&mut self) {
        let mut client = self.server.connect();
        self.check_shell(&mut client);
        let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
        client.ok(json!({"cmd": "screenshot", "id": created["id"], "encoding": "base64"}));
        client.ok(json!({"cmd": "kill", "id": created["id"]}));
        let id = self.shell.as_str();
        let path = self.server.dir().join(format!("after{}.cast", self.round));
        client.ok(json!({"cmd": "record", "id": id, "path": path}));
        for recording in client.ok(json!({"cmd": "recordings"}))["recordings"].as_array().unwrap() {
            if recording["state"] == "started" {
                let id = &recording["recording"];
                client.ok(json!({"cmd": "record_stop", "recording": id}));
            }
        }
        self.flood.look(&self.server);
        for terminal in client.ok(json!({"cmd": "list"}))["terminals"].as_array().unwrap() {
            let known = [&self.shell, &self.flood.id]
                .contains(&&terminal["id"].as_str().unwrap().to_owned());
            if !known {
                client.ok(json!({"cmd": "kill", "id": terminal["id"]}));
            }
        }
    }

    /// The shell may still be busy with what was typed during the trouble, or have written what was
    /// not read yet.
    fn check_shell(&mut self, client: &mut Client) {
        let mark = format!("mark {}", self.round);
        client.type_in(&self.shell, &format!("echo {mark}\n"));
        client.wait(&self.shell, json!([{"regex": format!("^{mark}$")}]));
        client.wait(&self.shell, json!([{"prompt": true}]));
        let command = format!("echo after {}", self.round);
        let ran = client.run(&self.shell, &command);
        assert_eq!((&ran["code"], &ran["lines"]), (&json!(0), &json!([&command[5..]])), "{ran}");
    }

    /// The same for each fault, with the server going on as if nothing had been.
    fn play(mut self, who: &str, faults: &[Fault]) {
        for fault in faults {
            self.suffer(who, fault);
            self.check();
        }
    }
}

#[test]
fn the_worker_lives_through_a_lack_of_descriptors_and_memory() {
    let Some(stage) = Stage::set() else { return };
    let ptmx =
        |error, when| Fault { path: Some("/dev/ptmx"), ..fault("?open,openat", error, when) };
    stage.play(
        "worker_pid",
        &[
            ptmx("EMFILE", "1+"),
            ptmx("ENOSPC", "1"),
            fault("?open,openat", "EMFILE", "1+"),
            fault("?open,openat", "ENFILE", "2+3"),
            fault("memfd_create", "EMFILE", "1+"),
            fault("memfd_create", "ENOMEM", "2"),
            fault("ftruncate", "ENOSPC", "1+"),
            fault("pipe2", "EMFILE", "1+"),
            fault("fcntl", "EMFILE", "1+"),
            fault("fcntl", "EMFILE", "2+2"),
            fault("epoll_ctl", "ENOSPC", "1+3"),
            fault("epoll_ctl", "ENOMEM", "2+3"),
        ],
    );
}

#[test]
fn the_worker_lives_through_terminals_and_sockets_that_fail() {
    let Some(stage) = Stage::set() else { return };
    stage.play(
        "worker_pid",
        &[
            fault("ioctl", "EIO", "1+"),
            fault("ioctl", "EIO", "3+4"),
            fault("readv", "EIO", "1+"),
            fault("readv", "EINTR", "1+2"),
            fault("readv", "EIO", "2+3"),
            fault("accept4", "EMFILE", "1+3"),
            fault("accept4", "ECONNABORTED", "2+2"),
        ],
    );
}

/// Nothing that needs a thread can be done, and is refused: a panic would answer nobody.
#[test]
fn the_worker_lives_through_a_lack_of_threads() {
    let Some(mut stage) = Stage::set() else { return };
    // The next one has no threads yet.
    kill_worker(&stage.server);
    stage.suffer("worker_pid", &fault("clone3,clone", "EAGAIN", "1+"));
    stage.check();
}

#[test]
fn the_keeper_lives_through_failures() {
    let Some(stage) = Stage::set() else { return };
    stage.play(
        "keeper_pid",
        &[
            fault("clone,clone3,?fork,?vfork", "EAGAIN", "1+"),
            fault("clone,clone3,?fork,?vfork", "ENOMEM", "2"),
            fault("sendmsg", "ENOBUFS", "1+2"),
            fault("sendmsg", "EAGAIN", "1+2"),
            fault("recvmsg", "EINTR", "1+2"),
            fault("?poll,ppoll", "EINTR", "1+2"),
        ],
    );
}

#[test]
fn a_worker_comes_when_the_keeper_can_start_one_again() {
    let Some(mut stage) = Stage::set() else { return };
    let (keeper, worker) = (stage.pid("keeper_pid"), stage.pid("worker_pid"));
    let failing = fault("clone,clone3,?fork,?vfork", "EAGAIN", "1+");
    let injection = Injection::begin(stage.server.dir(), keeper, false, &failing);
    kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
    eventually("it is gone", || !alive(worker.into()));
    let log = injection.log.clone();
    eventually("a start has failed", || {
        std::fs::read_to_string(&log).unwrap().contains("(INJECTED)")
    });
    assert!(injection.end() > 0);
    eventually("another one answers", || {
        ask_once(&stage.server, &json!({"cmd": "hello"})).is_ok_and(|hello| hello["ok"] == true)
    });
    assert_eq!(stage.pid("keeper_pid"), keeper);
    stage.check();
}

/// A file that may not grow as far as it should: the system would end the process, were it not deaf
/// to that.
#[test]
fn a_limit_on_the_size_of_files_refuses_terminals_and_ends_no_server() {
    let server = Server::not_started();
    // In blocks of 1024 bytes: too little for a terminal's memory.
    let script = format!("ulimit -f 20000; {} hello", env!("CARGO_BIN_EXE_t4a"));
    let own = server.command();
    let mut command = Command::new("bash");
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(command.args(["-c", &script]).stdout(Stdio::null()).status().unwrap().success());
    let (worker, mut client) = (server.worker_pid(), server.connect());
    let create = json!({"cmd": "create", "cmd_args": ["cat"]});
    let error = client.refused(create, "system");
    assert!(error.starts_with("create: no memory for the terminal: File too large"), "{error}");
    assert_eq!(server.worker_pid(), worker);
}

/// Requests and answers that come in the smallest pieces are whole.
#[test]
fn lines_in_single_bytes_are_as_good_as_whole_ones() {
    let server = Server::start();
    let id = server.script("seq 2000; printf '\\a'; exec cat");
    let request = json!({"cmd": "text", "id": id, "region": "all", "tag": "é✓"});
    let whole = server.connect().ok(request.clone());
    let mut slow = server.connect();
    rustix::net::sockopt::set_socket_recv_buffer_size(slow.stream(), 1).unwrap();
    for byte in format!("{request}\n").as_bytes() {
        slow.send_raw(&[*byte]);
    }
    let line = std::iter::repeat_with(|| slow.bytes(1)[0]).take_while(|byte| *byte != b'\n');
    let line: Vec<u8> = line.collect();
    let answer: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!((&answer["lines"], &answer["tag"]), (&whole["lines"], &json!("é✓")));
    let shot = json!({"cmd": "screenshot", "id": id});
    let mut pieces = Vec::new();
    for client in [&mut server.connect(), &mut slow] {
        let header = client.ok(shot.clone());
        let length = header["len"].as_u64().unwrap() as usize;
        pieces.push((0..length).map(|_| client.bytes(1)[0]).collect::<Vec<_>>());
    }
    assert_eq!(pieces[0], pieces[1]);
}
