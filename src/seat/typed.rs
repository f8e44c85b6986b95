//! What comes from the outer terminal, as keys, pastes and the mouse.

use std::time::{Duration, Instant};

use super::app::{Incoming, Pointer};
use crate::command::{Act, Kind, Which};
use crate::input::mouse::{Button, MouseEvent, MouseKind, Wheel};
use crate::input::{Decoder, Input, KeyKind};

/// Escape may be the beginning of a key's sequence, which comes at once or over a slow line.
const ESCAPE_TIME: Duration = Duration::from_millis(25);

#[derive(Default)]
pub struct Typed {
    decoder: Decoder,
    /// When a lone Escape is just that.
    escape: Option<Instant>,
}

impl Typed {
    /// When it is to be given up that a key goes on.
    pub fn deadline(&self) -> Option<Instant> {
        self.escape
    }

    pub fn feed(&mut self, bytes: &[u8], now: Instant) -> Vec<Incoming> {
        let inputs = self.decoder.feed(bytes);
        self.escape = self.decoder.waits().then(|| now + ESCAPE_TIME);
        inputs.into_iter().filter_map(incoming).collect()
    }

    /// What there is of a key, if the rest of it has not come in time.
    pub fn give_up(&mut self, now: Instant) -> Vec<Incoming> {
        if self.escape.take_if(|due| *due <= now).is_none() {
            return Vec::new();
        }
        self.decoder.give_up().into_iter().filter_map(incoming).collect()
    }
}

/// None for what does not matter.
fn incoming(input: Input) -> Option<Incoming> {
    match input {
        Input::Key(key) => Some(match key.kind {
            KeyKind::Press => Incoming::Key(key),
            KeyKind::Repeat => Incoming::KeyAgain(key.of_kind(KeyKind::Press), Kind::Repeat),
            KeyKind::Release => Incoming::KeyAgain(key.of_kind(KeyKind::Press), Kind::Release),
        }),
        Input::Mouse(event) => pointer(event).map(Incoming::Mouse),
        Input::Paste(text) => Some(Incoming::Paste(text)),
        Input::Focus(gained) => Some(Incoming::Focus(gained)),
    }
}

fn pointer(event: MouseEvent) -> Option<Pointer> {
    let which = |button: Button| match button {
        Button::Left => Some(Which::Left),
        Button::Middle => Some(Which::Middle),
        Button::Right => Some(Which::Right),
        _ => None,
    };
    let (act, button) = match event.kind {
        MouseKind::Press(button) => (Act::Press, which(button)?),
        MouseKind::Release(button) => (Act::Release, which(button)?),
        MouseKind::Move(Some(button)) => (Act::Drag, which(button)?),
        MouseKind::Move(None) => (Act::Move, Which::Left),
        MouseKind::Wheel(Wheel::Up) => (Act::WheelUp, Which::Left),
        MouseKind::Wheel(Wheel::Down) => (Act::WheelDown, Which::Left),
        MouseKind::Wheel(Wheel::Left) => (Act::WheelLeft, Which::Left),
        MouseKind::Wheel(Wheel::Right) => (Act::WheelRight, Which::Left),
    };
    let mods = event.mods.to_string();
    let mods = mods.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some(Pointer { act, button, x: event.cell.col, y: event.cell.row, mods })
}
