//! Events: what clients read about terminals, in order, with a number each.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{RecordingState, Role};

/// One event as it stands on the wire, without `seq` and `terminal`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Created {
        pid: u32,
        cols: u16,
        rows: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// `reason` is "asked" or "evicted": too many dead terminals were kept.
    Killed {
        reason: &'static str,
    },
    /// A program ended by a signal has the code a shell would report, 128 + signal. None if nobody
    /// could tell.
    Exit {
        code: Option<i32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        signal: Option<String>,
    },
    Idle {
        after_ms: u64,
    },
    Activity,
    Bell,
    Title {
        title: String,
    },
    Cwd {
        cwd: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    Prompt,
    CommandStart {
        command: Option<String>,
    },
    CommandDone {
        code: Option<i32>,
        command: Option<String>,
        duration_ms: Option<u64>,
        cwd: Option<String>,
        /// Lines of output: from the first up to, not including, the second.
        #[serde(skip_serializing_if = "Option::is_none")]
        output_lines: Option<[u64; 2]>,
        trusted: bool,
    },
    AltScreen {
        on: bool,
    },
    Notification {
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        body: String,
    },
    Clipboard {
        selection: String,
        data_base64: String,
    },
    Progress {
        state: Progress,
        #[serde(skip_serializing_if = "Option::is_none")]
        percent: Option<u8>,
    },
    Graphics {
        kind: &'static str,
        bytes: usize,
    },
    /// A string of a kind that means nothing here was swallowed.
    Payload {
        kind: &'static str,
        bytes: usize,
    },
    Resized {
        cols: u16,
        rows: u16,
    },
    /// A recording began, or is over.
    Recording {
        recording: String,
        state: RecordingState,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        events: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Someone looks at the terminal.
    Attached {
        view: u32,
        role: Role,
        name: String,
    },
    Detached {
        view: u32,
        name: String,
    },
    /// Someone types alone from now on.
    Taken {
        view: u32,
        name: String,
    },
    Released {
        view: u32,
        name: String,
    },
    /// The screen changed and is quiet, or has gone on changing for a while. Opt-in.
    Screen {
        stamp: u64,
    },
    /// Raw bytes the program wrote. Opt-in.
    Output {
        offset: u64,
        data_base64: String,
    },
    /// A client's layout was kept under this name.
    Workspace {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The worker was replaced: waits in flight are gone, terminals live on.
    Restarted,
    /// Events were dropped before this client read them.
    Lost {
        events: u64,
    },
    /// A terminal's output could not be taken in, or its screen not be brought back.
    Degraded {
        screen: LeftScreen,
    },
}

/// What is left of a terminal's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftScreen {
    /// One from before the last output.
    Older,
    Empty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    None,
    Normal,
    Error,
    Indeterminate,
    Paused,
}

macro_rules! kinds {
    ($($kind:ident $name:literal),* $(,)?) => {
        /// An event's name, to filter by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        pub enum EventKind { $($kind),* }

        impl EventKind {
            pub const ALL: &'static [EventKind] = &[$(EventKind::$kind),*];

            pub fn name(self) -> &'static str {
                match self { $(EventKind::$kind => $name),* }
            }
        }

        impl Event {
            pub fn kind(&self) -> EventKind {
                match self { $(Event::$kind { .. } => EventKind::$kind),* }
            }
        }
    };
}

kinds! {
    Created "created", Killed "killed", Exit "exit", Idle "idle", Activity "activity", Bell "bell",
    Title "title", Cwd "cwd", Prompt "prompt", CommandStart "command_start",
    CommandDone "command_done", AltScreen "alt_screen", Notification "notification",
    Clipboard "clipboard", Progress "progress", Graphics "graphics", Payload "payload",
    Resized "resized", Recording "recording", Attached "attached", Detached "detached", Taken "taken",
    Released "released", Screen "screen", Output "output", Workspace "workspace",
    Restarted "restarted", Lost "lost", Degraded "degraded",
}

impl EventKind {
    /// Live only: too many to keep, so given only to those who name them.
    pub fn opt_in(self) -> bool {
        matches!(self, EventKind::Screen | EventKind::Output)
    }
}

impl FromStr for EventKind {
    type Err = String;

    fn from_str(text: &str) -> Result<EventKind, String> {
        let found = EventKind::ALL.iter().find(|kind| kind.name() == text);
        found.copied().ok_or_else(|| {
            let names: Vec<_> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("no event is called {text:?}; there are {}", names.join(", "))
        })
    }
}

impl TryFrom<String> for EventKind {
    type Error = String;

    fn try_from(text: String) -> Result<EventKind, String> {
        text.parse()
    }
}

impl From<EventKind> for &'static str {
    fn from(kind: EventKind) -> &'static str {
        kind.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Workers keep events by the number of their kind, for the next worker to read.
    #[test]
    fn kinds_keep_their_numbers() {
        let place = |name: &str| EventKind::ALL.iter().position(|kind| kind.name() == name);
        let known = [("created", 0), ("bell", 5), ("command_done", 10), ("resized", 17)];
        for (name, number) in known.into_iter().chain([("restarted", 26), ("lost", 27)]) {
            assert_eq!(place(name), Some(number), "{name}: new kinds go to the end");
        }
    }

    #[test]
    fn the_table_of_names_agrees_with_serde() {
        let line = serde_json::to_value(Event::AltScreen { on: true }).unwrap();
        assert_eq!(line["event"], EventKind::AltScreen.name());
        for kind in EventKind::ALL {
            assert_eq!(kind.name().parse(), Ok(*kind));
        }
    }
}
