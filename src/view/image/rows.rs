//! The rows of one terminal's pictures: laid, packed, and remembered.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::Cell;
use super::cells::{Meaning, Place};
use super::codes;
use super::forms::Forms;
use super::glyphs::Glyphs;
use super::mixer::Mixer;
use super::png;
use super::ramps::{Paint, Paints, Pixel};
use super::search;
use super::strips;
use crate::view::look::Look;
use crate::view::sheet::{Sheet, SheetRow, Tile};

/// Packed rows kept, by number and by bytes; then all are let go.
const MAX_STRIPS: usize = 2048;
const MAX_BOOK_BYTES: usize = 8 << 20;
/// Looks kept; more than any screen but one painted cell by cell.
const MAX_PAINTS: usize = 1 << 16;
/// Pixels and cells whose rows are packed at a time, with common codes.
const BATCH_PIXELS: usize = 4 << 20;
const BATCH_CELLS: usize = codes::MAX_LOOKS;
/// With so many letters to pack, they are packed as cells: faster by three times, and
/// larger by a fourth. In red, green and blue searching takes three times as long as here, and all
/// are packed so.
const MANY_LETTERS: usize = 3000;

/// A row by its number among those seen.
type RowId = u32;
/// There is no row above the first.
const NONE: RowId = RowId::MAX;

/// Rows in one kind of pixel.
pub struct Rows<C: Paints> {
    cell: Cell,
    pub paints: C,
    looks: Vec<Paint<C::Pixel>>,
    /// What tells each of them apart.
    keys: Vec<(u64, u64)>,
    known: HashMap<(u64, u64), u32, BuildHasherDefault<Mixer>>,
    rows: HashMap<Box<[u64]>, RowId, BuildHasherDefault<Mixer>>,
    /// A row packed after the row above it, of which it repeats what it can.
    strips: HashMap<(RowId, RowId), png::Strip, BuildHasherDefault<Mixer>>,
    /// Bytes of keys and strips.
    bytes: usize,
    forms: Forms,
}

/// Rows of a sheet as places, each with the one above it.
struct Laid {
    places: Vec<Place>,
    rows: Vec<(Option<Range<usize>>, Range<usize>)>,
}

impl Laid {
    fn rows(&self) -> impl Iterator<Item = (Option<&[Place]>, &[Place])> + Clone {
        let places = |at: &Range<usize>| &self.places[at.clone()];
        self.rows.iter().map(move |(above, own)| (above.as_ref().map(places), places(own)))
    }

    fn columns(&self) -> usize {
        self.rows.first().map_or(0, |(_, own)| own.len())
    }
}

/// A row that is to be packed: where it stands, and what its strip is known by.
#[derive(Clone, Copy)]
struct Wanted {
    at: usize,
    name: (RowId, RowId),
}

impl<C: Paints> Rows<C> {
    pub fn new(paints: C, cell: Cell) -> Rows<C> {
        let forms = Forms::new(cell, paints.shades());
        Rows {
            cell,
            paints,
            looks: Vec::new(),
            keys: Vec::new(),
            known: HashMap::default(),
            rows: HashMap::default(),
            strips: HashMap::default(),
            bytes: 0,
            forms,
        }
    }

    /// The place of each look; None when the colours do not fit.
    pub fn learn(&mut self, looks: impl ExactSizeIterator<Item = Look>) -> Option<Vec<u32>> {
        if self.looks.len() + looks.len() > MAX_PAINTS {
            self.looks.clear();
            self.keys.clear();
            self.known.clear();
            self.forget();
        }
        let mut ids = Vec::with_capacity(looks.len());
        for look in looks {
            let key = look.key();
            // Looks mostly come in the order in which they came the first time.
            let next = ids.last().map_or(0, |id| id + 1);
            let id = match self.keys.get(next as usize) {
                Some(known) if *known == key => next,
                _ => self.id(look, key)?,
            };
            ids.push(id);
        }
        Some(ids)
    }

    fn id(&mut self, look: Look, key: (u64, u64)) -> Option<u32> {
        if let Some(id) = self.known.get(&key) {
            return Some(*id);
        }
        let id = self.looks.len() as u32;
        self.looks.push(Paint::new(look, &mut self.paints)?);
        self.keys.push(key);
        self.known.insert(key, id);
        Some(id)
    }

    pub fn png(
        &mut self,
        sheet: &Sheet,
        ids: &[u32],
        glyphs: &mut Glyphs,
        head: png::Head,
    ) -> Vec<u8> {
        if self.strips.len() > MAX_STRIPS || self.bytes > MAX_BOOK_BYTES {
            self.forget();
        }
        let names = self.names(sheet, ids);
        let wanted = self.wanted(&names);
        let columns = (sheet.gutter + sheet.cols).max(1);
        let rows = (BATCH_PIXELS / (self.cell.w * self.cell.h)).min(BATCH_CELLS) / columns;
        let letters = wanted.iter().map(|row| letters(&sheet.rows[row.at])).sum::<usize>();
        let many = C::Pixel::CHANNELS > 1 || letters >= MANY_LETTERS;
        for batch in wanted.chunks(rows.max(1)) {
            let laid = self.lay_all(sheet, ids, glyphs, batch);
            self.pack(&laid, many, batch);
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

    /// Packs rows, each after the one above it.
    fn pack(&mut self, laid: &Laid, many: bool, batch: &[Wanted]) {
        let strips = match many && strips::can_pack(self.meaning().pitch(), laid.columns()) {
            true => self.pack_cells(laid),
            false => search_all(self.meaning(), laid.rows()),
        };
        for ((row, bytes), (_, own)) in batch.iter().zip(strips).zip(laid.rows()) {
            let strip = png::Strip::new(bytes, self.meaning().sum(own));
            self.bytes += strip.bytes.len();
            self.strips.insert(row.name, strip);
        }
    }

    /// Lays rows, and those above them.
    fn lay_all(
        &mut self,
        sheet: &Sheet,
        ids: &[u32],
        glyphs: &mut Glyphs,
        batch: &[Wanted],
    ) -> Laid {
        self.forms.tidy();
        let (mut places, mut rows) = (Vec::new(), Vec::with_capacity(batch.len()));
        let mut last = None;
        for row in batch {
            let above = row.at.checked_sub(1);
            if let Some(at) = above.filter(|_| last != above) {
                self.lay(&sheet.rows[at], ids, glyphs, &mut places);
            }
            let start = places.len();
            self.lay(&sheet.rows[row.at], ids, glyphs, &mut places);
            let columns = places.len() - start;
            rows.push((above.map(|_| start - columns..start), start..places.len()));
            last = Some(row.at);
        }
        Laid { places, rows }
    }

    /// Packs rows without looking at pixels.
    fn pack_cells(&mut self, laid: &Laid) -> Vec<Vec<u8>> {
        let reach = strips::reach(self.meaning().pitch(), laid.columns());
        let forms = laid.places.iter().map(|place| place.form);
        self.forms.work_out(forms, C::Pixel::CHANNELS, reach);
        strips::pack(self.meaning(), self.paints.values(), laid.rows())
    }

    fn meaning(&self) -> Meaning<'_, C::Pixel> {
        Meaning { forms: &self.forms, looks: &self.looks }
    }

    /// The places of a row's tiles; forms are drawn that have not been yet.
    fn lay(&mut self, row: &SheetRow, ids: &[u32], glyphs: &mut Glyphs, laid: &mut Vec<Place>) {
        for (at, tile) in row.tiles.iter().enumerate().filter(|(_, tile)| tile.width > 0) {
            let look = ids[tile.ink as usize];
            let first = self.forms.get(row, at, &self.looks[look as usize].look, glyphs);
            let forms = first..first + u32::from(tile.width);
            laid.extend(forms.map(|form| Place { form, look }));
        }
    }

    pub fn pixels(&mut self, rows: &[SheetRow], ids: &[u32], glyphs: &mut Glyphs) -> Vec<u8> {
        self.forms.tidy();
        let mut pixels = Vec::new();
        for row in rows {
            let mut laid = Vec::with_capacity(row.tiles.len());
            self.lay(row, ids, glyphs, &mut laid);
            self.meaning().put_lines(&laid, 0, &mut pixels);
        }
        pixels
    }

    pub fn draw_only(&mut self, sheet: &Sheet, ids: &[u32], glyphs: &mut Glyphs) {
        self.forms.tidy();
        let mut laid = Vec::new();
        sheet.rows.iter().for_each(|row| self.lay(row, ids, glyphs, &mut laid));
    }

    /// Packed rows that are remembered.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.strips.len()
    }

    /// Lets all rows go; their numbers begin anew.
    pub fn forget(&mut self) {
        self.rows.clear();
        self.strips.clear();
        self.bytes = 0;
    }
}

/// Packs rows by looking for what comes again, byte by byte.
fn search_all<'a, P: Pixel>(
    meaning: Meaning<P>,
    rows: impl Iterator<Item = (Option<&'a [Place]>, &'a [Place])>,
) -> Vec<Vec<u8>> {
    let (mut raw, mut last) = (Vec::new(), None);
    let pack = |(above, own): (Option<&'a [Place]>, &'a [Place])| {
        if let Some(above) = above.filter(|above| last != Some(above.as_ptr())) {
            meaning.put_lines(above, 1, &mut raw);
        }
        let (stride, from) = (1 + own.len() * meaning.pitch(), raw.len());
        meaning.put_lines(own, 1, &mut raw);
        let first = above.map_or(from, |_| 2 * from - raw.len());
        last = Some(own.as_ptr());
        search::pack(&raw[first..], from - first, stride)
    };
    rows.map(pack).collect()
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
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;
    use crate::term::{Limits, Size, Terminal};
    use crate::view::image::deflate;
    use crate::view::image::ramps::{AllColors, Palette};
    use crate::view::sheet::{Manner, lay_out};
    use crate::view::theme::Theme;

    const COLS: u16 = 24;
    const ROWS: u16 = 4;

    fn sheet(cols: u16, rows: u16, bytes: &[u8]) -> Sheet {
        let mut term = Terminal::new(Size { cols, rows }, Limits { lines: 10, bytes: 1 << 16 });
        term.feed(bytes, &mut Vec::new());
        let (theme, cols) = (Theme::default(), 0..usize::from(cols));
        let manner =
            Manner { cols, cursor: true, gutter: None, highlight: None, theme, double: true };
        lay_out(&term.snapshot(0..rows), &manner)
    }

    /// Anything that a cell can show, by a number.
    fn shown(what: u32) -> String {
        const ATTRIBUTES: [&str; 16] = [
            "0", "1", "3", "7", "8", "9", "53", "4", "4:2", "4:3", "4:4", "4:5", "2", "31", "44",
            "58:5:3",
        ];
        let n = what >> 5;
        match what % 32 {
            0..3 => format!("\x1b[{}m", ATTRIBUTES[n as usize % ATTRIBUTES.len()]),
            3 => format!("\x1b[38;5;{}m", n % 256),
            4 => format!("\x1b[38;2;{};{};9;48;2;7;{};{}m", n % 256, n % 7, n % 11, n % 251),
            5 => "日本語".chars().nth(n as usize % 3).into_iter().collect(),
            6 => "e\u{301}".into(),
            7 => format!("\x1b]8;;http://{n}\x1b\\x\x1b]8;;\x1b\\"),
            8 => format!("\x1b[{} q", n % 7),
            9 => ["\x1b#3", "\x1b#4", "\x1b#6", "\x1b#5"][n as usize % 4].into(),
            10 => format!("\x1b[{};{}H", n % 4 + 1, n % 23 + 1),
            11 => "█▀─│┼▒".chars().nth(n as usize % 6).into_iter().collect(),
            12 => "      ".into(),
            13 => "same same same".into(),
            _ => char::from(33 + (n % 94) as u8).to_string(),
        }
    }

    /// Packs a sheet's rows in both ways, and compares what comes out with the drawing.
    fn check<C: Paints>(paints: C, sheet: &Sheet, cell: Cell) -> Option<[usize; 2]> {
        let mut rows = Rows::new(paints, cell);
        let ids = rows.learn(sheet.looks())?;
        let batch: Vec<Wanted> =
            (0..sheet.rows.len()).map(|at| Wanted { at, name: (NONE, NONE) }).collect();
        let laid = rows.lay_all(sheet, &ids, &mut Glyphs::new(cell), &batch);
        let mut raw = Vec::new();
        laid.rows().for_each(|(_, own)| rows.meaning().put_lines(own, 1, &mut raw));
        let lines = raw.chunks_exact(raw.len() / sheet.rows.len());
        for ((_, own), lines) in laid.rows().zip(lines) {
            let sum = (lines.len(), simd_adler32::adler32(&lines));
            assert_eq!(rows.meaning().sum(own), sum, "{cell:?}");
        }
        let searched = search_all(rows.meaning(), laid.rows());
        assert!(unpacked(&searched) == raw, "{cell:?}");
        let can_pack = strips::can_pack(rows.meaning().pitch(), laid.columns());
        let packed = if can_pack { rows.pack_cells(&laid) } else { searched.clone() };
        let out = unpacked(&packed);
        let differs = out.iter().zip(&raw).position(|(a, b)| a != b);
        assert_eq!((differs, out.len()), (None, raw.len()), "{cell:?}");
        Some([packed.concat().len(), searched.concat().len()])
    }

    fn unpacked(strips: &[Vec<u8>]) -> Vec<u8> {
        let stream = [&strips.concat()[..], &deflate::LAST].concat();
        let mut out = Vec::new();
        flate2::read::DeflateDecoder::new(&stream[..]).read_to_end(&mut out).unwrap();
        out
    }

    fn check_all(sheet: &Sheet, cell: Cell) {
        for shades in [8, 6, 4] {
            check(Palette::new(shades), sheet, cell);
        }
        assert!(check(AllColors, sheet, cell).is_some());
    }

    #[test]
    fn rows_of_any_length_come_out_again() {
        let text: String =
            (0..6000_u32).map(|n| shown(n.wrapping_mul(2_654_435_761) >> 7)).collect();
        for (cols, w, pad) in [(300, 10, 0), (1000, 10, 1), (1100, 10, 0), (40, 40, 32), (5, 1, 0)]
        {
            check_all(&sheet(cols, 3, text.as_bytes()), Cell::new(w, pad));
        }
    }

    #[test]
    fn blank_rows_cost_little() {
        let sizes = check(Palette::new(8), &sheet(80, 3, b""), Cell::new(7, 0)).unwrap();
        assert!(sizes[0] < 300, "{sizes:?}");
    }

    fn decoded(picture: &[u8]) -> Vec<u8> {
        let mut decoder = ::png::Decoder::new(std::io::Cursor::new(picture));
        decoder.ignore_checksums(false);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        reader.finish().unwrap();
        pixels
    }

    /// Draws screens of which a row at a time changes, keeping what can be kept or nothing.
    fn check_turns<C: Paints>(paints: C, palette: Option<Vec<u8>>, colors: usize, keeps: bool) {
        let cell = Cell::new(7, 0);
        let (mut rows, mut glyphs) = (Rows::new(paints, cell), Glyphs::new(cell));
        let color = |n: usize, row: usize| format!("\x1b[38;5;{}m{row}", (n + row) % colors);
        let line = |row: usize| (0..100).map(|n| color(n, row)).collect::<String>();
        let mut text: Vec<String> = (0..40).map(line).collect();
        for turn in 0..4 {
            text[7 * turn] = format!("\x1b[7mturn {turn}\x1b[m");
            let sheet = sheet(200, 40, text.join("\r\n").as_bytes());
            let ids = rows.learn(sheet.looks()).unwrap();
            if !keeps {
                rows.forget();
            }
            let head = png::Head { width: 1400, height: 560, palette: palette.clone() };
            let picture = rows.png(&sheet, &ids, &mut glyphs, head);
            let pixels = rows.pixels(&sheet.rows, &ids, &mut glyphs);
            assert!(decoded(&picture) == pixels, "turn {turn} of {colors} colours");
        }
    }

    #[test]
    fn what_is_put_together_from_old_and_new_rows_is_whole() {
        for keeps in [true, false] {
            check_turns(AllColors, None, 140, keeps);
            check_turns(Palette::new(8), Some(vec![0; 768]), 6, keeps);
        }
    }

    proptest! {
        #[test]
        fn anything_comes_out_again(
            what in proptest::collection::vec(any::<u32>(), 1..200),
            w in 1_usize..14,
            pad in 0_usize..4,
        ) {
            let text: String = what.into_iter().map(shown).collect();
            check_all(&sheet(COLS, ROWS, text.as_bytes()), Cell::new(w, pad));
        }
    }
}
