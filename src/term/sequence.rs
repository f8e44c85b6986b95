//! A control or escape sequence that comes in pieces or has something odd in it, byte by byte.
//! All of it is plain data, so that a terminal can be saved in the middle of one.

use super::params::Params;
use super::save::{Reader, Refused, Save, ensure, saved};

/// Intermediates that are told apart; no sequence has more.
const MAX_BETWEEN: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Part {
    /// A private mark may still come.
    #[default]
    Start,
    Numbers,
    Between,
    /// Something came where it must not: swallowed to its end.
    Ignored,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sequence {
    part: Part,
    params: Params,
    /// The number that is being read, and whether a colon came before it.
    value: u16,
    sub: bool,
    private: u8,
    between: [u8; MAX_BETWEEN],
    between_len: usize,
}

impl Sequence {
    /// Takes a byte of a control sequence in `0x20..0x40`.
    pub fn take(&mut self, byte: u8) {
        match (self.part, byte) {
            (Part::Ignored, _) => {}
            (_, b' '..=b'/') => {
                self.part = Part::Between;
                self.take_between(byte);
            }
            (Part::Between, _) => self.part = Part::Ignored,
            (Part::Start, b'<'..=b'?') => {
                self.part = Part::Numbers;
                self.private = byte;
            }
            (_, b'<'..=b'?') => self.part = Part::Ignored,
            _ => {
                self.part = Part::Numbers;
                self.take_number(byte);
            }
        }
    }

    /// Takes an intermediate of an escape or control sequence.
    pub fn take_between(&mut self, byte: u8) {
        if let Some(place) = self.between.get_mut(self.between_len) {
            *place = byte;
            self.between_len += 1;
        } else {
            self.part = Part::Ignored;
        }
    }

    fn take_number(&mut self, byte: u8) {
        if byte.is_ascii_digit() {
            self.value = self.value.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
            return;
        }
        self.end_number();
        self.sub = byte == b':';
    }

    /// Numbers past the last that is kept are not kept.
    fn end_number(&mut self) {
        self.params.push(self.value, self.sub);
        self.value = 0;
    }

    pub fn between(&self) -> &[u8] {
        &self.between[..self.between_len]
    }

    /// Numbers, private mark and intermediate, unless the sequence is none that can be known.
    pub fn end(&mut self) -> Option<(&Params, u8, u8)> {
        self.end_number();
        if self.params.values() == [0] {
            self.params.clear();
        }
        match *self.between() {
            _ if self.part == Part::Ignored => None,
            [] => Some((&self.params, self.private, 0)),
            [one] => Some((&self.params, self.private, one)),
            _ => None,
        }
    }
}

saved!(
    enum Part {
        Start,
        Numbers,
        Between,
        Ignored,
    }
);

impl Save for Sequence {
    fn put(&self, out: &mut Vec<u8>) {
        let Sequence { part, params, value, sub, private, between, between_len } = self;
        part.put(out);
        params.put(out);
        value.put(out);
        sub.put(out);
        private.put(out);
        between.put(out);
        between_len.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let sequence = Sequence {
            part: from.take()?,
            params: from.take()?,
            value: from.take()?,
            sub: from.take()?,
            private: from.take()?,
            between: from.take()?,
            between_len: from.take()?,
        };
        ensure(sequence.between_len <= MAX_BETWEEN, "a sequence")?;
        Ok(sequence)
    }
}
