//! Text with the escape sequences that give it its looks again, and no others.

use crate::term::{Style, sgr_numbers};
use crate::view::sheet::Sheet;

/// Rows with a line end each; the style is reset at the end of every row.
pub fn ansi(sheet: &Sheet) -> String {
    let mut out = String::new();
    for row in &sheet.rows {
        for run in super::trimmed(super::runs(row, 0), sheet) {
            let ink = &sheet.inks[run.ink as usize];
            let plain = ink.style == Style::default();
            if !plain {
                out += &format!("\x1b[{}m", sgr_numbers(ink.style));
            }
            match &ink.link {
                Some(uri) => out += &format!("\x1b]8;;{uri}\x1b\\{}\x1b]8;;\x1b\\", run.text),
                None => out += &run.text,
            }
            if !plain {
                out += "\x1b[m";
            }
        }
        out.push('\n');
    }
    out
}
