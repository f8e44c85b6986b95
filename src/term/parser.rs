//! Bytes to text, controls and sequences: plain text, UTF-8 and whole sequences are read here at
//! once, those that are cut or odd by `vte` at their end. Between two bytes all state is plain data.

use super::notice::PayloadKind;
use super::params::Params;
use super::save::{Reader, Refused, Save, ensure, saved};
use super::scratch::Scratch;
use super::sequence::Sequence;
use super::sgr;
use super::state::State;
use super::utf8::{Decoded, common, decode};

/// An OSC string keeps this much; what is longer is swallowed whole.
pub const MAX_OSC: usize = 64 * 1024;
/// A clipboard write (OSC 52) may be longer: 1 MiB in base64.
pub const MAX_CLIPBOARD_OSC: usize = 1_400 * 1024;
/// Of other strings only the head is kept, for those that are asked and answered.
pub const MAX_STRING: usize = 4096;

const ESC: u8 = 0x1b;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const BEL: u8 = 0x07;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StringKind {
    Osc,
    Dcs,
    Apc,
    Pm,
    Sos,
}

impl StringKind {
    fn opened_by(byte: u8) -> Option<StringKind> {
        match byte {
            b']' => Some(StringKind::Osc),
            b'P' => Some(StringKind::Dcs),
            b'_' => Some(StringKind::Apc),
            b'^' => Some(StringKind::Pm),
            b'X' => Some(StringKind::Sos),
            _ => None,
        }
    }

    fn opener(self) -> u8 {
        match self {
            StringKind::Osc => b']',
            StringKind::Dcs => b'P',
            StringKind::Apc => b'_',
            StringKind::Pm => b'^',
            StringKind::Sos => b'X',
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Where {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// In an escape sequence, past an intermediate.
    EscapeRest,
    Csi,
    String(StringKind),
    /// After ESC in a string.
    StringEscape(StringKind),
}

#[derive(PartialEq, Debug, Default)]
pub struct Parser {
    at: Where,
    /// Of the control or escape sequence that is not at its end yet.
    sequence: Sequence,
    params: Scratch<Params>,
    string: Vec<u8>,
    /// Bytes of the string so far, kept or not.
    string_len: usize,
    /// The first bytes of a character, and zeroes.
    utf8: [u8; 4],
    utf8_len: usize,
}

impl Parser {
    /// True when no sequence or character is cut at this point.
    pub fn is_ground(&self) -> bool {
        self.at == Where::Ground && self.utf8_len == 0
    }

    /// The bytes of what is cut at this point, as far as they are kept.
    pub fn unfinished(&self, out: &mut Vec<u8>) {
        match self.at {
            Where::Ground => out.extend_from_slice(&self.utf8[..self.utf8_len]),
            Where::Escape | Where::EscapeRest | Where::Csi => {
                out.push(ESC);
                out.extend_from_slice(self.sequence.bytes());
            }
            Where::String(kind) | Where::StringEscape(kind) => {
                out.extend([ESC, kind.opener()]);
                out.extend_from_slice(&self.string);
                out.extend(matches!(self.at, Where::StringEscape(_)).then_some(ESC));
            }
        }
    }

    pub fn feed(&mut self, bytes: &[u8], state: &mut State) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.at {
                Where::Ground => self.ground(rest, state),
                Where::Escape => self.escape(rest, state),
                Where::EscapeRest | Where::Csi => self.sequence(rest, state),
                Where::String(kind) => self.string(kind, rest, state),
                Where::StringEscape(kind) => self.string_escape(kind, rest, state),
            };
        }
    }

    #[inline]
    fn ground<'a>(&mut self, bytes: &'a [u8], state: &mut State) -> &'a [u8] {
        if self.utf8_len > 0 {
            return self.rest_of_char(bytes, state);
        }
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            match *first {
                b' '..=b'~' => {
                    let len = text_len(rest);
                    if len == 1 && matches!(after, [0x80..=0xff, ..]) {
                        let left = self.chars(rest, state);
                        match left {
                            Some(left) if left.len() < rest.len() => {
                                rest = left;
                                continue;
                            }
                            Some(_) => {}
                            None => return &[],
                        }
                    }
                    state.screen.print_ascii(&rest[..len]);
                    rest = &rest[len..];
                }
                ESC => match self.whole_csi(after, state) {
                    Some(left) => rest = left,
                    None => {
                        self.at = Where::Escape;
                        return after;
                    }
                },
                0x80..=0xff => match self.chars(rest, state) {
                    Some(left) => rest = left,
                    None => return &[],
                },
                control => {
                    state.control(control);
                    rest = after;
                }
            }
        }
        rest
    }

    /// Prints the characters in front, with single ones of ASCII between them; None when the last
    /// one is cut.
    #[inline]
    fn chars<'a>(&mut self, bytes: &'a [u8], state: &mut State) -> Option<&'a [u8]> {
        let mut rest = bytes;
        while is_char_or_before_one(rest) {
            let before = rest.len();
            // Variation selectors begin with this, and join what is before them.
            if rest[0] != 0xef {
                rest = &rest[state.screen.print_run(rest)..];
            }
            // What ended the run needs more thought.
            match rest.first() {
                Some(0x80..) => {}
                _ if rest.len() < before => continue,
                _ => break,
            }
            if let Some((c, left)) = common(rest).filter(|(c, _)| *c >= '\u{a0}') {
                state.screen.print(c);
                rest = left;
                continue;
            }
            match decode(rest) {
                Decoded::Char(c, len) => {
                    state.print(c);
                    rest = &rest[len..];
                }
                Decoded::Bad(len) => {
                    state.print(char::REPLACEMENT_CHARACTER);
                    rest = &rest[len..];
                }
                Decoded::Cut => {
                    self.utf8[..rest.len()].copy_from_slice(rest);
                    self.utf8_len = rest.len();
                    return None;
                }
            }
        }
        Some(rest)
    }

    /// Goes on with a character that the last feed cut.
    fn rest_of_char<'a>(&mut self, bytes: &'a [u8], state: &mut State) -> &'a [u8] {
        let had = self.utf8_len;
        let mut buffer = self.utf8;
        let take = bytes.len().min(4 - had);
        buffer[had..had + take].copy_from_slice(&bytes[..take]);
        let (c, len) = match decode(&buffer[..had + take]) {
            Decoded::Char(c, len) => (c, len),
            Decoded::Bad(len) => (char::REPLACEMENT_CHARACTER, len),
            Decoded::Cut => {
                self.utf8 = buffer;
                self.utf8_len = had + take;
                return &bytes[take..];
            }
        };
        (self.utf8, self.utf8_len) = ([0; 4], 0);
        state.print(c);
        &bytes[len - had..]
    }

    /// A control sequence that is there from `[` to its end and has nothing odd in it.
    #[inline]
    fn whole_csi<'a>(&mut self, bytes: &'a [u8], state: &mut State) -> Option<&'a [u8]> {
        let [b'[', body @ ..] = bytes else {
            return None;
        };
        if let Some(rest) = sgr::apply_rgb(body, &mut state.screen.pen) {
            state.screen.stale = true;
            return Some(rest);
        }
        let mut at = 0;
        let private = match *body.first()? {
            c @ b'<'..=b'?' => {
                at = 1;
                c
            }
            _ => 0,
        };
        at += read_params(&body[at..], &mut self.params.0)?;
        let intermediate = match *body.get(at)? {
            c @ b' '..=b'/' => {
                at += 1;
                c
            }
            _ => 0,
        };
        let last @ b'@'..=b'~' = *body.get(at)? else {
            return None;
        };
        state.csi(&self.params.0, private, intermediate, last);
        Some(&body[at + 1..])
    }

    fn escape<'a>(&mut self, bytes: &'a [u8], state: &mut State) -> &'a [u8] {
        let (first, rest) = (bytes[0], &bytes[1..]);
        if let Some(kind) = StringKind::opened_by(first) {
            self.string.clear();
            self.string_len = 0;
            self.at = Where::String(kind);
            return rest;
        }
        match first {
            ESC | 0x7f.. => {}
            CAN | SUB => self.at = Where::Ground,
            0..0x20 => state.control(first),
            b'[' => self.enter(Where::Csi, first),
            b' '..=b'/' => self.enter(Where::EscapeRest, first),
            _ => {
                self.at = Where::Ground;
                state.esc(&[], first);
            }
        }
        rest
    }

    /// One byte of a sequence. Controls act at once; bytes that are not ASCII do nothing.
    fn sequence<'a>(&mut self, bytes: &'a [u8], state: &mut State) -> &'a [u8] {
        let (byte, rest) = (bytes[0], &bytes[1..]);
        let first_final = if self.at == Where::Csi { b'@' } else { b'0' };
        match byte {
            ESC => self.leave_sequence(Where::Escape),
            CAN | SUB => self.leave_sequence(Where::Ground),
            0..0x20 => state.control(byte),
            0x7f.. => {}
            _ => {
                self.sequence.take(byte);
                if byte >= first_final {
                    self.sequence.end(state);
                    self.at = Where::Ground;
                }
            }
        }
        rest
    }

    fn enter(&mut self, at: Where, first: u8) {
        self.at = at;
        self.sequence.take(first);
    }

    fn leave_sequence(&mut self, to: Where) {
        self.sequence.clear();
        self.at = to;
    }

    fn string<'a>(&mut self, kind: StringKind, bytes: &'a [u8], state: &mut State) -> &'a [u8] {
        let ends = |b: &u8| matches!(*b, ESC | CAN | SUB) || *b == BEL && kind == StringKind::Osc;
        let len = bytes.iter().position(ends).unwrap_or(bytes.len());
        self.keep(kind, &bytes[..len]);
        let Some(end) = bytes.get(len) else {
            return &[];
        };
        self.at = match *end {
            ESC => Where::StringEscape(kind),
            BEL => {
                self.finish(kind, true, state);
                Where::Ground
            }
            _ => {
                self.drop_string();
                Where::Ground
            }
        };
        &bytes[len + 1..]
    }

    fn keep(&mut self, kind: StringKind, bytes: &[u8]) {
        self.string_len = self.string_len.saturating_add(bytes.len());
        let max = match kind {
            StringKind::Osc if self.string.starts_with(b"52;") => MAX_CLIPBOARD_OSC,
            StringKind::Osc => MAX_OSC,
            _ => MAX_STRING,
        };
        // The first bytes tell how much may be kept, so they go in on their own.
        let (head, tail) =
            bytes.split_at(bytes.len().min(3usize.saturating_sub(self.string.len())));
        self.string.extend_from_slice(head);
        if !tail.is_empty() && !head.is_empty() {
            self.string_len -= tail.len();
            self.keep(kind, tail);
            return;
        }
        let room = max.saturating_sub(self.string.len());
        self.string.extend_from_slice(&tail[..tail.len().min(room)]);
    }

    fn string_escape<'a>(
        &mut self,
        kind: StringKind,
        bytes: &'a [u8],
        state: &mut State,
    ) -> &'a [u8] {
        if bytes[0] == b'\\' {
            self.finish(kind, false, state);
            self.at = Where::Ground;
            return &bytes[1..];
        }
        self.drop_string();
        self.at = Where::Escape;
        bytes
    }

    fn finish(&mut self, kind: StringKind, bell: bool, state: &mut State) {
        let whole = self.string.len() == self.string_len;
        match kind {
            StringKind::Osc if whole => state.osc(&self.string, bell),
            StringKind::Osc => {}
            StringKind::Dcs => state.dcs(&self.string, self.string_len),
            StringKind::Apc => state.apc(&self.string, self.string_len),
            StringKind::Pm => state.payload(PayloadKind::Pm, self.string_len),
            StringKind::Sos => state.payload(PayloadKind::Sos, self.string_len),
        }
        self.drop_string();
    }

    /// A large string gives its memory back.
    fn drop_string(&mut self) {
        self.string.clear();
        self.string.shrink_to(MAX_STRING);
        self.string_len = 0;
    }
}

/// A character that is not ASCII is in front, or behind a single one that is.
#[inline]
fn is_char_or_before_one(bytes: &[u8]) -> bool {
    match bytes {
        [0x80..=0xff, ..] => true,
        [b' '..=b'~', second, ..] => *second >= 0x80,
        _ => false,
    }
}

/// Length of the run of printable ASCII in front, eight bytes at a time: the high bit of each
/// byte of `odd` is set where one is below 0x20, above 0x7f, or 0x7f. What borrows and carries
/// spill over can only reach bytes after one that is odd itself.
#[inline]
fn text_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let mut len = 0;
    let mut rest = bytes;
    while let Some((eight, after)) = rest.split_first_chunk::<8>() {
        let x = u64::from_le_bytes(*eight);
        let odd = (x.wrapping_sub(ONES * 0x20) | x | x.wrapping_add(ONES)) & (ONES * 0x80);
        if odd != 0 {
            return len + odd.trailing_zeros() as usize / 8;
        }
        len += 8;
        rest = after;
    }
    len + rest.iter().position(|b| !(0x20..0x7f).contains(b)).unwrap_or(rest.len())
}

/// Reads numbers up to the first byte that is none; None when the end or something odd comes.
#[inline]
fn read_params(bytes: &[u8], params: &mut Params) -> Option<usize> {
    params.clear();
    let mut value: u32 = 0;
    let mut sub = false;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + u32::from(byte - b'0');
                if value > 65_535 {
                    return None;
                }
            }
            b';' | b':' => {
                if !params.push(value as u16, sub) {
                    return None;
                }
                value = 0;
                sub = *byte == b':';
            }
            _ => {
                let pushed = at == 0 || params.push(value as u16, sub);
                return pushed.then_some(at);
            }
        }
    }
    None
}

saved!(
    enum StringKind {
        Osc,
        Dcs,
        Apc,
        Pm,
        Sos,
    }
);

impl Save for Where {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Where::Ground => out.push(0),
            Where::Escape => out.push(1),
            Where::EscapeRest => out.push(2),
            Where::Csi => out.push(3),
            Where::String(kind) => (4u8, *kind).put(out),
            Where::StringEscape(kind) => (5u8, *kind).put(out),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        Ok(match from.take::<u8>()? {
            0 => Where::Ground,
            1 => Where::Escape,
            2 => Where::EscapeRest,
            3 => Where::Csi,
            4 => Where::String(from.take()?),
            5 => Where::StringEscape(from.take()?),
            _ => return Err(Refused("where in a sequence")),
        })
    }
}

impl Save for Parser {
    fn put(&self, out: &mut Vec<u8>) {
        let Parser { at, sequence, params: _, string, string_len, utf8, utf8_len } = self;
        at.put(out);
        sequence.put(out);
        (string.len() as u32).put(out);
        out.extend_from_slice(string);
        string_len.put(out);
        utf8.put(out);
        utf8_len.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let (at, sequence) = (from.take()?, from.take()?);
        let len = from.len(MAX_CLIPBOARD_OSC)?;
        let string = from.bytes(len)?.to_vec();
        let params = Scratch::default();
        let (string_len, utf8, utf8_len) = (from.take()?, from.take()?, from.take()?);
        let parser = Parser { at, sequence, params, string, string_len, utf8, utf8_len };
        parser.check()?;
        Ok(parser)
    }
}

impl Parser {
    /// The bytes of a cut character are such that it can go on.
    fn check(&self) -> Result<(), Refused> {
        let cut = |head: &[u8]| head[0] >= 0x80 && matches!(decode(head), Decoded::Cut);
        let head = self.utf8.get(..self.utf8_len);
        let sound = head.is_some_and(|head| head.is_empty() || cut(head));
        ensure(sound, "the start of a character")?;
        ensure(self.string.len() <= self.string_len, "the length of a string")
    }
}
