//! How well a page of random, code-like text can be read at each size, by tesseract.
//!
//! OCR stands in for the vision models that really look: it is cheap, and it always reads the same.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{Pixels, decode, manner, png, terminal};

const COLS: u16 = 80;
const ROWS: u16 = 24;
/// Letters are made this high before they are read: what tesseract was trained on.
const READ_HEIGHT: usize = 56;
/// Readings of pages that look the same differ by some tenths of a per cent: only the mean of
/// several tells.
const PAGES: u64 = 8;
/// Pages read at a time.
const READERS: u64 = 2;

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn pick(&mut self, from: &str) -> char {
        from.chars().nth(self.next(from.chars().count())).unwrap()
    }
}

/// A name, a number, or a few signs, as they stand in code; nothing that a dictionary knows.
fn word(random: &mut Random) -> String {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const DIGITS: &str = "0123456789";
    const SIGNS: &str = "(){}[]<>=+-*/%!?&|^~#$@:;,.";
    let length = 2 + random.next(7);
    let mut any =
        |set: &str, count: usize| -> String { (0..count).map(|_| random.pick(set)).collect() };
    match length {
        2 => any(SIGNS, 1),
        3 => any(SIGNS, 2),
        4 => any(DIGITS, 4),
        5 => format!("{}({})", any(LETTERS, 3), any(DIGITS, 2)),
        6 => any("0123456789abcdef", 6),
        _ => any(LETTERS, length),
    }
}

fn page(seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let mut line = || {
        let mut line = String::new();
        loop {
            let word = word(&mut random);
            if line.len() + word.len() >= usize::from(COLS) {
                return line;
            }
            line += &word;
            line.push(' ');
        }
    };
    (0..ROWS).map(|_| line()).collect()
}

fn grey(pixels: &Pixels) -> Vec<f32> {
    let light =
        |p: &[u8; 3]| 0.299 * f32::from(p[0]) + 0.587 * f32::from(p[1]) + 0.114 * f32::from(p[2]);
    pixels.rgb.iter().map(light).collect()
}

/// Resamples lines of `w` values to `new` each, by Lanczos with three lobes.
fn stretched(values: &[f32], w: usize, new: usize) -> Vec<f32> {
    let ratio = w as f32 / new as f32;
    let scale = ratio.max(1.0);
    let weight = |x: f32| match x.abs() / scale {
        0.0 => 1.0,
        x if x < 3.0 => {
            let x = x * std::f32::consts::PI;
            3.0 * x.sin() * (x / 3.0).sin() / (x * x)
        }
        _ => 0.0,
    };
    let mut out = Vec::with_capacity(values.len() / w * new);
    for line in values.chunks_exact(w) {
        for at in 0..new {
            let centre = (at as f32 + 0.5) * ratio - 0.5;
            let from = (centre - 3.0 * scale).ceil().max(0.0) as usize;
            let to = ((centre + 3.0 * scale) as usize).min(w - 1);
            let (mut sum, mut all) = (0.0, 0.0);
            for (n, value) in line.iter().enumerate().take(to + 1).skip(from) {
                let weight = weight(n as f32 - centre);
                sum += value * weight;
                all += weight;
            }
            out.push(sum / all);
        }
    }
    out
}

fn turned(values: &[f32], w: usize) -> Vec<f32> {
    let h = values.len() / w;
    (0..w).flat_map(|x| (0..h).map(move |y| (x, y))).map(|(x, y)| values[y * w + x]).collect()
}

fn resized(values: &[f32], (w, h): (usize, usize), (new_w, new_h): (usize, usize)) -> Vec<f32> {
    let wide = stretched(values, w, new_w);
    turned(&stretched(&turned(&wide, new_w), h, new_h), new_h)
}

/// Dark letters on white, large enough, as tesseract likes it.
fn read(values: &[f32], (w, h): (usize, usize), cell_h: usize) -> String {
    let (new_w, new_h) = (w * READ_HEIGHT / cell_h, h * READ_HEIGHT / cell_h);
    let large = resized(values, (w, h), (new_w, new_h));
    let mut picture = format!("P5\n{new_w} {new_h}\n255\n").into_bytes();
    picture.extend(large.iter().map(|v| 255 - v.clamp(0.0, 255.0) as u8));
    let mut child = Command::new("tesseract")
        .args(["stdin", "stdout", "--psm", "6", "-l", "eng"])
        .env("OMP_THREAD_LIMIT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("tesseract is installed by contrib/test");
    child.stdin.take().unwrap().write_all(&picture).unwrap();
    String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
}

/// Changes it takes to make one text of the other.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

/// Part of the characters, blanks aside, that were read right.
fn accuracy(page: &[String], read: &str) -> f64 {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
    let (page, read) = (letters(&page.concat()), letters(read));
    100.0 * (1.0 - distance(&page, &read) as f64 / page.len() as f64)
}

struct Read {
    /// At scale 100, at the default scale, and at 100 shrunk to the default's size.
    full: f64,
    native: f64,
    shrunk: f64,
}

fn reading(seed: u64) -> Read {
    let page = page(seed);
    let term = terminal(COLS, ROWS, &page.join("\r\n"));
    let show = |scale: usize| {
        let mut manner = manner(COLS);
        manner.cursor = false;
        decode(&png(&term, &manner, scale))
    };
    let (large, small) = (show(100), show(66));
    let (wide, size) = ((large.w, large.h), (small.w, small.h));
    // As a picture has it: whole numbers from 0 to 255.
    let mut shrunk = resized(&grey(&large), wide, size);
    shrunk.iter_mut().for_each(|value| *value = value.clamp(0.0, 255.0).round());
    let level = |values: &[f32], size, cell_h| accuracy(&page, &read(values, size, cell_h));
    Read {
        full: level(&grey(&large), wide, 20),
        native: level(&grey(&small), size, 14),
        shrunk: level(&shrunk, size, 14),
    }
}

#[test]
fn small_letters_can_be_read() {
    let share = |first: u64| (first..PAGES).step_by(READERS as usize).map(|n| reading(7 * n + 3));
    let pages: Vec<Read> = std::thread::scope(|scope| {
        let readers = (0..READERS).map(|n| scope.spawn(move || share(n).collect::<Vec<_>>()));
        let readers: Vec<_> = readers.collect();
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    });
    let mean = |of: fn(&Read) -> f64| pages.iter().map(of).sum::<f64>() / pages.len() as f64;
    let (full, native, shrunk) = (mean(|r| r.full), mean(|r| r.native), mean(|r| r.shrunk));
    println!(
        "read right: 10x20 {full:.2} %, 7x14 {native:.2} %, 10x20 shrunk to 7x14 {shrunk:.2} %"
    );
    assert!(full >= 94.0, "{full}");
    assert!(native >= 92.0, "{native}");
    assert!(native >= shrunk, "{native} < {shrunk}");
}
