//! The outer terminal: taken for a while, and always given back as it was. The only crossterm.

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use crossterm::queue;
use crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::app::{Incoming, Pointer};
use super::paint::Depth;
use crate::command::{Act, Kind, Which};
use crate::input::mouse::{Button, MouseEvent, MouseKind, Wheel};
use crate::input::{Decoder, Input, KeyKind};
use crate::os::tty;

/// Pastes are marked, and the window tells when it is looked at. Those that do not know it do
/// nothing.
const MARKS: &[u8] = b"\x1b[?2004h\x1b[?1004h";
const NO_MARKS: &[u8] = b"\x1b[?1004l\x1b[?2004l";
/// Keys that are told apart, and told when they are held and let go, in the kitty protocol.
const ALL_KEYS: &[u8] = b"\x1b[>3u";
const OLD_KEYS: &[u8] = b"\x1b[<1u";
/// Buttons, motion, and places beyond 223.
const MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h";
const NO_MOUSE: &[u8] = b"\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l";
/// Plain letters, and a cursor that is seen and looks as it did.
const PLAIN: &[u8] = b"\x1b[m\x1b[0 q\x1b[?25h";
/// Escape may be the beginning of a key's sequence, which comes at once or over a slow line.
const ESCAPE_TIME: Duration = Duration::from_millis(25);
const READ_CHUNK: usize = 16 << 10;

/// The outer terminal while it is ours.
pub struct Tty {
    mouse: bool,
}

impl Tty {
    pub fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Also given back when the client panics: then the message can be read.
    pub fn take(mouse: bool) -> io::Result<Tty> {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            usual(info);
        }));
        let tty = Tty { mouse };
        tty.enter()?;
        Ok(tty)
    }

    pub fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen)?;
        out.write_all(MARKS)?;
        if self.mouse {
            out.write_all(MOUSE)?;
        }
        out.write_all(ALL_KEYS)?;
        out.flush()
    }

    pub fn leave(&self) {
        give_back();
    }

    pub fn set_mouse(&mut self, mouse: bool) -> io::Result<()> {
        if mouse != self.mouse {
            self.mouse = mouse;
            self.write(if mouse { MOUSE } else { NO_MOUSE })?;
        }
        Ok(())
    }

    pub fn size() -> (u16, u16) {
        terminal::size().unwrap_or((80, 24))
    }

    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// What the terminal says of its colours; nearly all of today's know them all.
    pub fn depth() -> Depth {
        let colors = std::env::var("COLORTERM").unwrap_or_default();
        let term = std::env::var("TERM").unwrap_or_default();
        let named = ["direct", "kitty", "ghostty", "alacritty", "foot", "wezterm"];
        let true_color = ["truecolor", "24bit"].contains(&colors.as_str())
            || named.iter().any(|name| term.contains(name));
        if true_color { Depth::True } else { Depth::Indexed }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        give_back();
    }
}

/// Does no harm when done twice. What cannot be written cannot be helped.
fn give_back() {
    let mut out = io::stdout();
    for bytes in [OLD_KEYS, NO_MOUSE, NO_MARKS, PLAIN] {
        let _ = out.write_all(bytes);
    }
    let _ = queue!(out, LeaveAlternateScreen);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// What the person does, as it comes.
pub struct Person {
    stdin: io::Stdin,
    /// What was read last; the memory is used again.
    typed: Vec<u8>,
    decoder: Decoder,
    /// When a lone Escape is just that.
    escape: Option<Instant>,
}

impl Person {
    pub fn new() -> Person {
        let typed = Vec::with_capacity(READ_CHUNK);
        Person { stdin: io::stdin(), typed, decoder: Decoder::default(), escape: None }
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stdin.as_fd()
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.escape
    }

    /// All that came; to be called when there is something to read, or after the deadline.
    pub fn heard(&mut self, readable: bool, now: Instant) -> io::Result<Vec<Incoming>> {
        let mut inputs = Vec::new();
        if readable {
            self.typed.clear();
            tty::read(self.stdin.as_fd(), &mut self.typed)?;
            inputs = self.decoder.feed(&self.typed);
            self.escape = None;
        } else if self.escape.is_some_and(|due| due <= now) {
            inputs = self.decoder.give_up();
            self.escape = None;
        }
        if self.decoder.waits() {
            self.escape = self.escape.or(Some(now + ESCAPE_TIME));
        }
        Ok(inputs.into_iter().filter_map(incoming).collect())
    }
}

/// None for what does not matter.
fn incoming(input: Input) -> Option<Incoming> {
    match input {
        Input::Key(key) => Some(match key.kind {
            KeyKind::Press => Incoming::Key(key),
            KeyKind::Repeat => Incoming::KeyAgain(key.of_kind(KeyKind::Press), Kind::Repeat),
            KeyKind::Release => Incoming::KeyAgain(key.of_kind(KeyKind::Press), Kind::Release),
        }),
        Input::Mouse(event) => pointer(event).map(Incoming::Mouse),
        Input::Paste(text) => Some(Incoming::Paste(text)),
        Input::Focus(gained) => Some(Incoming::Focus(gained)),
    }
}

fn pointer(event: MouseEvent) -> Option<Pointer> {
    let which = |button: Button| match button {
        Button::Left => Some(Which::Left),
        Button::Middle => Some(Which::Middle),
        Button::Right => Some(Which::Right),
        _ => None,
    };
    let (act, button) = match event.kind {
        MouseKind::Press(button) => (Act::Press, which(button)?),
        MouseKind::Release(button) => (Act::Release, which(button)?),
        MouseKind::Move(Some(button)) => (Act::Drag, which(button)?),
        MouseKind::Move(None) => (Act::Move, Which::Left),
        MouseKind::Wheel(Wheel::Up) => (Act::WheelUp, Which::Left),
        MouseKind::Wheel(Wheel::Down) => (Act::WheelDown, Which::Left),
        MouseKind::Wheel(Wheel::Left) => (Act::WheelLeft, Which::Left),
        MouseKind::Wheel(Wheel::Right) => (Act::WheelRight, Which::Left),
    };
    let mods = event.mods.to_string();
    let mods = mods.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some(Pointer { act, button, x: event.cell.col, y: event.cell.row, mods })
}
