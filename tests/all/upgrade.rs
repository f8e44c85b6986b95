//! `t4a upgrade`: another program's worker takes over, and nothing is lost; one that does not fit
//! changes nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::attach::{self, Person};
use crate::storm::Storm;
use crate::support::{Server, alive, eventually, on_a_terminal};
use crate::survival::{ask_once, kill_keeper, kill_worker};

/// In each test; a tenth of T4A_STRESS_KILLS, if that is set.
const UPGRADES: u64 = 10;

const T4A: &str = env!("CARGO_BIN_EXE_t4a");

fn upgrades() -> u64 {
    crate::kills::kills() * UPGRADES / 100
}

/// A place for programs on the file system of the build, so that they can be links.
pub fn shelf() -> TempDir {
    tempfile::Builder::new().prefix("upgrade").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The same program in a file of its own.
fn install(shelf: &TempDir, name: &str) -> PathBuf {
    let path = shelf.path().join(name);
    std::fs::hard_link(T4A, &path).unwrap();
    path
}

/// A program of one's own making. Written by another process, so that no child of this one holds it
/// open for writing.
fn script(shelf: &TempDir, name: &str, body: &str) -> PathBuf {
    let path = shelf.path().join(name);
    let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let made = Command::new("sh").args(["-c", write]).arg(&path).arg(body).status();
    assert!(made.unwrap().success());
    path
}

/// A program that tells the right formats and does something else as a worker.
pub fn worker_script(shelf: &TempDir, name: &str, worker: &str) -> PathBuf {
    let body = format!("#!/bin/sh\n[ \"$1\" = __formats ] && exec {T4A} \"$@\"\n{worker}\n");
    script(shelf, name, &body)
}

pub fn hello(server: &Server) -> Value {
    server.connect().ok(json!({"cmd": "hello"}))
}

/// Has a program take over; the new worker's greeting.
pub fn upgrade(server: &Server, program: &Path) -> Value {
    let mut client = server.connect();
    let old = client.ok(json!({"cmd": "hello"}));
    let answer = client.ok(json!({"cmd": "upgrade", "program": program}));
    assert_eq!(answer["version"], old["version"]);
    assert_eq!(client.try_next(), None, "the connection ends");
    let new = hello(server);
    assert_eq!(new.get("upgrade_error"), None);
    assert_ne!(new["worker_pid"], old["worker_pid"]);
    assert_eq!(new["keeper_pid"], old["keeper_pid"]);
    new
}

#[test]
fn nothing_is_lost_by_upgrades() {
    let shelf = shelf();
    let programs = [install(&shelf, "one"), install(&shelf, "two")];
    let mut storm = Storm::over(Server::start());
    for number in 0..upgrades() {
        let program = &programs[(number % 2) as usize];
        storm.pause(Duration::from_millis(50));
        let new = upgrade(&storm.server, program);
        assert_eq!(new["program"], json!(program));
        storm.look();
    }
    assert_eq!(storm.end(), upgrades());
}

/// Files come and go as they do under a package manager; each worker is started from what was
/// installed last.
#[test]
fn the_files_of_old_and_new_may_be_gone() {
    let shelf = shelf();
    let [first, second, third] = ["first", "second", "third"].map(|name| install(&shelf, name));
    let server = Server::not_started();
    let started = server.command_of(&first).arg("hello").status().unwrap();
    assert!(started.success());
    let id = server.shell("bash");
    server.run(&id, "marker=kept");
    std::fs::remove_file(&first).unwrap();
    kill_worker(&server);
    let gone = |path: &Path| json!(format!("{} (deleted)", path.display()));
    assert_eq!(hello(&server)["program"], gone(&first));
    assert_eq!(upgrade(&server, &second)["program"], json!(second));
    kill_worker(&server);
    assert_eq!(hello(&server)["program"], json!(second));
    std::fs::remove_file(&second).unwrap();
    kill_worker(&server);
    assert_eq!(hello(&server)["program"], gone(&second));
    // A keeper that is started now is of the program that is there.
    kill_keeper(&server);
    kill_worker(&server);
    assert_eq!(hello(&server)["program"], gone(&second));
    assert_eq!(upgrade(&server, &third)["program"], json!(third));
    let mut client = server.connect();
    assert_eq!(client.run(&id, "echo $marker")["lines"], json!(["kept"]));
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    // What workers are started from is nobody else's business.
    let open = crate::support::open_files(created["pid"].as_i64().unwrap());
    assert!(open.iter().all(|file| file.starts_with("/dev")), "{open:?}");
}

#[test]
fn an_attached_person_sees_on() {
    let shelf = shelf();
    let server = attach::server();
    let id = server.shell("bash");
    let person = Person::sits_down(&server, &["attach", &id]);
    person.types("echo before\n");
    person.sees_screen(|rows| rows.iter().any(|row| row.ends_with("before") && row.len() < 10));
    for name in ["one", "two"] {
        upgrade(&server, &install(&shelf, name));
        let view = || server.connect().info(&id)["attached"][0].clone();
        eventually("it looks again", || view()["name"] == "ann");
        person.types(&format!("echo after $((40+2)) {name}\n"));
        person.sees(&format!("after 42 {name}"));
    }
    person.prefix("d");
    person.has_left("detached");
}

#[test]
fn waits_end_and_can_be_asked_again() {
    let shelf = shelf();
    let server = Server::start();
    let id = server.script("printf '\\a'; read x; printf '\\a'; exec cat");
    let after = hello(&server)["seq"].as_u64().unwrap();
    let wait = json!({"cmd": "wait", "id": id, "after": after, "any": [{"event": "bell"}]});
    let mut waiting = server.connect();
    waiting.send(&wait);
    upgrade(&server, &install(&shelf, "new"));
    assert_eq!(waiting.try_next(), None);
    server.connect().type_in(&id, "\n");
    assert_eq!(server.connect().ok(wait)["condition"], "event");
}

/// A program that does not read has more typed for it than the kernel takes.
#[test]
fn what_was_typed_and_not_read_is_typed_by_the_new_worker() {
    let shelf = shelf();
    let server = Server::start();
    let script = "stty raw -echo; printf '\\a'; while [ ! -e go ]; do sleep 0.02; done; \
        head -c 100000 | md5sum; exec sleep 1000";
    let id = server.script_with(script, json!({"cwd": server.home()}));
    let typed: String = (0..12_500).map(|number| format!("{number:08}")).collect();
    let mut client = server.connect();
    client.type_in(&id, &typed);
    let queued = |server: &Server| server.connect().info(&id)["queued_input_bytes"].as_u64();
    let before = queued(&server);
    assert!(before > Some(50_000), "{before:?}");
    upgrade(&server, &install(&shelf, "one"));
    // The kernel may have taken some more of it.
    let after = queued(&server);
    assert!(after > Some(50_000) && after <= before, "{before:?}, {after:?}");
    // Once: a worker that dies leaves nothing to be typed again.
    upgrade(&server, &install(&shelf, "two"));
    std::fs::write(server.home().join("go"), "").unwrap();
    let sum = Command::new("sh").args(["-c", "printf %s \"$0\" | md5sum", &typed]).output();
    let sum = String::from_utf8(sum.unwrap().stdout).unwrap();
    server.wait_for_text(&id, sum.split(' ').next().unwrap());
    kill_worker(&server);
    assert_eq!(queued(&server), Some(0));
}

#[test]
fn recordings_miss_nothing() {
    let shelf = shelf();
    let server = Server::start();
    let path = server.home().join("it.cast");
    let script = "i=0; while [ ! -e stop ]; do i=$((i+1)); echo \"line $i.\"; \
        [ $((i % 50)) = 0 ] && sleep 0.01; done; printf '\\a'; exec cat";
    let mut client = server.connect();
    let created = client.ok(json!({"cmd": "create", "cmd_args": ["sh", "-c", script],
        "cwd": server.home(), "record": {"path": path}}));
    for name in ["one", "two", "three"] {
        upgrade(&server, &install(&shelf, name));
    }
    let id = created["id"].as_str().unwrap();
    // The program may be slower than all that.
    let written = || server.connect().info(id)["lines"][1].as_u64() > Some(150);
    eventually("enough is written", written);
    std::fs::write(server.home().join("stop"), "").unwrap();
    server.events(id, 0).event("bell");
    let mut client = server.connect();
    let last = client.screen(id).into_iter().rfind(|line| !line.is_empty()).unwrap();
    let recording = client.ok(json!({"cmd": "recordings"}))["recordings"][0]["recording"].clone();
    client.ok(json!({"cmd": "record_stop", "recording": recording}));
    let cast = std::fs::read_to_string(path).unwrap();
    let output = cast.lines().skip(1).filter_map(|line| {
        let [_, kind, data]: [Value; 3] = serde_json::from_str(line).unwrap();
        (kind == "o").then(|| data.as_str().unwrap().to_owned())
    });
    let output: String = output.collect();
    let lines: Vec<_> = output.lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(last, format!("line {}.", lines.len()));
    for (number, line) in lines.iter().enumerate() {
        assert_eq!(*line, format!("line {}.", number + 1));
    }
}

/// The formats of this program, with one changed.
fn formats(name: &str, range: [u32; 2]) -> String {
    let output = Command::new(T4A).arg("__formats").output().unwrap();
    let mut formats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(formats["formats"][name].is_array());
    formats["version"] = json!("99.0.0");
    formats["formats"][name] = json!(range);
    formats.to_string()
}

/// A program that is not taken, the code of the refusal, and words of its sentence.
fn unfit(shelf: &TempDir) -> Vec<(PathBuf, &'static str, Vec<&'static str>)> {
    let plain = shelf.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o644)).unwrap();
    // An executable of a machine that nobody has.
    let foreign = "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\377\\177' > \"$0\"; \
        head -c 200 /dev/zero >> \"$0\"; chmod 755 \"$0\"";
    let foreign_path = shelf.path().join("foreign");
    assert!(
        Command::new("sh").args(["-c", foreign]).arg(&foreign_path).status().unwrap().success()
    );
    let said = |text: &str| format!("#!/bin/sh\ncat <<'END'\n{text}\nEND\n");
    let script = |name: &str, body: &str| script(shelf, name, body);
    let worker = |name: &str, body: &str| worker_script(shelf, name, body);
    vec![
        (shelf.path().join("missing"), "spawn_failed", vec!["missing does not exist"]),
        (shelf.path().to_owned(), "spawn_failed", vec!["is a directory"]),
        (plain, "spawn_failed", vec!["is not executable"]),
        (foreign_path, "spawn_failed", vec!["cannot be run", "format"]),
        (script("silent", "#!/bin/sh\nexit 1\n"), "incompatible", vec!["not t4a"]),
        (script("garbage", &said("version one")), "incompatible", vec!["not t4a"]),
        (script("flood", "#!/bin/sh\nexec yes\n"), "spawn_failed", vec!["more than 4096 bytes"]),
        (
            script("newer", &said(&formats("screens", [999, 1000]))),
            "incompatible",
            vec!["99.0.0", "screens of versions 999 to 1000, not", "t4a shutdown"],
        ),
        (
            script("other", &said(&formats("keeper", [1, 1]))),
            "incompatible",
            vec!["keeper of version 1, not"],
        ),
        (worker("crash", "kill -SEGV $$"), "spawn_failed", vec!["ended by signal 11", "goes on"]),
        (worker("wrong", "exit 3"), "spawn_failed", vec!["ended with code 3", "goes on"]),
    ]
}

#[test]
fn what_does_not_fit_is_refused_and_all_goes_on() {
    let shelf = shelf();
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let before = hello(&server);
    for (program, code, words) in unfit(&shelf) {
        let error = client.refused(json!({"cmd": "upgrade", "program": program}), code);
        for word in words {
            assert!(error.contains(word), "{}: {error}", program.display());
        }
        // On the same connection: nobody was disturbed.
        assert_eq!(client.run(&id, "echo here")["lines"], json!(["here"]));
    }
    let error = client.refused(json!({"cmd": "upgrade", "program": "relative"}), "bad_value");
    assert!(error.contains("absolute"), "{error}");
    let after = hello(&server);
    for same in ["worker_pid", "keeper_pid", "program"] {
        assert_eq!(after[same], before[same]);
    }
    upgrade(&server, &install(&shelf, "good"));
}

/// One that hangs is waited for a while, during which all goes on; of two at once one is refused.
#[test]
fn a_program_that_hangs_is_given_up() {
    let shelf = shelf();
    let server = Server::start();
    let id = server.shell("bash");
    let before = hello(&server);
    let pid = shelf.path().join("pid");
    let hang = format!("echo $$ > {}; exec sleep 1000", pid.display());
    let programs = [
        script(&shelf, "tells", &format!("#!/bin/sh\n{hang}\n")),
        worker_script(&shelf, "starts", &hang),
    ];
    for program in programs {
        let _ = std::fs::remove_file(&pid);
        let mut waiting = server.connect();
        waiting.send(&json!({"cmd": "upgrade", "program": program}));
        eventually("it hangs", || std::fs::read_to_string(&pid).is_ok_and(|pid| pid.len() > 1));
        let mut client = server.connect();
        assert_eq!(client.run(&id, "echo here")["lines"], json!(["here"]));
        client.refused(json!({"cmd": "upgrade", "program": T4A}), "busy");
        let answer = waiting.next();
        assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("spawn_failed")));
        let hanging = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        eventually("it is gone", || !alive(hanging));
    }
    assert_eq!(hello(&server)["worker_pid"], before["worker_pid"]);
}

/// A keeper that dies meanwhile takes the new worker along, not the old one.
#[test]
fn the_keeper_may_die_meanwhile() {
    let shelf = shelf();
    let server = Server::start();
    let id = server.shell("bash");
    let pid = shelf.path().join("pid");
    let hang = format!("echo $$ > {}; exec sleep 1000", pid.display());
    let mut waiting = server.connect();
    waiting.send(&json!({"cmd": "upgrade", "program": worker_script(&shelf, "hangs", &hang)}));
    eventually("it hangs", || std::fs::read_to_string(&pid).is_ok_and(|pid| pid.len() > 1));
    kill_keeper(&server);
    let answer = waiting.next();
    assert_eq!(answer["code"], "system", "{answer}");
    upgrade(&server, &install(&shelf, "good"));
    assert_eq!(server.connect().run(&id, "echo here")["lines"], json!(["here"]));
    let hanging = std::fs::read_to_string(&pid).unwrap().trim().parse::<i32>().unwrap();
    let _ = rustix::process::kill_process(
        rustix::process::Pid::from_raw(hanging).unwrap(),
        rustix::process::Signal::KILL,
    );
}

/// What a worker says first, in a shell's words: version 3, `r`.
const SAYS_READY: &str = "printf '\\3\\0\\0\\0r\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&0";
/// It is handed over to, and so the old one is gone: one that ends before is just not started.
const HEARS: &str = "dd bs=4096 count=1 of=/dev/null 2>/dev/null";

#[test]
fn a_worker_that_fails_after_the_old_one_is_gone_is_replaced_by_the_old_program() {
    let shelf = shelf();
    let server = Server::start();
    let id = server.shell("bash");
    server.run(&id, "marker=kept");
    let before = hello(&server);
    let cases = [
        ("fails", "exit 3", "ended with code 3"),
        ("hangs", "exec sleep 1000", "did not take over in time"),
    ];
    for (name, rest, words) in cases {
        let program = worker_script(&shelf, name, &format!("{SAYS_READY}; {HEARS}; {rest}"));
        let output = server.cli(&["upgrade", "--from", program.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("spawn_failed")));
        assert!(answer["error"].as_str().unwrap().contains(words), "{answer}");
        let after = hello(&server);
        assert_ne!(after["worker_pid"], before["worker_pid"]);
        assert_eq!(after["program"], before["program"]);
        assert_eq!(server.connect().run(&id, "echo $marker")["lines"], json!(["kept"]));
    }
    let doctor = server.cli(&["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("last upgrade failed"));
    // Later workers know it too, until it goes well.
    kill_worker(&server);
    assert!(hello(&server)["upgrade_error"].is_string());
    upgrade(&server, &install(&shelf, "good"));
}

#[test]
fn the_command_line_tells_what_came_of_it() {
    let shelf = shelf();
    let server = Server::not_started();
    assert_eq!(server.json(&["upgrade"]), json!({"ok": true, "running": false}));
    assert!(on_a_terminal(&server, "t4a upgrade").starts_with("no server runs"));
    server.cli(&["hello"]);
    let before = hello(&server);
    let report = server.json(&["upgrade"]);
    assert_eq!(report["old"]["worker_pid"], before["worker_pid"]);
    assert_eq!(report["new"]["program"], before["program"]);
    assert_eq!(report["keeper_pid"], before["keeper_pid"]);
    let program = install(&shelf, "new");
    let line = format!("t4a upgrade --from {}", program.display());
    let told = on_a_terminal(&server, &line);
    let now = hello(&server);
    let version = env!("CARGO_PKG_VERSION");
    assert!(told.contains(&format!("→ {version} (worker {}, ", now["worker_pid"])), "{told}");
    assert_eq!(now["program"], json!(program));
    assert!(on_a_terminal(&server, "t4a doctor").ends_with("all is well\n"));
    let missing = server.cli(&["upgrade", "--from", "missing"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("missing does not exist"));
}

/// A kill of whoever serves, at any moment of an upgrade. (Not of the keeper: when the old worker
/// has gone and the new one has not been handed over to, nobody else holds the terminals.)
#[test]
fn nothing_is_lost_when_workers_are_killed_during_upgrades() {
    let shelf = shelf();
    let programs = [install(&shelf, "one"), install(&shelf, "two")];
    let mut storm = Storm::over(Server::start());
    for number in 0..2 * upgrades() {
        let before = storm.hello();
        let socket = storm.server.socket();
        let request = json!({"cmd": "upgrade", "program": programs[(number % 2) as usize]});
        let asking = std::thread::spawn(move || crate::survival::ask_at(&socket, &request));
        storm.pause(Duration::from_millis(60));
        if let Ok(now) = ask_once(&storm.server, &json!({"cmd": "hello"})) {
            crate::kills::kill(&now["worker_pid"]);
        }
        let _ = asking.join().unwrap();
        eventually("another one is there", || {
            ask_once(&storm.server, &json!({"cmd": "hello"}))
                .is_ok_and(|hello| hello["worker_pid"] != before["worker_pid"])
        });
        storm.look();
    }
    storm.end();
}
