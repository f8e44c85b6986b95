//! The human client, driven in a terminal of a second server: what it shows is read as text.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Server, alive, eventually};

/// Someone at a terminal of their own, looking at the terminals of another server.
pub struct Person {
    pub desk: Server,
    pub id: String,
}

impl Person {
    pub fn sits_down(inner: &Server, args: &[&str]) -> Person {
        Person::with_size(inner, args, 100, 30)
    }

    pub fn with_size(inner: &Server, args: &[&str], cols: u16, rows: u16) -> Person {
        Person::at(inner, &inner.socket(), args, cols, rows)
    }

    /// By another way than the server's own socket.
    pub fn by_socket(inner: &Server, socket: &Path, args: &[&str]) -> Person {
        Person::at(inner, socket, args, 100, 30)
    }

    fn at(inner: &Server, socket: &Path, args: &[&str], cols: u16, rows: u16) -> Person {
        let desk = Server::start();
        let mut argv = vec![env!("CARGO_BIN_EXE_t4a")];
        argv.extend(args);
        // A shell around it shows how it leaves the terminal behind.
        let line = format!(
            "export T4A_SOCKET={}; unset T4A_TERMINAL; {}; echo \"left with $?\"; exec cat",
            socket.display(),
            argv.join(" ")
        );
        let id = desk.connect().ok(json!({"cmd": "create", "cmd_args": ["bash", "-c", line],
            "cols": cols, "rows": rows, "env": person_env(inner)}));
        Person { desk, id: id["id"].as_str().unwrap().to_owned() }
    }

    pub fn keys(&self, keys: &[&str]) {
        self.desk.connect().ok(json!({"cmd": "keys", "id": self.id, "keys": keys}));
    }

    pub fn prefix(&self, key: &str) {
        self.keys(&["Ctrl+Space", key]);
    }

    pub fn types(&self, text: &str) {
        self.desk.connect().type_in(&self.id, text);
    }

    pub fn screen(&self) -> Vec<String> {
        self.desk.connect().screen(&self.id)
    }

    pub fn sees(&self, text: &str) -> Vec<String> {
        self.desk.wait_for_text(&self.id, text)
    }

    pub fn sees_screen(&self, is: impl Fn(&[String]) -> bool) -> Vec<String> {
        self.desk.wait_for_screen(&self.id, is)
    }

    /// What the status bar says.
    fn status(&self) -> String {
        self.screen().last().cloned().unwrap_or_default()
    }

    fn mouse(&self, kind: &str, row: usize, col: usize) {
        let request = json!({"cmd": "mouse", "id": self.id, "kind": kind, "row": row, "col": col});
        self.desk.connect().ok(request);
    }

    fn resize(&self, cols: u16, rows: u16) {
        let request = json!({"cmd": "resize", "id": self.id, "cols": cols, "rows": rows});
        self.desk.connect().ok(request);
    }

    /// The terminal is as it was before: no mode is left on, and the shell's text is back.
    pub fn has_left(&self, with: &str) {
        self.sees(with);
        self.sees("left with");
        let info = self.desk.connect().ok(json!({"cmd": "info", "id": self.id}));
        assert_eq!(info["alt_screen"], false);
        assert_eq!(info["cursor"]["visible"], true);
        assert_eq!((&info["echo"], &info["canonical"]), (&json!(true), &json!(true)));
        let modes: Vec<_> =
            info["modes"].as_array().unwrap().iter().map(Value::to_string).collect();
        for mode in ["mouse", "bracketed_paste", "focus_events", "sync_output"] {
            assert!(!modes.iter().any(|set| set.contains(mode)), "{mode} is left on: {modes:?}");
        }
    }

    pub fn client_pid(&self) -> i64 {
        let info = self.desk.connect().ok(json!({"cmd": "info", "id": self.id}));
        let shell = info["pid"].as_i64().unwrap();
        let children = format!("/proc/{shell}/task/{shell}/children");
        let children = std::fs::read_to_string(children).unwrap();
        children.split_whitespace().next().unwrap().parse().unwrap()
    }
}

pub fn person_env(inner: &Server) -> Value {
    json!({"XDG_RUNTIME_DIR": inner.dir(), "HOME": inner.home(),
        "SHELL": "/bin/bash", "USER": "ann", "LANG": "C.UTF-8", "COLORTERM": "truecolor",
        "PATH": std::env::var("PATH").unwrap()})
}

/// A server whose shells have a plain prompt.
pub fn server() -> Server {
    let server = Server::start();
    std::fs::write(server.home().join(".bashrc"), "PS1='$ '\n").unwrap();
    server
}

pub fn terminals(server: &Server) -> Vec<Value> {
    server.connect().ok(json!({"cmd": "list"}))["terminals"].as_array().unwrap().clone()
}

pub fn kill(pid: i64, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_terminal_is_shown_typed_into_and_left() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    assert!(person.status().contains("[EDIT]"), "{}", person.status());
    person.types("echo $((6 * 7)) here\n");
    person.sees("42 here");
    assert!(inner.connect().screen(&id).iter().any(|row| row == "42 here"));
    // It has the size of the screen but for the status bar.
    let info = inner.connect().ok(json!({"cmd": "info", "id": id}));
    assert_eq!((&info["cols"], &info["rows"]), (&json!(100), &json!(29)));
    assert_eq!(info["attached"][0]["name"], "ann");
    person.prefix("d");
    person.has_left("[detached]");
    eventually("nobody looks", || {
        inner.connect().ok(json!({"cmd": "info", "id": id}))["attached"] == json!([])
    });
    assert!(alive(info["pid"].as_i64().unwrap()));
}

#[test]
fn without_a_terminal_one_is_made_and_shown() {
    let inner = server();
    let person = Person::sits_down(&inner, &[]);
    person.sees("$");
    assert_eq!(terminals(&inner).len(), 1);
    person.types("exit 3\n");
    person.sees("[exited: code 3]");
    person.has_left("[exited: code 3]");
}

#[test]
fn splits_have_joined_borders_and_labels() {
    let inner = server();
    let person = Person::sits_down(&inner, &["attach"]);
    person.sees("$");
    person.prefix("|");
    person.sees("[t2] [EDIT]");
    person.prefix("-");
    person.sees("[t3] [EDIT]");
    person.prefix("h");
    person.prefix("\"");
    let rows = person.sees_screen(|rows| rows.iter().any(|row| row.contains("[t4] [EDIT]")));
    let column = |row: &str, at: usize| row.chars().nth(at).unwrap_or(' ');
    assert_eq!(column(&rows[0], 0), '┌');
    assert_eq!(column(&rows[0], 50), '┬');
    assert_eq!(column(&rows[0], 99), '┐');
    assert_eq!(column(&rows[14], 0), '├');
    assert_eq!(column(&rows[14], 50), '┼');
    assert_eq!(column(&rows[14], 99), '┤');
    assert_eq!(column(&rows[28], 0), '└');
    assert_eq!(column(&rows[28], 50), '┴');
    assert_eq!(column(&rows[28], 99), '┘');
    assert!(rows[0].starts_with("┌─ [t1] [EDIT]"), "{}", rows[0]);
    let sizes: Vec<_> = terminals(&inner)
        .iter()
        .map(|terminal| (terminal["cols"].as_u64().unwrap(), terminal["rows"].as_u64().unwrap()))
        .collect();
    assert_eq!(sizes, [(49, 13), (48, 13), (48, 13), (49, 13)]);
}

#[test]
fn keys_go_to_the_pane_with_the_focus() {
    let inner = server();
    let person = Person::sits_down(&inner, &["attach"]);
    person.sees("$");
    person.prefix("%");
    person.sees("[t2]");
    let shows = |id: &str, text: &str| {
        eventually(text, || inner.connect().screen(id).iter().any(|row| row == text));
    };
    person.types("echo right\n");
    shows("t2", "right");
    person.prefix("h");
    person.types("echo left\n");
    shows("t1", "left");
    person.prefix("l");
    person.types("echo right again\n");
    shows("t2", "right again");
    person.prefix("o");
    person.types("echo around\n");
    shows("t1", "around");
    // Growing, zooming and closing.
    let cols = |id: &str| inner.connect().ok(json!({"cmd": "info", "id": id}))["cols"].as_u64();
    let before = cols("t1");
    person.prefix("L");
    eventually("it has grown", || cols("t1") > before);
    person.prefix("z");
    eventually("it has it all", || cols("t1") == Some(100));
    person.prefix("z");
    person.sees("[t2]");
    person.prefix("x");
    eventually("it is closed", || terminals(&inner).len() == 1);
    eventually("the other has it all", || cols("t2") == Some(100));
}

#[test]
fn windows_are_made_named_and_gone_to() {
    let inner = server();
    let person = Person::sits_down(&inner, &["attach"]);
    person.sees("*1:bash");
    person.prefix("c");
    person.sees("[1:bash] *2:bash");
    person.prefix(",");
    person.types("debug\n");
    person.sees("[1:bash] *2:debug");
    person.prefix("p");
    person.sees("*1:bash [2:debug]");
    person.prefix("n");
    person.sees("[1:bash] *2:debug");
    person.prefix("1");
    person.sees("*1:bash [2:debug]");
    // A bell elsewhere marks the window.
    let second = terminals(&inner)[1]["id"].as_str().unwrap().to_owned();
    inner.connect().type_in(&second, "printf '\\a'\n");
    person.sees("[2:debug!]");
    person.prefix("2");
    person.prefix("&");
    person.sees("*1:bash");
    eventually("its terminal is gone", || terminals(&inner).len() == 1);
    person.prefix("|");
    person.sees("[t3]");
    person.prefix("!");
    person.sees("[1:bash] *2:bash");
}

#[test]
fn the_layout_is_there_again() {
    let inner = server();
    let person = Person::sits_down(&inner, &["attach"]);
    person.sees("$");
    person.prefix("|");
    person.sees("[t2]");
    person.prefix("c");
    person.sees("*2:bash");
    person.prefix("d");
    person.has_left("[detached]");
    let again = Person::sits_down(&inner, &["attach"]);
    again.sees("[1:bash] *2:bash");
    again.prefix("1");
    let rows = again.sees("[t2] [EDIT]");
    assert!(rows[0].contains("[t1] [EDIT]"), "{}", rows[0]);
    // Two in one workspace see the same.
    let other = Person::sits_down(&inner, &["attach"]);
    other.sees("[t2] [EDIT]");
    again.prefix("-");
    other.sees("[t4] [EDIT]");
}

#[test]
fn scrolling_back_searching_and_copying() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    inner.run(&id, "seq 500");
    person.sees_screen(|rows| rows.iter().any(|row| row == "500"));
    person.prefix("[");
    person.sees("[SCROLL +0 lines]");
    person.keys(&["g"]);
    let rows = person.sees_screen(|rows| rows[1] == "1");
    assert!(rows.last().unwrap().contains("[SCROLL +"), "{rows:?}");
    person.keys(&["G"]);
    person.sees("[SCROLL +0 lines]");
    person.keys(&["Ctrl+u", "Ctrl+u", "Ctrl+d", "k", "j"]);
    person.prefix("/");
    person.types("4[0-2]7$\n");
    person.sees("match 3 of 3");
    person.sees("427");
    person.keys(&["n"]);
    person.sees("match 2 of 3");
    person.keys(&["N"]);
    person.sees("match 3 of 3");
    // The line of the match is copied, and pasted by a key.
    let since = person.desk.connect().ok(json!({"cmd": "hello"}))["seq"].clone();
    person.keys(&["v", "$", "y"]);
    let mut events = person.desk.events(&person.id, since.as_u64().unwrap());
    assert_eq!(events.event("clipboard")["data_base64"], "NDI3");
    person.types("echo pasted ");
    person.prefix("]");
    person.types("\n");
    person.sees("pasted 427");
    person.prefix("/");
    person.types("(\n");
    person.sees("not a regex");
}

#[test]
fn commands_are_listed_gone_to_and_their_output_copied() {
    let inner = server();
    let id = inner.shell("bash");
    for line in ["echo first", "seq 60", "false"] {
        inner.run(&id, line);
    }
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    person.prefix("m");
    let rows = person.sees("seq 60");
    assert!(rows[1].contains("false") && rows[1].contains("exit 1"), "{rows:?}");
    person.keys(&["j", "j"]);
    let since = person.desk.connect().ok(json!({"cmd": "hello"}))["seq"].clone();
    person.keys(&["y"]);
    let mut events = person.desk.events(&person.id, since.as_u64().unwrap());
    assert_eq!(events.event("clipboard")["data_base64"], "Zmlyc3Q=");
    person.prefix("m");
    person.sees("seq 60");
    person.keys(&["j", "j", "Enter"]);
    person.sees_screen(|rows| rows.iter().any(|row| row == "first"));
}

#[test]
fn who_only_looks_on_types_nothing() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", "--view", &id]);
    person.sees("[VIEW]");
    let before = inner.connect().ok(json!({"cmd": "info", "id": id}));
    assert_eq!((&before["cols"], &before["rows"]), (&json!(80), &json!(24)), "it keeps its size");
    person.types("echo no\n");
    person.prefix("|");
    inner.run(&id, "echo yes");
    person.sees("yes");
    assert!(!inner.connect().screen(&id).iter().any(|row| row.contains("no")));
    assert_eq!(terminals(&inner).len(), 1);
    person.prefix("?");
    person.sees("leave; everything goes on");
    person.keys(&["q"]);
    person.prefix("d");
    person.has_left("[detached]");
}

#[test]
fn one_may_take_the_keyboard_and_give_it_back() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("[EDIT]");
    let seq = inner.connect().type_in(&id, "echo agent\n");
    person.sees("agent types");
    person.prefix("t");
    person.sees("[TAKE]");
    let mut agent = inner.connect();
    let error = agent.refused(json!({"cmd": "send", "id": id, "input": "x"}), "held");
    assert!(error.contains("ann"), "{error}");
    agent.refused(json!({"cmd": "keys", "id": id, "keys": ["x"]}), "held");
    person.sees("an agent wanted to type");
    person.types("echo mine\n");
    person.sees_screen(|rows| rows.iter().any(|row| row == "mine"));
    let other = Person::sits_down(&inner, &["attach", "--take", &id]);
    other.sees("is held by ann");
    other.sees("[EDIT]");
    person.prefix("t");
    person.sees("[EDIT]");
    agent.type_in(&id, "echo again\n");
    person.sees_screen(|rows| rows.iter().any(|row| row == "again"));
    let mut events = inner.events(&id, seq);
    assert_eq!(events.event("taken")["name"], "ann");
    assert_eq!(events.event("released")["name"], "ann");
    // A terminal may refuse it.
    agent.ok(json!({"cmd": "config", "id": id, "take_over": "refused"}));
    person.prefix("t");
    person.sees("does not allow take-over");
}

#[test]
fn programs_inside_a_split_are_drawn() {
    let inner = server();
    let person = Person::sits_down(&inner, &["attach"]);
    person.sees("$");
    person.prefix("|");
    person.sees("[t2]");
    person.types("vim -u NONE -N\n");
    person.sees("~");
    person.types("ihello 漢字\u{1b}");
    let rows = person.sees("hello 漢字");
    assert!(rows[1].ends_with('│'), "the border stays where it is: {}", rows[1]);
    person.prefix("h");
    person.types("htop\n");
    person.sees("F1Help");
    person.types("q");
    person.prefix("l");
    person.types(":q!\n");
    person.sees_screen(|rows| !rows.iter().any(|row| row.contains('~')));
}

#[test]
fn the_mouse_focuses_drags_borders_selects_and_scrolls() {
    let inner = server();
    let person = Person::sits_down(&inner, &["attach"]);
    person.sees("$");
    person.prefix("|");
    person.sees("[t2]");
    person.mouse("click", 5, 5);
    person.types("seq 100\n");
    person.sees_screen(|rows| rows.iter().any(|row| row.starts_with("│100 ")));
    let cols = || inner.connect().ok(json!({"cmd": "info", "id": "t1"}))["cols"].as_u64().unwrap();
    let before = cols();
    person.mouse("press", 5, 50);
    person.mouse("drag", 5, 60);
    person.mouse("release", 5, 60);
    eventually("the border has moved", || cols() == before + 10);
    person.mouse("wheel_up", 5, 5);
    person.sees("[SCROLL +3 lines]");
    person.mouse("wheel_down", 5, 5);
    person.sees_screen(|rows| !rows.last().unwrap().contains("SCROLL"));
    let rows = person.sees_screen(|rows| rows.iter().any(|row| row.starts_with("│100 ")));
    let row = rows.iter().position(|row| row.starts_with("│100 ")).unwrap();
    let since = person.desk.connect().ok(json!({"cmd": "hello"}))["seq"].clone();
    person.mouse("press", row, 1);
    person.mouse("drag", row, 3);
    person.mouse("release", row, 3);
    let mut events = person.desk.events(&person.id, since.as_u64().unwrap());
    assert_eq!(events.event("clipboard")["data_base64"], "MTAw");
}

#[test]
fn all_terminals_are_offered_with_what_they_show() {
    let inner = server();
    let first = inner.shell("bash");
    inner.run(&first, "echo one is here");
    let second = inner.shell("bash");
    inner.run(&second, "echo two is here");
    let person = Person::sits_down(&inner, &["attach", "--independent"]);
    person.sees("one is here");
    person.keys(&["j"]);
    person.sees("two is here");
    person.keys(&["Enter"]);
    person.sees("[t2] [EDIT]");
    person.prefix("a");
    person.sees_screen(|rows| {
        ["one is here", "two is here"].iter().all(|text| rows.iter().any(|row| row.contains(text)))
    });
    inner.run(&first, "echo live");
    person.sees("live");
    person.keys(&["q"]);
    person.prefix("s");
    person.sees("a new terminal");
    person.keys(&["1"]);
    person.sees("[t1] [EDIT]");
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    use rustix::process::Signal;
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let inner = server();
        let id = inner.shell("bash");
        let person = Person::sits_down(&inner, &["attach", &id]);
        person.sees("[EDIT]");
        kill(person.client_pid(), signal);
        person.has_left("[ended by a signal]");
    }
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("[EDIT]");
    inner.connect().ok(json!({"cmd": "kill", "id": id}));
    person.has_left("[closed]");
    let person = Person::sits_down(&inner, &["attach", "nobody"]);
    person.has_left("no terminal has the id or name \"nobody\"");
}

#[test]
fn a_new_worker_is_found_by_itself() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    kill(inner.worker_pid().into(), rustix::process::Signal::KILL);
    let view = || inner.connect().ok(json!({"cmd": "info", "id": id}))["attached"][0].clone();
    eventually("it looks again", || view()["name"] == "ann");
    person.types("echo still $((6 * 7))\n");
    person.sees("still 42");
    inner.cli(&["shutdown"]);
    person.has_left("[server gone]");
}

#[test]
fn small_sizes_and_storms_of_them_do_no_harm() {
    let inner = server();
    let person = Person::sits_down(&inner, &["attach"]);
    person.sees("$");
    person.prefix("|");
    person.sees("[t2]");
    person.prefix("-");
    person.sees("[t3]");
    for (cols, rows) in [(1, 1), (2, 1), (39, 10), (40, 9), (1, 30), (40, 10), (300, 100)] {
        person.resize(cols, rows);
    }
    for n in 0..60_u16 {
        person.resize(1 + n * 37 % 150, 1 + n * 17 % 60);
    }
    person.resize(30, 8);
    person.sees("terminal too small");
    person.resize(100, 30);
    person.sees("[t3] [EDIT]");
    person.types("echo fine\n");
    person.sees("fine");
}

#[test]
fn a_dead_terminal_can_be_looked_at() {
    let inner = server();
    let id = inner.script("echo last words; printf '\\a'; exit 7");
    inner.events(&id, 0).event("exit");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("last words");
    person.sees("[exited: code 7]");
    person.prefix("d");
    person.has_left("[detached]");
}

#[test]
fn a_configuration_is_read_and_what_is_wrong_is_told() {
    let inner = server();
    let dir = inner.home().join(".config/t4a");
    std::fs::create_dir_all(&dir).unwrap();
    let config = dir.join("config.toml");
    std::fs::write(&config, "prefix = \"C-b\"\nmouse = 3\n[keys]\nQ = \"detach\"\n").unwrap();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("line 2: mouse: must be true or false");
    std::fs::write(&config, "prefix = \"C-a\"\n[keys]\nQ = \"detach\"\n").unwrap();
    person.keys(&["Ctrl+b", "r"]);
    person.sees("the configuration was read");
    person.keys(&["Ctrl+a", "Q"]);
    person.has_left("[detached]");
}

#[test]
fn one_can_sleep_and_wake() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    let pid = person.client_pid();
    person.prefix("Ctrl+z");
    let state = |pid: i64| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next())
    };
    eventually("it sleeps", || state(pid) == Some('T'));
    let info = person.desk.connect().ok(json!({"cmd": "info", "id": person.id}));
    assert_eq!(info["alt_screen"], false);
    kill(pid, rustix::process::Signal::CONT);
    person.sees("[EDIT]");
    person.types("echo awake\n");
    person.sees("awake");
}
