//! bash, zsh and fish report their commands with no set-up, and are left as their users want them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Server};

/// A shell in a terminal and the stream of its events.
struct Shell<'a> {
    server: &'a Server,
    id: String,
    events: Client,
}

/// A command as its end was told.
#[derive(Debug, PartialEq)]
struct Done {
    code: i64,
    command: String,
    output: Vec<String>,
}

fn done(code: i64, command: &str, output: &[&str]) -> Done {
    let output = output.iter().map(|line| (*line).to_owned()).collect();
    Done { code, command: command.to_owned(), output }
}

impl<'a> Shell<'a> {
    fn start(server: &'a Server, argv: &[&str]) -> Shell<'a> {
        Shell::with(server, argv, json!({}))
    }

    /// A shell at its first prompt.
    fn with(server: &'a Server, argv: &[&str], env: Value) -> Shell<'a> {
        let request = json!({"cmd": "create", "cmd_args": argv, "ready": true, "env": env,
            "cwd": server.home(), "rows": 50});
        let created = server.connect().ok(request);
        assert_eq!(created["ready"], true, "{argv:?} showed no prompt");
        let id = created["id"].as_str().unwrap().to_owned();
        let mut events = server.events(&id, created["seq"].as_u64().unwrap());
        events.event("prompt");
        Shell { server, id, events }
    }

    fn type_in(&mut self, input: &str) {
        self.server.connect().type_in(&self.id, input);
    }

    /// The next end of a command, as it came.
    fn ended(&mut self) -> Value {
        self.events.event("command_done")
    }

    /// Types a line, waits for its end and the next prompt.
    fn raw(&mut self, line: &str) -> Value {
        self.type_in(&format!("{line}\n"));
        let event = self.ended();
        self.events.event("prompt");
        event
    }

    fn run(&mut self, line: &str) -> Done {
        let event = self.raw(line);
        self.told(&event)
    }

    /// What an event of our own integration says, with the text it points to.
    fn told(&self, event: &Value) -> Done {
        assert_eq!(event["trusted"], true, "{event}");
        let command = event["command"].as_str().unwrap_or("(none)").to_owned();
        Done { code: event["code"].as_i64().unwrap(), command, output: self.output(event) }
    }

    fn output(&self, event: &Value) -> Vec<String> {
        let Some(lines) = event["output_lines"].as_array() else { return Vec::new() };
        let (first, end) = (lines[0].as_u64().unwrap(), lines[1].as_u64().unwrap());
        let request = json!({"cmd": "text", "id": self.id, "first_line": first,
            "count": end - first, "join": true});
        let answer = self.server.connect().ok(request);
        let lines = answer["lines"].as_array().unwrap();
        lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }

    /// Ctrl-C at the prompt. fish does not hear it while it colours the line; then it is pressed
    /// again, as a person would.
    fn cancel(&mut self) {
        for _ in 0..10 {
            let since = self.server.connect().type_in(&self.id, "\x03");
            let mut events = self.server.events(&self.id, since);
            events.stream().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            if events.waits_for("prompt") {
                self.events.event("prompt");
                return;
            }
        }
        panic!("Ctrl-C gives no new prompt");
    }

    /// Interrupts a command that rings when it is under way.
    fn interrupt(&mut self) -> Done {
        self.type_in("sh -c 'printf \"\\a\"; exec sleep 100'\n");
        self.events.event("bell");
        self.type_in("\x03");
        let event = self.ended();
        self.events.event("prompt");
        self.told(&event)
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A server whose user has these files in the home directory.
fn server_with(files: &[(&str, &str)]) -> Server {
    let server = Server::start();
    // Without any file of its own zsh would ask a new user what to put there.
    write(&server.home().join(".zshrc"), "");
    for (name, text) in files {
        write(&server.home().join(name), text);
    }
    server
}

/// What a command with a known end looks like in any of the three.
fn check_common(shell: &mut Shell) {
    assert_eq!(shell.run("true"), done(0, "true", &[]));
    assert_eq!(shell.run("false"), done(1, "false", &[]));
    assert_eq!(shell.run("sh -c 'exit 7'"), done(7, "sh -c 'exit 7'", &[]));
    assert_eq!(shell.run("echo 'a;b%41' \"ü\""), done(0, "echo 'a;b%41' \"ü\"", &["a;b%41 ü"]));
    // The prompt comes after the `b`, in the same line.
    let unfinished = shell.run("printf 'a\\n\\nb'").output;
    assert_eq!(unfinished[..2], ["a", ""]);
    assert!(unfinished.len() == 3 && unfinished[2].starts_with('b'), "{unfinished:?}");
    assert_eq!(shell.run("nonesuch-t4a").code, 127);
}

fn check_interrupts(shell: &mut Shell) {
    assert_eq!(shell.interrupt().code, 130);
    shell.type_in("echo half");
    shell.server.wait_for_text(&shell.id, "echo half");
    shell.cancel();
    // Nothing ran, so the next end is that of the next command.
    assert_eq!(shell.run("true"), done(0, "true", &[]));
}

fn check_directory(shell: &mut Shell) {
    let home = shell.server.home();
    std::fs::create_dir(home.join("a b%;ü")).unwrap();
    assert_eq!(shell.raw("true")["cwd"], home.to_str().unwrap());
    shell.type_in("cd 'a b%;ü'\n");
    let moved = shell.events.event("cwd");
    assert_eq!(moved["cwd"], home.join("a b%;ü").to_str().unwrap());
    shell.events.event("prompt");
    assert_eq!(shell.raw("true")["cwd"], moved["cwd"]);
    let info = shell.server.connect().ok(json!({"cmd": "info", "id": shell.id}));
    assert_eq!(info["cwd"], moved["cwd"]);
}

/// Long output is found by its numbers also when it has left the screen.
fn check_long_output(shell: &mut Shell) {
    let numbers: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    assert_eq!(shell.run("seq 300").output, numbers);
    let wide = "x".repeat(250);
    assert_eq!(shell.run("echo $(printf 'x%.0s' $(seq 250))").output, [wide]);
}

#[test]
fn bash_reports_every_command() {
    let server = server_with(&[]);
    let mut shell = Shell::start(&server, &["bash"]);
    check_common(&mut shell);
    assert_eq!(shell.run("(exit 7)"), done(7, "(exit 7)", &[]));
    let wrong = shell.run("echo )");
    assert_eq!(wrong.code, 2);
    check_interrupts(&mut shell);
    check_directory(&mut shell);
    check_long_output(&mut shell);
}

#[test]
fn zsh_reports_every_command() {
    let server = server_with(&[]);
    let mut shell = Shell::start(&server, &["zsh"]);
    check_common(&mut shell);
    assert_eq!(shell.run("(exit 7)"), done(7, "(exit 7)", &[]));
    let wrong = shell.run("echo )");
    assert_eq!(wrong.code, 1);
    check_interrupts(&mut shell);
    check_directory(&mut shell);
    check_long_output(&mut shell);
}

#[test]
fn fish_reports_every_command() {
    let server = server_with(&[]);
    let mut shell = Shell::start(&server, &["fish"]);
    check_common(&mut shell);
    check_interrupts(&mut shell);
    check_directory(&mut shell);
    shell.type_in("echo )\n");
    let event = shell.ended();
    assert_eq!(shell.told(&event).code, 127);
    // fish leaves the wrong line in its editor.
    shell.type_in("\x15");
    assert_eq!(shell.run("true"), done(0, "true", &[]));
    check_long_output_of_fish(&mut shell);
}

fn check_long_output_of_fish(shell: &mut Shell) {
    let numbers: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    assert_eq!(shell.run("seq 300").output, numbers);
    assert_eq!(shell.run("string repeat -n 250 x").output, ["x".repeat(250)]);
}

#[test]
fn a_command_of_many_lines_is_one_command() {
    let server = server_with(&[]);
    let mut bash = Shell::start(&server, &["bash"]);
    let joined = "for i in 1 2; do echo $i; done";
    let pasted = "for i in 1 2; do\necho $i\ndone";
    assert_eq!(bash.run(pasted), done(0, joined, &["1", "2"]));
    let document = "cat <<END\none\n two\nEND";
    assert_eq!(bash.run(document), done(0, document, &["one", " two"]));
    let mut zsh = Shell::start(&server, &["zsh"]);
    assert_eq!(zsh.run(pasted), done(0, pasted, &["1", "2"]));
    assert_eq!(zsh.run(document), done(0, document, &["one", " two"]));
    let mut fish = Shell::start(&server, &["fish"]);
    let loop_of_fish = "for i in 1 2\necho $i\nend";
    assert_eq!(fish.run(loop_of_fish).output, ["1", "2"]);
}

#[test]
fn two_pasted_commands_have_two_ends() {
    let server = server_with(&[]);
    let mut bash = Shell::start(&server, &["bash"]);
    bash.type_in("sh -c 'exit 3'\nfalse\n");
    for expected in [done(3, "sh -c 'exit 3'", &[]), done(1, "false", &[])] {
        let event = bash.ended();
        let Done { code, command, .. } = bash.told(&event);
        assert_eq!((code, command), (expected.code, expected.command));
    }
}

/// Exit codes come through whatever the user has done to the prompt, and that goes on working.
fn check_codes(shell: &mut Shell) {
    for (line, code) in [("true", 0), ("sh -c 'exit 7'", 7), ("false", 1), ("echo hi", 0)] {
        let told = shell.run(line);
        assert_eq!((told.code, told.command.as_str()), (code, line));
    }
    assert_eq!(shell.run("echo hi").output, ["hi"]);
    assert_eq!(shell.interrupt().code, 130);
}

#[test]
fn a_users_bash_prompt_goes_on_working() {
    let theme = "PS1='<$?> \\[\\e[32m\\]\\w\\[\\e[0m\\]\\n> '";
    let every = "seen=0; count() { last=$?; seen=$((seen+1)); };";
    let string = format!("{every} {theme}; PROMPT_COMMAND='count; (exit $last)'");
    let array = format!("{every} {theme}; PROMPT_COMMAND=(count 'PS1=\"[$seen]$ \"')");
    let trap = format!("{every} {theme}; trap ': debug' DEBUG; set -o functrace; {string}");
    let preexec =
        format!("{every} trap 'was=$this this=$BASH_COMMAND' DEBUG; PROMPT_COMMAND=count");
    for rc in [&string, &array, &trap, &preexec] {
        let server = server_with(&[(".bashrc", rc)]);
        let mut shell = Shell::start(&server, &["bash"]);
        check_codes(&mut shell);
        let seen = shell.run("echo seen $seen");
        assert!(!["seen", "seen 0"].contains(&seen.output[0].as_str()), "{rc}: {seen:?}");
        shell.run("sh -c 'exit 9'");
        assert_eq!(shell.run("echo $last").output, ["9"], "{rc}");
    }
}

#[test]
fn a_users_zsh_prompt_goes_on_working() {
    let counts = "seen=0; precmd() { last=$?; seen=$((seen+1)) }";
    let rebuilt = format!(
        "{counts}; preexec() {{ ran=$1 }}; \
        theme() {{ PS1=\"[$seen] %~ %# \" }}; autoload -Uz add-zsh-hook; add-zsh-hook precmd theme"
    );
    let late = format!("{counts}; PS1='%F{{red}}%(?..%?)%f %'; setopt prompt_subst no_unset");
    for rc in [counts, &rebuilt, &late] {
        let server = server_with(&[(".zshrc", rc)]);
        let mut shell = Shell::start(&server, &["zsh"]);
        check_codes(&mut shell);
        assert_ne!(shell.run("echo seen $seen").output, ["seen 0"]);
        shell.run("sh -c 'exit 9'");
        assert_eq!(shell.run("echo $last").output, ["9"], "{rc}");
    }
}

#[test]
fn a_users_fish_prompt_goes_on_working() {
    let prompt = "function fish_prompt; set -g last $status; echo \"<$last>\"; echo '> '; end";
    let server = server_with(&[(".config/fish/config.fish", prompt)]);
    let mut shell = Shell::start(&server, &["fish"]);
    check_codes(&mut shell);
    shell.run("sh -c 'exit 9'");
    server.wait_for_text(&shell.id, "<9>");
    assert_eq!(shell.run("echo $last").output, ["9"]);
    // One that is defined later is kept too.
    shell.run("function fish_prompt; echo \"later$status> \"; end");
    server.wait_for_text(&shell.id, "later0>");
    shell.run("sh -c 'exit 4'");
    server.wait_for_text(&shell.id, "later4>");
}

const RC_FILES: &[(&str, &str)] = &[
    (".bashrc", "from_rc=bashrc; HISTFILE=~/own_history"),
    (".bash_profile", "from_profile=bash_profile"),
    (".zshenv", "from_env=zshenv"),
    (".zprofile", "from_profile=zprofile"),
    (".zshrc", "from_rc=zshrc; HISTFILE=~/own_history SAVEHIST=9 HISTSIZE=9"),
    (".config/fish/config.fish", "set from_rc config.fish"),
];

#[test]
fn users_files_are_read_as_ever() {
    let server = server_with(RC_FILES);
    let show = "echo \"$from_env,$from_profile,$from_rc,$HISTFILE\"";
    let home = server.home();
    let own = format!("{}/own_history", home.display());
    let check = |argv: &[&str], expected: &str| {
        let output = Shell::start(&server, argv).run(show).output;
        assert_eq!(output, [expected], "{argv:?}");
    };
    check(&["bash"], &format!(",,bashrc,{own}"));
    check(&["bash", "-i"], &format!(",,bashrc,{own}"));
    check(&["bash", "-l"], &format!(",bash_profile,,{}/.bash_history", home.display()));
    check(&["zsh"], &format!("zshenv,,zshrc,{own}"));
    check(&["zsh", "-l"], &format!("zshenv,zprofile,zshrc,{own}"));
    check(&["fish"], ",,config.fish,");
    // A directory of the user's own for zsh is still theirs, also inside.
    write(&home.join("z/.zshrc"), "from_rc=z");
    let env = json!({"ZDOTDIR": home.join("z")});
    let mut shell = Shell::with(&server, &["zsh"], env);
    assert_eq!(shell.run("echo $from_rc $ZDOTDIR").output, [format!("z {}/z", home.display())]);
}

#[test]
fn the_environment_shows_no_leftovers() {
    let server = server_with(&[]);
    for program in ["bash", "zsh", "fish"] {
        let mut shell = Shell::start(&server, &[program]);
        let ours = "env | grep -i -e '^_*t4a' -e '^zdotdir' | cut -d= -f1 | sort";
        assert_eq!(shell.run(ours).output, ["T4A_SOCKET", "T4A_TERMINAL"], "{program}");
        assert_eq!(shell.run("echo $T4A_TERMINAL").output, [shell.id.clone()]);
        assert_eq!(shell.run("sh -c 'echo ${PS0-none}'").output, ["none"], "{program}");
    }
}

#[test]
fn history_has_what_was_typed_and_nothing_else() {
    let server = server_with(&[]);
    let mut bash = Shell::start(&server, &["bash"]);
    bash.run("echo one");
    bash.run("false");
    bash.type_in("exit\n");
    bash.events.event("exit");
    let kept = std::fs::read_to_string(server.home().join(".bash_history")).unwrap();
    assert_eq!(kept, "echo one\nfalse\nexit\n");
}

#[test]
fn what_stays_out_of_the_history_is_read_from_the_screen() {
    let server = server_with(&[(".bashrc", "HISTCONTROL=ignoreboth PS1='prompt$ '")]);
    let mut bash = Shell::start(&server, &["bash"]);
    assert_eq!(bash.run("echo one"), done(0, "echo one", &["one"]));
    assert_eq!(bash.run("echo one"), done(0, "echo one", &["one"]));
    assert_eq!(bash.run(" echo two"), done(0, "echo two", &["two"]));
}

#[test]
fn a_nested_shell_reports_by_the_printed_snippet() {
    let server = server_with(&[]);
    let mut outer = Shell::start(&server, &["bash"]);
    let t4a = env!("CARGO_BIN_EXE_t4a");
    outer.type_in("bash\n");
    let start = outer.events.event("command_start");
    assert_eq!(start["command"], "bash");
    outer.type_in(&format!("eval \"$('{t4a}' shell-init bash)\"\n"));
    outer.events.event("prompt");
    let inner = outer.raw("sh -c 'exit 5'");
    assert_eq!((&inner["code"], &inner["command"]), (&json!(5), &json!("sh -c 'exit 5'")));
    assert_eq!(inner["trusted"], false, "the key must not be inherited");
    outer.type_in("exit 6\n");
    let left = outer.events.event_where("command_done", |event| event["trusted"] == true);
    assert_eq!(left["code"], 6);
    outer.events.event("prompt");
    assert_eq!(outer.run("true"), done(0, "true", &[]));
}

#[test]
fn only_a_shell_alone_is_integrated() {
    let server = server_with(&[]);
    let mut client = server.connect();
    let integrated = |client: &mut Client, id: &Value| {
        client.ok(json!({"cmd": "info", "id": id}))["shell"]["integrated"].clone()
    };
    for argv in [&["bash", "-c", "read x"][..], &["vim"], &["bash", "--norc"], &["sh"], &["cat"]] {
        let created = client.ok(json!({"cmd": "create", "cmd_args": argv}));
        assert_eq!(integrated(&mut client, &created["id"]), false, "{argv:?}");
        let pid = created["pid"].as_u64().unwrap();
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        assert_eq!(line, format!("{}\0", argv.join("\0")).as_bytes());
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = server.json(&["create", "--no-integration", "--", shell]);
        assert_eq!(integrated(&mut client, &output["id"]), false, "{shell}");
        let request = json!({"cmd": "create", "cmd_args": [shell], "shell_integration": false});
        let created = client.ok(request);
        assert_eq!(integrated(&mut client, &created["id"]), false, "{shell}");
    }
}

#[test]
fn a_shell_without_integration_gets_ready_too() {
    let server = server_with(&[]);
    let mut client = server.connect();
    for argv in [&["bash"][..], &["zsh"], &["fish"], &["sh"]] {
        let request = json!({"cmd": "create", "cmd_args": argv, "ready": true,
            "shell_integration": false, "idle_timeout_ms": 300});
        assert_eq!(client.ok(request)["ready"], true, "{argv:?}");
    }
    let request = json!({"cmd": "create", "cmd_args": ["false"], "ready": true});
    assert_eq!(client.ok(request)["ready"], false);
}

#[test]
fn integration_files_are_nobody_elses() {
    let server = server_with(&[]);
    let mut shell = Shell::start(&server, &["bash"]);
    let pid = shell.run("echo $$").output[0].clone();
    let line = String::from_utf8(std::fs::read(format!("/proc/{pid}/cmdline")).unwrap()).unwrap();
    let file = Path::new(line.split('\0').nth(2).unwrap());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    assert_eq!(mode(file), 0o600);
    assert!(file.starts_with(server.dir()), "{}", file.display());
}

#[test]
fn a_forged_end_is_not_trusted() {
    let server = server_with(&[]);
    let mut shell = Shell::start(&server, &["bash"]);
    shell.type_in("printf '\\e]7777;done;0;key=guess\\a\\e]133;D;0\\a'; sh -c 'exit 3'\n");
    let real = shell.events.event_where("command_done", |event| event["trusted"] == true);
    assert_eq!(real["code"], 3);
}
