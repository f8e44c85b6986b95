//! Rectangles: fill, erase, copy, change and sum up.

use super::cell::Cell;
use super::modes::Mode;
use super::params::Params;
use super::screen::Screen;
use super::style::{Attrs, Style, Underline};
use std::collections::HashMap;

/// Rows and columns of the screen, ends not included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rect {
    pub top: usize,
    pub left: usize,
    pub bottom: usize,
    pub right: usize,
}

impl Screen {
    /// The rectangle that four numbers name, within the screen; None when it is empty.
    pub fn rect(&self, p: &Params, at: usize) -> Option<Rect> {
        let m = self.margins;
        let (top, left, bottom, right) = if self.modes.is(Mode::Origin) {
            (m.top, m.left, m.bottom + 1, m.right + 1)
        } else {
            (0, 0, self.rows, self.cols)
        };
        let rect = Rect {
            top: top + p.or(at, 1) - 1,
            left: left + p.or(at + 1, 1) - 1,
            bottom: (top + p.or(at + 2, self.rows)).min(bottom),
            right: (left + p.or(at + 3, self.cols)).min(right),
        };
        (rect.top < rect.bottom && rect.left < rect.right).then_some(rect)
    }

    /// DECFRA.
    pub fn fill_rectangle(&mut self, p: &Params) {
        let c = match p.raw(0) {
            code @ (32..127 | 160..256) => char::from(code as u8),
            0 => ' ',
            _ => return,
        };
        let c = self.charsets.map(c);
        let Some(rect) = self.rect(p, 1) else {
            return;
        };
        for y in rect.top..rect.bottom {
            (rect.left..rect.right).for_each(|x| self.fill_cell(y, x, c));
        }
    }

    /// DECERA and DECSERA.
    pub fn erase_rectangle(&mut self, p: &Params, selective: bool) {
        let Some(rect) = self.rect(p, 0) else {
            return;
        };
        for y in rect.top..rect.bottom {
            if selective {
                self.erase_selectively(y, rect.left, rect.right);
            } else {
                self.erase(y, rect.left, rect.right);
            }
        }
    }

    /// DECCRA.
    pub fn copy_rectangle(&mut self, p: &Params) {
        let Some(from) = self.rect(p, 0) else {
            return;
        };
        let origin = self.modes.is(Mode::Origin);
        let (top, left) = if origin { (self.margins.top, self.margins.left) } else { (0, 0) };
        let (to_row, to_col) = (top + p.or(5, 1) - 1, left + p.or(6, 1) - 1);
        let height = (from.bottom - from.top).min(self.rows.saturating_sub(to_row));
        let width = (from.right - from.left).min(self.cols.saturating_sub(to_col));
        let source: Vec<_> =
            (from.top..from.top + height).map(|y| self.grid.row(y).clone()).collect();
        for (row, y) in source.iter().zip(to_row..) {
            self.touch(y).copy_cells(row, from.left, to_col, width);
        }
    }

    /// DECCARA.
    pub fn change_rectangle(&mut self, p: &Params) {
        let numbers: Vec<u16> = p.values().iter().skip(4).copied().collect();
        self.restyle_rectangle(p, |style| change_style(&numbers, style));
    }

    /// DECRARA.
    pub fn reverse_rectangle(&mut self, p: &Params) {
        let numbers: Vec<u16> = p.values().iter().skip(4).copied().collect();
        self.restyle_rectangle(p, |style| reverse_style(&numbers, style));
    }

    /// Changes the style of the cells of a rectangle, or of the stream from its first cell to
    /// its last.
    fn restyle_rectangle(&mut self, p: &Params, change: impl Fn(&mut Style)) {
        let Some(rect) = self.rect(p, 0) else {
            return;
        };
        for y in rect.top..rect.bottom {
            let stream = !self.rect_exact;
            let from = if stream && y > rect.top { 0 } else { rect.left };
            let to = if stream && y + 1 < rect.bottom { self.cols } else { rect.right };
            self.restyle(y, from, to, &change);
        }
    }

    fn restyle(&mut self, y: usize, from: usize, to: usize, change: &impl Fn(&mut Style)) {
        let mut known = HashMap::new();
        for x in from..to {
            let id = self.cell(y, x).style();
            known.entry(id.0).or_insert_with(|| {
                let mut style = self.styles.get(id);
                change(&mut style);
                self.styles.intern(style)
            });
        }
        let restyled = |cell: Cell| cell.with_style(known[&cell.style().0]);
        self.touch(y).map_range(from, to, restyled);
    }

    /// DECRQCRA: the sum xterm gives.
    pub fn checksum(&self, rect: Rect) -> u16 {
        let mut sum = 0u16;
        for y in rect.top..rect.bottom {
            for x in rect.left..rect.right {
                sum = sum.wrapping_sub(self.cell_sum(y, x));
            }
        }
        sum
    }

    fn cell_sum(&self, y: usize, x: usize) -> u16 {
        let cell = self.cell(y, x);
        let attrs = self.styles.get(cell.style());
        let mut sum = if cell.is_tail() { 0 } else { u32::from(cell.char()) as u16 };
        let bits = [
            (cell.is_protected(), 0x04),
            (attrs.attrs.has(Attrs::HIDDEN), 0x08),
            (attrs.underline != Underline::None, 0x10),
            (attrs.attrs.has(Attrs::INVERSE), 0x20),
            (attrs.attrs.has(Attrs::BLINK), 0x40),
            (attrs.attrs.has(Attrs::BOLD), 0x80),
        ];
        for (_, value) in bits.iter().filter(|(on, _)| *on) {
            sum = sum.wrapping_add(*value);
        }
        sum
    }
}

fn change_style(numbers: &[u16], style: &mut Style) {
    let numbers = if numbers.is_empty() { &[0][..] } else { numbers };
    for n in numbers {
        match n {
            0 => {
                style.attrs = Attrs::default();
                style.underline = Underline::None;
            }
            1 => style.attrs.set(Attrs::BOLD, true),
            4 => style.underline = Underline::Single,
            5 => style.attrs.set(Attrs::BLINK, true),
            7 => style.attrs.set(Attrs::INVERSE, true),
            8 => style.attrs.set(Attrs::HIDDEN, true),
            22 => style.attrs.set(Attrs::BOLD, false),
            24 => style.underline = Underline::None,
            25 => style.attrs.set(Attrs::BLINK, false),
            27 => style.attrs.set(Attrs::INVERSE, false),
            28 => style.attrs.set(Attrs::HIDDEN, false),
            _ => {}
        }
    }
}

fn reverse_style(numbers: &[u16], style: &mut Style) {
    let all = [1, 4, 5, 7];
    let numbers = if matches!(numbers, [] | [0]) { &all[..] } else { numbers };
    for n in numbers {
        match n {
            1 => style.attrs.flip(Attrs::BOLD),
            5 => style.attrs.flip(Attrs::BLINK),
            7 => style.attrs.flip(Attrs::INVERSE),
            8 => style.attrs.flip(Attrs::HIDDEN),
            4 if style.underline == Underline::None => style.underline = Underline::Single,
            4 => style.underline = Underline::None,
            _ => {}
        }
    }
}
