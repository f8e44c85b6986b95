//! Everything about a terminal as it is now, sized for a model.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::{Facts, Mux, Terminal};
use crate::term::ShellState;
use crate::view::tokens::text_tokens;
use crate::wire::CursorState;

#[derive(Debug, Clone, Copy, Default)]
pub struct LookWish {
    /// Only rows that changed after this stamp.
    pub since: Option<u64>,
    pub max_tokens: Option<usize>,
}

struct Row {
    row: u16,
    text: String,
}

impl Mux {
    pub(super) fn look_at(
        &self,
        terminal: &Terminal,
        facts: &Facts,
        wish: &LookWish,
    ) -> Map<String, Value> {
        let grid = &terminal.grid;
        let size = grid.size();
        let mut look = Map::new();
        let mut put = |name: &str, value: Value| look.insert(name.to_owned(), value);
        put("id", json!(terminal.id().to_string()));
        put("state", json!(state(terminal, facts)));
        put("title", json!(terminal.title()));
        put("cwd", json!(super::info::cwd(terminal, facts)));
        put("cols", json!(size.cols));
        put("rows", json!(size.rows));
        put("cursor", json!(CursorState::from(grid.cursor())));
        put("stamp", json!(grid.stamp()));
        put("seq", json!(self.seq()));
        put("top_line", json!(grid.line_of_row(0).0));
        let program = facts.foreground.as_ref().map(|program| &program.name);
        put("running", json!(grid.running_command()));
        put("running_ms", json!(self.running_ms(terminal)));
        put("program", json!(program));
        put("last_command", json!(terminal.history.iter().next_back()));
        if let Some(exit) = terminal.exit() {
            put("exit_code", json!(exit.code()));
        }
        let mut rows = rows(terminal, wish.since);
        let left_out = wish.max_tokens.and_then(|most| middle(&rows, most));
        if let Some(middle) = left_out {
            let (first, last) = (&rows[middle.start], &rows[middle.end - 1]);
            put("left_out", json!({ "rows": [first.row, last.row + 1], "count": middle.len() }));
            rows.drain(middle);
        }
        let told = rows.iter().map(|row| json!({ "row": row.row, "text": row.text }));
        put("lines", told.collect());
        look
    }
}

/// Rows with something on them; of those that changed, also the empty ones.
fn rows(terminal: &Terminal, since: Option<u64>) -> Vec<Row> {
    let grid = &terminal.grid;
    // A grid that was made anew counts from the beginning.
    let since = since.filter(|since| *since <= grid.stamp());
    let row = |row: u16| {
        let mut text = String::new();
        grid.row_text(row, &mut text);
        text.truncate(text.trim_end_matches(' ').len());
        Row { row, text }
    };
    let wanted = |row: &Row| match since {
        Some(since) => grid.row_stamp(row.row) > since,
        None => !row.text.is_empty(),
    };
    (0..grid.size().rows).map(row).filter(wanted).collect()
}

/// What is to be left out so that the rest takes no more tokens.
fn middle(rows: &[Row], most: usize) -> Option<Range<usize>> {
    let cost = |row: &Row| text_tokens(&row.text);
    let mut left = most;
    let (mut head, mut tail) = (0, rows.len());
    while head < tail {
        // The end says more than the beginning: of three rows two are the last ones.
        let last = (rows.len() - tail) <= 2 * head;
        let cost = cost(&rows[if last { tail - 1 } else { head }]);
        if cost > left {
            return Some(head..tail);
        }
        left -= cost;
        if last { tail -= 1 } else { head += 1 }
    }
    None
}

/// What the terminal does, in a word.
fn state(terminal: &Terminal, facts: &Facts) -> &'static str {
    let shell = terminal.grid.shell();
    if !terminal.alive() {
        "exited"
    } else if facts.asks_password() {
        "password"
    } else if terminal.grid.modes().alt_screen() {
        "full_screen"
    } else if shell == ShellState::Input {
        "at_prompt"
    } else if facts.reads_tty == Some(true) {
        "waiting_for_input"
    } else {
        "running"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&str]) -> Vec<Row> {
        let row = |(row, text): (usize, &&str)| Row { row: row as u16, text: (*text).to_owned() };
        texts.iter().enumerate().map(row).collect()
    }

    #[test]
    fn the_middle_is_left_out_and_the_end_counts_more() {
        let rows = rows(&["a", "b", "c", "d", "e", "f"]);
        let one = text_tokens("a");
        assert_eq!(middle(&rows, 6 * one), None);
        assert_eq!(middle(&rows, 3 * one), Some(1..4));
        assert_eq!(middle(&rows, one), Some(0..5));
        assert_eq!(middle(&rows, 0), Some(0..6));
    }
}
