//! Recordings shown on a terminal, and made into moving pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::recording::{file, final_screen, read};
use crate::support::Server;

const HEAD: &str = "{\"version\":2,\"width\":40,\"height\":6}\n";

fn own() -> &'static str {
    env!("CARGO_BIN_EXE_t4a")
}

/// A recording of a session with colours, wide characters, a resize and a full-screen program.
fn recorded(server: &Server, format: &str) -> (PathBuf, String) {
    let id = server.shell("bash");
    let path = file(server, &format!("{format}.cast"));
    let mut client = server.connect();
    let record = json!({"cmd": "record", "id": id, "path": path, "format": format});
    let recording = client.ok(record)["recording"].clone();
    client.run(&id, "printf '\\033[44;1mblue\\033[m \\033[38;2;1;200;3mgreen\\033[m 日本 ─┼─\\n'");
    client.ok(json!({"cmd": "resize", "id": id, "cols": 60, "rows": 12}));
    client.run(&id, "printf '\\033[?1049h\\033[5;5Hfull screen'; sleep 0.2; printf '\\033[?1049l'");
    client.run(&id, "for i in 1 2 3; do echo $i; sleep 0.1; done");
    client.ok(json!({"cmd": "resize", "id": id, "cols": 80, "rows": 24}));
    client.run(&id, "echo done");
    client.ok(json!({"cmd": "record_stop", "recording": recording}));
    (path, id)
}

fn export(server: &Server, from: &Path, to: &str) -> (PathBuf, Value) {
    let to = file(server, to);
    let [from, out] = [from, &to].map(|path| path.to_str().unwrap().to_owned());
    (to, server.json(&["export", &from, "-o", &out]))
}

/// A picture that is put together from frames: three bytes a pixel.
struct Screen {
    width: usize,
    pixels: Vec<u8>,
}

impl Screen {
    fn new(width: usize, height: usize) -> Screen {
        Screen { width, pixels: vec![0; 3 * width * height] }
    }

    fn put(&mut self, (left, top): (usize, usize), width: usize, rgb: &[u8]) {
        for (y, line) in rgb.chunks_exact(3 * width).enumerate() {
            let at = 3 * ((top + y) * self.width + left);
            self.pixels[at..at + line.len()].copy_from_slice(line);
        }
    }
}

fn colored(indices: &[u8], palette: &[u8]) -> Vec<u8> {
    indices.iter().flat_map(|i| palette[3 * usize::from(*i)..][..3].to_vec()).collect()
}

/// The screens of an APNG, and milliseconds for each.
fn apng_frames(bytes: &[u8]) -> Vec<(Vec<u8>, u64)> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let info = reader.info();
    let (width, height) = (info.width as usize, info.height as usize);
    let palette = info.palette.as_ref().map(|palette| palette.to_vec());
    let count = info.animation_control.unwrap().num_frames;
    let mut screen = Screen::new(width, height);
    let mut frames = Vec::new();
    for _ in 0..count {
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        let shape = reader.next_frame(&mut buffer).unwrap();
        let control = *reader.info().frame_control().unwrap();
        let (w, h) = (control.width as usize, control.height as usize);
        assert_eq!(shape.width, control.width);
        let rgb = match &palette {
            Some(palette) => colored(&buffer[..w * h], palette),
            None => buffer[..3 * w * h].to_vec(),
        };
        screen.put((control.x_offset as usize, control.y_offset as usize), w, &rgb);
        let ms = 1000 * u64::from(control.delay_num) / u64::from(control.delay_den);
        frames.push((screen.pixels.clone(), ms));
    }
    frames
}

fn gif_frames(bytes: &[u8]) -> Vec<(Vec<u8>, u64)> {
    let mut reader = gif::DecodeOptions::new().read_info(bytes).unwrap();
    let (width, height) = (reader.width().into(), reader.height().into());
    let palette = reader.global_palette().map(<[u8]>::to_vec);
    let mut screen = Screen::new(width, height);
    let mut frames = Vec::new();
    while let Some(frame) = reader.read_next_frame().unwrap() {
        let palette = frame.palette.as_ref().or(palette.as_ref()).unwrap();
        let rgb = colored(&frame.buffer, palette);
        screen.put((frame.left.into(), frame.top.into()), frame.width.into(), &rgb);
        frames.push((screen.pixels.clone(), 10 * u64::from(frame.delay)));
    }
    frames
}

#[test]
fn moving_pictures_end_with_what_the_terminal_shows() {
    let server = Server::start();
    let (path, id) = recorded(&server, "v2");
    let (png, told) = export(&server, &path, "film.png");
    let (gif, _) = export(&server, &path, "film.gif");
    let apng = apng_frames(&fs::read(png).unwrap());
    let gif = gif_frames(&fs::read(gif).unwrap());
    assert_eq!(told["frames"], apng.len() as u64);
    assert_eq!(apng.len(), gif.len());
    assert!(apng.len() > 3, "{told}");
    for (at, (one, other)) in apng.iter().zip(&gif).enumerate() {
        assert!(one.0 == other.0, "frame {at} differs");
        assert!(one.1.abs_diff(other.1) <= 10, "times of frame {at}: {} {}", one.1, other.1);
    }
    let times: u64 = apng.iter().map(|(_, ms)| ms).sum();
    assert!(told["duration_ms"].as_u64().unwrap().abs_diff(times) <= apng.len() as u64, "{told}");
    let shot = file(&server, "shot.png");
    let args = ["screenshot", &id, "--scale", "100", "-o", shot.to_str().unwrap()];
    server.json(&args);
    let mut reader =
        png::Decoder::new(std::io::Cursor::new(fs::read(shot).unwrap())).read_info().unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut buffer).unwrap();
    let shown = colored(&buffer, reader.info().palette.as_ref().unwrap());
    assert!(apng.last().unwrap().0 == shown, "the last frame is not the screen");
}

#[test]
fn drawings_have_all_rows_once() {
    let server = Server::start();
    let (path, _) = recorded(&server, "v3");
    let (svg, told) = export(&server, &path, "film.svg");
    let text = fs::read_to_string(&svg).unwrap();
    assert_eq!(text.matches("full screen</text>").count(), 1, "a row is drawn once");
    assert!(text.contains("@keyframes") && told["frames"].as_u64().unwrap() > 3, "{told}");
    let check = "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])";
    assert!(Command::new("python3").args(["-c", check]).arg(svg).status().unwrap().success());
}

/// More colours than a palette has.
#[test]
fn a_screen_of_all_colours_is_exported_too() {
    let server = Server::start();
    let path = file(&server, "colours.cast");
    let mut text = HEAD.to_owned();
    for step in 0..10 {
        let cells: String =
            (0..200).map(|n| format!("\\u001b[48;2;{};{};{}m ", n, step * 25, 255 - n)).collect();
        text += &format!("[{step}, \"o\", \"\\u001b[H{cells}\"]\n");
    }
    fs::write(&path, text).unwrap();
    let frames = apng_frames(&fs::read(export(&server, &path, "c.apng").0).unwrap());
    let reduced = gif_frames(&fs::read(export(&server, &path, "c.gif").0).unwrap());
    assert_eq!((frames.len(), reduced.len()), (10, 10));
    assert_eq!(frames[0].0[..3], [0, 0, 255]);
    let (last, near) = (&frames[9].0, &reduced[9].0);
    assert!(last.iter().zip(near).all(|(a, b)| a.abs_diff(*b) <= 26), "the nearest colours");
}

#[test]
fn a_bad_recording_is_told_with_its_line() {
    let server = Server::start();
    let path = file(&server, "bad.cast");
    let film = file(&server, "bad.gif");
    let path = path.to_str().unwrap();
    fs::write(path, format!("{HEAD}[0.1,\"o\",\"a\"]\n[oops]\n[1,\"o\",\"b\"]\n")).unwrap();
    for args in [&["play", path][..], &["export", path, "-o", film.to_str().unwrap()]] {
        let output = server.cli(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("bad.cast: line 3:"), "{stderr}");
    }
    assert!(!film.exists());
    for args in [
        &["export", path, "-o", "x.mp4"][..],
        &["play", path, "--speed", "0"],
        &["play", path, "--idle-limit=-1"],
    ] {
        assert_eq!(server.cli(args).status.code(), Some(2), "{args:?}");
    }
    let gone = server.cli(&["play", "gone.cast"]);
    assert!(String::from_utf8(gone.stderr).unwrap().contains("gone.cast"));
}

#[test]
fn in_a_pipe_it_is_what_the_program_wrote() {
    let server = Server::start();
    let path = file(&server, "pipe.cast");
    let text = "[0.0,\"o\",\"one\\r\\n\"]\n[100,\"o\",\"two日\\r\\n\"]\n[200,\"m\",\"\"]\n";
    fs::write(&path, format!("{HEAD}{text}")).unwrap();
    let path = path.to_str().unwrap();
    let output = server.cli(&["play", path, "--idle-limit", "0.01", "--speed", "2"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "one\r\ntwo日\r\n");
}

/// It is drawn on a terminal of our own, which shows what our grid makes of the recording.
#[test]
fn on_a_terminal_it_is_drawn_and_its_last_screen_stays() {
    let server = Server::start();
    let (path, _) = recorded(&server, "v2");
    let wanted = final_screen(&read(&path));
    let played = server.connect().ok(json!({"cmd": "create", "cols": 100, "rows": 40,
        "cmd_args": [own(), "play", path, "--speed", "20"]}));
    let id = played["id"].as_str().unwrap();
    let mut events = server.events(id, played["seq"].as_u64().unwrap());
    assert_eq!(events.event("alt_screen")["on"], true);
    assert_eq!(events.event("alt_screen")["on"], false);
    assert_eq!(events.event("exit")["code"], 0);
    let shown = server.connect().screen(id);
    let last = wanted.iter().rposition(|row| !row.is_empty()).unwrap();
    assert_eq!(shown[..=last], wanted[..=last]);
}

#[test]
fn a_player_that_is_interrupted_gives_the_terminal_back() {
    let server = Server::start();
    let path = file(&server, "long.cast");
    // What would steer the outer terminal does not get there.
    let text = "[0.0,\"o\",\"\\u001b]0;stolen\\u0007\\u001b[?1000h\\u001b[3;3Hpicture\"]\n\
        [9000,\"m\",\"far\"]\n[9000,\"o\",\"\\r\\nchapter\"]\n\
        [99999,\"o\",\"end\"]\n";
    fs::write(&path, format!("{HEAD}{text}")).unwrap();
    let id = server.shell("bash");
    let mut client = server.connect();
    let seq = client.type_in(&id, &format!("{} play {}\n", own(), path.display()));
    let rows = server.wait_for_text(&id, "  picture");
    assert_eq!(rows[2], "  picture");
    client.type_in(&id, "]");
    server.wait_for_text(&id, "chapter");
    let info = client.info(&id);
    assert!(!info["modes"].to_string().contains("mouse"), "{info}");
    assert!(!info["title"].as_str().unwrap_or_default().contains("stolen"), "{info}");
    client.ok(json!({"cmd": "keys", "id": id, "keys": ["Ctrl+c"]}));
    let done = client.wait_after(&id, seq, json!([{"event": "command_done"}]));
    assert_eq!(done["found"]["code"], 0, "{done}");
    server.wait_for_text(&id, "chapter");
    assert_eq!(client.run(&id, "echo fine")["lines"], json!(["fine"]));
    assert_eq!(client.info(&id)["alt_screen"], false);
}
