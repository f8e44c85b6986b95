//! What is to be seen, cell by cell, before it becomes a picture, a page or text.

use std::collections::HashMap;
use std::ops::Range;

use super::look::{Colors, Look, Over};
use super::search::{self, Needle};
use super::theme::{Theme, mix};
use crate::term::{CopiedRow, Cursor, LineSize, Rgb, Snapshot, Style};

/// Numbers at the left: those by which `text` reads rows, or lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gutter {
    /// Rows of the screen, 0 being the last.
    Rows,
    /// Absolute numbers of lines.
    Lines,
}

/// What is to stand out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Highlight {
    /// Rows changed after this stamp.
    Since(u64),
    Text(Needle),
}

/// How a snapshot is to be shown.
#[derive(Clone, Debug)]
pub struct Manner {
    pub cols: Range<usize>,
    pub cursor: bool,
    pub gutter: Option<Gutter>,
    pub highlight: Option<Highlight>,
    pub theme: Theme,
    /// Lines of double width and height are shown so; otherwise as text, all columns of them.
    pub double: bool,
}

impl Manner {
    /// As many columns as the longest number has digits, and one more.
    pub fn gutter_width(&self, snapshot: &Snapshot) -> usize {
        let numbers = snapshot.rows.iter().filter_map(|row| self.number(row, snapshot));
        match self.gutter {
            None => 0,
            Some(_) => numbers.map(|n| n.to_string().len()).max().unwrap_or(1) + 1,
        }
    }

    fn number(&self, row: &CopiedRow, snapshot: &Snapshot) -> Option<u64> {
        match self.gutter? {
            Gutter::Rows => row.place.map(|y| u64::from(snapshot.size.rows - 1 - y)),
            Gutter::Lines => Some(row.line.0),
        }
    }
}

pub struct Sheet {
    /// Columns of text; the gutter's come before them.
    pub cols: usize,
    pub gutter: usize,
    pub rows: Vec<SheetRow>,
    pub inks: Vec<Ink>,
    pub foreground: Rgb,
    pub background: Rgb,
    /// Rows changed or matches found, if something was to be highlighted.
    pub highlighted: Option<usize>,
}

impl Sheet {
    pub fn looks(&self) -> impl ExactSizeIterator<Item = Look> {
        self.inks.iter().map(|ink| ink.look)
    }

    /// Blank rows at the end, until there are so many.
    pub fn fill_to(&mut self, rows: usize) {
        if self.rows.len() >= rows {
            return;
        }
        let look = Look::blank(self.foreground, self.background);
        self.inks.push(Ink { look, style: Style::default(), link: None });
        let ink = (self.inks.len() - 1) as u32;
        let tile = Tile { ch: ' ', width: 1, size: LineSize::Single, ink };
        let line = self.rows.last().map_or(0, |row| row.line);
        self.rows.resize_with(rows, || SheetRow {
            line,
            place: None,
            wraps: false,
            tiles: vec![tile; self.gutter + self.cols],
            joined: Vec::new(),
        });
    }
}

/// How tiles look, for pictures, and what the program had asked for, for text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ink {
    pub look: Look,
    pub style: Style,
    pub link: Option<String>,
}

pub struct SheetRow {
    pub line: u64,
    pub place: Option<u16>,
    pub wraps: bool,
    pub tiles: Vec<Tile>,
    /// Code points joined to a tile's character, by the tile's index.
    pub joined: Vec<(u16, char)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    pub ch: char,
    /// Columns: 0 for those after the first one of a wide character.
    pub width: u8,
    pub size: LineSize,
    /// Index in the sheet's inks.
    pub ink: u32,
}

const GUTTER_TEXT: u8 = 120;
const GUTTER_PAPER: u8 = 22;

/// Lays a snapshot out.
pub fn lay_out(snapshot: &Snapshot, manner: &Manner) -> Sheet {
    let colors =
        Colors { palette: &snapshot.palette, theme: &manner.theme, reverse: snapshot.reverse };
    let found = match &manner.highlight {
        Some(Highlight::Text(needle)) => search::find(&snapshot.rows, needle),
        _ => search::Found::default(),
    };
    let mut layout = Layout { snapshot, manner, colors, found, inks: Inks::default(), changed: 0 };
    let gutter = manner.gutter_width(snapshot);
    let rows = (0..snapshot.rows.len()).map(|at| layout.row(at, gutter)).collect();
    Sheet {
        cols: manner.cols.len(),
        gutter,
        rows,
        foreground: layout.colors.foreground(),
        background: layout.colors.background(),
        highlighted: manner.highlight.as_ref().map(|highlight| match highlight {
            Highlight::Since(_) => layout.changed,
            Highlight::Text(_) => layout.found.count,
        }),
        inks: layout.inks.list,
    }
}

struct Layout<'a> {
    snapshot: &'a Snapshot,
    manner: &'a Manner,
    colors: Colors<'a>,
    found: search::Found,
    inks: Inks,
    changed: usize,
}

/// Inks by what they were made of.
#[derive(Default)]
struct Inks {
    list: Vec<Ink>,
    known: HashMap<(u32, u8), u32>,
}

/// Stands for the gutter's look among those of the cells.
const GUTTER: u8 = 0xff;

impl Layout<'_> {
    fn row(&mut self, at: usize, gutter: usize) -> SheetRow {
        let snapshot = self.snapshot;
        let row = &snapshot.rows[at];
        let mut tiles = Vec::with_capacity(gutter + self.manner.cols.len());
        self.put_gutter(at, gutter, &mut tiles);
        let changed = match self.manner.highlight {
            Some(Highlight::Since(stamp)) => row.stamp > stamp,
            _ => false,
        };
        self.changed += usize::from(changed);
        let size = if self.manner.double { row.line_size() } else { LineSize::Single };
        let (cols, times) = (self.manner.cols.clone(), size.columns());
        self.put_cells(at, changed, cols.start / times..cols.end.div_ceil(times), &mut tiles);
        if times > 1 {
            let single = tiles.split_off(gutter);
            tiles.extend(doubled(&single, size).skip(cols.start % times).take(cols.len()));
        }
        mend_cuts(&mut tiles[gutter..]);
        let moved = |(col, c): &(u16, char)| {
            let col = usize::from(*col) * times;
            cols.contains(&col).then(|| ((col - cols.start + gutter) as u16, *c))
        };
        let joined = row.joined().iter().filter_map(moved).collect();
        SheetRow { line: row.line.0, place: row.place, wraps: row.wraps(), tiles, joined }
    }

    fn put_gutter(&mut self, at: usize, width: usize, tiles: &mut Vec<Tile>) {
        if width == 0 {
            return;
        }
        let rows = &self.snapshot.rows;
        let goes_on = at > 0 && rows[at - 1].line == rows[at].line;
        let lines = self.manner.gutter == Some(Gutter::Lines);
        let number = self.manner.number(&rows[at], self.snapshot).filter(|_| !(lines && goes_on));
        let text = number.map(|n| n.to_string()).unwrap_or_default();
        let ink = self.gutter_ink();
        let text = format!("{text:>before$} ", before = width - 1);
        tiles.extend(text.chars().map(|ch| Tile { ch, width: 1, size: LineSize::Single, ink }));
    }

    fn gutter_ink(&mut self) -> u32 {
        let (fg, bg) = (self.colors.foreground(), self.colors.background());
        let mut look = self.colors.look(Style::default(), false, Over::default());
        (look.fg, look.bg) = (mix(fg, bg, GUTTER_TEXT), mix(fg, bg, GUTTER_PAPER));
        self.inks.put((0, GUTTER), || Ink { look, style: Style::default(), link: None })
    }

    fn put_cells(&mut self, at: usize, changed: bool, cols: Range<usize>, tiles: &mut Vec<Tile>) {
        let snapshot = self.snapshot;
        let row = &snapshot.rows[at];
        let cursor = self.cursor().filter(|cursor| Some(cursor.row) == row.place);
        let mut cells = row.cells().skip(cols.start);
        let mut last: Option<(u32, Over, u32)> = None;
        for col in cols {
            let cell = cells.next();
            let over = Over {
                cursor: cursor.filter(|c| usize::from(c.col) == col).map(|c| c.shape),
                changed,
                found: self.found.has(at, col),
            };
            let look = cell.map_or(0, |cell| cell.look());
            let ink = match last {
                Some((seen, before, ink)) if seen == look && before == over => ink,
                _ => self.ink(cell, over),
            };
            last = Some((look, over, ink));
            let (ch, width) = cell.map_or((' ', 1), |cell| (cell.char(), cell.width()));
            tiles.push(Tile { ch, width, size: LineSize::Single, ink });
        }
    }

    /// The cursor as it is to be drawn: on a wide character it stands on the first half.
    fn cursor(&self) -> Option<Cursor> {
        Some(self.snapshot.cursor).filter(|cursor| self.manner.cursor && cursor.visible)
    }

    fn ink(&mut self, cell: Option<crate::term::CopiedCell>, over: Over) -> u32 {
        let (snapshot, colors) = (self.snapshot, &self.colors);
        let shape = over.cursor.map_or(0, |shape| 1 + shape as u8);
        let laid = shape | u8::from(over.changed) << 3 | u8::from(over.found) << 4;
        let look = cell.map_or(0, |cell| cell.look());
        self.inks.put((look, laid), || {
            let style = cell.map(|cell| snapshot.style(cell)).unwrap_or_default();
            let link = cell.and_then(|cell| snapshot.link(cell)).map(|link| link.uri.clone());
            Ink { look: colors.look(style, link.is_some(), over), style, link }
        })
    }
}

impl Inks {
    fn put(&mut self, key: (u32, u8), make: impl FnOnce() -> Ink) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            self.list.push(make());
            (self.list.len() - 1) as u32
        })
    }
}

/// Every character twice as wide.
fn doubled(tiles: &[Tile], size: LineSize) -> impl Iterator<Item = Tile> {
    tiles.iter().flat_map(move |tile| {
        let first = Tile { width: 2 * tile.width, size, ..*tile };
        [first, Tile { width: 0, ..first }]
    })
}

/// Part of a wide character at an edge of the crop is blank.
fn mend_cuts(tiles: &mut [Tile]) {
    let blank = |tile: &mut Tile| {
        (tile.ch, tile.width, tile.size) = (' ', 1, LineSize::Single);
    };
    tiles.iter_mut().take_while(|tile| tile.width == 0).for_each(blank);
    if let Some(last) = tiles.iter().rposition(|tile| tile.width > 0)
        && last + usize::from(tiles[last].width) > tiles.len()
    {
        tiles[last..].iter_mut().for_each(blank);
    }
}

impl SheetRow {
    /// The tiles of text with what joins each, those of the gutter left out.
    pub fn clusters(&self, gutter: usize) -> impl Iterator<Item = (usize, Tile, String)> {
        let tiles = self.tiles.iter().enumerate().skip(gutter);
        tiles.filter(|(_, tile)| tile.width > 0).map(move |(at, tile)| {
            let mut text = String::from(tile.ch);
            text.extend(self.joined_at(at));
            (at - gutter, *tile, text)
        })
    }

    pub fn has_joined(&self, at: usize) -> bool {
        !self.joined.is_empty() && self.joined_at(at).next().is_some()
    }

    pub fn joined_at(&self, at: usize) -> impl Iterator<Item = char> {
        self.joined.iter().filter(move |m| usize::from(m.0) == at).map(|m| m.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Limits, Size, Terminal};

    fn manner(cols: Range<usize>) -> Manner {
        let theme = Theme::default();
        Manner { cols, cursor: true, gutter: None, highlight: None, theme, double: true }
    }

    fn sheet(bytes: &str, manner: &Manner) -> Sheet {
        let size = Size { cols: 12, rows: 3 };
        let mut term = Terminal::new(size, Limits { lines: 100, bytes: 1 << 20 });
        term.feed(bytes.as_bytes(), &mut Vec::new());
        lay_out(&term.snapshot(0..3), manner)
    }

    fn text(sheet: &Sheet) -> Vec<String> {
        let row = |row: &SheetRow| row.tiles.iter().map(|t| t.ch).collect::<String>();
        sheet.rows.iter().map(|r| row(r).trim_end().to_owned()).collect()
    }

    #[test]
    fn a_crop_cuts_wide_characters_clean() {
        let sheet = sheet("a日本語b", &manner(2..6));
        assert_eq!(text(&sheet)[0].chars().count(), 2, "a half, 本, a half: {:?}", text(&sheet));
        assert_eq!(sheet.rows[0].tiles.len(), 4);
        assert!(sheet.rows[0].tiles.iter().map(|t| t.width).eq([1, 2, 0, 1]));
    }

    #[test]
    fn double_lines_show_the_first_half_of_their_columns() {
        let widths = |bytes: &str, manner: &Manner| -> (String, Vec<u8>) {
            let sheet = sheet(bytes, manner);
            let seen = sheet.rows[0].clusters(0).map(|(_, _, text)| text).collect();
            (seen, sheet.rows[0].tiles.iter().map(|tile| tile.width).collect())
        };
        let line = "\x1b#6a日e\u{301}fghijk";
        let seen = widths(line, &manner(0..12));
        assert_eq!(seen, ("a日e\u{301}fg".into(), vec![2, 0, 4, 0, 0, 0, 2, 0, 2, 0, 2, 0]));
        let seen = widths(line, &manner(1..5));
        assert_eq!(seen, ("    ".into(), vec![1; 4]), "what is cut is blank");
        let text = Manner { double: false, ..manner(0..12) };
        assert_eq!(widths(line, &text).0.trim_end(), "a日e\u{301}fghijk");
    }

    #[test]
    fn the_gutter_has_the_numbers_that_text_reads_by() {
        let rows = Manner { gutter: Some(Gutter::Rows), ..manner(0..12) };
        assert_eq!(text(&sheet("x\r\ny", &rows)), ["2 x", "1 y", "0"]);
        let lines = Manner { gutter: Some(Gutter::Lines), ..manner(0..12) };
        let wrapped = sheet("one\r\n0123456789abcd", &lines);
        assert_eq!(text(&wrapped), ["0 one", "1 0123456789ab", "  cd"]);
    }

    #[test]
    fn what_is_found_looks_different() {
        let needle = Needle { text: "Lo".into(), ignore_case: true };
        let found = Manner { highlight: Some(Highlight::Text(needle)), ..manner(0..12) };
        let sheet = sheet("hello lo", &found);
        assert_eq!(sheet.highlighted, Some(2));
        let inks: Vec<_> = sheet.rows[0].tiles.iter().map(|t| t.ink).collect();
        assert_eq!(inks[3], inks[4]);
        assert_ne!(inks[2], inks[3]);
    }

    #[test]
    fn the_cursor_is_there_unless_it_is_not_wanted() {
        let with = sheet("ab", &manner(0..12));
        let without = sheet("ab", &Manner { cursor: false, ..manner(0..12) });
        let differs = |sheet: &Sheet| sheet.rows[0].tiles[2].ink != sheet.rows[0].tiles[3].ink;
        assert!(differs(&with) && !differs(&without));
    }
}
