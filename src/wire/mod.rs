//! What goes over the socket: one JSON object a line, both ways.

mod event;
mod failure;
mod line;
pub mod pairs;
mod picture;
mod state;

pub use event::{Event, EventKind, Progress};
pub use failure::{Code, Failure};
pub use line::{Request, Tag, answer, event_line, failure_line, parse, request_line};
pub use pairs::Pair;
pub use picture::PictureHeader;
pub use state::CursorState;
