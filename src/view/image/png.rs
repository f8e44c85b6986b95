//! A PNG put together from packed strips. The `png` crate writes the chunks.

use ::png::{BitDepth, ColorType, Encoder, chunk};

use super::deflate;

/// A zlib stream without a dictionary, of the fastest kind.
const ZLIB: [u8; 2] = [0x78, 0x01];
/// Bytes of the stream that are gathered for a chunk, and what a chunk costs besides. A strip that
/// is a fourth as large is a chunk by itself, which saves copying it.
const CHUNK: usize = 64 << 10;
const CHUNK_COST: usize = 12;
/// Bytes for all that comes before and after the strips: a palette of 256 colours among them.
const HEAD_ROOM: usize = 1024;

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

/// The picture that strips one below another make.
pub fn write<'a>(head: Head, strips: impl Iterator<Item = &'a Strip> + Clone) -> Vec<u8> {
    let length: usize = strips.clone().map(|strip| strip.bytes.len() + CHUNK_COST).sum();
    let mut out = Vec::with_capacity(length + HEAD_ROOM);
    // Writing to memory does not fail.
    let _ = write_to(&mut out, head, strips);
    out
}

fn write_to<'a>(
    out: &mut Vec<u8>,
    Head { width, height, palette }: Head,
    strips: impl Iterator<Item = &'a Strip>,
) -> Result<(), ::png::EncodingError> {
    let mut encoder = Encoder::new(out, width as u32, height as u32);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_color(if palette.is_some() { ColorType::Indexed } else { ColorType::Rgb });
    if let Some(palette) = palette {
        encoder.set_palette(palette);
    }
    let mut writer = encoder.write_header()?;
    let (mut stream, mut sum) = (ZLIB.to_vec(), 1);
    for strip in strips {
        let is_large = strip.bytes.len() > CHUNK / 4;
        if !stream.is_empty() && (is_large || stream.len() + strip.bytes.len() > CHUNK) {
            writer.write_chunk(chunk::IDAT, &stream)?;
            stream.clear();
        }
        if is_large {
            writer.write_chunk(chunk::IDAT, &strip.bytes)?;
        } else {
            stream.extend_from_slice(&strip.bytes);
        }
        sum = joined(sum, strip.sum, strip.length);
    }
    stream.extend_from_slice(&deflate::LAST);
    stream.extend_from_slice(&u32::to_be_bytes(sum));
    writer.write_chunk(chunk::IDAT, &stream)
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
