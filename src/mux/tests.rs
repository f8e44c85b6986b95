//! The server's state under a clock of our own: something comes in, effects go out.
#![allow(clippy::disallowed_methods)]

mod persist;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::limits::{
    FRAME_PACE, FRAME_QUIET, KILL_GRACE, MAX_DEAD, MAX_INPUT_QUEUE, MAX_TERMINALS, READY_TIMEOUT,
};
use super::*;

mod bounds;

const ME: ClientId = ClientId(1);

/// A server whose time stands still until it is moved.
struct Bench {
    mux: Mux,
    now: Instant,
    effects: Vec<Effect>,
}

fn bench() -> Bench {
    let host = Host {
        socket: "/run/t4a.sock".into(),
        shell: "/bin/bash".into(),
        home: "/home/me".into(),
        env: vec![("PATH".into(), "/bin".into()), ("TERM".into(), "dumb".into())],
        integration_dir: Some("/run/shell".into()),
        worker_pid: 2,
        keeper_pid: 1,
        program: "/t4a".into(),
        keeper_version: "0".into(),
        upgrade_error: None,
        trap: None,
        since: Instant::now(),
        since_ms: 1_700_000_000_000,
    };
    let now = Instant::now();
    let mut mux = Mux::new(host, ServerRecord::first(Beginning::default()), now);
    mux.on(Incoming::Connected(ME), now);
    let mut bench = Bench { mux, now, effects: Vec::new() };
    bench.ask(json!({"cmd": "events", "tag": "e"}));
    bench
}

impl Bench {
    fn collect(&mut self) {
        while let Some(effect) = self.mux.next_effect() {
            self.effects.push(effect);
        }
    }

    fn on(&mut self, incoming: Incoming) {
        self.mux.on(incoming, self.now);
        self.mux.on(Incoming::Drained(ME), self.now);
        self.collect();
    }

    fn ask(&mut self, request: Value) {
        let line = request.to_string();
        self.mux.request(ME, line.as_bytes(), self.now, crate::command::run);
        self.mux.on(Incoming::Drained(ME), self.now);
        self.collect();
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.on(Incoming::Tick);
    }

    /// All lines given to the client since the last look.
    fn lines(&mut self) -> Vec<Value> {
        let effects = std::mem::take(&mut self.effects);
        let bytes = effects.into_iter().filter_map(|effect| match effect {
            Effect::Reply { bytes, .. }
            | Effect::Late { bytes, .. }
            | Effect::Stream { bytes, .. } => Some(bytes),
            _ => None,
        });
        let all: Vec<u8> = bytes.flatten().collect();
        let lines = all.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    fn events(&mut self) -> Vec<String> {
        let lines = self.lines();
        let names = lines.iter().filter_map(|line| line["event"].as_str());
        names.map(str::to_owned).collect()
    }

    /// A program that runs.
    fn create(&mut self, request: Value) -> TerminalId {
        self.ask(request);
        let id = TerminalId(self.mux.next_id - 1);
        self.on(Incoming::Forked { id, pid: 100 + id.0 });
        self.on(Incoming::Started { id, result: Ok(()) });
        id
    }

    fn cat(&mut self) -> TerminalId {
        let id = self.create(json!({"cmd": "create", "cmd_args": ["cat"]}));
        self.lines();
        id
    }

    fn print(&mut self, id: TerminalId, bytes: &[u8]) {
        self.on(Incoming::Output { id, bytes });
    }

    fn signals(&mut self) -> Vec<(i32, Target)> {
        let of = |effect: &Effect| match effect {
            Effect::Signal { signal, target, .. } => Some((*signal, *target)),
            _ => None,
        };
        self.effects.iter().filter_map(of).collect()
    }
}

const IDLE: Duration = Duration::from_millis(2000);

#[test]
fn quiet_then_busy_then_quiet() {
    let mut bench = bench();
    let id = bench.cat();
    bench.pass(IDLE - Duration::from_millis(1));
    assert!(bench.events().is_empty());
    bench.print(id, b"x");
    bench.pass(IDLE - Duration::from_millis(1));
    assert!(bench.events().is_empty());
    bench.pass(Duration::from_millis(1));
    assert_eq!(bench.events(), ["idle"]);
    bench.pass(IDLE * 5);
    assert!(bench.events().is_empty());
    bench.print(id, b"y");
    assert_eq!(bench.events(), ["activity"]);
    bench.pass(IDLE);
    assert_eq!(bench.events(), ["idle"]);
}

#[test]
fn another_idle_timeout_counts_at_once() {
    let mut bench = bench();
    let id = bench.cat();
    bench.pass(Duration::from_millis(500));
    bench.ask(json!({"cmd": "config", "idle_timeout_ms": 400}));
    bench.pass(Duration::ZERO);
    assert_eq!(bench.events(), ["idle"]);
    bench.print(id, b"x");
    bench.ask(json!({"cmd": "config", "id": "t1", "idle_timeout_ms": 100}));
    bench.lines();
    bench.pass(Duration::from_millis(100));
    let idle = bench.lines();
    assert_eq!((&idle[0]["event"], &idle[0]["after_ms"]), (&json!("idle"), &json!(100)));
}

#[test]
fn kill_hangs_up_then_kills_then_gives_up() {
    let mut bench = bench();
    bench.cat();
    bench.ask(json!({"cmd": "kill", "id": "t1", "tag": 1}));
    let signals = bench.signals();
    assert!(signals.contains(&(signals::SIGHUP, Target::Group)));
    assert!(signals.contains(&(signals::SIGHUP, Target::Foreground)));
    assert!(bench.lines().is_empty(), "answered before the program is gone");
    const MOMENT: Duration = Duration::from_millis(1);
    bench.pass(KILL_GRACE - MOMENT);
    assert!(!bench.signals().contains(&(signals::SIGKILL, Target::Group)));
    bench.pass(MOMENT);
    assert!(bench.signals().contains(&(signals::SIGKILL, Target::Group)));
    assert!(bench.lines().is_empty());
    bench.pass(KILL_GRACE - MOMENT);
    assert!(bench.lines().is_empty());
    bench.pass(MOMENT);
    let lines = bench.lines();
    assert!(lines.iter().any(|line| line["tag"] == 1 && line["ok"] == true), "{lines:?}");
}

#[test]
fn the_dead_are_kept_up_to_a_number() {
    let mut bench = bench();
    for number in 1..=MAX_DEAD + 1 {
        let id = bench.cat();
        bench.on(Incoming::Exited { id, exit: Exit::Code(3) });
        assert_eq!(bench.mux.terminals().count(), number.min(MAX_DEAD));
    }
    assert!(bench.mux.find("t1").is_err());
    assert!(bench.mux.find("t2").is_ok());
    assert_eq!(bench.events(), ["exit", "killed"]);
}

#[test]
fn one_terminal_too_many_is_refused_unless_a_dead_one_can_go() {
    let mut bench = bench();
    for _ in 0..MAX_TERMINALS {
        bench.cat();
    }
    bench.ask(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let refused = bench.lines().remove(0);
    assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!("limit")));
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("kill some")));
    assert_eq!(bench.mux.terminals().count(), MAX_TERMINALS);
    bench.on(Incoming::Exited { id: TerminalId(5), exit: Exit::Code(0) });
    bench.lines();
    bench.create(json!({"cmd": "create", "cmd_args": ["cat"]}));
    let lines = bench.lines();
    assert_eq!((&lines[0]["event"], &lines[0]["reason"]), (&json!("killed"), &json!("evicted")));
    assert!(bench.mux.find("t5").is_err());
    assert_eq!(bench.mux.terminals().count(), MAX_TERMINALS);
}

#[test]
fn an_end_before_the_start_was_told_is_not_lost() {
    let mut bench = bench();
    bench.ask(json!({"cmd": "create", "cmd_args": ["true"]}));
    let id = TerminalId(1);
    bench.on(Incoming::Forked { id, pid: 7 });
    bench.on(Incoming::Exited { id, exit: Exit::Signal(9) });
    assert!(bench.events().is_empty());
    bench.on(Incoming::Started { id, result: Ok(()) });
    let lines = bench.lines();
    let exit = lines.iter().find(|line| line["event"] == "exit").expect("an exit");
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(137), &json!("KILL")));
    assert!(lines.iter().any(|line| line["id"] == "t1"), "create was not answered");
}

#[test]
fn a_program_that_cannot_be_started_leaves_nothing() {
    let mut bench = bench();
    bench.ask(json!({"cmd": "create", "cmd_args": ["nosuch"]}));
    let failure = Failure::new(Code::SpawnFailed, "no such program");
    bench.on(Incoming::Started { id: TerminalId(1), result: Err(failure) });
    let lines = bench.lines();
    assert_eq!(lines[0]["code"], "spawn_failed");
    assert_eq!(bench.mux.terminals.len(), 0);
}

#[test]
fn ready_waits_for_the_prompt_and_no_longer_than_it_may() {
    let mut bench = bench();
    let request = json!({"cmd": "create", "cmd_args": ["bash"], "ready": true, "tag": 1});
    let answer = |lines: Vec<Value>| lines.into_iter().find(|line| line["tag"] == 1);
    let id = bench.create(request.clone());
    assert_eq!(answer(bench.lines()), None);
    bench.print(id, b"\x1b]133;A;aid=1\x07$ \x1b]133;B\x07");
    assert_eq!(answer(bench.lines()).expect("an answer")["ready"], true);
    bench.create(request.clone());
    bench.pass(READY_TIMEOUT - Duration::from_millis(1));
    assert_eq!(answer(bench.lines()), None);
    bench.pass(Duration::from_millis(1));
    assert_eq!(answer(bench.lines()).expect("an answer")["ready"], false);
    let id = bench.create(request);
    bench.on(Incoming::Exited { id, exit: Exit::Code(1) });
    assert_eq!(answer(bench.lines()).expect("an answer")["ready"], false);
}

#[test]
fn a_line_editor_without_integration_is_ready_when_it_asks_for_pastes() {
    let mut bench = bench();
    let id = bench.create(json!({"cmd": "create", "cmd_args": ["python3"], "ready": true}));
    bench.lines();
    bench.print(id, b"\x1b[?2004h>>> ");
    assert_eq!(bench.lines()[0]["ready"], true);
}

#[test]
fn typing_is_all_or_nothing_and_signals_pass_it_by() {
    let mut bench = bench();
    bench.cat();
    let paste = "x".repeat(MAX_INPUT_QUEUE);
    bench.ask(json!({"cmd": "send", "id": "t1", "input": paste}));
    bench.ask(json!({"cmd": "send", "id": "t1", "input": "y"}));
    let lines = bench.lines();
    assert_eq!((&lines[0]["ok"], &lines[1]["code"]), (&json!(true), &json!("input_full")));
    bench.ask(json!({"cmd": "signal", "id": "t1", "signal": "INT"}));
    assert_eq!(bench.signals(), [(signals::SIGINT, Target::Foreground)]);
    assert_eq!(bench.lines()[0]["dropped_bytes"], MAX_INPUT_QUEUE);
}

#[test]
fn a_program_that_asks_without_reading_gets_no_endless_answers() {
    let mut bench = bench();
    let id = bench.cat();
    for _ in 0..200 {
        bench.print(id, &b"\x1b[6n".repeat(1000));
    }
    let queued = bench.mux.get(id).map(Terminal::queued).expect("a terminal");
    assert!(queued > 0 && queued <= limits::MAX_REPLY_QUEUE, "{queued}");
}

#[test]
fn commands_are_timed_and_forged_ends_are_told_apart() {
    let mut bench = bench();
    let id = bench.create(json!({"cmd": "create", "cmd_args": ["bash"]}));
    let key = bench.mux.get(id).expect("a terminal").identity.key.clone();
    let keyed = |what: &str| format!("\x1b]7777;{what};key={key};aid=1\x07");
    bench.print(id, keyed("prompt").as_bytes());
    bench.print(id, b"\x1b]133;A;aid=1\x07$ \x1b]133;B\x07sleep 1\r\n");
    bench.print(id, b"\x1b]133;C;aid=1;cmdline_url=sleep%201\x07");
    bench.lines();
    bench.pass(Duration::from_millis(300));
    bench.print(id, b"\x1b]7777;done;0\x07");
    let forged = bench.lines();
    assert_eq!(
        (&forged[0]["event"], &forged[0]["trusted"]),
        (&json!("command_done"), &json!(false))
    );
    bench.pass(Duration::from_millis(700));
    bench.print(id, keyed("done;5").as_bytes());
    let done = bench.lines();
    assert_eq!(done[0]["code"], 5);
    assert_eq!(done[0]["command"], "sleep 1");
    assert_eq!(done[0]["duration_ms"], 1000);
    assert_eq!(done[0]["trusted"], true);
}

/// A record holds the whole command line: one for each mark of a flood would be gigabytes.
#[test]
fn a_flood_of_marks_is_remembered_once() {
    let mut bench = bench();
    let id = bench.cat();
    bench.effects.clear();
    bench.print(id, &b"\x1b]133;A\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D;0\x07".repeat(1000));
    let remembered = |effect: &&Effect| matches!(effect, Effect::Remember { .. });
    assert_eq!(bench.effects.iter().filter(remembered).count(), 1);
    let identity = &bench.mux.get(id).expect("a terminal").identity;
    assert_eq!((identity.commands, identity.running.len()), (1000, 0));
}

#[test]
fn the_environment_is_the_hosts_with_ours_on_top() {
    let mut bench = bench();
    bench
        .ask(json!({"cmd": "create", "cmd_args": ["cat"], "env": {"A": "b", "T4A_TERMINAL": "x"}}));
    let plan = bench.effects.iter().find_map(|effect| match effect {
        Effect::Spawn(plan) => Some(plan),
        _ => None,
    });
    let env = &plan.expect("a spawn").env;
    let get = |name: &str| {
        let all: Vec<_> = env.iter().filter(|(known, _)| known == name).collect();
        assert!(all.len() <= 1, "{name} is there twice");
        all.first().map(|(_, value)| value.as_str())
    };
    assert_eq!(get("PATH"), Some("/bin"));
    assert_eq!(get("TERM"), Some("xterm-256color"));
    assert_eq!(get("COLORTERM"), Some("truecolor"));
    assert_eq!(get("A"), Some("b"));
    assert_eq!(get("T4A_TERMINAL"), Some("t1"));
    assert_eq!(get("T4A_SOCKET"), Some("/run/t4a.sock"));
}

#[test]
fn a_new_worker_knows_the_terminals_of_the_old_one() {
    let mut old = bench();
    let id = old.create(json!({"cmd": "create", "cmd_args": ["cat"], "name": "build",
        "labels": {"who": "me"}, "idle_timeout_ms": 77}));
    let record = serde_json::to_vec(&old.mux.get(id).expect("a terminal").identity).unwrap();
    let seq = old.mux.seq();
    let server = old.effects.iter().rev().find_map(|effect| match effect {
        Effect::RememberServer(bytes) => ServerRecord::read(bytes),
        _ => None,
    });
    let server = server.expect("the server's record");
    assert!(server.seq >= seq && server.next_id == 2);

    let mut mux = Mux::new(old.mux.host.clone(), server, old.now);
    let size = Size { cols: 100, rows: 30 };
    assert!(mux.inherit(&record, 101, size).is_some());
    mux.inherited();
    let terminal = mux.terminal("build").expect("by its name");
    assert_eq!((terminal.id(), terminal.pid(), terminal.grid.size()), (id, Some(101), size));
    assert_eq!(mux.idle_timeout_ms(Some(id)), 77);
    assert!(mux.seq() > seq);
    assert_eq!(mux.new_id(), Ok(TerminalId(2)));
    assert!(mux.inherit(b"nonsense", 1, size).is_none());
}

impl Bench {
    fn waits(&mut self, id: TerminalId, any: Value, more: Value) {
        let mut request = json!({"cmd": "wait", "id": id.to_string(), "any": any, "tag": "w"});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask(request);
    }

    /// Answers to waits since the last look.
    fn answers(&mut self) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["tag"] == "w").collect()
    }
}

#[test]
fn a_wait_is_answered_once_and_by_what_comes_first() {
    let mut bench = bench();
    let id = bench.cat();
    bench.waits(id, json!([{"text": "b"}, {"event": "bell"}]), json!({}));
    assert!(bench.answers().is_empty());
    bench.print(id, b"a");
    assert!(bench.answers().is_empty());
    bench.print(id, b"\x07ab");
    let answers = bench.answers();
    assert_eq!((answers.len(), &answers[0]["met"]), (1, &json!(0)));
    bench.print(id, b"b\x07");
    assert!(bench.answers().is_empty());
}

#[test]
fn a_wait_ends_when_its_time_is_up_and_not_before() {
    let mut bench = bench();
    let id = bench.cat();
    bench.waits(id, json!([{"exit": true}]), json!({"timeout_ms": 500}));
    bench.pass(Duration::from_millis(499));
    assert!(bench.answers().is_empty());
    bench.pass(Duration::from_millis(1));
    let answers = bench.answers();
    assert_eq!((&answers[0]["timed_out"], &answers[0]["waited_ms"]), (&json!(true), &json!(500)));
}

#[test]
fn quiet_counts_from_the_last_output_or_input() {
    let mut bench = bench();
    let id = bench.cat();
    bench.pass(Duration::from_millis(300));
    bench.waits(id, json!([{"idle_ms": 200}]), json!({}));
    assert_eq!(bench.answers().len(), 1, "it has been quiet for long enough");
    bench.ask(json!({"cmd": "send", "id": id.to_string(), "input": "x"}));
    bench.waits(id, json!([{"idle_ms": 200}]), json!({}));
    bench.pass(Duration::from_millis(150));
    bench.print(id, b"x");
    bench.pass(Duration::from_millis(199));
    assert!(bench.answers().is_empty());
    bench.pass(Duration::from_millis(1));
    assert_eq!(bench.answers().len(), 1);
}

#[test]
fn what_left_the_history_ends_a_wait_for_events() {
    let mut bench = bench();
    let id = bench.cat();
    let after = bench.mux.seq();
    for _ in 0..limits::MAX_EVENTS + 1 {
        bench.print(id, b"\x07");
    }
    bench.lines();
    bench.waits(id, json!([{"event": "exit"}]), json!({"after": after}));
    assert_eq!(bench.answers()[0]["lost"], 1);
    bench.waits(id, json!([{"exit": true}]), json!({"after": after}));
    assert!(bench.answers().is_empty(), "the state is not lost");
}

#[test]
fn a_client_that_leaves_takes_its_waits_and_runs_along() {
    let mut bench = bench();
    let id = bench.cat();
    bench.waits(id, json!([{"exit": true}]), json!({}));
    bench.ask(json!({"cmd": "run", "id": id.to_string(), "command": "x", "tag": "r"}));
    assert!(bench.mux.get(id).unwrap().run.is_some());
    bench.on(Incoming::Gone(ME));
    assert!(bench.mux.get(id).unwrap().run.is_none());
    bench.mux.on(Incoming::Connected(ClientId(2)), bench.now);
    bench.lines();
    bench.on(Incoming::Exited { id, exit: Exit::Code(0) });
    assert!(bench.answers().is_empty());
}

/// A wait for what only the system knows asks it, and asks again less and less often.
#[test]
fn the_system_is_asked_only_while_somebody_waits_for_it() {
    let mut bench = bench();
    let id = bench.cat();
    let probes = |bench: &mut Bench| {
        let effects = std::mem::take(&mut bench.effects);
        effects.iter().filter(|effect| matches!(effect, Effect::Probe { .. })).count()
    };
    bench.pass(Duration::from_millis(100));
    assert_eq!(probes(&mut bench), 0);
    bench.waits(id, json!([{"password": true}]), json!({}));
    assert_eq!(probes(&mut bench), 1);
    let told = |bench: &mut Bench, echo: bool| {
        let facts = Facts { echo: Some(echo), canonical: Some(true), ..Facts::default() };
        bench.on(Incoming::Probed { id, asker: Asker::Waits, facts });
    };
    bench.pass(Duration::from_millis(5));
    told(&mut bench, true);
    let mut asked = 0;
    for _ in 0..100 {
        bench.pass(Duration::from_millis(20));
        let now = probes(&mut bench);
        asked += now;
        if now > 0 {
            bench.pass(Duration::from_millis(1));
            told(&mut bench, true);
        }
    }
    assert!((3..10).contains(&asked), "{asked} times in 2 s");
    bench.print(id, b"Password: ");
    bench.pass(Duration::from_millis(30));
    assert_eq!(probes(&mut bench), 1);
    bench.pass(Duration::from_millis(1));
    told(&mut bench, false);
    assert_eq!(bench.answers()[0]["condition"], "password");
    bench.pass(Duration::from_secs(5));
    assert_eq!(probes(&mut bench), 0);
}

/// A shell that is slow to act on Ctrl-C gets a second one, and would drop what is typed next when
/// it comes to that.
#[test]
fn after_a_second_ctrl_c_the_prompt_must_stand_for_a_while() {
    const PROMPT: &[u8] = b"\x1b]133;A;aid=1\x07$ \x1b]133;B\x07";
    let mut bench = bench();
    let id = bench.create(json!({"cmd": "create", "cmd_args": ["bash"]}));
    bench.print(id, PROMPT);
    bench.ask(json!({"cmd": "run", "id": id.to_string(), "command": "echo 'open", "tag": "r"}));
    bench.print(id, b"echo 'open\r\n> ");
    bench.pass(limits::UNFINISHED_QUIET);
    bench.pass(limits::CANCEL_AGAIN);
    let answered =
        |bench: &mut Bench| bench.lines().iter().any(|line| line["code"] == "incomplete");
    assert!(!answered(&mut bench));
    bench.print(id, b"^C\r\n\x1b]7777;done;130;aid=1\x07");
    bench.print(id, PROMPT);
    assert!(!answered(&mut bench), "the second Ctrl-C may still be on its way");
    bench.pass(limits::CANCEL_CALM);
    assert!(answered(&mut bench));
}

impl Bench {
    /// One who looks at a terminal and has its first frame; nobody else subscribes.
    fn viewer(&mut self) -> (TerminalId, u64) {
        let id = self.cat();
        self.ask(json!({"cmd": "attach", "id": id.to_string(), "tag": "v", "name": "ann"}));
        let lines = self.lines();
        let view = lines.iter().find_map(|line| line["view"].as_u64()).unwrap();
        self.pass(FRAME_PACE);
        self.lines();
        (id, view)
    }

    fn presses(&mut self, view: u64) {
        self.ask(json!({"cmd": "keys", "view": view, "keys": ["x"], "tag": "k"}));
    }

    fn frames(&mut self) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line.get("frame").is_some()).collect()
    }
}

/// The first key of a while also changes who is said to type: that comes with its echo.
#[test]
fn a_key_is_shown_at_once_and_in_one_frame() {
    let mut bench = bench();
    let (id, view) = bench.viewer();
    bench.presses(view);
    assert!(bench.frames().is_empty(), "before there is anything to be seen");
    bench.now += Duration::from_micros(50);
    bench.print(id, b"x");
    let frames = bench.frames();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0]["state"]["typing"], "ann");
    // Typed faster than frames follow one another.
    for _ in 0..3 {
        bench.presses(view);
        bench.now += Duration::from_micros(50);
        bench.print(id, b"x");
        assert_eq!(bench.frames().len(), 1);
    }
    // Only the first of what comes of a key is in a hurry.
    bench.print(id, b"y");
    assert!(bench.frames().is_empty());
    bench.pass(FRAME_QUIET);
    assert_eq!(bench.frames().len(), 1);
}

#[test]
fn a_key_without_an_echo_holds_nothing_up_for_long() {
    let mut bench = bench();
    let (_, view) = bench.viewer();
    bench.presses(view);
    bench.pass(FRAME_PACE);
    let frames = bench.frames();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0]["state"]["typing"], "ann");
}

#[test]
fn only_one_who_does_not_wait_for_it_is_answered_late() {
    let mut bench = bench();
    let (id, view) = bench.viewer();
    let late = |bench: &mut Bench, request: Value| {
        bench.ask(request);
        let effects = std::mem::take(&mut bench.effects);
        effects.iter().any(|effect| matches!(effect, Effect::Late { .. }))
    };
    let id = id.to_string();
    assert!(late(&mut bench, json!({"cmd": "keys", "view": view, "keys": ["x"], "tag": 1})));
    assert!(!late(&mut bench, json!({"cmd": "keys", "view": view, "keys": ["x"]})));
    assert!(!late(&mut bench, json!({"cmd": "keys", "id": id, "keys": ["x"], "tag": 1})));
}
