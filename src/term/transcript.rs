//! All lines as text with their looks: what can be kept for years, as any version can read it.
//!
//! ```text
//! text, ESC [ … m for looks, ESC ] 8 ; … ESC \ for links, ESC # n for sizes, and LF after each line
//! ```
//! A line that wraps is one line, and each begins without a look. Nothing else is in it, and
//! what is read back is checked for that.

use super::cell::Cell;
use super::links::Link;
use super::pack::{self, Record};
use super::row::{LineSize, Row};
use super::scrollback::Scrollback;
use super::style::Style;
use super::{LineNo, Terminal, sgr};
use std::fmt::Write;
use std::ops::Range;

/// Rows as they are packed, those of the screen after the scrollback's.
pub struct Transcript {
    rows: Scrollback,
}

impl Terminal {
    /// Copies packed rows, of the newest scrollback no more than `most` bytes, and little else.
    pub fn transcript(&self, most: usize) -> Transcript {
        let screen = &self.state.screen;
        let mut rows = screen.scrollback.newest(most);
        let grids =
            if screen.alt { vec![&screen.hidden, &screen.grid] } else { vec![&screen.grid] };
        let mut packed = Vec::new();
        for grid in grids {
            let shown = |cell: &Cell| !cell.is_erased() || cell.style().0 != 0;
            let shown = |y: &usize| grid.row(*y).cells().iter().any(shown);
            let Some(last) = (0..grid.height()).rev().find(shown) else { continue };
            for y in 0..=last {
                let mut row: Row = grid.row(y).clone();
                row.wraps &= y < last;
                pack::pack(&row, grid.cols(), &screen.styles, &screen.links, &mut packed);
                rows.push(&packed);
            }
        }
        Transcript { rows }
    }

    /// For a new terminal: takes lines that were written down, numbered from `first` on. The cursor is
    /// on the line after them.
    pub fn begin_with(&mut self, first: LineNo, lines: &str) {
        self.state.screen.scrollback.clear(first.0);
        self.feed(lines.replace('\n', "\r\n").as_bytes(), &mut Vec::new());
    }
}

impl Transcript {
    /// Appends the lines, of the newest ones no more than `most` bytes, and gives their numbers.
    pub fn write(&self, most: usize, out: &mut String) -> Range<LineNo> {
        let start = out.len();
        let mut writer = Writer { out, style: Style::default(), link: None };
        let (mut first, mut line) = (self.rows.first_line(), self.rows.first_line());
        for (_, number, record) in self.rows.starting_at(0) {
            writer.row(record);
            line = number + 1;
        }
        if !writer.out[start..].is_empty() && !writer.out.ends_with('\n') {
            writer.end_line();
        }
        let all = &out[start..];
        let over = all.len().saturating_sub(most);
        if over > 0 {
            let cut = all.as_bytes()[over - 1..].iter().position(|byte| *byte == b'\n');
            let cut = cut.map_or(all.len(), |at| over + at);
            first += all[..cut].matches('\n').count() as u64;
            out.drain(start..start + cut);
        }
        LineNo(first)..LineNo(line)
    }
}

struct Writer<'a> {
    out: &'a mut String,
    style: Style,
    link: Option<Link>,
}

impl Writer<'_> {
    fn row(&mut self, record: Record<'_>) {
        self.out.push_str(match record.size() {
            LineSize::Single => "",
            LineSize::DoubleTop => "\x1b#3",
            LineSize::DoubleBottom => "\x1b#4",
            LineSize::DoubleWidth => "\x1b#6",
        });
        record.each_look(|text, style, link| {
            self.look(style, link);
            self.out.push_str(text);
        });
        if !record.wraps() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        self.look(Style::default(), None);
        self.out.push('\n');
    }

    fn look(&mut self, style: Style, link: Option<&Link>) {
        if style != self.style {
            let _ = write!(self.out, "\x1b[{}m", sgr::numbers(style));
            self.style = style;
        }
        if link != self.link.as_ref() {
            self.link = link.cloned();
            let (id, uri) = link.map_or(("", ""), |link| (&link.id, &link.uri));
            let mark = if id.is_empty() { "" } else { "id=" };
            let _ = write!(self.out, "\x1b]8;{mark}{id};{uri}\x1b\\");
        }
    }
}

/// Whether a text holds only what transcripts do. It came from a file that anyone may have written.
pub fn is_transcript(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control() && c != '\n') {
        let Some(after) = after_sequence(&rest[at..]) else { return false };
        rest = after;
    }
    true
}

/// What follows one of our own sequences.
fn after_sequence(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("\x1b[") {
        return rest
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == ';' || c == ':')
            .strip_prefix('m');
    }
    if let Some(rest) = text.strip_prefix("\x1b]8;") {
        let end = rest.find(char::is_control)?;
        return rest[end..].strip_prefix("\x1b\\");
    }
    text.strip_prefix("\x1b#")?.strip_prefix(['3', '4', '6'])
}
