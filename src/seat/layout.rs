//! Where panes lie: a tree of splits over an area of cells.

use serde::{Deserialize, Serialize};

/// The smallest pane that a split may leave.
pub const MIN_COLS: u16 = 10;
pub const MIN_ROWS: u16 = 3;
/// Shares are counted in parts of this.
const WHOLE: u32 = 10_000;

/// A pane of one client; never given out twice by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PaneId(pub u32);

/// Cells of the outer screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    pub x: u16,
    pub y: u16,
    pub cols: u16,
    pub rows: u16,
}

impl Area {
    pub fn contains(self, x: u16, y: u16) -> bool {
        let inside = |at: u16, start: u16, length: u16| at >= start && at - start < length;
        inside(x, self.x, self.cols) && inside(y, self.y, self.rows)
    }

    /// Without the cells of a frame around it.
    fn within_frame(self) -> Area {
        Area {
            x: self.x.saturating_add(1),
            y: self.y.saturating_add(1),
            cols: self.cols.saturating_sub(2),
            rows: self.rows.saturating_sub(2),
        }
    }

    fn is_usable(self) -> bool {
        self.cols >= 2 && self.rows >= 1
    }
}

/// How the two halves of a split lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Side by side.
    Columns,
    /// One above the other.
    Rows,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Left,
    Down,
    Up,
    Right,
}

impl Direction {
    fn axis(self) -> Axis {
        match self {
            Direction::Left | Direction::Right => Axis::Columns,
            Direction::Up | Direction::Down => Axis::Rows,
        }
    }

    /// Towards the second half of a split.
    fn is_forward(self) -> bool {
        matches!(self, Direction::Right | Direction::Down)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    Pane {
        id: PaneId,
        terminal: String,
    },
    Split {
        axis: Axis,
        /// The first half's part of the whole.
        share: u32,
        halves: Box<[Node; 2]>,
    },
}

/// A pane and where its content is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    pub id: PaneId,
    pub area: Area,
}

/// The line between two halves: dragging it moves `share`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Border {
    /// Which half to take at each split on the way to this one.
    path: Vec<usize>,
    axis: Axis,
    whole: Area,
}

/// Arrangements that a window goes through one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    #[default]
    EvenColumns,
    EvenRows,
    MainColumn,
    Tiled,
}

impl Arrangement {
    #[must_use]
    pub fn next(self) -> Arrangement {
        match self {
            Arrangement::EvenColumns => Arrangement::EvenRows,
            Arrangement::EvenRows => Arrangement::MainColumn,
            Arrangement::MainColumn => Arrangement::Tiled,
            Arrangement::Tiled => Arrangement::EvenColumns,
        }
    }
}

impl Node {
    pub fn pane(id: PaneId, terminal: &str) -> Node {
        Node::Pane { id, terminal: terminal.to_owned() }
    }

    fn split(axis: Axis, share: u32, first: Node, second: Node) -> Node {
        Node::Split { axis, share, halves: Box::new([first, second]) }
    }

    /// Panes with their terminals, from the top left on.
    pub fn panes(&self) -> Vec<(PaneId, &str)> {
        match self {
            Node::Pane { id, terminal } => vec![(*id, terminal)],
            Node::Split { halves, .. } => halves.iter().flat_map(Node::panes).collect(),
        }
    }

    pub fn terminal(&self, pane: PaneId) -> Option<&str> {
        self.panes().into_iter().find(|(id, _)| *id == pane).map(|(_, terminal)| terminal)
    }

    /// The same splits with other panes in them.
    #[must_use]
    pub fn renamed(&self, name: &mut impl FnMut(PaneId, &str) -> (PaneId, String)) -> Node {
        match self {
            Node::Pane { id, terminal } => {
                let (id, terminal) = name(*id, terminal);
                Node::Pane { id, terminal }
            }
            Node::Split { axis, share, halves } => {
                let (first, second) = (halves[0].renamed(name), halves[1].renamed(name));
                Node::split(*axis, *share, first, second)
            }
        }
    }

    fn is_pane(&self, pane: PaneId) -> bool {
        matches!(self, Node::Pane { id, .. } if *id == pane)
    }

    fn holds(&self, pane: PaneId) -> bool {
        self.panes().iter().any(|(id, _)| *id == pane)
    }

    /// A frame is drawn only where there is something to tell apart.
    fn content(&self, area: Area) -> Area {
        match self {
            Node::Pane { .. } => area,
            Node::Split { .. } => area.within_frame(),
        }
    }

    /// Where each pane's content lies; empty when there is no room for all of them.
    pub fn places(&self, area: Area) -> Vec<Placed> {
        let mut places = Vec::new();
        self.place(self.content(area), &mut places);
        if places.len() > 1 && places.iter().any(|placed| !placed.area.is_usable()) {
            places.clear();
        }
        places
    }

    fn place(&self, area: Area, places: &mut Vec<Placed>) {
        match self {
            Node::Pane { id, .. } => places.push(Placed { id: *id, area }),
            Node::Split { axis, share, halves } => {
                let [first, second] = cut(area, *axis, *share);
                halves[0].place(first, places);
                halves[1].place(second, places);
            }
        }
    }

    /// Puts a new pane beside another; None when they would be too small.
    pub fn add(&self, beside: PaneId, axis: Axis, new: Node, area: Area) -> Option<Node> {
        let half = Node::split(axis, WHOLE / 2, Node::pane(beside, self.terminal(beside)?), new);
        let added = self.replaced(beside, &half);
        let places = added.places(area);
        let news = half.panes();
        let roomy = |placed: &Placed| placed.area.cols >= MIN_COLS && placed.area.rows >= MIN_ROWS;
        let made = |placed: &&Placed| news.iter().any(|(id, _)| *id == placed.id);
        (!places.is_empty() && places.iter().filter(made).all(roomy)).then_some(added)
    }

    fn replaced(&self, pane: PaneId, by: &Node) -> Node {
        match self {
            node if node.is_pane(pane) => by.clone(),
            Node::Pane { .. } => self.clone(),
            Node::Split { axis, share, halves } => Node::split(
                *axis,
                *share,
                halves[0].replaced(pane, by),
                halves[1].replaced(pane, by),
            ),
        }
    }

    /// Takes a pane out; its sibling gets the room. None when it was the last one.
    pub fn without(&self, pane: PaneId) -> Option<Node> {
        match self {
            Node::Pane { id, .. } => (*id != pane).then(|| self.clone()),
            Node::Split { axis, share, halves } => {
                match (halves[0].without(pane), halves[1].without(pane)) {
                    (Some(first), Some(second)) => Some(Node::split(*axis, *share, first, second)),
                    (first, second) => first.or(second),
                }
            }
        }
    }

    /// The two panes change places.
    #[must_use]
    pub fn swapped(&self, a: PaneId, b: PaneId) -> Node {
        let (Some(first), Some(second)) = (self.terminal(a), self.terminal(b)) else {
            return self.clone();
        };
        let stand_in = Node::pane(PaneId(u32::MAX), "");
        self.replaced(a, &stand_in)
            .replaced(b, &Node::pane(a, first))
            .replaced(PaneId(u32::MAX), &Node::pane(b, second))
    }

    /// The nearest pane that way: of those that touch, the one that shares most of the side.
    pub fn neighbour(&self, pane: PaneId, towards: Direction, area: Area) -> Option<PaneId> {
        let places = self.places(area);
        let from = places.iter().find(|placed| placed.id == pane)?.area;
        let beyond = places.iter().filter_map(|placed| {
            let (gap, shared) = relation(from, placed.area, towards)?;
            Some((gap, std::cmp::Reverse(shared), placed.id))
        });
        beyond.min().map(|(.., id)| id)
    }

    /// Moves the border on that side of a pane by some cells; at the edge, the one opposite.
    pub fn grow(&mut self, pane: PaneId, towards: Direction, cells: u16, area: Area) -> bool {
        let content = self.content(area);
        self.grow_in(pane, towards, towards.is_forward(), cells, content)
            || self.grow_in(pane, towards, !towards.is_forward(), cells, content)
    }

    /// `first` says which half the pane has to be in.
    fn grow_in(
        &mut self,
        pane: PaneId,
        towards: Direction,
        first: bool,
        cells: u16,
        area: Area,
    ) -> bool {
        let Node::Split { axis, share, halves } = self else { return false };
        let areas = cut(area, *axis, *share);
        let inner = usize::from(!halves[0].holds(pane));
        if halves[inner].grow_in(pane, towards, first, cells, areas[inner]) {
            return true;
        }
        if *axis != towards.axis() || (inner == 0) != first || !halves[inner].holds(pane) {
            return false;
        }
        let length = i32::from(room(area, *axis));
        let at = i32::from(length_of(areas[0], *axis));
        let step = if towards.is_forward() { i32::from(cells) } else { -i32::from(cells) };
        *share = share_of(at + step, length);
        true
    }

    /// The border that lies at a cell.
    pub fn border_at(&self, x: u16, y: u16, area: Area) -> Option<Border> {
        let mut path = Vec::new();
        let (mut node, mut whole) = (self, self.content(area));
        loop {
            let Node::Split { axis, share, halves } = node else { return None };
            let areas = cut(whole, *axis, *share);
            if gap(areas[0], *axis).is_some_and(|at| at == along(x, y, *axis))
                && whole.contains(x, y)
            {
                return Some(Border { path, axis: *axis, whole });
            }
            let inner = areas.iter().position(|area| area.contains(x, y))?;
            path.push(inner);
            (node, whole) = (&halves[inner], areas[inner]);
        }
    }

    /// Moves a border to a cell.
    pub fn drag(&mut self, border: &Border, x: u16, y: u16) {
        let mut node = self;
        for half in &border.path {
            let Node::Split { halves, .. } = node else { return };
            node = &mut halves[*half];
        }
        let Node::Split { share, .. } = node else { return };
        let start = along(border.whole.x, border.whole.y, border.axis);
        let at = i32::from(along(x, y, border.axis)) - i32::from(start);
        *share = share_of(at, i32::from(room(border.whole, border.axis)));
    }

    /// The same panes in a regular order.
    #[must_use]
    pub fn arranged(&self, arrangement: Arrangement) -> Node {
        let panes = self.panes().into_iter().map(|(id, terminal)| Node::pane(id, terminal));
        let mut panes: Vec<Node> = panes.collect();
        match arrangement {
            Arrangement::EvenColumns => even(panes, Axis::Columns),
            Arrangement::EvenRows => even(panes, Axis::Rows),
            Arrangement::MainColumn if panes.len() > 1 => {
                let rest = even(panes.split_off(1), Axis::Rows);
                Node::split(Axis::Columns, WHOLE / 2, panes.remove(0), rest)
            }
            Arrangement::MainColumn => self.clone(),
            Arrangement::Tiled => {
                let columns = (1..).find(|n| n * n >= panes.len()).unwrap_or(1);
                let rows = panes.chunks(columns).map(|row| even(row.to_vec(), Axis::Columns));
                even(rows.collect(), Axis::Rows)
            }
        }
    }
}

/// All with the same room; there is one at least.
fn even(mut nodes: Vec<Node>, axis: Axis) -> Node {
    let share = WHOLE / nodes.len().max(1) as u32;
    let first = nodes.remove(0);
    if nodes.is_empty() { first } else { Node::split(axis, share, first, even(nodes, axis)) }
}

/// The two halves of an area, with a line between them.
fn cut(area: Area, axis: Axis, share: u32) -> [Area; 2] {
    let room = room(area, axis);
    let length = (u64::from(room) * u64::from(share) + u64::from(WHOLE / 2)) / u64::from(WHOLE);
    let first = (length as u16).clamp(1.min(room), room.saturating_sub(1).max(1.min(room)));
    let rest = room - first;
    match axis {
        Axis::Columns => [
            Area { cols: first, ..area },
            Area { x: area.x.saturating_add(first).saturating_add(1), cols: rest, ..area },
        ],
        Axis::Rows => [
            Area { rows: first, ..area },
            Area { y: area.y.saturating_add(first).saturating_add(1), rows: rest, ..area },
        ],
    }
}

/// Cells along an axis that two halves share: all but the line between them.
fn room(area: Area, axis: Axis) -> u16 {
    length_of(area, axis).saturating_sub(1)
}

fn length_of(area: Area, axis: Axis) -> u16 {
    if axis == Axis::Columns { area.cols } else { area.rows }
}

fn along(x: u16, y: u16, axis: Axis) -> u16 {
    if axis == Axis::Columns { x } else { y }
}

/// Where the line after a first half is.
fn gap(first: Area, axis: Axis) -> Option<u16> {
    along(first.x, first.y, axis).checked_add(length_of(first, axis))
}

/// The share that puts the line at a cell, with a cell left on either side.
fn share_of(at: i32, length: i32) -> u32 {
    let at = at.clamp(1, (length - 1).max(1)) as u32;
    // Rounded so that `cut` finds the same cell again.
    (at * WHOLE + (length.max(1) as u32) / 2) / length.max(1) as u32
}

/// How far `to` lies from `from` that way, and how much of the side they share.
fn relation(from: Area, to: Area, towards: Direction) -> Option<(u16, u16)> {
    let (from_far, to_far) =
        ((from.x + from.cols, from.y + from.rows), (to.x + to.cols, to.y + to.rows));
    let (gap, shared) = match towards {
        Direction::Left => {
            (from.x.checked_sub(to_far.0), overlap(from.y, from_far.1, to.y, to_far.1))
        }
        Direction::Right => {
            (to.x.checked_sub(from_far.0), overlap(from.y, from_far.1, to.y, to_far.1))
        }
        Direction::Up => {
            (from.y.checked_sub(to_far.1), overlap(from.x, from_far.0, to.x, to_far.0))
        }
        Direction::Down => {
            (to.y.checked_sub(from_far.1), overlap(from.x, from_far.0, to.x, to_far.0))
        }
    };
    (shared > 0).then_some((gap?, shared))
}

fn overlap(a: u16, a_end: u16, b: u16, b_end: u16) -> u16 {
    a_end.min(b_end).saturating_sub(a.max(b))
}
