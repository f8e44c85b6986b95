//! mouse: a button, a move or the wheel at a cell, told as the program has asked to be told.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::target::Target;
use super::{Command, within};
use crate::input::Mods;
use crate::input::mouse::{Button, Cell, MouseEvent, MouseKind, Wheel, encode};
use crate::mux::{Mux, Ticket};
use crate::term::Terminal;
use crate::view::search::{self, MAX_NEEDLE, Needle};
use crate::wire::{Code, Failure};

/// Press a button of the mouse, move it or turn its wheel.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mouse {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,
    /// What the mouse does; a click is a press and a release
    #[arg(value_enum)]
    pub kind: Act,
    /// Row on the screen, 0 at the top
    #[arg(required_unless_present = "text")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<i64>,
    /// Column, 0 at the left
    #[arg(required_unless_present = "text")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub col: Option<i64>,
    /// Where this text stands on the screen, instead of row and column
    #[arg(long, conflicts_with_all = ["row", "col"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Which of several places where the text stands, 1 being the first
    #[arg(long, value_name = "N", requires = "text")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<i64>,
    /// Which button
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub button: Which,
    /// Modifiers held down: Ctrl, Alt, Shift
    #[arg(long = "mod", value_name = "MOD")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mods: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Act {
    Click,
    Press,
    Release,
    /// Moves with the button held
    Drag,
    /// Moves with none
    Move,
    WheelUp,
    WheelDown,
    WheelLeft,
    WheelRight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    #[default]
    Left,
    Middle,
    Right,
}

impl Command for Mouse {
    const NAME: &'static str = "mouse";

    fn run(self, mux: &mut Mux, ticket: &Ticket) -> Result<(), Failure> {
        let (id, by) = self.target.find(mux, ticket)?;
        let seq = mux.seq();
        let Some(terminal) = mux.get(id) else { return Ok(()) };
        let cell = self.cell(&terminal.grid)?;
        let mods = mods(&self.mods)?;
        let modes = terminal.grid.modes();
        let event = |kind| encode(&MouseEvent { kind, mods, cell, pixel: None }, modes);
        let bytes: Vec<u8> = self.kinds().into_iter().filter_map(event).flatten().collect();
        let told = !bytes.is_empty();
        mux.type_in(id, &bytes, by)?;
        let (row, col) = (cell.row, cell.col);
        mux.answer(ticket, serde_json::json!({ "told": told, "row": row, "col": col, "seq": seq }));
        Ok(())
    }
}

impl Mouse {
    fn cell(&self, grid: &Terminal) -> Result<Cell, Failure> {
        let size = grid.size();
        match (&self.text, self.row, self.col) {
            (Some(text), None, None) => self.text_cell(grid, text),
            (None, Some(row), Some(col)) if self.nth.is_none() => Ok(Cell {
                row: inside("row", row, size.rows)?,
                col: inside("col", col, size.cols)?,
            }),
            _ => Err(Failure::bad_value("mouse: give row and col, or text, perhaps with nth")),
        }
    }

    /// The middle of a text on the screen.
    fn text_cell(&self, grid: &Terminal, text: &str) -> Result<Cell, Failure> {
        let length = text.chars().count();
        within("text: its length", length as i64, 1, MAX_NEEDLE as u64)?;
        let nth = within("nth", self.nth.unwrap_or(1), 1, u64::from(u16::MAX))? as usize;
        let needle = Needle { text: text.to_owned(), ignore_case: false };
        let places = search::places(&grid.snapshot(0..grid.size().rows).rows, &needle);
        let place = places.get(nth - 1).and_then(|cells| cells.get(cells.len() / 2));
        let Some((row, col)) = place else {
            let error = format!("mouse: {text:?} stands {} times on the screen", places.len());
            return Err(Failure::new(Code::NotFound, error));
        };
        Ok(Cell { row: *row as u16, col: *col as u16 })
    }

    fn kinds(&self) -> Vec<MouseKind> {
        let button = match self.button {
            Which::Left => Button::Left,
            Which::Middle => Button::Middle,
            Which::Right => Button::Right,
        };
        match self.kind {
            Act::Click => vec![MouseKind::Press(button), MouseKind::Release(button)],
            Act::Press => vec![MouseKind::Press(button)],
            Act::Release => vec![MouseKind::Release(button)],
            Act::Drag => vec![MouseKind::Move(Some(button))],
            Act::Move => vec![MouseKind::Move(None)],
            Act::WheelUp => vec![MouseKind::Wheel(Wheel::Up)],
            Act::WheelDown => vec![MouseKind::Wheel(Wheel::Down)],
            Act::WheelLeft => vec![MouseKind::Wheel(Wheel::Left)],
            Act::WheelRight => vec![MouseKind::Wheel(Wheel::Right)],
        }
    }
}

fn inside(what: &str, value: i64, length: u16) -> Result<u16, Failure> {
    let found = u16::try_from(value).ok().filter(|value| *value < length);
    found.ok_or_else(|| {
        Failure::bad_value(format!("mouse: {what} must be 0 to {}, not {value}", length - 1))
    })
}

fn mods(names: &[String]) -> Result<Mods, Failure> {
    let named = |name: &String| {
        let error = || Failure::bad_value(format!("mouse: mods: {name:?} is no modifier"));
        Mods::named(name).ok_or_else(error)
    };
    names.iter().map(named).try_fold(Mods::NONE, |all, one| Ok(all | one?))
}
