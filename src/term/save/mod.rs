//! A terminal as bytes and back, at any point of its output: all of its state, but of the
//! scrollback only where in its memory the rows lie.
//!
//! ```text
//! "t4a-grid" | version u32 | length u32 | state … | checksum u64
//! ```
//! The memory may have gone on since: what was written after the save is written again, the
//! same, by feeding what came after it; rows whose place was used again are dropped.

mod bytes;
mod check;

pub(super) use bytes::{Reader, Save, ensure, put_list, saved};
pub(super) use check::MAX_COUNT;

use super::Terminal;
use super::memory::Memory;
use std::fmt;

const MAGIC: &[u8; 8] = b"t4a-grid";
/// To be raised with every change of what is saved, and of the packed rows.
pub const VERSION: u32 = 3;
const HEAD: usize = MAGIC.len() + 8;
const TAIL: usize = 8;

/// Why a save was not restored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused(pub(super) &'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the terminal's save is refused: {}", self.0)
    }
}

impl std::error::Error for Refused {}

impl Terminal {
    /// Appends all of the state. What was fed so far is in it to the last byte, also when that
    /// is within a sequence or a character.
    pub fn save(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(MAGIC);
        VERSION.put(out);
        out.extend_from_slice(&[0; 4]);
        self.parser.put(out);
        self.state.put(out);
        let len = (out.len() - start - HEAD) as u32;
        out[start + HEAD - 4..start + HEAD].copy_from_slice(&len.to_le_bytes());
        checksum(&out[start..]).put(out);
    }

    /// The terminal that was saved, with the memory that its scrollback was in. With other
    /// memory it starts with an empty scrollback, and line numbers go on.
    pub fn restore(save: &[u8], memory: Memory) -> Result<Terminal, Refused> {
        let mut from = Reader::new(open(save)?);
        let mut terminal = Terminal { parser: from.take()?, state: from.take()? };
        ensure(from.is_empty(), "something follows it")?;
        let screen = &mut terminal.state.screen;
        screen.check()?;
        screen.scrollback.attach(memory)?;
        Ok(terminal)
    }
}

/// The state in a save that is whole and ours.
fn open(save: &[u8]) -> Result<&[u8], Refused> {
    let mut head = Reader::new(save);
    ensure(head.bytes(MAGIC.len()) == Ok(MAGIC), "it is none of ours")?;
    ensure(head.take() == Ok(VERSION), "it is of another version")?;
    let len = head.take::<u32>()? as usize;
    let state = head.bytes(len)?;
    let sum: u64 = head.take()?;
    ensure(head.is_empty(), "something follows it")?;
    ensure(sum == checksum(&save[..HEAD + len]), "it is damaged")?;
    Ok(state)
}

/// Each step is reversible, so that no change of a single word goes unseen.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, w| step(sum, u64::from_le_bytes(*w)));
    rest.iter().fold(sum, |sum, byte| step(sum, u64::from(*byte)))
}

/// Puts the right checksum under a save that was changed, so that tests get past it.
#[doc(hidden)]
pub fn reseal(save: &mut [u8]) {
    if let Some(len) = save.len().checked_sub(TAIL) {
        let sum = checksum(&save[..len]);
        save[len..].copy_from_slice(&sum.to_le_bytes());
    }
}
