//! Kills at random, under full output, with clients that look on: nothing is lost.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::storm::{Storm, ask};
use crate::support::{Server, alive, eventually};
use crate::survival::{ask_at, ask_once, children};

/// Of each kind; more with T4A_STRESS_KILLS.
const KILLS: u64 = 100;
/// Kills between looks at what was written.
const LOOK_EVERY: u64 = 8;

pub fn kills() -> u64 {
    std::env::var("T4A_STRESS_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS)
}

pub fn kill(pid: &Value) {
    let pid = Pid::from_raw(pid.as_i64().unwrap() as i32).unwrap();
    // It may be gone already.
    let _ = kill_process(pid, Signal::KILL);
}

/// Kills a process of the server again and again, named by a field of `hello`.
fn kill_again_and_again(victim: &str) {
    let mut storm = Storm::over(Server::start());
    let mut last = Value::Null;
    for number in 1..=kills() {
        let hello = storm.hello();
        assert_ne!(hello[victim], last, "the one that was killed");
        storm.pause(Duration::from_millis(30));
        kill(&hello[victim]);
        last = hello[victim].clone();
        eventually("another one is there", || {
            ask_once(&storm.server, &json!({"cmd": "hello"}))
                .is_ok_and(|hello| hello["ok"] == true && hello[victim] != last)
        });
        if number % LOOK_EVERY == 0 {
            storm.look();
        }
    }
    let dead_workers = if victim == "worker_pid" { kills() } else { 0 };
    assert_eq!(storm.end(), dead_workers);
}

#[test]
fn nothing_is_lost_when_workers_are_killed() {
    kill_again_and_again("worker_pid");
}

#[test]
fn nothing_is_lost_when_keepers_are_killed() {
    kill_again_and_again("keeper_pid");
}

/// The worker of a keeper, as soon as there is one, whether it serves or not; not an earlier one.
fn next_worker(keeper: i64, old: i64) -> i64 {
    let mut found = 0;
    eventually("another worker is started", || {
        found = children(keeper as i32).into_iter().find(|pid| is_worker(*pid)).unwrap_or(old);
        found != old
    });
    found
}

fn is_worker(pid: i64) -> bool {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    command.split(|byte| *byte == 0).nth(1) == Some(b"__worker")
}

/// Each worker is killed within moments of its start, most of them while they take over.
#[test]
fn nothing_is_lost_when_workers_are_killed_as_they_take_over() {
    let mut storm = Storm::over(Server::start());
    let hello = storm.hello();
    let keeper = hello["keeper_pid"].as_i64().unwrap();
    let mut worker = hello["worker_pid"].as_i64().unwrap();
    for number in 1..=kills() / 2 {
        kill(&json!(worker));
        worker = next_worker(keeper, worker);
        if number % LOOK_EVERY == 0 {
            storm.look();
        } else {
            storm.pause(Duration::from_millis(12));
        }
    }
    assert_eq!(storm.hello()["keeper_pid"], keeper);
    let restarts = storm.end();
    assert!(restarts >= kills() / 2 / LOOK_EVERY, "{restarts}");
}

#[test]
fn nothing_is_lost_when_both_are_killed_in_turn() {
    let mut storm = Storm::over(Server::start());
    let rounds = kills() / 4;
    for number in 1..=rounds {
        let victim = if number % 2 == 0 { "worker_pid" } else { "keeper_pid" };
        let before = storm.hello();
        kill(&before[victim]);
        eventually("another one is there", || {
            ask_once(&storm.server, &json!({"cmd": "hello"}))
                .is_ok_and(|hello| hello["ok"] == true && hello[victim] != before[victim])
        });
        if number % LOOK_EVERY == 0 {
            storm.look();
        }
    }
    assert_eq!(storm.end(), rounds / 2);
}

/// A worker that stands still for a while: clients wait, programs are held back.
#[test]
fn nothing_is_lost_when_the_worker_stands_still() {
    let mut storm = Storm::over(Server::start());
    let worker = storm.hello()["worker_pid"].clone();
    let pid = Pid::from_raw(worker.as_i64().unwrap() as i32).unwrap();
    for number in 1..=kills() / 10 {
        storm.pause(Duration::from_millis(30));
        kill_process(pid, Signal::STOP).unwrap();
        let mut waiting = storm.server.connect();
        waiting.send(&json!({"cmd": "hello"}));
        storm.pause(Duration::from_millis(100));
        kill_process(pid, Signal::CONT).unwrap();
        assert_eq!(waiting.next()["worker_pid"], worker);
        if number % LOOK_EVERY == 0 {
            storm.look();
        }
    }
    assert_eq!(storm.end(), 0);
}

/// Programs with this word on their command line.
fn programs_with(word: &str) -> BTreeSet<i64> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i64| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        alive(*pid) && command.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    })
    .collect()
}

/// Asks for terminals one after another; those that were made, by id. Some cannot be made, which is
/// found out only by trying.
fn create_some(server: &Server, word: &str, prefix: &str) -> JoinHandle<BTreeSet<String>> {
    let (socket, word, prefix) = (server.socket(), word.to_owned(), prefix.to_owned());
    let broken = server.home().join("broken");
    std::thread::spawn(move || {
        let made = |number: u64| {
            let argv = match number % 3 {
                1 => json!([broken]),
                _ => json!(["sh", "-c", "read x", word]),
            };
            let name = format!("{prefix}{number}");
            let request = json!({"cmd": "create", "cmd_args": argv, "name": name});
            let answer = ask_at(&socket, &request).ok()?;
            let why = &answer["code"];
            assert!(answer["ok"] == true || why == "spawn_failed" || why == "system", "{answer}");
            answer["id"].as_str().map(str::to_owned)
        };
        (0..10).filter_map(made).collect()
    })
}

/// Each terminal that somebody was told of is there; each that is there runs its program and was
/// told once; and no program runs without one.
fn check_whole(server: &Server, word: &str, told: &BTreeSet<String>) {
    let mut ids = Vec::new();
    // A new worker has to find out about those that were being made.
    eventually("no program is left alone", || {
        let list = ask(server, &json!({"cmd": "list"}))["terminals"].as_array().unwrap().clone();
        assert!(list.iter().all(|one| one["alive"] == true), "{list:?}");
        let pids: BTreeSet<_> = list.iter().map(|one| one["pid"].as_i64().unwrap()).collect();
        ids = list.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        programs_with(word) == pids
    });
    assert!(told.iter().all(|id| ids.contains(id)), "{told:?} {ids:?}");
    let last = ask(server, &json!({"cmd": "hello"}))["seq"].as_u64().unwrap();
    let mut events = server.connect();
    events.send(&json!({"cmd": "events", "since": 0}));
    let events = (0..last).map(|_| events.next()).filter(|event| event["event"] == "created");
    let created: Vec<_> = events.map(|event| event["terminal"].clone()).collect();
    for id in ids {
        let times = created.iter().filter(|created| **created == id).count();
        assert_eq!(times, 1, "{id} was told {times} times");
    }
}

/// The keeper's descriptors, where one may look.
fn held(server: &Server) -> Option<usize> {
    let keeper = ask(server, &json!({"cmd": "hello"}))["keeper_pid"].clone();
    std::fs::read_dir(format!("/proc/{keeper}/fd")).ok().map(Iterator::count)
}

/// A terminal is there whole or not at all, whoever dies while it is made.
fn kill_among_creates(victim: &str) {
    let server = Server::start();
    let broken = server.home().join("broken");
    std::fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&broken, PermissionsExt::from_mode(0o755)).unwrap();
    let word = format!("{}-{victim}", server.dir().display());
    let mut random = 1_u64;
    for round in 0..kills() / 8 {
        let before = ask(&server, &json!({"cmd": "hello"}));
        let empty = held(&server);
        let creates: Vec<_> = ["a", "b", "c"]
            .map(|client| create_some(&server, &word, &format!("{client}{round}-")))
            .into();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros((random >> 33) % 20_000));
        kill(&before[victim]);
        let told = creates.into_iter().flat_map(|create| create.join().unwrap()).collect();
        eventually("another one is there", || {
            ask_once(&server, &json!({"cmd": "hello"}))
                .is_ok_and(|hello| hello[victim] != before[victim])
        });
        check_whole(&server, &word, &told);
        let mut client = server.connect();
        for one in client.ok(json!({"cmd": "list"}))["terminals"].as_array().unwrap() {
            client.ok(json!({"cmd": "kill", "id": one["id"]}));
        }
        eventually("all programs are gone", || programs_with(&word).is_empty());
        if victim == "worker_pid" {
            eventually("the keeper has let go", || held(&server) == empty);
        }
    }
}

#[test]
fn a_terminal_is_made_whole_or_not_at_all_when_workers_are_killed() {
    kill_among_creates("worker_pid");
}

#[test]
fn a_terminal_is_made_whole_or_not_at_all_when_keepers_are_killed() {
    kill_among_creates("keeper_pid");
}

/// What was read and not yet written is missing after a kill; nothing is there twice, or torn, and it
/// goes on.
#[test]
fn recordings_go_on_when_workers_are_killed() {
    let server = Server::start();
    let path = server.home().join("it.cast");
    let script = "i=0; while [ ! -e stop ]; do i=$((i+1)); printf 'line %d %d.\\n' $i $i; \
        [ $((i % 50)) = 0 ] && sleep 0.01; done; echo \"end $i.\"; printf '\\a'; exec cat";
    let created = ask(
        &server,
        &json!({"cmd": "create", "cmd_args": ["sh", "-c", script], "cwd": server.home(),
            "record": {"path": path}}),
    );
    let rounds = kills() / 10;
    for round in 0..rounds {
        std::thread::sleep(Duration::from_millis(round * 7 % 40));
        crate::survival::kill_worker(&server);
    }
    std::fs::write(server.home().join("stop"), "").unwrap();
    server.events(created["id"].as_str().unwrap(), 0).event("bell");
    let mut client = server.connect();
    let recording = client.ok(json!({"cmd": "recordings"}))["recordings"][0]["recording"].clone();
    client.ok(json!({"cmd": "record_stop", "recording": recording}));
    let cast = std::fs::read_to_string(path).unwrap();
    let (mut output, mut restarts, mut last) = (String::new(), 0, 0.0);
    for line in cast.lines().skip(1) {
        let [time, kind, data]: [Value; 3] = serde_json::from_str(line).unwrap();
        assert!(time.as_f64().unwrap() >= last, "{line}");
        last = time.as_f64().unwrap();
        match kind.as_str().unwrap() {
            "o" => output += data.as_str().unwrap(),
            "m" => restarts += u64::from(data == "restarted"),
            _ => {}
        }
    }
    // A worker may be killed before it has written anything.
    assert!((1..=rounds).contains(&restarts), "{restarts}");
    // A line that was put together of two by a gap has two different numbers.
    let number = |line: &str| {
        let (one, two) = line.strip_prefix("line ")?.strip_suffix('.')?.split_once(' ')?;
        Some(one).filter(|one| *one == two)?.parse::<u64>().ok()
    };
    let numbers: Vec<u64> = output.lines().filter_map(number).collect();
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
    let gaps = numbers.windows(2).filter(|two| two[0] + 1 != two[1]).count() as u64;
    assert!(gaps <= rounds, "{gaps} gaps");
    assert!(output.contains(&format!("end {}.", numbers.last().unwrap())), "it went on to the end");
}
