//! What programs ask of the keyboard: kitty's flags, a stack for each screen, and xterm's
//! modifyOtherKeys.

use super::save::{Reader, Refused, Save, put_list, saved};

/// Entries of a stack; pushing one more drops the oldest.
pub const MAX_STACK: usize = 16;
const ALL_FLAGS: u8 = 0b1_1111;

#[derive(Clone, PartialEq, Debug, Default)]
struct Stack {
    flags: u8,
    under: Vec<u8>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Keyboards {
    primary: Stack,
    alternate: Stack,
    /// modifyOtherKeys, 0 to 2 (3 in newer xterms).
    pub modify_other_keys: u8,
    /// formatOtherKeys: such a key is written as `CSI u`.
    pub other_keys_as_csi_u: bool,
}

/// xterm's numbers for what modifies keys; the others are not changed by programs here.
const OTHER_KEYS: u16 = 4;

impl Keyboards {
    /// XTMODKEYS: without a resource all of them are as at the start.
    pub fn modify(&mut self, resource: Option<u16>, level: u16) {
        match resource {
            None => self.modify_other_keys = 0,
            Some(OTHER_KEYS) => self.modify_other_keys = level.min(3) as u8,
            Some(_) => {}
        }
    }

    /// XTQMODKEYS: the value of a resource. Cursor and function keys always tell modifiers.
    pub fn modified(&self, resource: u16) -> Option<u8> {
        match resource {
            1 | 2 => Some(2),
            OTHER_KEYS => Some(self.modify_other_keys),
            0 | 6 | 7 => Some(0),
            _ => None,
        }
    }

    /// XTFMTKEYS.
    pub fn format(&mut self, resource: Option<u16>, value: u16) {
        if matches!(resource, None | Some(OTHER_KEYS)) {
            self.other_keys_as_csi_u = resource.is_some() && value == 1;
        }
    }

    /// XTQFMTKEYS.
    pub fn formatted(&self, resource: u16) -> Option<u8> {
        match resource {
            OTHER_KEYS => Some(u8::from(self.other_keys_as_csi_u)),
            0..=3 | 6 | 7 => Some(0),
            _ => None,
        }
    }

    fn stack(&mut self, alt: bool) -> &mut Stack {
        if alt { &mut self.alternate } else { &mut self.primary }
    }

    pub fn flags(&self, alt: bool) -> u8 {
        if alt { self.alternate.flags } else { self.primary.flags }
    }

    /// The flags now set, after those they are to give way to.
    pub fn stacked(&self, alt: bool) -> impl Iterator<Item = u8> {
        let stack = if alt { &self.alternate } else { &self.primary };
        stack.under.iter().copied().chain([stack.flags])
    }

    pub fn push(&mut self, alt: bool, flags: u16) {
        let stack = self.stack(alt);
        if stack.under.len() >= MAX_STACK {
            stack.under.remove(0);
        }
        stack.under.push(stack.flags);
        stack.flags = flags as u8 & ALL_FLAGS;
    }

    pub fn pop(&mut self, alt: bool, count: usize) {
        let stack = self.stack(alt);
        for _ in 0..count.min(MAX_STACK) {
            stack.flags = stack.under.pop().unwrap_or(0);
        }
    }

    /// How: 1 sets all flags, 2 adds some, 3 takes some away.
    pub fn change(&mut self, alt: bool, flags: u16, how: usize) {
        let flags = flags as u8 & ALL_FLAGS;
        let now = &mut self.stack(alt).flags;
        match how {
            1 => *now = flags,
            2 => *now |= flags,
            3 => *now &= !flags,
            _ => {}
        }
    }
}

saved!(struct Keyboards { primary, alternate, modify_other_keys, other_keys_as_csi_u });

impl Save for Stack {
    fn put(&self, out: &mut Vec<u8>) {
        let Stack { flags, under } = self;
        flags.put(out);
        put_list(under, out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        Ok(Stack { flags: from.take()?, under: from.list(MAX_STACK)? })
    }
}
