//! cells: lines with their looks, by absolute number or as they are on the screen.

use serde::{Deserialize, Serialize};

use super::{Command, within};
use crate::mux::limits::MAX_CELL_ROWS;
use crate::mux::{Mux, Ticket};
use crate::term::LineNo;
use crate::wire::{CursorState, Failure, Look, Looks, Run};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    pub id: String,
    /// From this line on; the screen if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u64>,
    /// How many lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
}

#[derive(Serialize)]
struct Answer {
    rows: Vec<Row>,
    styles: Vec<Look>,
    cols: u16,
    /// Absolute numbers of the lines held: from the first up to, not including, the second.
    lines: [u64; 2],
    /// Absolute number of the line in the screen's first row.
    top_line: u64,
    cursor: CursorState,
    alt_screen: bool,
    stamp: u64,
}

#[derive(Serialize)]
struct Row {
    line: u64,
    runs: Vec<Run>,
    /// The line goes on in the next row.
    #[serde(skip_serializing_if = "is_false")]
    wraps: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Command for Cells {
    const NAME: &'static str = "cells";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let count = self.count.map(|count| within("count", count, 1, MAX_CELL_ROWS)).transpose()?;
        let grid = &mux.terminal(&self.id)?.grid;
        let snapshot = match (self.first_line, count) {
            (None, Some(_)) => return Err(Failure::bad_value("cells: count goes with first_line")),
            (None, None) => grid.snapshot(0..grid.size().rows),
            (Some(first), count) => {
                let end = first.saturating_add(count.unwrap_or(MAX_CELL_ROWS));
                grid.snapshot_lines(LineNo(first)..LineNo(end), MAX_CELL_ROWS as usize)
            }
        };
        let mut looks = Looks::default();
        let rows = snapshot.rows.iter().map(|row| Row {
            line: row.line.0,
            runs: looks.row(snapshot.seen(row)),
            wraps: row.wraps(),
        });
        let rows = rows.collect();
        let lines = grid.lines();
        let answer = Answer {
            rows,
            styles: looks.into_list(),
            cols: grid.size().cols,
            lines: [lines.start.0, lines.end.0],
            top_line: grid.line_of_row(0).0,
            cursor: grid.cursor().into(),
            alt_screen: grid.modes().alt_screen(),
            stamp: grid.stamp(),
        };
        mux.answer(ticket, answer);
        Ok(())
    }
}
