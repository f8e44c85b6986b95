//! Device control strings and application commands: a few ask, the rest is swallowed.

use super::notice::{GraphicsKind, Notice};
use super::state::State;

/// Names of XTGETTCAP with an answer; programs ask for colours and the terminal's name.
const CAPABILITIES: [(&str, &str); 5] = [
    ("TN", "xterm-256color"),
    ("name", "xterm-256color"),
    ("Co", "256"),
    ("colors", "256"),
    ("RGB", "8"),
];

impl State {
    /// The head of a DCS, and how long all of it was.
    pub fn dcs(&mut self, head: &[u8], bytes: usize) {
        let is_param = |b: &u8| b.is_ascii_digit() || matches!(b, b';' | b':');
        let start = head.iter().position(|b| !is_param(b)).unwrap_or(head.len());
        match &head[start..] {
            [b'$', b'q', name @ ..] => self.report_setting(name),
            [b'+', b'q', names @ ..] => self.report_capabilities(names),
            [b'q', ..] => self.graphics(GraphicsKind::Sixel, bytes),
            [b'p', ..] => self.graphics(GraphicsKind::Regis, bytes),
            _ => {}
        }
    }

    pub fn apc(&mut self, head: &[u8], bytes: usize) {
        if head.first() == Some(&b'G') {
            self.graphics(GraphicsKind::Kitty, bytes);
        }
    }

    fn graphics(&mut self, kind: GraphicsKind, bytes: usize) {
        self.notices.push(Notice::Graphics { kind, bytes });
    }

    /// XTGETTCAP: names and values in hexadecimal.
    fn report_capabilities(&mut self, names: &[u8]) {
        for name in names.split(|b| *b == b';').take(16) {
            let known = unhex(name)
                .and_then(|name| CAPABILITIES.iter().find(|(known, _)| known.as_bytes() == name));
            match known {
                Some((name, value)) => {
                    self.reply(format!("\x1bP1+r{}={}\x1b\\", hex(name), hex(value)));
                }
                None => self.reply("\x1bP0+r\x1b\\"),
            }
        }
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digits = str::from_utf8(digits).ok().filter(|d| d.is_ascii() && d.len() % 2 == 0)?;
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect()
}
