//! The outer terminal: taken for a while, and always given back as it was. The only crossterm.

use std::io::{self, IsTerminal, Write};

use crossterm::event::{
    self, DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture, Event, KeyEvent, KeyEventKind, KeyModifiers,
    KeyboardEnhancementFlags, MouseButton, MouseEvent, MouseEventKind, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};

use super::app::{Incoming, Pointer};
use super::paint::Depth;
use crate::command::{Act, Kind, Which};
use crate::input::{Key, KeyCode, Mods};

/// The outer terminal while it is ours.
pub struct Tty {
    mouse: bool,
}

impl Tty {
    pub fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Also given back when the client panics: then the message can be read.
    pub fn take(mouse: bool) -> io::Result<Tty> {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            usual(info);
        }));
        let tty = Tty { mouse };
        tty.enter()?;
        Ok(tty)
    }

    pub fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange)?;
        if self.mouse {
            queue!(out, EnableMouseCapture)?;
        }
        // Those that do not know it do nothing.
        let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
            | KeyboardEnhancementFlags::REPORT_EVENT_TYPES;
        queue!(out, PushKeyboardEnhancementFlags(flags))?;
        out.flush()
    }

    pub fn leave(&self) {
        give_back();
    }

    pub fn set_mouse(&mut self, mouse: bool) -> io::Result<()> {
        if mouse != self.mouse {
            self.mouse = mouse;
            let mut out = io::stdout();
            if mouse {
                execute!(out, EnableMouseCapture)?;
            } else {
                execute!(out, DisableMouseCapture)?;
            }
        }
        Ok(())
    }

    pub fn size() -> (u16, u16) {
        terminal::size().unwrap_or((80, 24))
    }

    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// What the terminal says of its colours; nearly all of today's know them all.
    pub fn depth() -> Depth {
        let colors = std::env::var("COLORTERM").unwrap_or_default();
        let term = std::env::var("TERM").unwrap_or_default();
        let named = ["direct", "kitty", "ghostty", "alacritty", "foot", "wezterm"];
        let true_color = ["truecolor", "24bit"].contains(&colors.as_str())
            || named.iter().any(|name| term.contains(name));
        if true_color { Depth::True } else { Depth::Indexed }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        give_back();
    }
}

/// Does no harm when done twice. What cannot be written cannot be helped.
fn give_back() {
    let mut out = io::stdout();
    let _ = queue!(out, PopKeyboardEnhancementFlags, DisableMouseCapture);
    let _ = queue!(out, DisableFocusChange, DisableBracketedPaste);
    let _ = out.write_all(b"\x1b[m\x1b[0 q\x1b[?25h");
    let _ = queue!(out, LeaveAlternateScreen);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// The next thing the person does; None for what does not matter.
pub fn next_event() -> io::Result<Option<Incoming>> {
    Ok(match event::read()? {
        Event::Key(event) => key(event).map(|key| match event.kind {
            KeyEventKind::Press => Incoming::Key(key),
            KeyEventKind::Repeat => Incoming::KeyAgain(key, Kind::Repeat),
            KeyEventKind::Release => Incoming::KeyAgain(key, Kind::Release),
        }),
        Event::Mouse(event) => pointer(event).map(Incoming::Mouse),
        Event::Paste(text) => Some(Incoming::Paste(text)),
        Event::Resize(cols, rows) => Some(Incoming::Resize(cols, rows)),
        Event::FocusGained => Some(Incoming::Focus(true)),
        Event::FocusLost => Some(Incoming::Focus(false)),
    })
}

fn key(event: KeyEvent) -> Option<Key> {
    let mut mods = modifiers(event.modifiers);
    use event::KeyCode as Outer;
    let code = match event.code {
        Outer::Char(c) => {
            // The character tells of Shift already.
            mods = mods.without(Mods::SHIFT);
            KeyCode::Char(c)
        }
        Outer::F(number) => return format!("{mods}F{number}").parse().ok(),
        Outer::BackTab => {
            mods |= Mods::SHIFT;
            KeyCode::Tab
        }
        Outer::Null => {
            mods |= Mods::CTRL;
            KeyCode::Char(' ')
        }
        Outer::Backspace => KeyCode::Backspace,
        Outer::Enter => KeyCode::Enter,
        Outer::Left => KeyCode::Left,
        Outer::Right => KeyCode::Right,
        Outer::Up => KeyCode::Up,
        Outer::Down => KeyCode::Down,
        Outer::Home => KeyCode::Home,
        Outer::End => KeyCode::End,
        Outer::PageUp => KeyCode::PageUp,
        Outer::PageDown => KeyCode::PageDown,
        Outer::Tab => KeyCode::Tab,
        Outer::Delete => KeyCode::Delete,
        Outer::Insert => KeyCode::Insert,
        Outer::Esc => KeyCode::Escape,
        _ => return None,
    };
    Some(Key::new(code, mods))
}

const MODIFIERS: [(KeyModifiers, Mods); 6] = [
    (KeyModifiers::SHIFT, Mods::SHIFT),
    (KeyModifiers::ALT, Mods::ALT),
    (KeyModifiers::CONTROL, Mods::CTRL),
    (KeyModifiers::SUPER, Mods::SUPER),
    (KeyModifiers::HYPER, Mods::HYPER),
    (KeyModifiers::META, Mods::META),
];

fn modifiers(outer: KeyModifiers) -> Mods {
    let held = MODIFIERS.iter().filter(|(theirs, _)| outer.contains(*theirs));
    held.fold(Mods::NONE, |all, (_, ours)| all | *ours)
}

fn pointer(event: MouseEvent) -> Option<Pointer> {
    let which = |button: MouseButton| match button {
        MouseButton::Left => Which::Left,
        MouseButton::Middle => Which::Middle,
        MouseButton::Right => Which::Right,
    };
    let (act, button) = match event.kind {
        MouseEventKind::Down(button) => (Act::Press, which(button)),
        MouseEventKind::Up(button) => (Act::Release, which(button)),
        MouseEventKind::Drag(button) => (Act::Drag, which(button)),
        MouseEventKind::Moved => (Act::Move, Which::Left),
        MouseEventKind::ScrollUp => (Act::WheelUp, Which::Left),
        MouseEventKind::ScrollDown => (Act::WheelDown, Which::Left),
        MouseEventKind::ScrollLeft => (Act::WheelLeft, Which::Left),
        MouseEventKind::ScrollRight => (Act::WheelRight, Which::Left),
    };
    let mods = modifiers(event.modifiers).to_string();
    let mods = mods.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some(Pointer { act, button, x: event.column, y: event.row, mods })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(code: event::KeyCode, modifiers: KeyModifiers) -> String {
        key(KeyEvent::new(code, modifiers)).unwrap().to_string()
    }

    #[test]
    fn keys_have_our_names() {
        use event::KeyCode::{BackTab, Char, F, Null, Up};
        assert_eq!(name(Char('c'), KeyModifiers::CONTROL), "Ctrl+c");
        assert_eq!(name(Char(' '), KeyModifiers::CONTROL), "Ctrl+Space");
        assert_eq!(name(Null, KeyModifiers::NONE), "Ctrl+Space");
        assert_eq!(name(Char('A'), KeyModifiers::SHIFT), "A");
        assert_eq!(name(Char('|'), KeyModifiers::SHIFT), "|");
        assert_eq!(name(BackTab, KeyModifiers::SHIFT), "Shift+Tab");
        assert_eq!(name(F(5), KeyModifiers::ALT), "Alt+F5");
        assert_eq!(name(Up, KeyModifiers::SHIFT), "Shift+Up");
    }
}
