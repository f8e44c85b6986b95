//! Text that is put in as a whole: typed as it stands, or pasted.

const START: &str = "\x1b[200~";
const END: &str = "\x1b[201~";

/// Text as typed at a keyboard: Enter sends CR, so a line end becomes one.
pub fn typed(text: &str) -> Vec<u8> {
    text.replace("\r\n", "\r").replace('\n', "\r").into_bytes()
}

/// Text as pasted: without control characters but tabs and line ends, so that it presses no key and
/// cannot end its own bracket. Without brackets a line end is what Enter sends, as terminals do it;
/// within brackets it is the program's to read, and one line end stays one.
pub fn paste(text: &str, bracketed: bool) -> Vec<u8> {
    let clean: String = text.chars().filter(|c| is_pasted(*c)).collect();
    match bracketed {
        false => typed(&clean),
        true => [START, &clean.replace("\r\n", "\n"), END].concat().into_bytes(),
    }
}

fn is_pasted(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r') || !c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn line_ends_become_the_enter_key() {
        assert_eq!(typed("ls\n"), b"ls\r");
        assert_eq!(typed("a\r\nb\r"), b"a\rb\r");
        assert_eq!(typed("\u{3}\u{1b}[A"), b"\x03\x1b[A");
    }

    fn check(text: &str, plain: &str, bracketed: &str) {
        assert_eq!(String::from_utf8(paste(text, false)).unwrap(), plain);
        let expected = format!("\x1b[200~{bracketed}\x1b[201~");
        assert_eq!(String::from_utf8(paste(text, true)).unwrap(), expected);
    }

    #[test]
    fn pasted_text() {
        check("", "", "");
        check("ls -l", "ls -l", "ls -l");
        check("a\nb\n", "a\rb\r", "a\nb\n");
        check("a\r\nb\rc", "a\rb\rc", "a\nb\rc");
        check("\tx\ty", "\tx\ty", "\tx\ty");
        check("日本 é 👍🏽", "日本 é 👍🏽", "日本 é 👍🏽");
        check("rm\x03\x04\x1a\0 x\x7f\x08", "rm x", "rm x");
        check("x\x1b[201~rm -rf\n", "x[201~rm -rf\r", "x[201~rm -rf\n");
        check("x\u{9b}201~y\u{80}\u{9f}", "x201~y", "x201~y");
    }

    /// Dropping only the whole sequence would put another together.
    #[test]
    fn an_end_within_an_end_is_no_end() {
        check("\x1b[2\x1b[201~01~", "[2[201~01~", "[2[201~01~");
        check("\x1b\x1b[201~[201~", "[201~[201~", "[201~[201~");
    }

    fn escapes(bytes: &[u8]) -> usize {
        bytes.iter().filter(|byte| **byte == 0x1b).count()
    }

    proptest! {
        #[test]
        fn the_only_escapes_are_the_brackets(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f]|\x1b\\[20[01]~){0,60}") {
            prop_assert_eq!(escapes(&paste(&text, false)), 0);
            let bytes = paste(&text, true);
            prop_assert_eq!(escapes(&bytes), 2);
            prop_assert!(bytes.starts_with(START.as_bytes()) && bytes.ends_with(END.as_bytes()));
        }

        #[test]
        fn nothing_but_tabs_and_line_ends_is_a_control(text in any::<String>(), bracketed: bool) {
            let bytes = paste(&text, bracketed);
            let inner = if bracketed { &bytes[START.len()..bytes.len() - END.len()] } else { &bytes };
            let inner = std::str::from_utf8(inner).unwrap();
            prop_assert!(inner.chars().all(is_pasted));
            prop_assert!(bracketed || !inner.contains('\n'));
        }
    }
}
