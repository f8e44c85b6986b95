//! A sheet as text: plain, with escape sequences, as a page, as a drawing, as data.

mod ansi;
mod film;
mod html;
mod json;
mod plain;
mod svg;

pub use ansi::ansi;
pub use film::SvgFilm;
pub use html::html;
pub use json::json;
pub use plain::plain;
pub use svg::svg;

use super::sheet::{Sheet, SheetRow};
use crate::term::Rgb;

/// Tiles beside one another that look alike.
struct Run {
    col: usize,
    width: usize,
    ink: u32,
    text: String,
}

/// The runs of a row, gutter included; columns count from the gutter's first.
fn runs(row: &SheetRow, from: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (col, tile, text) in row.clusters(from) {
        match runs.last_mut() {
            Some(last) if last.ink == tile.ink => {
                last.text += &text;
                last.width += usize::from(tile.width);
            }
            _ => runs.push(Run { col, width: tile.width.into(), ink: tile.ink, text }),
        }
    }
    runs
}

/// Without blanks at the end that look like nothing.
fn trimmed(mut runs: Vec<Run>, sheet: &Sheet) -> Vec<Run> {
    while let Some(last) = runs.last_mut() {
        let ink = &sheet.inks[last.ink as usize];
        if ink.style != Default::default() || ink.look.bg != sheet.background || ink.link.is_some()
        {
            break;
        }
        let kept = last.text.trim_end_matches(' ').len();
        last.width -= last.text.len() - kept;
        last.text.truncate(kept);
        if kept > 0 {
            break;
        }
        runs.pop();
    }
    runs
}

fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text that means nothing but itself in a page or a drawing.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Addresses that a page may lead to; others could run something.
fn is_harmless(uri: &str) -> bool {
    ["http://", "https://", "mailto:", "ftp://"].iter().any(|scheme| uri.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Limits, Size, Terminal};
    use crate::view::sheet::{Gutter, Manner, lay_out};
    use crate::view::theme::Theme;

    fn terminal(bytes: &str) -> Terminal {
        let size = Size { cols: 20, rows: 3 };
        let mut term = Terminal::new(size, Limits { lines: 100, bytes: 1 << 20 });
        term.feed(bytes.as_bytes(), &mut Vec::new());
        term
    }

    fn sheet(term: &Terminal, gutter: Option<Gutter>) -> Sheet {
        let theme = Theme::default();
        let highlight = None;
        let manner = Manner { cols: 0..20, cursor: false, gutter, highlight, theme, double: false };
        lay_out(&term.snapshot(0..3), &manner)
    }

    const SAMPLE: &str = "a<\x1b[1;31mre\x1b[4md\x1b[m 日 \x1b]8;;http://x/?a&b\x1b\\go\x1b]8;;\x1b\\\r\n\
        \x1b[48;2;1;2;3m  \x1b[m";

    #[test]
    fn plain_text_has_no_blanks_at_the_ends() {
        let term = terminal(SAMPLE);
        assert_eq!(plain(&sheet(&term, None)), "a<red 日 go\n\n\n");
        assert_eq!(plain(&sheet(&term, Some(Gutter::Rows))), "2 a<red 日 go\n1\n0\n");
    }

    /// We have a terminal to read it with.
    #[test]
    fn escape_sequences_paint_the_same_screen() {
        let term = terminal(SAMPLE);
        let text = ansi(&sheet(&term, None));
        let again = terminal(&text.trim_end().replace('\n', "\r\n"));
        for row in 0..2 {
            for col in 0..20 {
                assert_eq!(again.style_at(row, col), term.style_at(row, col), "{row} {col}");
                assert_eq!(again.link_at(row, col), term.link_at(row, col), "{row} {col}");
            }
            let text = |term: &Terminal| {
                let mut text = String::new();
                term.row_text(row, &mut text);
                text
            };
            assert_eq!(text(&again), text(&term));
        }
    }

    #[test]
    fn pages_and_drawings_take_nothing_for_markup() {
        let term =
            terminal("<b>&\x1b]8;;javascript:x\x1b\\y\x1b]8;;\x1b\\ \x1b]8;;http://\"x\x1b\\z");
        for page in [html(&sheet(&term, None)), svg(&sheet(&term, None), (7, 14))] {
            assert!(page.contains("&lt;b&gt;&amp;"), "{page}");
            assert!(!page.contains("javascript") && page.contains("http://&quot;x"), "{page}");
        }
    }

    #[test]
    fn data_tells_where_each_run_stands_and_how_it_looks() {
        let data: serde_json::Value = serde_json::from_slice(&json(
            &sheet(&terminal(SAMPLE), None),
            &terminal(SAMPLE).snapshot(0..3),
        ))
        .unwrap();
        let runs = &data["lines"][0]["runs"];
        assert_eq!(runs[0]["text"], "a<");
        assert_eq!(runs[1]["col"], 2);
        assert_eq!(runs[1]["bold"], true);
        assert_eq!(runs[2]["underline"], "single");
        assert_eq!((&runs[3]["text"], &runs[3]["width"]), (&" 日 ".into(), &4.into()));
        assert_eq!(runs[4]["link"], "http://x/?a&b");
    }
}
