//! Control and escape sequences to verbs.

use super::charset::Charset;
use super::modes::Kind;
use super::params::Params;
use super::row::LineSize;
use super::screen::Protection;
use super::sgr;
use super::state::State;

impl State {
    /// A control sequence: its numbers, private mark (or 0), intermediate (or 0), last byte.
    #[inline]
    pub fn csi(&mut self, p: &Params, private: u8, intermediate: u8, last: u8) {
        match (private, intermediate, last) {
            (0, 0, b'm') => {
                self.screen.change_pen(|pen| sgr::apply(p, pen));
                return;
            }
            (0, 0, b'b') => {
                self.screen.repeat(p.or(0, 1));
                return;
            }
            (0, 0, _) => self.csi_plain(p, last),
            (b'?', 0, _) => self.csi_private(p, last),
            (0, _, _) => self.csi_intermediate(p, intermediate, last),
            _ => self.csi_marked(p, private, intermediate, last),
        }
        self.screen.last = None;
    }

    fn csi_plain(&mut self, p: &Params, last: u8) {
        let screen = &mut self.screen;
        let n = p.or(0, 1);
        match last {
            b'H' | b'f' => screen.go_to(n - 1, p.or(1, 1) - 1),
            b'K' => screen.erase_in_line(p.or(0, 0), false),
            b'J' => screen.erase_in_display(p.or(0, 0), false),
            b'A' => screen.up(n),
            b'B' => screen.down(n),
            b'C' => screen.right(n),
            b'D' | b'j' => screen.backspace(n),
            b'E' => {
                screen.down(n);
                screen.carriage_return();
            }
            b'F' => {
                screen.up(n);
                screen.carriage_return();
            }
            b'G' | b'`' => screen.go_to_col(n - 1),
            b'd' => screen.go_to_row(n - 1),
            b'a' => screen.right_by(n),
            b'e' => screen.down_by(n),
            b'I' => screen.tab(n),
            b'Z' => screen.back_tab(n),
            b'X' => screen.erase_chars(n),
            b'@' => screen.insert_chars(n),
            b'P' => screen.delete_chars(n),
            b'L' => screen.insert_lines(n),
            b'M' => screen.delete_lines(n),
            b'S' => screen.scroll_up(n),
            b'T' | b'^' if p.len() < 2 => screen.scroll_down(n),
            b'r' => screen.set_rows_margin(p),
            b's' => screen.save_or_set_columns_margin(p),
            b'u' => screen.restore_cursor(),
            b'g' => self.clear_tabs(p.or(0, 0)),
            b'h' | b'l' => self.set_modes(Kind::Ansi, p, last == b'h'),
            _ => self.csi_ask(p, last),
        }
    }

    fn clear_tabs(&mut self, what: usize) {
        let col = self.screen.point.col;
        match what {
            0 => self.screen.tabs.set(col, false),
            3 => self.screen.tabs.clear(),
            _ => {}
        }
    }

    fn csi_private(&mut self, p: &Params, last: u8) {
        match last {
            b'h' | b'l' => self.set_modes(Kind::Dec, p, last == b'h'),
            b'J' => self.screen.erase_in_display(p.or(0, 0), true),
            b'K' => self.screen.erase_in_line(p.or(0, 0), true),
            b's' => self.saved_modes.copy(self.screen.modes, p.values()),
            b'r' => self.restore_modes(p),
            b'W' if p.raw(0) == 5 => self.screen.tabs = super::tabs::Tabs::default(),
            _ => self.csi_private_ask(p, last),
        }
    }

    fn csi_intermediate(&mut self, p: &Params, intermediate: u8, last: u8) {
        let screen = &mut self.screen;
        let n = p.or(0, 1);
        match (intermediate, last) {
            (b' ', b'q') => self.set_cursor_shape(p.or(0, 0)),
            (b' ', b'@') => screen.scroll_left(n),
            (b' ', b'A') => screen.scroll_right(n),
            (b'\'', b'}') => screen.insert_columns(n),
            (b'\'', b'~') => screen.delete_columns(n),
            (b'!', b'p') => self.soft_reset(),
            (b'"', b'q') => screen.set_protected(p.or(0, 0) == 1, Protection::Dec),
            (b'$', _) => self.csi_rectangle(p, last),
            (b'*', b'x') => self.screen.rect_exact = p.raw(0) == 2,
            (b'*', b'y') => self.report_checksum(p),
            _ => {}
        }
    }

    fn csi_rectangle(&mut self, p: &Params, last: u8) {
        let screen = &mut self.screen;
        match last {
            b'p' => self.report_mode(Kind::Ansi, p.raw(0)),
            b'x' => screen.fill_rectangle(p),
            b'z' => screen.erase_rectangle(p, false),
            b'{' => screen.erase_rectangle(p, true),
            b'v' => screen.copy_rectangle(p),
            b'r' => screen.change_rectangle(p),
            b't' => screen.reverse_rectangle(p),
            _ => {}
        }
    }

    /// Sequences with a mark other than `?`, or with a mark and an intermediate.
    fn csi_marked(&mut self, p: &Params, private: u8, intermediate: u8, last: u8) {
        let alt = self.screen.alt;
        match (private, intermediate, last) {
            (b'?', b'$', b'p') => self.report_mode(Kind::Dec, p.raw(0)),
            (b'>', 0, b'c') => self.report_secondary_attributes(p),
            (b'=', 0, b'c') => self.report_unit(p),
            (b'>', 0, b'q') => self.report_version(),
            (b'>', 0, b'u') => self.keyboards.push(alt, p.raw(0)),
            (b'<', 0, b'u') => self.keyboards.pop(alt, p.or(0, 1)),
            (b'=', 0, b'u') => self.keyboards.change(alt, p.raw(0), p.or(1, 1)),
            (b'>', 0, b'm') => self.keyboards.modify(p.values().first().copied(), p.raw(1)),
            (b'>', 0, b'n') => self.keyboards.modify(Some(p.raw(0)), 0),
            (b'>', 0, b'f') => self.keyboards.format(p.values().first().copied(), p.raw(1)),
            _ => {}
        }
    }

    /// An escape sequence without strings and control sequences.
    pub fn esc(&mut self, intermediates: &[u8], last: u8) {
        match intermediates {
            [] => self.esc_plain(last),
            [slot @ b'('..=b'+'] => {
                self.screen.charsets.designate(slot - b'(', Charset::named(last));
            }
            [slot @ b'-'..=b'/'] => {
                self.screen.charsets.designate(slot - b',', Charset::Ascii);
            }
            [b'#'] => self.line_size(last),
            _ => {}
        }
        self.screen.last = None;
    }

    fn esc_plain(&mut self, last: u8) {
        let screen = &mut self.screen;
        match last {
            b'7' => screen.save_cursor(),
            b'8' => screen.restore_cursor(),
            b'D' => screen.index(),
            b'E' => self.next_line(),
            b'M' => screen.reverse_index(),
            b'H' => self.set_tab(),
            b'c' => self.reset(),
            b'=' => screen.modes.set(super::modes::Mode::AppKeypad, true),
            b'>' => screen.modes.set(super::modes::Mode::AppKeypad, false),
            b'N' => screen.charsets.single_shift(2),
            b'O' => screen.charsets.single_shift(3),
            b'n' => screen.charsets.shift(2),
            b'o' => screen.charsets.shift(3),
            b'V' => screen.set_protected(true, Protection::Iso),
            b'W' => screen.set_protected(false, Protection::Iso),
            b'6' => screen.back_index(),
            b'9' => screen.forward_index(),
            b'Z' => self.report_attributes(),
            _ => {}
        }
    }

    fn line_size(&mut self, last: u8) {
        let size = match last {
            b'8' => return self.screen.align(),
            b'3' => LineSize::DoubleTop,
            b'4' => LineSize::DoubleBottom,
            b'5' => LineSize::Single,
            b'6' => LineSize::DoubleWidth,
            _ => return,
        };
        let y = self.screen.point.row;
        self.screen.touch(y).size = size;
    }
}
