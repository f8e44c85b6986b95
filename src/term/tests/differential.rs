//! The same streams to this grid and to alacritty_terminal, which must show the same.
//!
//! The streams leave out what is known to differ, each time because xterm does as this grid:
//! - IL and DL go to the left margin; theirs keep the column.
//! - DECALN goes home and drops the margins; theirs does neither.
//! - SGR 21 is a double underline; theirs ends bold.
//! - LF ends a deferred wrap, tabs keep it; theirs the other way round.
//! - CUU and CUD stop at the margins; theirs at the edges only.
//! - DCH past the end erases from the cursor on; theirs also what is left of it.
//! - CBT without a stop goes to the first column; theirs stays.
//! - DECRC and leaving screen 1049 restore also what was never saved, and DECRC the character
//!   set in use; theirs do not.
//! - Half of a wide character never stays, with ECH, ICH, DCH, insert mode and overwriting.
//! - A wide character at the last column, without wrapping: xterm itself is not of one mind.
//! - ED 1 leaves a row, REP repeats after a move, origin mode does not go home: theirs.
//! - What theirs does not have: side margins, 47, 1047, protection, rectangles, clusters.

use crate::term::check::fed;
use crate::term::{Attrs, Color, Style, Terminal, Underline};
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::{self, NamedColor, Processor};
use proptest::prelude::*;

pub const COLS: u16 = 24;
pub const ROWS: u16 = 7;

struct Screen;

impl Dimensions for Screen {
    fn total_lines(&self) -> usize {
        usize::from(ROWS)
    }

    fn screen_lines(&self) -> usize {
        usize::from(ROWS)
    }

    fn columns(&self) -> usize {
        usize::from(COLS)
    }
}

fn color(color: ansi::Color) -> Color {
    match color {
        ansi::Color::Named(NamedColor::Foreground | NamedColor::Background) => Color::Default,
        ansi::Color::Named(named) => Color::Indexed(named as usize as u8),
        ansi::Color::Indexed(n) => Color::Indexed(n),
        ansi::Color::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
    }
}

fn style(cell: &Cell) -> Style {
    let mut attrs = Attrs::default();
    for (flag, attr) in [
        (Flags::BOLD, Attrs::BOLD),
        (Flags::DIM, Attrs::DIM),
        (Flags::ITALIC, Attrs::ITALIC),
        (Flags::INVERSE, Attrs::INVERSE),
        (Flags::HIDDEN, Attrs::HIDDEN),
        (Flags::STRIKEOUT, Attrs::STRIKE),
    ] {
        attrs.set(attr, cell.flags.contains(flag));
    }
    let underlines = [
        (Flags::UNDERLINE, Underline::Single),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curly),
    ];
    let underline = underlines.iter().find(|(flag, _)| cell.flags.contains(*flag));
    Style {
        fg: color(cell.fg),
        bg: color(cell.bg),
        underline: underline.map_or(Underline::None, |(_, kind)| *kind),
        attrs,
        ..Style::default()
    }
}

/// A row as text with the looks of its cells, the second halves of wide characters left out.
fn their_row(term: &Term<VoidListener>, row: u16) -> String {
    let line = &term.grid()[Line(i32::from(row))];
    let mut out = String::new();
    for col in 0..usize::from(COLS) {
        let cell = &line[Column(col)];
        if !cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            let joined: String = cell.zerowidth().unwrap_or_default().iter().collect();
            write(&mut out, &format!("{}{joined}", cell.c), style(cell));
        }
    }
    out
}

fn our_row(term: &Terminal, row: u16) -> String {
    let mut out = String::new();
    for col in (0..COLS).filter(|col| term.width_at(row, *col) > 0) {
        let mut text = String::new();
        term.text_at(row, col, &mut text);
        write(&mut out, &text, term.style_at(row, col));
    }
    out
}

fn write(out: &mut String, text: &str, style: Style) {
    out.push_str(text);
    if style != Style::default() {
        out.push_str(&format!("<{style:?}>"));
    }
}

/// A tab leaves its character in their cells.
fn theirs(bytes: &[u8]) -> String {
    let mut term = Term::new(Config::default(), &Screen, VoidListener);
    let mut parser: Processor = Processor::new();
    parser.advance(&mut term, bytes);
    let point = term.grid().cursor.point;
    let rows: Vec<String> = (0..ROWS).map(|row| their_row(&term, row).replace('\t', " ")).collect();
    format!("{}\n{},{}", rows.join("\n"), point.line.0, point.column.0)
}

fn ours(bytes: &[u8]) -> String {
    let term = fed((COLS, ROWS), bytes);
    let rows: Vec<String> = (0..ROWS).map(|row| our_row(&term, row)).collect();
    format!("{}\n{},{}", rows.join("\n"), term.cursor().row, term.cursor().col)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z ]{1,30}",
        1 => "[é─αß]{1,9}",
        1 => Just("e\u{301}o\u{308}".to_owned()),
        3 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
    ]
}

fn sgr() -> impl Strategy<Value = String> {
    let numbers = "|0|1|2|3|4|4:3|7|8|9|22|23|24|27|28|29|31|42|97|104|39|49|38;5;200|48;5;17|\
                   38;2;1;2;3|48:2::4:5:6|1;31;44";
    let numbers = prop::sample::select(numbers.split('|').collect::<Vec<_>>());
    numbers.prop_map(|numbers| format!("\x1b[{numbers}m"))
}

/// To any place, which ends a deferred wrap.
fn place() -> impl Strategy<Value = String> {
    (1..=ROWS, 1..=COLS).prop_map(|(row, col)| format!("\x1b[{row};{col}H"))
}

/// A function with a number, at a place.
fn function() -> impl Strategy<Value = String> {
    let all = "A B C D E F G d ` a e S T X @ P L M K 1K 2K J 2J";
    let all = prop::sample::select(all.split(' ').collect::<Vec<_>>());
    let place = (1..=ROWS, 1..=COLS - 9).prop_map(|(row, col)| format!("\x1b[{row};{col}H"));
    (place, 1..9u16, all).prop_map(|(place, n, last)| match last {
        "L" | "M" => format!("{place}\r\x1b[{n}{last}"),
        "K" | "1K" | "2K" | "J" | "2J" => format!("{place}\x1b[{last}"),
        _ => format!("{place}\x1b[{n}{last}"),
    })
}

fn fixed() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "\x1bE",
        "\x1b7",
        "\x1b8",
        "\x1b[3;5H\t",
        "\x1bH",
        "\x1b[9G\x1b[g",
        "\x1b[4;3H\x1b[2I",
        "\x1b[4;20H\x1b[Z",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b(0",
        "\x1b(B",
        "\x08",
        "\x1b[?7l",
        "\x1b[?7h",
        "a\x1b[5b",
        "\x1b]2;t\x07",
        "\x1bPq~\x1b\\",
        "\x1b[?25l",
        "\x1b[5 q",
        "\x1b[2;2H\x1bM",
        "\x1b[H\x1bM",
        "\x1b[7;3H\x1bD",
    ])
    .prop_map(str::to_owned)
}

/// Scrolling between margins.
fn region() -> impl Strategy<Value = String> {
    let inside = prop_oneof![
        3 => text(),
        1 => Just("\r\n\r\n".to_owned()),
        1 => Just("\r\x1bM".to_owned()),
        1 => Just("\r\x1b[2L".to_owned()),
        1 => Just("\r\x1b[M".to_owned()),
        1 => Just("\x1b[3S".to_owned()),
        1 => Just("\x1b[T".to_owned()),
    ];
    let inside = prop::collection::vec(inside, 1..6).prop_map(|all| all.concat());
    (1..ROWS, 1..ROWS, place(), inside).prop_map(|(top, more, place, inside)| {
        format!("\x1b[{top};{}r{place}{inside}\x1b[r", (top + more).min(ROWS))
    })
}

fn alternate() -> impl Strategy<Value = String> {
    (text(), function(), text()).prop_map(|(a, b, c)| format!("\x1b[?1049h{a}{b}{c}\x1b[?1049l"))
}

/// Text of wide characters, without what could cut one in half.
pub fn wide_stream() -> impl Strategy<Value = String> {
    let text = prop_oneof![4 => "[a-zé日本語한😀]{1,20}", 1 => Just("\r\n".to_owned())];
    let text = prop_oneof![6 => text, 2 => sgr(), 1 => Just("\x1b[2J\x1b[H".to_owned())];
    prop::collection::vec(text, 1..40).prop_map(|pieces| pieces.concat())
}

pub fn stream() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => text(),
        2 => sgr(),
        2 => place(),
        3 => function(),
        3 => fixed(),
        1 => region(),
        1 => alternate(),
    ];
    prop::collection::vec(piece, 1..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..Default::default() })]

    #[test]
    fn both_show_the_same(stream in stream()) {
        prop_assert_eq!(ours(stream.as_bytes()), theirs(stream.as_bytes()));
    }

    #[test]
    fn both_show_wide_characters_the_same(stream in wide_stream()) {
        prop_assert_eq!(ours(stream.as_bytes()), theirs(stream.as_bytes()));
    }
}
