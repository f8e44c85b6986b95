//! A PNG put together from packed strips. The `png` crate writes the chunks.

use ::png::{BitDepth, ColorType, Encoder, chunk};

use super::deflate;

/// A zlib stream without a dictionary, of the fastest kind.
const ZLIB: [u8; 2] = [0x78, 0x01];

pub struct Head {
    pub width: usize,
    pub height: usize,
    /// Red, green and blue of each index; without one the pixels are colours themselves.
    pub palette: Option<Vec<u8>>,
}

/// Some lines of the picture: deflate blocks, and what is needed for the sum at the end.
pub struct Strip {
    pub bytes: Vec<u8>,
    sum: u32,
    length: usize,
}

impl Strip {
    /// Blocks, and the length and sum of what is in them.
    pub fn new(bytes: Vec<u8>, (length, sum): (usize, u32)) -> Strip {
        Strip { bytes, sum, length }
    }
}

pub struct Writer {
    head: Head,
    stream: Vec<u8>,
    sum: u32,
}

impl Writer {
    pub fn new(head: Head) -> Writer {
        Writer { head, stream: ZLIB.to_vec(), sum: 1 }
    }

    pub fn add(&mut self, strip: &Strip) {
        self.stream.extend_from_slice(&strip.bytes);
        self.sum = joined(self.sum, strip.sum, strip.length);
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.stream.extend_from_slice(&deflate::LAST);
        self.stream.extend_from_slice(&self.sum.to_be_bytes());
        let mut out = Vec::with_capacity(self.stream.len() + 1024);
        // Writing to memory does not fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(self, out: &mut Vec<u8>) -> Result<(), ::png::EncodingError> {
        let Head { width, height, palette } = self.head;
        let mut encoder = Encoder::new(out, width as u32, height as u32);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_color(if palette.is_some() { ColorType::Indexed } else { ColorType::Rgb });
        if let Some(palette) = palette {
            encoder.set_palette(palette);
        }
        let mut writer = encoder.write_header()?;
        writer.write_chunk(chunk::IDAT, &self.stream)
    }
}

const PRIME: u32 = 65_521;

/// The sum of two pieces one after another, the second `length` bytes long.
fn joined(first: u32, second: u32, length: usize) -> u32 {
    let length = (length % PRIME as usize) as u32;
    let (a1, b1, a2, b2) = (first & 0xffff, first >> 16, second & 0xffff, second >> 16);
    let a = (a1 + a2 + PRIME - 1) % PRIME;
    let carried = (u64::from(length) * u64::from(a1 + PRIME - 1) % u64::from(PRIME)) as u32;
    let b = (b1 + b2 + carried) % PRIME;
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adler(bytes: &[u8]) -> u32 {
        simd_adler32::adler32(&bytes)
    }

    #[test]
    fn sums_of_pieces_join() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        assert_eq!(adler(b"Wikipedia"), 0x11e6_0398);
        for cut in [0, 1, 5552, 65_521, 99_999] {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(joined(adler(first), adler(second), second.len()), adler(&bytes), "{cut}");
        }
    }
}
