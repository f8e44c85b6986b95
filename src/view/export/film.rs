//! A moving drawing: screens below one another on a strip that is drawn past a window.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use super::svg::{head, put_row};
use crate::term::Rgb;
use crate::view::image::Cell;
use crate::view::sheet::Sheet;

pub struct SvgFilm {
    cell: (usize, usize),
    width: usize,
    height: usize,
    background: Option<Rgb>,
    /// Rows that were drawn, by what they look like.
    rows: HashMap<String, usize>,
    drawn: String,
    strip: String,
    /// What the last frame shows, and when each began.
    last: Vec<Option<usize>>,
    times: Vec<Duration>,
}

impl SvgFilm {
    pub fn new((cols, rows): (usize, usize), cell: Cell) -> SvgFilm {
        SvgFilm {
            cell: (cell.w, cell.h),
            width: cols * cell.w,
            height: rows * cell.h,
            background: None,
            rows: HashMap::new(),
            drawn: String::new(),
            strip: String::new(),
            last: Vec::new(),
            times: Vec::new(),
        }
    }

    /// A row is drawn once, wherever and however often it is seen.
    pub fn add(&mut self, sheet: &Sheet, at: Duration) {
        let background = *self.background.get_or_insert(sheet.background);
        let mut frame = Vec::with_capacity(sheet.rows.len());
        for row in &sheet.rows {
            let mut drawing = String::new();
            put_row(row, sheet, background, (0, self.cell), &mut drawing);
            frame.push((!drawing.is_empty()).then(|| self.row(drawing)));
        }
        if self.times.is_empty() || frame != self.last {
            self.put(&frame, at);
            self.last = frame;
        }
    }

    fn row(&mut self, drawing: String) -> usize {
        let next = self.rows.len();
        if let Some(known) = self.rows.get(&drawing) {
            return *known;
        }
        let _ = writeln!(self.drawn, "<g id=\"r{next}\">{drawing}</g>");
        self.rows.insert(drawing, next);
        next
    }

    fn put(&mut self, frame: &[Option<usize>], at: Duration) {
        let top = self.times.len() * self.height;
        for (y, row) in frame.iter().enumerate() {
            if let Some(row) = row {
                let y = top + y * self.cell.1;
                let _ = write!(self.strip, "<use href=\"#r{row}\" y=\"{y}\"/>");
            }
        }
        self.strip.push('\n');
        self.times.push(at);
    }

    pub fn len(&self) -> usize {
        self.drawn.len() + self.strip.len()
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub fn frames(&self) -> usize {
        self.times.len()
    }

    pub fn finish(self, end: Duration) -> String {
        let size = (self.width, self.height);
        let background = self.background.unwrap_or(Rgb(0, 0, 0));
        let mut out = head(size, self.cell.1, background);
        let end = end.as_secs_f64().max(0.001);
        out.push_str("<style>@keyframes strip{");
        for (frame, at) in self.times.iter().enumerate() {
            let part = at.as_secs_f64() / end * 100.0;
            let top = frame * self.height;
            let _ = write!(out, "{part:.4}%{{transform:translateY(-{top}px)}}");
        }
        let last = self.times.len().saturating_sub(1) * self.height;
        let _ = write!(
            out,
            "100%{{transform:translateY(-{last}px)}}}}#strip{{animation:strip {end:.3}s step-end \
             infinite}}</style>\n<defs>\n{}</defs>\n<g id=\"strip\">\n{}</g>\n</svg>\n",
            self.drawn, self.strip
        );
        out
    }
}
