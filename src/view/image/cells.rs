//! A row of a picture: forms in their looks, and the bytes that they stand for.

use super::forms::{FormId, Forms};
use super::ramps::{Paint, Pixel};

/// A form in a look: all that is to be known of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub form: FormId,
    pub look: u32,
}

/// What places mean.
#[derive(Clone, Copy)]
pub struct Meaning<'a, P> {
    pub forms: &'a Forms,
    pub looks: &'a [Paint<P>],
}

impl<P: Pixel> Meaning<'_, P> {
    /// Bytes of a cell's line.
    pub fn pitch(&self) -> usize {
        self.forms.cell().w * P::CHANNELS
    }

    pub fn paint(&self, place: Place) -> &Paint<P> {
        &self.looks[place.look as usize]
    }

    /// The pixel of a line that has only one colour.
    #[inline]
    pub fn even(&self, place: Place, y: usize) -> Option<P> {
        let class = self.forms.even(place.form, y)?;
        Some(self.paint(place).pixels[usize::from(class)])
    }

    /// Whether a cell's first line is the same as the last one of the cell above it.
    #[inline]
    pub fn touch(&self, above: Place, below: Place) -> bool {
        let last = self.forms.cell().h - 1;
        match (self.even(above, last), self.even(below, 0)) {
            (Some(above), Some(below)) => above == below,
            // Of two looks it is not asked whether their colours are the same.
            _ => {
                let lines = || (self.forms.line(above.form, last), self.forms.line(below.form, 0));
                above.look == below.look && lines().0 == lines().1
            }
        }
    }

    /// The lines of a row, each after `before` zeros. One is PNG's word for no filter.
    pub fn put_lines(&self, row: &[Place], before: usize, raw: &mut Vec<u8>) {
        let (pitch, start) = (self.pitch(), raw.len());
        let stride = before + row.len() * pitch;
        raw.resize(start + self.forms.cell().h * stride, 0);
        let mut left = start + before;
        for same in row.chunk_by(|a, b| a == b) {
            let pixels = &self.paint(same[0]).pixels;
            let lines = raw[left..].chunks_mut(stride).zip(self.forms.lines(same[0].form));
            for (bytes, line) in lines {
                for (bytes, class) in bytes.chunks_exact_mut(P::CHANNELS).zip(line) {
                    let pixel = [pixels[usize::from(*class)]];
                    bytes.copy_from_slice(P::bytes(&pixel));
                }
                repeat(pitch, &mut bytes[..same.len() * pitch]);
            }
            left += same.len() * pitch;
        }
    }

    /// Length and sum (Adler-32) of a row, each line after a zero. No pixel is looked at: what
    /// counts is how many there are of each class and where.
    pub fn sum(&self, row: &[Place]) -> (usize, u32) {
        const PRIME: u64 = 65_521;
        let (pitch, channels) = (self.pitch() as u64, P::CHANNELS as u64);
        let stride = 1 + row.len() as u64 * pitch;
        let length = stride * self.forms.cell().h as u64;
        // Each byte is added to the one sum, and times its distance from the end to the other.
        let (mut a, mut b) = (1, length);
        let mut left = length - 1;
        for place in row {
            let pixels = &self.paint(*place).pixels;
            let mut bytes = 0;
            for tint in self.forms.tints(place.form) {
                let [count, x, y] = [tint.count, tint.x, tint.y].map(u64::from);
                let pixel = [pixels[usize::from(tint.class)]];
                let (mut all, mut later) = (0, 0);
                for (n, byte) in (0..).zip(P::bytes(&pixel)) {
                    all += u64::from(*byte);
                    later += n * u64::from(*byte);
                }
                bytes += all * count;
                b += left * all * count - all * (y * stride + x * channels) - later * count;
            }
            a += bytes;
            left -= pitch;
        }
        (a, b) = (a % PRIME, b % PRIME);
        (length as usize, (b << 16 | a) as u32)
    }
}

/// Fills all with what the first bytes are.
fn repeat(first: usize, bytes: &mut [u8]) {
    let mut done = first;
    while done < bytes.len() {
        let more = done.min(bytes.len() - done);
        bytes.copy_within(..more, done);
        done += more;
    }
}
