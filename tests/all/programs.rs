//! Full-screen programs and odd text: drawn, driven by keys and left cleanly.

use serde_json::json;

use crate::support::{Client, Server};

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

/// A bash with a plain prompt, a stream of its events, and a client to ask with.
struct Desk<'a> {
    server: &'a Server,
    id: String,
    events: Client,
    client: Client,
}

impl<'a> Desk<'a> {
    fn new(server: &'a Server, (cols, rows): (u16, u16)) -> Desk<'a> {
        std::fs::write(server.home().join(".bashrc"), "PS1='$ '\n").unwrap();
        let mut client = server.connect();
        let created = client.ok(json!({"cmd": "create", "cmd_args": ["bash"], "ready": true,
            "cols": cols, "rows": rows, "cwd": server.home()}));
        assert_eq!(created["ready"], true);
        let id = created["id"].as_str().unwrap().to_owned();
        let mut events = server.events(&id, created["seq"].as_u64().unwrap());
        events.event("prompt");
        Desk { server, id, events, client }
    }

    fn keys(&mut self, input: &str) {
        self.client.type_in(&self.id, input);
    }

    fn run(&mut self, line: &str) {
        self.keys(&format!("{line}\n"));
        assert_eq!(self.events.event("command_done")["code"], 0, "{line}");
        self.events.event("prompt");
    }

    /// Starts a program that takes the whole screen.
    fn enter(&mut self, line: &str) {
        self.keys(&format!("{line}\n"));
        assert_eq!(self.events.event("alt_screen")["on"], true);
    }

    /// After the keys that end it, the shell is as it was.
    fn left(&mut self, before: &[String]) {
        assert_eq!(self.events.event("alt_screen")["on"], false);
        assert_eq!(self.events.event("command_done")["code"], 0);
        self.events.event("prompt");
        let info = self.client.ok(json!({"cmd": "info", "id": self.id}));
        assert_eq!(info["alt_screen"], false);
        let cursor = self.client.ok(json!({"cmd": "cursor", "id": self.id}));
        assert_eq!(cursor["visible"], true);
        let after = self.client.screen(&self.id);
        // The line that started it, then a prompt of its own.
        let row = before.iter().rposition(|row| !row.is_empty()).unwrap();
        assert_eq!(after[..row], before[..row]);
        assert_eq!(after[row + 1], "$");
        assert_eq!((&cursor["row"], &cursor["col"]), (&json!(row + 1), &json!(2)));
        assert!(after[row + 2..].iter().all(String::is_empty), "{after:?}");
    }

    fn screen(&mut self) -> Vec<String> {
        self.client.screen(&self.id)
    }

    fn wait(&self, is: impl Fn(&[String]) -> bool) -> Vec<String> {
        self.server.wait_for_screen(&self.id, is)
    }

    fn output_of(&mut self, line: &str) -> Vec<String> {
        self.keys(&format!("{line}\n"));
        let done = self.events.event("command_done");
        self.events.event("prompt");
        let lines = done["output_lines"].as_array().unwrap();
        let count = lines[1].as_u64().unwrap() - lines[0].as_u64().unwrap();
        let request = json!({"cmd": "text", "id": self.id, "first_line": lines[0], "count": count});
        let answer = self.client.ok(request);
        let lines = answer["lines"].as_array().unwrap();
        lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !found {
        eprintln!("{program} is not installed: left out");
    }
    found
}

#[test]
fn vim_is_drawn_typed_into_and_left() {
    if !installed("vim") {
        return;
    }
    for size in SIZES {
        let server = Server::start();
        let mut desk = Desk::new(&server, size);
        let rows = usize::from(size.1);
        desk.run("echo before");
        let before = desk.screen();
        desk.enter("vim -u NONE -N +'set ruler noswapfile' file");
        desk.wait(|screen| screen[1] == "~" && screen[rows - 2] == "~");
        desk.wait(|screen| screen[rows - 1].contains("\"file\" [New]"));
        desk.keys("ihello\nwide 漢字\x1b");
        let drawn = desk.wait(|screen| screen[rows - 1].contains("2,9-8"));
        assert_eq!(drawn[..3], ["hello", "wide 漢字", "~"]);
        let cursor = desk.client.ok(json!({"cmd": "cursor", "id": desk.id}));
        assert_eq!((&cursor["row"], &cursor["col"]), (&json!(1), &json!(7)));
        desk.keys(":wq\n");
        desk.left(&before);
        let written = std::fs::read_to_string(server.home().join("file")).unwrap();
        assert_eq!(written, "hello\nwide 漢字\n");
    }
}

#[test]
fn vim_follows_a_resize() {
    if !installed("vim") {
        return;
    }
    let server = Server::start();
    let mut desk = Desk::new(&server, (80, 24));
    desk.run("seq 100 > numbers");
    desk.enter("vim -u NONE -N --cmd 'set ruler noswapfile' numbers");
    desk.wait(|screen| screen[22] == "23");
    // The ruler may hide behind the message until the screen is drawn again.
    desk.keys("\x0c");
    desk.wait(|screen| screen[23].contains("1,1"));
    for (cols, rows) in [(120, 40), (60, 10), (80, 24)] {
        desk.client.ok(json!({"cmd": "resize", "id": desk.id, "cols": cols, "rows": rows}));
        desk.wait(|screen| {
            screen.len() == rows
                && screen[rows - 2] == (rows - 1).to_string()
                && screen[rows - 1].contains("1,1")
        });
    }
    desk.keys(":q\n");
    assert_eq!(desk.events.event("alt_screen")["on"], false);
    desk.events.event("prompt");
    assert_eq!(desk.output_of("stty size"), ["24 80"]);
}

#[test]
fn less_pages_searches_and_is_left() {
    if !installed("less") {
        return;
    }
    for size in SIZES {
        let server = Server::start();
        let mut desk = Desk::new(&server, size);
        let rows = usize::from(size.1);
        desk.run("seq -f 'line %g' 1000 > lines");
        let before = desk.screen();
        desk.enter("less lines");
        let page = rows - 1;
        let shows = |first: usize| {
            move |screen: &[String]| {
                (0..page).all(|row| screen[row] == format!("line {}", first + row))
            }
        };
        desk.wait(shows(1));
        desk.keys(" ");
        desk.wait(shows(1 + page));
        desk.keys("/line 500\n");
        desk.wait(shows(500));
        desk.keys("k");
        // Scrolling down by a line is an insertion at the top.
        desk.wait(shows(499));
        desk.keys("G");
        desk.wait(shows(1001 - page));
        desk.keys("q");
        desk.left(&before);
    }
}

#[test]
fn a_process_viewer_is_drawn_and_left() {
    if !installed("top") {
        return;
    }
    for size in SIZES {
        let server = Server::start();
        let mut desk = Desk::new(&server, size);
        desk.keys("top -d 1\n");
        desk.wait(|screen| {
            screen[0].starts_with("top - ")
                && screen.iter().any(|row| row.contains("PID USER") && row.contains("COMMAND"))
        });
        desk.keys("q");
        assert_eq!(desk.events.event("command_done")["code"], 0);
        desk.events.event("prompt");
    }
}

#[test]
fn htop_is_drawn_and_left() {
    if !installed("htop") {
        return;
    }
    for size in SIZES {
        let server = Server::start();
        let mut desk = Desk::new(&server, size);
        desk.run("echo before");
        let before = desk.screen();
        desk.enter("htop");
        let last = usize::from(size.1) - 1;
        desk.wait(|screen| screen[last].starts_with("F1Help") && screen[last].contains("F10Quit"));
        let screen =
            desk.wait(|screen| screen.iter().any(|row| row.trim_start().starts_with("PID USER")));
        assert!(screen.iter().any(|row| row.contains("Mem[")), "{}", screen.join("\n"));
        desk.keys("q");
        desk.left(&before);
    }
}

#[test]
fn tmux_inside_is_drawn_split_and_left() {
    if !installed("tmux") {
        return;
    }
    for size in SIZES {
        let server = Server::start();
        let mut desk = Desk::new(&server, size);
        let (cols, rows) = (usize::from(size.0), usize::from(size.1));
        let socket = server.dir().join("tmux");
        desk.run("echo before");
        let before = desk.screen();
        // Keys that come fast are a paste to tmux, which does not hear its prefix then.
        let config = server.home().join(".tmux.conf");
        std::fs::write(config, "set -g assume-paste-time 0\n").unwrap();
        let inner = "new \"env PS1='inner> ' sh\"";
        desk.enter(&format!("tmux -S {} {inner}", socket.display()));
        desk.wait(|screen| screen[0] == "inner>" && screen[rows - 1].starts_with("[0] 0:"));
        desk.keys("echo in$((40+2))side\n");
        desk.wait(|screen| screen.iter().any(|row| row == "in42side"));
        desk.keys("\x02%");
        // The border runs from top to bottom, in the same column.
        desk.wait(border(cols, rows));
        desk.keys("exit\n");
        desk.wait(|screen| !screen[0].contains('│'));
        desk.keys("exit\n");
        desk.left_after_message(&before);
    }
}

fn border(cols: usize, rows: usize) -> impl Fn(&[String]) -> bool {
    let column = |row: &String| row.chars().position(|c| c == '│');
    move |screen| {
        let first = column(&screen[0]);
        first.is_some_and(|at| at.abs_diff(cols / 2) < 2)
            && screen[..rows - 1].iter().all(|row| column(row) == first)
    }
}

impl Desk<'_> {
    /// Like `left`, for a program that says good-bye on the shell's screen.
    fn left_after_message(&mut self, before: &[String]) {
        assert_eq!(self.events.event("alt_screen")["on"], false);
        assert_eq!(self.events.event("command_done")["code"], 0);
        self.events.event("prompt");
        let after = self.screen();
        let row = before.iter().rposition(|row| !row.is_empty()).unwrap();
        assert_eq!(after[..row], before[..row]);
        assert_eq!(after[row + 1..row + 3], ["[exited]", "$"]);
        let cursor = self.client.ok(json!({"cmd": "cursor", "id": self.id}));
        assert_eq!((&cursor["row"], &cursor["col"]), (&json!(row + 2), &json!(2)));
    }
}

#[test]
fn a_fuzzy_finder_finds() {
    if !installed("fzf") {
        return;
    }
    for size in SIZES {
        let server = Server::start();
        let mut desk = Desk::new(&server, size);
        desk.run("echo before");
        let before = desk.screen();
        desk.enter("seq 1000 | fzf --no-mouse > chosen");
        desk.wait(|screen| screen.iter().any(|row| row.contains("1000/1000")));
        desk.keys("777");
        desk.wait(|screen| screen.iter().any(|row| row.contains("1/1000")));
        desk.keys("\n");
        desk.left(&before);
        assert_eq!(std::fs::read_to_string(server.home().join("chosen")).unwrap(), "777\n");
    }
}

#[test]
fn a_python_prompt_answers() {
    if !installed("python3") {
        return;
    }
    let server = Server::start();
    let mut desk = Desk::new(&server, (80, 24));
    desk.keys("python3 -q\n");
    desk.wait(|screen| screen.iter().any(|row| row == ">>>"));
    desk.keys("6*7\n");
    desk.wait(|screen| screen.iter().any(|row| row == "42"));
    desk.keys("for i in range(2):\n    print('n', i)\n\n");
    desk.wait(|screen| screen.windows(2).any(|rows| rows == ["n 0", "n 1"]));
    let info = desk.client.ok(json!({"cmd": "info", "id": desk.id}));
    assert_eq!(info["shell"]["state"], "running");
    assert_eq!(info["shell"]["command"], "python3 -q");
    desk.keys("exit(3)\n");
    assert_eq!(desk.events.event("command_done")["code"], 3);
}

#[test]
fn wide_and_combining_characters_leave_no_blanks() {
    let server = Server::start();
    let mut desk = Desk::new(&server, (20, 24));
    for text in [
        "漢字かな交じり",
        "한글 과 中文",
        "e\u{301}a\u{308}o",
        "😀😁 ok",
        "👩\u{200d}🔬!",
        "ｆｕｌｌ",
        "عربى",
        "ไทย",
        "│├─┤█▒",
    ] {
        std::fs::write(server.home().join("text"), format!("{text}\n")).unwrap();
        assert_eq!(desk.output_of("cat text"), [text], "{text:?}");
    }
    // Eleven do not fit into twenty columns; the last goes to the next row as a whole.
    std::fs::write(server.home().join("text"), "x漢字漢字漢字漢字漢字漢\n").unwrap();
    assert_eq!(desk.output_of("cat text"), ["x漢字漢字漢字漢字漢", "字漢"]);
}

#[test]
fn colours_do_not_leak_into_text() {
    let server = Server::start();
    let mut desk = Desk::new(&server, (80, 24));
    let log = "\x1b[33mcommit 1a2b\x1b[m\x1b[33m (\x1b[m\x1b[1;36mHEAD -> \x1b[m\x1b[38;5;208mmain\
        \x1b[m\x1b[38;2;1;2;3;4:3m)\x1b[m\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b[K\n\
        \x1b[1;31m-old\x1b[m\x1b[K\n\x1b[32m+new\x1b[0;7m \x1b[m\n";
    std::fs::write(server.home().join("log"), log).unwrap();
    assert_eq!(desk.output_of("cat log"), ["commit 1a2b (HEAD -> main)link", "-old", "+new"]);
    // Blanks at the end of a row are there for those who want them.
    let answer = desk.client.ok(json!({"cmd": "text", "id": desk.id, "trim": false}));
    assert_eq!(answer["lines"][0].as_str().unwrap().chars().count(), 80);
}

#[test]
fn a_program_that_dies_on_the_alternate_screen_does_not_take_the_shells_text() {
    let server = Server::start();
    let mut desk = Desk::new(&server, (80, 24));
    desk.run("echo before");
    desk.enter("sh -c 'printf \"\\033[?1049h\\033[?25lgone\"; kill -9 $$'");
    assert_eq!(desk.events.event("command_done")["code"], 137);
    desk.events.event("prompt");
    desk.keys("printf '\\033[?1049l\\033[?25h'\n");
    assert_eq!(desk.events.event("alt_screen")["on"], false);
    desk.wait(|screen| screen[1] == "before");
}
