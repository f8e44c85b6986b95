//! The ways in which shells write a command line into a mark. None of them can fail.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::MAX_COMMAND;

fn hex(bytes: Option<&[u8]>) -> Option<u8> {
    let digits = bytes.filter(|b| b.iter().all(u8::is_ascii_hexdigit))?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

pub(super) fn percent_decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len().min(MAX_COMMAND));
    let mut at = 0;
    while at < text.len() {
        let byte = if text[at] == b'%' { hex(text.get(at + 1..at + 3)) } else { None };
        at += if byte.is_some() { 3 } else { 1 };
        out.push(byte.unwrap_or(text[at - 1]));
    }
    out
}

/// VS Code's escapes: `\\` and `\xHH`.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len().min(MAX_COMMAND));
    let mut at = 0;
    while at < text.len() {
        let escaped =
            if text[at..].starts_with(b"\\x") { hex(text.get(at + 2..at + 4)) } else { None };
        let (byte, used) = match escaped {
            Some(byte) => (byte, 4),
            None if text[at..].starts_with(b"\\\\") => (b'\\', 2),
            None => (text[at], 1),
        };
        out.push(byte);
        at += used;
    }
    out
}

/// A word as a shell's `printf %q` writes it.
pub(super) fn unquote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len().min(MAX_COMMAND));
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        rest = match first {
            b'$' if tail.first() == Some(&b'\'') => unquote_ansi_c(&tail[1..], &mut out),
            b'\'' => {
                let end = tail.iter().position(|&b| b == b'\'').unwrap_or(tail.len());
                out.extend_from_slice(&tail[..end]);
                tail.get(end + 1..).unwrap_or_default()
            }
            b'\\' if !tail.is_empty() => {
                out.push(tail[0]);
                &tail[1..]
            }
            _ => {
                out.push(first);
                tail
            }
        };
    }
    out
}

/// The inside of `$'…'`, up to and with the closing quote; gives back what follows it.
fn unquote_ansi_c<'a>(text: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        rest = match (first, tail.first()) {
            (b'\'', _) => return tail,
            (b'\\', Some(&escape)) => ansi_c_escape(escape, &tail[1..], out),
            _ => {
                out.push(first);
                tail
            }
        };
    }
    rest
}

fn ansi_c_escape<'a>(escape: u8, rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let (max, radix, head) = match escape {
        b'0'..=b'7' => (2, 8, u32::from(escape - b'0')),
        b'x' => (2, 16, 0),
        b'u' => (4, 16, 0),
        b'U' => (8, 16, 0),
        _ => {
            out.push(simple_escape(escape));
            return rest;
        }
    };
    let digit = |b: &u8| char::from(*b).to_digit(radix);
    let used = rest.iter().take(max).take_while(|b| digit(b).is_some()).count();
    let add = |value: u32, b| value.wrapping_mul(radix).wrapping_add(digit(b).unwrap_or(0));
    let value = rest[..used].iter().fold(head, add);
    match escape {
        b'u' | b'U' => {
            let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        _ => out.push(value.to_le_bytes()[0]),
    }
    &rest[used..]
}

fn simple_escape(escape: u8) -> u8 {
    match escape {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        b'e' | b'E' => 27,
        other => other,
    }
}

pub(super) fn base64_decode(text: &[u8]) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    // GNU base64 folds lines, so a long command comes with newlines in it.
    let text: Vec<u8> =
        text.iter().copied().filter(|b| !b.is_ascii_whitespace()).take(2 * MAX_COMMAND).collect();
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words() {
        let check = |quoted: &str, plain: &str| {
            assert_eq!(String::from_utf8_lossy(&unquote(quoted.as_bytes())), plain);
        };
        check(r"a\ b\", r"a b\");
        check(r"$'a\nb\'c\x41\101\u20ac\U1F600\e'd", "a\nb'cAA€😀\u{1b}d");
        check(r"'it'\''s'", "it's");
        check(r"$'open", "open");
        check("'open", "open");
        check(r"$'\Uffffffff'", "\u{fffd}");
        check("\\", "\\");
    }
}
