//! What is remembered of one terminal's pictures: its colours, and its rows drawn and packed.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::Cell;
use super::deflate;
use super::glyphs::Glyphs;
use super::png;
use super::ramps::{AllColors, Paint, Paints, Palette, Pixel};
use super::raster::{self, Band};
use crate::view::sheet::{Sheet, SheetRow};

/// Packed rows kept, by number and by bytes; then all are let go.
const MAX_STRIPS: usize = 2048;
const MAX_BOOK_BYTES: usize = 8 << 20;
/// Looks kept; more than any screen but one painted cell by cell.
const MAX_PAINTS: usize = 1 << 16;
/// Shades of a colour pair, tried in this order until the palette holds all pairs.
const SHADE_STEPS: [usize; 3] = [8, 6, 4];
/// With more looks than this a palette is not tried again.
const FEW_LOOKS: usize = 128;

pub struct Book {
    who: u64,
    cell: Cell,
    ink: Ink,
}

/// Indexed as long as 256 colours do.
enum Ink {
    Indexed(Rows<Palette>),
    Full(Rows<AllColors>),
}

impl Book {
    pub fn new(who: u64, cell: Cell) -> Book {
        Book { who, cell, ink: Ink::Indexed(Rows::new(Palette::new(SHADE_STEPS[0]))) }
    }

    pub fn serves(&self, who: u64, cell: Cell) -> bool {
        self.who == who && self.cell == cell
    }

    pub fn is_of(&self, who: u64) -> bool {
        self.who == who
    }

    pub fn png(&mut self, sheet: &Sheet, glyphs: &mut Glyphs) -> Vec<u8> {
        let ids = self.choose_colors(sheet);
        let width = (sheet.gutter + sheet.cols) * self.cell.w;
        let height = sheet.rows.len() * self.cell.h;
        let head = png::Head { width, height, palette: self.palette() };
        match &mut self.ink {
            Ink::Indexed(rows) => rows.png(sheet, &ids, self.cell, glyphs, head),
            Ink::Full(rows) => rows.png(sheet, &ids, self.cell, glyphs, head),
        }
    }

    pub fn draw_only(&mut self, sheet: &Sheet, cell: Cell, glyphs: &mut Glyphs) {
        let ids = self.choose_colors(sheet);
        match &mut self.ink {
            Ink::Indexed(rows) => sheet.rows.iter().for_each(|r| rows.draw(r, &ids, cell, glyphs)),
            Ink::Full(rows) => sheet.rows.iter().for_each(|r| rows.draw(r, &ids, cell, glyphs)),
        }
    }

    pub fn forget_rows(&mut self) {
        match &mut self.ink {
            Ink::Indexed(rows) => rows.forget(),
            Ink::Full(rows) => rows.forget(),
        }
    }

    fn palette(&self) -> Option<Vec<u8>> {
        match &self.ink {
            Ink::Indexed(rows) => {
                Some(rows.paints.colors.iter().flat_map(|c| [c.0, c.1, c.2]).collect())
            }
            Ink::Full(_) => None,
        }
    }

    /// Gives each look of the sheet its place, with fewer shades or all colours if need be.
    fn choose_colors(&mut self, sheet: &Sheet) -> Vec<u32> {
        let known = match &mut self.ink {
            Ink::Indexed(rows) => rows.learn(sheet),
            Ink::Full(rows) if sheet.inks.len() > FEW_LOOKS => rows.learn(sheet),
            Ink::Full(_) => None,
        };
        if let Some(ids) = known {
            return ids;
        }
        for shades in SHADE_STEPS {
            let mut rows = Rows::new(Palette::new(shades));
            if let Some(ids) = rows.learn(sheet) {
                self.ink = Ink::Indexed(rows);
                return ids;
            }
        }
        let mut rows = Rows::new(AllColors);
        let ids = rows.learn(sheet).unwrap_or_default();
        self.ink = Ink::Full(rows);
        ids
    }
}

/// A row by its number among those seen.
type RowId = u32;
/// There is no row above the first.
const NONE: RowId = RowId::MAX;

/// Rows in one kind of pixel.
struct Rows<C: Paints> {
    paints: C,
    looks: Vec<Paint<C::Pixel>>,
    known: HashMap<(u64, u64), u32>,
    rows: HashMap<Box<[u64]>, RowId, BuildHasherDefault<Mixer>>,
    /// A row packed after the row above it, of which it repeats what it can.
    strips: HashMap<(RowId, RowId), png::Strip, BuildHasherDefault<Mixer>>,
    /// Bytes of keys and strips.
    bytes: usize,
    band: Band<C::Pixel>,
    /// The lines of the row drawn last, and which it is.
    drawn: (RowId, Vec<u8>),
    raw: Vec<u8>,
}

impl<C: Paints> Rows<C> {
    fn new(paints: C) -> Rows<C> {
        Rows {
            paints,
            looks: Vec::new(),
            known: HashMap::new(),
            rows: HashMap::default(),
            strips: HashMap::default(),
            bytes: 0,
            band: Band::new(),
            drawn: (NONE, Vec::new()),
            raw: Vec::new(),
        }
    }

    /// The place of each ink's look; None when the colours do not fit.
    fn learn(&mut self, sheet: &Sheet) -> Option<Vec<u32>> {
        if self.looks.len() + sheet.inks.len() > MAX_PAINTS {
            self.looks.clear();
            self.known.clear();
            self.forget();
        }
        let mut ids = Vec::with_capacity(sheet.inks.len());
        for ink in &sheet.inks {
            let key = ink.look.key();
            let id = match self.known.get(&key) {
                Some(id) => *id,
                None => {
                    self.looks.push(Paint::new(ink.look, &mut self.paints)?);
                    let id = (self.looks.len() - 1) as u32;
                    self.known.insert(key, id);
                    id
                }
            };
            ids.push(id);
        }
        Some(ids)
    }

    fn png(
        &mut self,
        sheet: &Sheet,
        ids: &[u32],
        cell: Cell,
        glyphs: &mut Glyphs,
        head: png::Head,
    ) -> Vec<u8> {
        if self.strips.len() > MAX_STRIPS || self.bytes > MAX_BOOK_BYTES {
            self.forget();
        }
        let mut writer = png::Writer::new(head);
        let (mut key, mut above) = (Vec::new(), NONE);
        for (at, row) in sheet.rows.iter().enumerate() {
            make_key(row, ids, &mut key);
            let id = self.row_id(&key);
            if !self.strips.contains_key(&(id, above)) {
                let before = at.checked_sub(1).map(|at| &sheet.rows[at]);
                self.pack(row, before, (id, above), |rows, row| rows.draw(row, ids, cell, glyphs));
            }
            if let Some(strip) = self.strips.get(&(id, above)) {
                writer.add(strip);
            }
            above = id;
        }
        writer.finish()
    }

    fn row_id(&mut self, key: &[u64]) -> RowId {
        if let Some(id) = self.rows.get(key) {
            return *id;
        }
        let id = self.rows.len() as RowId;
        self.rows.insert(key.into(), id);
        self.bytes += size_of_val(key);
        id
    }

    /// Draws a row and packs it; what stands above it may have to be drawn again for that.
    fn pack(
        &mut self,
        row: &SheetRow,
        before: Option<&SheetRow>,
        (id, above): (RowId, RowId),
        mut draw: impl FnMut(&mut Self, &SheetRow),
    ) {
        self.raw.clear();
        if let Some(before) = before {
            if self.drawn.0 != above {
                draw(self, before);
                self.drawn.1.clear();
                put_lines(&self.band, &mut self.drawn.1);
            }
            self.raw.extend_from_slice(&self.drawn.1);
        }
        draw(self, row);
        let from = self.raw.len();
        put_lines(&self.band, &mut self.raw);
        let mut bytes = Vec::new();
        deflate::pack(&self.raw, from, 1 + self.band.w * C::Pixel::CHANNELS, &mut bytes);
        let strip = png::Strip::new(bytes, &self.raw[from..]);
        self.bytes += strip.bytes.len();
        self.strips.insert((id, above), strip);
        self.drawn.0 = id;
        self.drawn.1.clear();
        self.drawn.1.extend_from_slice(&self.raw[from..]);
    }

    fn draw(&mut self, row: &SheetRow, ids: &[u32], cell: Cell, glyphs: &mut Glyphs) {
        let looks = &self.looks;
        let paint_of = |ink: u32| &looks[ids[ink as usize] as usize];
        raster::draw(row, cell, glyphs, paint_of, &mut self.band);
    }

    /// Lets all rows go; their numbers begin anew.
    fn forget(&mut self) {
        self.rows.clear();
        self.strips.clear();
        self.bytes = 0;
        self.drawn.0 = NONE;
    }
}

/// The band's lines, each after a zero: the pixels are as they are, without a filter.
fn put_lines<P: Pixel>(band: &Band<P>, raw: &mut Vec<u8>) {
    for line in band.pixels.chunks_exact(band.w.max(1)) {
        raw.push(0);
        raw.extend_from_slice(P::bytes(line));
    }
}

/// All that decides how a row looks: a number for each tile, and what is joined to them.
fn make_key(row: &SheetRow, ids: &[u32], key: &mut Vec<u64>) {
    key.clear();
    key.extend(row.tiles.iter().map(|tile| {
        let id = u64::from(ids[tile.ink as usize]);
        u64::from(u32::from(tile.ch)) | u64::from(tile.width) << 21 | id << 24
    }));
    key.extend(row.joined.iter().map(|(at, c)| u64::from(*at) << 32 | u64::from(u32::from(*c))));
}

/// Keys are numbers already: multiplying them is enough to spread them.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, length: usize) {
        self.write_u64(length as u64);
    }
}
