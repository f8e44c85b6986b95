//! Device control strings and application commands: a few ask, the rest is swallowed.

use super::notice::{GraphicsKind, Notice, PayloadKind};
use super::state::State;

/// Names of XTGETTCAP with an answer: the terminal's name, colours, and what terminfo does not
/// say of xterm-256color. A name without a value is a flag.
const CAPABILITIES: [(&str, Option<&str>); 17] = [
    ("TN", Some("xterm-256color")),
    ("name", Some("xterm-256color")),
    ("Co", Some("256")),
    ("colors", Some("256")),
    ("RGB", Some("8")),
    ("Tc", None),
    ("Su", None),
    ("bce", None),
    ("setrgbf", Some("\x1b[38:2:%p1%d:%p2%d:%p3%dm")),
    ("setrgbb", Some("\x1b[48:2:%p1%d:%p2%d:%p3%dm")),
    ("Smulx", Some("\x1b[4:%p1%dm")),
    ("Setulc", Some("\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m")),
    ("Smol", Some("\x1b[53m")),
    ("Ss", Some("\x1b[%p1%d q")),
    ("Se", Some("\x1b[0 q")),
    ("Ms", Some("\x1b]52;%p1%s;%p2%s\x1b\\")),
    ("Sync", Some("\x1b[?2026%?%p1%{1}%-%tl%eh%;")),
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
            _ => self.payload(PayloadKind::Dcs, bytes),
        }
    }

    pub fn apc(&mut self, head: &[u8], bytes: usize) {
        if head.first() == Some(&b'G') {
            self.graphics(GraphicsKind::Kitty, bytes);
        } else {
            self.payload(PayloadKind::Apc, bytes);
        }
    }

    pub fn payload(&mut self, kind: PayloadKind, bytes: usize) {
        self.notices.push(Notice::Payload { kind, bytes });
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
                Some((name, Some(value))) => {
                    self.reply(format!("\x1bP1+r{}={}\x1b\\", hex(name), hex(value)));
                }
                Some((name, None)) => self.reply(format!("\x1bP1+r{}\x1b\\", hex(name))),
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
