//! The mouse as the bytes that a program gets for it, in the modes that the program has set.

use super::key::Mods;
use crate::term::{Modes, Mouse, MouseEncoding};

/// Lines that one notch of the wheel goes on the alternate screen.
const ALTERNATE_SCROLL_LINES: usize = 3;
/// The old encoding adds this to every number, so that none is a control character.
const OFFSET: u32 = 32;
/// What fits a byte, and two bytes of UTF-8.
const MAX_BYTE: u32 = 0xff;
const MAX_UTF8: u32 = 0x7ff;

const MOTION: u32 = 32;
/// The button number that stands for none.
const NO_BUTTON: u32 = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Button {
    Left,
    Middle,
    Right,
    Back,
    Forward,
    Tenth,
    Eleventh,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wheel {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MouseKind {
    Press(Button),
    Release(Button),
    /// With the button that is held.
    Move(Option<Button>),
    Wheel(Wheel),
}

/// A cell of the screen, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    pub row: u16,
    pub col: u16,
}

/// A pixel of the screen, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pixel {
    pub x: u32,
    pub y: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MouseEvent {
    pub kind: MouseKind,
    pub mods: Mods,
    pub cell: Cell,
    /// Without it a program that asked for pixels is told nothing.
    pub pixel: Option<Pixel>,
}

/// Nothing for what the program did not ask for, or what its encoding cannot say.
pub fn encode(event: &MouseEvent, modes: Modes) -> Option<Vec<u8>> {
    match (event.kind, modes.mouse()) {
        (MouseKind::Wheel(wheel), Mouse::Off) => scroll(wheel, modes),
        (kind, mouse) if is_wanted(kind, mouse) => report(event, modes),
        _ => None,
    }
}

fn is_wanted(kind: MouseKind, mouse: Mouse) -> bool {
    use Button::{Left, Middle, Right};
    match (mouse, kind) {
        (Mouse::Off, _) => false,
        (Mouse::X10, kind) => matches!(kind, MouseKind::Press(Left | Middle | Right)),
        (Mouse::Normal, kind) => !matches!(kind, MouseKind::Move(_)),
        (Mouse::Button, kind) => kind != MouseKind::Move(None),
        (Mouse::Any, _) => true,
    }
}

/// A pager that does not know the mouse scrolls by the cursor keys.
fn scroll(wheel: Wheel, modes: Modes) -> Option<Vec<u8>> {
    let last = match wheel {
        Wheel::Up => b'A',
        Wheel::Down => b'B',
        Wheel::Left | Wheel::Right => return None,
    };
    let key = [0x1b, if modes.app_cursor() { b'O' } else { b'[' }, last];
    let scrolls = modes.alternate_scroll() && modes.alt_screen();
    scrolls.then(|| key.repeat(ALTERNATE_SCROLL_LINES))
}

fn report(event: &MouseEvent, modes: Modes) -> Option<Vec<u8>> {
    let encoding = modes.mouse_encoding();
    let sgr = matches!(encoding, MouseEncoding::Sgr | MouseEncoding::SgrPixels);
    let code = code(event.kind, sgr) + modifiers(event.mods, modes.mouse());
    let (x, y) = match (encoding, event.pixel) {
        (MouseEncoding::SgrPixels, pixel) => pixel.map(|pixel| (pixel.x, pixel.y))?,
        _ => (u32::from(event.cell.col), u32::from(event.cell.row)),
    };
    let numbers = [code, x.saturating_add(1), y.saturating_add(1)];
    let released = matches!(event.kind, MouseKind::Release(_));
    written(encoding, numbers, released)
}

fn written(encoding: MouseEncoding, numbers: [u32; 3], released: bool) -> Option<Vec<u8>> {
    let [code, x, y] = numbers;
    let last = if released { 'm' } else { 'M' };
    match encoding {
        MouseEncoding::Default => offset(numbers, MAX_BYTE, |n| vec![n as u8]),
        MouseEncoding::Utf8 => offset(numbers, MAX_UTF8, utf8),
        MouseEncoding::Urxvt => Some(format!("\x1b[{};{x};{y}M", code + OFFSET).into_bytes()),
        MouseEncoding::Sgr | MouseEncoding::SgrPixels => {
            Some(format!("\x1b[<{code};{x};{y}{last}").into_bytes())
        }
    }
}

/// `CSI M` and three characters, if all of them can be said.
fn offset(numbers: [u32; 3], most: u32, write: impl Fn(u32) -> Vec<u8>) -> Option<Vec<u8>> {
    let numbers = numbers.map(|number| number.saturating_add(OFFSET));
    let fit = numbers.iter().all(|number| *number <= most);
    fit.then(|| numbers.into_iter().fold(b"\x1b[M".to_vec(), |out, n| [out, write(n)].concat()))
}

fn utf8(number: u32) -> Vec<u8> {
    let c = char::from_u32(number).unwrap_or_default();
    c.to_string().into_bytes()
}

/// Only the SGR encodings tell which button was let go.
fn code(kind: MouseKind, sgr: bool) -> u32 {
    match kind {
        MouseKind::Press(button) => number(button),
        MouseKind::Release(button) if sgr => number(button),
        MouseKind::Release(_) => NO_BUTTON,
        MouseKind::Move(button) => button.map_or(NO_BUTTON, number) + MOTION,
        MouseKind::Wheel(wheel) => 64 + wheel as u32,
    }
}

fn number(button: Button) -> u32 {
    match button {
        Button::Left => 0,
        Button::Middle => 1,
        Button::Right => 2,
        Button::Back => 128,
        Button::Forward => 129,
        Button::Tenth => 130,
        Button::Eleventh => 131,
    }
}

fn modifiers(mods: Mods, mouse: Mouse) -> u32 {
    let bit = |held: Mods, bit: u32| if mods.has(held) { bit } else { 0 };
    match mouse {
        Mouse::X10 => 0,
        _ => bit(Mods::SHIFT, 4) + bit(Mods::ALT | Mods::META, 8) + bit(Mods::CTRL, 16),
    }
}
