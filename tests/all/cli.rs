//! The command line: what is printed where, exit codes, and starting and ending the server.

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Server, alive, eventually, on_a_terminal, open_files};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// It fails with this code, says why on stderr alone, and what to do next.
fn check_failure(server: &Server, args: &[&str], code: i32, words: &[&str]) -> Output {
    let output = server.cli(args);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {told}");
    for word in words {
        assert!(told.contains(word), "{args:?}: no {word:?} in {told}");
    }
    output
}

#[test]
fn output_is_json_in_a_pipe_and_for_people_on_a_terminal() {
    let server = Server::start();
    assert_eq!(on_a_terminal(&server, "t4a create --name build -- cat"), "t1\n");
    let head: Vec<_> = "ID NAME PID SIZE STATE TITLE".split(' ').collect();
    let table = on_a_terminal(&server, "t4a list");
    assert_eq!(table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(), head);
    assert!(table.lines().nth(1).unwrap().starts_with("t1  build"), "{table}");
    let piped = server.json(&["list"]);
    assert_eq!(piped["terminals"][0]["name"], "build");
    let asked: Value = serde_json::from_str(&on_a_terminal(&server, "t4a list --json")).unwrap();
    assert_eq!(asked, piped);
    assert!(
        on_a_terminal(&server, "t4a info build")
            .lines()
            .any(|line| line == "alive               true")
    );
    assert_eq!(on_a_terminal(&server, "t4a send build hello"), "", "no news is good news");
    let event = on_a_terminal(&server, "t4a events build --since 0 --count 1");
    assert!(event.starts_with("t1    created"), "{event}");
    assert_eq!(server.json(&["events", "--since", "0", "--count", "1"])["event"], "created");
}

#[test]
fn text_is_text_also_in_a_pipe() {
    let server = Server::start();
    let id = server.script("printf 'one\\ntwo\\n\\a'; exec cat");
    let plain = stdout(&server.cli(&["text", &id]));
    assert!(plain.starts_with("one\ntwo\n\n"), "{plain}");
    assert_eq!(stdout(&server.cli(&["text", &id, "22:24"])), "one\ntwo\n");
    assert_eq!(server.json(&["--json", "text", &id, "22:24"])["lines"], json!(["one", "two"]));
    assert_eq!(stdout(&server.cli(&["text", &id, "--first-line", "1", "--count", "1"])), "two\n");
    let all = server.json(&["text", &id, "--region", "all", "--join", "--json"]);
    assert_eq!((&all["region"], &all["total_lines"]), (&json!("all"), &json!(24)));
}

#[test]
fn failures_have_a_code_and_a_next_step() {
    let server = Server::start();
    let dead = server.json(&["create", "--", "true"])["id"].clone();
    let dead = dead.as_str().unwrap();
    server.events(dead, 0).event("exit");
    for args in [&["text", "nobody"][..], &["kill", "nobody"], &["events", "nobody"]] {
        check_failure(&server, args, 1, &["t4a: no terminal", "\"nobody\"", "hint: t4a list"]);
    }
    check_failure(&server, &["send", dead, "x"], 1, &["has ended", "hint: t4a text"]);
    check_failure(&server, &["create", "--cols", "0"], 1, &["cols must be 1 to 1024"]);
    check_failure(&server, &["create", "--", "no-such"], 1, &["no program \"no-such\" in PATH"]);
    check_failure(&server, &["signal", dead, "NOPE"], 1, &["\"NOPE\" is none of HUP, INT"]);
    let usage = "--help";
    check_failure(&server, &[], 2, &["Usage"]);
    check_failure(&server, &["frobnicate"], 2, &["frobnicate", usage]);
    check_failure(&server, &["text"], 2, &["<ID>", usage]);
    check_failure(&server, &["text", dead, "5"], 2, &["START:END", usage]);
    check_failure(&server, &["list", "--no-such"], 2, &["--no-such", usage]);
    check_failure(&server, &["resize", dead, "x", "y"], 2, &["'x'", usage]);
    check_failure(&server, &["events", "--types", "bel"], 2, &["\"bel\"", "bell", usage]);
    check_failure(&server, &["create", "--env", "NOVALUE"], 2, &["KEY=VALUE", usage]);
    check_failure(&server, &["send", dead, r"\q"], 2, &["\\q is not known", usage]);
    check_failure(&server, &["send", dead, r"\x1"], 2, &["two hexadecimal digits", usage]);
    check_failure(&server, &["daemon", "0"], 2, &["TIMEOUT_MS must be 1 to", usage]);
}

#[test]
fn a_refusal_is_json_on_stdout_for_those_who_read_json() {
    let server = Server::start();
    for args in [&["kill", "nobody"][..], &["events", "nobody"], &["text", "nobody", "--json"]] {
        let output = check_failure(&server, args, 1, &["hint:"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&answer["ok"], &answer["code"]),
            (&json!(false), &json!("not_found")),
            "{args:?}"
        );
    }
    assert_eq!(stdout(&check_failure(&server, &["text", "nobody"], 1, &["hint:"])), "");
    assert_eq!(on_a_terminal(&server, "t4a kill nobody 2>/dev/null || true"), "");
}

#[test]
fn whoever_closes_the_pipe_has_seen_enough() {
    let server = Server::start();
    for line in ["hello", "list", "man", "completions bash", "--help", "kill nobody"] {
        // The reader is gone before anything is written.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let args: Vec<_> = line.split(' ').collect();
        let status = server.command().args(args).stdout(writer).stderr(Stdio::null()).status();
        assert_eq!(status.unwrap().code(), Some(0), "{line}");
    }
}

/// A terminal that shows each byte it gets.
fn bytes_shown(server: &Server, send: impl Fn(&str), last: &str) -> Vec<String> {
    let id = server.script("stty raw -echo; printf '\\a'; exec od -v -An -tx1 -w1");
    send(&id);
    let rows = server.wait_for_text(&id, last);
    rows.iter().flat_map(|row| row.split_whitespace().map(str::to_owned)).collect()
}

#[test]
fn send_understands_escapes() {
    let server = Server::start();
    let send = |input: &'static str| {
        let server = &server;
        move |id: &str| assert!(server.cli(&["send", id, input]).status.success(), "{input}")
    };
    let expected = ["61", "0d", "09", "1b", "5b", "41", "03", "5c", "6e", "00", "07", "7e"];
    assert_eq!(bytes_shown(&server, send(r"a\n\t\e[A\x03\\n\0\a~"), "7e"), expected);
    assert_eq!(bytes_shown(&server, send(r"\xff\n\xfe"), "fe"), ["ff", "0d", "fe"]);
    assert_eq!(bytes_shown(&server, send("ü\n~"), "7e"), ["c3", "bc", "0d", "7e"]);
    let raw =
        |id: &str| assert!(server.cli(&["send", id, "--input-base64", "Cv8="]).status.success());
    assert_eq!(bytes_shown(&server, raw, "ff"), ["0a", "ff"]);
}

#[test]
fn send_reads_standard_input_as_it_is() {
    let server = Server::start();
    let send = |input: &'static [u8]| {
        let server = &server;
        move |id: &str| {
            let mut command = server.command();
            let command = command.args(["send", id]).stdin(Stdio::piped()).stdout(Stdio::null());
            let mut sender = command.spawn().unwrap();
            sender.stdin.take().unwrap().write_all(input).unwrap();
            assert!(sender.wait().unwrap().success());
        }
    };
    let expected = ["61", "5c", "6e", "0d", "62", "7e"];
    assert_eq!(bytes_shown(&server, send(b"a\\n\nb~"), "7e"), expected, "no escapes, Enter for LF");
    assert_eq!(bytes_shown(&server, send(b"\xff\n~"), "7e"), ["ff", "0d", "7e"]);
}

#[test]
fn a_terminal_made_by_hand_is_where_its_maker_is() {
    let server = Server::start();
    let place = server.home().join("place");
    std::fs::create_dir_all(place.join("deep")).unwrap();
    let create = |args: &[&str]| {
        let mut command = server.command();
        command.current_dir(&place).env("MINE", "yes").env("TERM", "dumb").env("TMUX", "x");
        let output = command.arg("create").args(args).args(["--", "cat"]).output().unwrap();
        let created: Value = serde_json::from_slice(&output.stdout).unwrap();
        let pid = created["pid"].as_i64().unwrap();
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        let environment = String::from_utf8(environment).unwrap();
        let set = environment.split('\0').map(str::to_owned).collect::<Vec<_>>();
        (std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), set)
    };
    let has = |set: &[String], entry: &str| set.iter().any(|found| found == entry);
    let (cwd, set) = create(&[]);
    assert_eq!(cwd, place);
    assert!(has(&set, "MINE=yes") && has(&set, "TERM=xterm-256color"), "{set:?}");
    assert!(!set.iter().any(|entry| entry.starts_with("TMUX=")), "{set:?}");
    let (cwd, set) = create(&["--cwd", "deep", "--env", "MINE=no", "--env", "TERM=vt220"]);
    assert_eq!(cwd, place.join("deep"));
    assert!(has(&set, "MINE=no") && has(&set, "TERM=vt220") && !has(&set, "MINE=yes"), "{set:?}");
}

/// All commands but those that only make sense on a connection.
fn on_the_command_line() -> impl Iterator<Item = &'static &'static str> {
    let wire_only = ["cells", "view", "detach", "workspace"];
    t4a::command::NAMES.iter().filter(move |name| !wire_only.contains(name))
}

#[test]
fn texts_to_install_are_printed_and_are_well_formed() {
    let server = Server::not_started();
    let check = |args: &[&str], shell: &str| {
        let output = server.cli(args);
        assert!(output.status.success(), "{args:?}");
        let file = server.dir().join(args.join("-"));
        std::fs::write(&file, &output.stdout).unwrap();
        assert!(output.stdout.len() > 300, "{args:?}");
        let checked = Command::new(shell).arg("-n").arg(&file).output().unwrap();
        assert!(checked.status.success(), "{args:?}: {}", stderr(&checked));
        stdout(&output)
    };
    for shell in ["bash", "zsh", "fish"] {
        let script = check(&["completions", shell], shell);
        for name in on_the_command_line() {
            assert!(script.contains(&name.replace('_', "-")), "{shell}: {name}");
        }
        assert!(!script.contains("__worker") && !script.contains("--background"), "{shell}");
        assert!(check(&["shell-init", shell], shell).contains("133;"), "{shell}");
    }
    let page = stdout(&server.cli(&["man"]));
    assert!(page.contains(".TH t4a 1"), "{page}");
    for name in on_the_command_line() {
        let name = name.replace('_', "\\-");
        assert!(page.contains(&format!("t4a\\-{name}(1)")), "{name}");
    }
    assert!(!server.socket().exists(), "no server is needed for that");
}

#[test]
fn a_configuration_is_checked_without_a_server() {
    let server = Server::not_started();
    let check = || {
        let output = server.cli(&["config", "check"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report, output.status.code())
    };
    let (report, code) = check();
    assert_eq!((code, &report["ok"], &report["exists"]), (Some(0), &json!(true), &json!(false)));
    let dir = server.home().join(".config/t4a");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), "mouse = true\n").unwrap();
    assert_eq!(check().1, Some(0));
    std::fs::write(dir.join("config.toml"), "mouse = true\nprefx = \"C-a\"\n").unwrap();
    let (report, code) = check();
    assert_eq!((code, &report["ok"]), (Some(1), &json!(false)));
    let problem = report["problems"][0].as_str().unwrap();
    assert!(problem.starts_with("config.toml: line 2: prefx: is not known"), "{problem}");
    let shown = on_a_terminal(&server, "t4a config check || true");
    assert!(shown.contains("line 2: prefx") && shown.contains("The rest of it applies"), "{shown}");
    assert!(!server.socket().exists());
}

fn doctor(server: &Server) -> (Value, Option<i32>) {
    let output = server.cli(&["doctor"]);
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

#[test]
fn the_doctor_says_what_runs_and_starts_nothing() {
    let server = Server::not_started();
    let (report, code) = doctor(&server);
    assert_eq!((code, &report["ok"], &report["running"]), (Some(0), &json!(true), &json!(false)));
    assert_eq!(report["socket"], server.socket().display().to_string());
    assert!(!server.socket().exists());
    assert!(on_a_terminal(&server, "t4a doctor").contains("not running; any command starts it"));
    let created = server.json(&["create", "--", "cat"]);
    let (report, code) = doctor(&server);
    assert_eq!((code, &report["ok"], &report["running"]), (Some(0), &json!(true), &json!(true)));
    assert_eq!((&report["terminals"], &report["problems"]), (&json!(1), &json!([])));
    assert_eq!(report["server"]["version"], report["client_version"]);
    assert!(alive(report["server"]["worker_pid"].as_i64().unwrap()));
    assert!(alive(created["pid"].as_i64().unwrap()));
    assert!(on_a_terminal(&server, "t4a doctor").ends_with("all is well\n"));
}

#[test]
fn a_socket_that_was_left_over_is_told_and_replaced() {
    let server = Server::not_started();
    drop(UnixListener::bind(server.socket()).unwrap());
    let (report, code) = doctor(&server);
    assert_eq!((code, &report["running"]), (Some(1), &json!(false)));
    let problem = report["problems"][0].as_str().unwrap();
    assert!(problem.contains("left over") && problem.contains("replaces it"), "{problem}");
    assert!(server.socket().exists(), "the doctor only looks");
    assert_eq!(server.json(&["list"])["terminals"], json!([]));
    assert_eq!(doctor(&server).1, Some(0));
}

#[test]
fn a_live_socket_is_not_stolen() {
    let server = Server::not_started();
    let theirs = UnixListener::bind(server.socket()).unwrap();
    let before = std::fs::metadata(server.socket()).unwrap().ino();
    check_failure(&server, &["daemon"], 1, &["a server already runs at"]);
    assert_eq!(std::fs::metadata(server.socket()).unwrap().ino(), before);
    theirs.set_nonblocking(true).unwrap();
    assert!(theirs.accept().is_ok(), "it was looked whether somebody is there");
    drop(theirs);
    std::fs::remove_file(server.socket()).unwrap();
}

#[test]
fn what_is_not_a_socket_is_left_alone() {
    let server = Server::not_started();
    std::fs::write(server.socket(), "mine").unwrap();
    check_failure(
        &server,
        &["list"],
        1,
        &["could not be started", "is not a socket", "hint: t4a doctor"],
    );
    assert_eq!(std::fs::read_to_string(server.socket()).unwrap(), "mine");
}

#[test]
fn the_socket_is_for_its_user_alone() {
    let server = Server::not_started();
    let nested = server.dir().join("new/t4a.sock");
    let output = server.command().env("T4A_SOCKET", &nested).arg("hello").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&nested), mode(nested.parent().unwrap())), (0o600, 0o700));
    assert_eq!(mode(&server.dir().join("t4a")), 0o700, "the runtime directory");
    let ended = server.command().env("T4A_SOCKET", &nested).arg("shutdown").status().unwrap();
    assert!(ended.success() && !nested.exists());
}

/// A command at the usual place, below this test's own runtime directory.
fn at_the_usual_place(server: &Server, args: &[&str]) -> Output {
    server.command().env_remove("T4A_SOCKET").args(args).output().unwrap()
}

#[test]
fn a_directory_that_others_can_get_at_is_refused() {
    let server = Server::not_started();
    let dir = server.dir().join("t4a");
    std::fs::create_dir(&dir).unwrap();
    let refuse = |words: &[&str]| {
        for args in [&["list"][..], &["daemon"], &["doctor"]] {
            let output = at_the_usual_place(&server, args);
            assert_eq!(output.status.code(), Some(1), "{args:?}");
            let told = stdout(&output) + &stderr(&output);
            for word in words {
                assert!(told.contains(word), "{args:?}: no {word:?} in {told}");
            }
        }
        assert!(!dir.join("t4a.sock").exists());
    };
    std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o755)).unwrap();
    refuse(&["is open to others (mode 755)", "chmod 700"]);
    std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o700)).unwrap();
    // Only root can give a directory away.
    if std::os::unix::fs::chown(&dir, Some(1), None).is_ok() {
        refuse(&["belongs to user 1"]);
    }
    std::fs::remove_dir(&dir).unwrap();
    std::os::unix::fs::symlink(server.home(), &dir).unwrap();
    refuse(&["is not a directory of your own"]);
}

/// A server in the foreground, ended by hand.
struct Foreground<'a> {
    server: &'a Server,
    daemon: Child,
}

impl Foreground<'_> {
    fn start<'a>(server: &'a Server, mut command: Command) -> Foreground<'a> {
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let foreground = Foreground { server, daemon };
        eventually("it listens", || UnixStream::connect(server.socket()).is_ok());
        foreground
    }

    fn hello(&self) -> Value {
        self.server.connect().ok(json!({"cmd": "hello"}))
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.daemon.id() as i32).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Foreground<'_> {
    fn drop(&mut self) {
        if self.daemon.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.signal(Signal::TERM);
        }
        let _ = self.daemon.wait();
    }
}

#[test]
fn the_daemon_runs_in_the_foreground_with_its_idle_time() {
    let server = Server::not_started();
    let mut command = server.command();
    command.args(["daemon", "300"]);
    let mut first = Foreground::start(&server, command);
    let hello = first.hello();
    assert_eq!(hello["idle_timeout_ms"], 300);
    assert_eq!(hello["keeper_pid"], first.daemon.id());
    check_failure(&server, &["daemon"], 1, &["a server already runs at"]);
    assert_eq!(first.hello()["worker_pid"], hello["worker_pid"], "the first one goes on");
    assert_eq!(server.json(&["shutdown"])["ok"], true);
    assert_eq!(first.daemon.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    first.daemon.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    assert!(!server.socket().exists());
}

#[test]
fn a_signal_ends_the_daemon_and_its_programs() {
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::not_started();
        let mut command = server.command();
        command.arg("daemon");
        let mut daemon = Foreground::start(&server, command);
        let created = server.json(&["create", "--", "cat"]);
        let worker = daemon.hello()["worker_pid"].as_i64().unwrap();
        daemon.signal(signal);
        assert_eq!(daemon.daemon.wait().unwrap().code(), Some(0), "{signal:?}");
        assert!(!alive(created["pid"].as_i64().unwrap()) && !alive(worker));
        assert!(!server.socket().exists());
    }
}

#[test]
fn commands_at_once_start_one_server() {
    let server = Server::not_started();
    let start = |_| server.command().arg("hello").stdout(Stdio::piped()).spawn().unwrap();
    let started: Vec<_> = (0..8).map(start).collect();
    let hellos: Vec<Value> = started
        .into_iter()
        .map(|child| serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap())
        .collect();
    let keeper = &hellos[0]["keeper_pid"];
    assert!(hellos.iter().all(|hello| hello["keeper_pid"] == *keeper), "{hellos:?}");
    let keeper = keeper.as_i64().unwrap();
    eventually("the others have ended", || keepers_of(&server) == [keeper]);
}

/// Processes that were started as servers of this socket.
fn keepers_of(server: &Server) -> Vec<i64> {
    let socket = format!("T4A_SOCKET={}", server.socket().display());
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &i64| {
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let command = String::from_utf8_lossy(&read("cmdline")).into_owned();
        command.contains("\0daemon\0")
            && (String::from_utf8_lossy(&read("environ")).contains(&socket))
            && alive(*pid)
    };
    pids.filter(is_ours).collect()
}

#[test]
fn shutdown_without_a_server_is_fine_and_starts_none() {
    let server = Server::not_started();
    let output = server.cli(&["shutdown"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), String::new()));
    assert!(!server.socket().exists());
    let first = server.json(&["hello"]);
    assert_eq!(server.json(&["shutdown"]), json!({"ok": true}));
    let second = server.json(&["hello"]);
    assert_ne!(first["keeper_pid"], second["keeper_pid"], "the next command starts another");
}

/// What systemd does: it binds, and passes the socket as descriptor 3 to the process itself.
const ACTIVATE: &str = "
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES='t4a.socket')
os.execv(sys.argv[2], [sys.argv[2], 'daemon'])
";

#[test]
fn a_socket_may_come_from_systemd() {
    let server = Server::not_started();
    let own = server.command();
    let mut command = Command::new("python3");
    command.arg("-c").arg(ACTIVATE).arg(server.socket()).arg(own.get_program());
    for (name, value) in own.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    // The descriptor counts, whatever the environment says.
    command.env("T4A_SOCKET", server.dir().join("elsewhere.sock"));
    let mut daemon = Foreground::start(&server, command);
    let hello = daemon.hello();
    assert_eq!(hello["socket"], server.socket().display().to_string());
    assert_eq!(hello["keeper_pid"], daemon.daemon.id());
    let id = server.script("printf '\\a'; read line");
    let pid = server.connect().info(&id)["pid"].as_i64().unwrap();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8(environment).unwrap();
    assert!(environment.contains(&format!("T4A_SOCKET={}", server.socket().display())));
    assert!(!environment.contains("LISTEN_"), "{environment}");
    let open = open_files(pid);
    assert!(open.iter().all(|target| target.starts_with("/dev/pts")), "{open:?}");
    server.json(&["shutdown"]);
    assert_eq!(daemon.daemon.wait().unwrap().code(), Some(0));
    assert!(server.socket().exists(), "it is systemd's to take away");
}
