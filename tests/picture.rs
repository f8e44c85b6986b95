//! Screenshots as a reader sees them: against pictures that were looked at, and by OCR.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[path = "picture/golden.rs"]
mod golden;
#[path = "picture/ocr.rs"]
mod ocr;
#[path = "picture/support.rs"]
mod support;
