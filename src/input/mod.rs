//! What is typed, by people or agents, as the bytes a program gets; and such bytes read back.

mod decode;
mod encode;
mod focus;
mod key;
mod kitty;
pub mod mouse;
mod names;
mod other_keys;
mod paste;
mod table;

#[cfg(test)]
mod tests;

pub use decode::{Decoder, Input};
pub use encode::{KeyModes, encode};
pub use focus::focus;
pub use key::{Key, KeyCode, KeyKind, MAX_TEXT_CHARS, Mods};
pub use names::{KeyError, MAX_NAME};
pub use paste::{paste, typed};
