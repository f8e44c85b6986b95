//! Pictures that were looked at and found good. `T4A_BLESS=1 cargo test --test picture` writes them
//! anew; then look at them again.

use std::path::PathBuf;

use t4a::term::Terminal;
use t4a::view::image::{Cell, Renderer};
use t4a::view::search::Needle;
use t4a::view::sheet::{Gutter, Highlight, Manner, lay_out};
use t4a::view::theme::Theme;

use crate::support::{Pixels, decode, manner, png, terminal};

/// Another machine's floats may round an edge otherwise; nobody sees that.
const MAX_STEP: u8 = 40;
const MAX_PART: usize = 200;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.png"))
}

fn is_near(a: &Pixels, b: &Pixels) -> bool {
    let step = |a: &[u8; 3], b: &[u8; 3]| (0..3).map(|n| a[n].abs_diff(b[n])).max().unwrap();
    let steps: Vec<u8> = a.rgb.iter().zip(&b.rgb).map(|(a, b)| step(a, b)).collect();
    let differ = steps.iter().filter(|step| **step > 0).count();
    (a.w, a.h) == (b.w, b.h)
        && steps.iter().all(|s| *s <= MAX_STEP)
        && differ <= steps.len() / MAX_PART
}

fn check_png(name: &str, found: &[u8]) {
    let path = path(name);
    if std::env::var_os("T4A_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let known = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if !is_near(&decode(&known), &decode(found)) {
        let seen = std::env::temp_dir().join(format!("t4a-{name}.png"));
        std::fs::write(&seen, found).unwrap();
        panic!("{} is another picture than {}", seen.display(), path.display());
    }
}

fn check(name: &str, (cols, rows): (u16, u16), bytes: &str) {
    check_png(name, &png(&terminal(cols, rows, bytes), &manner(cols), 100));
}

#[test]
fn colours() {
    let mut bytes = String::new();
    for n in 0..8 {
        bytes += &format!("\x1b[3{n}mA\x1b[9{n}mB\x1b[1;3{n}mC\x1b[0;4{n}mD\x1b[10{n}mE\x1b[m");
    }
    bytes += "\r\n";
    (16..56).for_each(|n| bytes += &format!("\x1b[48;5;{n}m "));
    bytes += "\x1b[m";
    (0..40).for_each(|n| bytes += &format!("\x1b[48;2;{};{};120m ", n * 6, 255 - n * 6));
    check("colours", (40, 3), &bytes);
}

#[test]
fn attributes() {
    let bytes = "\x1b[1mbold\x1b[m \x1b[2mdim\x1b[m \x1b[3mitalic\x1b[m \x1b[1;3mboth\x1b[m\r\n\
        \x1b[4mline\x1b[m \x1b[4:2mtwo\x1b[m \x1b[4:3;58:2::255:90:90mcurly\x1b[m \x1b[4:4mdot\x1b[m \
        \x1b[4:5mdash\x1b[m\r\n\x1b[9mstrike\x1b[m \x1b[53mover\x1b[m \x1b[7minverse\x1b[m\r\n\
        [\x1b[8mhidden\x1b[m] \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b[44mto the edge\x1b[K\x1b[m";
    check("attributes", (28, 4), bytes);
}

const BOXES: &str = "┌─┬─┐╔═╦═╗╭─╮┏━┳━┓\r\n│a│b│║a║b║│c│┃a┃b┃\r\n├─┼─┤╠═╬═╣╰─╯┣━╋━┫\r\n\
    └─┴─┘╚═╩═╝╱╲╳┗━┻━┛\r\n╒╤╕╓╥╖┍┯┑┎┰┒▁▃▅▇█▌▐\r\n╞╪╡╟╫╢┝┿┥┠╂┨░▒▓⣿⠿▚▞\r\n╘╧╛╙╨╜┕┷┙┖┸┚●○◢◣◤◥🬞";

#[test]
fn boxes_join_at_every_scale() {
    let term = terminal(19, 7, BOXES);
    for scale in [50, 66, 100, 150] {
        check_png(&format!("boxes{scale}"), &png(&term, &manner(19), scale));
    }
}

#[test]
fn wide_characters_and_emoji() {
    check(
        "wide",
        (24, 4),
        "日本語 中文 한국어\r\n｜１２｜ab|日|\r\n😀🚀🔥✅❌👍🏽🇩🇪❤️1️⃣9️⃣\r\ne\u{301} n\u{303} ≤ → Ж λ ∀",
    );
}

#[test]
fn letters_at_the_default_scale() {
    let bytes = "The quick brown fox jumps over\r\n\x1b[1mWM@%&_ {}[]()|/\\ gjpqy\x1b[m\r\n\
        \x1b[3mitalic Wfj_\x1b[m ÄÖÜß ÅÉÇ ñ\r\n0O1lI|5S8B2Z \x1b[4mgypsy\x1b[m 日本 μλЖ";
    check_png("letters66", &png(&terminal(32, 4, bytes), &manner(32), 66));
}

#[test]
fn double_lines() {
    let bytes = "single line\r\n\x1b#6double é日\x1b[4:3;31mwave\x1b[m|hidden\r\n\
        \x1b#3\x1b[1mbig 日─┐\x1b[m\x1b[44m \x1b[m\r\n\x1b#4\x1b[1mbig 日─┐\x1b[m\x1b[44m \x1b[m\r\nsingle";
    let term = terminal(32, 5, bytes);
    check_png("double", &with(&term, |manner| manner.gutter = Some(Gutter::Rows)));
    check_png("double66", &png(&term, &manner(32), 66));
}

#[test]
fn powerline_and_missing_characters() {
    let bytes = "\x1b[44;97m main \x1b[34;42m\u{e0b0}\x1b[30m ok \x1b[0;32m\u{e0b0}\x1b[m\r\n\
        \u{e0b1}\u{e0b2}\u{e0b3}\u{e0b4}\u{e0b5}\u{e0b6}\u{e0b7}\u{e0b8}\u{e0ba}\u{e0a0} \u{f015} \
        \u{1f8ff}|\u{1cd00}\u{1cd40}\u{1fb41}";
    check("powerline", (20, 2), bytes);
}

#[test]
fn cursor_shapes() {
    let shapes = [2, 4, 6].map(|shape| terminal(6, 1, &format!("ab\x1b[{shape} q\x1b[1;2H")));
    for (term, name) in shapes.iter().zip(["block", "underline", "bar"]) {
        check_png(&format!("cursor-{name}"), &png(term, &manner(6), 150));
    }
}

fn numbered() -> Terminal {
    let lines: Vec<_> = (0..12).map(|n| format!("line {n} of text\r\n")).collect();
    terminal(20, 5, &lines.concat())
}

fn with(term: &Terminal, change: impl Fn(&mut Manner)) -> Vec<u8> {
    let mut manner = manner(term.size().cols);
    change(&mut manner);
    png(term, &manner, 100)
}

#[test]
fn a_gutter_of_rows_and_of_lines() {
    let term = numbered();
    check_png("gutter-rows", &with(&term, |manner| manner.gutter = Some(Gutter::Rows)));
    check_png("gutter-lines", &with(&term, |manner| manner.gutter = Some(Gutter::Lines)));
}

#[test]
fn a_crop_and_what_stands_out() {
    let term = numbered();
    check_png("crop", &with(&term, |manner| manner.cols = 5..10));
    let needle = || Needle { text: "11 OF".into(), ignore_case: true };
    let found = |manner: &mut Manner| manner.highlight = Some(Highlight::Text(needle()));
    check_png("found", &with(&term, found));
}

#[test]
fn themes() {
    let bytes = "\x1b[34mblue\x1b[m \x1b[33myellow\x1b[m \x1b[30mblack\x1b[m \x1b[2mdim\x1b[m";
    let term = terminal(24, 1, bytes);
    for name in ["light", "contrast"] {
        let theme = Theme::named(name).unwrap();
        check_png(name, &with(&term, |manner| manner.theme = theme.clone()));
    }
    let reverse = terminal(24, 1, &format!("\x1b[?5h{bytes}"));
    check_png("reverse", &with(&reverse, |_| {}));
}

/// A picture put together from remembered rows is the one that would be drawn anew.
#[test]
fn remembered_rows_make_the_same_picture() {
    let mut term = terminal(40, 8, "");
    let mut renderer = Renderer::default();
    let cell = Cell::of_scale(66, 0);
    for turn in 0..60_u32 {
        let (row, color) = (turn * 7 % 8 + 1, 16 + turn * 3);
        let bytes = match turn % 5 {
            4 => format!("\x1b[8;1H\n\x1b[38;5;{color}mscrolled {turn} é日\x1b[m"),
            _ => format!("\x1b[{row};3H\x1b[38;5;{color};48;5;{}mturn {turn}\x1b[m", turn % 16),
        };
        term.feed(bytes.as_bytes(), &mut Vec::new());
        let sheet = lay_out(&term.snapshot(0..8), &manner(40));
        let kept = renderer.png(1, &sheet, cell);
        let fresh = Renderer::default().png(1, &sheet, cell);
        let same = decode(&kept).rgb == decode(&fresh).rgb;
        assert!(same || is_near(&decode(&kept), &decode(&fresh)), "turn {turn}");
    }
}

/// Other colours are a change of all that is shown: a stamp from before does not stand for it, and
/// rows that were kept do not come back in the old ones.
#[test]
fn new_colours_are_a_change_of_every_row() {
    let mut term = terminal(20, 3, "\x1b[31mred\x1b[m plain\r\n\x1b[44mblue\x1b[m\r\nlast");
    let mut renderer = Renderer::default();
    let cell = Cell::of_scale(66, 0);
    let mut shown = |term: &Terminal| {
        let sheet = lay_out(&term.snapshot(0..3), &manner(20));
        let fresh = Renderer::default().png(1, &sheet, cell);
        let kept = renderer.png(1, &sheet, cell);
        let (kept, fresh) = (decode(&kept), decode(&fresh));
        assert!(kept == fresh || is_near(&kept, &fresh));
        fresh
    };
    let mut before = shown(&term);
    for bytes in [
        "\x1b]4;1;#00ff00\x07",
        "\x1b]4;4;rgb:12/34/56\x1b\\",
        "\x1b]104;1\x07",
        "\x1b]104\x07",
        "\x1b]10;#ffff00\x07",
        "\x1b]11;#203040\x07",
        "\x1b]12;#ff00ff\x07",
        "\x1b]110\x07",
        "\x1b]111\x07",
        "\x1b]112\x07",
        "\x1b[?5h",
        "\x1b[?5l",
    ] {
        let stamp = term.stamp();
        term.feed(bytes.as_bytes(), &mut Vec::new());
        assert!(term.stamp() > stamp, "{bytes:?}");
        assert!((0..3).all(|row| term.row_stamp(row) > stamp), "{bytes:?}");
        let after = shown(&term);
        assert!(after != before, "{bytes:?} is not seen");
        before = after;
    }
}

#[test]
fn screens_of_all_colours_are_drawn_in_full_colour() {
    let mut bytes = String::new();
    for n in 0..80 {
        bytes += &format!("\x1b[38;2;{};{};9;48;2;9;{};{}mx", n * 3, 255 - n, n, n * 2);
    }
    let pixels = decode(&png(&terminal(80, 2, &bytes), &manner(80), 100));
    // The first cell's background is what the program set, to the bit.
    assert_eq!(pixels.rgb[0], [9, 0, 0]);
    assert_eq!(pixels.rgb[780], [9, 78, 156]);
}
