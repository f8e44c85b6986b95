//! Screenshots: milliseconds and bytes, cold and warm, of screens like those that agents look at.
//!
//! `image DIR` writes the pictures there as well.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use t4a::term::{Limits, Size, Terminal};
use t4a::view::image::{Cell, Renderer};
use t4a::view::sheet::{Manner, Sheet, lay_out};
use t4a::view::theme::Theme;

/// How long each thing is done again and again at a time, and how often at least.
const WHILE: Duration = Duration::from_millis(250);
const TIMES: usize = 10;
/// All cases are measured so many times, one after another: where a machine has neighbours, they
/// take a core for seconds, and would spoil a case that is measured only once.
const ROUNDS: usize = 6;

fn screen(cols: u16, rows: u16, bytes: &str) -> Terminal {
    let mut term = Terminal::new(Size { cols, rows }, Limits { lines: 100, bytes: 1 << 20 });
    term.feed(bytes.as_bytes(), &mut Vec::new());
    term
}

fn sheet(term: &Terminal) -> Sheet {
    let size = term.size();
    let manner = Manner {
        cols: 0..usize::from(size.cols),
        cursor: true,
        gutter: None,
        highlight: None,
        theme: Theme::default(),
        double: true,
    };
    lay_out(&term.snapshot(0..size.rows), &manner)
}

/// Like `ls --color -l` at a prompt.
fn listing(rows: u16, shift: u32) -> String {
    let mut out = String::new();
    for row in 0..u32::from(rows) - 2 {
        let n = row + shift;
        let (color, name) = match n % 5 {
            0 => ("01;34", "directory"),
            1 => ("01;32", "program.sh"),
            2 => ("01;31", "archive.tar.gz"),
            3 => ("01;36", "link -> ../target"),
            _ => ("0", "README.md"),
        };
        let size = n.wrapping_mul(7919) % 100_000;
        let day = n % 28 + 1;
        let _ = write!(out, "-rw-r--r-- 1 user user {size:>6} Nov {day:>2} 10:{:02} ", n % 60);
        let _ = write!(out, "\x1b[{color}m{name}{n}\x1b[0m\r\n");
    }
    out + "\x1b[1;32muser@host\x1b[0m:\x1b[1;34m~/src\x1b[0m$ "
}

/// Every cell has a letter, and one of `colors` colours.
fn dense(cols: u16, rows: u16, colors: u32) -> String {
    let mut out = String::new();
    let mut seed = 1_u32;
    for row in 0..rows {
        let _ = write!(out, "\x1b[{};1H", row + 1);
        for col in 0..cols {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if col % 6 == 0 {
                let _ = write!(out, "\x1b[38;5;{}m", 16 + (seed >> 8) % colors);
            }
            out.push(char::from(33 + (seed >> 16) as u8 % 94));
        }
    }
    out
}

/// Every cell has its own colours.
fn rainbow(cols: u16, rows: u16) -> String {
    let mut out = String::new();
    for row in 0..rows {
        let _ = write!(out, "\x1b[{};1H", row + 1);
        for col in 0..cols {
            let (r, g) = (u32::from(col) * 255 / u32::from(cols), u32::from(row) * 5 % 256);
            let _ = write!(out, "\x1b[38;2;{r};{g};90;48;2;{g};40;{r}m#");
        }
    }
    out
}

fn millis(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1000.0
}

/// The shortest of many times: what the work takes when nothing else runs.
fn best(mut run: impl FnMut() -> f64) -> f64 {
    let start = Instant::now();
    let times = (0..).take_while(|time| *time < TIMES || start.elapsed() < WHILE);
    times.map(|_| run()).fold(f64::INFINITY, f64::min)
}

struct Case {
    name: &'static str,
    term: Terminal,
    /// The same with every row changed, and with one row changed.
    other: Terminal,
    scale: usize,
}

impl Case {
    fn cell(&self) -> Cell {
        Cell::of_scale(self.scale, 0)
    }
}

fn case(name: &'static str, (cols, rows): (u16, u16), text: [&str; 2], scale: usize) -> Case {
    let [term, other] = text.map(|text| screen(cols, rows, text));
    Case { name, term, other, scale }
}

fn main() {
    let (small, large) = ((80, 24), (200, 50));
    let cases = [
        case("ls --color 80x24", small, [&listing(13, 0), &listing(13, 100)], 66),
        case("full ls -l 80x24", small, [&listing(24, 0), &listing(24, 100)], 66),
        case("full ls -l 80x24", small, [&listing(24, 0), &listing(24, 100)], 100),
        case("full colour 80x24", small, [&dense(80, 24, 12), &dense(80, 24, 11)], 66),
        case("full colour 200x50", large, [&dense(200, 50, 12), &dense(200, 50, 11)], 100),
        case("24 colours 200x50", large, [&dense(200, 50, 24), &dense(200, 50, 23)], 100),
        case("48 colours 200x50", large, [&dense(200, 50, 48), &dense(200, 50, 47)], 100),
        case("200 colours 200x50", large, [&dense(200, 50, 200), &dense(200, 50, 199)], 100),
        case("RGB cells 200x50", large, [&rainbow(200, 50), &dense(200, 50, 200)], 100),
    ];
    let mut all: Vec<Figures> = cases.iter().map(measure).collect();
    for _ in 1..ROUNDS {
        all.iter_mut().zip(&cases).for_each(|(best, case)| best.take_lower(&measure(case)));
    }
    println!("ms, the best of {ROUNDS} times {WHILE:?}; render is drawing, encode packing");
    println!(
        "{:<20} {:>5} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8}",
        "screen",
        "scale",
        "snapshot",
        "cold",
        "render",
        "encode",
        "warm",
        "one row",
        "same",
        "bytes"
    );
    let dir = std::env::args().nth(1).filter(|dir| !dir.starts_with('-'));
    for (number, (case, figures)) in cases.iter().zip(&all).enumerate() {
        let picture = Renderer::default().png(0, &sheet(&case.term), case.cell());
        print(case, figures, picture.len());
        if let Some(dir) = &dir {
            std::fs::write(format!("{dir}/bench{number}.png"), picture).unwrap();
        }
    }
}

struct Figures {
    snapshot: f64,
    cold: f64,
    render: f64,
    warm: f64,
    one_row: f64,
    same: f64,
}

impl Figures {
    fn take_lower(&mut self, other: &Figures) {
        let Figures { snapshot, cold, render, warm, one_row, same } = self;
        let own = [snapshot, cold, render, warm, one_row, same];
        let Figures { snapshot, cold, render, warm, one_row, same } = *other;
        let other = [snapshot, cold, render, warm, one_row, same];
        own.into_iter().zip(other).for_each(|(own, other)| *own = own.min(other));
    }
}

fn print(case: &Case, figures: &Figures, bytes: usize) {
    let Figures { snapshot, cold, render, warm, one_row, same } = figures;
    println!(
        "{:<20} {:>5} {snapshot:>8.4} {cold:>7.3} {render:>7.3} {:>7.3} {warm:>7.3} {one_row:>7.3} \
         {same:>8.4} {bytes:>8}",
        case.name,
        case.scale,
        warm - render,
    );
}

fn measure(case: &Case) -> Figures {
    let cell = case.cell();
    let sheets = [sheet(&case.term), sheet(&case.other)];
    let mut changed = sheet(&case.term);
    let snapshot = best(|| millis(|| drop(case.term.snapshot(0..case.term.size().rows))));
    let cold = best(|| millis(|| drop(Renderer::default().png(0, &sheets[0], cell))));
    let mut renderer = Renderer::default();
    renderer.png(0, &sheets[0], cell);
    let render = best(|| millis(|| renderer.draw_only(&sheets[0])));
    // Letters and colours are known, no row is.
    let warm = best(|| {
        let mut renderer = Renderer::default();
        renderer.png(0, &sheets[1], cell);
        renderer.png(0, &sheets[0], cell);
        renderer.forget_rows();
        millis(|| drop(renderer.png(0, &sheets[0], cell)))
    });
    let mut turn = 0;
    let one_row = best(|| {
        turn += 1;
        let number = format!("{turn:08}");
        let tiles = changed.rows[3].tiles[40..].iter_mut();
        tiles.zip(number.chars()).for_each(|(tile, digit)| tile.ch = digit);
        millis(|| drop(renderer.png(0, &changed, cell)))
    });
    let same = best(|| millis(|| drop(renderer.png(0, &sheets[0], cell))));
    Figures { snapshot, cold, render, warm, one_row, same }
}
