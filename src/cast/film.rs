//! A recording as a moving picture, made without a server.

use std::time::Duration;

use super::{Cast, Pace, What};
use crate::term::{Limits, Size, Terminal};
use crate::view::export::SvgFilm;
use crate::view::image::{Apng, Brush, Cell, Gif, Patch, Survey};
use crate::view::sheet::{Manner, Sheet, lay_out};
use crate::view::shot::largest_scale;
use crate::view::theme::Theme;

/// Bytes of a moving picture.
pub const MAX_FILM_BYTES: usize = 256 << 20;
/// Screens in it.
pub const MAX_FRAMES: usize = 36_000;
/// Screens do not follow one another faster: what came meanwhile is seen with the next.
const FRAME: Duration = Duration::from_millis(40);
/// The last screen is seen for so long before it begins anew.
const LAST: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilmFormat {
    Apng,
    Gif,
    Svg,
}

impl FilmFormat {
    pub fn of_ending(ending: &str) -> Option<FilmFormat> {
        match ending.to_ascii_lowercase().as_str() {
            "png" | "apng" => Some(FilmFormat::Apng),
            "gif" => Some(FilmFormat::Gif),
            "svg" => Some(FilmFormat::Svg),
            _ => None,
        }
    }
}

/// A finished moving picture.
pub struct Film {
    pub bytes: Vec<u8>,
    pub frames: usize,
    pub width: usize,
    pub height: usize,
    pub duration: Duration,
}

struct Studio<'a> {
    cast: &'a Cast,
    pace: Pace,
    size: Size,
    cell: Cell,
}

impl Film {
    /// Makes a moving picture; an error is a sentence about its size.
    pub fn make(cast: &Cast, pace: Pace, format: FilmFormat, scale: usize) -> Result<Film, String> {
        let size = cast.largest();
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let scale = largest_scale(cols, rows, 0, scale)
            .ok_or_else(|| format!("a screen of {cols}x{rows} has too many pixels"))?;
        let studio = Studio { cast, pace, size, cell: Cell::of_scale(scale, 0) };
        match format {
            FilmFormat::Svg => studio.svg(),
            FilmFormat::Apng => studio.apng(),
            FilmFormat::Gif => studio.gif(),
        }
    }
}

impl Studio<'_> {
    /// Shows each screen, with the time from which on it is seen; gives back when the last one ends.
    fn screens(
        &self,
        mut show: impl FnMut(&Terminal, Duration) -> Result<(), String>,
    ) -> Result<Duration, String> {
        let mut term = Terminal::new(self.cast.size, Limits { lines: 0, bytes: 0 });
        let mut notices = Vec::new();
        let mut seen = None;
        let (mut since, mut last) = (Some(Duration::ZERO), Duration::ZERO);
        for (at, event) in self.pace.times(&self.cast.events) {
            if let Some(start) = since.filter(|start| at.saturating_sub(*start) >= FRAME) {
                show(&term, start)?;
                (seen, since) = (Some((term.stamp(), term.size())), None);
            }
            match &event.what {
                What::Output(text) => term.feed(text.as_bytes(), &mut notices),
                What::Resize(size) => term.resize(*size),
                What::Mark(_) => {}
            }
            notices.clear();
            last = at;
            if since.is_none() && seen != Some((term.stamp(), term.size())) {
                since = Some(at);
            }
        }
        // What a program has not finished drawing is all there is.
        term.end_sync();
        if let Some(start) = since {
            show(&term, start)?;
        }
        Ok(last.saturating_add(LAST))
    }

    /// The same as sheets, all of the largest size.
    fn sheets(
        &self,
        mut show: impl FnMut(&Sheet, Duration) -> Result<(), String>,
    ) -> Result<Duration, String> {
        let manner = Manner {
            cols: 0..usize::from(self.size.cols),
            cursor: true,
            gutter: None,
            highlight: None,
            theme: Theme::default(),
            double: true,
        };
        let mut shown = 0;
        self.screens(|term, at| {
            shown += 1;
            if shown > MAX_FRAMES {
                return Err(format!(
                    "there are more than {MAX_FRAMES} screens: show it faster, or less of it"
                ));
            }
            let mut sheet = lay_out(&term.snapshot(0..term.size().rows), &manner);
            sheet.fill_to(usize::from(self.size.rows));
            show(&sheet, at)
        })
    }

    fn film(&self, bytes: Vec<u8>, frames: usize, duration: Duration) -> Film {
        let (width, height) = self.pixels();
        Film { bytes, frames, width, height, duration }
    }

    fn pixels(&self) -> (usize, usize) {
        (usize::from(self.size.cols) * self.cell.w, usize::from(self.size.rows) * self.cell.h)
    }

    fn svg(&self) -> Result<Film, String> {
        let mut film = SvgFilm::new((self.size.cols.into(), self.size.rows.into()), self.cell);
        let end = self.sheets(|sheet, at| {
            film.add(sheet, at);
            fits(film.bytes())
        })?;
        let frames = film.frames();
        let bytes = film.finish(end).into_bytes();
        fits(bytes.len())?;
        Ok(self.film(bytes, frames, end))
    }

    /// Colours are common to all frames, so that all are looked at first.
    fn brush(&self) -> Result<Brush, String> {
        let mut survey = Survey::default();
        self.sheets(|sheet, _| {
            survey.add(sheet);
            Ok(())
        })?;
        Ok(Brush::new(self.cell, &survey))
    }

    /// What differs from frame to frame, and how long each is seen.
    fn patches(
        &self,
        brush: &mut Brush,
        mut put: impl FnMut(Patch, Duration) -> Result<(), String>,
    ) -> Result<Duration, String> {
        let mut held: Option<(Patch, Duration)> = None;
        let end = self.sheets(|sheet, at| {
            let Some(patch) = brush.patch(sheet) else { return Ok(()) };
            match held.replace((patch, at)) {
                Some((before, since)) => put(before, at - since),
                None => Ok(()),
            }
        })?;
        if let Some((patch, since)) = held {
            put(patch, end.saturating_sub(since))?;
        }
        Ok(end)
    }

    fn apng(&self) -> Result<Film, String> {
        let mut brush = self.brush()?;
        // The number of frames stands at the beginning of the file.
        let mut frames = 0;
        self.sheets(|sheet, _| {
            frames += usize::from(brush.patch(sheet).is_some());
            Ok(())
        })?;
        brush.forget();
        let mut apng = Apng::new(self.pixels(), brush.palette(), frames)?;
        let end = self.patches(&mut brush, |patch, time| {
            apng.add(&patch, time)?;
            fits(apng.bytes())
        })?;
        Ok(self.film(apng.finish()?, frames, end))
    }

    fn gif(&self) -> Result<Film, String> {
        let mut brush = self.brush()?;
        let mut gif = Gif::new(self.pixels(), brush.palette())?;
        let mut frames = 0;
        let end = self.patches(&mut brush, |patch, time| {
            frames += 1;
            gif.add(&patch, time)?;
            fits(gif.bytes())
        })?;
        Ok(self.film(gif.finish()?, frames, end))
    }
}

fn fits(bytes: usize) -> Result<(), String> {
    match bytes <= MAX_FILM_BYTES {
        true => Ok(()),
        false => Err(format!(
            "it takes more than {MAX_FILM_BYTES} bytes: show it faster, smaller, or less of it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::Event;

    #[test]
    fn a_film_has_as_many_screens_and_bytes_as_it_may() {
        let shown = |screens: usize| {
            let size = Size { cols: 1, rows: 1 };
            // The first screen is the empty one.
            let letter = |n: usize| Event {
                at: FRAME * n as u32,
                what: What::Output(["a\r", "b\r"][n % 2].to_owned()),
            };
            let cast = Cast { size, events: (1..screens).map(letter).collect() };
            let pace = Pace { speed: 1.0, idle_limit: None };
            let studio = Studio { cast: &cast, pace, size, cell: Cell::of_scale(10, 0) };
            let mut count = 0;
            studio.sheets(|_, _| {
                count += 1;
                Ok(())
            })?;
            Ok::<usize, String>(count)
        };
        assert_eq!(shown(MAX_FRAMES), Ok(MAX_FRAMES));
        assert!(shown(MAX_FRAMES + 1).unwrap_err().contains("36000 screens"));
        assert_eq!(fits(MAX_FILM_BYTES), Ok(()));
        assert!(fits(MAX_FILM_BYTES + 1).unwrap_err().contains("268435456 bytes"));
    }
}
