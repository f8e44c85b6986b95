//! The colours as programs set and ask them.

use super::save::{Reader, Refused, Save, put_list};

/// Red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// Colours that are not in the palette of 256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    Foreground,
    Background,
    Cursor,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Palette {
    indexed: Vec<(u8, Rgb)>,
    special: [Option<Rgb>; 3],
}

pub const FOREGROUND: Rgb = Rgb(0xd8, 0xd8, 0xd8);
pub const BACKGROUND: Rgb = Rgb(0x12, 0x14, 0x18);

const FIRST: [u32; 16] = [
    0x00_0000, 0xcd_3131, 0x0d_bc79, 0xe5_e510, 0x24_72c8, 0xbc_3fbc, 0x11_a8cd, 0xe5_e5e5,
    0x66_6666, 0xf1_4c4c, 0x23_d18b, 0xf5_f543, 0x3b_8eea, 0xd6_70d6, 0x29_b8db, 0xff_ffff,
];

impl Palette {
    pub fn get(&self, index: u8) -> Rgb {
        self.chosen(index).unwrap_or_else(|| default_color(index))
    }

    /// What a program set; None means the default of whoever draws.
    pub fn chosen(&self, index: u8) -> Option<Rgb> {
        self.indexed.iter().find(|(at, _)| *at == index).map(|(_, color)| *color)
    }

    pub fn set(&mut self, index: u8, color: Rgb) {
        self.reset(index);
        self.indexed.push((index, color));
    }

    pub fn reset(&mut self, index: u8) {
        self.indexed.retain(|(at, _)| *at != index);
    }

    pub fn reset_all(&mut self) {
        self.indexed.clear();
    }

    /// What a program set; None means the default of whoever draws.
    pub fn special(&self, which: Special) -> Option<Rgb> {
        self.special[which as usize]
    }

    pub fn shown(&self, which: Special) -> Rgb {
        let default = match which {
            Special::Background => BACKGROUND,
            Special::Foreground | Special::Cursor => FOREGROUND,
        };
        self.special(which).unwrap_or(default)
    }

    /// The background is nearer to white than to black.
    pub fn is_light(&self) -> bool {
        let Rgb(r, g, b) = self.shown(Special::Background);
        u32::from(r) * 3 + u32::from(g) * 6 + u32::from(b) > 1280
    }

    pub fn set_special(&mut self, which: Special, color: Option<Rgb>) {
        self.special[which as usize] = color;
    }
}

/// The palette as it is before anyone sets it: 16 colours, a cube and greys.
pub fn default_color(index: u8) -> Rgb {
    let level = |n: u8| if n == 0 { 0 } else { 55 + n * 40 };
    match index {
        0..16 => {
            let [_, r, g, b] = FIRST[usize::from(index)].to_be_bytes();
            Rgb(r, g, b)
        }
        16..232 => {
            let n = index - 16;
            Rgb(level(n / 36), level(n / 6 % 6), level(n % 6))
        }
        _ => {
            let grey = 8 + (index - 232) * 10;
            Rgb(grey, grey, grey)
        }
    }
}

/// A colour as X names it: `rgb:r/g/b` with 1 to 4 digits each, `#` forms, a few names.
pub fn parse_color(spec: &[u8]) -> Option<Rgb> {
    let spec = str::from_utf8(spec).ok()?.trim();
    if let Some(parts) = spec.strip_prefix("rgb:").or_else(|| spec.strip_prefix("rgba:")) {
        let mut parts = parts.split('/').map(scaled);
        return Some(Rgb(parts.next()??, parts.next()??, parts.next()??));
    }
    match spec.strip_prefix('#') {
        Some(digits) => parse_hash(digits),
        None => named(spec),
    }
}

/// `#` forms give the high bits: `#fff` is f0f0f0, as X has it.
fn parse_hash(digits: &str) -> Option<Rgb> {
    if !digits.is_ascii() || !matches!(digits.len(), 3 | 6 | 9 | 12) {
        return None;
    }
    let size = digits.len() / 3;
    let part = |at: usize| {
        let value = u32::from_str_radix(&digits[at * size..(at + 1) * size], 16).ok()?;
        Some(if size == 1 { value << 4 } else { value >> ((size - 2) * 4) } as u8)
    };
    Some(Rgb(part(0)?, part(1)?, part(2)?))
}

/// A number of 1 to 4 hexadecimal digits as a part of its greatest value.
fn scaled(digits: &str) -> Option<u8> {
    if !(1..=4).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let most = (1 << (digits.len() * 4)) - 1;
    Some((value * 255 / most) as u8)
}

/// The names of X that programs use; of the greys any.
const NAMES: [(&str, u32); 59] = [
    ("black", 0x00_0000),
    ("white", 0xff_ffff),
    ("red", 0xff_0000),
    ("green", 0x00_ff00),
    ("blue", 0x00_00ff),
    ("yellow", 0xff_ff00),
    ("cyan", 0x00_ffff),
    ("magenta", 0xff_00ff),
    ("gray", 0xbe_bebe),
    ("darkgray", 0xa9_a9a9),
    ("lightgray", 0xd3_d3d3),
    ("orange", 0xff_a500),
    ("purple", 0xa0_20f0),
    ("brown", 0xa5_2a2a),
    ("pink", 0xff_c0cb),
    ("navy", 0x00_0080),
    ("maroon", 0xb0_3060),
    ("violet", 0xee_82ee),
    ("gold", 0xff_d700),
    ("darkgreen", 0x00_6400),
    ("darkblue", 0x00_008b),
    ("darkred", 0x8b_0000),
    ("lightblue", 0xad_d8e6),
    ("lightgreen", 0x90_ee90),
    ("lightcyan", 0xe0_ffff),
    ("lightyellow", 0xff_ffe0),
    ("lightpink", 0xff_b6c1),
    ("darkcyan", 0x00_8b8b),
    ("darkmagenta", 0x8b_008b),
    ("darkorange", 0xff_8c00),
    ("darkslategray", 0x2f_4f4f),
    ("dimgray", 0x69_6969),
    ("slategray", 0x70_8090),
    ("steelblue", 0x46_82b4),
    ("royalblue", 0x41_69e1),
    ("dodgerblue", 0x1e_90ff),
    ("skyblue", 0x87_ceeb),
    ("cornflowerblue", 0x64_95ed),
    ("midnightblue", 0x19_1970),
    ("turquoise", 0x40_e0d0),
    ("aquamarine", 0x7f_ffd4),
    ("seagreen", 0x2e_8b57),
    ("forestgreen", 0x22_8b22),
    ("limegreen", 0x32_cd32),
    ("springgreen", 0x00_ff7f),
    ("khaki", 0xf0_e68c),
    ("goldenrod", 0xda_a520),
    ("chocolate", 0xd2_691e),
    ("firebrick", 0xb2_2222),
    ("tomato", 0xff_6347),
    ("coral", 0xff_7f50),
    ("salmon", 0xfa_8072),
    ("orchid", 0xda_70d6),
    ("plum", 0xdd_a0dd),
    ("tan", 0xd2_b48c),
    ("wheat", 0xf5_deb3),
    ("beige", 0xf5_f5dc),
    ("ivory", 0xff_fff0),
    ("lavender", 0xe6_e6fa),
];

fn named(name: &str) -> Option<Rgb> {
    let name = name.to_ascii_lowercase().replace(' ', "").replace("grey", "gray");
    if let Some(percent) = name.strip_prefix("gray").and_then(|n| n.parse::<u32>().ok()) {
        // As X rounds: 50 is 127, 10 is 26.
        let level = (f64::from(percent) * 2.55 + 0.5) as u8;
        return (percent <= 100).then_some(Rgb(level, level, level));
    }
    let [_, r, g, b] = NAMES.iter().find(|(known, _)| *known == name)?.1.to_be_bytes();
    Some(Rgb(r, g, b))
}

impl Save for Rgb {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend([self.0, self.1, self.2]);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let [r, g, b] = from.take()?;
        Ok(Rgb(r, g, b))
    }
}

impl Save for Palette {
    fn put(&self, out: &mut Vec<u8>) {
        let Palette { indexed, special } = self;
        put_list(indexed, out);
        special.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        Ok(Palette { indexed: from.list(256)?, special: from.take()? })
    }
}
