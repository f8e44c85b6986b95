//! What programs ask the terminal, and the answers. All of them come from the state alone.

use super::modes::{Kind, Mode};
use super::palette::Rgb;
use super::params::Params;
use super::state::State;
use super::{CursorShape, sgr};

/// A cell in pixels, for programs that ask.
pub const CELL_WIDTH: usize = 10;
pub const CELL_HEIGHT: usize = 20;

impl State {
    fn csi_reply(&mut self, text: &str) {
        self.reply(format!("\x1b[{text}"));
    }

    /// DA1: a VT420 with columns, selective erase, rectangles, colour and clipboard.
    pub fn report_attributes(&mut self) {
        self.csi_reply("?64;1;6;22;28;52c");
    }

    pub fn report_secondary_attributes(&mut self, p: &Params) {
        if p.raw(0) == 0 {
            self.csi_reply(&format!(">41;{};0c", version_number()));
        }
    }

    pub fn report_unit(&mut self, p: &Params) {
        if p.raw(0) == 0 {
            self.reply("\x1bP!|54344100\x1b\\");
        }
    }

    pub fn report_version(&mut self) {
        self.reply(concat!("\x1bP>|t4a ", env!("CARGO_PKG_VERSION"), "\x1b\\"));
    }

    pub fn report_mode(&mut self, kind: Kind, number: u16) {
        let state = match Mode::find(kind, number) {
            Some(mode) if self.screen.modes.is(mode) => 1,
            Some(_) => 2,
            None => 0,
        };
        let mark = if kind == Kind::Dec { "?" } else { "" };
        self.csi_reply(&format!("{mark}{number};{state}$y"));
    }

    /// Plain sequences that ask.
    pub fn csi_ask(&mut self, p: &Params, last: u8) {
        match (last, p.raw(0)) {
            (b'c', 0) => self.report_attributes(),
            (b'n', 5) => self.csi_reply("0n"),
            (b'n', 6) => {
                let (row, col) = self.position();
                self.csi_reply(&format!("{row};{col}R"));
            }
            (b't', what) => self.window(p, what),
            (b'x', what @ (0 | 1)) => self.csi_reply(&format!("{};1;1;128;128;1;0x", what + 2)),
            _ => {}
        }
    }

    pub fn csi_private_ask(&mut self, p: &Params, last: u8) {
        match (last, p.raw(0)) {
            (b'n', 6) => {
                let (row, col) = self.position();
                self.csi_reply(&format!("?{row};{col};1R"));
            }
            (b'n', 15) => self.csi_reply("?13n"),
            (b'n', 25) => self.csi_reply("?21n"),
            (b'n', 26) => self.csi_reply("?27;1;0;0n"),
            (b'n', 53 | 55) => self.csi_reply("?53n"),
            (b'n', 56) => self.csi_reply("?57;0n"),
            (b'n', 996) => self.report_scheme(),
            (b'n', 62) => self.csi_reply("0*{"),
            (b'n', 63) => self.reply(format!("\x1bP{}!~0000\x1b\\", p.raw(1))),
            (b'n', 75) => self.csi_reply("?70n"),
            (b'm', resource) => self.report_keys(resource, self.keyboards.modified(resource), 'm'),
            (b'g', resource) => self.report_keys(resource, self.keyboards.formatted(resource), 'f'),
            (b'u', _) => {
                let flags = self.keyboards.flags(self.screen.alt);
                self.csi_reply(&format!("?{flags}u"));
            }
            _ => {}
        }
    }

    /// XTQMODKEYS and XTQFMTKEYS.
    fn report_keys(&mut self, resource: u16, value: Option<u8>, last: char) {
        if let Some(value) = value {
            self.csi_reply(&format!(">{resource};{value}{last}"));
        }
    }

    /// Row and column from 1, counted from the origin.
    fn position(&self) -> (usize, usize) {
        let screen = &self.screen;
        let (row, col) = (screen.point.row + 1, screen.point.col + 1);
        if screen.modes.origin() {
            (row.saturating_sub(screen.margins.top), col.saturating_sub(screen.margins.left))
        } else {
            (row, col)
        }
    }

    /// Dark or light, by the background.
    pub fn report_scheme(&mut self) {
        self.csi_reply(if self.palette.is_light() { "?997;2n" } else { "?997;1n" });
    }

    /// Window operations: reports of size, and the stack of titles. The title is not reported.
    fn window(&mut self, p: &Params, what: u16) {
        let (rows, cols) = (self.screen.rows, self.screen.cols);
        match what {
            11 => self.csi_reply("1t"),
            13 => self.csi_reply("3;0;0t"),
            14 | 15 => {
                let kind = what - 10;
                self.csi_reply(&format!("{kind};{};{}t", rows * CELL_HEIGHT, cols * CELL_WIDTH));
            }
            16 => self.csi_reply(&format!("6;{CELL_HEIGHT};{CELL_WIDTH}t")),
            18 | 19 => self.csi_reply(&format!("{};{rows};{cols}t", what - 10)),
            22 if p.raw(1) != 1 => {
                if self.titles.len() == super::state::MAX_TITLES {
                    self.titles.remove(0);
                }
                self.titles.push(self.title.clone());
            }
            23 if p.raw(1) != 1 => {
                if let Some(title) = self.titles.pop() {
                    self.set_title(title);
                }
            }
            _ => {}
        }
    }

    /// Mode 2048: the size, as a program's input.
    pub fn report_size_in_band(&mut self) {
        let (rows, cols) = (self.screen.rows, self.screen.cols);
        let (height, width) = (rows * CELL_HEIGHT, cols * CELL_WIDTH);
        self.csi_reply(&format!("48;{rows};{cols};{height};{width}t"));
    }

    pub fn report_color(&mut self, which: &str, Rgb(r, g, b): Rgb, bell: bool) {
        let end = if bell { "\x07" } else { "\x1b\\" };
        self.reply(format!("\x1b]{which};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}"));
    }

    /// DECRQCRA.
    pub fn report_checksum(&mut self, p: &Params) {
        let sum = self.screen.rect(p, 2).map_or(0, |rect| self.screen.checksum(rect));
        self.reply(format!("\x1bP{}!~{sum:04X}\x1b\\", p.raw(0)));
    }

    /// DECRQSS.
    pub fn report_setting(&mut self, name: &[u8]) {
        let screen = &self.screen;
        let m = screen.margins;
        let value = match name {
            b"m" => sgr::numbers(screen.pen) + "m",
            b"r" => format!("{};{}r", m.top + 1, m.bottom + 1),
            b"s" => format!("{};{}s", m.left + 1, m.right + 1),
            b" q" => format!("{} q", self.cursor_number()),
            b"\"q" => format!("{}\"q", u8::from(screen.protected)),
            b"\"p" => "64;1\"p".to_owned(),
            b"*x" => format!("{}*x", if screen.rect_exact { 2 } else { 1 }),
            b"t" => format!("{}t", screen.rows),
            b"$|" => format!("{}$|", screen.cols),
            b"*|" => format!("{}*|", screen.rows),
            _ => return self.reply("\x1bP0$r\x1b\\"),
        };
        self.reply(format!("\x1bP1$r{value}\x1b\\"));
    }

    fn cursor_number(&self) -> u8 {
        let first = match self.shape {
            CursorShape::Block => 1,
            CursorShape::Underline => 3,
            CursorShape::Bar => 5,
        };
        first + u8::from(!self.screen.modes.is(Mode::CursorBlink))
    }
}

/// 0.3.0 is 300.
fn version_number() -> u32 {
    let part = |text: &str| text.parse::<u32>().unwrap_or(0);
    let major = part(env!("CARGO_PKG_VERSION_MAJOR"));
    let minor = part(env!("CARGO_PKG_VERSION_MINOR"));
    major * 10_000 + minor * 100 + part(env!("CARGO_PKG_VERSION_PATCH"))
}
