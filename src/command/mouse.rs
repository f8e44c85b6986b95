//! mouse: a button, a move or the wheel at a cell, told as the program has asked to be told.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::Command;
use super::target::target;
use crate::input::Mods;
use crate::input::mouse::{Button, Cell, MouseEvent, MouseKind, Wheel, encode};
use crate::mux::{Mux, Ticket};
use crate::wire::Failure;

/// Press a button of the mouse, move it or turn its wheel.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mouse {
    /// The terminal's id or name
    #[arg(required = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<u32>,
    /// What the mouse does; a click is a press and a release
    #[arg(value_enum)]
    pub kind: Act,
    /// Row on the screen, 0 at the top
    pub row: i64,
    /// Column, 0 at the left
    pub col: i64,
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
        let (id, by) = target(mux, ticket, self.id.as_deref(), self.view)?;
        let seq = mux.seq();
        let Some(terminal) = mux.get(id) else { return Ok(()) };
        let size = terminal.grid.size();
        let cell = Cell {
            row: inside("row", self.row, size.rows)?,
            col: inside("col", self.col, size.cols)?,
        };
        let mods = mods(&self.mods)?;
        let modes = terminal.grid.modes();
        let event = |kind| encode(&MouseEvent { kind, mods, cell, pixel: None }, modes);
        let bytes: Vec<u8> = self.kinds().into_iter().filter_map(event).flatten().collect();
        let told = !bytes.is_empty();
        mux.type_in(id, &bytes, by)?;
        mux.answer(ticket, serde_json::json!({ "told": told, "seq": seq }));
        Ok(())
    }
}

impl Mouse {
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
