//! A picture as sixels: six lines of pixels at a time, colour by colour.

use std::fmt::Write;

use crate::view::image::Decoded;

/// Registers that every terminal with sixels has.
const MAX_COLORS: usize = 256;

pub fn draw(png: &[u8]) -> Option<Vec<u8>> {
    let Decoded { width, height, palette, pixels } = Decoded::of(png)?;
    let mut out = format!("\x1bP0;1q\"1;1;{width};{height}");
    for (at, [r, g, b]) in palette.iter().take(MAX_COLORS).enumerate() {
        let part = |value: u8| u32::from(value) * 100 / 255;
        let _ = write!(out, "#{at};2;{};{};{}", part(*r), part(*g), part(*b));
    }
    for band in pixels.chunks(width * 6) {
        put_band(band, width, &mut out);
    }
    out.push_str("\x1b\\\n");
    Some(out.into_bytes())
}

/// One pass over the six lines for each colour in them.
fn put_band(band: &[u8], width: usize, out: &mut String) {
    let mut used = [false; MAX_COLORS];
    band.iter().for_each(|pixel| used[usize::from(*pixel)] = true);
    for color in (0..MAX_COLORS).filter(|color| used[*color]) {
        let _ = write!(out, "#{color}");
        let sixel = |x: usize| {
            let lines = band[x..].iter().step_by(width).enumerate();
            let bits = lines.filter(|(_, pixel)| usize::from(**pixel) == color);
            bits.fold(0, |bits, (y, _)| bits | 1_u8 << y)
        };
        let sixels: Vec<u8> = (0..width).map(sixel).collect();
        for run in sixels.chunk_by(|a, b| a == b) {
            let _ = write!(out, "!{}{}", run.len(), char::from(63 + run[0]));
        }
        out.push('$');
    }
    out.push('-');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_lines_make_a_band() {
        let mut out = String::new();
        put_band(&[0, 0, 1, 1, 0, 0], 3, &mut out);
        assert_eq!(out, "#0!1@!1B!1A$#1!1A!1?!1@$-");
    }
}
