//! What a terminal tells besides its screen.

use super::LineNo;
use super::save::saved;
use std::ops::Range;

/// Where the program says it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cwd {
    pub host: Option<String>,
    pub path: String,
}

saved!(struct Cwd { host, path });

/// The progress a program reports (OSC 9;4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    None,
    Normal,
    Error,
    Indeterminate,
    Paused,
}

/// Pictures are swallowed; this is which sort it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphicsKind {
    Sixel,
    Kitty,
    Iterm,
    Regis,
}

/// A string that means nothing here and is swallowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PayloadKind {
    Dcs,
    Apc,
    Pm,
    Sos,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// To be written to the program.
    Reply(Vec<u8>),
    Bell,
    Title(String),
    Cwd(Cwd),
    /// The shell is ready for a command.
    Prompt,
    CommandStart {
        command: Option<String>,
    },
    CommandDone {
        code: Option<i32>,
        key: Option<String>,
        command: Option<String>,
        output: Option<Range<LineNo>>,
        /// Columns of the last of these lines that are output, if it has no end: a prompt may follow
        /// in the same line.
        cut: Option<usize>,
    },
    AltScreen(bool),
    Notification {
        title: Option<String>,
        body: String,
    },
    /// A program wrote to the clipboard (OSC 52).
    Clipboard {
        selection: String,
        data: Vec<u8>,
    },
    Progress {
        state: Progress,
        percent: Option<u8>,
    },
    Graphics {
        kind: GraphicsKind,
        bytes: usize,
    },
    Payload {
        kind: PayloadKind,
        bytes: usize,
    },
}
