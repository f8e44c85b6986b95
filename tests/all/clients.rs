//! The clients in Python and TypeScript and their examples, against a real server.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{Server, installed};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command that must succeed; what it prints.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

/// A program with a server's environment, t4a in its PATH and a directory of its own.
fn beside(server: &Server, program: impl AsRef<Path>) -> Command {
    let t4a = Path::new(env!("CARGO_BIN_EXE_t4a"));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program.as_ref());
    for (name, value) in server.command().get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
        .env_remove("T4A_TERMINAL")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PATH", format!("{}:{path}", t4a.parent().unwrap().display()))
        .current_dir(server.home());
    command
}

fn files(dir: &str, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(dir)).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == ending)).collect();
    found.sort();
    found
}

/// What each example prints, or a part of it.
const EXAMPLES: [(&str, &str); 7] = [
    ("anthropic_tools.py", "the file has 3 lines, seen in a picture"),
    ("anthropic_tools.ts", "2 lines, exit code 3, and a picture"),
    ("bench_session.py", "line 1\nline 2\nline 3\n"),
    ("langchain_tools.py", "run_command -> ['exit code 1', '/']"),
    ("openai_tools.py", "the result is 42"),
    ("plain_loop.py", "the file has 20 lines"),
    ("vercel_ai.ts", "command_done with code 0, as told by 0; later: true"),
];

fn check_example(server: &Server, name: &str, printed: &str) {
    let expected = EXAMPLES.iter().find(|(example, _)| *example == name);
    let (_, expected) = expected.unwrap_or_else(|| panic!("{name} is not tested"));
    assert!(printed.contains(expected), "{name} prints\n{printed}");
    let list = server.connect().ok(json!({"cmd": "list"}));
    assert_eq!(list["terminals"], json!([]), "{name} leaves a terminal behind");
}

#[test]
fn the_python_client_has_every_command() {
    let server = Server::not_started();
    let mut command = beside(&server, "python3");
    command.arg(root().join("tests/clients/client.py")).arg(root().join("contrib/clients"));
    assert_eq!(output(&mut command), "all is well\n");
}

#[test]
fn the_python_examples_run() {
    let server = Server::start();
    for example in files("contrib/clients/examples", "py") {
        let printed = output(beside(&server, "python3").arg(&example));
        check_example(&server, example.file_name().unwrap().to_str().unwrap(), &printed);
    }
}

#[test]
fn the_python_client_is_typed() {
    let server = Server::not_started();
    let mut mypy = beside(&server, installed("python/bin/python"));
    mypy.args(["-m", "mypy", "--strict", "--cache-dir=/dev/null", "--python-version=3.10"]);
    mypy.env("MYPYPATH", root().join("contrib/clients"));
    output(
        mypy.arg(root().join("contrib/clients/t4a.py"))
            .args(files("contrib/clients/examples", "py")),
    );
}

/// Types are checked and taken out by the compiler; what is left runs.
#[test]
fn the_typescript_client_and_its_examples_run() {
    let server = Server::start();
    let types = installed("node/node_modules/@types");
    let out = server.dir().join("js");
    let mut tsc = beside(&server, installed("node/node_modules/.bin/tsc"));
    tsc.args(["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"]);
    tsc.arg("--typeRoots").arg(types).arg("--rootDir").arg(root()).arg("--outDir").arg(&out);
    let examples = files("contrib/clients/examples", "ts");
    output(tsc.args(&examples).arg(root().join("tests/clients/client.ts")));
    let printed = output(beside(&server, "node").arg(out.join("tests/clients/client.js")));
    assert_eq!(printed, "all is well\n");
    for example in examples {
        let name = example.file_name().unwrap().to_str().unwrap();
        let script = out.join("contrib/clients/examples").join(name).with_extension("js");
        check_example(&server, name, &output(beside(&server, "node").arg(script)));
    }
}
