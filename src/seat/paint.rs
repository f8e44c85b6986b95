//! The difference between two screens as the fewest bytes that make one of the other.
//!
//! Nothing but printable text, SGR, cursor moves and erasing goes out, all of our own making.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::canvas::{Canvas, Caret, Cell};
use crate::term::{Attrs, Color, CursorShape, SGR_ATTRIBUTES, Style, Underline};

/// Changed cells that are this near to each other are painted in one go.
const BRIDGE: usize = 4;
/// Blanks at the end of a row are written as long as they are no more than this.
const ERASE_FROM: usize = 3;
/// A frame with more bytes than this is sent as one synchronized update.
const SYNC_FROM: usize = 64;

/// Colours that the outer terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Depth {
    True,
    Indexed,
}

pub struct Painter {
    /// What the outer screen shows; None when that is not known.
    shown: Option<Canvas>,
    depth: Depth,
    style: Style,
    linked: bool,
    /// Where the outer cursor is, while that is certain.
    at: Option<(u16, u16)>,
    body: Vec<u8>,
}

impl Painter {
    pub fn new(depth: Depth) -> Painter {
        let (style, body) = (Style::default(), Vec::new());
        Painter { shown: None, depth, style, linked: false, at: None, body }
    }

    /// The outer screen may show anything: paint all of it next time.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    /// Writes what turns the shown screen into `next`; nothing when they are the same. Only these
    /// columns of rows may be others, unless there are none named.
    pub fn paint(
        &mut self,
        next: &Canvas,
        rows: Option<&BTreeMap<u16, Range<u16>>>,
        out: &mut Vec<u8>,
    ) {
        let fits = |shown: &Canvas| shown.cols() == next.cols() && shown.rows() == next.rows();
        let shown = self.shown.take().filter(fits);
        let rows = rows.filter(|_| shown.is_some());
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let mut shown = shown.unwrap_or_else(|| {
            body.extend(b"\x1b[?25l\x1b[m\x1b[H\x1b[2J");
            (self.style, self.at, self.linked) = (Style::default(), None, false);
            Canvas::new(next.cols(), next.rows())
        });
        let mut row = |y: u16, columns: Range<usize>| {
            if shown.row(y)[columns.clone()] != next.row(y)[columns.clone()] {
                self.row(y, shown.row(y), next.row(y), columns.clone(), &mut body);
                shown.copy(y, columns, next);
            }
        };
        match rows {
            Some(rows) => rows.range(..next.rows()).for_each(|(y, Range { start, end })| {
                row(*y, usize::from(*start)..usize::from(*end));
            }),
            None => (0..next.rows()).for_each(|y| row(y, 0..usize::from(next.cols()))),
        }
        self.link(None, &mut body);
        if !body.is_empty() || shown.caret != next.caret {
            self.caret(shown.caret, next.caret, &mut body);
        }
        wrap(&body, shown.caret.is_some() && next.caret.is_some(), out);
        shown.caret = next.caret;
        (self.body, self.shown) = (body, Some(shown));
    }

    /// Paints a row in which only these columns may be others.
    fn row(
        &mut self,
        y: u16,
        before: &[Cell],
        next: &[Cell],
        columns: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        // What the row ends with may be one blank stretch: erased at once if that is less than
        // writing it.
        let end = if columns.len() > ERASE_FROM { blank_from(next) } else { next.len() };
        let differs = |x: &usize| before[*x] != next[*x];
        let erase = (end..columns.end).filter(differs).count() > ERASE_FROM;
        let stop = if erase { end } else { columns.end };
        let mut x = columns.start;
        while let Some(start) = (x..stop).find(differs) {
            let start = if next[start].width == 0 { start.saturating_sub(1) } else { start };
            let end = run_end(before, next, start, stop);
            self.go(start as u16, y, out);
            for (x, cell) in next.iter().enumerate().take(end).skip(start) {
                self.cell(x as u16, y, cell, next.len(), out);
            }
            x = end;
        }
        if erase {
            self.go(end as u16, y, out);
            self.link(None, out);
            self.style(next[end].style, out);
            out.extend(b"\x1b[K");
        }
    }

    fn go(&mut self, x: u16, y: u16, out: &mut Vec<u8>) {
        match self.at {
            Some(at) if at == (x, y) => {}
            Some((from, row)) if row == y && x > from => {
                put(out, format_args!("\x1b[{}C", x - from))
            }
            Some((_, row)) if row == y && x == 0 => out.push(b'\r'),
            _ => put(out, format_args!("\x1b[{};{}H", y + 1, x + 1)),
        }
        self.at = Some((x, y));
    }

    fn cell(&mut self, x: u16, y: u16, cell: &Cell, cols: usize, out: &mut Vec<u8>) {
        if cell.width == 0 {
            return;
        }
        if self.at != Some((x, y)) {
            self.go(x, y, out);
        }
        self.link(cell.link.as_deref(), out);
        self.style(cell.style, out);
        let mut bytes = [0; 4];
        out.extend(cell.first.encode_utf8(&mut bytes).as_bytes());
        out.extend(cell.more.iter().flat_map(|more| more.bytes()));
        let next = x + u16::from(cell.width);
        // Terminals differ in how wide they think some characters are, and at the edge in where
        // the cursor is: there it is told anew.
        let certain = cell.first.is_ascii() && cell.more.is_none() && usize::from(next) < cols;
        self.at = certain.then_some((next, y));
    }

    fn link(&mut self, link: Option<&str>, out: &mut Vec<u8>) {
        match link {
            None if !self.linked => return,
            None => out.extend(b"\x1b]8;;\x1b\\"),
            Some(uri) => put(out, format_args!("\x1b]8;;{uri}\x1b\\")),
        }
        self.linked = link.is_some();
    }

    fn style(&mut self, style: Style, out: &mut Vec<u8>) {
        if style == self.style {
            return;
        }
        out.extend(b"\x1b[");
        let gone = self.style.attrs.bits() & !style.attrs.bits() != 0
            || (style.underline != self.style.underline && self.style.underline != Underline::None);
        let base = if gone || style == Style::default() {
            out.push(b'0');
            Style::default()
        } else {
            self.style
        };
        self.sgr(base, style, out);
        if out.ends_with(b"[0") {
            out.pop();
        }
        out.push(b'm');
        self.style = style;
    }

    /// Parameters that turn `base` into `style`, which only adds to it.
    fn sgr(&self, base: Style, style: Style, out: &mut Vec<u8>) {
        let added = Attrs::from_bits(style.attrs.bits() & !base.attrs.bits());
        for (attr, code) in SGR_ATTRIBUTES {
            if added.has(attr) {
                parameter(out, format_args!("{code}"));
            }
        }
        if style.underline != base.underline {
            match style.underline {
                Underline::None => parameter(out, format_args!("24")),
                Underline::Single => parameter(out, format_args!("4")),
                other => parameter(out, format_args!("4:{}", other as u8)),
            }
        }
        if style.fg != base.fg {
            self.color(style.fg, 30, out);
        }
        if style.bg != base.bg {
            self.color(style.bg, 40, out);
        }
        if style.underline_color != base.underline_color {
            self.underline_color(style.underline_color, out);
        }
    }

    fn color(&self, color: Color, base: u8, out: &mut Vec<u8>) {
        match self.shown_as(color) {
            Color::Default => parameter(out, format_args!("{}", base + 9)),
            Color::Indexed(n @ 0..8) => parameter(out, format_args!("{}", base + n)),
            Color::Indexed(n @ 8..16) => parameter(out, format_args!("{}", base + 52 + n)),
            Color::Indexed(n) => parameter(out, format_args!("{};5;{n}", base + 8)),
            Color::Rgb(r, g, b) => parameter(out, format_args!("{};2;{r};{g};{b}", base + 8)),
        }
    }

    fn underline_color(&self, color: Color, out: &mut Vec<u8>) {
        match self.shown_as(color) {
            Color::Default => parameter(out, format_args!("59")),
            Color::Indexed(n) => parameter(out, format_args!("58:5:{n}")),
            Color::Rgb(r, g, b) => parameter(out, format_args!("58:2::{r}:{g}:{b}")),
        }
    }

    fn shown_as(&self, color: Color) -> Color {
        match color {
            Color::Rgb(r, g, b) if self.depth == Depth::Indexed => Color::Indexed(nearest(r, g, b)),
            color => color,
        }
    }

    fn caret(&mut self, before: Option<Caret>, next: Option<Caret>, out: &mut Vec<u8>) {
        match next {
            Some(caret) => {
                self.go(caret.x, caret.y, out);
                let looks = |caret: Caret| (caret.shape, caret.blink);
                if before.map(looks) != Some(looks(caret)) {
                    put(out, format_args!("\x1b[{} q", shape_number(caret)));
                }
                if before.is_none() {
                    out.extend(b"\x1b[?25h");
                }
            }
            None if before.is_some() => out.extend(b"\x1b[?25l"),
            None => {}
        }
    }
}

/// Writing to a vector cannot fail.
fn put(out: &mut Vec<u8>, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}

fn parameter(out: &mut Vec<u8>, text: std::fmt::Arguments) {
    if !out.ends_with(b"[") {
        out.push(b';');
    }
    put(out, text);
}

/// As one update, so that it is never seen half painted, unless it is too small for that. The
/// cursor is out of the way meanwhile on terminals that know no such updates.
fn wrap(body: &[u8], caret_stays: bool, out: &mut Vec<u8>) {
    if body.len() <= SYNC_FROM {
        return out.extend(body);
    }
    out.extend(b"\x1b[?2026h");
    out.extend(if caret_stays { &b"\x1b[?25l"[..] } else { b"" });
    out.extend(body);
    out.extend(if caret_stays { &b"\x1b[?25h"[..] } else { b"" });
    out.extend(b"\x1b[?2026l");
}

/// Where the row's end begins that is blank and looks the same throughout, as erasing makes it.
fn blank_from(row: &[Cell]) -> usize {
    let Some(last) = row.last().filter(|last| is_erased(last)) else { return row.len() };
    row.iter().rposition(|cell| cell != last).map_or(0, |at| at + 1)
}

fn is_erased(cell: &Cell) -> bool {
    cell.is_blank() && cell.style == (Style { bg: cell.style.bg, ..Style::default() })
}

/// The end of the stretch to paint in one go.
fn run_end(before: &[Cell], next: &[Cell], start: usize, stop: usize) -> usize {
    let mut end = start + 1;
    let mut x = end;
    while x < stop && x - end <= BRIDGE {
        if before[x] != next[x] {
            end = x + 1;
        }
        x += 1;
    }
    end.max((start + usize::from(next[start].width)).min(stop))
}

fn shape_number(caret: Caret) -> u8 {
    let steady = match caret.shape {
        CursorShape::Block => 2,
        CursorShape::Underline => 4,
        CursorShape::Bar => 6,
    };
    steady - u8::from(caret.blink)
}

/// The nearest of the 240 colours that look the same everywhere.
fn nearest(r: u8, g: u8, b: u8) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |v: u8| (0..6_u8).min_by_key(|n| LEVELS[usize::from(*n)].abs_diff(v)).unwrap_or(0);
    let (lr, lg, lb) = (level(r), level(g), level(b));
    let cube = (LEVELS[usize::from(lr)], LEVELS[usize::from(lg)], LEVELS[usize::from(lb)]);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = 8 + 10 * step;
    let far = |(x, y, z): (u8, u8, u8)| {
        let d = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        d(x, r) + d(y, g) + d(z, b)
    };
    if far((grey, grey, grey)) < far(cube) { 232 + step } else { 16 + 36 * lr + 6 * lg + lb }
}
