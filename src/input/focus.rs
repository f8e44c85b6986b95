//! The report that a terminal gained or lost the keyboard.

use crate::term::Modes;

/// Nothing when the program did not ask for it.
pub fn focus(gained: bool, modes: Modes) -> Option<&'static [u8]> {
    let bytes: &[u8] = if gained { b"\x1b[I" } else { b"\x1b[O" };
    modes.focus_events().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::tests::modes;

    #[test]
    fn focus_is_told_when_asked_for() {
        assert_eq!(focus(true, modes("")), None);
        assert_eq!(focus(true, modes("\x1b[?1004h")), Some(&b"\x1b[I"[..]));
        assert_eq!(focus(false, modes("\x1b[?1004h")), Some(&b"\x1b[O"[..]));
        assert_eq!(focus(false, modes("\x1b[?1004h\x1b[?1004l")), None);
    }
}
