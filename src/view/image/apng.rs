//! A moving picture as an APNG.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use ::png::{BitDepth, BlendOp, ColorType, DisposeOp, Encoder, EncodingError, Writer};

use super::Patch;

pub struct Apng {
    writer: Writer<Sink>,
    sink: Sink,
    width: usize,
    height: usize,
}

/// Bytes that can be counted while the encoder has them.
#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Apng {
    pub fn new(
        (width, height): (usize, usize),
        palette: Option<Vec<u8>>,
        frames: usize,
    ) -> Result<Apng, String> {
        let sink = Sink::default();
        let writer = begin(sink.clone(), (width, height), palette, frames).map_err(said)?;
        Ok(Apng { writer, sink, width, height })
    }

    pub fn add(&mut self, patch: &Patch, time: Duration) -> Result<(), String> {
        self.put(patch, time).map_err(said)
    }

    fn put(&mut self, patch: &Patch, time: Duration) -> Result<(), EncodingError> {
        // The longest that can be told are eighteen hours.
        let (number, of) = match time.as_millis() {
            ms @ 0..=0xffff => (ms as u16, 1000),
            _ => (u16::try_from(time.as_secs()).unwrap_or(u16::MAX), 1),
        };
        self.writer.set_frame_delay(number, of)?;
        self.writer.reset_frame_position()?;
        self.writer.set_frame_dimension(self.width as u32, patch.height as u32)?;
        self.writer.set_frame_position(0, patch.top as u32)?;
        self.writer.write_image_data(&patch.pixels)
    }

    pub fn len(&self) -> usize {
        self.sink.0.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.height == 0
    }

    pub fn finish(self) -> Result<Vec<u8>, String> {
        self.writer.finish().map_err(said)?;
        Ok(self.sink.0.take())
    }
}

fn begin(
    sink: Sink,
    (width, height): (usize, usize),
    palette: Option<Vec<u8>>,
    frames: usize,
) -> Result<Writer<Sink>, EncodingError> {
    let mut encoder = Encoder::new(sink, width as u32, height as u32);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_color(if palette.is_some() { ColorType::Indexed } else { ColorType::Rgb });
    if let Some(palette) = palette {
        encoder.set_palette(palette);
    }
    encoder.set_animated(frames as u32, 0)?;
    encoder.set_blend_op(BlendOp::Source)?;
    encoder.set_dispose_op(DisposeOp::None)?;
    encoder.write_header()
}

fn said(error: EncodingError) -> String {
    format!("it cannot be packed: {error}")
}
