//! All that the grid knows, as data: runs of text with their columns and looks.

use serde::Serialize;

use super::{hex, runs, trimmed};
use crate::term::{Attrs, Color, CursorShape, Rgb, Snapshot, Style, Underline};
use crate::view::sheet::{Ink, Sheet, SheetRow};

#[derive(Serialize)]
struct Page<'a> {
    cols: usize,
    rows: usize,
    stamp: u64,
    cursor: Cursor,
    foreground: String,
    background: String,
    lines: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Cursor {
    row: u16,
    col: u16,
    visible: bool,
    shape: &'static str,
}

#[derive(Serialize)]
struct Line<'a> {
    /// Absolute number of the line, and its place on the screen from the top.
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u16>,
    #[serde(skip_serializing_if = "is_no")]
    wraps: bool,
    runs: Vec<Part<'a>>,
}

/// What is off or default is left out.
#[derive(Serialize)]
struct Part<'a> {
    col: usize,
    width: usize,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bg: Option<String>,
    #[serde(skip_serializing_if = "is_no")]
    bold: bool,
    #[serde(skip_serializing_if = "is_no")]
    dim: bool,
    #[serde(skip_serializing_if = "is_no")]
    italic: bool,
    #[serde(skip_serializing_if = "is_no")]
    blink: bool,
    #[serde(skip_serializing_if = "is_no")]
    inverse: bool,
    #[serde(skip_serializing_if = "is_no")]
    hidden: bool,
    #[serde(skip_serializing_if = "is_no")]
    strike: bool,
    #[serde(skip_serializing_if = "is_no")]
    overline: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    underline: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    underline_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'a str>,
}

fn is_no(value: &bool) -> bool {
    !*value
}

pub fn json(sheet: &Sheet, snapshot: &Snapshot) -> Vec<u8> {
    let cursor = snapshot.cursor;
    let shape = match cursor.shape {
        CursorShape::Block => "block",
        CursorShape::Underline => "underline",
        CursorShape::Bar => "bar",
    };
    let page = Page {
        cols: sheet.cols,
        rows: sheet.rows.len(),
        stamp: snapshot.stamp,
        cursor: Cursor { row: cursor.row, col: cursor.col, visible: cursor.visible, shape },
        foreground: hex(sheet.foreground),
        background: hex(sheet.background),
        lines: sheet.rows.iter().map(|row| line(row, sheet)).collect(),
    };
    // Our own types always serialize.
    serde_json::to_vec(&page).unwrap_or_default()
}

fn line<'a>(row: &SheetRow, sheet: &'a Sheet) -> Line<'a> {
    let runs = trimmed(runs(row, sheet.gutter), sheet);
    let runs = runs.into_iter().map(|run| {
        let ink = &sheet.inks[run.ink as usize];
        part(run.col, run.width, run.text, ink)
    });
    Line { line: row.line, row: row.place, wraps: row.wraps, runs: runs.collect() }
}

fn part(col: usize, width: usize, text: String, ink: &Ink) -> Part<'_> {
    let Style { fg, bg, underline_color, underline, attrs } = ink.style;
    Part {
        col,
        width,
        text,
        fg: color(fg),
        bg: color(bg),
        bold: attrs.has(Attrs::BOLD),
        dim: attrs.has(Attrs::DIM),
        italic: attrs.has(Attrs::ITALIC),
        blink: attrs.has(Attrs::BLINK) || attrs.has(Attrs::RAPID),
        inverse: attrs.has(Attrs::INVERSE),
        hidden: attrs.has(Attrs::HIDDEN),
        strike: attrs.has(Attrs::STRIKE),
        overline: attrs.has(Attrs::OVERLINE),
        underline: underline_name(underline),
        underline_color: color(underline_color),
        link: ink.link.as_deref(),
    }
}

/// As the program gave it: a number of the palette, or the colour itself.
fn color(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Indexed(n) => Some(n.to_string()),
        Color::Rgb(r, g, b) => Some(hex(Rgb(r, g, b))),
    }
}

fn underline_name(underline: Underline) -> Option<&'static str> {
    match underline {
        Underline::None => None,
        Underline::Single => Some("single"),
        Underline::Double => Some("double"),
        Underline::Curly => Some("curly"),
        Underline::Dotted => Some("dotted"),
        Underline::Dashed => Some("dashed"),
    }
}
