//! `t4a tmux` beside the real one: the calls that harnesses make, and what both answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::support::{Server, eventually};

/// A server, a link named `tmux` to the program, and a tmux of one's own.
struct Both {
    server: Server,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Which {
    Ours,
    Real,
}

const EACH: [Which; 2] = [Which::Ours, Which::Real];

impl Both {
    fn new() -> Both {
        let server = Server::not_started();
        let bin = server.dir().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_t4a"), bin.join("tmux")).unwrap();
        Both { server }
    }

    /// The program by its other name, first in PATH also for what it starts.
    fn ours(&self) -> Command {
        let bin = self.server.dir().join("bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(bin.join("tmux"));
        for (name, value) in self.server.command().get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command.env("PATH", path).env_remove("T4A_TERMINAL");
        command
    }

    fn command(&self, which: Which) -> Command {
        let mut command = match which {
            Which::Ours => self.ours(),
            Which::Real => {
                let mut command = Command::new("tmux");
                command.args(["-f", "/dev/null"]).env("SHELL", "/bin/bash").env("LANG", "C.UTF-8");
                command
            }
        };
        command
            .env("TMUX_TMPDIR", self.server.dir())
            .env_remove("TMUX")
            .current_dir(self.server.home())
            .stdin(Stdio::null());
        command
    }

    fn call(&self, which: Which, args: &[&str]) -> Output {
        self.command(which).args(args).output().unwrap()
    }

    /// A call that must succeed; what it prints.
    fn ok(&self, which: Which, args: &[&str]) -> String {
        let output = self.call(which, args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{which:?} {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Both answer the same; what they print.
    fn same(&self, args: &[&str]) -> String {
        let [ours, real] = EACH.map(|which| self.call(which, args));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        let (told, expected) = (text(&ours.stderr), text(&real.stderr));
        assert_eq!(ours.status.code(), real.status.code(), "{args:?}: {told}, {expected}");
        // Ours says besides what would be right.
        let told = told.split("; t4a understands").next().unwrap();
        assert_eq!(told, expected, "{args:?}");
        assert_eq!(text(&ours.stdout), text(&real.stdout), "{args:?}");
        text(&ours.stdout)
    }

    /// Waits until the session shows a text.
    fn shows(&self, which: Which, session: &str, text: &str) {
        let is_there = || self.ok(which, &["capture-pane", "-p", "-t", session]).contains(text);
        eventually(&format!("{which:?} shows {text}"), is_there);
    }

    /// A file of each.
    fn file(&self, which: Which, name: &str) -> PathBuf {
        self.server.home().join(format!("{name}-{which:?}"))
    }

    /// A session of each that writes what it is typed into a file.
    fn typed_into_files(&self) {
        for which in EACH {
            let file = self.file(which, "typed");
            let line = format!("stty raw -echo; printf ready; exec cat > {}", file.display());
            self.ok(which, &["new-session", "-x", "80", "-y", "24", "-d", "-s", "typed", &line]);
            self.shows(which, "typed", "ready");
        }
    }

    fn holds(&self, which: Which, name: &str, expected: &[u8]) {
        let file = self.file(which, name);
        let mut found = Vec::new();
        eventually(&format!("{which:?}: {name} has {} bytes", expected.len()), || {
            found = read(&file);
            found.len() >= expected.len()
        });
        assert!(found == expected, "{which:?}: {name}: {}", String::from_utf8_lossy(&found));
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        let _ = self.call(Which::Real, &["kill-server"]);
    }
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_default()
}

#[test]
fn sessions_come_and_go_as_in_tmux() {
    let both = Both::new();
    assert_eq!(both.call(Which::Ours, &["has-session", "-t", "x"]).status.code(), Some(1));
    assert!(both.ok(Which::Ours, &["-V"]).starts_with("tmux 3."));
    let new = ["new-session", "-x", "60", "-y", "7", "-d", "-s", "agent", "cat"];
    both.same(&new);
    both.same(&new);
    for target in ["agent", "=agent", "agent:", "agent:0", "agent:0.0", "ag", "=ag", "nobody"] {
        both.same(&["has-session", "-t", target]);
    }
    both.same(&["has-session", "-t", "agent:7"]);
    let sizes = "#{session_name} #{pane_width}x#{pane_height} #{pane_dead} #S #I.#P #{nothing} ##";
    assert_eq!(
        both.same(&["display-message", "-p", "-t", "agent", sizes]),
        "agent 60x7 0 agent 0.0  #"
    );
    both.same(&["new-session", "-d", "-s", "a.b:c", "cat"]);
    assert_eq!(both.same(&["list-sessions", "-F", "#{session_name}"]), "a_b_c\nagent");
    both.same(&["kill-session", "-t", "agent"]);
    both.same(&["kill-session", "-t", "agent"]);
    both.same(&["new-session", "-d", "-s", "agent", "exit 3"]);
    for which in EACH {
        let gone = || !both.call(which, &["has-session", "-t", "agent"]).status.success();
        eventually("the session ends with its program", gone);
    }
    // The name is free again.
    both.same(&["new-session", "-d", "-s", "agent", "cat"]);
    both.same(&["has-session", "-t", "agent"]);
}

#[test]
fn mistakes_are_told_in_the_words_of_tmux() {
    let both = Both::new();
    both.same(&["new-session", "-d", "-s", "a", "cat"]);
    let calls: [&[&str]; 15] = [
        &["send-keys", "-t", "nope", "x"],
        &["capture-pane", "-p", "-t", "nope"],
        &["pipe-pane", "-t", "nope", "cat"],
        &["paste-buffer", "-b", "nope", "-t", "a"],
        &["paste-buffer", "-t", "a"],
        &["load-buffer", "-b", "x", "/no/such/file"],
        &["show-buffer"],
        &["set-buffer"],
        &["send-keys", "-Q"],
        &["no-such-command"],
        &["wait-for"],
        &["set-option", "-g", "history-limit", "many"],
        &["set-option", "-g", "history-limit"],
        &["attach-session", "-t", "a"],
        &["kill-session", "-t", "nope", ";", "kill-session", "-t", "a"],
    ];
    for args in calls {
        both.same(args);
    }
    assert_eq!(both.same(&["list-sessions", "-F", "#S"]), "a", "a chain ends at a mistake");
    for option in [["-g", "status", "off"], ["-g", "mouse", "on"], ["-s", "escape-time", "0"]] {
        both.same(&[&["set-option"], &option[..]].concat());
    }
    let error = both.call(Which::Ours, &["split-window"]).stderr;
    assert!(String::from_utf8_lossy(&error).contains("t4a understands attach-session, "));
}

#[test]
fn keys_are_names_or_text_by_the_rules_of_tmux() {
    let both = Both::new();
    both.typed_into_files();
    let calls: [&[&str]; 12] = [
        &["send-keys", "-t", "typed", "--", "-x", "--", "-l"],
        &["send-keys", "-t", "typed", "ls -la", "Enter"],
        &["send-keys", "-t", "typed", "ls;"],
        &["send-keys", "-t", "typed", "ls\\;", "a;b", "\\;"],
        &["send-keys", "-t", "typed", "Return", "Esc", "ctrl", "Ctrl+c", "C-"],
        &["send-keys", "-t", "typed", "C-c", "c-d", "^C", "M-x", "C-M-a", "C-Space"],
        &["send-keys", "-t", "typed", "enter", "Escape", "Tab", "BSpace", "Space", "BTab"],
        &["send-keys", "-t", "typed", "Up", "Left", "PPage", "PageDown", "DC", "F1", "F12"],
        &["send-keys", "-l", "-t", "typed", "Enter", "C-c", "é日本", "a\nb\tc"],
        &["send-keys", "-N", "3", "-t", "typed", "q"],
        &["send-keys", "-H", "-t", "typed", "41", "0a"],
        &["send-keys", "-t", "typed:0.0", "the end"],
    ];
    for args in calls {
        both.same(args);
    }
    let real = both.file(Which::Real, "typed");
    eventually("tmux has typed all", || read(&real).ends_with(b"the end"));
    both.holds(Which::Ours, "typed", &read(&real));
}

#[test]
fn buffers_are_pasted_however_long_they_are() {
    let both = Both::new();
    both.typed_into_files();
    let long = "a line of some length, with \t tabs\n".repeat(10_000);
    let file = both.server.home().join("long");
    fs::write(&file, &long).unwrap();
    let file = file.to_str().unwrap();
    both.same(&[
        "load-buffer",
        "-b",
        "long",
        file,
        ";",
        "paste-buffer",
        "-d",
        "-b",
        "long",
        "-t",
        "typed",
    ]);
    both.same(&["paste-buffer", "-b", "long", "-t", "typed"]);
    both.same(&["set-buffer", "-b", "s", "one\ntwo"]);
    assert_eq!(both.same(&["show-buffer", "-b", "s"]), "one\ntwo");
    both.same(&["paste-buffer", "-r", "-b", "s", "-t", "typed"]);
    both.same(&["paste-buffer", "-s", "|", "-b", "s", "-t", "typed"]);
    let expected = long.replace('\n', "\r") + "one\ntwo" + "one|two";
    for which in EACH {
        both.holds(which, "typed", expected.as_bytes());
    }
}

#[test]
fn the_screen_and_what_is_above_it_are_captured() {
    let both = Both::new();
    let line =
        "seq 1 50; printf 'a long line that takes two rows\\n\\033[31mred\\033[m end'; exec cat";
    both.same(&["new-session", "-x", "20", "-y", "6", "-d", "-s", "c", line]);
    for which in EACH {
        both.shows(which, "c", "red end");
    }
    let calls: [&[&str]; 9] = [
        &["-p"],
        &["-pS", "-"],
        &["-p", "-S", "-3"],
        &["-p", "-S", "1", "-E", "2"],
        &["-p", "-S", "-5", "-E", "-2"],
        &["-p", "-S", "4", "-E", "1"],
        &["-pJ"],
        &["-J", "-pS", "-"],
        &["-b", "kept"],
    ];
    for args in calls {
        both.same(&[&["capture-pane", "-t", "c"], args].concat());
    }
    assert!(both.same(&["show-buffer", "-b", "kept"]).contains("49\n50\na long line"));
    let colored = both.ok(Which::Ours, &["capture-pane", "-e", "-p", "-t", "c"]);
    assert!(colored.contains("31mred\u{1b}["), "{colored:?}");
}

#[test]
fn a_limited_history_is_kept() {
    let both = Both::new();
    both.same(&["new-session", "-d", "-s", "first", "cat"]);
    both.ok(Which::Ours, &["set-option", "-g", "history-limit", "10"]);
    let line = "seq 1 50; exec cat";
    both.ok(Which::Ours, &["new-session", "-x", "20", "-y", "5", "-d", "-s", "c", line]);
    both.shows(Which::Ours, "c", "50");
    let all = both.ok(Which::Ours, &["capture-pane", "-pS", "-", "-t", "c"]);
    assert_eq!(all.lines().next(), Some("37"), "{all}");
    // More than there can be is as much as there can be.
    both.same(&["set-option", "-g", "history-limit", "10000000"]);
    both.same(&["new-session", "-d", "-s", "much", "cat"]);
}

#[test]
fn channels_wake_who_waits_or_who_comes_next() {
    let both = Both::new();
    both.same(&["new-session", "-d", "-s", "a", "cat"]);
    both.same(&["wait-for", "-S", "before"]);
    both.same(&["wait-for", "before"]);
    let mut waiting = both.command(Which::Ours).args(["wait", "done"]).spawn().unwrap();
    let place = both.server.dir().join("t4a.sock.tmux");
    let waits = || {
        let names = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name());
        names.into_iter().any(|name| name.to_string_lossy().starts_with("wait-"))
    };
    eventually("someone waits", waits);
    both.ok(Which::Ours, &["wait", "-S", "done"]);
    eventually("it goes on", || waiting.try_wait().unwrap().is_some());
    assert!(waiting.wait().unwrap().success());
    assert!(!waits());
}

#[test]
fn all_that_is_written_goes_through_the_pipe() {
    let both = Both::new();
    for which in EACH {
        let log = both.file(which, "log");
        let pipe = format!("cat > {}", log.display());
        // tmux drops what has yet to go through when the program ends.
        let end = if which == Which::Ours { "exit" } else { "exec cat" };
        let line = "printf 'one\\ntwo\\n'; stty -echo; echo ready; read x; seq 1 20000; ";
        let line = format!("{line}{end}");
        both.ok(
            which,
            &[
                "new-session",
                "-x",
                "80",
                "-y",
                "24",
                "-d",
                "-s",
                "p",
                &line,
                ";",
                "pipe-pane",
                "-t",
                "p",
                &pipe,
            ],
        );
        both.shows(which, "p", "ready");
        both.ok(which, &["send-keys", "-t", "p", "Enter"]);
        let numbers: String = (1..=20000).map(|number| format!("{number}\r\n")).collect();
        both.holds(which, "log", format!("one\r\ntwo\r\nready\r\n{numbers}").as_bytes());
    }
}

#[test]
fn a_pipe_is_replaced_and_closed() {
    let both = Both::new();
    let log = |name: &str| format!("cat > {}", both.file(Which::Ours, name).display());
    both.ok(Which::Ours, &["new-session", "-d", "-s", "p", "stty -echo; echo ready; exec cat"]);
    both.shows(Which::Ours, "p", "ready");
    both.ok(Which::Ours, &["pipe-pane", "-t", "p", &log("first")]);
    both.ok(Which::Ours, &["send-keys", "-t", "p", "one", "Enter"]);
    both.holds(Which::Ours, "first", b"one\r\n");
    both.ok(Which::Ours, &["pipe-pane", "-t", "p", &log("second")]);
    both.ok(Which::Ours, &["send-keys", "-t", "p", "two", "Enter"]);
    both.holds(Which::Ours, "second", b"two\r\n");
    both.ok(Which::Ours, &["pipe-pane", "-t", "p"]);
    both.ok(Which::Ours, &["send-keys", "-t", "p", "three", "Enter"]);
    both.shows(Which::Ours, "p", "three");
    both.holds(Which::Ours, "first", b"one\r\n");
    both.holds(Which::Ours, "second", b"two\r\n");
}

/// What harbor and terminal-bench call, one after another.
#[test]
fn a_harness_that_knows_only_tmux_is_served() {
    let both = Both::new();
    let log = both.file(Which::Ours, "log");
    let pipe = format!("cat > {}", log.display());
    both.ok(Which::Ours, &["-V"]);
    both.ok(
        Which::Ours,
        &[
            "new-session",
            "-e",
            "TASK=17",
            "-x",
            "160",
            "-y",
            "40",
            "-d",
            "-s",
            "agent",
            "bash --login",
            ";",
            "pipe-pane",
            "-t",
            "agent",
            &pipe,
        ],
    );
    both.ok(Which::Ours, &["set-option", "-t", "agent", "history-limit", "10000000"]);
    both.ok(Which::Ours, &["has-session", "-t", "agent"]);
    // A login shell has a PATH of its own.
    let link = both.server.dir().join("bin/tmux");
    let line = format!("echo task $TASK $((40 + 2)); {} wait -S done", link.display());
    let keys = ["send-keys", "-t", "agent", "--", &line, "Enter"];
    both.ok(Which::Ours, &keys);
    let mut waiting = both.command(Which::Ours).args(["wait", "done"]).spawn().unwrap();
    eventually("the command is done", || waiting.try_wait().unwrap().is_some());
    both.shows(Which::Ours, "agent", "task 17 42");
    let all = both.ok(Which::Ours, &["capture-pane", "-p", "-S", "-", "-t", "agent"]);
    assert!(all.contains("task 17 42"), "{all}");
    eventually("the log has it too", || {
        String::from_utf8_lossy(&read(&log)).contains("task 17 42\r\n")
    });
    // The shell reports by itself, also to a harness that will know more one day.
    let ran = both.server.connect().ok(json!({"cmd": "run", "id": "agent", "command": "(exit 4)"}));
    assert_eq!(ran["code"], 4);
    both.ok(Which::Ours, &["kill-session", "-t", "agent"]);
    assert!(!both.call(Which::Ours, &["has-session", "-t", "agent"]).status.success());
}

#[test]
fn other_terminals_are_not_ended_with_tmux() {
    let both = Both::new();
    both.ok(Which::Ours, &["new-session", "-d", "-s", "ours", "cat"]);
    let other = both.server.script("printf '\\a'; exec cat");
    both.ok(Which::Ours, &["kill-server"]);
    assert_eq!(both.ok(Which::Ours, &["ls", "-F", "#{t4a_id}"]).trim(), other);
    // Also without the link.
    let output = both.server.cli(&["tmux", "has-session", "-t", &other]);
    assert!(output.status.success());
}
