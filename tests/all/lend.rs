//! The person's terminal lent to the worker: when it cannot be, and when either of them fails.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use t4a::os::{channel, pty};
use t4a::term::Size;

use crate::attach::{Person, kill, server};
use crate::support::{Client, Server, eventually, open_files};

/// Whether the worker has a terminal open that belongs to none of its own programs.
fn has_lent(server: &Server) -> bool {
    let files = open_files(server.worker_pid().into());
    files.iter().any(|path| path.starts_with("/dev/pts") && !path.ends_with("ptmx"))
}

fn attached(server: &Server, id: &str) -> Value {
    server.connect().info(id)["attached"].clone()
}

#[test]
fn a_terminal_is_lent_and_given_back() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    assert!(has_lent(&inner));
    person.prefix("d");
    person.has_left("[detached]");
    eventually("it is let go", || !has_lent(&inner));
    assert_eq!(attached(&inner, &id), json!([]));
}

/// Passes bytes on and nothing else, as a socket that is forwarded from another machine does.
fn relay(to: PathBuf) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::Builder::new().prefix("t4a").tempdir().unwrap();
    let path = dir.path().join("t4a.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = UnixStream::connect(&to) else { return };
            pass_on(near.try_clone().unwrap(), far.try_clone().unwrap());
            pass_on(far, near);
        }
    });
    (dir, path)
}

fn pass_on(mut from: UnixStream, mut to: UnixStream) {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}

#[test]
fn where_it_cannot_be_lent_the_client_reads_and_paints_it_itself() {
    let inner = server();
    let id = inner.shell("bash");
    let (_dir, path) = relay(inner.socket());
    let person = Person::by_socket(&inner, &path, &["attach", &id]);
    person.sees("$");
    assert!(!has_lent(&inner));
    person.types("echo $((6 * 7)) here\n");
    person.sees("42 here");
    person.prefix("|");
    person.sees("[t2] [EDIT]");
    person.prefix("d");
    person.has_left("[detached]");
}

#[test]
fn a_descriptor_that_is_no_terminal_or_comes_with_something_else_is_refused() {
    let server = Server::start();
    let file = std::fs::File::open("/dev/null").unwrap();
    let lend = |line: &[u8]| {
        let stream = UnixStream::connect(server.socket()).unwrap();
        channel::send(stream.as_fd(), &line[..1], &[file.as_fd()]).unwrap();
        let mut client = Client::new(stream);
        client.send_raw(&line[1..]);
        let answer = client.next();
        assert_eq!(answer["ok"], false, "{answer}");
        // The connection is as good as any.
        client.ok(json!({"cmd": "list"}));
        answer["error"].as_str().unwrap().to_owned()
    };
    assert!(lend(b"{\"cmd\":\"list\"}\n").contains("no terminal was lent"));
    assert!(lend(b"garbage\n").contains("no terminal was lent"));
    assert!(lend(&lend_line(1)).contains("it is not a terminal"));
    assert!(lend(&lend_line(2)).contains("does not know how"));
    let pid = i64::from(server.worker_pid());
    eventually("nothing is kept", || {
        !open_files(pid).iter().any(|path| path.starts_with("/dev/pts"))
    });
}

fn lend_line(version: u32) -> Vec<u8> {
    let start = json!({"terminal": null, "layout": null, "role": "edit", "name": "ann",
        "workspace": "main", "independent": true, "size": [null, null], "mark": "m", "create": {}});
    let lend = json!({"lend": {"version": version, "start": start, "size": [80, 24],
        "depth": "True", "config": {"name": "", "text": null, "error": null}}});
    format!("{lend}\n").into_bytes()
}

#[test]
fn a_client_that_is_killed_takes_its_seat_along() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    kill(person.client_pid(), Signal::KILL);
    eventually("nobody looks", || attached(&inner, &id) == json!([]));
    eventually("it is let go", || !has_lent(&inner));
}

/// The layout of one who does not share theirs is nowhere but in the worker and with its lender.
#[test]
fn windows_and_splits_are_there_again_after_a_kill() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", "--independent", &id]);
    person.sees("$");
    person.prefix("|");
    person.sees("[t2] [EDIT]");
    person.prefix("c");
    person.sees("*2:");
    person.prefix("1");
    person.sees("*1:");
    kill(inner.worker_pid().into(), Signal::KILL);
    person.sees("what was typed last may not have arrived");
    let screen = person.sees("*1:");
    assert!(screen.iter().any(|row| row.contains("[t1]")), "{screen:#?}");
    assert!(screen.iter().any(|row| row.contains("[t2]")), "{screen:#?}");
    assert!(screen.last().unwrap().contains("[2:"), "{screen:#?}");
    person.types("echo $((6 * 7)) here\n");
    person.sees("42 here");
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_in_a_seat_costs_nobody_anything() {
    let inner = Server::not_started();
    std::fs::write(inner.home().join(".bashrc"), "PS1='$ '\n").unwrap();
    inner.command().arg("hello").env("T4A_TEST_TYPED_PANIC", "fatal").output().unwrap();
    let id = inner.shell("bash");
    let worker = inner.worker_pid();
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    person.types("fatal");
    eventually("it is given back", || !has_lent(&inner));
    person.sees("connected again");
    person.types("echo $((6 * 7)) here\n");
    person.sees("42 here");
    assert_eq!(inner.worker_pid(), worker);
}

/// Someone whose terminal is not read, as one whose window hangs.
struct Hung {
    outer: pty::Pty,
    client: Child,
}

impl Hung {
    /// Looks at a terminal until its program has written more than any terminal takes unread.
    fn sits_before(inner: &Server, id: &str) -> Hung {
        let outer = pty::open(Size { cols: 80, rows: 24 }).unwrap();
        let end = || Stdio::from(outer.slave.try_clone().unwrap());
        let mut command = inner.command();
        command.args(["attach", id]).env("TERM", "xterm-256color");
        let client = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        eventually("somebody looks", || attached(inner, id)[0]["role"] == "edit");
        inner.connect().type_in(id, "\n");
        inner.wait_for_text(id, "the end");
        Hung { outer, client }
    }

    fn kill_client(&mut self) {
        self.client.kill().unwrap();
        self.client.wait().unwrap();
    }
}

const FLOOD: &str = "printf '\\a'; read x; seq 1 300000; echo the end; exec cat";

#[test]
fn a_terminal_that_takes_nothing_is_let_go_with_its_client() {
    let inner = server();
    let id = inner.script(FLOOD);
    let mut hung = Hung::sits_before(&inner, &id);
    assert!(has_lent(&inner));
    hung.kill_client();
    eventually("it is let go", || !has_lent(&inner));
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_nobody_and_shows_the_newest_then() {
    let inner = server();
    let id = inner.script(FLOOD);
    let mut hung = Hung::sits_before(&inner, &id);
    let master = hung.outer.master.try_clone().unwrap();
    let mut seen = Vec::new();
    eventually("the newest is shown", || {
        let mut chunk = vec![0; 1 << 16];
        while let pty::Read::Data(count) = pty::read(master.as_fd(), &mut chunk) {
            seen.extend_from_slice(&chunk[..count]);
        }
        String::from_utf8_lossy(&seen).contains("the end")
    });
    // What is typed at it arrives.
    pty::write(master.as_fd(), b"typed\r").unwrap();
    inner.wait_for_text(&id, "typed");
    hung.kill_client();
}
