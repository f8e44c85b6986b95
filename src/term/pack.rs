//! Rows as bytes: trimmed text, then the runs of cells that look alike. What scrollback holds.
//!
//! ```text
//! len u16 | cells u16 | cols u16 | flags u8 | text length u16 | text | runs … | len u16
//! ```
//! The length at the end lets a reader walk backwards. Text is UTF-8, a character a cell; where
//! that is not so (joined code points, a width other than the table's) stands `JOIN`, a byte
//! with the number of bytes and the width, and the text of the cell.

use super::MAX_COLS;
use super::cell::{Cell, Ink, LinkId, StyleId};
use super::links::{Link, Links};
use super::row::{LineSize, Row};
use super::style::{Attrs, Color, Style, Styles, Underline};
use super::width::{char_width, is_common_wide, is_narrow};

const HEADER: usize = 9;
const TRAILER: usize = 2;
/// A record never takes more; addresses of links that would make it longer are left out.
pub const MAX_RECORD: usize = 65_528;
const JOIN: u8 = 1;
const JOIN_WIDE: u8 = 0x80;
/// Bytes of a cell that nothing joins: `JOIN`, its byte, and a character.
const MAX_CELL: usize = 2 + 4;

const WRAPS: u8 = 1;
const ASCII: u8 = 2;
const PROMPT: u8 = 4;
const SIZE_SHIFT: u8 = 3;

/// What a run says of its look; of each colour, in two bits, how it is given.
const HAS_ATTRS: u8 = 1;
const HAS_LINK: u8 = 2;
const FG_SHIFT: u8 = 2;
const BG_SHIFT: u8 = 4;
const UNDERLINE_SHIFT: u8 = 6;
const INDEXED: u8 = 1;
const RGB: u8 = 2;
/// In place of a number of cells that takes more than a byte: two bytes follow.
const MANY: u8 = 0;

/// Writes a row of a screen `cols` wide to `out`, which is cleared first.
pub fn pack(row: &Row, cols: usize, styles: &Styles, links: &Links, out: &mut Vec<u8>) {
    out.clear();
    let cells = kept_cells(row, cols);
    out.extend([0; HEADER]);
    pack_text(row, cells, out);
    let text = out.len() - HEADER;
    if !row.is_plain() {
        pack_runs(&row.cells()[..cells.min(row.len())], styles, links, out);
    }
    let [len_low, len_high] = ((out.len() + TRAILER) as u16).to_le_bytes();
    let [cells_low, cells_high] = (cells as u16).to_le_bytes();
    let [cols_low, cols_high] = (cols as u16).to_le_bytes();
    let [text_low, text_high] = (text as u16).to_le_bytes();
    let header: [u8; HEADER] = [
        len_low,
        len_high,
        cells_low,
        cells_high,
        cols_low,
        cols_high,
        flags(row),
        text_low,
        text_high,
    ];
    out[..HEADER].copy_from_slice(&header);
    out.extend([len_low, len_high]);
}

fn flags(row: &Row) -> u8 {
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    bit(row.wraps, WRAPS)
        | bit(row.is_ascii(), ASCII)
        | bit(row.prompt, PROMPT)
        | (row.size as u8) << SIZE_SHIFT
}

/// A row that goes on is kept whole; of another the blanks at the end are not.
fn kept_cells(row: &Row, cols: usize) -> usize {
    if row.wraps {
        let gaps = (0..cols).rev().take_while(|col| row.cell(*col).is_gap()).count();
        return cols - gaps;
    }
    let kept = |c: &Cell| !(c.is_blank() && c.same_look(Cell::default()));
    row.cells().iter().rposition(kept).map_or(0, |last| last + 1)
}

fn pack_text(row: &Row, cells: usize, out: &mut Vec<u8>) {
    let there = &row.cells()[..cells.min(row.len())];
    if row.is_ascii() {
        pack_ascii(there, out);
    } else {
        pack_cells(there, row.joined(), out);
    }
    out.extend(std::iter::repeat_n(b' ', cells - there.len()));
}

fn pack_ascii(cells: &[Cell], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + cells.len(), 0);
    for (byte, cell) in out[start..].iter_mut().zip(cells) {
        *byte = cell.byte();
    }
}

fn pack_cells(cells: &[Cell], joined: &[(u16, char)], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + cells.len() * MAX_CELL + joined.len() * 4, 0);
    let (text, mut len) = (&mut out[start..], 0);
    let (mut joined, mut col) = (joined, 0);
    while let Some(cell) = cells.get(col) {
        let here = col;
        // The other half of a wide character adds nothing.
        col += 1 + usize::from(cell.is_wide());
        // One that is wide only because ambiguous ones are here says so itself.
        let lone_wide = cell.lone_wide().filter(|code| is_common_wide(*code) || !is_narrow(*code));
        if let Some(code) = lone_wide {
            len = push(text, len, code);
        } else if !cell.is_joined() && !cell.is_wide() && is_narrow(cell.code()) {
            len = push(text, len, cell.code());
        } else {
            let start = joined.iter().take_while(|m| usize::from(m.0) < here).count();
            let count = joined[start..].iter().take_while(|m| usize::from(m.0) == here).count();
            len = push_joined(text, len, *cell, &joined[start..start + count]);
            joined = &joined[start + count..];
        }
    }
    out.truncate(start + len);
}

/// `encode_utf8` at a place of text with room enough, by a store of four bytes, of which those past
/// the character are overwritten by the next. Gives the place after it.
#[inline(always)]
fn push(text: &mut [u8], at: usize, code: u32) -> usize {
    let low = |shift: u32| 0x80 | code >> shift & 0x3f;
    match code {
        0x800..0x1_0000 => {
            let three = code >> 12 | (code & 0xfc0) << 2 | (code & 0x3f) << 16;
            put(text, at, 0x80_80e0 | three, 3)
        }
        0..0x80 => put(text, at, code, 1),
        0x80..0x800 => put(text, at, 0xc0 | code >> 6 | low(0) << 8, 2),
        _ => {
            let four = 0xf0 | code >> 18 | low(12) << 8 | low(6) << 16 | low(0) << 24;
            put(text, at, four, 4)
        }
    }
}

#[inline(always)]
fn put(text: &mut [u8], at: usize, bytes: u32, len: usize) -> usize {
    if let Some(room) = text[at..].first_chunk_mut() {
        *room = bytes.to_le_bytes();
    }
    at + len
}

#[inline(never)]
fn push_joined(text: &mut [u8], at: usize, cell: Cell, joined: &[(u16, char)]) -> usize {
    let mut end = push(text, at + 2, cell.code());
    for (_, c) in joined {
        end = push(text, end, u32::from(*c));
    }
    let wide = if cell.is_wide() { JOIN_WIDE } else { 0 };
    text[at] = JOIN;
    text[at + 1] = (end - at - 2) as u8 | wide;
    end
}

fn pack_runs(cells: &[Cell], styles: &Styles, links: &Links, out: &mut Vec<u8>) {
    for run in cells.chunk_by(|a, b| a.same_look(*b)) {
        let (style, link) = (styles.get(run[0].style()), links.get(run[0].link()));
        let link = link.filter(|l| out.len() + l.uri.len() + l.id.len() < MAX_RECORD / 2);
        let look = pack_style(run.len(), style, link.is_some());
        out.extend_from_slice(&look.bytes[..look.len]);
        if let Some(link) = link {
            pack_string(&link.id, out);
            pack_string(&link.uri, out);
        }
    }
}

fn pack_string(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.as_bytes());
}

/// A few bytes put together before they go to the record.
struct Look {
    bytes: [u8; 20],
    len: usize,
}

impl Look {
    #[inline]
    fn push<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes[self.len..self.len + N].copy_from_slice(&bytes);
        self.len += N;
    }

    /// Puts a colour, and gives the bits that tell how.
    #[inline]
    fn colour(&mut self, colour: Color, shift: u8) -> u8 {
        match colour {
            Color::Default => 0,
            Color::Indexed(n) => {
                self.push([n]);
                INDEXED << shift
            }
            Color::Rgb(r, g, b) => {
                self.push([r, g, b]);
                RGB << shift
            }
        }
    }
}

/// How many cells, which parts follow, and the parts.
fn pack_style(cells: usize, style: Style, link: bool) -> Look {
    let mut look = Look { bytes: [0; 20], len: 0 };
    match u8::try_from(cells) {
        Ok(few) => look.push([few]),
        Err(_) => {
            let [low, high] = (cells as u16).to_le_bytes();
            look.push([MANY, low, high]);
        }
    }
    let at = look.len;
    let mut has = if link { HAS_LINK } else { 0 };
    look.push([0]);
    if style.attrs != Attrs::default() || style.underline != Underline::None {
        look.push((style.attrs.bits() | (style.underline as u16) << 12).to_le_bytes());
        has |= HAS_ATTRS;
    }
    has |= look.colour(style.fg, FG_SHIFT);
    has |= look.colour(style.bg, BG_SHIFT);
    has |= look.colour(style.underline_color, UNDERLINE_SHIFT);
    look.bytes[at] = has;
    look
}

/// A packed row. Reading one that is damaged gives less text, never a panic.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a>(pub &'a [u8]);

/// What one cell shows and how many columns it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cluster<'a> {
    pub text: &'a str,
    pub width: usize,
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some(two) => usize::from(two[0]) | usize::from(two[1]) << 8,
        None => 0,
    }
}

/// Length of the record that starts here.
pub fn len_at_start(bytes: &[u8]) -> usize {
    u16_at(bytes, 0)
}

/// The record that starts here, if there is a whole one.
pub fn whole_at_start(bytes: &[u8]) -> Option<Record<'_>> {
    let len = len_at_start(bytes);
    let record = Record(bytes.get(..len).filter(|_| len >= HEADER + TRAILER)?);
    let sound = record.cols() <= usize::from(MAX_COLS) && record.cells() <= record.cols();
    (sound && len_at_end(record.0) == len).then_some(record)
}

/// Length of the record that ends here.
pub fn len_at_end(bytes: &[u8]) -> usize {
    u16_at(bytes, bytes.len() - TRAILER)
}

impl<'a> Record<'a> {
    /// Columns the text takes.
    pub fn cells(self) -> usize {
        u16_at(self.0, 2)
    }

    /// Width of the screen the row was on.
    pub fn cols(self) -> usize {
        u16_at(self.0, 4)
    }

    fn flags(self) -> u8 {
        self.0.get(6).copied().unwrap_or(0)
    }

    pub fn wraps(self) -> bool {
        self.flags() & WRAPS != 0
    }

    pub fn prompt(self) -> bool {
        self.flags() & PROMPT != 0
    }

    pub fn size(self) -> LineSize {
        match self.flags() >> SIZE_SHIFT & 3 {
            1 => LineSize::DoubleWidth,
            2 => LineSize::DoubleTop,
            3 => LineSize::DoubleBottom,
            _ => LineSize::Single,
        }
    }

    fn packed_text(self) -> &'a [u8] {
        self.0.get(HEADER..HEADER + u16_at(self.0, 7)).unwrap_or(&[])
    }

    pub fn text(self, out: &mut String) {
        if self.flags() & ASCII != 0 {
            out.push_str(str::from_utf8(self.packed_text()).unwrap_or(""));
        } else {
            self.clusters().for_each(|cluster| out.push_str(cluster.text));
        }
    }

    pub fn clusters(self) -> impl Iterator<Item = Cluster<'a>> {
        let mut rest = self.packed_text();
        std::iter::from_fn(move || next_cluster(&mut rest))
    }

    fn runs(self) -> Runs<'a> {
        let end = self.0.len().saturating_sub(TRAILER);
        Runs(self.0.get(HEADER + self.packed_text().len()..end).unwrap_or(&[]))
    }

    /// Gives each character, with what joins it, and its look.
    pub fn each_look(self, mut f: impl FnMut(&str, Style, Option<&Link>)) {
        let mut runs = self.runs();
        let (mut left, mut style, mut link) = (0, Style::default(), None);
        for cluster in self.clusters() {
            if left == 0 {
                let plain = (usize::MAX, Style::default(), None);
                (left, style, link) = runs.next_look().unwrap_or(plain);
            }
            left = left.saturating_sub(cluster.width);
            f(cluster.text, style, link.as_ref());
        }
    }

    /// The row as it was, with styles and links interned again.
    pub fn unpack(self, styles: &mut Styles, links: &mut Links) -> Row {
        let mut row = Row::default();
        let mut runs = self.runs();
        let (mut left, mut ink) = (0, Ink::default());
        for cluster in self.clusters() {
            if left == 0 {
                (left, ink) = runs.next_ink(styles, links);
            }
            left = left.saturating_sub(cluster.width);
            push_cluster(&mut row, cluster, ink);
        }
        row.wraps = self.wraps();
        row.prompt = self.prompt();
        row.size = self.size();
        row
    }
}

fn push_cluster(row: &mut Row, cluster: Cluster<'_>, ink: Ink) {
    let mut chars = cluster.text.chars();
    let first = chars.next().unwrap_or(' ');
    if cluster.width == 2 {
        row.push(Cell::wide(first, ink), chars);
        row.push(Cell::tail(ink), std::iter::empty());
    } else {
        row.push(Cell::narrow(first, ink), chars);
    }
}

fn next_cluster<'a>(rest: &mut &'a [u8]) -> Option<Cluster<'a>> {
    let first = *rest.first()?;
    let (skip, len, wide) = match first {
        JOIN => {
            let meta = *rest.get(1)?;
            (2, usize::from(meta & !JOIN_WIDE), Some(meta & JOIN_WIDE != 0))
        }
        0..0xc0 => (0, 1, Some(false)),
        0xc0..0xe0 => (0, 2, None),
        0xe0..0xf0 => (0, 3, None),
        _ => (0, 4, None),
    };
    let text = str::from_utf8(rest.get(skip..skip + len)?).ok()?;
    *rest = &rest[skip + len..];
    let table = || text.chars().next().is_some_and(|c| char_width(c, false) == 2);
    Some(Cluster { text, width: 1 + usize::from(wide.unwrap_or_else(table)) })
}

/// Walks the runs of a record.
struct Runs<'a>(&'a [u8]);

impl<'a> Runs<'a> {
    fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u16> {
        self.bytes(2).map(|b| u16::from_le_bytes([b[0], b[1]]))
    }

    /// Columns of the next run and what they look like; without one the rest is plain.
    fn next_ink(&mut self, styles: &mut Styles, links: &mut Links) -> (usize, Ink) {
        let Some((count, style, link)) = self.next_look() else {
            return (usize::MAX, Ink::default());
        };
        let link = link.map_or(LinkId(0), |link| links.intern(link));
        let style = if style == Style::default() { StyleId(0) } else { styles.intern(style) };
        (count, Ink::new(style, link, false))
    }

    fn next_look(&mut self) -> Option<(usize, Style, Option<Link>)> {
        let count = match self.bytes(1)?[0] {
            MANY => usize::from(self.number()?).max(1),
            few => usize::from(few),
        };
        let has = self.bytes(1)?[0];
        let mut style = Style::default();
        if has & HAS_ATTRS != 0 {
            let bits = self.number()?;
            style.attrs = Attrs::from_bits(bits);
            style.underline = underline(bits >> 12);
        }
        style.fg = self.colour(has >> FG_SHIFT)?;
        style.bg = self.colour(has >> BG_SHIFT)?;
        style.underline_color = self.colour(has >> UNDERLINE_SHIFT)?;
        let link = if has & HAS_LINK != 0 { Some(self.link()?) } else { None };
        Some((count, style, link))
    }

    fn colour(&mut self, how: u8) -> Option<Color> {
        match how & 3 {
            INDEXED => self.bytes(1).map(|b| Color::Indexed(b[0])),
            RGB => self.bytes(3).map(|b| Color::Rgb(b[0], b[1], b[2])),
            _ => Some(Color::Default),
        }
    }

    fn link(&mut self) -> Option<Link> {
        Some(Link { id: self.string()?, uri: self.string()? })
    }

    fn string(&mut self) -> Option<String> {
        let len = usize::from(self.number()?);
        Some(String::from_utf8_lossy(self.bytes(len)?).into_owned())
    }
}

fn underline(number: u16) -> Underline {
    match number {
        1 => Underline::Single,
        2 => Underline::Double,
        3 => Underline::Curly,
        4 => Underline::Dotted,
        5 => Underline::Dashed,
        _ => Underline::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wide characters in one column each, as a screen of one column has them, take most room.
    #[test]
    fn characters_of_another_width_than_theirs_have_room() {
        for c in ['日', '😀', '\u{301}', '\u{e0101}', 'a', 'é'] {
            let mut row = Row::default();
            (0..40).for_each(|col| row.write_narrow(col, c, Ink::default()));
            row.join(39, '\u{e0101}');
            let (mut styles, mut links) = (Styles::default(), Links::default());
            let mut out = Vec::new();
            pack(&row, 40, &styles, &links, &mut out);
            let mut text = String::new();
            Record(&out).text(&mut text);
            assert_eq!(text, c.to_string().repeat(40) + "\u{e0101}");
            assert_eq!(Record(&out).unpack(&mut styles, &mut links).cells(), row.cells());
        }
    }
}
