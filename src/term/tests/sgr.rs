//! Styles from numbers, and back.

use crate::term::check::{check_reply, fed};
use crate::term::{Attrs, Color, Style, Underline};

/// The style of the last character that these bytes print.
fn style(bytes: &str) -> Style {
    let term = fed((20, 2), bytes.to_owned() + "A");
    term.style_at(0, term.cursor().col - 1)
}

fn attrs(list: &[Attrs]) -> Attrs {
    let mut all = Attrs::default();
    list.iter().for_each(|attr| all.set(*attr, true));
    all
}

#[track_caller]
fn check(bytes: &str, expected: Style) {
    assert_eq!(style(bytes), expected, "{bytes:?}");
}

/// The short way for these sequences and the long way give the same.
#[test]
fn colours_by_three_numbers() {
    for (r, g, b) in [(0, 0, 0), (1, 22, 133), (255, 9, 90), (7, 256, 1), (999, 1, 2)] {
        for which in [38, 48] {
            let short = style(&format!("\x1b[{which};2;{r};{g};{b}m"));
            assert_eq!(
                short,
                style(&format!("\x1b[{which};2;{r};{g};{b};m\x1b[{which}:2:{r}:{g}:{b}m"))
            );
            assert_eq!(short, style(&format!("\x1b[0;{which};2;{r};{g};{b}m")), "{r} {g} {b}");
        }
    }
}

/// Once there had been too many styles at a time, no new one was ever told apart again.
#[test]
fn styles_are_told_apart_again_when_the_many_are_gone() {
    let mut term = fed((1000, 70), b"");
    let style = |n: usize| format!("\x1b[38;2;{};{};{}mx", n >> 16, n >> 8 & 255, n & 255);
    let many = |range: std::ops::Range<usize>| range.map(style).collect::<String>();
    term.feed(many(0..69_000).as_bytes(), &mut Vec::new());
    term.feed(("\x1b[2J".to_owned() + &many(80_000..90_000)).as_bytes(), &mut Vec::new());
    term.feed(b"\x1b[H\x1b[38;2;1;2;3mx", &mut Vec::new());
    assert_eq!(term.style_at(0, 0).fg, Color::Rgb(1, 2, 3));
}

#[test]
fn attributes_on_and_off() {
    use Attrs as A;
    let with = |list: &[Attrs]| Style { attrs: attrs(list), ..Style::default() };
    check("\x1b[1;2;3m", with(&[A::BOLD, A::DIM, A::ITALIC]));
    check("\x1b[5;7;8;9m", with(&[A::BLINK, A::INVERSE, A::HIDDEN, A::STRIKE]));
    check("\x1b[53m", with(&[A::OVERLINE]));
    check("\x1b[1;2;3;5;7;8;9;53m\x1b[22;23;25;27;28;29;55m", with(&[]));
    check("\x1b[1;31;4m\x1b[m", with(&[]));
    check("\x1b[1;31;4m\x1b[0;1m", with(&[A::BOLD]));
}

#[test]
fn underlines() {
    let with = |underline| Style { underline, ..Style::default() };
    let all = [
        ("4", Underline::Single),
        ("4:0", Underline::None),
        ("4:1", Underline::Single),
        ("4:2", Underline::Double),
        ("4:3", Underline::Curly),
        ("4:4", Underline::Dotted),
        ("4:5", Underline::Dashed),
        ("21", Underline::Double),
        ("4:3;24", Underline::None),
    ];
    for (numbers, underline) in all {
        check(&format!("\x1b[{numbers}m"), with(underline));
    }
}

#[test]
fn colours_in_all_forms() {
    let fg = |fg| Style { fg, ..Style::default() };
    let bg = |bg| Style { bg, ..Style::default() };
    check("\x1b[31m", fg(Color::Indexed(1)));
    check("\x1b[97m", fg(Color::Indexed(15)));
    check("\x1b[102m", bg(Color::Indexed(10)));
    check("\x1b[38;5;196m", fg(Color::Indexed(196)));
    check("\x1b[48:5:7m", bg(Color::Indexed(7)));
    check("\x1b[38;2;1;2;3m", fg(Color::Rgb(1, 2, 3)));
    check("\x1b[38:2:1:2:3m", fg(Color::Rgb(1, 2, 3)));
    check("\x1b[38:2::1:2:3m", fg(Color::Rgb(1, 2, 3)));
    check("\x1b[38:2:0:1:2:3:0:1m", fg(Color::Rgb(1, 2, 3)));
    check("\x1b[31;41m\x1b[39;49m", Style::default());
}

#[test]
fn parts_of_a_colour_never_leak() {
    let curly = Style {
        underline: Underline::Curly,
        underline_color: Color::Rgb(5, 2, 7),
        ..Style::default()
    };
    check("\x1b[4:3;58:2::5:2:7m", curly);
    let coloured = |n| Style { underline_color: Color::Indexed(n), ..Style::default() };
    check("\x1b[58;5;1m", coloured(1));
    check("\x1b[58:5:1;59m", Style::default());
    check("\x1b[38m", Style::default());
    check("\x1b[38;5m", Style::default());
    check("\x1b[38;2;1;2m", Style::default());
    check("\x1b[38:9:1;1m", Style { attrs: Attrs::BOLD, ..Style::default() });
    check("\x1b[1:2m", Style::default());
    let mixed = Style { fg: Color::Rgb(1, 2, 3), attrs: Attrs::BOLD, ..Style::default() };
    check("\x1b[38;2;1;2;3;1m", mixed);
    check("\x1b[4:0;38;2;1;2;3;1m", mixed);
}

#[test]
fn marked_sequences_are_no_styles() {
    check("\x1b[>4;2m", Style::default());
    check("\x1b[?4m", Style::default());
    check("\x1b[1%m", Style::default());
}

#[test]
fn many_numbers_are_still_a_style() {
    check(&format!("\x1b[{}1m", "0;".repeat(31)), Style { attrs: Attrs::BOLD, ..Style::default() });
    check(&format!("\x1b[1;{}m", "0;".repeat(200)), Style::default());
}

#[test]
fn the_style_can_be_asked() {
    let ask = |numbers: &str| format!("\x1b[{numbers}m\x1bP$qm\x1b\\");
    check_reply(&ask(""), "\x1bP1$r0m\x1b\\");
    check_reply(&ask("1;31"), "\x1bP1$r0;1;31m\x1b\\");
    check_reply(&ask("4:3;95;48;5;200"), "\x1bP1$r0;4:3;95;48:5:200m\x1b\\");
    check_reply(&ask("38;2;1;2;3;58:5:9"), "\x1bP1$r0;38:2::1:2:3;58:5:9m\x1b\\");
}

/// A style for each cell, more than are told apart, and none is mixed up on the screen.
#[test]
fn unused_styles_are_given_back() {
    let mut term = fed((80, 24), "");
    for round in 0..40u32 {
        let mut bytes = String::from("\x1b[H");
        for n in 0..80 * 24u32 {
            let [_, r, g, b] = (round * 80 * 24 + n).to_be_bytes();
            bytes += &format!("\x1b[38;2;{r};{g};{b}mx");
        }
        term.feed(bytes.as_bytes(), &mut Vec::new());
    }
    for n in 0..80 * 24u32 {
        let [_, r, g, b] = (39 * 80 * 24 + n).to_be_bytes();
        let (row, col) = ((n / 80) as u16, (n % 80) as u16);
        assert_eq!(term.style_at(row, col).fg, Color::Rgb(r, g, b));
    }
}
