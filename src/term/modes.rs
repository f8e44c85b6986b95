//! The modes a program can set: one table of numbers, names and defaults.

use super::save::{Reader, Refused, Save, ensure};

/// What the mouse reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mouse {
    #[default]
    Off,
    X10,
    Normal,
    Button,
    Any,
}

/// How the mouse reports are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MouseEncoding {
    #[default]
    Default,
    Utf8,
    Sgr,
    Urxvt,
    SgrPixels,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Ansi,
    Dec,
}

macro_rules! modes {
    ($($mode:ident $kind:ident $number:literal $name:literal $default:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Mode { $($mode),* }

        const TABLE: &[(Mode, Kind, u16, &str, bool)] =
            &[$((Mode::$mode, Kind::$kind, $number, $name, $default)),*];
    };
}

modes! {
    Insert             Ansi 4    "insert"             false
    LocalEcho          Ansi 12   "local_echo"         false
    Newline            Ansi 20   "newline"            false
    AppCursor          Dec  1    "app_cursor"         false
    Columns132         Dec  3    "columns_132"        false
    ReverseVideo       Dec  5    "reverse_video"      false
    Origin             Dec  6    "origin"             false
    Autowrap           Dec  7    "autowrap"           true
    AutoRepeat         Dec  8    "auto_repeat"        true
    MouseX10           Dec  9    "mouse_x10"          false
    CursorBlink        Dec  12   "cursor_blink"       false
    CursorVisible      Dec  25   "cursor_visible"     true
    AllowColumns       Dec  40   "allow_columns"      false
    ReverseWrap        Dec  45   "reverse_wrap"       false
    Alt47              Dec  47   "alt_47"             false
    AppKeypad          Dec  66   "app_keypad"         false
    BackspaceIsBs      Dec  67   "backarrow"          false
    LeftRightMargins   Dec  69   "left_right_margins" false
    MouseNormal        Dec  1000 "mouse_normal"       false
    MouseButton        Dec  1002 "mouse_button"       false
    MouseAny           Dec  1003 "mouse_any"          false
    FocusEvents        Dec  1004 "focus_events"       false
    MouseUtf8          Dec  1005 "mouse_utf8"         false
    MouseSgr           Dec  1006 "mouse_sgr"          false
    AlternateScroll    Dec  1007 "alternate_scroll"   true
    MouseUrxvt         Dec  1015 "mouse_urxvt"        false
    MousePixels        Dec  1016 "mouse_pixels"       false
    ReverseWrapFar     Dec  1045 "reverse_wrap_far"   false
    Alt1047            Dec  1047 "alt_1047"           false
    SavedCursor        Dec  1048 "saved_cursor"       false
    Alt1049            Dec  1049 "alt_screen"         false
    BracketedPaste     Dec  2004 "bracketed_paste"    false
    SyncOutput         Dec  2026 "sync_output"        false
    Graphemes          Dec  2027 "graphemes"          true
    SchemeReports      Dec  2031 "scheme_reports"     false
    ResizeReports      Dec  2048 "resize_reports"     false
}

const MICE: [Mode; 4] = [Mode::MouseX10, Mode::MouseNormal, Mode::MouseButton, Mode::MouseAny];
const MOUSE_ENCODINGS: [Mode; 4] =
    [Mode::MouseUtf8, Mode::MouseSgr, Mode::MouseUrxvt, Mode::MousePixels];
const ALTS: [Mode; 3] = [Mode::Alt47, Mode::Alt1047, Mode::Alt1049];

impl Mode {
    pub(super) fn find(kind: Kind, number: u16) -> Option<Mode> {
        TABLE.iter().find(|m| m.1 == kind && m.2 == number).map(|m| m.0)
    }

    pub(super) fn all() -> impl Iterator<Item = Mode> {
        TABLE.iter().map(|row| row.0)
    }

    pub(super) fn number(self) -> (Kind, u16) {
        (TABLE[self as usize].1, TABLE[self as usize].2)
    }

    /// Set from the start.
    pub(super) fn default(self) -> bool {
        TABLE[self as usize].4
    }

    fn bit(self) -> u64 {
        1 << self as u64
    }
}

/// The modes now set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Modes(u64);

impl Default for Modes {
    fn default() -> Self {
        let set = TABLE.iter().filter(|m| m.4).fold(0, |bits, m| bits | m.0.bit());
        Modes(set)
    }
}

impl Modes {
    pub(super) fn is(self, mode: Mode) -> bool {
        self.0 & mode.bit() != 0
    }

    pub(super) fn set(&mut self, mode: Mode, on: bool) {
        let group: &[Mode] = if MICE.contains(&mode) {
            &MICE
        } else if MOUSE_ENCODINGS.contains(&mode) {
            &MOUSE_ENCODINGS
        } else {
            &[]
        };
        if on {
            group.iter().for_each(|other| self.0 &= !other.bit());
        }
        self.0 = if on { self.0 | mode.bit() } else { self.0 & !mode.bit() };
    }

    /// The three numbers of the alternate screen tell the same.
    pub(super) fn set_alt(&mut self, on: bool) {
        ALTS.iter().for_each(|mode| self.set(*mode, on));
    }

    pub fn insert(self) -> bool {
        self.is(Mode::Insert)
    }

    pub fn newline(self) -> bool {
        self.is(Mode::Newline)
    }

    pub fn app_cursor(self) -> bool {
        self.is(Mode::AppCursor)
    }

    pub fn app_keypad(self) -> bool {
        self.is(Mode::AppKeypad)
    }

    pub fn backarrow_is_bs(self) -> bool {
        self.is(Mode::BackspaceIsBs)
    }

    pub fn reverse_video(self) -> bool {
        self.is(Mode::ReverseVideo)
    }

    pub fn origin(self) -> bool {
        self.is(Mode::Origin)
    }

    pub fn autowrap(self) -> bool {
        self.is(Mode::Autowrap)
    }

    pub fn bracketed_paste(self) -> bool {
        self.is(Mode::BracketedPaste)
    }

    pub fn focus_events(self) -> bool {
        self.is(Mode::FocusEvents)
    }

    pub fn alternate_scroll(self) -> bool {
        self.is(Mode::AlternateScroll)
    }

    pub fn alt_screen(self) -> bool {
        self.is(Mode::Alt1049)
    }

    pub fn sync_output(self) -> bool {
        self.is(Mode::SyncOutput)
    }

    pub fn graphemes(self) -> bool {
        self.is(Mode::Graphemes)
    }

    pub fn scheme_reports(self) -> bool {
        self.is(Mode::SchemeReports)
    }

    pub fn resize_reports(self) -> bool {
        self.is(Mode::ResizeReports)
    }

    pub fn mouse(self) -> Mouse {
        let kinds = [Mouse::X10, Mouse::Normal, Mouse::Button, Mouse::Any];
        let set = MICE.iter().position(|mode| self.is(*mode));
        set.map_or(Mouse::Off, |at| kinds[at])
    }

    pub fn mouse_encoding(self) -> MouseEncoding {
        use MouseEncoding::{Sgr, SgrPixels, Urxvt, Utf8};
        let set = MOUSE_ENCODINGS.iter().position(|mode| self.is(*mode));
        set.map_or(MouseEncoding::Default, |at| [Utf8, Sgr, Urxvt, SgrPixels][at])
    }

    /// Names of the modes now set.
    pub fn active(&self) -> impl Iterator<Item = &'static str> + use<> {
        let modes = *self;
        let shown = |mode: Mode| mode != Mode::Alt47 && mode != Mode::Alt1047;
        TABLE.iter().filter(move |m| modes.is(m.0) && shown(m.0)).map(|m| m.3)
    }
}

impl Save for Modes {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(TABLE.len() as u8);
        self.0.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        ensure(from.take::<u8>()? == TABLE.len() as u8, "it knows other modes")?;
        let bits: u64 = from.take()?;
        ensure(bits >> TABLE.len() == 0, "a mode that is none")?;
        Ok(Modes(bits))
    }
}
