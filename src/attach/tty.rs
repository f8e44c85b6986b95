//! The outer terminal: taken for a while, and always given back as it was. The only crossterm.

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};

use crossterm::queue;
use crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::os::{signal, tty};
use crate::seat::{Depth, mouse};

/// Pastes are marked, and the window tells when it is looked at. Those that do not know it do
/// nothing.
const MARKS: &[u8] = b"\x1b[?2004h\x1b[?1004h";
const NO_MARKS: &[u8] = b"\x1b[?1004l\x1b[?2004l";
/// Keys that are told apart, and told when they are held and let go, in the kitty protocol.
const ALL_KEYS: &[u8] = b"\x1b[>3u";
const OLD_KEYS: &[u8] = b"\x1b[<1u";
/// Plain letters, and a cursor that is seen and looks as it did.
const PLAIN: &[u8] = b"\x1b[m\x1b[0 q\x1b[?25h";
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
            out.write_all(mouse(true))?;
        }
        out.write_all(ALL_KEYS)?;
        out.flush()
    }

    pub fn leave(&self) {
        give_back();
    }

    /// Gives it back while this process sleeps.
    pub fn suspend(&self) -> io::Result<()> {
        self.leave();
        signal::stop_self();
        self.enter()
    }

    /// Whether it tells of its mouse when it is entered again; by now that has been said.
    pub fn set_mouse(&mut self, mouse: bool) {
        self.mouse = mouse;
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
    for bytes in [OLD_KEYS, mouse(false), NO_MARKS, PLAIN] {
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
}

impl Person {
    pub fn new() -> Person {
        Person { stdin: io::stdin(), typed: Vec::with_capacity(READ_CHUNK) }
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stdin.as_fd()
    }

    /// All that came; to be called when there is something to read.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        self.typed.clear();
        tty::read(self.stdin.as_fd(), &mut self.typed)?;
        Ok(&self.typed)
    }
}
