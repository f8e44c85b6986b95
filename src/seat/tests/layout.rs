//! Trees of panes: pictures of where they lie.

use proptest::prelude::*;

use crate::seat::layout::{Area, Arrangement, Axis, Direction, Node, PaneId};

const SCREEN: Area = Area { x: 0, y: 0, cols: 81, rows: 24 };

fn pane(id: u32) -> Node {
    Node::pane(PaneId(id), &format!("t{id}"))
}

fn ids(node: &Node) -> Vec<u32> {
    node.panes().iter().map(|(id, _)| id.0).collect()
}

/// `1 | (2 - 3)`
fn three() -> Node {
    let two = pane(1).add(PaneId(1), Axis::Columns, pane(2), SCREEN).unwrap();
    two.add(PaneId(2), Axis::Rows, pane(3), SCREEN).unwrap()
}

fn area_of(node: &Node, id: u32) -> Area {
    node.places(SCREEN).into_iter().find(|placed| placed.id == PaneId(id)).unwrap().area
}

#[test]
fn one_pane_has_it_all_and_more_have_frames() {
    assert_eq!(area_of(&pane(1), 1), SCREEN);
    let tree = three();
    assert_eq!(area_of(&tree, 1), Area { x: 1, y: 1, cols: 39, rows: 22 });
    assert_eq!(area_of(&tree, 2), Area { x: 41, y: 1, cols: 39, rows: 11 });
    assert_eq!(area_of(&tree, 3), Area { x: 41, y: 13, cols: 39, rows: 10 });
}

#[test]
fn a_pane_that_is_taken_out_leaves_its_room_to_its_sibling() {
    let tree = three().without(PaneId(2)).unwrap();
    assert_eq!(ids(&tree), [1, 3]);
    assert_eq!(area_of(&tree, 3).rows, 22);
    assert_eq!(tree.without(PaneId(1)).unwrap().without(PaneId(3)), None);
}

#[test]
fn there_is_no_splitting_below_the_smallest_size() {
    let small = Area { cols: 24, rows: 8, ..SCREEN };
    assert!(pane(1).add(PaneId(1), Axis::Columns, pane(2), small).is_some());
    assert!(pane(1).add(PaneId(1), Axis::Columns, pane(2), Area { cols: 22, ..small }).is_none());
    assert!(pane(1).add(PaneId(1), Axis::Rows, pane(2), small).is_none());
    assert!(pane(1).add(PaneId(1), Axis::Rows, pane(2), Area { rows: 9, ..small }).is_some());
}

#[test]
fn neighbours_lie_where_they_are_seen() {
    use Direction::{Down, Left, Right, Up};
    let tree = three();
    let go = |from, way| tree.neighbour(PaneId(from), way, SCREEN).map(|id| id.0);
    assert_eq!(go(1, Right), Some(2));
    assert_eq!(go(2, Left), Some(1));
    assert_eq!(go(3, Left), Some(1));
    assert_eq!(go(2, Down), Some(3));
    assert_eq!(go(3, Up), Some(2));
    assert_eq!(go(1, Left), None);
    assert_eq!(go(1, Up), None);
}

#[test]
fn a_pane_grows_towards_its_border_and_at_the_edge_from_the_other() {
    let mut tree = three();
    assert!(tree.grow(PaneId(1), Direction::Right, 2, SCREEN));
    assert_eq!(area_of(&tree, 1).cols, 41);
    assert!(tree.grow(PaneId(2), Direction::Right, 3, SCREEN));
    assert_eq!(area_of(&tree, 1).cols, 44);
    assert!(tree.grow(PaneId(3), Direction::Up, 1, SCREEN));
    assert_eq!(area_of(&tree, 3).rows, 11);
    assert!(!pane(1).grow(PaneId(1), Direction::Up, 1, SCREEN));
}

#[test]
fn borders_are_found_and_dragged() {
    let mut tree = three();
    assert_eq!(tree.border_at(5, 5, SCREEN), None);
    let border = tree.border_at(40, 3, SCREEN).unwrap();
    tree.drag(&border, 30, 3);
    assert_eq!(area_of(&tree, 2).x, 31);
    let border = tree.border_at(50, 12, SCREEN).unwrap();
    tree.drag(&border, 50, 16);
    assert_eq!(area_of(&tree, 3).y, 17);
    tree.drag(&border, 50, 999);
    assert_eq!(area_of(&tree, 3).rows, 1);
}

#[test]
fn arrangements_keep_all_panes() {
    let mut tree = three();
    let mut arrangement = Arrangement::default();
    for _ in 0..4 {
        tree = tree.arranged(arrangement);
        let mut found = ids(&tree);
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3]);
        arrangement = arrangement.next();
    }
    assert_eq!(arrangement, Arrangement::default());
    let columns: Vec<u16> = three()
        .arranged(Arrangement::EvenColumns)
        .places(SCREEN)
        .iter()
        .map(|p| p.area.cols)
        .collect();
    assert_eq!(columns, [26, 26, 25]);
}

#[test]
fn panes_change_places() {
    let tree = three().swapped(PaneId(1), PaneId(3));
    assert_eq!(ids(&tree), [3, 2, 1]);
    assert_eq!(tree.terminal(PaneId(3)), Some("t3"));
}

#[test]
fn what_has_no_room_is_not_placed() {
    for cols in 0..30 {
        for rows in 0..12 {
            three().places(Area { cols, rows, ..SCREEN });
        }
    }
    assert!(three().places(Area { cols: 4, rows: 4, ..SCREEN }).is_empty());
}

/// A random tree over `panes` panes.
fn grown(splits: &[(u32, bool, u16)], area: Area) -> Node {
    let mut tree = pane(0);
    for (n, (beside, columns, share)) in splits.iter().enumerate() {
        let all = tree.panes();
        let beside = all[*beside as usize % all.len()].0;
        let axis = if *columns { Axis::Columns } else { Axis::Rows };
        if let Some(mut added) = tree.add(beside, axis, pane(n as u32 + 1), area) {
            added.grow(beside, Direction::Right, share % 20, area);
            tree = added;
        }
    }
    tree
}

proptest! {
    #[test]
    fn panes_never_overlap_and_leave_only_lines_between_them(
        splits in prop::collection::vec((any::<u32>(), any::<bool>(), any::<u16>()), 0..8),
        cols in 1..200_u16,
        rows in 1..60_u16,
    ) {
        let area = Area { x: 0, y: 0, cols, rows };
        let tree = grown(&splits, area);
        let places = tree.places(area);
        let mut owners = vec![0_u8; usize::from(cols) * usize::from(rows)];
        for placed in &places {
            let Area { x, y, cols: wide, rows: high } = placed.area;
            prop_assert!(x + wide <= cols && y + high <= rows);
            for (y, x) in (y..y + high).flat_map(|y| (x..x + wide).map(move |x| (y, x))) {
                owners[usize::from(y) * usize::from(cols) + usize::from(x)] += 1;
            }
        }
        prop_assert!(owners.iter().all(|owners| *owners <= 1));
        let text = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Node>(&text).unwrap(), tree);
    }
}
