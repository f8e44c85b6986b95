//! Looking back: rows of the scrollback, a cursor in them, a selection, matches of a search.

use std::collections::VecDeque;

use regex::Regex;

use super::canvas::Cell;
use super::screen::{Palette, Row, text_of};
use crate::wire::{Look, Run};

/// Rows asked for at a time, before and after what is shown.
pub const PAGE: u64 = 200;
/// Rows held; those far from what is shown are let go.
const MAX_HELD: usize = 2000;

/// A row of the scrollback or the screen.
#[derive(Debug, Clone)]
pub struct Held {
    pub line: u64,
    pub wraps: bool,
    pub cells: Row,
}

/// A place in the text: how many rows after the first held one, and a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Spot {
    pub row: usize,
    pub col: usize,
}

/// An answer to `cells`.
#[derive(Debug, serde::Deserialize)]
pub struct Rows {
    pub rows: Vec<RowAnswer>,
    #[serde(default)]
    pub styles: Vec<Look>,
    pub cols: u16,
    pub lines: [u64; 2],
}

#[derive(Debug, serde::Deserialize)]
pub struct RowAnswer {
    pub line: u64,
    pub runs: Vec<Run>,
    #[serde(default)]
    pub wraps: bool,
}

/// Where to be when the first rows come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    End,
    Line(u64),
}

pub struct Scroll {
    held: VecDeque<Held>,
    /// The first held row that is shown.
    top: usize,
    cursor: Spot,
    anchor: Option<Spot>,
    /// Absolute numbers of the lines that there are.
    lines: [u64; 2],
    height: usize,
    pub pattern: Option<Regex>,
    /// Rows were asked for and have not come.
    asked: bool,
    /// Answers on their way to questions that no longer matter.
    stale: usize,
    target: Target,
    /// Rows to scroll when the first ones come: the wheel was faster.
    waiting: isize,
}

/// What is to be asked of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    pub first_line: u64,
    pub count: u64,
}

impl Scroll {
    /// Opens at the end; the request for what is on the screen and above it.
    pub fn open(top_line: u64, height: usize) -> (Scroll, Wanted) {
        let scroll = Scroll {
            held: VecDeque::new(),
            top: 0,
            cursor: Spot { row: 0, col: 0 },
            anchor: None,
            lines: [0, u64::MAX],
            height: height.max(1),
            pattern: None,
            asked: true,
            stale: 0,
            target: Target::End,
            waiting: 0,
        };
        let first_line = top_line.saturating_sub(PAGE);
        (scroll, Wanted { first_line, count: top_line - first_line + PAGE })
    }

    /// Nothing to show yet.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Rows that came: the first ones, or more before or after those that are held.
    pub fn take(&mut self, answer: &Rows) {
        self.lines = answer.lines;
        if self.stale > 0 && self.held.is_empty() && !self.is_awaited(answer) {
            self.stale -= 1;
            return;
        }
        (self.asked, self.stale) = (false, 0);
        let styles = Palette::of(&answer.styles);
        let held = |row: &RowAnswer| {
            let cells = styles.row(&row.runs, answer.cols);
            Held { line: row.line, wraps: row.wraps, cells }
        };
        let new: Vec<Held> = answer.rows.iter().map(held).collect();
        let (Some(first), Some(last)) = (new.first(), new.last()) else { return };
        match (self.held.front(), self.held.back()) {
            (Some(front), _) if last.line < front.line => {
                let more = new.len() as isize;
                new.into_iter().rev().for_each(|row| self.held.push_front(row));
                self.shift(more);
            }
            (_, Some(back)) if first.line > back.line => self.held.extend(new),
            (None, None) => {
                self.held.extend(new);
                self.arrive();
            }
            _ => {}
        }
        self.shed();
    }

    /// Whether an answer has the place that one went to.
    fn is_awaited(&self, answer: &Rows) -> bool {
        let (Some(first), Some(last)) = (answer.rows.first(), answer.rows.last()) else {
            return true;
        };
        match self.target {
            Target::End => last.line + 1 >= answer.lines[1],
            Target::Line(line) => (first.line..=last.line).contains(&line.max(answer.lines[0])),
        }
    }

    fn arrive(&mut self) {
        let last = self.held.len().saturating_sub(1);
        let row = match self.target {
            Target::End => last,
            Target::Line(line) => self.held.partition_point(|row| row.line < line).min(last),
        };
        self.cursor = Spot { row, col: 0 };
        self.top = row.saturating_sub(self.height / 2);
        if self.target == Target::End {
            self.top = self.held.len().saturating_sub(self.height);
        }
        self.follow();
        let rows = std::mem::take(&mut self.waiting);
        if rows != 0 {
            self.scroll(rows);
        }
    }

    /// Rows came or went at the front.
    fn shift(&mut self, by: isize) {
        let shifted = |row: usize| row.saturating_add_signed(by);
        self.cursor.row = shifted(self.cursor.row);
        self.anchor = self.anchor.map(|spot| Spot { row: shifted(spot.row), ..spot });
        self.top = shifted(self.top);
    }

    /// Keeps what is held bounded.
    fn shed(&mut self) {
        while self.held.len() > MAX_HELD {
            if self.cursor.row > MAX_HELD / 2 {
                self.held.pop_front();
                self.shift(-1);
            } else {
                self.held.pop_back();
            }
        }
    }

    pub fn resize(&mut self, height: usize) {
        self.height = height.max(1);
        self.follow();
    }

    /// The cursor is always on the screen.
    fn follow(&mut self) {
        self.cursor.row = self.cursor.row.min(self.held.len().saturating_sub(1));
        let lowest = self.held.len().saturating_sub(self.height);
        self.top = self.top.min(lowest).min(self.cursor.row);
        self.top = self.top.max((self.cursor.row + 1).saturating_sub(self.height));
    }

    /// Rows of scrollback below what is shown.
    pub fn below(&self) -> usize {
        self.held.len().saturating_sub(self.top + self.height)
    }

    pub fn rows(&self) -> impl Iterator<Item = &Held> {
        self.held.iter().skip(self.top).take(self.height)
    }

    /// Where the cursor is on the screen.
    pub fn shown_cursor(&self) -> Spot {
        Spot { row: self.cursor.row - self.top.min(self.cursor.row), col: self.cursor.col }
    }

    /// Moves the cursor; more rows are asked for before they are needed.
    pub fn step(&mut self, rows: isize, cols: isize) -> Option<Wanted> {
        let last = self.held.len().saturating_sub(1);
        self.cursor.row = self.cursor.row.saturating_add_signed(rows).min(last);
        let wide = self.held.get(self.cursor.row).map_or(1, |row| row.cells.len()).max(1);
        self.cursor.col = self.cursor.col.saturating_add_signed(cols).min(wide - 1);
        self.follow();
        self.wanted()
    }

    /// Scrolls without moving the cursor further than needed.
    pub fn scroll(&mut self, rows: isize) -> Option<Wanted> {
        if self.is_empty() {
            self.waiting += rows;
            return None;
        }
        let lowest = self.held.len().saturating_sub(self.height);
        self.top = self.top.saturating_add_signed(rows).min(lowest);
        let bottom = self.top + self.height - 1;
        self.cursor.row = self.cursor.row.clamp(self.top, bottom.min(self.held.len().max(1) - 1));
        self.wanted()
    }

    /// Turns pages: cursor and what is shown move together.
    pub fn turn(&mut self, rows: isize) -> Option<Wanted> {
        let lowest = self.held.len().saturating_sub(self.height);
        self.top = self.top.saturating_add_signed(rows).min(lowest);
        self.step(rows, 0)
    }

    pub fn page(&self) -> isize {
        self.height as isize
    }

    fn wanted(&mut self) -> Option<Wanted> {
        let first = self.held.front()?.line;
        let last = self.held.back()?.line;
        let near_top = self.top < self.height * 2 && first > self.lines[0];
        let near_end = self.below() < self.height && last + 1 < self.lines[1];
        let wanted = match (near_top, near_end) {
            _ if self.asked => None,
            (true, _) => {
                let start = first.saturating_sub(PAGE).max(self.lines[0]);
                Some(Wanted { first_line: start, count: first - start })
            }
            (_, true) => Some(Wanted { first_line: last + 1, count: PAGE }),
            _ => None,
        };
        self.asked |= wanted.is_some();
        wanted
    }

    /// Goes to a line by its number; asks for it if it is not held.
    pub fn go_to_line(&mut self, line: u64) -> Option<Wanted> {
        self.go_to(Target::Line(line.clamp(self.lines[0], self.lines[1].saturating_sub(1))))
    }

    pub fn go_to_start(&mut self) -> Option<Wanted> {
        self.go_to(Target::Line(self.lines[0]))
    }

    pub fn go_to_end(&mut self) -> Option<Wanted> {
        self.go_to(Target::End)
    }

    fn go_to(&mut self, target: Target) -> Option<Wanted> {
        self.target = target;
        let line = match target {
            Target::Line(line) => line,
            Target::End => self.lines[1].saturating_sub(1),
        };
        let holds = |row: Option<&Held>, is: fn(u64, u64) -> bool| {
            row.is_some_and(|row| is(row.line, line))
        };
        if holds(self.held.front(), |row, line| row <= line)
            && holds(self.held.back(), |row, line| row >= line)
        {
            self.arrive();
            return self.wanted();
        }
        // What is held is far away: begin anew around that line.
        self.held.clear();
        self.stale += usize::from(self.asked);
        (self.top, self.anchor, self.asked) = (0, None, true);
        let first_line = line.saturating_sub(PAGE).max(self.lines[0]);
        Some(Wanted { first_line, count: PAGE * 2 })
    }

    pub fn begin_selection(&mut self, spot: Spot) {
        self.anchor = Some(Spot { row: self.top + spot.row, col: spot.col });
        self.cursor = Spot { row: self.top + spot.row, col: spot.col };
    }

    pub fn toggle_selection(&mut self) {
        self.anchor = if self.anchor.is_some() { None } else { Some(self.cursor) };
    }

    pub fn drag_to(&mut self, spot: Spot) {
        let last = self.held.len().saturating_sub(1);
        self.cursor = Spot { row: (self.top + spot.row).min(last), col: spot.col };
    }

    pub fn has_selection(&self) -> bool {
        self.anchor.is_some_and(|anchor| anchor != self.cursor)
    }

    fn selection(&self) -> Option<(Spot, Spot)> {
        self.anchor.map(|anchor| (anchor.min(self.cursor), anchor.max(self.cursor)))
    }

    /// Whether a cell of a shown row is selected.
    pub fn is_selected(&self, row: usize, col: usize) -> bool {
        let spot = Spot { row: self.top + row, col };
        self.selection().is_some_and(|(from, to)| from <= spot && spot <= to)
    }

    /// The selected text; rows of one line are joined, blanks at the ends of lines left out.
    pub fn selected_text(&self) -> String {
        let Some((from, to)) = self.selection().filter(|_| !self.is_empty()) else {
            return String::new();
        };
        let mut text = String::new();
        for row in from.row..=to.row.min(self.held.len().saturating_sub(1)) {
            let held = &self.held[row];
            let start = if row == from.row { from.col } else { 0 };
            let end = if row == to.row { to.col + 1 } else { held.cells.len() };
            let end = end.min(held.cells.len());
            text_of(&held.cells[start.min(end)..end], &mut text);
            if row < to.row && !held.wraps {
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// Columns of shown rows that match the pattern, as ranges, by row.
    pub fn matches(&self) -> Vec<Vec<std::ops::Range<usize>>> {
        let mut found = vec![Vec::new(); self.height];
        let Some(pattern) = &self.pattern else { return found };
        let rows: Vec<&Held> = self.rows().collect();
        let mut start = 0;
        while start < rows.len() {
            let mut end = start + 1;
            while end < rows.len() && rows[end - 1].wraps && rows[end].line == rows[start].line {
                end += 1;
            }
            mark(pattern, &rows[start..end], &mut found[start..end]);
            start = end;
        }
        found
    }
}

/// Marks what matches in the rows of one line.
fn mark(pattern: &Regex, rows: &[&Held], found: &mut [Vec<std::ops::Range<usize>>]) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for (y, row) in rows.iter().enumerate() {
        for (x, cell) in row.cells.iter().enumerate().filter(|(_, cell)| cell.width > 0) {
            places.push((text.len(), y, x, usize::from(cell.width)));
            text_of(std::slice::from_ref::<Cell>(cell), &mut text);
        }
    }
    for hit in pattern.find_iter(&text).filter(|hit| !hit.is_empty()) {
        let start = places.partition_point(|place| place.0 < hit.start());
        for (_, y, x, width) in places[start..].iter().take_while(|place| place.0 < hit.end()) {
            found[*y].push(*x..x + width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Lines of their own numbers, as the server would give them.
    fn answer(lines: std::ops::Range<u64>, all: [u64; 2]) -> Rows {
        let row = |line: u64| json!({"line": line, "runs": [[format!("line {line}"), 0]]});
        let rows: Vec<_> = lines.map(row).collect();
        let answer = json!({"rows": rows, "styles": [{}], "cols": 12, "lines": all});
        serde_json::from_value(answer).unwrap()
    }

    fn shown(scroll: &Scroll) -> Vec<u64> {
        scroll.rows().map(|row| row.line).collect()
    }

    fn opened() -> Scroll {
        let (mut scroll, wanted) = Scroll::open(1000, 4);
        assert_eq!(wanted, Wanted { first_line: 800, count: 400 });
        scroll.take(&answer(800..1004, [500, 1004]));
        scroll
    }

    #[test]
    fn it_opens_at_the_end_and_moves_row_by_row() {
        let mut scroll = opened();
        assert_eq!(shown(&scroll), [1000, 1001, 1002, 1003]);
        assert_eq!((scroll.below(), scroll.shown_cursor().row), (0, 3));
        (0..4).for_each(|_| assert_eq!(scroll.step(-1, 0), None));
        assert_eq!(shown(&scroll), [999, 1000, 1001, 1002]);
        assert_eq!(scroll.below(), 1);
        scroll.scroll(-10);
        assert_eq!(shown(&scroll)[0], 989);
        scroll.scroll(1000);
        assert_eq!(shown(&scroll)[0], 1000);
    }

    #[test]
    fn older_rows_are_asked_for_before_they_are_needed_and_nothing_jumps() {
        let mut scroll = opened();
        let wanted = scroll.step(-199, 0).unwrap();
        assert_eq!(wanted, Wanted { first_line: 600, count: 200 });
        let before = shown(&scroll);
        assert_eq!(scroll.step(0, 0), None, "asked once");
        scroll.take(&answer(600..800, [500, 1004]));
        assert_eq!(shown(&scroll), before);
    }

    #[test]
    fn far_lines_are_reached_at_once() {
        let mut scroll = opened();
        let wanted = scroll.go_to_start().unwrap();
        assert_eq!(wanted, Wanted { first_line: 500, count: 400 });
        assert!(scroll.is_empty());
        scroll.take(&answer(500..900, [500, 1004]));
        assert_eq!(shown(&scroll)[0], 500);
        let wanted = scroll.go_to_end().unwrap();
        scroll.take(&answer(wanted.first_line..1004, [500, 1004]));
        assert_eq!(shown(&scroll), [1000, 1001, 1002, 1003]);
    }

    #[test]
    fn one_may_go_elsewhere_before_the_first_rows_have_come() {
        let (mut scroll, _) = Scroll::open(1000, 4);
        assert!(scroll.go_to_start().is_some());
        scroll.take(&answer(800..1004, [500, 1004]));
        assert!(scroll.is_empty(), "that was asked for before");
        scroll.take(&answer(500..900, [500, 1004]));
        assert_eq!(shown(&scroll)[0], 500);
    }

    #[test]
    fn what_is_selected_is_copied() {
        let mut scroll = opened();
        scroll.begin_selection(Spot { row: 0, col: 5 });
        scroll.drag_to(Spot { row: 1, col: 3 });
        assert!(scroll.is_selected(0, 11) && scroll.is_selected(1, 3));
        assert!(!scroll.is_selected(0, 4) && !scroll.is_selected(1, 4));
        assert_eq!(scroll.selected_text(), "1000\nline");
    }

    #[test]
    fn matches_are_found_also_across_a_wrap() {
        let mut scroll = opened();
        scroll.pattern = Some(Regex::new("line 100[13]").unwrap());
        let found = scroll.matches();
        assert!(found[0].is_empty() && found[2].is_empty());
        assert_eq!((found[1][0].clone(), found[1].len()), (0..1, 9));
        let (mut scroll, _) = Scroll::open(0, 2);
        let rows = json!([{"line": 0, "runs": [["abc", 0]], "wraps": true},
            {"line": 0, "runs": [["def", 0]]}]);
        let answer = json!({"rows": rows, "styles": [{}], "cols": 3, "lines": [0, 1]});
        scroll.take(&serde_json::from_value(answer).unwrap());
        scroll.pattern = Some(Regex::new("cd").unwrap());
        let found = scroll.matches();
        assert_eq!((&found[0][0], &found[1][0]), (&(2..3), &(0..1)));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let (mut scroll, _) = Scroll::open(0, 4);
        scroll.take(&answer(5000..5400, [0, 9000]));
        for start in (1000..5000).rev().step_by(200).map(|end| end - 199) {
            scroll.take(&answer(start..start + 200, [0, 9000]));
            scroll.scroll(-200);
        }
        assert!(scroll.held.len() <= MAX_HELD);
        assert_eq!(shown(&scroll).len(), 4);
    }
}
