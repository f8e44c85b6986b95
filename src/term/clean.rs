//! Text from programs, made safe to print elsewhere.

/// Characters that could act on whoever prints them: controls, line and paragraph separators,
/// and those that turn the direction of writing.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without what could act, `max` characters at most.
pub fn clean(bytes: &[u8], max: usize) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !is_unsafe(*c)).take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_stays() {
        let dirty = "a\u{1b}[31m\u{7f}b\u{9b}c\u{202e}d\u{2028}e\nf".as_bytes();
        assert_eq!(clean(dirty, 100), "a[31mbcdef");
        assert_eq!(clean("日本語".as_bytes(), 2), "日本");
        assert_eq!(clean(b"a\xffb", 9), "a\u{fffd}b");
    }
}
