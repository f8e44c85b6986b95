//! Every limit that one can meet, by name. PROTOCOL.md lists them, `hello` and `doctor` report them.
//!
//! What belongs to a pure module stands there, next to the code that keeps to it, and is named
//! again here. Whatever is above a limit is refused with an error, or cut as PROTOCOL.md says.

use std::time::Duration;

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
/// What a program's bytes may bring about.
pub use crate::term::{
    MAX_CLIPBOARD, MAX_COMMAND, MAX_CWD, MAX_JOINED, MAX_LINK_ID, MAX_LINKS, MAX_NOTIFICATION,
    MAX_OSC, MAX_PARAMS, MAX_SEQUENCE, MAX_SHELL_ID, MAX_SHELLS, MAX_STACK, MAX_STRING, MAX_STYLES,
    MAX_TITLE, MAX_TITLES, MAX_URI,
};
/// Columns and rows of a terminal.
pub use crate::term::{MAX_COLS, MAX_ROWS};
/// Bytes of a request's tag.
pub use crate::wire::MAX_TAG;
/// Bytes of program, arguments, environment and directory together.
pub const MAX_SPAWN: usize = 1 << 20;
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
/// Scrollback of all terminals together, in bytes: the ceiling, and what it can be set to.
pub const DEFAULT_SCROLLBACK_TOTAL: usize = 1 << 30;
pub const MIN_SCROLLBACK_TOTAL: usize = 4 << 20;
pub const MAX_SCROLLBACK_TOTAL: usize = MAX_TERMINALS * MAX_SCROLLBACK_BYTES;
/// Bytes of scrollback that are dropped at a time, and kept free for what one turn brings.
pub const SCROLLBACK_STEP: usize = 1 << 20;
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
/// Its scale, pixels added to a cell, and colours of a theme.
pub use crate::view::image::{MAX_PAD, MAX_SCALE};
pub use crate::view::theme::MAX_COLORS;
/// Rows of a picture.
pub const MAX_PICTURE_ROWS: usize = 10_000;
/// Tokens that a picture or a look may be bounded to.
pub const MAX_TOKENS: u64 = 1_000_000;
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
/// Bytes of its first lines that are kept while the scrollback may drop them.
pub const MAX_RUN_HEAD: usize = 8 << 20;
/// Bytes of a command line for `run`.
pub const MAX_RUN_COMMAND: usize = 64 << 10;
/// Lines in one answer of `text`, and rows in one of `cells`.
pub const MAX_TEXT_LINES: usize = 100_000;
pub const MAX_CELL_ROWS: u64 = 5000;
/// Matches in one answer of `search`, lines around each, and bytes of all.
pub const MAX_MATCHES: u64 = 10_000;
pub const MAX_CONTEXT: u64 = 100;
pub use crate::view::grep::MAX_BYTES as MAX_MATCH_BYTES;
/// Characters of a text to be found on the screen.
pub use crate::view::search::MAX_NEEDLE;
/// Keys in one request, bytes of a key's name, and characters of its text.
pub const MAX_KEYS: usize = 1000;
pub use crate::input::{MAX_NAME as MAX_KEY_NAME, MAX_TEXT_CHARS};
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

/// Those of the programs around the server: the path of its socket, a configuration, recordings
/// that are played or made into films.
pub const MAX_SOCKET_PATH: usize = 103;
pub const MAX_CONFIG: u64 = 256 << 10;
pub use crate::cast::{MAX_CAST_BYTES, MAX_CAST_LINE, MAX_FILM_BYTES, MAX_FRAMES};
/// Buffers that tmux's words keep, and bytes of each; signals to channels where nobody waits.
pub const MAX_TMUX_BUFFERS: usize = 50;
pub const MAX_TMUX_BUFFER: u64 = 16 << 20;
pub const MAX_TMUX_SIGNALS: usize = 256;
/// Tools for models: calls at once; how long one waits, as clients give up after a minute or so;
/// lines and bytes of an answer, about 8000 tokens, below what clients warn of; bytes of a line.
pub const MAX_MCP_CALLS: usize = 64;
pub const MAX_MCP_WAIT_MS: u32 = 50_000;
pub const MAX_MCP_LINES: u32 = 2000;
pub const MAX_MCP_TEXT: usize = 24 << 10;
pub const MAX_MCP_LINE: usize = 2 << 10;

type Named = (&'static str, u64);

/// What the server keeps to, by the names that clients know: `hello` has them.
pub const SERVER: &[Named] = &[
    ("terminals", MAX_TERMINALS as u64),
    ("dead_terminals", MAX_DEAD as u64),
    ("connections", MAX_CONNECTIONS as u64),
    ("line_bytes", MAX_LINE as u64),
    ("tag_bytes", MAX_TAG as u64),
    ("in_flight", MAX_IN_FLIGHT as u64),
    ("subscriptions", MAX_SUBSCRIPTIONS as u64),
    ("cols", MAX_COLS as u64),
    ("rows", MAX_ROWS as u64),
    ("name_chars", MAX_NAME as u64),
    ("labels", MAX_LABELS as u64),
    ("label_bytes", MAX_LABEL as u64),
    ("spawn_bytes", MAX_SPAWN as u64),
    ("ready_ms", READY_TIMEOUT.as_millis() as u64),
    ("kill_ms", KILL_GRACE.as_millis() as u64),
    ("idle_timeout_ms", MAX_IDLE_TIMEOUT_MS),
    ("scrollback_lines", MAX_SCROLLBACK_LINES as u64),
    ("scrollback_bytes", MAX_SCROLLBACK_BYTES as u64),
    (SCROLLBACK_TOTAL, DEFAULT_SCROLLBACK_TOTAL as u64),
    ("input_queue_bytes", MAX_INPUT_QUEUE as u64),
    ("reply_queue_bytes", MAX_REPLY_QUEUE as u64),
    ("keys", MAX_KEYS as u64),
    ("key_name_bytes", MAX_KEY_NAME as u64),
    ("key_text_chars", MAX_TEXT_CHARS as u64),
    ("events", MAX_EVENTS as u64),
    ("event_bytes", MAX_EVENT_BYTES as u64),
    ("live_event_bytes", MAX_LIVE_BYTES as u64),
    ("output_event_bytes", MAX_OUTPUT_CHUNK as u64),
    ("waits", MAX_WAITS as u64),
    ("conditions", MAX_CONDITIONS as u64),
    ("wait_ms", MAX_WAIT_MS),
    ("pattern_bytes", MAX_PATTERN as u64),
    ("run_command_bytes", MAX_RUN_COMMAND as u64),
    ("run_lines", MAX_RUN_LINES as u64),
    ("run_line_chars", MAX_LINE_CHARS as u64),
    ("run_head_bytes", MAX_RUN_HEAD as u64),
    ("commands", MAX_COMMANDS as u64),
    ("nested_commands", MAX_NESTED_COMMANDS as u64),
    ("text_lines", MAX_TEXT_LINES as u64),
    ("cell_rows", MAX_CELL_ROWS),
    ("searches", MAX_SEARCHES as u64),
    ("matches", MAX_MATCHES),
    ("match_context", MAX_CONTEXT),
    ("match_bytes", MAX_MATCH_BYTES as u64),
    ("needle_chars", MAX_NEEDLE as u64),
    ("tokens", MAX_TOKENS),
    ("picture_pixels", MAX_PIXELS as u64),
    ("picture_bytes", MAX_PICTURE_BYTES as u64),
    ("picture_rows", MAX_PICTURE_ROWS as u64),
    ("picture_scale", MAX_SCALE as u64),
    ("picture_pad", MAX_PAD as u64),
    ("picture_colors", MAX_COLORS as u64),
    ("pictures", MAX_RENDERERS as u64),
    ("pictures_waiting", MAX_PICTURES_WAITING as u64),
    ("cells_waiting", MAX_CELLS_WAITING as u64),
    ("views", MAX_VIEWS as u64),
    ("view_name_chars", MAX_VIEW_NAME as u64),
    ("raw_queue_bytes", MAX_RAW_QUEUE as u64),
    ("workspaces", MAX_WORKSPACES as u64),
    ("workspace_bytes", MAX_WORKSPACE as u64),
    ("recordings", MAX_RECORDINGS as u64),
    ("ended_recordings", MAX_ENDED_RECORDINGS as u64),
    ("recording_queue_bytes", MAX_RECORDING_QUEUE as u64),
    ("recording_grace_ms", RECORDING_GRACE.as_millis() as u64),
    ("kept_terminals", MAX_KEPT as u64),
    ("kept_bytes", MAX_KEPT_BYTES),
    ("kept_text_bytes", MAX_KEPT_TEXT as u64),
    ("path_bytes", MAX_PATH as u64),
    ("osc_bytes", MAX_OSC as u64),
    ("string_bytes", MAX_STRING as u64),
    ("sequence_bytes", MAX_SEQUENCE as u64),
    ("params", MAX_PARAMS as u64),
    ("title_chars", MAX_TITLE as u64),
    ("titles", MAX_TITLES as u64),
    ("cwd_chars", MAX_CWD as u64),
    ("notification_chars", MAX_NOTIFICATION as u64),
    ("clipboard_bytes", MAX_CLIPBOARD as u64),
    ("link_bytes", MAX_URI as u64),
    ("link_id_bytes", MAX_LINK_ID as u64),
    ("links", MAX_LINKS as u64),
    ("styles", MAX_STYLES as u64),
    ("marks_per_cell", MAX_JOINED as u64),
    ("keyboard_stack", MAX_STACK as u64),
    ("shells", MAX_SHELLS as u64),
    ("shell_id_bytes", MAX_SHELL_ID as u64),
    ("command_bytes", MAX_COMMAND as u64),
    ("sync_ms", SYNC_TIMEOUT.as_millis() as u64),
];

/// The one that can be set: the server tells it as it is.
pub const SCROLLBACK_TOTAL: &str = "scrollback_total_bytes";

/// What the program itself keeps to where it is no server: `doctor` has them.
pub const PROGRAM: &[Named] = &[
    ("socket_path_bytes", MAX_SOCKET_PATH as u64),
    ("config_bytes", MAX_CONFIG),
    ("cast_bytes", MAX_CAST_BYTES as u64),
    ("cast_line_bytes", MAX_CAST_LINE as u64),
    ("film_screens", MAX_FRAMES as u64),
    ("film_bytes", MAX_FILM_BYTES as u64),
    ("tmux_buffers", MAX_TMUX_BUFFERS as u64),
    ("tmux_buffer_bytes", MAX_TMUX_BUFFER),
    ("tmux_signals", MAX_TMUX_SIGNALS as u64),
    ("mcp_calls", MAX_MCP_CALLS as u64),
    ("mcp_wait_ms", MAX_MCP_WAIT_MS as u64),
    ("mcp_lines", MAX_MCP_LINES as u64),
    ("mcp_text_bytes", MAX_MCP_TEXT as u64),
    ("mcp_line_bytes", MAX_MCP_LINE as u64),
];
