//! Setting modes, and what some of them do at once.

use super::CursorShape;
use super::modes::{Kind, Mode, Modes};
use super::notice::Notice;
use super::params::Params;
use super::state::State;

impl Modes {
    /// Takes the modes with these numbers over from others (XTSAVE).
    pub(super) fn copy(&mut self, from: Modes, numbers: &[u16]) {
        for mode in numbers.iter().filter_map(|n| Mode::find(Kind::Dec, *n)) {
            self.set(mode, from.is(mode));
        }
    }
}

impl State {
    pub fn set_modes(&mut self, kind: Kind, p: &Params, on: bool) {
        for number in p.values() {
            if let Some(mode) = Mode::find(kind, *number) {
                self.set_mode(mode, on);
            }
        }
    }

    pub fn restore_modes(&mut self, p: &Params) {
        for mode in p.values().iter().filter_map(|n| Mode::find(Kind::Dec, *n)) {
            self.set_mode(mode, self.saved_modes.is(mode));
        }
    }

    fn set_mode(&mut self, mode: Mode, on: bool) {
        match mode {
            Mode::Alt47 | Mode::Alt1047 | Mode::Alt1049 => return self.set_alt(mode, on),
            Mode::SavedCursor if on => return self.screen.save_cursor(),
            Mode::SavedCursor => return self.screen.restore_cursor(),
            Mode::SyncOutput if on => self.begin_sync(),
            Mode::SyncOutput => self.end_sync(),
            Mode::Columns132 => return self.set_columns(on),
            _ => {}
        }
        let screen = &mut self.screen;
        screen.modes.set(mode, on);
        match mode {
            Mode::Origin => screen.go_to(0, 0),
            Mode::LeftRightMargins if !on => screen.drop_columns_margin(),
            Mode::ReverseVideo => {
                screen.grid.touch_all(screen.now);
                screen.changed = true;
            }
            Mode::ResizeReports if on => self.report_size_in_band(),
            Mode::CursorVisible => screen.changed = true,
            _ => {}
        }
    }

    fn set_alt(&mut self, mode: Mode, on: bool) {
        let screen = &mut self.screen;
        let was = screen.alt;
        match (mode, on) {
            (Mode::Alt1049, true) if !was => {
                screen.save_cursor();
                screen.switch(true);
                screen.clear_screen();
            }
            (Mode::Alt1049, false) => {
                screen.switch(false);
                screen.restore_cursor();
            }
            (Mode::Alt1047, false) if was => {
                screen.clear_screen();
                screen.switch(false);
            }
            _ => screen.switch(on),
        }
        if was != on {
            self.notices.push(Notice::AltScreen(on));
        }
    }

    /// DECCOLM: the width is the owner's to decide; the rest of it is done when it is allowed.
    fn set_columns(&mut self, on: bool) {
        if !self.screen.modes.is(Mode::AllowColumns) {
            return;
        }
        self.screen.modes.set(Mode::Columns132, on);
        self.screen.margins = super::screen::Margins::full(self.screen.cols, self.screen.rows);
        self.screen.modes.set(Mode::LeftRightMargins, false);
        self.screen.clear_screen();
        self.screen.go_to(0, 0);
    }

    pub fn set_cursor_shape(&mut self, number: usize) {
        let shape = match number {
            0..=2 => CursorShape::Block,
            3 | 4 => CursorShape::Underline,
            5 | 6 => CursorShape::Bar,
            _ => return,
        };
        self.shape = shape;
        self.screen.modes.set(Mode::CursorBlink, number % 2 == 1 || number == 0);
        self.screen.changed = true;
    }

    pub fn soft_reset(&mut self) {
        self.screen.soft_reset();
        self.keyboards.modify(None, 0);
    }
}
