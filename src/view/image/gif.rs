//! A moving picture as a GIF.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use ::gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};

use super::Patch;
use super::decode::{cube, nearest};

/// Colours of a frame.
const MAX_COLORS: usize = 256;

pub struct Gif {
    encoder: Encoder<Vec<u8>>,
    width: usize,
    /// Pixels are indices of a common palette.
    indexed: bool,
    /// What was cut off times to get hundredths.
    owed: Duration,
}

impl Gif {
    pub fn new((width, height): (usize, usize), palette: Option<Vec<u8>>) -> Result<Gif, String> {
        let size = (u16::try_from(width), u16::try_from(height));
        let (Ok(w), Ok(h)) = size else {
            return Err(format!("a GIF cannot have {width}x{height} pixels: make it smaller"));
        };
        let indexed = palette.is_some();
        let palette = palette.unwrap_or_default();
        let mut encoder = Encoder::new(Vec::new(), w, h, &palette).map_err(said)?;
        encoder.set_repeat(Repeat::Infinite).map_err(said)?;
        Ok(Gif { encoder, width, indexed, owed: Duration::ZERO })
    }

    pub fn add(&mut self, patch: &Patch, time: Duration) -> Result<(), String> {
        let time = time + self.owed;
        let delay = u16::try_from(time.as_millis() / 10).unwrap_or(u16::MAX);
        self.owed = time.saturating_sub(Duration::from_millis(10) * u32::from(delay));
        self.owed = self.owed.min(Duration::from_millis(10));
        let (palette, buffer) = match self.indexed {
            true => (None, Cow::Borrowed(patch.pixels.as_slice())),
            false => {
                let (palette, pixels) = reduced(&patch.pixels);
                (Some(palette), Cow::Owned(pixels))
            }
        };
        let frame = Frame {
            delay,
            dispose: DisposalMethod::Keep,
            top: patch.top as u16,
            width: self.width as u16,
            height: patch.height as u16,
            palette,
            buffer,
            ..Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(said)
    }

    pub fn len(&self) -> usize {
        self.encoder.get_ref().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn finish(self) -> Result<Vec<u8>, String> {
        self.encoder.into_inner().map_err(said)
    }
}

/// A palette for some pixels: their own colours if they are few, else the nearest of a cube's.
fn reduced(rgb: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut known: HashMap<[u8; 3], u8> = HashMap::new();
    let (mut palette, mut pixels) = (Vec::new(), Vec::with_capacity(rgb.len() / 3));
    let (colors, _) = rgb.as_chunks::<3>();
    for color in colors {
        let index = match known.get(color) {
            Some(index) => *index,
            None if known.len() == MAX_COLORS => {
                let pixels = colors.iter().map(|[r, g, b]| nearest(*r, *g, *b)).collect();
                return (cube().as_flattened().to_vec(), pixels);
            }
            None => {
                let index = known.len() as u8;
                known.insert(*color, index);
                palette.extend_from_slice(color);
                index
            }
        };
        pixels.push(index);
    }
    (palette, pixels)
}

fn said(error: EncodingError) -> String {
    format!("it cannot be packed: {error}")
}
