//! How a character looks, and the table that gives each look in use a small number.

use super::cell::StyleId;
use super::save::{Reader, Refused, Save, ensure, put_list, saved};

/// A colour: the default one, one of the 256 of the palette, or red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Color {
    #[default]
    Default,
    Indexed(u8),
    Rgb(u8, u8, u8),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Underline {
    #[default]
    None,
    Single,
    Double,
    Curly,
    Dotted,
    Dashed,
}

/// Attributes that are on or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Attrs(u16);

impl Attrs {
    pub const BOLD: Attrs = Attrs(1);
    pub const DIM: Attrs = Attrs(1 << 1);
    pub const ITALIC: Attrs = Attrs(1 << 2);
    pub const BLINK: Attrs = Attrs(1 << 3);
    pub const RAPID: Attrs = Attrs(1 << 4);
    pub const INVERSE: Attrs = Attrs(1 << 5);
    pub const HIDDEN: Attrs = Attrs(1 << 6);
    pub const STRIKE: Attrs = Attrs(1 << 7);
    pub const OVERLINE: Attrs = Attrs(1 << 8);

    pub fn has(self, other: Attrs) -> bool {
        self.0 & other.0 != 0
    }

    pub fn set(&mut self, other: Attrs, on: bool) {
        self.0 = if on { self.0 | other.0 } else { self.0 & !other.0 };
    }

    pub fn flip(&mut self, other: Attrs) {
        self.0 ^= other.0;
    }

    pub fn bits(self) -> u16 {
        self.0
    }

    pub fn from_bits(bits: u16) -> Attrs {
        Attrs(bits & 0x1ff)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    pub fg: Color,
    pub bg: Color,
    pub underline_color: Color,
    pub underline: Underline,
    pub attrs: Attrs,
}

impl Color {
    fn key(self) -> u64 {
        match self {
            Color::Default => 0,
            Color::Indexed(n) => 1 << 24 | u64::from(n),
            Color::Rgb(r, g, b) => 2 << 24 | u64::from(r) << 16 | u64::from(g) << 8 | u64::from(b),
        }
    }
}

impl Style {
    /// The style of erased cells: background only.
    pub fn erased(self) -> Style {
        Style { bg: self.bg, ..Style::default() }
    }

    /// The style in two numbers, for quick comparison; the default style is zero.
    #[inline]
    fn key(self) -> Key {
        let attrs = (self.underline as u64) << 16 | u64::from(self.attrs.bits());
        Key(self.fg.key() << 32 | self.bg.key(), self.underline_color.key() << 32 | attrs)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key(u64, u64);

impl Key {
    #[inline]
    fn hash(self) -> usize {
        let mut h = (self.0 ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xa24b_aed4_963e_e407);
        h = (h ^ (h >> 29) ^ self.1).wrapping_mul(0x9fb2_1c65_1e98_df25);
        (h ^ (h >> 32)) as usize
    }
}

/// More styles at once than this are not told apart.
pub const MAX_STYLES: usize = 60_000;
/// Below this number a sweep would not pay.
const SWEEP_FLOOR: usize = 8192;
const FIRST_SLOTS: usize = 64;

/// Interned styles. Ids live on the screens only: scrollback holds whole styles, so that a
/// sweep never has to read it.
#[derive(Clone, Debug)]
pub struct Styles {
    list: Vec<Style>,
    keys: Vec<Key>,
    slots: Vec<u16>,
    sweep_at: usize,
    /// Styles not told apart since the last sweep.
    refused: usize,
}

impl PartialEq for Styles {
    fn eq(&self, other: &Styles) -> bool {
        let parts = |s: &Styles| (s.sweep_at, s.refused);
        self.list == other.list && parts(self) == parts(other)
    }
}

impl Default for Styles {
    fn default() -> Self {
        Styles {
            list: vec![Style::default()],
            keys: vec![Style::default().key()],
            slots: vec![0; FIRST_SLOTS],
            sweep_at: SWEEP_FLOOR,
            refused: 0,
        }
    }
}

impl Styles {
    pub fn get(&self, id: StyleId) -> Style {
        self.list.get(usize::from(id.0)).copied().unwrap_or_default()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// True when it is time to give the ids of unused styles back.
    pub fn wants_sweep(&self) -> bool {
        self.list.len() >= self.sweep_at || self.refused >= SWEEP_FLOOR
    }

    #[inline]
    pub fn intern(&mut self, style: Style) -> StyleId {
        let key = style.key();
        if key == Key(0, 0) {
            return StyleId(0);
        }
        match self.find(key) {
            Ok(id) => StyleId(id),
            Err(_) if self.list.len() >= MAX_STYLES => {
                self.refused = self.refused.saturating_add(1);
                StyleId(0)
            }
            Err(slot) => self.add(style, key, slot),
        }
    }

    fn add(&mut self, style: Style, key: Key, slot: usize) -> StyleId {
        let id = self.list.len() as u16;
        self.list.push(style);
        self.keys.push(key);
        self.slots[slot] = id;
        if self.list.len() * 2 > self.slots.len() {
            self.rehash(self.slots.len() * 2);
        }
        StyleId(id)
    }

    /// The id of a style, or the slot where it belongs.
    #[inline]
    fn find(&self, key: Key) -> Result<u16, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = key.hash() & mask;
        loop {
            match self.slots[slot] {
                0 => return Err(slot),
                id if self.keys[usize::from(id)] == key => return Ok(id),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn rehash(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, 0);
        for id in 1..self.keys.len() {
            if let Err(slot) = self.find(self.keys[id]) {
                self.slots[slot] = id as u16;
            }
        }
    }

    /// Keeps the marked styles only; gives the new id of each old one.
    pub fn sweep(&mut self, used: &[bool]) -> Vec<StyleId> {
        let mut map = vec![StyleId(0); self.list.len()];
        let mut kept = vec![Style::default()];
        for (id, style) in self.list.iter().enumerate().skip(1) {
            if used.get(id).copied().unwrap_or(false) {
                map[id] = StyleId(kept.len() as u16);
                kept.push(*style);
            }
        }
        self.refused = 0;
        self.sweep_at = (kept.len() * 2).clamp(SWEEP_FLOOR, MAX_STYLES);
        // So many in use that a sweep would come too often: only when some had to be refused.
        if kept.len() + SWEEP_FLOOR > MAX_STYLES {
            self.sweep_at = usize::MAX;
        }
        self.set_list(kept);
        map
    }

    fn set_list(&mut self, list: Vec<Style>) {
        self.keys = list.iter().map(|style| style.key()).collect();
        self.list = list;
        self.rehash((self.list.len() * 2 + 1).next_power_of_two().max(FIRST_SLOTS));
    }
}

saved!(
    enum Underline {
        None,
        Single,
        Double,
        Curly,
        Dotted,
        Dashed,
    }
);
saved!(struct Style { fg, bg, underline_color, underline, attrs });

impl Save for Color {
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Color::Default => out.push(0),
            Color::Indexed(n) => out.extend([1, n]),
            Color::Rgb(r, g, b) => out.extend([2, r, g, b]),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        match from.take::<u8>()? {
            0 => Ok(Color::Default),
            1 => Ok(Color::Indexed(from.take()?)),
            2 => Ok(Color::Rgb(from.take()?, from.take()?, from.take()?)),
            _ => Err(Refused("a colour")),
        }
    }
}

impl Save for Attrs {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let bits = from.take()?;
        ensure(Attrs::from_bits(bits).0 == bits, "attributes")?;
        Ok(Attrs(bits))
    }
}

impl Save for Styles {
    fn put(&self, out: &mut Vec<u8>) {
        let Styles { list, keys: _, slots: _, sweep_at, refused } = self;
        put_list(list, out);
        sweep_at.put(out);
        refused.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let list: Vec<Style> = from.list(MAX_STYLES)?;
        ensure(list.first() == Some(&Style::default()), "the first style")?;
        let (sweep_at, refused) = (from.take()?, from.take()?);
        let mut styles = Styles { sweep_at, refused, ..Styles::default() };
        styles.set_list(list);
        Ok(styles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rgb(n: u32) -> Style {
        let [_, r, g, b] = n.to_be_bytes();
        Style { fg: Color::Rgb(r, g, b), ..Style::default() }
    }

    #[test]
    fn the_same_style_has_one_id() {
        let mut styles = Styles::default();
        let ids: Vec<_> = (0..9000).map(|n| styles.intern(rgb(n))).collect();
        assert!((0..9000).all(|n| styles.intern(rgb(n)) == ids[n as usize]));
        assert!((0..9000).all(|n| styles.get(ids[n as usize]) == rgb(n)));
    }

    #[test]
    fn a_sweep_keeps_what_is_used() {
        let mut styles = Styles::default();
        let ids: Vec<_> = (0..9000).map(|n| styles.intern(rgb(n))).collect();
        let mut used = vec![false; styles.len()];
        used[usize::from(ids[4321].0)] = true;
        assert!(styles.wants_sweep());
        let map = styles.sweep(&used);
        assert_eq!(styles.get(map[usize::from(ids[4321].0)]), rgb(4321));
        assert_eq!(styles.len(), 2);
    }

    #[test]
    fn styles_without_end_are_bounded() {
        let mut styles = Styles::default();
        for n in 0..200_000 {
            styles.intern(rgb(n));
        }
        assert!(styles.len() <= MAX_STYLES);
    }
}
