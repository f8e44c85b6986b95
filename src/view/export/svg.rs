//! A drawing: text that stays text, every run at its place.

use std::fmt::Write;

use super::{Run, escaped, hex, is_harmless, runs};
use crate::term::{CursorShape, Rgb, Underline};
use crate::view::sheet::{Ink, Sheet, SheetRow};

/// Part of the cell above the base line, and the letters' size as part of its height.
const BASE: f32 = 0.775;
const SIZE: f32 = 0.8;

pub fn svg(sheet: &Sheet, cell: (usize, usize)) -> String {
    let (w, h) = cell;
    let (width, height) = ((sheet.gutter + sheet.cols) * w, sheet.rows.len() * h);
    let mut out = head((width, height), h, sheet.background);
    for (y, row) in sheet.rows.iter().enumerate() {
        put_row(row, sheet, sheet.background, (y, cell), &mut out);
    }
    out + "</svg>\n"
}

/// The beginning of a drawing: its size, its letters and its background.
pub(super) fn head((width, height): (usize, usize), letter: usize, background: Rgb) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"JetBrains Mono, DejaVu Sans Mono, \
         monospace\" font-size=\"{:.1}\" xml:space=\"preserve\">\n<rect width=\"{width}\" \
         height=\"{height}\" fill=\"{}\"/>\n",
        letter as f32 * SIZE,
        hex(background)
    )
}

/// One row; what has the drawing's own background needs none.
pub(super) fn put_row(
    row: &SheetRow,
    sheet: &Sheet,
    background: Rgb,
    place: (usize, (usize, usize)),
    out: &mut String,
) {
    for run in runs(row, 0) {
        put_run(&run, &sheet.inks[run.ink as usize], background, place, out);
    }
}

fn put_run(
    run: &Run,
    ink: &Ink,
    background: Rgb,
    (y, cell): (usize, (usize, usize)),
    out: &mut String,
) {
    let (x, top) = (run.col * cell.0, y * cell.1);
    let width = run.width * cell.0;
    let look = &ink.look;
    if look.bg != background {
        rect((x, top), (width, cell.1), &hex(look.bg), out);
    }
    match look.cursor {
        Some((CursorShape::Bar, color)) => {
            rect((x, top), (cell.0.div_ceil(5), cell.1), &hex(color), out)
        }
        Some((_, color)) => {
            let thick = cell.1.div_ceil(8);
            rect((x, top + cell.1 - thick), (width, thick), &hex(color), out);
        }
        None => {}
    }
    if run.text.trim().is_empty() && look.underline == Underline::None || look.hidden {
        return;
    }
    let link = ink.link.as_ref().filter(|uri| is_harmless(uri));
    if let Some(uri) = link {
        let _ = write!(out, "<a href=\"{}\">", escaped(uri));
    }
    put_text(run, ink, (x, top as f32 + cell.1 as f32 * BASE), width, out);
    if link.is_some() {
        out.push_str("</a>");
    }
    out.push('\n');
}

fn rect((x, y): (usize, usize), (w, h): (usize, usize), fill: &str, out: &mut String) {
    let _ =
        writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\"/>");
}

fn put_text(run: &Run, ink: &Ink, (x, base): (usize, f32), width: usize, out: &mut String) {
    let look = &ink.look;
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{base:.1}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\" \
         fill=\"{}\"",
        hex(look.fg)
    );
    if look.bold {
        out.push_str(" font-weight=\"bold\"");
    }
    if look.italic {
        out.push_str(" font-style=\"italic\"");
    }
    let lines = [
        (look.underline != Underline::None, "underline"),
        (look.strike, "line-through"),
        (look.overline, "overline"),
    ];
    let lines: Vec<_> = lines.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
    if !lines.is_empty() {
        let _ = write!(out, " text-decoration=\"{}\"", lines.join(" "));
    }
    let _ = write!(out, ">{}</text>", escaped(&run.text));
}
