//! Each key of the human client does what the help says of it.

use serde_json::json;

use crate::attach::{Person, server, terminals};
use crate::support::{Server, eventually};

/// Four panes: t1 and t2 above, t4 and t3 below; t4 has the focus.
fn four(inner: &Server) -> Person {
    let person = Person::sits_down(inner, &["attach"]);
    person.sees("$");
    for (keys, shown) in [("|", "[t2]"), ("-", "[t3]")] {
        person.prefix(keys);
        person.sees(shown);
    }
    person.prefix("h");
    person.prefix("-");
    person.sees("[t4]");
    person
}

/// What is typed now arrives in this terminal.
fn has_focus(inner: &Server, person: &Person, id: &str, word: &str) {
    person.types(&format!("echo {word}-$T4A_TERMINAL\n"));
    inner.wait_for_text(id, &format!("{word}-{id}"));
}

fn size(inner: &Server, id: &str) -> (u64, u64) {
    let info = inner.connect().info(id);
    (info["cols"].as_u64().unwrap(), info["rows"].as_u64().unwrap())
}

#[test]
fn h_j_k_l_go_to_the_pane_in_that_direction_and_others_go_around() {
    let inner = server();
    let person = four(&inner);
    has_focus(&inner, &person, "t4", "begin");
    for (key, id) in [
        ("k", "t1"),
        ("l", "t2"),
        ("j", "t3"),
        ("h", "t4"),
        ("Up", "t1"),
        ("Right", "t2"),
        ("Down", "t3"),
        ("Left", "t4"),
        (";", "t3"),
        (";", "t4"),
    ] {
        person.prefix(key);
        let word = if key.len() == 1 && key != ";" { key } else { "then" };
        has_focus(&inner, &person, id, &format!("{word}{id}"));
    }
    // Nothing is farther: it stays.
    person.prefix("h");
    has_focus(&inner, &person, "t4", "stays");
}

#[test]
fn capital_letters_grow_a_pane() {
    let inner = server();
    let person = four(&inner);
    let (cols, rows) = size(&inner, "t4");
    person.prefix("L");
    eventually("it is wider", || size(&inner, "t4").0 > cols);
    person.prefix("K");
    eventually("it is higher", || size(&inner, "t4").1 > rows);
    person.prefix("l");
    let (cols, rows) = size(&inner, "t3");
    person.prefix("H");
    eventually("the other is wider", || size(&inner, "t3").0 > cols);
    person.prefix("k");
    let before = size(&inner, "t2").1;
    person.prefix("J");
    eventually("the upper one is higher", || size(&inner, "t2").1 > before);
    eventually("the lower one is not", || size(&inner, "t3").1 < rows);
}

#[test]
fn panes_change_places_are_arranged_and_left() {
    let inner = server();
    let person = four(&inner);
    person.prefix("}");
    person.prefix("{");
    has_focus(&inner, &person, "t4", "swapped");
    let sizes = || ["t1", "t2", "t3", "t4"].map(|id| size(&inner, id));
    let before = sizes();
    person.prefix("Space");
    eventually("another arrangement", || sizes() != before);
    person.prefix("!");
    person.sees("*2:");
    assert_eq!(size(&inner, "t4"), (100, 29));
    person.prefix("x");
    eventually("it is closed", || terminals(&inner).len() == 3);
    person.sees("*1:");
}

#[test]
fn the_prefix_waits_is_typed_twice_and_is_forgotten() {
    let inner = server();
    let id = inner.script("stty raw -echo; printf '\\a'; exec cat -v");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("[EDIT]");
    let shows = |text: &str| eventually(text, || inner.connect().screen(&id)[0] == text);
    person.keys(&["Ctrl+Space"]);
    person.sees("[PREFIX]");
    person.keys(&["Ctrl+Space"]);
    shows("^@");
    // A key without a meaning goes to the program, and so does the prefix.
    person.keys(&["Ctrl+Space", "Q"]);
    shows("^@^@Q");
    person.keys(&["Ctrl+Space"]);
    person.sees("[PREFIX]");
    person.sees_screen(|rows| !rows.last().unwrap().contains("[PREFIX]"));
    person.keys(&["d"]);
    shows("^@^@Qd");
}

#[test]
fn keys_of_the_scroll_mode() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    inner.run(&id, "seq -w 1000");
    person.sees_screen(|rows| rows.iter().any(|row| row == "1000"));
    let scrolled = |by: i64| person.sees(&format!("[SCROLL +{by} lines]"));
    person.prefix("[");
    scrolled(0);
    // The cursor goes to the top first, then the lines move.
    person.keys(&vec!["k"; 29]);
    scrolled(1);
    person.keys(&["k", "Up"]);
    scrolled(3);
    person.keys(&["Ctrl+u"]);
    scrolled(17);
    person.keys(&["Ctrl+d"]);
    scrolled(3);
    person.keys(&["PageUp"]);
    scrolled(32);
    person.keys(&["PageDown"]);
    scrolled(3);
    person.keys(&["g"]);
    person.sees_screen(|rows| rows[1] == "0001");
    person.keys(&["G"]);
    scrolled(0);
    for key in ["q", "Escape"] {
        person.keys(&[key]);
        person.sees_screen(|rows| !rows.last().unwrap().contains("SCROLL"));
        person.prefix("[");
        scrolled(0);
    }
    // Whoever types is done with looking back.
    person.types("echo typed\n");
    person.sees_screen(|rows| rows.iter().any(|row| row == "typed"));
    assert!(!person.screen().last().unwrap().contains("SCROLL"));
}

#[test]
fn work_trees_are_listed_with_their_branches() {
    let inner = server();
    let repository = inner.home().join("project");
    std::fs::create_dir_all(repository.join(".git")).unwrap();
    std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/feat-auth\n").unwrap();
    let first = inner.shell("bash");
    let second = inner.shell("bash");
    inner.run(&second, "cd project");
    let person = Person::sits_down(&inner, &["attach", &first]);
    person.sees("$");
    person.prefix("w");
    let rows = person.sees("feat-auth");
    let row = rows.iter().find(|row| row.contains("feat-auth")).unwrap();
    assert!(row.contains("project") && row.contains(&second), "{row}");
    person.keys(&["j", "Enter"]);
    person.sees(&format!("[{second}] [feat-auth] [EDIT]"));
}

#[test]
fn the_help_names_every_key() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::with_size(&inner, &["attach", &id], 100, 60);
    person.sees("$");
    person.prefix("?");
    let rows = person.sees("leave; everything goes on").join("\n");
    for what in [
        "a new pane to the right",
        "a new pane below",
        "go to the pane on the left",
        "grow the pane upwards",
        "close the pane",
        "a new window",
        "the next window",
        "the window before",
        "the first window",
        "terminals by git work tree",
        "commands so far",
        "look back through the scrollback",
        "search the scrollback by regex",
        "this list",
    ] {
        assert!(rows.contains(what), "{what}: {rows}");
    }
    person.keys(&["q"]);
    person.sees("$");
}

/// The client inside of tmux, whose screen tmux tells.
#[test]
fn inside_of_tmux_it_looks_the_same() {
    let inner = server();
    let id = inner.shell("bash");
    let desk = Server::start();
    let socket = desk.dir().join("tmux");
    let tmux = |args: &[&str]| {
        let mut command = std::process::Command::new("tmux");
        command.arg("-S").arg(&socket).args(["-f", "/dev/null"]).args(args);
        command.env("HOME", desk.home()).env_remove("TMUX").env("LANG", "C.UTF-8");
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let env = crate::attach::person_env(&inner);
    let set = env.as_object().unwrap().iter();
    let set: Vec<String> =
        set.map(|(key, value)| format!("{key}='{}'", value.as_str().unwrap())).collect();
    let line = format!(
        "env -u T4A_TERMINAL {} T4A_SOCKET={} {} attach {id}; echo left with $?; exec cat",
        set.join(" "),
        inner.socket().display(),
        env!("CARGO_BIN_EXE_t4a")
    );
    tmux(&["new-session", "-d", "-x", "100", "-y", "30", "sh", "-c", &line]);
    tmux(&["set", "-g", "assume-paste-time", "0"]);
    let sees = |text: &str| {
        eventually(text, || tmux(&["capture-pane", "-p"]).contains(text));
        tmux(&["capture-pane", "-p"])
    };
    sees("[EDIT]");
    tmux(&["send-keys", "echo ty$((1+1))ped", "Enter"]);
    sees("ty2ped");
    tmux(&["send-keys", "C-Space", "|"]);
    let screen = sees("[t2] [EDIT]");
    assert!(screen.starts_with("┌─ [t1] [EDIT]"), "{screen}");
    tmux(&["send-keys", "vim --clean", "Enter"]);
    sees("~");
    tmux(&["send-keys", "ihello from vim", "Escape"]);
    sees("hello from vim");
    tmux(&["send-keys", ":q!", "Enter"]);
    tmux(&["send-keys", "C-Space", "d"]);
    sees("left with 0");
    tmux(&["kill-server"]);
    assert_eq!(terminals(&inner).len(), 2);
}

#[test]
fn garbage_from_the_outer_terminal_does_no_harm() {
    let inner = server();
    let id = inner.shell("bash");
    let person = Person::sits_down(&inner, &["attach", &id]);
    person.sees("$");
    let garbage =
        "\u{1b}[999;999;999~\u{1b}[<9999;1;1M\u{1b}[200~pasted\u{1b}[201~\u{1b}O\u{1b}[?1;2c";
    person.desk.connect().ok(json!({"cmd": "send", "id": person.id, "input": garbage}));
    person.types("\u{15}echo still here\n");
    person.sees("still here");
}
