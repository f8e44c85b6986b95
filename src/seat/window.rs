//! A window: panes in a layout, one of which has the focus.

use serde::{Deserialize, Serialize};

use super::layout::{Area, Arrangement, Axis, Direction, Node, PaneId, Placed};

/// Characters of a window's name.
pub const MAX_WINDOW_NAME: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Given by a person; else it is called after what runs in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub tree: Node,
    pub focus: PaneId,
    #[serde(skip)]
    last: Option<PaneId>,
    #[serde(skip)]
    pub zoomed: bool,
    #[serde(skip)]
    arrangement: Arrangement,
    /// Something happened there that nobody has looked at.
    #[serde(skip)]
    pub alert: bool,
}

impl Window {
    pub fn new(pane: PaneId, terminal: &str) -> Window {
        Window {
            name: None,
            tree: Node::pane(pane, terminal),
            focus: pane,
            last: None,
            zoomed: false,
            arrangement: Arrangement::default(),
            alert: false,
        }
    }

    /// What is drawn where. When there is no room for all, the focused pane has it alone.
    pub fn places(&self, area: Area) -> Vec<Placed> {
        let all = if self.zoomed { Vec::new() } else { self.tree.places(area) };
        if all.is_empty() { vec![Placed { id: self.focus, area }] } else { all }
    }

    pub fn go(&mut self, pane: PaneId) {
        if pane != self.focus && self.tree.terminal(pane).is_some() {
            self.last = Some(self.focus);
            self.focus = pane;
        }
    }

    pub fn go_towards(&mut self, towards: Direction, area: Area) {
        self.zoomed = false;
        if let Some(pane) = self.tree.neighbour(self.focus, towards, area) {
            self.go(pane);
        }
    }

    /// The pane that many places after the focused one, around the end.
    fn pane_after(&self, steps: usize) -> PaneId {
        let panes = self.tree.panes();
        let at = panes.iter().position(|(id, _)| *id == self.focus).unwrap_or(0);
        panes.get((at + steps) % panes.len().max(1)).map_or(self.focus, |(id, _)| *id)
    }

    pub fn go_next(&mut self) {
        self.go(self.pane_after(1));
    }

    pub fn go_back(&mut self) {
        if let Some(last) = self.last {
            self.go(last);
        }
    }

    pub fn swap(&mut self, forward: bool) {
        let steps = if forward { 1 } else { self.tree.panes().len().saturating_sub(1) };
        self.tree = self.tree.swapped(self.focus, self.pane_after(steps));
    }

    pub fn arrange(&mut self) {
        self.zoomed = false;
        self.tree = self.tree.arranged(self.arrangement);
        self.arrangement = self.arrangement.next();
    }

    /// Puts a new pane beside the focused one; false when there is no room.
    pub fn split(&mut self, pane: PaneId, terminal: &str, axis: Axis, area: Area) -> bool {
        let new = Node::pane(pane, terminal);
        match self.tree.add(self.focus, axis, new, area) {
            Some(tree) => {
                self.tree = tree;
                self.zoomed = false;
                self.go(pane);
                true
            }
            None => false,
        }
    }

    /// Takes a pane out; false when it was the last one.
    pub fn remove(&mut self, pane: PaneId) -> bool {
        let Some(tree) = self.tree.without(pane) else { return false };
        self.tree = tree;
        self.zoomed = false;
        if self.focus == pane {
            let next = self.last.filter(|last| self.tree.terminal(*last).is_some());
            self.focus = next.unwrap_or_else(|| self.tree.panes()[0].0);
        }
        self.last = self.last.filter(|last| *last != pane);
        true
    }

    pub fn rename(&mut self, name: &str) {
        let name: String =
            name.trim().chars().filter(|c| !c.is_control()).take(MAX_WINDOW_NAME).collect();
        self.name = (!name.is_empty()).then_some(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area { x: 0, y: 0, cols: 80, rows: 24 };

    fn two() -> Window {
        let mut window = Window::new(PaneId(1), "t1");
        assert!(window.split(PaneId(2), "t2", Axis::Columns, AREA));
        window
    }

    #[test]
    fn a_new_pane_has_the_focus_and_gives_it_back() {
        let mut window = two();
        assert_eq!(window.focus, PaneId(2));
        window.go_towards(Direction::Left, AREA);
        assert_eq!(window.focus, PaneId(1));
        window.go_back();
        assert_eq!(window.focus, PaneId(2));
        assert!(window.remove(PaneId(2)));
        assert_eq!(window.focus, PaneId(1));
        assert!(!window.remove(PaneId(1)));
    }

    #[test]
    fn a_zoomed_pane_is_alone_and_so_is_one_without_room() {
        let mut window = two();
        assert_eq!(window.places(AREA).len(), 2);
        window.zoomed = true;
        assert_eq!(window.places(AREA), [Placed { id: PaneId(2), area: AREA }]);
        window.zoomed = false;
        let tiny = Area { cols: 3, rows: 2, ..AREA };
        assert_eq!(window.places(tiny), [Placed { id: PaneId(2), area: tiny }]);
    }

    #[test]
    fn names_are_cleaned_and_can_be_taken_away() {
        let mut window = two();
        window.rename(" a\u{1b}b ");
        assert_eq!(window.name.as_deref(), Some("ab"));
        window.rename("");
        assert_eq!(window.name, None);
    }
}
