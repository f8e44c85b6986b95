//! Text of bytes that come in pieces: a character that is cut waits for its rest.

use std::borrow::Cow;

/// Bytes of the longest character but one.
const LONGEST_CUT: usize = 3;

#[derive(Debug, Default)]
pub struct Joiner {
    tail: Vec<u8>,
}

impl Joiner {
    /// The text so far. What can be no text is shown as a terminal shows it, by U+FFFD.
    pub fn text<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if self.tail.is_empty() {
            let (whole, tail) = bytes.split_at(bytes.len() - cut(bytes));
            self.tail = tail.to_vec();
            return String::from_utf8_lossy(whole);
        }
        let mut joined = std::mem::take(&mut self.tail);
        joined.extend_from_slice(bytes);
        self.tail = joined.split_off(joined.len() - cut(&joined));
        Cow::Owned(String::from_utf8_lossy(&joined).into_owned())
    }

    /// What waits for a rest that does not come any more.
    pub fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.tail)).into_owned()
    }
}

/// How many bytes at the end could still become a character.
fn cut(bytes: &[u8]) -> usize {
    let near = bytes.len().saturating_sub(LONGEST_CUT);
    let lead = bytes[near..].iter().rposition(|byte| *byte >= 0xc0).map(|at| near + at);
    let is_cut =
        |at: &usize| str::from_utf8(&bytes[*at..]).is_err_and(|error| error.error_len().is_none());
    lead.filter(is_cut).map_or(0, |at| bytes.len() - at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(pieces: &[&[u8]]) -> String {
        let mut joiner = Joiner::default();
        let mut text: String = pieces.iter().map(|piece| joiner.text(piece).into_owned()).collect();
        text += &joiner.rest();
        text
    }

    #[test]
    fn a_cut_character_waits_for_its_rest() {
        let mut joiner = Joiner::default();
        assert_eq!(joiner.text(b"a\xf0\x9f"), "a");
        assert_eq!(joiner.text(b"\x98"), "");
        assert_eq!(joiner.text(b"\x80b"), "\u{1f600}b");
        assert_eq!(joiner.text(b"\xe2\x82"), "");
        assert_eq!(joiner.rest(), "\u{fffd}");
        assert_eq!(joined(&[b"\xff\xc3", b"x"]), "\u{fffd}\u{fffd}x");
    }

    proptest! {
        #[test]
        fn wherever_it_is_cut_the_text_is_the_same(
            bytes in proptest::collection::vec(
                prop_oneof![0x20..0x7f_u8, 0x80..0xff_u8, Just(0xe2), Just(0x82)], 0..40),
            at in 0..40_usize,
            then in 0..40_usize,
        ) {
            let (first, rest) = bytes.split_at(at.min(bytes.len()));
            let (second, third) = rest.split_at(then.min(rest.len()));
            prop_assert_eq!(joined(&[first, second, third]), String::from_utf8_lossy(&bytes));
        }
    }
}
