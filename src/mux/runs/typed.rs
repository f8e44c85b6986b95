//! How a command is typed, and where.

use std::time::Instant;

use crate::input;
use crate::mux::Terminal;
use crate::mux::limits::MAX_LINE_CHARS;
use crate::term::{LineNo, ShellState};
use crate::view::text;

/// Ctrl-U and Ctrl-V, as the line editors of all shells know them.
const KILL_LINE: u8 = 0x15;
const QUOTE: u8 = 0x16;

/// Where a command was typed.
#[derive(Default)]
pub struct Typed {
    /// The line after the echo.
    pub line: LineNo,
    /// What stood before it.
    pub prompt: String,
    pub at: Option<Instant>,
}

impl Typed {
    pub fn at(terminal: &Terminal, command: &str, now: Instant) -> Typed {
        let grid = &terminal.grid;
        let line = grid.cursor_line();
        let echoed = typed_text(terminal, command).matches('\n').count() as u64;
        let before = text::output(grid, line..LineNo(line.0 + 1), None, MAX_LINE_CHARS);
        let prompt = before.first().map(|row| row.text.trim_end().to_owned()).unwrap_or_default();
        Typed { line: LineNo(line.0 + 1 + echoed), prompt, at: Some(now) }
    }
}

/// Pasted where that is known, so that nothing in it is a key; a line end that is not pasted is
/// quoted, so that the shell's editor takes it in.
pub fn typed_bytes(terminal: &Terminal, command: &str) -> Vec<u8> {
    let at_prompt = terminal.grid.shell() == ShellState::Input;
    let bracketed = terminal.grid.modes().bracketed_paste();
    let text = typed_text(terminal, command);
    let one_line = !text.contains('\n');
    let mut bytes = Vec::new();
    if at_prompt && terminal.grid.has_typed() {
        bytes.push(KILL_LINE);
    }
    let paste = match (bracketed && (at_prompt || !one_line), at_prompt) {
        (true, _) => input::paste(text, true),
        (false, true) => quoted(text),
        (false, false) => input::paste(text, false),
    };
    bytes.extend(paste);
    bytes.push(b'\r');
    bytes
}

/// Without the last line end, which is the Enter key. Empty lines mean something to other programs
/// than shells: they end a block.
fn typed_text<'a>(terminal: &Terminal, command: &'a str) -> &'a str {
    match terminal.grid.shell() {
        ShellState::Input => command.trim_end_matches('\n'),
        _ => command.strip_suffix('\n').unwrap_or(command),
    }
}

fn quoted(text: &str) -> Vec<u8> {
    let clean = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control());
    let mut bytes = Vec::new();
    for c in clean {
        if matches!(c, '\n' | '\t') {
            bytes.push(QUOTE);
        }
        bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
    }
    bytes
}
