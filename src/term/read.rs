//! Reading rows in one way, whether they are on the screen or packed away.

use super::pack::Record;
use super::row::Row;
use super::screen::Screen;

/// A row on the screen or in the scrollback.
#[derive(Clone, Copy)]
pub enum RowRef<'a> {
    Screen { row: &'a Row, cols: usize },
    Packed(Record<'a>),
}

impl RowRef<'_> {
    /// The line goes on in the next row.
    pub fn wraps(self) -> bool {
        match self {
            RowRef::Screen { row, .. } => row.wraps,
            RowRef::Packed(record) => record.wraps(),
        }
    }

    /// Width of the screen the row was made on.
    pub fn cols(self) -> usize {
        match self {
            RowRef::Screen { cols, .. } => cols,
            RowRef::Packed(record) => record.cols(),
        }
    }

    /// The text as it joins with that of the next row: a row that goes on is full, another has
    /// no erased cells at its end.
    pub fn text(self, out: &mut String) {
        match self {
            RowRef::Screen { .. } => self.each_cluster(|text, _| out.push_str(text)),
            RowRef::Packed(record) => record.text(out),
        }
    }

    /// Gives each character with what joins it, and its columns.
    pub fn each_cluster(self, mut f: impl FnMut(&str, usize)) {
        let (row, cols) = match self {
            RowRef::Screen { row, cols } => (row, cols),
            RowRef::Packed(record) => {
                record.clusters().for_each(|cluster| f(cluster.text, cluster.width));
                return;
            }
        };
        let mut text = String::new();
        let end = if row.wraps { cols } else { row.used() };
        for col in 0..end {
            let cell = row.cell(col);
            if cell.is_tail() || cell.is_gap() {
                continue;
            }
            text.clear();
            text.push(cell.char());
            text.extend(row.joined_at(col));
            f(&text, 1 + usize::from(cell.is_wide()));
        }
    }
}

impl Screen {
    /// Rows observers see from the first of a line on: scrollback, then the screen.
    pub fn rows_from(&self, line: u64) -> impl Iterator<Item = (u64, RowRef<'_>)> {
        let top = self.shown_top_line();
        let seen = (self.scrollback.rows() - self.unseen_rows().min(self.scrollback.rows())) as u64;
        let end_row = self.scrollback.end_row() - self.scrollback.rows() as u64 + seen;
        let packed = self
            .scrollback
            .starting_at(line)
            .take_while(move |(row, _, _)| *row < end_row)
            .map(|(_, number, record)| (number, RowRef::Packed(record)));
        packed.chain(self.screen_rows(top).skip_while(move |(number, _)| *number < line))
    }

    fn screen_rows(&self, top: u64) -> impl Iterator<Item = (u64, RowRef<'_>)> {
        let grid = self.shown();
        let cols = grid.cols();
        let mut line = top;
        (0..grid.height()).map(move |y| {
            let row = grid.row(y);
            let number = line;
            line += u64::from(!row.wraps);
            (number, RowRef::Screen { row, cols })
        })
    }

    /// Rows of scrollback that observers see, from the newest to the oldest.
    pub fn rows_back(&self) -> impl Iterator<Item = (u64, RowRef<'_>)> {
        let records = self.scrollback.backwards().skip(self.unseen_rows());
        records.map(|(number, record)| (number, RowRef::Packed(record)))
    }
}

impl Screen {
    /// Rows as they are, also while observers see an older frame.
    pub fn live_rows_from(&self, line: u64) -> impl Iterator<Item = (u64, RowRef<'_>)> {
        let packed = self.scrollback.starting_at(line);
        let packed = packed.map(|(_, number, record)| (number, RowRef::Packed(record)));
        let mut next = self.top_line();
        let screen = (0..self.rows).map(move |y| {
            let row = self.grid.row(y);
            let number = next;
            next += u64::from(!row.wraps);
            (number, RowRef::Screen { row, cols: self.cols })
        });
        packed.chain(screen.skip_while(move |(number, _)| *number < line))
    }
}
