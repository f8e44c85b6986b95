//! What the outer terminal is told besides the picture.

use base64::Engine;

/// Buttons, motion, and places beyond 223.
const MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h";
const NO_MOUSE: &[u8] = b"\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l";
/// Characters copied at most; terminals refuse more.
const MAX_CLIPBOARD: usize = 1 << 20;

/// Whether it tells of its mouse.
pub fn mouse(on: bool) -> &'static [u8] {
    if on { MOUSE } else { NO_MOUSE }
}

/// Puts text into its clipboard, by OSC 52.
pub fn clipboard(text: &str) -> Vec<u8> {
    let end = text.char_indices().nth(MAX_CLIPBOARD).map_or(text.len(), |(at, _)| at);
    let data = base64::engine::general_purpose::STANDARD.encode(&text[..end]);
    format!("\x1b]52;c;{data}\x1b\\").into_bytes()
}
