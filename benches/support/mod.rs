//! A server of one's own for each benchmark, and a client of it.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

pub struct Server {
    dir: tempfile::TempDir,
}

impl Server {
    pub fn start() -> Server {
        let server = Server { dir: tempfile::tempdir().expect("a directory") };
        assert!(server.cli(&["hello"]), "the server does not start");
        server
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.dir().join("t4a.sock")
    }

    pub fn cli(&self, args: &[&str]) -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_t4a"));
        command.env("T4A_SOCKET", self.socket()).env("XDG_RUNTIME_DIR", self.dir());
        let status = command.args(args).stdout(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    pub fn connect(&self) -> Client {
        Client(BufReader::new(UnixStream::connect(self.socket()).expect("the server")))
    }

    /// None when the worker dies meanwhile.
    pub fn ask(&self, request: &Value) -> Option<Value> {
        let mut stream = UnixStream::connect(self.socket()).ok()?;
        stream.write_all(format!("{request}\n").as_bytes()).ok()?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Of the worker that is there, or of the next one.
    pub fn hello(&self) -> Value {
        loop {
            if let Some(hello) = self.ask(&json!({"cmd": "hello"})) {
                return hello;
            }
        }
    }

    /// Proportional size of worker and keeper in kB, with the memory they share; 0 when it may not
    /// be read.
    pub fn memory(&self) -> u64 {
        let hello = self.hello();
        pss(&hello["worker_pid"]) + pss(&hello["keeper_pid"])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cli(&["shutdown"]);
    }
}

fn pss(pid: &Value) -> u64 {
    let path = format!("/proc/{}/smaps_rollup", pid.as_u64().unwrap_or(0));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub struct Client(pub BufReader<UnixStream>);

impl Client {
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    }

    pub fn send(&mut self, request: &Value) {
        self.0.get_mut().write_all(format!("{request}\n").as_bytes()).expect("the server reads");
    }

    pub fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        let answer = self.next();
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    }
}
