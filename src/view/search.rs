//! Where a text stands in rows, also when it goes on in the next.

use std::collections::HashSet;

use crate::term::CopiedRow;

/// Characters of a text to look for.
pub const MAX_NEEDLE: usize = 1000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needle {
    pub text: String,
    pub ignore_case: bool,
}

/// The cells of all matches.
#[derive(Default)]
pub struct Found {
    pub count: usize,
    cells: HashSet<(usize, usize)>,
}

impl Found {
    pub fn has(&self, row: usize, col: usize) -> bool {
        !self.cells.is_empty() && self.cells.contains(&(row, col))
    }
}

/// A line's text, and the cell that each part of it comes from.
#[derive(Default)]
struct Line {
    text: String,
    /// Where a cell's text begins; row, column and columns of it.
    parts: Vec<(usize, usize, usize, usize)>,
}

/// Looks through all lines; matches do not overlap.
pub fn find(rows: &[CopiedRow], needle: &Needle) -> Found {
    let places = places(rows, needle);
    Found { count: places.len(), cells: places.into_iter().flatten().collect() }
}

/// The cells of each match, as rows and columns.
pub fn places(rows: &[CopiedRow], needle: &Needle) -> Vec<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    let wanted = folded(&needle.text, needle.ignore_case);
    if wanted.is_empty() {
        return found;
    }
    let mut line = Line::default();
    for (at, row) in rows.iter().enumerate() {
        line.add(at, row, needle.ignore_case);
        if !row.wraps() {
            line.search(&wanted, &mut found);
            line = Line::default();
        }
    }
    line.search(&wanted, &mut found);
    found
}

fn folded(text: &str, ignore_case: bool) -> String {
    if ignore_case { text.to_lowercase() } else { text.to_owned() }
}

impl Line {
    fn add(&mut self, at: usize, row: &CopiedRow, ignore_case: bool) {
        let mut joined = row.joined();
        for (col, cell) in row.cells().enumerate() {
            if cell.width() == 0 {
                continue;
            }
            self.parts.push((self.text.len(), at, col, usize::from(cell.width())));
            match ignore_case {
                true => self.text.extend(cell.char().to_lowercase()),
                false => self.text.push(cell.char()),
            }
            while let Some(((at, c), rest)) = joined.split_first()
                && usize::from(*at) <= col
            {
                self.text.push(*c);
                joined = rest;
            }
        }
    }

    fn search(&self, wanted: &str, found: &mut Vec<Vec<(usize, usize)>>) {
        for (start, _) in self.text.match_indices(wanted) {
            let end = start + wanted.len();
            let first = self.parts.partition_point(|part| part.0 <= start) - 1;
            let parts = self.parts[first..].iter().take_while(|(begin, ..)| *begin < end);
            let cells = parts
                .flat_map(|(_, row, col, width)| (0..*width).map(move |more| (*row, col + more)));
            found.push(cells.collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Limits, Size, Terminal};

    fn cells(bytes: &str, text: &str, ignore_case: bool) -> Vec<(usize, usize)> {
        let size = Size { cols: 5, rows: 4 };
        let mut term = Terminal::new(size, Limits { lines: 100, bytes: 1 << 20 });
        term.feed(bytes.as_bytes(), &mut Vec::new());
        let found = find(&term.snapshot(0..4).rows, &Needle { text: text.into(), ignore_case });
        let mut cells: Vec<_> = found.cells.into_iter().collect();
        cells.sort_unstable();
        cells
    }

    #[test]
    fn a_match_may_go_on_in_the_next_row() {
        assert_eq!(cells("abcdefgh", "ef", false), [(0, 4), (1, 0)]);
        assert_eq!(cells("abcde\r\nfgh", "ef", false), []);
    }

    #[test]
    fn wide_and_joined_characters_are_whole() {
        assert_eq!(cells("日本", "本", false), [(0, 2), (0, 3)]);
        assert_eq!(cells("e\u{301}x", "x", false), [(0, 1)]);
    }

    #[test]
    fn case_counts_unless_it_is_not_to() {
        assert_eq!(cells("İAb", "aB", true), [(0, 1), (0, 2)]);
        assert_eq!(cells("İAb", "aB", false), []);
        assert_eq!(cells("x", "", false), []);
    }
}
