//! What `send` understands on the command line: \n \r \t \e \a \0 \xNN \\.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What was meant: text, or bytes that are not text.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    Text(String),
    /// In base64, for the wire.
    Bytes(String),
}

/// A backslash before anything else is an error, because it is likely a mistake.
pub fn unescape(text: &str) -> Result<Typed, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\\' {
            bytes.push(escaped(&mut rest)?);
        } else {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Typed::Text(text),
        Err(error) => Typed::Bytes(base64(error.as_bytes())),
    })
}

/// What is not text, in base64. Raw bytes go out unchanged, so the Enter key is put in here.
pub fn base64(bytes: &[u8]) -> String {
    let enter = |byte: &u8| if *byte == b'\n' { b'\r' } else { *byte };
    STANDARD.encode(bytes.iter().map(enter).collect::<Vec<_>>())
}

fn escaped(rest: &mut std::str::Chars) -> Result<u8, String> {
    let known = "known are \\n \\r \\t \\e \\a \\0 \\xNN \\\\";
    match rest.next() {
        Some('n') => Ok(b'\n'),
        Some('r') => Ok(b'\r'),
        Some('t') => Ok(b'\t'),
        Some('e') => Ok(0x1b),
        Some('a') => Ok(7),
        Some('0') => Ok(0),
        Some('\\') => Ok(b'\\'),
        Some('x') => {
            let digits: String = rest.take(2).collect();
            let bad = || format!("\\x needs two hexadecimal digits, as in \\x03, not {digits:?}");
            if digits.len() != 2 {
                return Err(bad());
            }
            u8::from_str_radix(&digits, 16).map_err(|_| bad())
        }
        Some(other) => Err(format!("\\{other} is not known in INPUT; {known}")),
        None => Err(format!("INPUT ends in a lone backslash; {known}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Result<Typed, String> {
        Ok(Typed::Text(text.to_owned()))
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(r"ls\n"), text("ls\n"));
        assert_eq!(unescape(r"\x03\e[A\t\\n"), text("\x03\x1b[A\t\\n"));
        assert_eq!(unescape("日本"), text("日本"));
        assert_eq!(unescape(r"\xff\n"), Ok(Typed::Bytes(base64(b"\xff\r"))));
    }

    #[test]
    fn mistakes_are_named() {
        for bad in [r"\q", r"\x1", r"\xzz", "\\"] {
            assert!(unescape(bad).is_err(), "{bad}");
        }
    }
}
