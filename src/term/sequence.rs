//! A sequence that comes in pieces or has something odd in it. Its bytes are kept to its end, and
//! only then read, by `vte`: so all that is held in between is bytes, and can be saved.

use super::params::Params;
use super::save::{Reader, Refused, Save, ensure};
use super::state::State;

/// Bytes of a sequence; a longer one is swallowed. 32 numbers of five digits take 192.
pub const MAX_SEQUENCE: usize = 1024;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sequence {
    /// From after ESC on, without controls.
    bytes: Vec<u8>,
    too_long: bool,
}

impl Sequence {
    pub fn take(&mut self, byte: u8) {
        self.too_long |= self.bytes.len() == MAX_SEQUENCE;
        if !self.too_long {
            self.bytes.push(byte);
        }
    }

    /// From after ESC on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Does what the sequence says; its last byte was taken.
    pub fn end(&mut self, state: &mut State) {
        if !self.too_long {
            let mut vte = vte::Parser::<16>::default();
            vte.advance(&mut Odd(state), b"\x1b");
            vte.advance(&mut Odd(state), &self.bytes);
        }
        self.clear();
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.too_long = false;
    }
}

/// Takes from `vte` what the fast way left.
struct Odd<'a>(&'a mut State);

impl vte::Perform for Odd<'_> {
    fn csi_dispatch(&mut self, params: &vte::Params, marks: &[u8], _: bool, last: char) {
        let mut own = Params::default();
        for group in params.iter() {
            group.iter().enumerate().for_each(|(at, value)| {
                own.push(*value, at > 0);
            });
        }
        if own.values() == [0] {
            own.clear();
        }
        let (private, rest) = match marks {
            [c @ b'<'..=b'?', rest @ ..] => (*c, rest),
            _ => (0, marks),
        };
        if let [] | [_] = rest {
            let intermediate = rest.first().copied().unwrap_or(0);
            self.0.csi(&own, private, intermediate, last as u8);
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        self.0.esc(intermediates, byte);
    }
}

impl Save for Sequence {
    fn put(&self, out: &mut Vec<u8>) {
        let Sequence { bytes, too_long } = self;
        (bytes.len() as u32).put(out);
        out.extend_from_slice(bytes);
        too_long.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let len = from.len(MAX_SEQUENCE)?;
        let sequence = Sequence { bytes: from.bytes(len)?.to_vec(), too_long: from.take()? };
        // Nothing that would end it, nor act by itself.
        let inner = |byte: &u8| (b' '..b'@').contains(byte) || *byte == b'[';
        ensure(sequence.bytes.iter().all(inner), "a sequence")?;
        Ok(sequence)
    }
}
