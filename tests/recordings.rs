//! What real programs wrote, and what is to be seen of it: NAME.bytes and NAME.txt side by side.
//!
//! A picture has the size, the cursor and the title in its first lines, then the rows without
//! blanks at their ends, then the looks that are not the default one, as
//! `row  first-last foreground/background/attributes`. To take a new recording, put its bytes
//! and a text with the size alone (`80x24`) here, run the test with `BLESS=1` and read what it
//! wrote.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use t4a::term::{Attrs, Color, Limits, Size, Style, Terminal, Underline};

const LIMITS: Limits = Limits { lines: 1000, bytes: 1 << 20 };
const LETTERS: [(Attrs, char); 9] = [
    (Attrs::BOLD, 'b'),
    (Attrs::DIM, 'd'),
    (Attrs::ITALIC, 'i'),
    (Attrs::BLINK, 'k'),
    (Attrs::RAPID, 'K'),
    (Attrs::INVERSE, 'r'),
    (Attrs::HIDDEN, 'h'),
    (Attrs::STRIKE, 's'),
    (Attrs::OVERLINE, 'o'),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings")
}

/// Names of all recordings, in order.
fn names() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let bytes = files.filter(|path| path.extension().is_some_and(|ending| ending == "bytes"));
    let mut names: Vec<_> =
        bytes.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The size that a picture's first line begins with.
fn size(picture: &str) -> Size {
    let first = picture.split_whitespace().next().unwrap();
    let (cols, rows) = first.split_once('x').unwrap();
    Size { cols: cols.parse().unwrap(), rows: rows.parse().unwrap() }
}

fn color(color: Color) -> String {
    match color {
        Color::Default => "-".to_owned(),
        Color::Indexed(n) => n.to_string(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
    }
}

fn look(style: Style) -> String {
    let on = LETTERS.iter().filter(|(attr, _)| style.attrs.has(*attr)).map(|(_, letter)| *letter);
    let mut letters: String = on.collect();
    match style.underline {
        Underline::None => {}
        Underline::Single => letters.push('u'),
        other => write!(letters, "u{}", other as u8).unwrap(),
    }
    if style.underline_color != Color::Default {
        write!(letters, ",{}", color(style.underline_color)).unwrap();
    }
    format!("{}/{}/{letters}", color(style.fg), color(style.bg))
}

/// What one cell looks like, or nothing where it is plain.
fn look_at(term: &Terminal, row: u16, col: u16) -> Option<String> {
    let (style, link) = (term.style_at(row, col), term.link_at(row, col));
    let link = link.map(|link| format!(" {}", link.uri)).unwrap_or_default();
    let plain = style == Style::default() && link.is_empty();
    (!plain).then(|| look(style) + &link)
}

fn write_looks(term: &Terminal, row: u16, out: &mut String) {
    let looks: Vec<_> = (0..term.size().cols).map(|col| look_at(term, row, col)).collect();
    let mut first = 0;
    for run in looks.chunk_by(|a, b| a == b) {
        let last = first + run.len() - 1;
        if let Some(look) = &run[0] {
            writeln!(out, "{row:2}  {first}-{last} {look}").unwrap();
        }
        first = last + 1;
    }
}

fn picture(term: &Terminal) -> String {
    let (size, cursor) = (term.size(), term.cursor());
    let hidden = if cursor.visible { "" } else { " hidden" };
    let mut out = format!("{}x{}\n", size.cols, size.rows);
    writeln!(out, "cursor {},{} {:?}{hidden}", cursor.row, cursor.col, cursor.shape).unwrap();
    writeln!(out, "title {:?}", term.title()).unwrap();
    for row in 0..size.rows {
        let mut text = String::new();
        term.row_text(row, &mut text);
        writeln!(out, "{}", text.trim_end_matches(' ')).unwrap();
    }
    (0..size.rows).for_each(|row| write_looks(term, row, &mut out));
    out
}

fn played(size: Size, bytes: &[u8], chunk: usize) -> Terminal {
    let mut term = Terminal::new(size, LIMITS);
    bytes.chunks(chunk).for_each(|part| term.feed(part, &mut Vec::new()));
    term
}

#[test]
fn every_recording_gives_its_picture() {
    let names = names();
    assert!(names.len() > 20, "recordings are missing");
    for name in names {
        let bytes = fs::read(folder().join(format!("{name}.bytes"))).unwrap();
        let path = folder().join(format!("{name}.txt"));
        let expected = fs::read_to_string(&path).unwrap();
        let size = size(&expected);
        let found = picture(&played(size, &bytes, usize::MAX));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &found).unwrap();
            continue;
        }
        assert_eq!(found, expected, "{name}");
        for chunk in [1, 7, 4096] {
            assert_eq!(picture(&played(size, &bytes, chunk)), expected, "{name} by {chunk}");
        }
    }
}

/// A program that is shown at another size and back is still all there: nothing panics, and what
/// ran on the alternate screen lost columns only.
#[test]
fn every_recording_stands_a_resize_at_any_point() {
    for name in names() {
        let bytes = fs::read(folder().join(format!("{name}.bytes"))).unwrap();
        let size = size(&fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap());
        let mut term = Terminal::new(size, LIMITS);
        for (at, part) in bytes.chunks(997).enumerate() {
            term.feed(part, &mut Vec::new());
            let cols = [size.cols, 1, size.cols / 2, 200][at % 4];
            term.resize(Size { cols, rows: [size.rows, 5, 1, 60][at % 4] });
            assert!(term.cursor().row < term.size().rows && term.cursor().col < cols);
        }
    }
}
