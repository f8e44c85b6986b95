//! The whole state of a terminal besides its parser, and the controls of one byte.

use super::keyboard::Keyboards;
use super::marks::Marks;
use super::modes::{Mode, Modes};
use super::notice::{Cwd, Notice};
use super::palette::Palette;
use super::save::{MAX_COUNT, Reader, Refused, Save, ensure, put_list};
use super::screen::Screen;
use super::scrollback::Scrollback;
use super::shell::Shell;
use super::{Cursor, CursorShape, Size};

/// Titles kept by CSI 22 t.
pub const MAX_TITLES: usize = 16;

#[derive(PartialEq, Debug)]
pub struct State {
    pub screen: Screen,
    pub notices: Vec<Notice>,
    pub title: String,
    pub titles: Vec<String>,
    pub cwd: Option<Cwd>,
    pub marks: Marks,
    pub shell: Shell,
    pub palette: Palette,
    pub keyboards: Keyboards,
    pub saved_modes: Modes,
    pub shape: CursorShape,
    /// Stamp of the last change that is done.
    pub stamp: u64,
}

impl State {
    pub fn new(size: Size, scrollback: Scrollback) -> State {
        State {
            screen: Screen::new(size, scrollback),
            notices: Vec::new(),
            title: String::new(),
            titles: Vec::new(),
            cwd: None,
            marks: Marks::default(),
            shell: Shell::default(),
            palette: Palette::default(),
            keyboards: Keyboards::default(),
            saved_modes: Modes::default(),
            shape: CursorShape::default(),
            stamp: 0,
        }
    }

    /// The cursor as it is, also while an older frame is seen.
    pub fn cursor(&self) -> Cursor {
        let screen = &self.screen;
        Cursor {
            row: screen.point.row as u16,
            col: screen.point.col as u16,
            visible: screen.modes.is(Mode::CursorVisible),
            shape: self.shape,
            blink: screen.modes.is(Mode::CursorBlink),
        }
    }

    #[inline]
    pub fn print(&mut self, c: char) {
        if u32::from(c) < 0xa0 {
            self.c1(u32::from(c) as u8);
        } else {
            self.screen.print(c);
        }
    }

    /// A C1 control in UTF-8 does what ESC and its letter do. Those that open a sequence or a
    /// string open none: in UTF-8 only the forms with ESC do.
    fn c1(&mut self, byte: u8) {
        match byte {
            0x84 | 0x85 | 0x88 | 0x8d..=0x8f | 0x96 | 0x97 | 0x9a => self.esc(&[], byte - 0x40),
            _ => self.screen.last = None,
        }
    }

    #[inline]
    pub fn control(&mut self, byte: u8) {
        let screen = &mut self.screen;
        match byte {
            b'\n' | 0x0b | 0x0c => screen.line_feed(),
            b'\r' => screen.carriage_return(),
            b'\t' => screen.tab(1),
            0x08 => screen.backspace(1),
            0x07 => self.notices.push(Notice::Bell),
            0x0e => screen.charsets.shift(1),
            0x0f => screen.charsets.shift(0),
            _ => return,
        }
        self.screen.last = None;
    }

    pub fn next_line(&mut self) {
        self.screen.index();
        self.screen.carriage_return();
    }

    pub fn set_tab(&mut self) {
        let col = self.screen.point.col;
        self.screen.tabs.set(col, true);
    }

    pub fn reply(&mut self, bytes: impl Into<Vec<u8>>) {
        self.notices.push(Notice::Reply(bytes.into()));
    }

    /// RIS: all as at the start, but that line numbers go on.
    pub fn reset(&mut self) {
        self.end_sync();
        let was_alt = self.screen.alt;
        self.screen.reset();
        self.marks = Marks::default();
        self.shell = Shell::default();
        self.palette = Palette::default();
        self.keyboards = Keyboards::default();
        self.saved_modes = Modes::default();
        self.shape = CursorShape::default();
        self.titles.clear();
        self.set_title(String::new());
        if was_alt {
            self.notices.push(Notice::AltScreen(false));
        }
    }

    pub fn set_title(&mut self, title: String) {
        if title != self.title {
            self.title.clone_from(&title);
            self.notices.push(Notice::Title(title));
        }
    }
}

impl Save for State {
    fn put(&self, out: &mut Vec<u8>) {
        // Notices are handed over before anyone can save.
        let State {
            screen,
            notices: _,
            title,
            titles,
            cwd,
            marks,
            shell,
            palette,
            keyboards,
            saved_modes,
            shape,
            stamp,
        } = self;
        screen.put(out);
        title.put(out);
        put_list(titles, out);
        cwd.put(out);
        marks.put(out);
        shell.put(out);
        palette.put(out);
        keyboards.put(out);
        saved_modes.put(out);
        shape.put(out);
        stamp.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let state = State {
            screen: from.take()?,
            notices: Vec::new(),
            title: from.take()?,
            titles: from.list(MAX_TITLES)?,
            cwd: from.take()?,
            marks: from.take()?,
            shell: from.take()?,
            palette: from.take()?,
            keyboards: from.take()?,
            saved_modes: from.take()?,
            shape: from.take()?,
            stamp: from.take()?,
        };
        ensure(state.stamp < MAX_COUNT, "the stamp")?;
        Ok(state)
    }
}
