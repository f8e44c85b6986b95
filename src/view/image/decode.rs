//! Our own pictures read again, for terminals that want pixels.

use std::io::Cursor;

use ::png::{ColorType, Decoder};

/// A picture with a palette.
pub struct Decoded {
    pub width: usize,
    pub height: usize,
    pub palette: Vec<[u8; 3]>,
    pub pixels: Vec<u8>,
}

impl Decoded {
    pub fn of(png: &[u8]) -> Option<Decoded> {
        let mut reader = Decoder::new(Cursor::new(png)).read_info().ok()?;
        let mut bytes = vec![0; reader.output_buffer_size()?];
        let info = reader.next_frame(&mut bytes).ok()?;
        let (width, height) = (info.width as usize, info.height as usize);
        if info.color_type == ColorType::Rgb {
            let pixels = bytes.chunks_exact(3).map(|p| nearest(p[0], p[1], p[2])).collect();
            return Some(Decoded { width, height, palette: cube(), pixels });
        }
        let palette = reader.info().palette.as_ref()?;
        let palette = palette.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        Some(Decoded { width, height, palette, pixels: bytes })
    }
}

/// Six steps of each colour, where a palette is needed and there is none.
pub fn cube() -> Vec<[u8; 3]> {
    let step = |n: usize| (n * 51) as u8;
    (0..216).map(|n| [step(n / 36), step(n / 6 % 6), step(n % 6)]).collect()
}

pub fn nearest(r: u8, g: u8, b: u8) -> u8 {
    let step = |value: u8| (u16::from(value) + 25) / 51;
    (step(r) * 36 + step(g) * 6 + step(b)) as u8
}
