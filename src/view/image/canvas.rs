//! One cell, or two, to draw on: how much of each pixel is covered, from 0 to 255.

/// Samples a side of a pixel: sixteen, as many as there are shades.
const SAMPLES: usize = 4;

#[derive(Clone, Debug)]
pub struct Canvas {
    pub w: usize,
    pub h: usize,
    pub cover: Vec<u8>,
}

impl Canvas {
    pub fn new(w: usize, h: usize) -> Canvas {
        Canvas { w, h, cover: vec![0; w * h] }
    }

    /// Sets whole pixels, from the first up to, not including, the second corner.
    pub fn rect(&mut self, x: (usize, usize), y: (usize, usize), cover: u8) {
        let (x0, x1) = (x.0.min(self.w), x.1.min(self.w));
        for row in y.0.min(self.h)..y.1.min(self.h) {
            if x0 < x1 {
                self.cover[row * self.w + x0..row * self.w + x1].fill(cover);
            }
        }
    }

    pub fn all(&mut self, cover: u8) {
        self.cover.fill(cover);
    }

    /// Covers what lies inside a shape, edges smoothed. Places are in pixels from the top left.
    pub fn shape(&mut self, inside: impl Fn(f32, f32) -> bool) {
        self.shaded(255, inside);
    }

    pub fn shaded(&mut self, full: u8, inside: impl Fn(f32, f32) -> bool) {
        let step = 1.0 / SAMPLES as f32;
        let places: Vec<f32> = (0..SAMPLES).map(|n| (n as f32 + 0.5) * step).collect();
        for y in 0..self.h {
            for x in 0..self.w {
                let hit = |dx: f32, dy: f32| inside(x as f32 + dx, y as f32 + dy);
                let row = |dy: &f32| places.iter().filter(|dx| hit(**dx, *dy)).count();
                let hits: usize = places.iter().map(row).sum();
                let cover = (hits * usize::from(full) / (SAMPLES * SAMPLES)) as u8;
                let pixel = &mut self.cover[y * self.w + x];
                *pixel = (*pixel).max(cover);
            }
        }
    }

    /// A line of some thickness between two places.
    pub fn stroke(&mut self, from: (f32, f32), to: (f32, f32), thickness: f32) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(0.001);
        let (ux, uy) = (dx / length, dy / length);
        let half = thickness / 2.0;
        self.shape(|x, y| {
            let (px, py) = (x - from.0, y - from.1);
            let along = px * ux + py * uy;
            let across = (px * uy - py * ux).abs();
            across <= half && along >= -half && along <= length + half
        });
    }

    /// Lays a grey picture over what is there, its top left at a place that may be outside.
    pub fn overlay(&mut self, at: (i32, i32), (w, h): (usize, usize), cover: &[u8]) {
        for (y, row) in cover.chunks_exact(w.max(1)).take(h).enumerate() {
            let Ok(y) = usize::try_from(at.1 + y as i32) else { continue };
            if y >= self.h {
                return;
            }
            for (x, value) in row.iter().enumerate() {
                let x = usize::try_from(at.0 + x as i32).unwrap_or(usize::MAX);
                if x < self.w {
                    let pixel = &mut self.cover[y * self.w + x];
                    *pixel = (*pixel).max(*value);
                }
            }
        }
    }
}

/// Where part `n` of `parts` of a length begins, in whole pixels: neighbours meet without a gap.
pub fn edge(n: usize, parts: usize, size: usize) -> usize {
    (2 * n * size + parts) / (2 * parts)
}

/// Where a line of some thickness lies in the middle of a length.
pub fn middle(size: usize, thickness: usize) -> (usize, usize) {
    let start = size.saturating_sub(thickness) / 2;
    (start, (start + thickness).min(size))
}

/// Thickness of a light line in a cell of this width.
pub fn light(w: usize) -> usize {
    ((w + 4) / 8).max(1)
}
