//! Others on the same machine, and programs that mean harm: what they must not get at. What they
//! print, send or ask for without end is in `bad_input.rs`, `limits.rs` and the tests of the grid.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use rustix::process::{getuid, kill_process};
use serde_json::json;

use crate::attach::Person;
use crate::support::{Client, Server, eventually};

/// Somebody else: the user `nobody`.
const OTHER: &str = "65534";

/// A command of somebody else. Only the superuser can be two users at a time.
fn as_other(program: &Path) -> Option<Command> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups"]).arg(program);
    getuid().is_root().then_some(command)
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Connects, asks, and prints the answer.
const ASK: &str = r#"
use IO::Socket::UNIX;
$SIG{PIPE} = 'IGNORE';
my $server = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "cannot connect: $!";
print $server "{\"cmd\":\"hello\"}\n";
$server->flush;
print <$server> // "";
"#;

#[test]
fn whoever_gets_at_the_socket_is_served_only_as_its_user() {
    let server = Server::start();
    set_mode(server.dir(), 0o711);
    set_mode(&server.socket(), 0o666);
    let ask = |mut command: Command| {
        let asked = command.args(["-e", ASK]).arg(server.socket()).output().unwrap();
        (asked.status.code(), String::from_utf8(asked.stdout).unwrap())
    };
    let mut own = server.connect();
    assert_eq!(own.ok(json!({"cmd": "hello"}))["ok"], true);
    let Some(other) = as_other(Path::new("perl")) else { return };
    assert_eq!(ask(other), (Some(0), String::new()), "connected, and got no answer");
    assert_eq!(own.ok(json!({"cmd": "hello"}))["ok"], true);
}

/// A server that writes down what it is told.
const COLLECT: &str = r#"
use IO::Socket::UNIX;
my $server = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die "cannot listen: $!";
chmod 0666, $ARGV[0];
open my $heard, '>', $ARGV[1] or die;
while (my $client = $server->accept) {
    my $line = <$client>;
    print $heard $line // "";
    $heard->flush;
    close $client;
}
"#;

#[test]
fn nothing_is_told_to_the_server_of_somebody_else() {
    let server = Server::not_started();
    let Some(mut other) = as_other(Path::new("perl")) else { return };
    set_mode(server.dir(), 0o777);
    let heard = server.dir().join("heard");
    let mut fake = other.args(["-e", COLLECT]).arg(server.socket()).arg(&heard).spawn().unwrap();
    eventually("it listens", || heard.exists());
    let output = server.cli(&["send", "t1", "a secret"]);
    fake.kill().unwrap();
    fake.wait().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("belongs to user 65534"), "{said}");
    assert_eq!(std::fs::read_to_string(heard).unwrap(), "");
}

/// The program where everybody can run it.
fn copied(server: &Server) -> PathBuf {
    let copy = server.dir().join("t4a");
    std::fs::copy(env!("CARGO_BIN_EXE_t4a"), &copy).unwrap();
    set_mode(&copy, 0o755);
    copy
}

#[test]
fn the_memory_of_the_server_is_in_no_dump_and_read_by_no_program() {
    let server = Server::not_started();
    let copy = copied(&server);
    let Some(mut other) = as_other(&copy) else { return };
    set_mode(server.dir(), 0o777);
    set_mode(&server.home(), 0o777);
    let (socket, home) = (server.dir().join("other/t4a.sock"), server.home());
    std::fs::create_dir(server.dir().join("run")).unwrap();
    set_mode(&server.dir().join("run"), 0o777);
    other.env("T4A_SOCKET", &socket).env("HOME", &home).current_dir(&home);
    other.env("XDG_RUNTIME_DIR", server.dir().join("run")).arg("hello");
    let output = other.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let hello: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = ["keeper_pid", "worker_pid"].map(|process| {
        let dir = PathBuf::from(format!("/proc/{}", hello[process]));
        let limits = std::fs::read_to_string(dir.join("limits")).unwrap();
        (limits, std::fs::metadata(dir.join("mem")).unwrap().uid())
    });
    let keeper = rustix::process::Pid::from_raw(hello["keeper_pid"].as_i64().unwrap() as i32);
    kill_process(keeper.unwrap(), rustix::process::Signal::TERM).unwrap();
    eventually("it has ended", || !socket.exists());
    for (limits, owner) in found {
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
        assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
        // What may be traced by its own user belongs to that user here.
        assert_eq!(owner, 0);
    }
}

#[test]
fn a_tty_is_for_its_user_alone() {
    let server = Server::start();
    let id = server.script("printf '\\a'; read line");
    let pid = server.connect().info(&id)["pid"].as_i64().unwrap();
    let tty = std::fs::metadata(format!("/proc/{pid}/fd/0")).unwrap();
    assert_eq!(tty.uid(), getuid().as_raw());
    assert!([0o600, 0o620].contains(&(tty.mode() & 0o777)), "{:o}", tty.mode());
}

/// What programs may try to have another terminal do, and nothing else on their screen.
const HOSTILE: &str = "\\033]52;c;c2x5\\033\\\\\\033]2;sly\\007\\033]0;sly\\033\\\\\\033Psly\\033\\\\\\033_Gsly\\033\\\\\
    \\033^sly\\033\\\\\\033Xsly\\033\\\\\\033]1337;sly\\007\\033]9;sly\\007\\033]777;notify;sly;sly\\007\
    \\302\\2352;sly\\302\\234\\302\\22031m\\033[21t\\033]50;?\\007\\033]10;?\\007\\033P$qm\\033\\\\\
    \\033]8;;javascript:sly\\033\\\\link\\033]8;;\\033\\\\ \\033]8;;https://example.org\\033\\\\good\\033]8;;\\033\\\\";

#[test]
fn the_terminal_of_who_looks_on_gets_text_and_nothing_of_what_programs_send() {
    let inner = crate::attach::server();
    let id = inner.script(&format!("printf 'begin\\a'; read x; printf '{HOSTILE} end'; read y"));
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("begin");
    let mut output: Client = person.desk.connect();
    output.send(&json!({"cmd": "events", "terminal": person.id, "types": ["output"]}));
    // What was asked for is answered in order.
    output.ok(json!({"cmd": "hello"}));
    inner.connect().type_in(&id, "\n");
    person.sees("link good end");
    let mut drawn = Vec::new();
    while !String::from_utf8_lossy(&drawn).contains("end") {
        let event = output.event("output");
        drawn.extend(BASE64.decode(event["data_base64"].as_str().unwrap()).unwrap());
    }
    let drawn = String::from_utf8(drawn).unwrap();
    let strings: Vec<&str> = drawn.split("\x1b]").skip(1).collect();
    assert!(strings.iter().all(|string| string.starts_with("8;;")), "{drawn:?}");
    assert!(drawn.contains("\x1b]8;;https://example.org"), "{drawn:?}");
    assert!(!drawn.contains("javascript"), "{drawn:?}");
    for start in ["\x1bP", "\x1b_", "\x1b^", "\x1bX"] {
        assert!(!drawn.contains(start), "{start:?} in {drawn:?}");
    }
    assert!(!drawn.chars().any(|c| ('\u{80}'..='\u{9f}').contains(&c)), "{drawn:?}");
}
