//! UTF-8, a character at a time, with what is wrong or cut told apart.

pub enum Decoded {
    Char(char, usize),
    /// A maximal part of a sequence that cannot go on.
    Bad(usize),
    /// What is there could still become a character.
    Cut,
}

/// What three bytes stand for, if they are a character; surrogates are not looked for.
#[inline(always)]
pub fn three_bytes([a, b, c]: [u8; 3]) -> Option<u32> {
    let all = u32::from_be_bytes([0, a, b, c]);
    let code = (all & 0x0f_0000) >> 4 | (all & 0x3f00) >> 2 | all & 0x3f;
    (all & 0xf0_c0c0 == 0xe0_8080).then_some(code)
}

/// What four bytes stand for, if they are a character of the next planes.
#[inline(always)]
fn four_bytes(four: [u8; 4]) -> Option<u32> {
    let all = u32::from_be_bytes(four);
    let code = (all & 0x3f_0000) >> 4 | (all & 0x3f00) >> 2 | all & 0x3f;
    (all & 0xffc0_c0c0 == 0xf080_8080 && code >= 0x1_0000).then_some(code)
}

/// The character in front, if it is whole, not ASCII and of the common lengths and planes, and
/// what follows it.
#[inline(always)]
pub fn common(bytes: &[u8]) -> Option<(char, &[u8])> {
    common_code(bytes).and_then(|(code, rest)| Some((char::from_u32(code)?, rest)))
}

/// The same as a number; it is always one of a character.
#[inline(always)]
pub fn common_code(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match *bytes.first()? {
        0xf0 => {
            let (four, rest) = bytes.split_first_chunk()?;
            Some((four_bytes(*four)?, rest))
        }
        0xe1..=0xef => {
            let (three, rest) = bytes.split_first_chunk()?;
            let code = three_bytes(*three)?;
            (code >> 11 != 0x1b).then_some((code, rest))
        }
        first @ 0xc2..=0xdf => {
            let ([_, b], rest) = bytes.split_first_chunk()?;
            let code = u32::from(first & 0x1f) << 6 | u32::from(b & 0x3f);
            matches!(b, 0x80..=0xbf).then_some((code, rest))
        }
        _ => None,
    }
}

/// Decodes the character in front, which is not ASCII.
#[inline]
pub fn decode(bytes: &[u8]) -> Decoded {
    match common(bytes) {
        Some((c, rest)) => Decoded::Char(c, bytes.len() - rest.len()),
        None => decode_any(bytes),
    }
}

fn decode_any(bytes: &[u8]) -> Decoded {
    let first = bytes[0];
    let (len, low, high) = match first {
        0xc2..=0xdf => (2, 0x80, 0xbf),
        0xe0 => (3, 0xa0, 0xbf),
        0xed => (3, 0x80, 0x9f),
        0xe1..=0xef => (3, 0x80, 0xbf),
        0xf0 => (4, 0x90, 0xbf),
        0xf4 => (4, 0x80, 0x8f),
        0xf1..=0xf3 => (4, 0x80, 0xbf),
        _ => return Decoded::Bad(1),
    };
    let mut value = u32::from(first) & (0x7f >> len);
    for at in 1..len {
        let Some(byte) = bytes.get(at) else {
            return Decoded::Cut;
        };
        let range = if at == 1 { low..=high } else { 0x80..=0xbf };
        if !range.contains(byte) {
            return Decoded::Bad(at);
        }
        value = value << 6 | u32::from(byte & 0x3f);
    }
    Decoded::Char(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER), len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes as the standard library does with all of the input there.
    fn lossy(bytes: &[u8]) -> String {
        let mut out = String::new();
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            let (c, len) = match *first {
                0..0x80 => (char::from(*first), 1),
                _ => match decode(rest) {
                    Decoded::Char(c, len) => (c, len),
                    Decoded::Bad(len) => (char::REPLACEMENT_CHARACTER, len),
                    Decoded::Cut => (char::REPLACEMENT_CHARACTER, after.len() + 1),
                },
            };
            out.push(c);
            rest = &rest[len..];
        }
        out
    }

    #[test]
    fn every_part_of_bad_sequences_is_told_as_the_standard_library_tells_it() {
        let bytes = [0x41, 0x80, 0xa0, 0xbf, 0xc2, 0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xff];
        for n in 0..bytes.len().pow(4) {
            let pick = |at: u32| bytes[n / bytes.len().pow(at) % bytes.len()];
            let four = [pick(0), pick(1), pick(2), pick(3)];
            assert_eq!(lossy(&four), String::from_utf8_lossy(&four), "{four:x?}");
        }
    }
}
