//! The mouse: focus, borders, selections, the wheel; or what the program has asked for.

use super::app::{App, Drag, Pending, Pointer};
use super::layout::PaneId;
use super::scroll::Spot;
use crate::command::{self, Act, Which};

/// Rows that one notch of the wheel goes.
const WHEEL_ROWS: isize = 3;

impl App {
    pub(super) fn pointer(&mut self, pointer: &Pointer) {
        if self.overlay.is_some() {
            return self.overlay_pointer(pointer);
        }
        let at = self.pane_at(pointer.x, pointer.y);
        if let Some((id, spot)) = at.filter(|(id, _)| self.goes_to_program(*id, pointer)) {
            self.focus_on(id, pointer);
            return self.tell_program(id, spot, pointer);
        }
        match (pointer.act, at) {
            (Act::WheelUp | Act::WheelDown, Some((id, _))) => self.wheel(id, pointer),
            (Act::Press, Some((id, spot))) => {
                self.focus_on(id, pointer);
                self.drag = (pointer.button == Which::Left).then_some(Drag::Pressed(id, spot));
                if pointer.button == Which::Middle && !self.view_only() {
                    self.paste_text(self.copied.clone());
                }
            }
            (Act::Press, None) => self.press_outside(pointer),
            (Act::Drag, _) => self.drag(pointer),
            (Act::Release, _) => self.release(),
            _ => {}
        }
    }

    /// The pane at a cell, and the place in it.
    fn pane_at(&self, x: u16, y: u16) -> Option<(PaneId, Spot)> {
        let places = self.window()?.places(self.area());
        let placed = places.into_iter().find(|placed| placed.area.contains(x, y))?;
        let spot =
            Spot { row: usize::from(y - placed.area.y), col: usize::from(x - placed.area.x) };
        Some((placed.id, spot))
    }

    /// Programs that asked for the mouse have it, but for Shift, which is the person's own.
    fn goes_to_program(&self, id: PaneId, pointer: &Pointer) -> bool {
        let Some(pane) = self.panes.get(&id).filter(|pane| pane.scroll.is_none()) else {
            return false;
        };
        let state = &pane.screen.state;
        let wheel = matches!(pointer.act, Act::WheelUp | Act::WheelDown);
        let shift = pointer.mods.iter().any(|name| name == "Shift");
        !self.view_only() && !shift && (state.mouse || (wheel && state.alt_screen))
    }

    fn focus_on(&mut self, id: PaneId, pointer: &Pointer) {
        if pointer.act == Act::Press
            && let Some(window) = self.window_mut()
        {
            window.go(id);
        }
    }

    fn tell_program(&mut self, id: PaneId, spot: Spot, pointer: &Pointer) {
        let Some(pane) = self.panes.get(&id) else { return };
        let (row, col) = pane.shown_from();
        let (row, col) = (spot.row + row, spot.col + col);
        let inside = row < pane.screen.rows.len() && col < usize::from(pane.screen.cols);
        let Some(view) = pane.view.filter(|_| inside) else { return };
        let mouse = command::Mouse {
            target: command::Target::view(view),
            kind: pointer.act,
            row: Some(row as i64),
            col: Some(col as i64),
            text: None,
            nth: None,
            button: pointer.button,
            mods: pointer.mods.clone(),
        };
        self.ask(&mouse, Pending::Other);
    }

    fn wheel(&mut self, id: PaneId, pointer: &Pointer) {
        if let Some(window) = self.window_mut() {
            window.go(id);
        }
        let up = pointer.act == Act::WheelUp;
        if up {
            self.open_scroll();
        }
        let rows = if up { -WHEEL_ROWS } else { WHEEL_ROWS };
        self.in_scroll(|scroll| scroll.scroll(rows));
        let at_end = self.focused_pane().is_some_and(|(_, pane)| {
            let scroll = pane.scroll.as_ref();
            scroll.is_some_and(|s| !s.is_empty() && s.below() == 0 && !s.has_selection())
        });
        if !up && at_end {
            self.end_scroll();
        }
    }

    /// On a border, or in the status bar.
    fn press_outside(&mut self, pointer: &Pointer) {
        let area = self.area();
        if pointer.y >= area.rows {
            if let Some(index) = self.window_in_status(pointer.x) {
                self.go_to_window(index);
            }
            return;
        }
        let border =
            self.window().and_then(|window| window.tree.border_at(pointer.x, pointer.y, area));
        self.drag = border.map(Drag::Border);
    }

    fn drag(&mut self, pointer: &Pointer) {
        match self.drag.take() {
            Some(Drag::Border(border)) => {
                if let Some(window) = self.window_mut() {
                    window.tree.drag(&border, pointer.x, pointer.y);
                }
                self.drag = Some(Drag::Border(border));
            }
            Some(Drag::Pressed(id, from)) => {
                let to = self.pane_at(pointer.x, pointer.y).map_or(from, |(_, spot)| spot);
                self.select(id, from, to);
                self.drag = Some(Drag::Select(id));
            }
            Some(Drag::Select(id)) => {
                if let Some((at, spot)) = self.pane_at(pointer.x, pointer.y).filter(|at| at.0 == id)
                    && let Some(pane) = self.panes.get_mut(&at)
                {
                    match (&mut pane.scroll, &mut pane.select) {
                        (_, Some((_, to))) => *to = spot,
                        (Some(scroll), None) => scroll.drag_to(spot),
                        _ => {}
                    }
                }
                self.drag = Some(Drag::Select(id));
            }
            None => {}
        }
    }

    fn release(&mut self) {
        let Some(Drag::Select(id)) = self.drag.take() else { return };
        match self.panes.get_mut(&id).filter(|pane| pane.select.is_some()) {
            Some(pane) => pane.copies = true,
            None => self.copy_selection(),
        }
    }
}
