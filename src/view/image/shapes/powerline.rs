//! Separators of prompts and status lines, and progress bars, from private ranges.

use super::super::canvas::{Canvas, light};

pub fn draw(code: u32, canvas: &mut Canvas) {
    let (w, h, line) = (canvas.w as f32, canvas.h as f32, light(canvas.w) as f32);
    let middle = h / 2.0;
    match code {
        0xe0b0 => canvas.shape(|x, y| x / w <= 1.0 - (y / middle - 1.0).abs()),
        0xe0b2 => canvas.shape(|x, y| 1.0 - x / w <= 1.0 - (y / middle - 1.0).abs()),
        0xe0b1 => corner(0.0, w, canvas),
        0xe0b3 => corner(w, 0.0, canvas),
        0xe0b4 => canvas.shape(|x, y| (x / w).hypot(y / middle - 1.0) <= 1.0),
        0xe0b6 => canvas.shape(|x, y| (1.0 - x / w).hypot(y / middle - 1.0) <= 1.0),
        0xe0b5 => canvas.shape(|x, y| is_rim(x, y - middle, w, middle, line)),
        0xe0b7 => canvas.shape(|x, y| is_rim(w - x, y - middle, w, middle, line)),
        0xe0b8 => canvas.shape(|x, y| y / h >= x / w),
        0xe0ba => canvas.shape(|x, y| x / w + y / h >= 1.0),
        0xe0bc => canvas.shape(|x, y| x / w + y / h <= 1.0),
        0xe0be => canvas.shape(|x, y| x / w >= y / h),
        0xe0b9 | 0xe0bf => canvas.stroke((0.0, 0.0), (w, h), line),
        0xe0bb | 0xe0bd => canvas.stroke((w, 0.0), (0.0, h), line),
        0xe0d2 => canvas.shape(|x, y| is_trapezoid(x / w, y - middle, middle, line)),
        _ => canvas.shape(|x, y| is_trapezoid(1.0 - x / w, y - middle, middle, line)),
    }
}

/// A thin arrow head, from an edge to the point and back.
fn corner(from: f32, to: f32, canvas: &mut Canvas) {
    let (h, line) = (canvas.h as f32, light(canvas.w) as f32);
    canvas.stroke((from, 0.0), (to, h / 2.0), line);
    canvas.stroke((to, h / 2.0), (from, h), line);
}

/// The rim of half an ellipse that leans on an edge.
fn is_rim(x: f32, y: f32, w: f32, half: f32, line: f32) -> bool {
    let outside = (x / w).hypot(y / half) <= 1.0;
    let inside = (x / (w - line).max(0.5)).hypot(y / (half - line).max(0.5)) < 1.0;
    outside && !inside
}

fn is_trapezoid(x: f32, y: f32, half: f32, line: f32) -> bool {
    y.abs() > line / 2.0 && x <= 0.5 + 0.5 * y.abs() / half
}

/// Bars: left end, middle, right end, empty and then full; then six steps of a turning arc.
pub fn progress(index: u32, canvas: &mut Canvas) {
    if index >= 6 {
        return spinner(index - 6, canvas);
    }
    let (w, h, line) = (canvas.w, canvas.h, light(canvas.w));
    let (top, bottom) = (h / 5, h - h / 5);
    canvas.rect((0, w), (top, top + line), 255);
    canvas.rect((0, w), (bottom - line, bottom), 255);
    match index % 3 {
        0 => canvas.rect((0, line), (top, bottom), 255),
        2 => canvas.rect((w - line.min(w), w), (top, bottom), 255),
        _ => {}
    }
    if index >= 3 {
        canvas.rect((0, w), (top + 2 * line, bottom.saturating_sub(2 * line)), 255);
    }
}

fn spinner(step: u32, canvas: &mut Canvas) {
    let (cx, cy) = (canvas.w as f32 / 2.0, canvas.h as f32 / 2.0);
    let (radius, line) = (cx - 0.25, light(canvas.w) as f32);
    let turn = std::f32::consts::TAU;
    let start = step as f32 / 6.0;
    canvas.shape(|x, y| {
        let angle = ((y - cy).atan2(x - cx) / turn + 1.0 - start).fract();
        let far = (x - cx).hypot(y - cy);
        angle < 0.7 && far <= radius && far >= radius - line
    });
}
