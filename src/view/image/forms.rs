//! What cells look like but for their colours: each form is drawn once, and how it is packed is
//! worked out once for all the colours it is seen in.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::glyphs::Glyphs;
use super::mixer::Mixer;
use super::ramps::{self, CLASSES, Class};
use super::raster::{self, Band, Pen};
use super::runs::{Again, Grid, Step};
use super::{Cell, MAX_PAD, MAX_SCALE};
use crate::view::look::Look;
use crate::view::sheet::SheetRow;

/// A form by its number among those that were drawn.
pub type FormId = u32;

/// There is a bit for each line.
const _: () = assert!(2 * MAX_SCALE / 10 + MAX_PAD <= 128);

/// Bytes of forms kept; then all are let go.
const MAX_FORM_BYTES: usize = 8 << 20;

pub struct Forms {
    pen: Pen,
    known: HashMap<u64, FormId, BuildHasherDefault<Mixer>>,
    /// Those with marks joined to the letter.
    joined: HashMap<(u64, Box<[char]>), FormId>,
    list: Vec<Form>,
    classes: Vec<Class>,
    tints: Vec<Tint>,
    /// How lines are told, as far as that was asked for.
    steps: Vec<Step>,
    lines: Vec<Range<u32>>,
    /// The pixels of forms that are told: how many of each class.
    inks: Vec<(Class, u32)>,
    /// Lines above that steps go back to.
    reach: usize,
    band: Band,
}

#[derive(Clone, Debug)]
struct Form {
    /// A bit for each line that is not the same as the one above it; the first one never is.
    told: u128,
    /// A bit for each line that has one class only.
    even: u128,
    tints: Range<usize>,
    /// How it is told, if that was asked for.
    way: Option<Way>,
}

#[derive(Clone, Debug)]
struct Way {
    /// Where its lines begin.
    lines: usize,
    inks: Range<usize>,
}

/// Where a form has a class: how many pixels, and their places added up.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tint {
    pub class: Class,
    pub count: u32,
    pub x: u32,
    pub y: u32,
}

impl Forms {
    /// For cells of a size, with so many shades.
    pub fn new(cell: Cell, shades: usize) -> Forms {
        Forms {
            pen: Pen { cell, classes: ramps::classes(shades) },
            known: HashMap::default(),
            joined: HashMap::new(),
            list: Vec::new(),
            classes: Vec::new(),
            tints: Vec::new(),
            steps: Vec::new(),
            lines: Vec::new(),
            inks: Vec::new(),
            reach: 0,
            band: Band::default(),
        }
    }

    pub fn cell(&self) -> Cell {
        self.pen.cell
    }

    /// Lets all go when they have become too many. No number means the same then.
    pub fn tidy(&mut self) {
        let bytes = self.classes.len() + size_of_val(&self.steps[..]);
        if bytes > MAX_FORM_BYTES {
            let new = Forms::new(self.pen.cell, 2);
            *self = Forms { pen: Pen { ..self.pen }, ..new };
        }
    }

    /// The form of the tile at a place; a wide one has several, one after another.
    pub fn get(&mut self, row: &SheetRow, at: usize, look: &Look, glyphs: &mut Glyphs) -> FormId {
        let tile = &row.tiles[at];
        let phase = raster::phase(look, self.pen.cell, *tile, at) as u64;
        let size = u64::from(tile.width) << 21 | (tile.size as u64) << 24 | phase << 26;
        let key = u64::from(u32::from(tile.ch)) | size | u64::from(look.shape()) << 32;
        if row.has_joined(at) {
            let key = (key, row.joined_at(at).collect());
            if let Some(id) = self.joined.get(&key) {
                return *id;
            }
            let id = self.draw(row, at, look, glyphs);
            self.joined.insert(key, id);
            return id;
        }
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = self.draw(row, at, look, glyphs);
        self.known.insert(key, id);
        id
    }

    fn draw(&mut self, row: &SheetRow, at: usize, look: &Look, glyphs: &mut Glyphs) -> FormId {
        let id = self.list.len() as FormId;
        let mut band = std::mem::take(&mut self.band);
        self.pen.draw(row, at, look, glyphs, &mut band);
        for part in 0..usize::from(row.tiles[at].width) {
            self.add(&band, part * self.pen.cell.w);
        }
        self.band = band;
        id
    }

    /// Adds the form that begins so far from the left.
    fn add(&mut self, band: &Band, left: usize) {
        let w = self.pen.cell.w;
        let start = self.classes.len();
        let (mut told, mut even) = (0, 0);
        for (y, line) in band.pixels.chunks_exact(band.w).enumerate() {
            let line = &line[left..left + w];
            let same = y > 0 && self.classes.ends_with(line);
            told |= u128::from(!same) << y;
            even |= u128::from(line.iter().all(|class| *class == line[0])) << y;
            self.classes.extend_from_slice(line);
        }
        let tints = self.tints.len();
        self.add_tints(start);
        self.list.push(Form { told, even, tints: tints..self.tints.len(), way: None });
    }

    fn add_tints(&mut self, start: usize) {
        let mut all: [Tint; CLASSES] =
            std::array::from_fn(|class| Tint { class: class as Class, ..Tint::default() });
        for (y, line) in self.classes[start..].chunks_exact(self.pen.cell.w).enumerate() {
            for (x, class) in line.iter().enumerate() {
                let tint = &mut all[usize::from(*class)];
                tint.count += 1;
                tint.x += x as u32;
                tint.y += y as u32;
            }
        }
        self.tints.extend(all.iter().filter(|tint| tint.count > 0));
    }

    /// Works out how forms are told with so many bytes to a pixel, going back so many lines.
    pub fn work_out(&mut self, forms: impl Iterator<Item = FormId>, channels: usize, reach: usize) {
        if self.reach != reach {
            self.reach = reach;
            self.steps.clear();
            self.lines.clear();
            self.inks.clear();
            self.list.iter_mut().for_each(|form| form.way = None);
        }
        for id in forms.map(|id| id as usize) {
            if self.list[id].way.is_none() {
                self.add_way(id, channels);
            }
        }
    }

    fn add_way(&mut self, id: usize, channels: usize) {
        let Cell { w, h, .. } = self.pen.cell;
        let (lines, all) = (self.lines.len(), self.steps.len());
        let classes = &self.classes[id * w * h..][..w * h];
        let grid = Grid { classes, w, channels, reach: self.reach };
        for y in 0..h {
            let first = self.steps.len() as u32;
            if self.list[id].told >> y & 1 == 1 {
                grid.tell(y, &mut self.steps);
            }
            self.lines.push(first..self.steps.len() as u32);
        }
        let mut counts = [0; CLASSES];
        for step in &self.steps[all..] {
            if let Step::Pixel(class) = step {
                counts[usize::from(*class)] += 1;
            }
        }
        let inks = self.inks.len();
        let counts = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
        self.inks.extend(counts.map(|(class, count)| (class as Class, count)));
        self.list[id].way = Some(Way { lines, inks: inks..self.inks.len() });
    }

    /// A bit for each line that is not the same as the one above it.
    #[inline]
    pub fn told(&self, id: FormId) -> u128 {
        self.list[id as usize].told
    }

    pub fn tints(&self, id: FormId) -> &[Tint] {
        &self.tints[self.list[id as usize].tints.clone()]
    }

    /// The classes of each line.
    pub fn lines(&self, id: FormId) -> impl Iterator<Item = &[Class]> {
        let Cell { w, h, .. } = self.pen.cell;
        self.classes[id as usize * w * h..][..w * h].chunks_exact(w)
    }

    /// The classes of a line.
    pub fn line(&self, id: FormId, y: usize) -> &[Class] {
        let Cell { w, h, .. } = self.pen.cell;
        &self.classes[(id as usize * h + y) * w..][..w]
    }

    /// The class of a line that has only one.
    #[inline]
    pub fn even(&self, id: FormId, y: usize) -> Option<Class> {
        let is_even = self.list[id as usize].even >> y & 1 == 1;
        is_even.then(|| self.line(id, y)[0])
    }

    /// How a line is told, if that was worked out.
    #[inline]
    pub fn steps(&self, id: FormId, y: usize) -> &[Step] {
        let Some(way) = &self.list[id as usize].way else { return &[] };
        let Range { start, end } = self.lines[way.lines + y];
        &self.steps[start as usize..end as usize]
    }

    /// How many pixels of each class are told.
    #[inline]
    pub fn inks(&self, id: FormId) -> &[(Class, u32)] {
        let way = self.list[id as usize].way.as_ref();
        way.map_or(&[], |way| &self.inks[way.inks.clone()])
    }

    /// All repetitions.
    pub fn agains(&self, id: FormId) -> impl Iterator<Item = Again> {
        let steps = (0..self.pen.cell.h).flat_map(move |y| self.steps(id, y));
        steps.filter_map(|step| match step {
            Step::Pixel(_) => None,
            Step::Again(again) => Some(*again),
        })
    }

    pub fn count(&self) -> usize {
        self.list.len()
    }
}
