//! What is typed, by people or agents, as the bytes a program gets.

/// Text as typed at a keyboard: Enter sends CR, so a line end becomes one.
pub fn typed(text: &str) -> Vec<u8> {
    text.replace("\r\n", "\r").replace('\n', "\r").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_become_the_enter_key() {
        assert_eq!(typed("ls\n"), b"ls\r");
        assert_eq!(typed("a\r\nb\r"), b"a\rb\r");
        assert_eq!(typed("\u{3}\u{1b}[A"), b"\x03\x1b[A");
    }
}
