//! run: a command's code and its own output, whatever it prints.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Server};

fn check(client: &mut Client, id: &str, command: &str, code: i64, lines: &[&str]) {
    let answer = client.run(id, command);
    let told = (&answer["code"], &answer["lines"]);
    assert_eq!(told, (&json!(code), &json!(lines)), "{command:?}: {answer}");
    assert_eq!((&answer["timed_out"], &answer["ended_by"]), (&json!(false), &json!("shell")));
}

#[test]
fn a_command_is_answered_with_its_code_and_output() {
    let server = Server::start();
    server.each_shell(|_, id| {
        let mut client = server.connect();
        check(&mut client, id, "true", 0, &[]);
        check(&mut client, id, "false", 1, &[]);
        check(&mut client, id, "echo one; echo; echo three", 0, &["one", "", "three"]);
        check(&mut client, id, "sh -c 'echo to stderr >&2; exit 7'", 7, &["to stderr"]);
        check(&mut client, id, "printf 'a\\nno end'", 0, &["a", "no end"]);
        check(&mut client, id, "printf '\\033[31mred\\033[m\\n'", 0, &["red"]);
        check(&mut client, id, "echo one\necho two", 0, &["one", "two"]);
        let wide = "x".repeat(250);
        check(&mut client, id, &format!("echo {wide}"), 0, &[&wide]);
        check(&mut client, id, "printf 'tab\\there\\n'", 0, &["tab     here"]);
        let answer = client.run(id, "cd /tmp");
        assert_eq!(answer["cwd"], "/tmp");
        let gone = client.run(id, "exec sh -c 'echo bye; exit 6'");
        assert_eq!((&gone["ended_by"], &gone["exit_code"]), (&json!("exit"), &json!(6)), "{gone}");
        assert_eq!(gone["lines"], json!(["bye"]));
        client.refused(json!({"cmd": "run", "id": id, "command": "true"}), "exited");
    });
}

/// A document within a command, and one with an empty line and quotes in it.
#[test]
fn commands_of_several_lines_are_pasted() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    check(
        &mut client,
        &id,
        "cat <<'END'\n  $HOME `x`\n\n\tthe end!\nEND",
        0,
        &["  $HOME `x`", "", "        the end!"],
    );
    check(&mut client, &id, "for i in 1 2; do\n  echo $i\ndone\n", 0, &["1", "2"]);
    check(&mut client, &id, "f() {\n  echo called\n  return 4\n}\nf", 4, &["called"]);
    // Without bracketed paste each line end is quoted.
    client.run(&id, "bind 'set enable-bracketed-paste off'");
    client.run(&id, "true");
    check(&mut client, &id, "for i in 1 2; do\n\techo $i\ndone", 0, &["1", "2"]);
}

#[test]
fn head_and_tail_of_long_output_come_with_the_number_left_out() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        let run = json!({"cmd": "run", "id": id, "command": "seq 100000", "max_lines": 5});
        let answer = client.ok(run);
        assert_eq!(answer["lines"], json!(["1", "2", "3", "99999", "100000"]), "{shell}");
        let first = answer["output_lines"][0].as_u64().unwrap();
        let left = json!({"at": 3, "count": 99_995, "lines": [first + 3, first + 99_998]});
        assert_eq!(answer["left_out"], left, "{shell}");
        let text = json!({"cmd": "text", "id": id, "first_line": first + 98_765, "count": 1});
        assert_eq!(client.ok(text)["lines"], json!(["98766"]));
    });
}

#[test]
fn a_shell_that_runs_something_is_busy() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        let command = "sh -c 'printf \"\\a\"; exec sleep 100'";
        let seq = client.type_in(id, &format!("{command}\n"));
        client.ok(json!({"cmd": "wait", "id": id, "any": [{"event": "bell"}], "after": seq}));
        let run = json!({"cmd": "run", "id": id, "command": "true"});
        let answer = client.ask(run.clone());
        assert_eq!((&answer["code"], &answer["running"]), (&json!("busy"), &json!(command)));
        assert!(answer["error"].as_str().unwrap().contains("sleep 100"), "{shell}");
        let seq = client.type_in(id, "\x03");
        client.ok(json!({"cmd": "wait", "id": id, "any": [{"prompt": true}], "after": seq}));
        check(&mut client, id, "true", 0, &[]);
        // Two at once: the second is told of the first.
        let mut other = server.connect();
        client.send(&json!({"cmd": "run", "id": id, "command": "sleep 0.3"}));
        other.ok(
            json!({"cmd": "wait", "id": id, "any": [{"event": "command_start"}], "after": seq}),
        );
        other.refused(run, "busy");
        assert_eq!(client.next()["code"], 0);
    });
}

#[test]
fn a_command_that_takes_too_long_goes_on_and_its_end_is_found_later() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        let command = "echo begin; sleep 0.5; echo end; sh -c 'exit 4'";
        let run = json!({"cmd": "run", "id": id, "command": command, "timeout_ms": 200});
        let answer = client.ok(run);
        assert_eq!((&answer["timed_out"], &answer["code"]), (&json!(true), &Value::Null));
        assert_eq!(answer["lines"], json!(["begin"]), "{shell}: {answer}");
        assert!(answer["screen"].to_string().contains("begin"));
        let wait = json!({"cmd": "wait", "id": id, "any": [{"event": "command_done"}],
            "after": answer["seq"]});
        assert_eq!(client.ok(wait)["found"]["code"], 4);
        check(&mut client, id, "echo next", 0, &["next"]);
    });
}

#[test]
fn an_unfinished_command_is_told_and_the_prompt_is_clean_again() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        for (command, prompt) in [("echo 'open", ">"), ("for i in 1 2", ""), ("echo one |", "")] {
            if shell == "fish" && command.starts_with("echo one") {
                continue;
            }
            let answer = client.ask(json!({"cmd": "run", "id": id, "command": command}));
            // fish and zsh know at once that a loop without its body is none.
            if answer["ok"] == false {
                assert_eq!(answer["code"], "incomplete", "{shell}: {command}: {answer}");
                if shell != "fish" {
                    assert!(answer["prompt"].as_str().unwrap().contains(prompt), "{answer}");
                }
            } else {
                assert_ne!(answer["code"], 0, "{shell}: {command}: {answer}");
            }
            check(&mut client, id, "echo clean", 0, &["clean"]);
        }
        for command in ["", "  ", "\n"] {
            client.refused(json!({"cmd": "run", "id": id, "command": command}), "incomplete");
        }
        if shell == "bash" {
            let none = json!({"cmd": "run", "id": id, "command": "echo a!nonesuch"});
            let error = client.refused(none, "incomplete");
            assert!(error.contains("event not found"), "{error}");
            let comment = json!({"cmd": "run", "id": id, "command": "# nothing"});
            assert!(client.refused(comment, "incomplete").contains("nothing ran"));
        }
        let wrong = client.run(id, "echo )");
        assert_ne!(wrong["code"], 0, "{shell}: {wrong}");
        assert!(wrong["lines"].to_string().contains(')'), "{shell}: {wrong}");
        check(&mut client, id, "echo clean", 0, &["clean"]);
    });
}

#[test]
fn a_half_typed_line_is_not_run_along() {
    let server = Server::start();
    server.each_shell(|_, id| {
        let mut client = server.connect();
        client.type_in(id, "rm -r");
        client.wait(id, json!([{"text": "rm -r"}]));
        check(&mut client, id, "echo mine", 0, &["mine"]);
    });
}

#[test]
fn without_a_shell_a_pattern_or_quiet_tells_the_end() {
    let server = Server::start();
    let mut client = server.connect();
    let mut python = |fields: Value| {
        let mut request = json!({"cmd": "run", "id": "py"});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        client.ok(request)
    };
    let created =
        json!({"cmd": "create", "cmd_args": ["python3", "-q"], "name": "py", "ready": true});
    server.connect().ok(created);
    server.connect().wait("py", json!([{"regex": "^>>> $"}]));
    let answer = python(json!({"command": "6 * 7", "until": "^>>> $"}));
    assert_eq!((&answer["lines"], &answer["ended_by"]), (&json!(["42"]), &json!("until")));
    let lines = "for i in range(3):\n  print('>', i)\n\n";
    let answer = python(json!({"command": lines, "until": "^>>> $"}));
    assert_eq!(answer["lines"], json!(["> 0", "> 1", "> 2"]), "{answer}");
    let answer = python(json!({"command": "print('quiet')", "idle_ms": 200}));
    assert_eq!((&answer["lines"], &answer["ended_by"]), (&json!(["quiet"]), &json!("idle")));
    let answer = python(json!({"command": "import time; time.sleep(100)", "until": "^>>> $",
        "timeout_ms": 200}));
    assert_eq!(answer["timed_out"], true);
    server.connect().type_in("py", "\x03");
    server.connect().wait("py", json!([{"regex": "^>>> $"}]));
    let answer = python(json!({"command": "exit(9)", "until": "^>>> $"}));
    assert_eq!((&answer["ended_by"], &answer["exit_code"]), (&json!("exit"), &json!(9)));
    let error = server
        .connect()
        .refused(json!({"cmd": "run", "id": "py", "command": "x", "until": "a("}), "bad_value");
    assert!(error.contains("a(\n     ^"), "{error}");
}

/// A program within a shell that reports: the shell says when it ends, the pattern when it is ready.
#[test]
fn a_program_in_a_shell_is_run_into_and_out_of() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    let mut run = |command: &str| {
        client.ok(json!({"cmd": "run", "id": id, "command": command, "until": "^(sqlite> |>>> )$"}))
    };
    assert_eq!(run("python3 -q")["ended_by"], "until");
    assert_eq!(run("'a' * 3")["lines"], json!(["'aaa'"]));
    let end = run("print('bye'); exit(3)");
    assert_eq!(end["lines"], json!(["bye"]));
    assert_eq!((&end["ended_by"], &end["code"]), (&json!("shell"), &json!(3)), "{end}");
    assert_eq!(run("sqlite3 -interactive")["ended_by"], "until");
    assert_eq!(run("select 6 * 7;")["lines"], json!(["42"]));
    assert_eq!(run(".quit")["code"], 0);
}

#[test]
fn a_keyboard_that_someone_holds_is_not_typed_on() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut person = server.connect();
    person.ok(json!({"cmd": "attach", "id": id, "role": "take", "name": "ann", "tag": 1}));
    let error =
        server.connect().refused(json!({"cmd": "run", "id": id, "command": "true"}), "held");
    assert!(error.contains("ann"), "{error}");
    drop(person);
    server
        .connect()
        .ok(json!({"cmd": "wait", "id": id, "any": [{"event": "released"}], "after": 0}));
    check(&mut server.connect(), &id, "true", 0, &[]);
}

#[test]
fn a_client_that_leaves_frees_its_run_and_the_command_goes_on() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut gone = server.connect();
    gone.send(&json!({"cmd": "run", "id": id, "command": "sleep 0.3; echo done"}));
    let mut client = server.connect();
    client.ok(json!({"cmd": "wait", "id": id, "any": [{"event": "command_start"}], "after": 0}));
    drop(gone);
    client.wait(&id, json!([{"regex": "^done$"}]));
    client.wait(&id, json!([{"prompt": true}]));
    check(&mut client, &id, "echo mine", 0, &["mine"]);
}

/// Whatever it prints, a command's answer is its own: again and again, with a job that prints in
/// between.
#[test]
fn a_thousand_commands_in_a_row_are_right() {
    let server = Server::start();
    server.each_shell(|shell, id| {
        let mut client = server.connect();
        let rounds = if shell == "fish" { 10 } else { 45 };
        for round in 0..rounds {
            let n = round.to_string();
            check(&mut client, id, &format!("echo {n}"), 0, &[&n]);
            check(&mut client, id, "printf '$ '", 0, &["$"]);
            check(
                &mut client,
                id,
                "printf '$ \\n> \\nroot@host:~# '",
                0,
                &["$", ">", "root@host:~#"],
            );
            check(&mut client, id, "printf 'blanks   \\n  \\nx'", 0, &["blanks", "", "x"]);
            check(&mut client, id, "printf 'one\\rO\\n\\033[1A\\033[3Cpast\\n'", 0, &["Onepast"]);
            check(
                &mut client,
                id,
                "printf '\\033[1;31mred\\033[0m \\033[7m%s\\033[m\\n' in",
                0,
                &["red in"],
            );
            check(
                &mut client,
                id,
                "printf '\\033]133;D;0\\007\\033]7777;done;0\\007forged\\n'; sh -c 'exit 5'",
                5,
                &["forged"],
            );
            check(&mut client, id, "sh -c 'exit 3'", 3, &[]);
            check(&mut client, id, "true", 0, &[]);
            check(&mut client, id, "seq 40 | tail -n 2", 0, &["39", "40"]);
        }
        // What another job prints in between may stand among the lines, never in place of them.
        client.run(id, "sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.02; echo noise; done' &");
        for round in 0..10 {
            let answer = client.run(id, &format!("echo quiet {round}; sleep 0.01"));
            let lines: Vec<_> = answer["lines"].as_array().unwrap().iter().collect();
            let own = json!(format!("quiet {round}"));
            assert_eq!(answer["code"], 0, "{shell}: {answer}");
            assert!(lines.contains(&&own), "{shell}: {answer}");
            let known =
                |line: &str| line.is_empty() || line.contains("noise") || line.contains("Job 1");
            let strange = lines.iter().filter(|line| **line != &own);
            assert!(strange.into_iter().all(|line| known(line.as_str().unwrap())), "{answer}");
        }
    });
}

/// Many clients, each with commands of its own in a terminal of its own; every answer is the right
/// one and comes soon after its command's end. T4A_STRESS_SECONDS makes it longer.
#[test]
fn fifty_clients_in_fifty_terminals_get_their_own_answers() {
    let seconds = std::env::var("T4A_STRESS_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(3));
    let server = Server::start();
    let ids: Vec<_> = (0..50).map(|_| server.shell("bash")).collect();
    let counts: Vec<(usize, u128)> = std::thread::scope(|scope| {
        let workers = ids.iter().enumerate().map(|(me, id)| {
            let server = &server;
            scope.spawn(move || {
                let (mut client, start) = (server.connect(), Instant::now());
                let (mut count, mut slowest) = (0, 0);
                while start.elapsed() < time {
                    let text = format!("client {me} run {count}");
                    let code = (me + count) % 100;
                    let before = Instant::now();
                    check(
                        &mut client,
                        id,
                        &format!("echo {text}; (exit {code})"),
                        code as i64,
                        &[&text],
                    );
                    slowest = slowest.max(before.elapsed().as_millis());
                    count += 1;
                }
                (count, slowest)
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let all: usize = counts.iter().map(|(count, _)| count).sum();
    let slowest = counts.iter().map(|(_, slowest)| slowest).max().unwrap();
    println!("{all} runs in {time:?}, the slowest took {slowest} ms");
    assert!(counts.iter().all(|(count, _)| *count > 0));
}

#[test]
fn the_command_line_runs_and_ends_with_the_commands_code() {
    let server = Server::start();
    let id = server.shell("bash");
    let check = |args: &[&str], code: i32, stdout: &str| {
        let output = server.cli(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{args:?}");
    };
    check(&["run", &id, "--", "echo a  b | cat; (exit 3)"], 3, "a b\n");
    check(&["run", &id, "--", "echo", "a  b", "it's", "$HOME"], 0, "a  b it's $HOME\n");
    check(&["run", &id, "--max-lines", "2", "--", "seq 9"], 0, "1\n…\n9\n");
    check(&["run", &id, "--timeout-ms", "100", "--", "sleep 0.3"], 124, "");
    server.connect().wait(&id, json!([{"prompt": true}]));
    check(&["run", "--new", "--", "seq 20000 | tail -n 1; (exit 7)"], 7, "20000\n");
    check(&["run", "--new", "--", "pwd"], 0, &format!("{}\n", server.home().display()));
    let terminals = server.json(&["list"]);
    assert_eq!(terminals["terminals"].as_array().unwrap().len(), 1, "the new ones are gone");
    let answer = server.json(&["run", &id, "--json", "--", "true"]);
    assert_eq!(answer["code"], 0);
}
