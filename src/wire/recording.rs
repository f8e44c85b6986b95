//! Recordings on the wire: what is known of them, and their lines.

use serde::Serialize;

use crate::cast::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingState {
    Started,
    Ended,
    Failed,
}

/// What is known of a recording.
#[derive(Debug, Clone, Serialize)]
pub struct RecordingSummary {
    pub recording: String,
    pub id: String,
    pub format: Format,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub input: bool,
    pub state: RecordingState,
    pub duration_ms: u64,
    pub events: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub lost: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Whole lines of a recording that goes to a client.
#[derive(Debug, Serialize)]
pub struct RecordedLines {
    pub recording: String,
    pub data: String,
    #[serde(skip_serializing_if = "is_none")]
    pub lost: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}
