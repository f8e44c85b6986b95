//! screenshot: the screen as a picture, or as a page, a drawing, text or data.

mod fields;
mod scale;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Command, within};
use crate::mux::limits::MAX_PICTURE_ROWS;
use crate::mux::{Mux, Ticket};
use crate::term::{LineNo, Snapshot, Terminal};
use crate::view::image::{Cell, MAX_PAD};
use crate::view::sheet::Manner;
use crate::view::shot::{self, Order};
use crate::wire::Failure;
pub use fields::{Encoding, Format, Highlight, Region};
use fields::{Gutter, ThemeChoice, parse_range, parse_region};
use scale::Wish;

/// Take a picture of a terminal.
///
/// Without -o it goes into the pipe, or onto the terminal if that can show pictures.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screenshot {
    /// The terminal's id or name
    pub id: String,
    /// What to make of it [default: png]
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Draw the cursor.
    #[arg(skip = true)]
    #[serde(default = "yes")]
    pub cursor: bool,
    /// Size in per cent, 10 to 400: at 100 a cell has 10x20 pixels [default: 66, which is 7x14]
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<i64>,
    /// Pixels to add to the width and height of each cell, up to 32
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pad: Option<i64>,
    /// The largest scale up to 100 (or --scale) at which it takes a vision model no more tokens
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<i64>,
    /// Only these rows, counted from the bottom: 0:5 are the last five
    #[arg(long, value_name = "START:END", value_parser = parse_range)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<[i64; 2]>,
    /// Lines by their absolute numbers, also of the scrollback: from the first up to the second
    #[arg(long, value_name = "FIRST:END", value_parser = parse_range, conflicts_with = "rows")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<[i64; 2]>,
    /// A part of it, counted from its top left, in cells
    #[arg(long, value_name = "ROW,COL,ROWS,COLS", value_parser = parse_region)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Numbers at the left: of rows (as `text` counts them), or absolute ones of lines
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gutter: Option<Gutter>,
    /// Let a text stand out wherever it is
    #[arg(long, value_name = "TEXT", value_parser = Highlight::parse)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highlight: Option<Highlight>,
    /// dark, light, contrast, or colours as a JSON object
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<ThemeChoice>,
    /// How the bytes come: after the answer's line, or in it.
    #[arg(skip)]
    #[serde(default)]
    pub encoding: Encoding,
    /// Nothing, if the screen still has this stamp
    #[arg(long, value_name = "STAMP")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_changed_since: Option<u64>,
}

fn yes() -> bool {
    true
}

#[derive(Serialize)]
struct Unchanged {
    unchanged: bool,
    len: usize,
    stamp: u64,
}

impl Screenshot {
    /// A terminal's screen as it is usually drawn.
    pub fn of(id: &str) -> Screenshot {
        Screenshot {
            id: id.to_owned(),
            format: None,
            cursor: true,
            scale: None,
            pad: None,
            max_tokens: None,
            rows: None,
            lines: None,
            region: None,
            gutter: None,
            highlight: None,
            theme: None,
            encoding: Encoding::default(),
            if_changed_since: None,
        }
    }
}

impl Command for Screenshot {
    const NAME: &'static str = "screenshot";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let terminal = mux.terminal(&self.id)?;
        let (who, grid) = (u64::from(terminal.id().0), &terminal.grid);
        let stamp = grid.stamp();
        if self.if_changed_since == Some(stamp) {
            self.order(who, grid)?;
            mux.answer(ticket, Unchanged { unchanged: true, len: 0, stamp });
            return Ok(());
        }
        let order = self.order(who, grid)?;
        mux.render(ticket, order, self.encoding == Encoding::Base64)
    }
}

impl Screenshot {
    /// All that is needed to draw it elsewhere.
    fn order(&self, who: u64, grid: &Terminal) -> Result<Order, Failure> {
        let pad = within("pad", self.pad.unwrap_or(0), 0, MAX_PAD as u64)? as usize;
        let theme = self.theme.as_ref().map(ThemeChoice::theme).transpose()?;
        let highlight = self.highlight.as_ref().map(Highlight::wanted).transpose()?;
        let mut snapshot = self.picked(grid)?;
        let cols = self.crop(&mut snapshot)?;
        let format = self.format.unwrap_or(Format::Png).wanted();
        let manner = Manner {
            cols,
            cursor: self.cursor,
            gutter: self.gutter.map(Gutter::wanted),
            highlight,
            theme: theme.unwrap_or_default(),
            double: format.has_pixels(),
        };
        let (cell, scale) = self.size(&snapshot, &manner, format, pad)?;
        Ok(Order { who, snapshot, manner, format, cell, scale })
    }

    /// The rows that are asked for.
    fn picked(&self, grid: &Terminal) -> Result<Snapshot, Failure> {
        match (self.rows, self.lines) {
            (Some(_), Some(_)) => Err(Failure::bad_value(
                "screenshot: rows are counted on the screen, lines absolutely: give one of them",
            )),
            (Some(rows), None) => by_rows(grid, rows),
            (None, Some(lines)) => by_lines(grid, lines),
            (None, None) => Ok(grid.snapshot(0..grid.size().rows)),
        }
    }

    /// Cuts rows away that are not wanted; gives the columns that are.
    fn crop(&self, snapshot: &mut Snapshot) -> Result<std::ops::Range<usize>, Failure> {
        let (rows, cols) = (snapshot.rows.len(), usize::from(snapshot.size.cols));
        let Some(region) = &self.region else { return Ok(0..cols) };
        let down = span("row", region.row, region.rows, rows)?;
        let across = span("col", region.col, region.cols, cols)?;
        snapshot.rows.truncate(down.end);
        snapshot.rows.drain(..down.start);
        Ok(across)
    }
}

fn by_rows(grid: &Terminal, [start, end]: [i64; 2]) -> Result<Snapshot, Failure> {
    let height = i64::from(grid.size().rows);
    if !(0 <= start && start < end && end <= height) {
        let error = format!(
            "screenshot: rows are [start, end], counted from the bottom, with 0 <= start < end <= \
             {height}, not [{start}, {end}]"
        );
        return Err(Failure::bad_value(error));
    }
    Ok(grid.snapshot((height - end) as u16..(height - start) as u16))
}

fn by_lines(grid: &Terminal, [first, end]: [i64; 2]) -> Result<Snapshot, Failure> {
    let held = grid.lines();
    let inside = |line: i64| u64::try_from(line).ok().filter(|line| *line <= held.end.0);
    match (inside(first), inside(end)) {
        (Some(from), Some(to)) if from >= held.start.0 && from < to => {
            Ok(grid.snapshot_lines(LineNo(from)..LineNo(to), MAX_PICTURE_ROWS))
        }
        _ => {
            let error = format!(
                "screenshot: lines are [first, end] with {} <= first < end <= {}, not [{first}, \
                 {end}]",
                held.start.0, held.end.0
            );
            Err(Failure::bad_value(error))
        }
    }
}

/// A place and a length within what there is.
fn span(
    what: &str,
    from: i64,
    count: Option<i64>,
    size: usize,
) -> Result<std::ops::Range<usize>, Failure> {
    let last = size.saturating_sub(1) as u64;
    let from = within(&format!("region: {what}"), from, 0, last)? as usize;
    let most = (size - from) as u64;
    let count = count.unwrap_or(most as i64);
    let count = within(&format!("region: {what}s"), count, 1, most)? as usize;
    Ok(from..from + count)
}

impl Screenshot {
    fn size(
        &self,
        snapshot: &Snapshot,
        manner: &Manner,
        format: shot::Format,
        pad: usize,
    ) -> Result<(Cell, usize), Failure> {
        let cols = manner.cols.len() + manner.gutter_width(snapshot);
        let wish = Wish { scale: self.scale, max_tokens: self.max_tokens, pad };
        wish.size(cols, snapshot.rows.len(), format.has_pixels())
    }
}
