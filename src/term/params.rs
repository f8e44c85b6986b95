//! The numbers of a control sequence, with their sub-parameters.

use super::save::{Reader, Refused, Save, put_list};

pub const MAX_PARAMS: usize = 32;

/// Numbers after one another; those joined by a colon to the one before are marked. A number
/// that is missing is 0: no function tells the two apart.
#[derive(Clone, Debug)]
pub struct Params {
    values: [u16; MAX_PARAMS],
    len: usize,
    /// Bit i: value i is a sub-parameter of the one before.
    subs: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { values: [0; MAX_PARAMS], len: 0, subs: 0 }
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Params) -> bool {
        (self.values(), self.subs) == (other.values(), other.subs)
    }
}

impl Eq for Params {}

impl Params {
    pub fn clear(&mut self) {
        self.len = 0;
        self.subs = 0;
    }

    /// False when there are too many.
    #[inline]
    pub fn push(&mut self, value: u16, sub: bool) -> bool {
        if self.len == MAX_PARAMS {
            return false;
        }
        self.values[self.len] = value;
        self.subs |= u32::from(sub) << self.len;
        self.len += 1;
        true
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn has_subs(&self) -> bool {
        self.subs != 0
    }

    /// All values in a row, colons or not.
    pub fn values(&self) -> &[u16] {
        &self.values[..self.len]
    }

    /// Values each with its sub-parameters: `4:3;1` gives `[4, 3]` and `[1]`.
    pub fn groups(&self) -> impl Iterator<Item = &[u16]> {
        let mut at = 0;
        std::iter::from_fn(move || {
            if at >= self.len {
                return None;
            }
            let start = at;
            at += 1;
            while at < self.len && self.subs >> at & 1 == 1 {
                at += 1;
            }
            Some(&self.values[start..at])
        })
    }

    /// The value at a place, 0 when it is not there.
    #[inline]
    pub fn raw(&self, at: usize) -> u16 {
        if at < self.len { self.values[at] } else { 0 }
    }

    /// The value at a place, where 0 and missing mean `default`.
    #[inline]
    pub fn or(&self, at: usize, default: usize) -> usize {
        match self.raw(at) {
            0 => default,
            value => usize::from(value),
        }
    }
}

impl Save for Params {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self.values(), out);
        self.subs.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let mut params = Params::default();
        let values: Vec<u16> = from.list(MAX_PARAMS)?;
        let subs: u32 = from.take()?;
        for (at, value) in values.into_iter().enumerate() {
            params.push(value, subs >> at & 1 == 1);
        }
        Ok(params)
    }
}
