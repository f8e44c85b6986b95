//! Rows of a terminal as runs of text that looks the same.

use std::collections::BTreeMap;

use super::frame::{Look, Run};
use crate::term::{CopiedCell, SeenRow};

/// The looks of all rows of one answer, each once. The rows are of one terminal or of one copy, where
/// a look has the same number in each.
#[derive(Default)]
pub struct Looks {
    list: Vec<Look>,
    known: BTreeMap<u32, usize>,
}

impl Looks {
    pub fn into_list(self) -> Vec<Look> {
        self.list
    }

    /// A row's runs, without the blanks at its end that have no look of their own.
    pub fn row(&mut self, row: SeenRow<'_>) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let (mut last, mut place) = (None, 0);
        for (col, cell) in row.cells().enumerate().filter(|(_, cell)| cell.width() > 0) {
            if last.replace(cell.look()) != Some(cell.look()) {
                place = self.place(row, cell);
            }
            let joined = joined_at(row, col);
            match runs.last_mut() {
                Some(Run(text, look, None))
                    if *look == place && joined.is_empty() && cell.width() == 1 =>
                {
                    text.push(cell.char());
                }
                _ if joined.is_empty() && cell.width() == 1 => {
                    runs.push(Run(cell.char().to_string(), place, None));
                }
                _ => {
                    let text = std::iter::once(cell.char()).chain(joined.iter().map(|(_, c)| *c));
                    runs.push(Run(text.collect(), place, Some(cell.width())));
                }
            }
        }
        self.trim(&mut runs);
        runs
    }

    fn place(&mut self, row: SeenRow<'_>, cell: CopiedCell) -> usize {
        let list = &mut self.list;
        *self.known.entry(cell.look()).or_insert_with(|| {
            let link = row.link(cell).map(|link| link.uri.as_str());
            list.push(Look::of(row.style(cell), link));
            list.len() - 1
        })
    }

    fn trim(&self, runs: &mut Vec<Run>) {
        if let Some(Run(text, look, None)) = runs.last_mut()
            && self.list.get(*look) == Some(&Look::default())
        {
            text.truncate(text.trim_end_matches(' ').len());
            if text.is_empty() {
                runs.pop();
            }
        }
    }
}

fn joined_at(row: SeenRow<'_>, col: usize) -> &[(u16, char)] {
    let joined = row.joined();
    let start = joined.partition_point(|(at, _)| usize::from(*at) < col);
    let end = joined.partition_point(|(at, _)| usize::from(*at) <= col);
    &joined[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Limits, Size, Terminal};

    fn runs(bytes: &str) -> (String, String) {
        let limits = Limits { lines: 10, bytes: 1 << 16 };
        let mut term = Terminal::new(Size { cols: 20, rows: 1 }, limits);
        term.feed(bytes.as_bytes(), &mut Vec::new());
        let snapshot = term.snapshot(0..1);
        let mut looks = Looks::default();
        let runs = looks.row(snapshot.seen(&snapshot.rows[0]));
        let row = serde_json::to_string(&runs).unwrap();
        (row, serde_json::to_string(&looks.into_list()).unwrap())
    }

    fn check(bytes: &str, row: &str, styles: &str) {
        assert_eq!(runs(bytes), (row.to_owned(), styles.to_owned()));
    }

    #[test]
    fn text_of_one_look_is_one_run() {
        check("", "[]", "[]");
        check("hello  ", r#"[["hello",0]]"#, "[{}]");
        check("a\x1b[1mb\x1b[mc", r#"[["a",0],["b",1],["c",0]]"#, r#"[{},{"bold":true}]"#);
        check("a\x1b[41m  ", r#"[["a",0],["  ",1]]"#, r#"[{},{"bg":1}]"#);
    }

    #[test]
    fn characters_of_other_widths_stand_alone() {
        check("a日e\u{301}b", "[[\"a\",0],[\"日\",0,2],[\"e\u{301}\",0,1],[\"b\",0]]", "[{}]");
    }

    #[test]
    fn links_are_looks() {
        check(
            "\x1b]8;;http://x\x1b\\go\x1b]8;;\x1b\\",
            r#"[["go",0]]"#,
            r#"[{"link":"http://x"}]"#,
        );
    }
}
