//! The way back: bytes that bring another terminal to where this one is.

use super::cell::{Cell, LinkId};
use super::charset::{Charset, Charsets};
use super::grid::Grid;
use super::modes::{Kind, Mode};
use super::palette::{Rgb, Special};
use super::row::{LineSize, Row};
use super::screen::{Margins, Point, Protection, Saved};
use super::state::State;
use super::style::Style;
use super::{CursorShape, Terminal, sgr};
use std::fmt::Write;

impl Terminal {
    /// What a terminal of the same size has to be fed to show, and go on, as this one: text,
    /// looks, cursor, margins, modes, colours, and a sequence that is cut here. The scrollback,
    /// shell marks and what is kept on stacks are not among it.
    pub fn redraw(&self, out: &mut Vec<u8>) {
        let mut redraw = Redraw { state: &self.state, out: String::new(), ink: Look::default() };
        redraw.all();
        out.extend_from_slice(redraw.out.as_bytes());
        self.parser.unfinished(out);
    }
}

#[derive(Clone, Copy, PartialEq, Default)]
struct Look {
    style: Style,
    link: LinkId,
    protected: bool,
}

struct Redraw<'a> {
    state: &'a State,
    out: String,
    /// How the next character would look.
    ink: Look,
}

/// Set on their way, or not to be set at all: their numbers clear or resize the screen.
const APART: [Mode; 8] = [
    Mode::SyncOutput,
    Mode::Origin,
    Mode::LeftRightMargins,
    Mode::Columns132,
    Mode::SavedCursor,
    Mode::Alt47,
    Mode::Alt1047,
    Mode::Alt1049,
];

impl Redraw<'_> {
    fn all(&mut self) {
        let screen = &self.state.screen;
        self.out.push_str("\x1bc\x1b[?2026h");
        self.mode(Mode::Graphemes);
        self.colors();
        self.title();
        self.tabs();
        if screen.alt {
            self.screen(&screen.hidden, &screen.hidden_saved);
            self.keyboard(false);
            self.out.push_str("\x1b[?1047h");
        }
        self.screen(&screen.grid, &screen.saved);
        self.keyboard(screen.alt);
        self.margins();
        self.place(&screen.grid, screen.point, screen.modes.origin().then_some(screen.margins));
        let apart = |mode: &Mode| APART.contains(mode) || *mode == Mode::Graphemes;
        Mode::all().filter(|mode| !apart(mode)).for_each(|mode| self.mode(mode));
        self.pen(&Saved {
            point: screen.point,
            pen: screen.pen,
            charsets: screen.charsets,
            origin: false,
            protected: screen.protected,
        });
        self.link(screen.link);
        self.cursor();
        if !screen.modes.sync_output() {
            self.out.push_str("\x1b[?2026l");
        }
    }

    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(text);
    }

    /// Written only when it is not as it is at the start.
    fn mode(&mut self, mode: Mode) {
        let on = self.state.screen.modes.is(mode);
        if on != mode.default() {
            let (kind, number) = mode.number();
            let mark = if kind == Kind::Dec { "?" } else { "" };
            self.add(format_args!("\x1b[{mark}{number}{}", if on { 'h' } else { 'l' }));
        }
    }

    fn colors(&mut self) {
        let palette = &self.state.palette;
        for index in 0..=255 {
            if let Some(Rgb(r, g, b)) = palette.chosen(index) {
                self.add(format_args!("\x1b]4;{index};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\"));
            }
        }
        let specials =
            [(10, Special::Foreground), (11, Special::Background), (12, Special::Cursor)];
        for (number, which) in specials {
            if let Some(Rgb(r, g, b)) = palette.special(which) {
                self.add(format_args!("\x1b]{number};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\"));
            }
        }
    }

    fn title(&mut self) {
        if !self.state.title.is_empty() {
            self.add(format_args!("\x1b]2;{}\x1b\\", self.state.title));
        }
    }

    fn tabs(&mut self) {
        let tabs = &self.state.screen.tabs;
        if *tabs != super::tabs::Tabs::default() {
            self.out.push_str("\x1b[3g");
            for col in tabs.stops().take_while(|col| *col < self.state.screen.cols) {
                self.add(format_args!("\x1b[{}G\x1bH", col + 1));
            }
        }
    }

    fn screen(&mut self, grid: &Grid, saved: &Saved) {
        let mut goes_on = false;
        for y in 0..grid.height() {
            let next = (y + 1 < grid.height()).then(|| grid.row(y + 1));
            self.row(grid, y, goes_on, next);
            goes_on = grid.row(y).wraps && next.is_some();
        }
        self.look(Look::default());
        if *saved != Saved::default() {
            let margins = Margins::full(grid.cols(), grid.height());
            self.place(grid, saved.point, saved.origin.then_some(margins));
            self.pen(saved);
            self.out.push_str("\x1b7");
            self.pen(&Saved::default());
            self.out.push_str("\x1b[?6l");
        }
    }

    /// A row that the one before it wraps into is written without moving there.
    fn row(&mut self, grid: &Grid, y: usize, goes_on: bool, next: Option<&Row>) {
        let row = grid.row(y);
        let shown = |cell: &Cell| !cell.is_erased() || cell.style().0 != 0;
        let mut end = row.cells().iter().rposition(shown).map_or(0, |last| last + 1);
        if row.wraps && next.is_some() {
            // A wide character leaves the last column free by itself.
            let gap =
                row.cell(grid.cols() - 1).is_gap() && next.is_some_and(|n| n.cell(0).is_wide());
            end = grid.cols() - usize::from(gap);
        }
        if goes_on {
            end = end.max(1);
        } else if end > 0 || row.size != LineSize::Single {
            self.add(format_args!("\x1b[{}H", y + 1));
        }
        self.line_size(row.size);
        self.cells(row, 0, end);
    }

    fn line_size(&mut self, size: LineSize) {
        self.out.push_str(match size {
            LineSize::Single => "",
            LineSize::DoubleTop => "\x1b#3",
            LineSize::DoubleBottom => "\x1b#4",
            LineSize::DoubleWidth => "\x1b#6",
        });
    }

    fn cells(&mut self, row: &Row, from: usize, to: usize) {
        for col in from..to {
            let cell = row.cell(col);
            if cell.is_tail() {
                continue;
            }
            let style = self.state.screen.styles.get(cell.style());
            self.look(Look { style, link: cell.link(), protected: cell.is_protected() });
            // What would join the character before it is kept apart by a move to where it is.
            if col > from && u32::from(cell.char()) >= 0x300 && !cell.char().is_alphanumeric() {
                self.add(format_args!("\x1b[{}G", col + 1));
            }
            self.out.push(cell.char());
            self.out.extend(row.joined_at(col));
        }
    }

    fn look(&mut self, look: Look) {
        if look.style != self.ink.style {
            self.sgr(look.style);
        }
        if look.link != self.ink.link {
            self.link(look.link);
        }
        if look.protected != self.ink.protected {
            self.protect(look.protected);
        }
    }

    fn sgr(&mut self, style: Style) {
        self.add(format_args!("\x1b[{}m", sgr::numbers(style)));
        self.ink.style = style;
    }

    fn link(&mut self, id: LinkId) {
        if id == self.ink.link {
            return;
        }
        match self.state.screen.links.get(id) {
            None => self.out.push_str("\x1b]8;;\x1b\\"),
            Some(link) if link.id.is_empty() => {
                self.add(format_args!("\x1b]8;;{}\x1b\\", link.uri));
            }
            Some(link) => self.add(format_args!("\x1b]8;id={};{}\x1b\\", link.id, link.uri)),
        }
        self.ink.link = id;
    }

    fn protect(&mut self, on: bool) {
        let iso = self.state.screen.protection == Protection::Iso;
        self.out.push_str(match (iso, on) {
            (true, true) => "\x1bV",
            (true, false) => "\x1bW",
            (false, true) => "\x1b[1\"q",
            (false, false) => "\x1b[0\"q",
        });
        self.ink.protected = on;
    }

    fn margins(&mut self) {
        let screen = &self.state.screen;
        let Margins { top, bottom, left, right } = screen.margins;
        self.mode(Mode::LeftRightMargins);
        if (top, bottom) != (0, screen.rows - 1) {
            self.add(format_args!("\x1b[{};{}r", top + 1, bottom + 1));
        }
        if (left, right) != (0, screen.cols - 1) {
            self.add(format_args!("\x1b[{};{}s", left + 1, right + 1));
        }
    }

    /// With an origin, rows and columns count from there. With a wrap deferred the character
    /// before it is written once more.
    fn place(&mut self, grid: &Grid, point: Point, origin: Option<Margins>) {
        let cut = point.pending && grid.row(point.row).cell(point.col).is_tail();
        let start = point.col - usize::from(cut);
        let (mut y, mut x) = (point.row + 1, start + 1);
        if let Some(Margins { top, left, .. }) = origin {
            self.out.push_str("\x1b[?6h");
            (y, x) = (y.saturating_sub(top), x.saturating_sub(left));
        }
        self.add(format_args!("\x1b[{y};{x}H"));
        if point.pending {
            self.cells(grid.row(point.row), start, point.col + 1);
        }
    }

    fn pen(&mut self, saved: &Saved) {
        self.look(Look { style: saved.pen, link: LinkId(0), protected: saved.protected });
        self.charsets(saved.charsets);
    }

    fn charsets(&mut self, charsets: Charsets) {
        for (slot, set) in charsets.slots().into_iter().enumerate() {
            let name = match set {
                Charset::Ascii => 'B',
                Charset::LineDrawing => '0',
                Charset::Uk => 'A',
            };
            self.add(format_args!("\x1b{}{name}", ['(', ')', '*', '+'][slot]));
        }
        self.out.push_str(["\x0f", "\x0e", "\x1bn", "\x1bo"][charsets.active()]);
    }

    fn cursor(&mut self) {
        let shape = match self.state.shape {
            CursorShape::Block => 2,
            CursorShape::Underline => 4,
            CursorShape::Bar => 6,
        };
        let blinks = u8::from(self.state.screen.modes.is(Mode::CursorBlink));
        self.add(format_args!("\x1b[{} q", shape - blinks));
    }

    fn keyboard(&mut self, alt: bool) {
        let keyboards = &self.state.keyboards;
        for (at, flags) in keyboards.stacked(alt).enumerate() {
            let how = if at == 0 { '=' } else { '>' };
            self.add(format_args!("\x1b[{how}{flags}u"));
        }
        if keyboards.modify_other_keys > 0 {
            self.add(format_args!("\x1b[>4;{}m", keyboards.modify_other_keys));
        }
        if keyboards.other_keys_as_csi_u {
            self.out.push_str("\x1b[>4;1f");
        }
    }
}
