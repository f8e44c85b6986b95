//! Raw views: a redraw of the present screen, then the bytes of the program as they are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::limits::MAX_RAW_QUEUE;
use super::{Terminal, ViewId};
use crate::term::Size;
use crate::wire::RawOutput;

#[derive(Default)]
pub struct Raw {
    queue: Vec<u8>,
    /// The viewer's screen has this size; None: it has yet to be drawn.
    drawn: Option<Size>,
    /// Bytes that were not sent because the viewer did not read.
    lost: u64,
}

impl Raw {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.drawn.is_none() {
            self.lost += if self.lost > 0 { bytes.len() as u64 } else { 0 };
        } else if self.queue.len() + bytes.len() > MAX_RAW_QUEUE {
            self.lost = (self.queue.len() + bytes.len()) as u64;
            self.queue = Vec::new();
            self.drawn = None;
        } else {
            self.queue.extend_from_slice(bytes);
        }
    }

    /// What the viewer is sent next, if anything. A new size means other lines: all is drawn anew.
    pub fn next(&mut self, view: ViewId, terminal: &Terminal) -> Option<RawOutput> {
        let size = terminal.grid.size();
        let redraw = self.drawn != Some(size);
        if redraw {
            self.queue.clear();
            terminal.grid.redraw(&mut self.queue);
            self.drawn = Some(size);
        } else if self.queue.is_empty() {
            return None;
        }
        let raw = BASE64.encode(&self.queue);
        self.queue.clear();
        let lost = std::mem::take(&mut self.lost);
        let terminal = terminal.id().to_string();
        let Size { cols, rows } = size;
        Some(RawOutput { raw, view: view.0, terminal, cols, rows, redraw, lost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_that_has_too_much_to_read_gets_a_redraw() {
        let drawn = || Raw { drawn: Some(Size { cols: 80, rows: 24 }), ..Raw::default() };
        let mut raw = drawn();
        raw.push(&[b'x'; MAX_RAW_QUEUE - 1]);
        raw.push(b"y");
        assert_eq!((raw.queue.len(), raw.lost, raw.drawn.is_some()), (MAX_RAW_QUEUE, 0, true));
        raw.push(b"z");
        assert_eq!((raw.queue.len(), raw.lost), (0, MAX_RAW_QUEUE as u64 + 1));
        assert!(raw.drawn.is_none());
    }
}
