//! A layout of before, with the terminals that were restored in the places of the old ones.

use std::collections::BTreeMap;

use serde_json::Value;

use super::app::Layout;
use super::layout::PaneId;
use super::window::Window;

/// The present layout with the windows of an old one behind it, as far as their terminals were
/// restored: `ids` has the old id of each and the new one. None if that adds nothing.
pub fn restored_layout(
    present: &Value,
    old: &Value,
    ids: &BTreeMap<String, String>,
) -> Option<Value> {
    let old: Layout = serde_json::from_value(old.clone()).ok()?;
    let mut layout = match present {
        Value::Null => Layout { windows: Vec::new(), current: 0 },
        present => serde_json::from_value(present.clone()).ok()?,
    };
    let panes = layout.windows.iter().flat_map(|window| window.tree.panes());
    let mut next = panes.map(|(pane, _)| pane.0).max().unwrap_or(0);
    let (before, mut current) = (layout.windows.len(), layout.current);
    for (at, window) in old.windows.into_iter().enumerate() {
        let Some(window) = revived(window, ids, &mut next) else { continue };
        if before == 0 && at <= old.current {
            current = layout.windows.len();
        }
        layout.windows.push(window);
    }
    layout.current = current;
    (layout.windows.len() > before).then(|| serde_json::to_value(&layout).ok()).flatten()
}

/// A window without the panes whose terminals are not there; None if none of them is.
fn revived(mut window: Window, ids: &BTreeMap<String, String>, next: &mut u32) -> Option<Window> {
    let gone = |(_, terminal): &(PaneId, &str)| !ids.contains_key(*terminal);
    let gone: Vec<PaneId> =
        window.tree.panes().into_iter().filter(gone).map(|(pane, _)| pane).collect();
    if !gone.into_iter().all(|pane| window.remove(pane)) {
        return None;
    }
    let mut focus = None;
    let tree = window.tree.renamed(&mut |pane, terminal| {
        *next = next.saturating_add(1);
        if pane == window.focus {
            focus = Some(PaneId(*next));
        }
        (PaneId(*next), ids.get(terminal).cloned().unwrap_or_default())
    });
    window.focus = focus.or_else(|| tree.panes().first().map(|(pane, _)| *pane))?;
    window.tree = tree;
    Some(window)
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Area, Axis};
    use super::*;

    const AREA: Area = Area { x: 0, y: 0, cols: 80, rows: 24 };

    /// One window with t1 beside t2, and one with t3, which is shown.
    fn old() -> Value {
        let mut first = Window::new(PaneId(1), "t1");
        assert!(first.split(PaneId(2), "t2", Axis::Columns, AREA));
        first.rename("both");
        let windows = vec![first, Window::new(PaneId(3), "t3")];
        serde_json::to_value(Layout { windows, current: 1 }).unwrap()
    }

    fn ids(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect()
    }

    fn panes(layout: &Value) -> Vec<Vec<(u32, String)>> {
        let layout: Layout = serde_json::from_value(layout.clone()).unwrap();
        let panes = |window: &Window| {
            let panes = window.tree.panes().into_iter();
            panes.map(|(pane, terminal)| (pane.0, terminal.to_owned())).collect()
        };
        layout.windows.iter().map(panes).collect()
    }

    #[test]
    fn an_old_layout_comes_back_as_it_was() {
        let all = ids(&[("t1", "t1"), ("t2", "t2"), ("t3", "t3")]);
        assert_eq!(restored_layout(&Value::Null, &old(), &all), Some(old()));
    }

    #[test]
    fn only_what_was_restored_is_in_it_under_its_new_id() {
        let layout = restored_layout(&Value::Null, &old(), &ids(&[("t2", "t9")])).unwrap();
        assert_eq!(panes(&layout), [[(1, "t9".to_owned())]]);
        assert_eq!((&layout["current"], &layout["windows"][0]["focus"]), (&0.into(), &1.into()));
        assert_eq!(layout["windows"][0]["name"], "both");
        assert_eq!(restored_layout(&Value::Null, &old(), &ids(&[("t7", "t7")])), None);
    }

    #[test]
    fn what_is_shown_now_stays_before_it() {
        let now = Layout { windows: vec![Window::new(PaneId(5), "t8")], current: 0 };
        let now = serde_json::to_value(now).unwrap();
        let layout = restored_layout(&now, &old(), &ids(&[("t1", "t1"), ("t2", "t2")])).unwrap();
        let t = |pane, name: &str| (pane, name.to_owned());
        assert_eq!(panes(&layout), [vec![t(5, "t8")], vec![t(6, "t1"), t(7, "t2")]]);
        assert_eq!((&layout["current"], &layout["windows"][1]["focus"]), (&0.into(), &7.into()));
        // A layout of some other client is left alone.
        assert_eq!(restored_layout(&"else".into(), &old(), &ids(&[("t1", "t1")])), None);
    }
}
