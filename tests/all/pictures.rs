//! Screenshots through the real program: the header, the bytes, and what is refused.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::{Client, PATIENCE, Server};

/// A terminal that has printed something and rings when it has.
fn shown(server: &Server, cols: u16, rows: u16, program: &str) -> String {
    let program = format!("{program}; printf '\\a'; exec cat");
    let create =
        json!({"cmd": "create", "cols": cols, "rows": rows, "cmd_args": ["sh", "-c", program]});
    let created = server.connect().ok(create);
    let id = created["id"].as_str().unwrap().to_owned();
    server.events(&id, 0).event("bell");
    id
}

/// A header and the bytes after it.
fn picture(client: &mut Client, request: Value) -> (Value, Vec<u8>) {
    let header = client.ok(request);
    let bytes = client.bytes(header["len"].as_u64().unwrap() as usize);
    (header, bytes)
}

fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82")
}

/// Width and height as the picture itself has them.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// The client of the first protocol description, to the letter: it reads with the header whatever
/// comes along, so that nothing may.
fn seed_screen(server: &Server, id: &str) -> Vec<u8> {
    let mut socket = UnixStream::connect(server.socket()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = json!({"cmd": "screenshot", "id": id});
    socket.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        // Both parts are there by now.
        std::thread::sleep(Duration::from_millis(100));
        let mut buffer = [0; 4096];
        let count = socket.read(&mut buffer).unwrap();
        line.extend_from_slice(&buffer[..count]);
    }
    let header: Value = serde_json::from_slice(&line).expect("the header comes alone");
    let mut png = vec![0; header["len"].as_u64().unwrap() as usize];
    socket.read_exact(&mut png).unwrap();
    png
}

#[test]
fn a_client_of_the_first_description_gets_its_picture() {
    let server = Server::start();
    let id = shown(&server, 80, 24, "seq 1 20");
    for _ in 0..3 {
        let png = seed_screen(&server, &id);
        assert!(is_png(&png));
        assert_eq!(size(&png), (560, 336));
    }
}

#[test]
fn the_header_tells_what_follows() {
    let server = Server::start();
    let id = shown(&server, 80, 24, "echo hello");
    let mut client = server.connect();
    let request =
        json!({"cmd": "screenshot", "id": id, "cursor": true, "pad": 1, "scale": 66, "tag": 7});
    let (header, png) = picture(&mut client, request);
    assert_eq!(header["tag"], 7);
    assert_eq!(size(&png), (640, 360), "padding is added to each cell");
    let (header, png) = picture(&mut client, json!({"cmd": "screenshot", "id": id, "scale": 100}));
    assert_eq!(size(&png), (800, 480));
    assert_eq!((&header["width"], &header["height"]), (&json!(800), &json!(480)));
    assert_eq!((&header["cell_width"], &header["cell_height"]), (&json!(10), &json!(20)));
    assert_eq!(header["tokens"]["claude"], 522);
    let inline = json!({"cmd": "screenshot", "id": id, "scale": 100, "encoding": "base64"});
    let inline = client.ok(inline);
    let bytes = BASE64_STANDARD.decode(inline["data_base64"].as_str().unwrap()).unwrap();
    assert!(bytes == png, "the same screen is the same picture");
    let budget = json!({"cmd": "screenshot", "id": id, "max_tokens": 240});
    assert_eq!(picture(&mut client, budget).0["width"], 560);
}

#[test]
fn an_unchanged_screen_costs_next_to_nothing() {
    let server = Server::start();
    let id = shown(&server, 80, 24, "echo hello");
    let mut client = server.connect();
    let (header, _) = picture(&mut client, json!({"cmd": "screenshot", "id": id}));
    let again = json!({"cmd": "screenshot", "id": id, "if_changed_since": header["stamp"]});
    let answer = client.ok(again.clone());
    assert_eq!((&answer["unchanged"], &answer["len"]), (&json!(true), &json!(0)));
    client.ok(json!({"cmd": "send", "id": id, "input": "more\n"}));
    server.wait_for_text(&id, "more");
    assert!(is_png(&picture(&mut client, again).1));
}

#[test]
fn parts_of_the_screen_and_of_the_scrollback() {
    let server = Server::start();
    let id = shown(&server, 20, 5, "seq -f 'line %.0f' 0 29");
    let mut client = server.connect();
    let mut text = |fields: Value| {
        let mut request = json!({"cmd": "screenshot", "id": id, "format": "text"});
        for (name, value) in fields.as_object().unwrap() {
            request[name] = value.clone();
        }
        let (header, bytes) = picture(&mut client, request);
        (header, String::from_utf8(bytes).unwrap())
    };
    assert_eq!(text(json!({"rows": [1, 3]})).1, "line 28\nline 29\n");
    let (header, lines) = text(json!({"lines": [3, 5], "gutter": "lines"}));
    assert_eq!(lines, "3 line 3\n4 line 4\n");
    assert_eq!((&header["first_line"], &header["next_line"]), (&json!(3), &json!(5)));
    let region = json!({"row": 1, "col": 5, "rows": 2, "cols": 2});
    assert_eq!(text(json!({"region": region})).1, "27\n28\n");
    let found = text(json!({"highlight": {"text": "LINE", "ignore_case": true}}));
    assert_eq!(found.0["highlighted"], 4);
    let changed = text(json!({"highlight": {"since": 0}}));
    assert_eq!(changed.0["highlighted"], 5);
}

#[test]
fn every_format_is_what_it_says() {
    let server = Server::start();
    let id = shown(&server, 20, 3, "printf '\\033[1;31mred\\033[m'");
    let mut client = server.connect();
    for (format, start) in [
        ("svg", "<svg"),
        ("html", "<!DOCTYPE"),
        ("ansi", "\x1b[0;1;31mred"),
        ("text", "red"),
        ("json", "{"),
    ] {
        let request = json!({"cmd": "screenshot", "id": id, "format": format});
        let (header, bytes) = picture(&mut client, request);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with(start), "{format}: {text}");
        assert_eq!(header["format"], format);
        assert_eq!(header.get("width").is_some(), format == "svg");
    }
}

#[test]
fn what_is_out_of_range_is_named() {
    let server = Server::start();
    let id = shown(&server, 20, 5, "seq 1 9");
    let mut client = server.connect();
    let cases = [
        (json!({"scale": 9}), "10 to 400"),
        (json!({"scale": 401}), "10 to 400"),
        (json!({"pad": 100_000}), "0 to 32"),
        (json!({"rows": [0, 6]}), "<= 5"),
        (json!({"rows": [3, 3]}), "start < end"),
        (json!({"rows": [0, 1], "lines": [0, 1]}), "one of them"),
        (json!({"lines": [0, 99]}), "0 <= first < end <= 10"),
        (json!({"region": {"row": 5}}), "0 to 4"),
        (json!({"region": {"col": 3, "cols": 18}}), "1 to 17"),
        (json!({"format": "gif"}), "expected one of `png`"),
        (json!({"theme": "pink"}), "dark, light, contrast"),
        (json!({"theme": {"background": "red"}}), "#rrggbb"),
        (json!({"theme": 3}), "dark, light, contrast"),
        (json!({"gutter": "both"}), "`rows`"),
        (json!({"highlight": {}}), "since"),
        (json!({"max_tokens": 1}), "tokens"),
        (json!({"encoding": "hex"}), "base64"),
    ];
    for (fields, expected) in cases {
        let mut request = json!({"cmd": "screenshot", "id": id});
        for (name, value) in fields.as_object().unwrap() {
            request[name] = value.clone();
        }
        let error = client.refused(request, "bad_value");
        assert!(error.contains(expected), "{fields}: {error}");
    }
}

/// Such a terminal, drawn as it was asked for, once stopped a server of this name for good.
#[test]
fn a_huge_screen_of_emoji_in_all_colours_is_bounded() {
    let server = Server::start();
    let program = r#"python3 -c '
import sys
for y in range(500):
    sys.stdout.write("\x1b[%dH" % (y + 1))
    for x in range(500):
        sys.stdout.write("\x1b[38;2;%d;%d;9m\U0001f600" % (x % 256, y % 256))'"#;
    let id = shown(&server, 1000, 500, program);
    let mut client = server.connect();
    let request = json!({"cmd": "screenshot", "id": id, "scale": 100});
    let error = client.refused(request, "bad_value");
    let scale: u32 = error.rsplit(' ').next().unwrap().parse().expect("it ends with the scale");
    // While the largest one is drawn the server answers others.
    client.send(&json!({"cmd": "screenshot", "id": id, "scale": scale}));
    let mut other = server.connect();
    let start = Instant::now();
    other.ok(json!({"cmd": "cursor", "id": id}));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let header = client.next();
    let bytes = client.bytes(header["len"].as_u64().unwrap() as usize);
    assert!(is_png(&bytes));
}

#[test]
fn many_pictures_at_once_all_come() {
    let server = Server::start();
    let id = shown(&server, 80, 24, "seq 1 20");
    let mut client = server.connect();
    for tag in 0..40 {
        let scale = 40 + tag * 5;
        client.send(&json!({"cmd": "screenshot", "id": id, "scale": scale, "tag": tag}));
    }
    let mut tags: Vec<_> = (0..40)
        .map(|_| {
            let header = client.next();
            assert!(is_png(&client.bytes(header["len"].as_u64().unwrap() as usize)));
            header["tag"].as_u64().unwrap()
        })
        .collect();
    tags.sort_unstable();
    assert_eq!(tags, (0..40).collect::<Vec<_>>());
}

#[test]
fn on_the_command_line_a_picture_goes_to_a_file_or_a_pipe() {
    let server = Server::start();
    let id = shown(&server, 80, 24, "echo hello");
    assert!(is_png(&server.cli(&["screenshot", &id]).stdout));
    let file = server.home().join("it.svg");
    let header = server.json(&["screenshot", &id, "-o", file.to_str().unwrap()]);
    assert_eq!(header["format"], "svg", "the ending tells");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<svg"));
    let text = server.cli(&["screenshot", &id, "--format", "text", "--region", "0,0,1,5"]);
    assert_eq!(text.stdout, b"hello\n");
    assert!(server.json(&["--json", "screenshot", &id])["data_base64"].is_string());
    let refused = server.cli(&["screenshot", &id, "--scale", "1000"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("10 to 400"));
}

#[test]
fn watching_writes_a_picture_for_each_change_until_the_end() {
    let server = Server::start();
    let program = "echo one; read x; echo two; read x";
    let argv = ["sh", "-c", program];
    let id = server.connect().ok(json!({"cmd": "create", "cmd_args": argv}))["id"].clone();
    let id = id.as_str().unwrap();
    server.wait_for_text(id, "one");
    let dir = server.home().join("pictures");
    let args = ["watch", id, "--format", "text", "-o", dir.to_str().unwrap()];
    let child = server.command().args(args).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let there = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
    crate::support::eventually("the first is there", || there("000001.txt").contains("one"));
    server.connect().ok(json!({"cmd": "send", "id": id, "input": "\n"}));
    crate::support::eventually("the second is there", || {
        std::fs::read_dir(&dir)
            .unwrap()
            .any(|file| std::fs::read_to_string(file.unwrap().path()).unwrap().contains("two"))
    });
    server.connect().ok(json!({"cmd": "send", "id": id, "input": "\n"}));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.lines().count() >= 2 && lines.contains("000001.txt"), "{lines}");
}
