//! From bytes to pixels.

use t4a::term::{Limits, Size, Terminal};
use t4a::view::image::{Cell, Renderer};
use t4a::view::sheet::{Manner, lay_out};
use t4a::view::theme::Theme;

pub fn terminal(cols: u16, rows: u16, bytes: &str) -> Terminal {
    let mut term = Terminal::new(Size { cols, rows }, Limits { lines: 1000, bytes: 1 << 20 });
    term.feed(bytes.as_bytes(), &mut Vec::new());
    term
}

pub fn manner(cols: u16) -> Manner {
    Manner {
        cols: 0..usize::from(cols),
        cursor: true,
        gutter: None,
        highlight: None,
        theme: Theme::default(),
        double: true,
    }
}

/// The picture of a terminal as a PNG.
pub fn png(term: &Terminal, manner: &Manner, scale: usize) -> Vec<u8> {
    let sheet = lay_out(&term.snapshot(0..term.size().rows), manner);
    Renderer::default().png(0, &sheet, Cell::of_scale(scale, 0))
}

/// A picture in red, green and blue.
#[derive(Clone, PartialEq, Eq)]
pub struct Pixels {
    pub w: usize,
    pub h: usize,
    pub rgb: Vec<[u8; 3]>,
}

pub fn decode(png: &[u8]) -> Pixels {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    reader.finish().unwrap();
    let rgb = bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    Pixels { w: info.width as usize, h: info.height as usize, rgb }
}
