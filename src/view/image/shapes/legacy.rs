//! Symbols for legacy computing: wedges, triangles, eighths, fills, diagonals.

use super::super::canvas::{Canvas, edge, light};
use super::blocks::SHADES;

/// U+1FB3C to U+1FB67: a line between two places of a grid of 2 by 3, and whether what lies below
/// it is filled, or what lies above.
const WEDGES: [(u8, u8, u8, u8); 22] = [
    (0, 2, 1, 3),
    (0, 2, 2, 3),
    (0, 1, 1, 3),
    (0, 1, 2, 3),
    (0, 0, 1, 3),
    (0, 1, 1, 0),
    (0, 1, 2, 0),
    (0, 2, 1, 0),
    (0, 2, 2, 0),
    (0, 3, 1, 0),
    (0, 2, 2, 1),
    (1, 3, 2, 2),
    (0, 3, 2, 2),
    (1, 3, 2, 1),
    (0, 3, 2, 1),
    (1, 3, 2, 0),
    (1, 0, 2, 1),
    (0, 0, 2, 1),
    (1, 0, 2, 2),
    (0, 0, 2, 2),
    (1, 0, 2, 3),
    (0, 1, 2, 2),
];

pub fn draw(code: u32, canvas: &mut Canvas) {
    let (w, h) = (canvas.w, canvas.h);
    let at = (code & 0xff) as usize;
    match code {
        0x1fb3c..=0x1fb67 => wedge(at - 0x3c, canvas),
        0x1fb68..=0x1fb6f | 0x1fb9a | 0x1fb9b => triangles(code, canvas),
        0x1fb70..=0x1fb75 => upright(at - 0x70 + 1, canvas),
        0x1fb76..=0x1fb7b => flat(at - 0x76 + 1, canvas),
        0x1fb7c..=0x1fb81 => frames(code, canvas),
        0x1fb82..=0x1fb86 => {
            canvas.rect((0, w), (0, edge([2, 3, 5, 6, 7][at - 0x82], 8, h)), 255);
        }
        0x1fb87..=0x1fb8b => {
            canvas.rect((edge(8 - [2, 3, 5, 6, 7][at - 0x87], 8, w), w), (0, h), 255);
        }
        0x1fb8c..=0x1fb94 => half_shades(code, canvas),
        0x1fb95..=0x1fb99 => fills(code, canvas),
        0x1fb9c..=0x1fb9f => shaded_triangle(code, canvas),
        _ => diagonals(code - 0x1fba0, canvas),
    }
}

fn wedge(at: usize, canvas: &mut Canvas) {
    let (x1, y1, x2, y2) = WEDGES[at % WEDGES.len()];
    let (w, h) = (canvas.w as f32 / 2.0, canvas.h as f32 / 3.0);
    let place = |x: u8, y: u8| (f32::from(x) * w, f32::from(y) * h);
    let ((x1, y1), (x2, y2)) = (place(x1, y1), place(x2, y2));
    let below = at < WEDGES.len();
    canvas.shape(|x, y| (y > y1 + (x - x1) * (y2 - y1) / (x2 - x1)) == below);
}

/// Quarters that meet in the middle: three of them, one, or two.
fn triangles(code: u32, canvas: &mut Canvas) {
    let (w, h) = (canvas.w as f32, canvas.h as f32);
    canvas.shape(|x, y| {
        let (u, v) = (x / w - 0.5, y / h - 0.5);
        let quarters = [-u > v.abs(), -v > u.abs(), u > v.abs(), v > u.abs()];
        match code {
            0x1fb68..=0x1fb6b => !quarters[(code - 0x1fb68) as usize],
            0x1fb6c..=0x1fb6f => quarters[(code - 0x1fb6c) as usize],
            0x1fb9a => v.abs() >= u.abs(),
            _ => u.abs() >= v.abs(),
        }
    });
}

/// One eighth of the width, of the height.
fn upright(n: usize, canvas: &mut Canvas) {
    let x = (edge(n, 8, canvas.w), edge(n + 1, 8, canvas.w).max(edge(n, 8, canvas.w) + 1));
    canvas.rect(x, (0, canvas.h), 255);
}

fn flat(n: usize, canvas: &mut Canvas) {
    let y = (edge(n, 8, canvas.h), edge(n + 1, 8, canvas.h).max(edge(n, 8, canvas.h) + 1));
    canvas.rect((0, canvas.w), y, 255);
}

/// Eighths at the edges.
fn frames(code: u32, canvas: &mut Canvas) {
    match code {
        0x1fb7c | 0x1fb7d => upright(0, canvas),
        0x1fb7e | 0x1fb7f => upright(7, canvas),
        _ => {}
    }
    let rows: &[usize] = match code {
        0x1fb7c | 0x1fb7f => &[7],
        0x1fb7d | 0x1fb7e => &[0],
        0x1fb80 => &[0, 7],
        _ => &[0, 2, 4, 7],
    };
    rows.iter().for_each(|n| flat(*n, canvas));
}

fn half_shades(code: u32, canvas: &mut Canvas) {
    let (w, h, shade) = (canvas.w, canvas.h, SHADES[1]);
    let (x, y) = (edge(4, 8, w), edge(4, 8, h));
    match code {
        0x1fb8c => canvas.rect((0, x), (0, h), shade),
        0x1fb8d => canvas.rect((x, w), (0, h), shade),
        0x1fb8e => canvas.rect((0, w), (0, y), shade),
        0x1fb8f => canvas.rect((0, w), (y, h), shade),
        _ => {
            canvas.all(shade);
            match code {
                0x1fb91 => canvas.rect((0, w), (0, y), 255),
                0x1fb92 => canvas.rect((0, w), (y, h), 255),
                0x1fb94 => canvas.rect((x, w), (0, h), 255),
                _ => {}
            }
        }
    }
}

fn fills(code: u32, canvas: &mut Canvas) {
    let (w, h) = (canvas.w as f32, canvas.h as f32);
    canvas.shape(|x, y| {
        let (u, v) = (x / w, y / h);
        let check = ((u * 4.0) as u32 + (v * 8.0) as u32).is_multiple_of(2);
        match code {
            0x1fb95 => check,
            0x1fb96 => !check,
            0x1fb97 => (v * 4.0) as u32 % 2 == 1,
            0x1fb98 => ((u - v * 2.0 + 4.0) * 2.0).fract() < 0.4,
            _ => ((u + v * 2.0) * 2.0).fract() < 0.4,
        }
    });
}

fn shaded_triangle(code: u32, canvas: &mut Canvas) {
    let (w, h) = (canvas.w as f32, canvas.h as f32);
    canvas.shaded(SHADES[1], |x, y| {
        let (u, v) = (x / w, y / h);
        match code {
            0x1fb9c => u + v <= 1.0,
            0x1fb9d => u >= v,
            0x1fb9e => u + v >= 1.0,
            _ => v >= u,
        }
    });
}

/// Lines between the middles of two edges; U+1FBA0 on have them one by one, then together.
fn diagonals(at: u32, canvas: &mut Canvas) {
    const SETS: [u8; 15] = [1, 2, 4, 8, 5, 10, 12, 3, 9, 6, 14, 13, 11, 7, 15];
    const LINES: [(u8, u8, u8, u8); 4] = [(1, 0, 0, 1), (1, 0, 2, 1), (0, 1, 1, 2), (2, 1, 1, 2)];
    let set = SETS[at as usize % SETS.len()];
    let chosen = LINES.iter().enumerate().filter(|(n, _)| set >> n & 1 == 1);
    chosen.for_each(|(_, line)| grid_line(*line, canvas));
}

/// A light line between two places of a grid of 2 by 2.
fn grid_line((x1, y1, x2, y2): (u8, u8, u8, u8), canvas: &mut Canvas) {
    let (w, h) = (canvas.w as f32 / 2.0, canvas.h as f32 / 2.0);
    let place = |x: u8, y: u8| (f32::from(x) * w, f32::from(y) * h);
    canvas.stroke(place(x1, y1), place(x2, y2), light(canvas.w) as f32);
}

/// U+1FBD0 to U+1FBDF, as places on the way of each line.
const WAYS: [&[(u8, u8)]; 16] = [
    &[(2, 1), (0, 2)],
    &[(2, 0), (0, 1)],
    &[(0, 0), (2, 1)],
    &[(0, 1), (2, 2)],
    &[(0, 0), (1, 2)],
    &[(1, 0), (2, 2)],
    &[(2, 0), (1, 2)],
    &[(1, 0), (0, 2)],
    &[(0, 0), (1, 1), (2, 0)],
    &[(2, 0), (1, 1), (2, 2)],
    &[(0, 2), (1, 1), (2, 2)],
    &[(0, 0), (1, 1), (0, 2)],
    &[(0, 0), (1, 2), (2, 0)],
    &[(2, 0), (0, 1), (2, 2)],
    &[(0, 2), (1, 0), (2, 2)],
    &[(0, 0), (2, 1), (0, 2)],
];

/// U+1FBCE to U+1FBEF.
pub fn newer(code: u32, canvas: &mut Canvas) {
    let (w, h) = (canvas.w, canvas.h);
    let (x, y) = ((edge(1, 4, w), edge(3, 4, w)), (edge(1, 4, h), edge(3, 4, h)));
    match code {
        0x1fbce => canvas.rect((0, edge(2, 3, w)), (0, h), 255),
        0x1fbcf => canvas.rect((0, edge(1, 3, w)), (0, h), 255),
        0x1fbd0..=0x1fbdf => {
            let way = WAYS[(code - 0x1fbd0) as usize];
            way.windows(2).for_each(|p| grid_line((p[0].0, p[0].1, p[1].0, p[1].1), canvas));
        }
        0x1fbe4 => canvas.rect(x, (0, edge(1, 2, h)), 255),
        0x1fbe5 => canvas.rect(x, (edge(1, 2, h), h), 255),
        0x1fbe6 => canvas.rect((0, edge(1, 2, w)), y, 255),
        0x1fbe7 => canvas.rect((edge(1, 2, w), w), y, 255),
        _ => leaning_circle(code, canvas),
    }
}

/// Parts of a circle whose middle lies on an edge or in a corner.
fn leaning_circle(code: u32, canvas: &mut Canvas) {
    let (w, h, line) = (canvas.w as f32, canvas.h as f32, light(canvas.w) as f32);
    let (cx, cy) = match code {
        0x1fbe0 | 0x1fbe8 => (w / 2.0, 0.0),
        0x1fbe1 | 0x1fbe9 => (w, h / 2.0),
        0x1fbe2 | 0x1fbea => (w / 2.0, h),
        0x1fbe3 | 0x1fbeb => (0.0, h / 2.0),
        0x1fbec => (w, 0.0),
        0x1fbed => (0.0, h),
        0x1fbee => (w, h),
        _ => (0.0, 0.0),
    };
    let hollow = code <= 0x1fbe3;
    let radius = w / 2.0;
    canvas.shape(|x, y| {
        let far = (x - cx).hypot(y - cy);
        far <= radius && !(hollow && far < radius - line)
    });
}
