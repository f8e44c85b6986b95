//! A copy of what is shown, to be looked at elsewhere while the terminal goes on.

use super::cell::{Cell, LinkId, StyleId};
use super::links::{Link, Links};
use super::pack::Record;
use super::read::RowRef;
use super::row::{LineSize, Row};
use super::style::{Style, Styles};
use super::{Cursor, LineNo, Palette, Size, Terminal};
use std::ops::Range;

/// Rows copied, with the styles and links they use and the colours that were set.
pub struct Snapshot {
    pub size: Size,
    pub rows: Vec<CopiedRow>,
    pub palette: Palette,
    pub cursor: Cursor,
    /// The whole screen has its colours exchanged (DECSCNM).
    pub reverse: bool,
    pub stamp: u64,
    styles: Styles,
    links: Links,
}

pub struct CopiedRow {
    pub line: LineNo,
    /// Its place on the screen; None for a row of the scrollback.
    pub place: Option<u16>,
    /// Stamp of its last change; 0 in the scrollback.
    pub stamp: u64,
    row: Row,
}

/// One cell of a row that is looked at.
#[derive(Clone, Copy)]
pub struct CopiedCell {
    cell: Cell,
}

/// A row where it is, with what its cells' looks mean.
#[derive(Clone, Copy)]
pub struct SeenRow<'a> {
    row: &'a Row,
    styles: &'a Styles,
    links: &'a Links,
}

impl Terminal {
    /// A copy of some rows of the screen, from the top.
    pub fn snapshot(&self, rows: Range<u16>) -> Snapshot {
        let mut copy = self.empty_snapshot();
        let screen = &self.state.screen;
        let grid = screen.shown();
        let mut line = screen.shown_top_line();
        for y in 0..self.size().rows {
            let row = grid.row(usize::from(y));
            if rows.contains(&y) {
                let stamp = grid.stamp_of(usize::from(y));
                copy.add(row, screen_looks(self), (LineNo(line), Some(y), stamp));
            }
            line += u64::from(!row.wraps);
        }
        copy
    }

    /// The rows of the screen that changed after a stamp, or all, each with its place.
    pub fn rows_since(&self, stamp: Option<u64>) -> impl Iterator<Item = (u16, SeenRow<'_>)> {
        let grid = self.state.screen.shown();
        let (styles, links) = screen_looks(self);
        let changed =
            move |y: &u16| stamp.is_none_or(|stamp| grid.stamp_of(usize::from(*y)) > stamp);
        let seen = move |y: u16| (y, SeenRow { row: grid.row(usize::from(y)), styles, links });
        (0..self.size().rows).filter(changed).map(seen)
    }

    /// A copy of lines by their numbers, as rows of the screen's width, `most` rows of them.
    pub fn snapshot_lines(&self, lines: Range<LineNo>, most: usize) -> Snapshot {
        let mut copy = self.empty_snapshot();
        let height = usize::from(self.size().rows);
        let grid = self.state.screen.shown();
        let place = |row: &Row| (0..height).find(|y| std::ptr::eq(grid.row(*y), row));
        let wanted = self.rows_from(lines.start).take_while(|(line, _)| *line < lines.end);
        for (line, row) in wanted {
            match row {
                RowRef::Screen { row, .. } => {
                    let y = place(row).unwrap_or_default();
                    let from = (line, Some(y as u16), grid.stamp_of(y));
                    copy.add(row, screen_looks(self), from);
                }
                RowRef::Packed(record) => copy.unpack(record, line),
            }
            if copy.rows.len() >= most {
                break;
            }
        }
        copy.rows.truncate(most);
        copy
    }

    fn empty_snapshot(&self) -> Snapshot {
        let live = (self.palette(), self.modes().reverse_video());
        let frame = self.state.screen.frame.as_ref();
        let (palette, reverse) = frame.map_or(live, |frame| (&frame.palette, frame.reverse));
        Snapshot {
            size: self.size(),
            rows: Vec::new(),
            palette: palette.clone(),
            cursor: self.cursor(),
            reverse,
            stamp: self.stamp(),
            styles: Styles::default(),
            links: Links::default(),
        }
    }
}

fn screen_looks(term: &Terminal) -> (&Styles, &Links) {
    (&term.state.screen.styles, &term.state.screen.links)
}

impl Snapshot {
    /// Only the styles and links in use are copied: the terminal may have thousands.
    fn add(
        &mut self,
        row: &Row,
        (styles, links): (&Styles, &Links),
        (line, place, stamp): (LineNo, Option<u16>, u64),
    ) {
        let mut row = row.clone();
        if !row.is_plain() {
            let (mut last, mut style, mut link) = (Cell::default(), StyleId(0), LinkId(0));
            row.map_range(0, row.len(), |cell| {
                if !cell.same_look(last) {
                    style = self.styles.intern(styles.get(cell.style()));
                    let shown = links.get(cell.link());
                    link = shown.map_or(LinkId(0), |link| self.links.intern(link.clone()));
                    last = cell;
                }
                cell.with_style(style).with_link(link)
            });
        }
        self.rows.push(CopiedRow { line, place, stamp, row });
    }

    /// A row that was made on a wider screen is wrapped anew.
    fn unpack(&mut self, record: Record<'_>, line: LineNo) {
        let row = record.unpack(&mut self.styles, &mut self.links);
        let cols = usize::from(self.size.cols);
        let mut from = 0;
        loop {
            let mut to = (from + cols).min(row.len());
            if row.cell(to).is_tail() && to > from + 1 {
                to -= 1;
            }
            let mut part = Row::default();
            part.wraps = row.wraps || to < row.len();
            part.size = row.size;
            (from..to).for_each(|col| part.push(row.cell(col), row.joined_at(col)));
            self.rows.push(CopiedRow { line, place: None, stamp: 0, row: part });
            from = to;
            if from >= row.len() {
                return;
            }
        }
    }

    pub fn seen<'a>(&'a self, row: &'a CopiedRow) -> SeenRow<'a> {
        SeenRow { row: &row.row, styles: &self.styles, links: &self.links }
    }

    pub fn style(&self, cell: CopiedCell) -> Style {
        self.styles.get(cell.cell.style())
    }

    pub fn link(&self, cell: CopiedCell) -> Option<&Link> {
        self.links.get(cell.cell.link())
    }
}

impl<'a> SeenRow<'a> {
    /// The cells up to the last one written; blank ones follow.
    pub fn cells(self) -> impl Iterator<Item = CopiedCell> + use<'a> {
        self.row.cells().iter().map(|cell| CopiedCell { cell: *cell })
    }

    /// Code points joined to characters, each with its column.
    pub fn joined(self) -> &'a [(u16, char)] {
        self.row.joined()
    }

    pub fn style(self, cell: CopiedCell) -> Style {
        self.styles.get(cell.cell.style())
    }

    pub fn link(self, cell: CopiedCell) -> Option<&'a Link> {
        self.links.get(cell.cell.link())
    }
}

impl CopiedRow {
    /// The cells up to the last one written; blank ones follow.
    pub fn cells(&self) -> impl Iterator<Item = CopiedCell> {
        self.row.cells().iter().map(|cell| CopiedCell { cell: *cell })
    }

    /// Code points joined to characters, each with its column.
    pub fn joined(&self) -> &[(u16, char)] {
        self.row.joined()
    }

    pub fn wraps(&self) -> bool {
        self.row.wraps
    }

    pub fn line_size(&self) -> LineSize {
        self.row.size
    }
}

impl CopiedCell {
    pub fn char(self) -> char {
        self.cell.char()
    }

    /// Columns of the character: 0 for the second half of a wide one.
    pub fn width(self) -> u8 {
        if self.cell.is_tail() { 0 } else { 1 + u8::from(self.cell.is_wide()) }
    }

    /// Style and link in one number, to tell runs of cells that look alike.
    pub fn look(self) -> u32 {
        u32::from(self.cell.style().0) << 16 | u32::from(self.cell.link().0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Color, Limits};
    use super::*;

    fn term(cols: u16, rows: u16, bytes: &str) -> Terminal {
        let mut term = Terminal::new(Size { cols, rows }, Limits { lines: 100, bytes: 1 << 20 });
        term.feed(bytes.as_bytes(), &mut Vec::new());
        term
    }

    fn text(row: &CopiedRow) -> String {
        row.cells().filter(|cell| cell.width() > 0).map(CopiedCell::char).collect()
    }

    #[test]
    fn rows_come_with_their_looks_and_numbers() {
        let term = term(10, 3, "one\r\n\x1b[31mtwo\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\");
        let copy = term.snapshot(1..3);
        assert_eq!(copy.rows.len(), 2);
        assert_eq!((copy.rows[0].line, copy.rows[0].place), (LineNo(1), Some(1)));
        assert_eq!(text(&copy.rows[0]), "twolink");
        let cells: Vec<_> = copy.rows[0].cells().collect();
        assert_eq!(copy.style(cells[0]).fg, Color::Indexed(1));
        assert!(copy.link(cells[0]).is_none());
        assert_eq!(copy.link(cells[3]).map(|link| link.uri.as_str()), Some("http://x"));
    }

    #[test]
    fn lines_are_found_in_the_scrollback_and_wrapped_at_the_width() {
        let mut term = term(10, 2, "0123456789ab\r\n\x1b[1mtwo\x1b[m\r\nthree\r\nfour");
        let copy = term.snapshot_lines(LineNo(0)..LineNo(3), 100);
        let rows: Vec<_> = copy.rows.iter().map(text).collect();
        assert_eq!(rows, ["0123456789", "ab", "two", "three"]);
        term.resize(Size { cols: 4, rows: 2 });
        let copy = term.snapshot_lines(LineNo(0)..LineNo(2), 3);
        let rows: Vec<_> = copy.rows.iter().map(text).collect();
        assert_eq!(rows, ["0123", "4567", "89"]);
    }
}
