//! What goes over the socket: one JSON object a line, both ways.

mod event;
mod failure;
mod found;
mod frame;
mod line;
pub mod pairs;
mod picture;
mod recording;
mod runs;
mod state;

pub use event::{Event, EventKind, LeftScreen, Progress};
pub use failure::{Code, Failure};
pub use found::SearchAnswer;
pub use frame::{
    Attached, Frame, FrameRow, Hex, Line, Look, Paint, RawOutput, Role, Run, ViewState,
};
pub use line::{
    MAX_TAG, Request, Tag, answer, event_line, failure_line, frame_line, parse, request_line,
    tagged_request_line,
};
pub use pairs::Pair;
pub use picture::PictureHeader;
pub use recording::{RecordedLines, RecordingState, RecordingSummary};
pub use runs::Looks;
pub use state::{CursorState, Shape};
