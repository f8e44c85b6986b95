//! The cursor as clients see it.

use serde::{Deserialize, Serialize};

use crate::term::{Cursor, CursorShape};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CursorState {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
    pub shape: Shape,
    pub blink: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    Block,
    Underline,
    Bar,
}

impl From<Cursor> for CursorState {
    fn from(cursor: Cursor) -> CursorState {
        let shape = match cursor.shape {
            CursorShape::Block => Shape::Block,
            CursorShape::Underline => Shape::Underline,
            CursorShape::Bar => Shape::Bar,
        };
        let (row, col, visible, blink) = (cursor.row, cursor.col, cursor.visible, cursor.blink);
        CursorState { row, col, visible, shape, blink }
    }
}

impl From<Shape> for CursorShape {
    fn from(shape: Shape) -> CursorShape {
        match shape {
            Shape::Block => CursorShape::Block,
            Shape::Underline => CursorShape::Underline,
            Shape::Bar => CursorShape::Bar,
        }
    }
}
