//! Operating system commands: title, directory, links, colours, clipboard, notifications, marks.

use super::clean::clean;
use super::links::Link;
use super::notice::{Cwd, GraphicsKind, Notice, Progress};
use super::palette::{Rgb, Special, parse_color};
use super::state::State;
use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

pub const MAX_TITLE: usize = 256;
pub const MAX_CWD: usize = 4096;
pub const MAX_NOTIFICATION: usize = 4096;
/// Decoded bytes of one clipboard write.
pub const MAX_CLIPBOARD: usize = 1024 * 1024;
/// Parts between semicolons that are told apart.
const MAX_PARTS: usize = 1024;

/// Base64 as programs write it, padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl State {
    /// An OSC string without its opening and end; `bell` tells which end it had.
    pub fn osc(&mut self, string: &[u8], bell: bool) {
        let parts: Vec<&[u8]> = string.splitn(MAX_PARTS, |b| *b == b';').collect();
        let after = |n: usize| {
            let skip: usize = parts.iter().take(n).map(|part| part.len() + 1).sum();
            string.get(skip..).unwrap_or(&[])
        };
        match parts[0] {
            b"0" | b"2" if parts.len() > 1 => self.set_title(clean(after(1), MAX_TITLE)),
            b"4" => self.osc_palette(&parts[1..], bell),
            b"7" => self.set_cwd(cwd_from_uri(after(1))),
            b"8" if parts.len() > 2 => self.set_link(parts[1], after(2)),
            b"9" => self.osc_nine(&parts[1..], after(1), after(2)),
            b"10" | b"11" | b"12" => self.osc_special(parts[0], &parts[1..], bell),
            b"104" => self.osc_palette_reset(&parts[1..]),
            b"110" => self.set_special(Special::Foreground, None),
            b"111" => self.set_special(Special::Background, None),
            b"112" => self.set_special(Special::Cursor, None),
            b"52" if parts.len() > 2 => self.osc_clipboard(parts[1], after(2)),
            b"99" if parts.len() > 2 => self.notification(kitty_title(parts[1], after(2))),
            b"777" if parts.get(1) == Some(&&b"notify"[..]) => {
                let title = parts.get(2).copied().unwrap_or(b"");
                self.notification((title, after(3)));
            }
            b"133" | b"7777" => self.shell_osc(&parts),
            b"633" => self.osc_vscode(&parts, after(2)),
            b"1337" => self.osc_iterm(&parts, after(1)),
            _ => {}
        }
    }

    fn set_cwd(&mut self, cwd: Option<Cwd>) {
        let Some(cwd) = cwd else {
            return;
        };
        if self.cwd.as_ref() != Some(&cwd) {
            self.cwd = Some(cwd.clone());
            self.notices.push(Notice::Cwd(cwd));
        }
    }

    fn set_plain_cwd(&mut self, path: &[u8]) {
        let path = clean(path.strip_prefix(b"\"").unwrap_or(path), MAX_CWD);
        let path = path.trim_end_matches('"').to_owned();
        self.set_cwd((!path.is_empty()).then_some(Cwd { host: None, path }));
    }

    fn set_link(&mut self, params: &[u8], uri: &[u8]) {
        let id = params.split(|b| *b == b':').find_map(|part| part.strip_prefix(b"id="));
        let id = clean(id.unwrap_or(b""), super::links::MAX_LINK_ID);
        let uri = clean(uri, super::links::MAX_URI + 1);
        self.screen.set_link(Link { id, uri });
    }

    /// ConEmu's numbers, or a notification.
    fn osc_nine(&mut self, parts: &[&[u8]], text: &[u8], after: &[u8]) {
        match parts.first().copied().unwrap_or(b"") {
            b"4" => self.progress(&parts[1..]),
            b"9" => self.set_plain_cwd(after),
            b"1" | b"2" | b"3" | b"5" | b"6" | b"7" | b"8" | b"10" | b"11" | b"12" => {}
            _ => self.notification((b"", text)),
        }
    }

    fn progress(&mut self, parts: &[&[u8]]) {
        let state = match parts.first().copied().unwrap_or(b"") {
            b"0" => Progress::None,
            b"1" => Progress::Normal,
            b"2" => Progress::Error,
            b"3" => Progress::Indeterminate,
            b"4" => Progress::Paused,
            _ => return,
        };
        let percent = parts.get(1).and_then(|n| number(n)).map(|n| n.min(100) as u8);
        self.notices.push(Notice::Progress { state, percent });
    }

    fn notification(&mut self, (title, body): (&[u8], &[u8])) {
        let title = clean(title, MAX_TITLE);
        let body = clean(body, MAX_NOTIFICATION);
        if !(title.is_empty() && body.is_empty()) {
            let title = (!title.is_empty()).then_some(title);
            self.notices.push(Notice::Notification { title, body });
        }
    }

    /// Writing is told; reading is refused in silence.
    fn osc_clipboard(&mut self, selection: &[u8], data: &[u8]) {
        if data == b"?" {
            return;
        }
        let Ok(data) = BASE64.decode(data) else {
            return;
        };
        if data.len() <= MAX_CLIPBOARD {
            let selection = if selection.is_empty() { b"s0" } else { selection };
            let selection = clean(selection, 16);
            self.notices.push(Notice::Clipboard { selection, data });
        }
    }

    /// Pairs of a number and a colour, or a question mark.
    fn osc_palette(&mut self, parts: &[&[u8]], bell: bool) {
        for pair in parts.chunks_exact(2) {
            let Some(index) = number(pair[0]).and_then(|n| u8::try_from(n).ok()) else {
                continue;
            };
            if pair[1] == b"?" {
                self.report_color(&format!("4;{index}"), self.palette.get(index), bell);
            } else if let Some(color) = parse_color(pair[1]) {
                self.palette.set(index, color);
                self.recolor();
            }
        }
    }

    fn osc_palette_reset(&mut self, parts: &[&[u8]]) {
        if parts.is_empty() {
            self.palette.reset_all();
        }
        let indices = parts.iter().filter_map(|part| number(part)?.try_into().ok());
        indices.for_each(|index| self.palette.reset(index));
        self.recolor();
    }

    /// What is shown has other colours now.
    fn recolor(&mut self) {
        self.screen.grid.touch_all(self.screen.now);
        self.screen.changed = true;
    }

    fn set_special(&mut self, which: Special, color: Option<Rgb>) {
        let was_light = self.palette.is_light();
        self.palette.set_special(which, color);
        self.recolor();
        if self.palette.is_light() != was_light && self.screen.modes.scheme_reports() {
            self.report_scheme();
        }
    }

    /// `10;a;b;c` sets or asks 10, 11 and 12 after one another.
    fn osc_special(&mut self, first: &[u8], parts: &[&[u8]], bell: bool) {
        let all = [(10, Special::Foreground), (11, Special::Background), (12, Special::Cursor)];
        let first = number(first).unwrap_or(0);
        let named = all.into_iter().skip_while(|(n, _)| *n != first);
        for ((n, which), spec) in named.zip(parts) {
            if *spec == b"?" {
                self.report_color(&n.to_string(), self.palette.shown(which), bell);
            } else if let Some(color) = parse_color(spec) {
                self.set_special(which, Some(color));
            }
        }
    }

    fn osc_vscode(&mut self, parts: &[&[u8]], text: &[u8]) {
        match text.strip_prefix(b"Cwd=") {
            Some(path) if parts.get(1) == Some(&&b"P"[..]) => self.set_plain_cwd(path),
            _ => self.shell_osc(parts),
        }
    }

    fn osc_iterm(&mut self, parts: &[&[u8]], text: &[u8]) {
        if let Some(path) = text.strip_prefix(b"CurrentDir=") {
            self.set_plain_cwd(path);
        } else if text.starts_with(b"SetUserVar=") {
            self.shell_osc(parts);
        } else if text.starts_with(b"File=") || text.starts_with(b"MultipartFile=") {
            let bytes = text.len();
            self.notices.push(Notice::Graphics { kind: GraphicsKind::Iterm, bytes });
        }
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Title and body of kitty's notifications; a title alone is the text.
fn kitty_title<'a>(meta: &[u8], text: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let is_title = |part: &[u8]| part == b"p=title";
    let is_body = |part: &[u8]| part.starts_with(b"p=") && part != b"p=title" && part != b"p=body";
    let parts = || meta.split(|b| *b == b':');
    if parts().any(is_body) {
        return (b"", b"");
    }
    if parts().any(is_title) { (text, b"") } else { (b"", text) }
}

/// `file://host/path` with percent signs, or kitty's form without.
fn cwd_from_uri(uri: &[u8]) -> Option<Cwd> {
    let (rest, encoded) = match uri.strip_prefix(b"file://") {
        Some(rest) => (rest, true),
        None => (uri.strip_prefix(b"kitty-shell-cwd://")?, false),
    };
    let slash = rest.iter().position(|b| *b == b'/')?;
    let (host, path) = rest.split_at(slash);
    let path = if encoded { percent_decoded(path) } else { path.to_vec() };
    let host = clean(host, MAX_TITLE);
    Some(Cwd { host: (!host.is_empty()).then_some(host), path: clean(&path, MAX_CWD) })
}

fn percent_decoded(bytes: &[u8]) -> Vec<u8> {
    let hex = |b: u8| char::from(b).to_digit(16);
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [a, b, left @ ..]) if hex(*a).is_some() && hex(*b).is_some() => {
                out.push((hex(*a).unwrap_or(0) * 16 + hex(*b).unwrap_or(0)) as u8);
                rest = left;
            }
            _ => out.push(*first),
        }
    }
    out
}
