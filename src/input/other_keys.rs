//! xterm's modifyOtherKeys: keys that are no function keys, with their modifiers as numbers.

use super::encode::{KeyModes, backspace, control, parameter};
use super::key::{Key, KeyCode, Mods};

/// The sequence, if the key is not sent as it always is.
pub fn encode(key: &Key, modes: &KeyModes) -> Option<Vec<u8>> {
    let known = Mods::SHIFT | Mods::ALT | Mods::CTRL | Mods::META;
    let held = Mods(key.mods.0 & known.0);
    let wanted = match modes.other_keys {
        0 => false,
        1 => wanted_where_lost(key, held),
        2 => wanted_where_held(key, held),
        _ => true,
    };
    let number = number(key, modes).filter(|_| wanted)?;
    // A capital is typed with Shift, which is told where other modifiers are.
    let mods = if held.is_empty() { held } else { key.full_mods() };
    let mods = parameter(mods).unwrap_or(1);
    let sequence = match modes.other_keys_as_csi_u {
        false => format!("\x1b[27;{mods};{number}~"),
        true => format!("\x1b[{number};{mods}u"),
    };
    Some(sequence.into_bytes())
}

fn number(key: &Key, modes: &KeyModes) -> Option<u32> {
    match key.code {
        KeyCode::Char(_) => key.shown().map(u32::from),
        KeyCode::Enter => Some(13),
        KeyCode::Tab => Some(9),
        KeyCode::Escape => Some(27),
        KeyCode::Backspace => Some(u32::from(backspace(key.mods, modes.modes))),
        _ => None,
    }
}

/// Level 1: only what has no other way to be told. Ctrl and `?` is counted among these by xterm.
fn wanted_where_lost(key: &Key, held: Mods) -> bool {
    let alt = held.has(Mods::ALT | Mods::META);
    match key.code {
        KeyCode::Char(_) => {
            let shown = key.shown().unwrap_or_default();
            held.has(Mods::CTRL) && (shown == '?' || control(shown).is_none())
        }
        KeyCode::Enter => !alt && !held.is_empty(),
        KeyCode::Tab => !alt && held == Mods::CTRL,
        _ => false,
    }
}

/// Level 2: all that has modifiers, but Shift where it only chooses the character.
fn wanted_where_held(key: &Key, held: Mods) -> bool {
    let only_shift = held == Mods::SHIFT;
    match key.code {
        _ if held.is_empty() => false,
        KeyCode::Char(_) => !only_shift || key.shown().is_some_and(shift_is_told),
        KeyCode::Tab => !only_shift,
        KeyCode::Backspace => held != Mods::CTRL,
        _ => true,
    }
}

/// xterm tells Shift for the characters that Ctrl knows, and for the space.
fn shift_is_told(shown: char) -> bool {
    matches!(shown, ' ' | '@'..='\x7f')
}
