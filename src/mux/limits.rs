//! Every limit of the server, by name. PROTOCOL.md lists them, `hello` reports them.

use std::time::Duration;

use serde::Serialize;

/// Terminals at once, living and dead.
pub const MAX_TERMINALS: usize = 2048;
/// Dead terminals kept readable; the oldest goes first.
pub const MAX_DEAD: usize = 64;
/// Client connections at once.
pub const MAX_CONNECTIONS: usize = 1024;
/// Bytes of one request line.
pub const MAX_LINE: usize = 1 << 20;
/// Tagged requests one connection may have under way.
pub const MAX_IN_FLIGHT: usize = 64;
/// Event streams on one connection.
pub const MAX_SUBSCRIPTIONS: usize = 16;
/// Columns and rows of a terminal.
pub use crate::term::{MAX_COLS, MAX_ROWS};
pub const DEFAULT_COLS: u16 = 80;
pub const DEFAULT_ROWS: u16 = 24;
/// Characters of a terminal's name.
pub const MAX_NAME: usize = 64;
pub const MAX_LABELS: usize = 32;
/// Bytes of a label's key or value.
pub const MAX_LABEL: usize = 256;
/// Bytes typed that the program has not read yet.
pub const MAX_INPUT_QUEUE: usize = 256 << 10;
/// Bytes of answers to a program's queries that it has not read yet.
pub const MAX_REPLY_QUEUE: usize = 64 << 10;
/// Scrollback of a terminal, in lines and in bytes.
pub const DEFAULT_SCROLLBACK_LINES: u32 = 10_000;
pub const MAX_SCROLLBACK_LINES: u32 = 1_000_000;
pub const MAX_SCROLLBACK_BYTES: usize = 32 << 20;
/// Events kept for `since`, by number and by bytes.
pub const MAX_EVENTS: usize = 10_000;
pub const MAX_EVENT_BYTES: usize = 8 << 20;
/// Bytes of opt-in events (`screen`, `output`) kept for subscribers that lag.
pub const MAX_LIVE_BYTES: usize = 4 << 20;
/// Bytes of events handed to a connection at a time.
pub const STREAM_BATCH: usize = 64 << 10;
/// Views of terminals at once, and characters of a viewer's name.
pub const MAX_VIEWS: usize = 1024;
pub const MAX_VIEW_NAME: usize = 64;
/// Bytes of a program that a raw view has not read yet; with more it gets a redraw.
pub const MAX_RAW_QUEUE: usize = 256 << 10;
/// Recordings that run at once, and those that are over and can be asked about.
pub const MAX_RECORDINGS: usize = 64;
pub const MAX_ENDED_RECORDINGS: usize = 64;
/// Bytes of a recording that the disk or the client has not taken yet; more are left out.
pub const MAX_RECORDING_QUEUE: usize = 8 << 20;
/// Bytes of a recording handed to a client at a time.
pub const RECORDING_BATCH: usize = 256 << 10;
/// Bytes of a path.
pub const MAX_PATH: usize = 4096;
/// Terminals kept on disk, of all servers of a user, and bytes of them; the oldest go first.
pub const MAX_KEPT: usize = 512;
pub const MAX_KEPT_BYTES: u64 = 256 << 20;
/// Of one of them: bytes of packed rows that are copied, of its text, and of its file.
pub const MAX_KEPT_ROWS: usize = 4 << 20;
pub const MAX_KEPT_TEXT: usize = 4 << 20;
pub const MAX_KEPT_FILE: u64 = 12 << 20;
/// Bytes of a program and its arguments.
pub const MAX_ARGV: usize = 1 << 20;
/// Terminals written down at the same time, and requests that look at what is there.
pub const MAX_KEEPING: usize = 4;
pub const MAX_LOOKS_AT_DEAD: usize = 4;
/// Commands of a terminal that are remembered.
pub const MAX_COMMANDS: usize = 1000;
/// Layouts kept for clients, and bytes of JSON of each.
pub const MAX_WORKSPACES: usize = 16;
pub const MAX_WORKSPACE: usize = 16 << 10;
/// Raw bytes in one `output` event.
pub const MAX_OUTPUT_CHUNK: usize = 48 << 10;
/// Pixels of a picture, and bytes; a connection that has so many unread gets no more.
pub use crate::view::image::{MAX_BYTES as MAX_PICTURE_BYTES, MAX_PIXELS};
/// Pictures made at the same time, and waiting to be made.
pub const MAX_RENDERERS: usize = 8;
pub const MAX_PICTURES_WAITING: usize = 256;
/// Cells of all screens that wait to be drawn.
pub const MAX_CELLS_WAITING: usize = 8 << 20;
/// Waits and runs under way, and conditions of one wait.
pub const MAX_WAITS: usize = 4096;
pub const MAX_CONDITIONS: usize = 16;
/// Bytes that a compiled pattern may take.
pub const MAX_PATTERN: usize = 1 << 20;
/// Lines of output in one answer of `run`, and characters of each.
pub const MAX_RUN_LINES: usize = 100_000;
pub const DEFAULT_RUN_LINES: usize = 200;
pub const MAX_LINE_CHARS: usize = 10_000;
/// Bytes of a command line for `run`.
pub const MAX_RUN_COMMAND: usize = 64 << 10;
/// Bytes fed at a time while someone waits for text: no line leaves the scrollback unseen.
pub const OBSERVED_PIECE: usize = 8 << 10;
/// Moments of input that are remembered, to tell what came after each.
pub const MAX_MOMENTS: usize = 64;
/// Searches at the same time.
pub const MAX_SEARCHES: usize = 8;
/// Commands nested in one another (shells in shells) whose start is remembered.
pub const MAX_NESTED_COMMANDS: usize = 16;

pub const DEFAULT_IDLE_TIMEOUT_MS: u64 = 2000;
pub const MAX_IDLE_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// How long `wait` and `run` wait: unless they are told, and at most.
pub const DEFAULT_WAIT_MS: u64 = 30_000;
pub const DEFAULT_RUN_MS: u64 = 120_000;
pub const MAX_WAIT_MS: u64 = 24 * 60 * 60 * 1000;
/// So long after the last input or output the system is asked whether a program waits for input,
/// and then again after a growing pause.
pub const PROBE_QUIET: Duration = Duration::from_millis(30);
pub const PROBE_SLOWEST: Duration = Duration::from_millis(500);
/// After a command's end `run` waits so long for the prompt, which tells the directory.
pub const PROMPT_GRACE: Duration = Duration::from_millis(500);
/// A line editor that takes a line in and starts nothing for so long wants more of it.
pub const UNFINISHED_QUIET: Duration = Duration::from_millis(1000);
/// A prompt that was drawn again below the line that was entered counts after so long.
pub const REDRAWN_QUIET: Duration = Duration::from_millis(100);
/// Ctrl-C is pressed again after so long, and given up on after so long.
pub const CANCEL_AGAIN: Duration = Duration::from_millis(500);
pub const CANCEL_AT_MOST: Duration = Duration::from_secs(3);
/// When it was pressed more than once, the prompt must stand for so long before more is typed.
pub const CANCEL_CALM: Duration = Duration::from_millis(500);
/// How long `record_stop` waits for the disk.
pub const RECORDING_GRACE: Duration = Duration::from_secs(5);
/// A terminal is written down when it has been quiet for so long, but not again before so long.
pub const KEEP_QUIET: Duration = Duration::from_secs(1);
pub const KEEP_PACE: Duration = Duration::from_secs(3);
/// No disk is worn out: so many bytes a second are written of a terminal that goes quiet now and then,
/// and of one that does not.
pub const KEEP_RATE_QUIET: usize = 64 << 10;
pub const KEEP_RATE_BUSY: usize = 16 << 10;
/// After a failure it is tried again.
pub const KEEP_AGAIN: Duration = Duration::from_secs(10);
/// What is on disk of a program that ended is removed after so long, unless the server ends too.
pub const KEEP_GRACE: Duration = Duration::from_secs(5);
/// How long `create` waits for the first prompt with `ready`.
pub const READY_TIMEOUT: Duration = Duration::from_secs(10);
/// From SIGHUP to SIGKILL, and from SIGKILL to giving up on an answer.
pub const KILL_GRACE: Duration = Duration::from_secs(1);
/// A `screen` event comes after this much quiet, or at the latest after the second.
pub const SCREEN_QUIET: Duration = Duration::from_millis(20);
pub const SCREEN_AT_MOST: Duration = Duration::from_millis(200);
/// Frames of one view do not follow one another faster.
pub const FRAME_PACE: Duration = Duration::from_millis(8);
/// They do, when nothing more came for so long.
pub const FRAME_QUIET: Duration = Duration::from_millis(1);
/// For so long it is shown who typed last.
pub const TYPING_SHOWN: Duration = Duration::from_secs(2);
/// A program that begins a synchronized update and does not end it is not waited for longer.
pub const SYNC_TIMEOUT: Duration = Duration::from_millis(500);

/// What a client has to know, as `hello` tells it.
#[derive(Debug, Serialize)]
pub struct Limits {
    pub terminals: usize,
    pub dead_terminals: usize,
    pub connections: usize,
    pub line_bytes: usize,
    pub in_flight: usize,
    pub subscriptions: usize,
    pub views: usize,
    pub cols: u16,
    pub rows: u16,
    pub name_chars: usize,
    pub labels: usize,
    pub label_bytes: usize,
    pub input_queue_bytes: usize,
    pub scrollback_lines: u32,
    pub scrollback_bytes: usize,
    pub events: usize,
    pub event_bytes: usize,
    pub picture_pixels: usize,
    pub picture_bytes: usize,
    pub idle_timeout_ms: u64,
    pub waits: usize,
    pub conditions: usize,
    pub wait_ms: u64,
    pub run_lines: usize,
    pub recordings: usize,
    pub kept_terminals: usize,
    pub kept_bytes: u64,
}

impl Limits {
    pub const ALL: Limits = Limits {
        terminals: MAX_TERMINALS,
        dead_terminals: MAX_DEAD,
        connections: MAX_CONNECTIONS,
        line_bytes: MAX_LINE,
        in_flight: MAX_IN_FLIGHT,
        subscriptions: MAX_SUBSCRIPTIONS,
        views: MAX_VIEWS,
        cols: MAX_COLS,
        rows: MAX_ROWS,
        name_chars: MAX_NAME,
        labels: MAX_LABELS,
        label_bytes: MAX_LABEL,
        input_queue_bytes: MAX_INPUT_QUEUE,
        scrollback_lines: MAX_SCROLLBACK_LINES,
        scrollback_bytes: MAX_SCROLLBACK_BYTES,
        events: MAX_EVENTS,
        event_bytes: MAX_EVENT_BYTES,
        picture_pixels: MAX_PIXELS,
        picture_bytes: MAX_PICTURE_BYTES,
        idle_timeout_ms: MAX_IDLE_TIMEOUT_MS,
        waits: MAX_WAITS,
        conditions: MAX_CONDITIONS,
        wait_ms: MAX_WAIT_MS,
        run_lines: MAX_RUN_LINES,
        recordings: MAX_RECORDINGS,
        kept_terminals: MAX_KEPT,
        kept_bytes: MAX_KEPT_BYTES,
    };
}
