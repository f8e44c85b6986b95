//! Tab stops, one bit a column.

use super::MAX_COLS;
use super::save::{Reader, Refused, Save};

const EVERY: usize = 8;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tabs(Vec<bool>);

impl Default for Tabs {
    fn default() -> Self {
        Tabs((0..usize::from(MAX_COLS)).map(|col| col % EVERY == 0).collect())
    }
}

impl Tabs {
    pub fn set(&mut self, col: usize, on: bool) {
        if let Some(stop) = self.0.get_mut(col) {
            *stop = on;
        }
    }

    pub fn clear(&mut self) {
        self.0.fill(false);
    }

    pub fn stops(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, on)| **on).map(|(col, _)| col)
    }

    /// The next stop right of a column, `last` at most.
    pub fn next(&self, col: usize, last: usize) -> usize {
        (col + 1..=last).find(|c| self.0.get(*c).copied().unwrap_or(false)).unwrap_or(last)
    }

    /// The next stop left of a column, `first` at least.
    pub fn before(&self, col: usize, first: usize) -> usize {
        (first..col).rev().find(|c| self.0.get(*c).copied().unwrap_or(false)).unwrap_or(first)
    }
}

impl Save for Tabs {
    fn put(&self, out: &mut Vec<u8>) {
        let byte =
            |stops: &[bool]| stops.iter().rev().fold(0, |byte, on| byte << 1 | u8::from(*on));
        out.extend(self.0.chunks(8).map(byte));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let bytes = from.bytes(usize::from(MAX_COLS).div_ceil(8))?;
        let stop = |col: usize| bytes[col / 8] >> (col % 8) & 1 == 1;
        Ok(Tabs((0..usize::from(MAX_COLS)).map(stop).collect()))
    }
}
