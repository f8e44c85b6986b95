//! Box drawing, U+2500 to U+257F: arms from the middle to the edges.

use super::super::canvas::{Canvas, edge, light, middle};

/// Left, right, up, down of each character: 0 nothing, 1 light, 2 heavy, 3 double.
const ARMS: [u16; 128] = [
    0x1100, 0x2200, 0x0011, 0x0022, 0x0000, 0x0000, 0x0000, 0x0000, //
    0x0000, 0x0000, 0x0000, 0x0000, 0x0101, 0x0201, 0x0102, 0x0202, //
    0x1001, 0x2001, 0x1002, 0x2002, 0x0110, 0x0210, 0x0120, 0x0220, //
    0x1010, 0x2010, 0x1020, 0x2020, 0x0111, 0x0211, 0x0121, 0x0112, //
    0x0122, 0x0221, 0x0212, 0x0222, 0x1011, 0x2011, 0x1021, 0x1012, //
    0x1022, 0x2021, 0x2012, 0x2022, 0x1101, 0x2101, 0x1201, 0x2201, //
    0x1102, 0x2102, 0x1202, 0x2202, 0x1110, 0x2110, 0x1210, 0x2210, //
    0x1120, 0x2120, 0x1220, 0x2220, 0x1111, 0x2111, 0x1211, 0x2211, //
    0x1121, 0x1112, 0x1122, 0x2121, 0x1221, 0x2112, 0x1212, 0x2221, //
    0x2212, 0x2122, 0x1222, 0x2222, 0x0000, 0x0000, 0x0000, 0x0000, //
    0x3300, 0x0033, 0x0301, 0x0103, 0x0303, 0x3001, 0x1003, 0x3003, //
    0x0310, 0x0130, 0x0330, 0x3010, 0x1030, 0x3030, 0x0311, 0x0133, //
    0x0333, 0x3011, 0x1033, 0x3033, 0x3301, 0x1103, 0x3303, 0x3310, //
    0x1130, 0x3330, 0x3311, 0x1133, 0x3333, 0x0000, 0x0000, 0x0000, //
    0x0000, 0x0000, 0x0000, 0x0000, 0x1000, 0x0010, 0x0100, 0x0001, //
    0x2000, 0x0020, 0x0200, 0x0002, 0x1200, 0x0012, 0x2100, 0x0021, //
];

pub fn draw(code: u32, canvas: &mut Canvas) {
    match code {
        0x2504 | 0x2505 | 0x2508 | 0x2509 | 0x254c | 0x254d => dashes(code, false, canvas),
        0x2506 | 0x2507 | 0x250a | 0x250b | 0x254e | 0x254f => dashes(code, true, canvas),
        0x256d..=0x2570 => arc(code - 0x256d, canvas),
        0x2571..=0x2573 => diagonals(code, canvas),
        _ => arms(ARMS[(code - 0x2500) as usize], canvas),
    }
}

/// The four arms of a character, or of one turned by a quarter: then x is y.
#[derive(Clone, Copy)]
struct Arms {
    before: u8,
    after: u8,
    /// The arms across.
    one: u8,
    other: u8,
}

const DOUBLE: u8 = 3;

impl Arms {
    fn across(self) -> u8 {
        self.one.max(self.other)
    }

    fn doubles_across(self) -> u8 {
        u8::from(self.one == DOUBLE) + u8::from(self.other == DOUBLE)
    }

    /// Where the arms end in the middle: the first its end, the second its start.
    fn reach(self, size: usize, line: usize) -> (usize, usize) {
        let outer = middle(size, 3 * line);
        let alone = self.before == 0 || self.after == 0;
        let single = self.before != DOUBLE && self.after != DOUBLE;
        if single && alone && self.doubles_across() == 2 {
            // It ends at the nearer of the two lines.
            return (outer.0 + line, outer.1.saturating_sub(line));
        }
        match self.across() {
            0 => (size / 2, size / 2),
            weight => {
                let (start, end) = middle(size, thickness(weight, line));
                (end, start)
            }
        }
    }
}

fn thickness(weight: u8, line: usize) -> usize {
    line * usize::from(weight)
}

fn arms(code: u16, canvas: &mut Canvas) {
    let [left, right, up, down] = [12, 8, 4, 0].map(|shift| (code >> shift & 15) as u8);
    let line = light(canvas.w);
    let flat = Arms { before: left, after: right, one: up, other: down };
    let upright = Arms { before: up, after: down, one: left, other: right };
    let double = |weight: u8| weight == DOUBLE;
    for part in [Part::Outer, Part::Gap] {
        lines(flat, false, part, line, canvas, double);
        lines(upright, true, part, line, canvas, double);
    }
    // Single lines go over the gaps of those they cross.
    let single = |weight: u8| weight == 1 || weight == 2;
    lines(flat, false, Part::Outer, line, canvas, single);
    lines(upright, true, Part::Outer, line, canvas, single);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Outer,
    /// What lies between the two lines of a double one.
    Gap,
}

fn lines(
    arms: Arms,
    upright: bool,
    part: Part,
    line: usize,
    canvas: &mut Canvas,
    wanted: fn(u8) -> bool,
) {
    let (long, wide) = if upright { (canvas.h, canvas.w) } else { (canvas.w, canvas.h) };
    let (mut end, mut start) = arms.reach(long, line);
    if part == Part::Gap {
        (start, end) = middle(long, line);
    }
    for (weight, along) in [(arms.before, (0, end)), (arms.after, (start, long))] {
        if weight == 0 || !wanted(weight) {
            continue;
        }
        let (thick, cover) = match part {
            Part::Outer => (thickness(weight, line), 255),
            Part::Gap => (line, 0),
        };
        let across = middle(wide, thick);
        match upright {
            true => canvas.rect(across, along, cover),
            false => canvas.rect(along, across, cover),
        }
    }
}

fn dashes(code: u32, upright: bool, canvas: &mut Canvas) {
    let count = match code {
        0x2504..=0x2507 => 3,
        0x2508..=0x250b => 4,
        _ => 2,
    };
    let line = light(canvas.w) * if code % 2 == 1 { 2 } else { 1 };
    let (long, wide) = if upright { (canvas.h, canvas.w) } else { (canvas.w, canvas.h) };
    let gap = (long / (count * 3)).max(1);
    for dash in 0..count {
        let from = edge(dash, count, long);
        let to = edge(dash + 1, count, long).saturating_sub(gap).max(from + 1);
        match upright {
            true => canvas.rect(middle(wide, line), (from, to), 255),
            false => canvas.rect((from, to), middle(wide, line), 255),
        }
    }
}

/// Rounded corners: down and right, down and left, up and left, up and right.
fn arc(which: u32, canvas: &mut Canvas) {
    let line = light(canvas.w);
    let (across, along) = (middle(canvas.w, line), middle(canvas.h, line));
    let (right, down) = (which == 0 || which == 3, which < 2);
    let half = line as f32 / 2.0;
    let (cx, cy) = (across.0 as f32 + half, along.0 as f32 + half);
    let room = if right { canvas.w as f32 - cx } else { cx };
    let radius = room.min(if down { canvas.h as f32 - cy } else { cy });
    let (ox, oy) = (towards(cx, radius, right), towards(cy, radius, down));
    canvas.shape(|x, y| {
        let near = (x < ox) == right && (y < oy) == down;
        near && ((x - ox).hypot(y - oy) - radius).abs() <= half
    });
    let rest = match down {
        true => (oy.floor() as usize, canvas.h),
        false => (0, oy.ceil() as usize),
    };
    canvas.rect(across, rest, 255);
}

fn towards(from: f32, by: f32, forward: bool) -> f32 {
    if forward { from + by } else { from - by }
}

fn diagonals(code: u32, canvas: &mut Canvas) {
    let (w, h, line) = (canvas.w as f32, canvas.h as f32, light(canvas.w) as f32);
    if code != 0x2572 {
        canvas.stroke((w, 0.0), (0.0, h), line);
    }
    if code != 0x2571 {
        canvas.stroke((0.0, 0.0), (w, h), line);
    }
}
