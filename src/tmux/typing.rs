//! What is typed: keys, and buffers that are pasted.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::names::{Typed, typed};
use super::options::Options;
use super::place::read_bounded;
use super::target::{Kind, Session};
use super::{Failed, Tmux, print};
use crate::client::Trouble;
use crate::command::{Command, Keys, Paste, Press, Send, Target};
use crate::mux::limits::MAX_KEYS;

/// Bytes of a request: half of what the server queues for a program that does not read.
const MAX_BYTES: usize = 128 << 10;
/// How often, and how long after each other, input is offered to a program that does not read.
const TRIES: usize = 500;
const PAUSE: Duration = Duration::from_millis(20);
const MAX_REPEAT: i64 = 10_000;

/// What goes into one request.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Keys(Vec<String>),
    Bytes(Vec<u8>),
}

pub fn send_keys(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    let session = tmux.find(target.as_deref(), Kind::Pane)?;
    let times = options.number('N')?.unwrap_or(1);
    if !(1..=MAX_REPEAT).contains(&times) {
        return Err(Failed(format!("repeat count must be 1 to {MAX_REPEAT}, not {times}")));
    }
    let mut pieces = Vec::new();
    for _ in 0..times {
        for arg in &options.rest {
            push(&mut pieces, one(options, arg)?);
        }
    }
    pieces.into_iter().try_for_each(|piece| type_piece(tmux, &session, piece))
}

fn one(options: &Options, arg: &str) -> Result<Piece, Failed> {
    if options.has('H') {
        let byte = u8::from_str_radix(arg, 16);
        let byte = byte.map_err(|_| Failed(format!("not a byte in hexadecimal: {arg}")))?;
        return Ok(Piece::Bytes(vec![byte]));
    }
    let typed = if options.has('l') { Typed::Text(arg.to_owned()) } else { typed(arg) };
    Ok(match typed {
        Typed::Key(name) => Piece::Keys(vec![name]),
        Typed::Text(text) => Piece::Bytes(text.into_bytes()),
    })
}

/// Joins what may go together.
fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Keys(keys)), Piece::Keys(more)) if keys.len() < MAX_KEYS => keys.extend(more),
        (Some(Piece::Bytes(bytes)), Piece::Bytes(more)) => bytes.extend(more),
        (_, piece) => pieces.push(piece),
    }
}

fn type_piece(tmux: &mut Tmux, session: &Session, piece: Piece) -> Result<(), Failed> {
    let when_ready = session.tells_prompts();
    match piece {
        Piece::Keys(keys) => {
            let target = Target { id: Some(session.id.clone()), view: None };
            let keys = keys.into_iter().map(Press::Name).collect();
            let with =
                |when_ready| Keys { target: target.clone(), keys: Vec::clone(&keys), when_ready };
            offer(tmux, with, when_ready)
        }
        Piece::Bytes(bytes) => bytes.chunks(MAX_BYTES).try_for_each(|bytes| {
            let with = |when_ready| Send {
                id: session.id.clone(),
                input: None,
                input_base64: Some(BASE64.encode(bytes)),
                when_ready,
                secret: false,
            };
            offer(tmux, with, when_ready)
        }),
    }
}

/// Types it, also if the first prompt does not come, and again while the program has yet to read
/// what was typed before.
fn offer<C: Command>(
    tmux: &mut Tmux,
    with: impl Fn(bool) -> C,
    mut when_ready: bool,
) -> Result<(), Failed> {
    let mut tries = TRIES;
    loop {
        match tmux.client()?.ask(&with(when_ready)) {
            Err(Trouble::Refused { code, .. }) if code == "busy" && when_ready => {
                when_ready = false
            }
            Err(Trouble::Refused { code, .. }) if code == "input_full" && tries > 0 => {
                tries -= 1;
                thread::sleep(PAUSE);
            }
            answer => return Ok(answer.map(|_| ())?),
        }
    }
}

pub fn set_buffer(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let data = options.rest.first().ok_or(Failed("no data specified".to_owned()))?;
    Ok(tmux.place()?.set_buffer(options.value('b'), data.as_bytes())?)
}

pub fn load_buffer(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let path = options.rest[0].as_str();
    let told = |error: io::Error| match error.raw_os_error() {
        // Without the number that Rust adds.
        Some(_) => {
            let text = error.to_string();
            Failed(format!("{path}: {}", text.split(" (os error").next().unwrap_or(&text)))
        }
        None => Failed(error.to_string()),
    };
    let bytes = match path {
        "-" => read_bounded(io::stdin().lock(), "standard input"),
        path => File::open(path).and_then(|file| read_bounded(file, path)),
    };
    let bytes = bytes.map_err(told)?;
    Ok(tmux.place()?.set_buffer(options.value('b'), &bytes)?)
}

/// A buffer's bytes; it is removed if so wished. None: there is no buffer at all.
fn buffer(tmux: &mut Tmux, options: &Options) -> Result<Option<Vec<u8>>, Failed> {
    let place = tmux.place()?;
    let name = match (place.buffer(options.value('b'))?, options.value('b')) {
        (Some(name), _) => name,
        (None, Some(wanted)) => return Err(Failed(format!("no buffer {wanted}"))),
        (None, None) => return Ok(None),
    };
    let bytes = place.read(&name)?;
    if options.has('d') {
        place.remove(&name);
    }
    Ok(bytes)
}

pub fn show_buffer(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let bytes = buffer(tmux, options)?.ok_or(Failed("no buffers".to_owned()))?;
    print(&bytes)
}

/// Line ends become Enter, or the separator of one's choice, unless `-r` is given. Brackets around
/// it are there for programs that know them, with `-p`.
pub fn paste_buffer(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    let session = tmux.find(target.as_deref(), Kind::Pane)?;
    let Some(bytes) = buffer(tmux, options)? else { return Ok(()) };
    let usual = if options.has('r') { "\n" } else { "\r" };
    let separator = options.value('s').unwrap_or(usual);
    if options.has('p') {
        let target = Target { id: Some(session.id.clone()), view: None };
        let text = String::from_utf8_lossy(&bytes).replace('\n', separator);
        let with = |when_ready| Paste { target: target.clone(), text: text.clone(), when_ready };
        return offer(tmux, with, session.tells_prompts());
    }
    let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
    type_piece(tmux, &session, Piece::Bytes(lines.join(separator.as_bytes())))
}
