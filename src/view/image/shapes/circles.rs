//! Circles, their parts, and the triangles beside them: U+25C9 to U+25E5.

use super::super::canvas::{Canvas, light};

pub fn draw(code: u32, canvas: &mut Canvas) {
    let (cx, cy) = (canvas.w as f32 / 2.0, canvas.h as f32 / 2.0);
    let radius = cx.min(cy) - 0.25;
    let line = light(canvas.w) as f32;
    let far = move |x: f32, y: f32| (x - cx).hypot(y - cy);
    let ring = move |x: f32, y: f32| (far(x, y) - radius + line / 2.0).abs() <= line / 2.0;
    let disc = move |x: f32, y: f32| far(x, y) <= radius;
    match code {
        0x25c9 => {
            canvas.shape(ring);
            canvas.shape(|x, y| far(x, y) <= (radius - 1.7 * line).max(radius / 3.0));
        }
        0x25cb => canvas.shape(ring),
        0x25cf => canvas.shape(disc),
        0x25d6 => canvas.shape(|x, y| disc(x, y) && x <= cx),
        0x25d7 => canvas.shape(|x, y| disc(x, y) && x >= cx),
        0x25dc => canvas.shape(|x, y| ring(x, y) && x <= cx && y <= cy),
        0x25dd => canvas.shape(|x, y| ring(x, y) && x >= cx && y <= cy),
        0x25de => canvas.shape(|x, y| ring(x, y) && x >= cx && y >= cy),
        0x25df => canvas.shape(|x, y| ring(x, y) && x <= cx && y >= cy),
        0x25e0 => canvas.shape(|x, y| ring(x, y) && y <= cy),
        0x25e1 => canvas.shape(|x, y| ring(x, y) && y >= cy),
        _ => triangle(code, canvas),
    }
}

/// Lower right, lower left, upper left, upper right.
fn triangle(code: u32, canvas: &mut Canvas) {
    let (w, h) = (canvas.w as f32, canvas.h as f32);
    canvas.shape(|x, y| {
        let (x, y) = (x / w, y / h);
        match code {
            0x25e2 => x + y >= 1.0,
            0x25e3 => y >= x,
            0x25e4 => x + y <= 1.0,
            _ => x >= y,
        }
    });
}
