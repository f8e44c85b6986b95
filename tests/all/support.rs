//! A server of one's own for each test, and a client that waits for what it expects.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use t4a::os::pty::{self, Read};
use t4a::term::Size;
use tempfile::TempDir;

/// Longest a test waits for anything before it fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A server with a socket, a home and a runtime directory that nobody else uses.
pub struct Server {
    dir: TempDir,
}

impl Server {
    pub fn start() -> Server {
        let server = Server::not_started();
        // The first command starts the server and comes back when it listens.
        let hello = server.cli(&["hello"]);
        assert!(hello.status.success(), "{}", String::from_utf8_lossy(&hello.stderr));
        server
    }

    /// The place for a server, without one.
    pub fn not_started() -> Server {
        let dir = tempfile::Builder::new().prefix("t4a").tempdir().unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        Server { dir }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("t4a.sock")
    }

    /// The program with this server's environment and no tty.
    pub fn command(&self) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_t4a")))
    }

    /// The same of another program.
    pub fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env("T4A_SOCKET", self.socket())
            .env("XDG_RUNTIME_DIR", self.dir())
            .env("HOME", self.home())
            .env("SHELL", "/bin/bash")
            .env("LANG", "C.UTF-8")
            .env_remove("T4A_TERMINAL")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(self.home())
            .stdin(Stdio::null());
        command
    }

    pub fn cli(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    /// The JSON a successful command prints.
    pub fn json(&self, args: &[&str]) -> Value {
        let output = self.cli(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "t4a {args:?}: {stderr}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub fn connect(&self) -> Client {
        Client::new(UnixStream::connect(self.socket()).unwrap())
    }

    /// A terminal with a shell at its first prompt; its id.
    pub fn shell(&self, program: &str) -> String {
        let request = json!({"cmd": "create", "cmd_args": [program], "ready": true,
            "cwd": self.home(), "env": {"HOME": self.home(), "PS1": "$ "}});
        let created = self.connect().ok(request);
        assert_eq!(created["ready"], true, "{program} showed no prompt");
        created["id"].as_str().unwrap().to_owned()
    }

    /// The same with all three shells, one after another, whose users have no files of their own.
    pub fn each_shell(&self, mut check: impl FnMut(&str, &str)) {
        // Without any file zsh would ask a new user what to put there.
        std::fs::write(self.home().join(".zshrc"), "").unwrap();
        for shell in ["bash", "zsh", "fish"] {
            check(shell, &self.shell(shell));
        }
    }

    /// A terminal with a script that has come to where it rings the bell; its id.
    pub fn script(&self, script: &str) -> String {
        self.script_with(script, json!({}))
    }

    /// The same, with other fields of `create`.
    pub fn script_with(&self, script: &str, fields: Value) -> String {
        let mut request = json!({"cmd": "create", "cmd_args": ["sh", "-c", script]});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let created = self.connect().ok(request);
        let id = created["id"].as_str().unwrap().to_owned();
        self.events(&id, created["seq"].as_u64().unwrap()).event("bell");
        id
    }

    pub fn worker_pid(&self) -> i32 {
        self.connect().ok(json!({"cmd": "hello"}))["worker_pid"].as_i64().unwrap() as i32
    }

    pub fn keeper_pid(&self) -> i32 {
        self.connect().ok(json!({"cmd": "hello"}))["keeper_pid"].as_i64().unwrap() as i32
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.command().arg("shutdown").stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// One connection.
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    pub fn new(stream: UnixStream) -> Client {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Client { stream: BufReader::new(stream) }
    }

    pub fn stream(&mut self) -> &mut UnixStream {
        self.stream.get_mut()
    }

    pub fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    pub fn send(&mut self, request: &Value) {
        self.send_raw(format!("{request}\n").as_bytes());
    }

    /// The next line, None at the end of the stream.
    pub fn try_next(&mut self) -> Option<Value> {
        let mut line = Vec::new();
        match self.stream.read_until(b'\n', &mut line).expect("the server says nothing") {
            0 => None,
            _ => Some(serde_json::from_slice(&line).expect("a line of JSON")),
        }
    }

    pub fn next(&mut self) -> Value {
        self.try_next().expect("the server closed the connection")
    }

    /// Bytes that follow a line.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        std::io::Read::read_exact(&mut self.stream, &mut bytes).expect("all of them come");
        bytes
    }

    pub fn ask(&mut self, request: Value) -> Value {
        self.send(&request);
        self.next()
    }

    /// An answer that must be a success.
    pub fn ok(&mut self, request: Value) -> Value {
        let answer = self.ask(request.clone());
        assert_eq!(answer["ok"], true, "{request} was refused: {answer}");
        answer
    }

    /// An answer that must be a failure with this code; its sentence.
    pub fn refused(&mut self, request: Value, code: &str) -> String {
        let answer = self.ask(request.clone());
        assert_eq!(answer["ok"], false, "{request} was taken: {answer}");
        assert_eq!(answer["code"], code, "{request}: {answer}");
        answer["error"].as_str().unwrap().to_owned()
    }

    /// Reads events until one is of this kind.
    pub fn event(&mut self, kind: &str) -> Value {
        self.event_where(kind, |_| true)
    }

    pub fn event_where(&mut self, kind: &str, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.next();
            assert_ne!(event["ok"], false, "waiting for {kind}: {event}");
            if event["event"] == kind && is(&event) {
                return event;
            }
        }
    }

    /// Whether an event of this kind comes before the stream's time is up.
    pub fn waits_for(&mut self, kind: &str) -> bool {
        let mut line = String::new();
        while self.stream.read_line(&mut line).is_ok_and(|length| length > 0) {
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == kind {
                return true;
            }
            line.clear();
        }
        false
    }

    /// Types something and gives back the number of the last event before it.
    pub fn type_in(&mut self, id: &str, input: &str) -> u64 {
        self.ok(json!({"cmd": "send", "id": id, "input": input}))["seq"].as_u64().unwrap()
    }

    pub fn info(&mut self, id: &str) -> Value {
        self.ok(json!({"cmd": "info", "id": id}))
    }

    /// Waits for one of several conditions, which must come.
    pub fn wait(&mut self, id: &str, any: Value) -> Value {
        let answer = self.ok(json!({"cmd": "wait", "id": id, "any": any}));
        assert!(answer["met"].is_u64(), "{answer}");
        answer
    }

    /// The same, also if it came after this event already.
    pub fn wait_after(&mut self, id: &str, seq: u64, any: Value) -> Value {
        let answer = self.ok(json!({"cmd": "wait", "id": id, "any": any, "after": seq}));
        assert!(answer["met"].is_u64(), "{answer}");
        answer
    }

    /// Types a command at a prompt and waits for its end.
    pub fn run(&mut self, id: &str, command: &str) -> Value {
        self.ok(json!({"cmd": "run", "id": id, "command": command}))
    }

    /// The screen's rows without blanks at their ends.
    pub fn screen(&mut self, id: &str) -> Vec<String> {
        let answer = self.ok(json!({"cmd": "text", "id": id}));
        let lines = answer["lines"].as_array().unwrap();
        lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }
}

impl Server {
    /// A stream of a terminal's events after `since`.
    pub fn events(&self, id: &str, since: u64) -> Client {
        let mut client = self.connect();
        client.send(&json!({"cmd": "events", "terminal": id, "since": since}));
        client
    }

    /// Types a command line and waits for its end.
    pub fn run(&self, id: &str, command: &str) -> Value {
        let since = self.connect().type_in(id, &format!("{command}\n"));
        self.events(id, since).event("command_done")
    }

    /// Waits until the screen holds `text`, looking again whenever it changes.
    pub fn wait_for_text(&self, id: &str, text: &str) -> Vec<String> {
        self.wait_for_screen(id, |rows| rows.iter().any(|row| row.contains(text)))
    }

    pub fn wait_for_screen(&self, id: &str, is: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut changes = self.connect();
        changes.send(&json!({"cmd": "events", "terminal": id, "types": ["screen", "exit"]}));
        let mut reader = self.connect();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let rows = reader.screen(id);
            if is(&rows) {
                return rows;
            }
            assert!(Instant::now() < deadline, "the screen is:\n{}", rows.join("\n"));
            changes.stream().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let mut line = String::new();
            // A change between subscribing and reading shows at the next look at the latest.
            let _ = changes.stream.read_line(&mut line);
        }
    }
}

/// What a command prints on a terminal.
pub fn on_a_terminal(server: &Server, line: &str) -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_t4a"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let pty = pty::open(Size { cols: 120, rows: 24 }).unwrap();
    let mut command = Command::new("bash");
    let own = server.command();
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.args(["-c", line]).env("PATH", path).current_dir(server.home());
    let mut child = command.stdin(Stdio::null()).stdout(pty.slave).spawn().unwrap();
    drop(command);
    let status = child.wait().unwrap();
    assert!(status.success(), "{line}");
    read_all(pty.master.as_fd())
}

fn read_all(master: BorrowedFd) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match pty::read(master, &mut buffer) {
            Read::Data(count) => all.extend_from_slice(&buffer[..count]),
            Read::Status => {}
            Read::WouldBlock | Read::Closed => break,
        }
    }
    String::from_utf8(all).unwrap().replace("\r\n", "\n")
}

/// Whether a process is there and not a zombie.
pub fn alive(pid: i64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    matches!(state, Some(state) if state != 'Z')
}

/// A program of other package registries that `contrib/test` puts beside the build.
pub fn installed(path: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_t4a"));
    let found = program.ancestors().nth(2).unwrap().join("clients").join(path);
    assert!(found.exists(), "{} is missing: contrib/test installs it", found.display());
    found
}

/// What a process has open. One that has just been started still holds the libraries it loads.
pub fn open_files(pid: i64) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    // Some may be closed while one looks.
    entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok()).collect()
}

/// Looks again and again at something that has no event.
pub fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
