//! What is remembered of one terminal's pictures: its colours, and its rows drawn and packed.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use super::Cell;
use super::glyphs::Glyphs;
use super::mixer::Mixer;
use super::png;
use super::ramps::{AllColors, Paint, Paints, Palette, Pixel};
use super::raster::{self, Band};
use super::search;
use super::strips;
use super::tiles::{TileId, Tiles};
use crate::view::look::Look;
use crate::view::sheet::{Sheet, SheetRow, Tile};

/// Packed rows kept, by number and by bytes; then all are let go.
const MAX_STRIPS: usize = 2048;
const MAX_BOOK_BYTES: usize = 8 << 20;
/// Looks kept; more than any screen but one painted cell by cell.
const MAX_PAINTS: usize = 1 << 16;
/// Shades of a colour pair, tried in this order until the palette holds all pairs.
const SHADE_STEPS: [usize; 3] = [8, 6, 4];
/// Bytes of pixels whose rows are packed at a time, with common codes.
const BATCH_BYTES: usize = 4 << 20;
/// With so many letters to pack at a time, they are packed as tiles: faster by three times, and
/// larger by a fourth.
const MANY_LETTERS: usize = 3000;
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
        Book { who, cell, ink: Ink::Indexed(Rows::new(Palette::new(SHADE_STEPS[0]), cell)) }
    }

    /// For pictures that follow one another and have these looks and no others; with all colours
    /// if there are too many to be named.
    pub fn of_looks(cell: Cell, looks: Option<&[Look]>) -> Book {
        let mut book = Book::new(0, cell);
        for (looks, shades) in looks.iter().flat_map(|looks| SHADE_STEPS.map(|n| (looks, n))) {
            let mut rows = Rows::new(Palette::new(shades), cell);
            if rows.learn(looks.iter().copied()).is_some() {
                book.ink = Ink::Indexed(rows);
                return book;
            }
        }
        book.ink = Ink::Full(Rows::new(AllColors, cell));
        book
    }

    /// The place of each ink's look, the colours staying as they are.
    pub fn ids(&mut self, sheet: &Sheet) -> Vec<u32> {
        let known = match &mut self.ink {
            Ink::Indexed(rows) => rows.learn(sheet.looks()),
            Ink::Full(rows) => rows.learn(sheet.looks()),
        };
        known.unwrap_or_default()
    }

    /// The pixels of rows, line by line.
    pub fn pixels(&mut self, rows: &[SheetRow], ids: &[u32], glyphs: &mut Glyphs) -> Vec<u8> {
        match &mut self.ink {
            Ink::Indexed(ink) => ink.pixels(rows, ids, glyphs),
            Ink::Full(ink) => ink.pixels(rows, ids, glyphs),
        }
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
            Ink::Indexed(rows) => rows.png(sheet, &ids, glyphs, head),
            Ink::Full(rows) => rows.png(sheet, &ids, glyphs, head),
        }
    }

    pub fn draw_only(&mut self, sheet: &Sheet, glyphs: &mut Glyphs) {
        let ids = self.choose_colors(sheet);
        match &mut self.ink {
            Ink::Indexed(rows) => rows.draw_only(sheet, &ids, glyphs),
            Ink::Full(rows) => rows.draw_only(sheet, &ids, glyphs),
        }
    }

    pub fn forget_rows(&mut self) {
        match &mut self.ink {
            Ink::Indexed(rows) => rows.forget(),
            Ink::Full(rows) => rows.forget(),
        }
    }

    /// Red, green and blue of each index; None if the pixels are colours themselves.
    pub fn palette(&self) -> Option<Vec<u8>> {
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
            Ink::Indexed(rows) => rows.learn(sheet.looks()),
            Ink::Full(rows) if sheet.inks.len() > FEW_LOOKS => rows.learn(sheet.looks()),
            Ink::Full(_) => None,
        };
        if let Some(ids) = known {
            return ids;
        }
        for shades in SHADE_STEPS {
            let mut rows = Rows::new(Palette::new(shades), self.cell);
            if let Some(ids) = rows.learn(sheet.looks()) {
                self.ink = Ink::Indexed(rows);
                return ids;
            }
        }
        if let Ink::Indexed(_) = self.ink {
            self.ink = Ink::Full(Rows::new(AllColors, self.cell));
        }
        self.ids(sheet)
    }
}

/// A row by its number among those seen.
type RowId = u32;
/// There is no row above the first.
const NONE: RowId = RowId::MAX;

/// Rows in one kind of pixel.
struct Rows<C: Paints> {
    cell: Cell,
    paints: C,
    looks: Vec<Paint<C::Pixel>>,
    known: HashMap<(u64, u64), u32>,
    rows: HashMap<Box<[u64]>, RowId, BuildHasherDefault<Mixer>>,
    /// A row packed after the row above it, of which it repeats what it can.
    strips: HashMap<(RowId, RowId), png::Strip, BuildHasherDefault<Mixer>>,
    /// Bytes of keys and strips.
    bytes: usize,
    band: Band<C::Pixel>,
    tiles: Tiles,
}

/// A row that is to be packed: where it stands, and what its strip is known by.
#[derive(Clone, Copy)]
struct Wanted {
    at: usize,
    name: (RowId, RowId),
}

impl<C: Paints> Rows<C> {
    fn new(paints: C, cell: Cell) -> Rows<C> {
        let pixel = C::Pixel::CHANNELS;
        Rows {
            cell,
            paints,
            looks: Vec::new(),
            known: HashMap::new(),
            rows: HashMap::default(),
            strips: HashMap::default(),
            bytes: 0,
            band: Band::new(),
            tiles: Tiles::new(cell.w * pixel, pixel, cell.h),
        }
    }

    /// The place of each look; None when the colours do not fit.
    fn learn(&mut self, looks: impl ExactSizeIterator<Item = Look>) -> Option<Vec<u32>> {
        if self.looks.len() + looks.len() > MAX_PAINTS {
            self.looks.clear();
            self.known.clear();
            self.forget();
        }
        let mut ids = Vec::with_capacity(looks.len());
        for look in looks {
            let key = look.key();
            let id = match self.known.get(&key) {
                Some(id) => *id,
                None => {
                    self.looks.push(Paint::new(look, &mut self.paints)?);
                    let id = (self.looks.len() - 1) as u32;
                    self.known.insert(key, id);
                    id
                }
            };
            ids.push(id);
        }
        Some(ids)
    }

    fn png(&mut self, sheet: &Sheet, ids: &[u32], glyphs: &mut Glyphs, head: png::Head) -> Vec<u8> {
        if self.strips.len() > MAX_STRIPS || self.bytes > MAX_BOOK_BYTES {
            self.forget();
        }
        let names = self.names(sheet, ids);
        let wanted = self.wanted(&names);
        let row_bytes = (sheet.gutter + sheet.cols) * self.tiles.pitch * self.cell.h;
        for batch in wanted.chunks((BATCH_BYTES / row_bytes.max(1)).max(1)) {
            self.pack(sheet, ids, glyphs, batch);
        }
        png::write(head, names.iter().filter_map(|name| self.strips.get(name)))
    }

    /// What the strip of each row is known by.
    fn names(&mut self, sheet: &Sheet, ids: &[u32]) -> Vec<(RowId, RowId)> {
        let (mut key, mut above) = (Vec::new(), NONE);
        let mut name = |row: &SheetRow| {
            make_key(row, ids, &mut key);
            let id = self.row_id(&key);
            (id, std::mem::replace(&mut above, id))
        };
        sheet.rows.iter().map(&mut name).collect()
    }

    /// The rows whose strips are not there yet, each once.
    fn wanted(&self, names: &[(RowId, RowId)]) -> Vec<Wanted> {
        let mut new = HashSet::new();
        let all = names.iter().enumerate().map(|(at, name)| Wanted { at, name: *name });
        all.filter(|row| !self.strips.contains_key(&row.name) && new.insert(row.name)).collect()
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

    /// Draws the tiles of rows and of those above them, and packs the rows.
    fn pack(&mut self, sheet: &Sheet, ids: &[u32], glyphs: &mut Glyphs, batch: &[Wanted]) {
        self.tiles.clear();
        let mut laid = Vec::new();
        let mut places = Vec::with_capacity(batch.len());
        let mut last = None;
        for row in batch {
            let above = row.at.checked_sub(1);
            if let Some(at) = above.filter(|_| last != above) {
                self.lay(&sheet.rows[at], ids, glyphs, &mut laid);
            }
            let start = laid.len();
            self.lay(&sheet.rows[row.at], ids, glyphs, &mut laid);
            let columns = laid.len() - start;
            places.push((above.map(|_| start - columns..start), start..laid.len()));
            last = Some(row.at);
        }
        let pairs = places.into_iter().map(|(above, own)| (above.map(|at| &laid[at]), &laid[own]));
        let letters = batch.iter().map(|row| letters(&sheet.rows[row.at])).sum::<usize>();
        let as_tiles = letters >= MANY_LETTERS && self.tiles.pixel == 1;
        let strips = match as_tiles && strips::can_pack(&self.tiles, sheet.gutter + sheet.cols) {
            true => strips::pack(&self.tiles, pairs.clone()),
            false => self.search(pairs.clone()),
        };
        for ((row, bytes), (_, own)) in batch.iter().zip(strips).zip(pairs) {
            self.bytes += bytes.len();
            self.strips.insert(row.name, png::Strip::new(bytes, self.tiles.sum(own)));
        }
    }

    /// Packs rows by looking for what comes again, byte by byte.
    fn search<'a>(
        &self,
        rows: impl Iterator<Item = (Option<&'a [TileId]>, &'a [TileId])>,
    ) -> Vec<Vec<u8>> {
        let (mut raw, mut last) = (Vec::new(), None);
        let pack = |(above, own): (Option<&'a [TileId]>, &'a [TileId])| {
            if let Some(above) = above.filter(|above| last != Some(above.as_ptr())) {
                self.tiles.put_lines(above, &mut raw);
            }
            let (stride, from) = (1 + own.len() * self.tiles.pitch, raw.len());
            let first = above.map_or(from, |_| from - stride * self.cell.h);
            self.tiles.put_lines(own, &mut raw);
            last = Some(own.as_ptr());
            search::pack(&raw[first..], from - first, stride)
        };
        rows.map(pack).collect()
    }

    /// The tiles of a row, those drawn that have not been yet.
    fn lay(&mut self, row: &SheetRow, ids: &[u32], glyphs: &mut Glyphs, laid: &mut Vec<TileId>) {
        for (at, tile) in row.tiles.iter().enumerate().filter(|(_, tile)| tile.width > 0) {
            let look = ids[tile.ink as usize];
            let phase = raster::phase(&self.looks[look as usize].look, self.cell, *tile, at);
            let key = tile_key(tile, look) | (phase as u64) << 56;
            let alone = row.joined.is_empty() || row.joined_at(at).next().is_none();
            let id = match self.tiles.known(key).filter(|_| alone) {
                Some(id) => id,
                None => {
                    let id = self.draw(row, at, look, glyphs);
                    if alone {
                        self.tiles.name(key, id);
                    }
                    id
                }
            };
            laid.extend(id..id + u32::from(tile.width));
        }
    }

    /// Draws the tile at a place, a wide one as several.
    fn draw(&mut self, row: &SheetRow, at: usize, look: u32, glyphs: &mut Glyphs) -> TileId {
        let paint = &self.looks[look as usize];
        raster::draw(row, at, self.cell, glyphs, paint, &mut self.band);
        let (w, pixels) = (self.cell.w, &self.band.pixels);
        let mut add = |part: usize| {
            let lines = pixels.chunks_exact(self.band.w);
            self.tiles.add(lines.map(|line| C::Pixel::bytes(&line[part * w..][..w])))
        };
        let id = add(0);
        for part in 1..usize::from(row.tiles[at].width) {
            add(part);
        }
        id
    }

    fn pixels(&mut self, rows: &[SheetRow], ids: &[u32], glyphs: &mut Glyphs) -> Vec<u8> {
        self.tiles.clear();
        let mut pixels = Vec::new();
        for row in rows {
            let mut laid = Vec::with_capacity(row.tiles.len());
            self.lay(row, ids, glyphs, &mut laid);
            self.tiles.put_pixels(&laid, &mut pixels);
        }
        pixels
    }

    fn draw_only(&mut self, sheet: &Sheet, ids: &[u32], glyphs: &mut Glyphs) {
        self.tiles.clear();
        let mut laid = Vec::new();
        sheet.rows.iter().for_each(|row| self.lay(row, ids, glyphs, &mut laid));
    }

    /// Lets all rows go; their numbers begin anew.
    fn forget(&mut self) {
        self.rows.clear();
        self.strips.clear();
        self.bytes = 0;
    }
}

fn letters(row: &SheetRow) -> usize {
    row.tiles.iter().filter(|tile| tile.ch != ' ').count()
}

/// All that decides how a row looks: a number for each tile, and what is joined to them.
pub fn make_key(row: &SheetRow, ids: &[u32], key: &mut Vec<u64>) {
    key.clear();
    key.extend(row.tiles.iter().map(|tile| tile_key(tile, ids[tile.ink as usize])));
    key.extend(row.joined.iter().map(|(at, c)| u64::from(*at) << 32 | u64::from(u32::from(*c))));
}

/// All that decides how a tile looks, but for what is joined to it.
fn tile_key(tile: &Tile, look: u32) -> u64 {
    let size = u64::from(tile.width) << 21 | (tile.size as u64) << 54;
    u64::from(u32::from(tile.ch)) | size | u64::from(look) << 24
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::term::{Limits, Size, Terminal};
    use crate::view::sheet::{Manner, lay_out};
    use crate::view::theme::Theme;

    fn of_colors(count: u8) -> Sheet {
        let size = Size { cols: 80, rows: 4 };
        let mut term = Terminal::new(size, Limits { lines: 10, bytes: 1 << 16 });
        let text = (0..count).fold(String::new(), |mut text, n| {
            let _ = write!(text, "\x1b[38;5;{n}mx");
            text
        });
        term.feed(text.as_bytes(), &mut Vec::new());
        let (theme, cols) = (Theme::default(), 0..usize::from(size.cols));
        let manner =
            Manner { cols, cursor: false, gutter: None, highlight: None, theme, double: false };
        lay_out(&term.snapshot(0..size.rows), &manner)
    }

    #[test]
    fn rows_are_kept_with_few_colors_with_many_and_in_between() {
        let cell = Cell::of_scale(50, 0);
        for colors in [8, 40, 60, 84, 86, 100, 127, 129, 250] {
            let sheet = of_colors(colors);
            let mut book = Book::new(0, cell);
            book.png(&sheet, &mut Glyphs::new(cell));
            book.choose_colors(&sheet);
            let strips = match &book.ink {
                Ink::Indexed(rows) => rows.strips.len(),
                Ink::Full(rows) => rows.strips.len(),
            };
            assert!(strips > 0, "{colors}");
        }
    }
}
