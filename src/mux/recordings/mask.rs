//! Output without the key that our own shell's marks carry: whoever reads a recording could forge
//! them.

use std::borrow::Cow;

const NAME: &[u8] = b"key=";
/// Stands for each character of the key.
const BLANK: u8 = b'0';

#[derive(Default)]
pub struct Mask {
    key: Vec<u8>,
    /// The beginning of a mark's key, held back until the rest is there.
    tail: Vec<u8>,
    /// The last that was let through.
    before: [u8; NAME.len()],
}

impl Mask {
    pub fn new(key: &str) -> Mask {
        Mask { key: key.as_bytes().to_vec(), ..Mask::default() }
    }

    pub fn pass<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.key.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut out = Cow::Borrowed(bytes);
        if !self.tail.is_empty() {
            let mut joined = std::mem::take(&mut self.tail);
            joined.extend_from_slice(bytes);
            out = Cow::Owned(joined);
        }
        self.blank(&mut out);
        let held = self.begun(&out);
        if held > 0 {
            let all = out.to_mut();
            self.tail = all.split_off(all.len() - held);
        }
        for byte in out.iter().skip(out.len().saturating_sub(NAME.len())) {
            self.before.rotate_left(1);
            self.before[NAME.len() - 1] = *byte;
        }
        out
    }

    /// What was held back and has no rest.
    pub fn rest(&mut self) -> Vec<u8> {
        vec![BLANK; std::mem::take(&mut self.tail).len()]
    }

    fn blank(&self, out: &mut Cow<[u8]>) {
        let mut from = 0;
        while let Some(at) = find(&out[from..], &self.key) {
            from += at + self.key.len();
            out.to_mut()[from - self.key.len()..from].fill(BLANK);
        }
    }

    /// Bytes at the end that are a mark's key cut short.
    fn begun(&self, bytes: &[u8]) -> usize {
        let is_begun = |length: &usize| {
            let (rest, key) = bytes.split_at(bytes.len() - length);
            self.key.starts_with(key) && self.is_named(rest)
        };
        (1..self.key.len().min(bytes.len() + 1)).rev().find(is_begun).unwrap_or(0)
    }

    /// The name stands at the end, part of it perhaps in what went before.
    fn is_named(&self, bytes: &[u8]) -> bool {
        let here = bytes.len().min(NAME.len());
        let (before, name) = NAME.split_at(NAME.len() - here);
        bytes.ends_with(name) && self.before.ends_with(before)
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wherever_it_is_cut_the_key_is_not_there() {
        let all = b"a\x1b]7777;done;0;key=4f7e4f;aid=1\x07key=4f x key=4f7e4f";
        let shown = b"a\x1b]7777;done;0;key=000000;aid=1\x07key=4f x key=000000";
        for first in 0..all.len() {
            for second in first..all.len() {
                let mut mask = Mask::new("4f7e4f");
                let parts = [&all[..first], &all[first..second], &all[second..]];
                let mut out: Vec<u8> =
                    parts.iter().flat_map(|part| mask.pass(part).into_owned()).collect();
                out.extend(mask.rest());
                assert_eq!(out, shown, "{first} {second}");
            }
        }
        let mut mask = Mask::new("4f7e4f");
        assert_eq!(*mask.pass(b"key=4f7"), *b"key=");
        assert_eq!(mask.rest(), b"000");
    }
}
