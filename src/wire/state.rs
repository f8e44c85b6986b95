//! The cursor as clients see it.

use serde::Serialize;

use crate::term::{Cursor, CursorShape};

#[derive(Debug, Serialize)]
pub struct CursorState {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
    pub shape: &'static str,
    pub blink: bool,
}

impl From<Cursor> for CursorState {
    fn from(cursor: Cursor) -> CursorState {
        let shape = match cursor.shape {
            CursorShape::Block => "block",
            CursorShape::Underline => "underline",
            CursorShape::Bar => "bar",
        };
        let (row, col, visible, blink) = (cursor.row, cursor.col, cursor.visible, cursor.blink);
        CursorState { row, col, visible, shape, blink }
    }
}
