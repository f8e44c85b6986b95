//! Hyperlinks (OSC 8): each one in use has a small number.

use super::cell::LinkId;
use super::save::{Reader, Refused, Save, ensure, put_list, saved};
use std::collections::HashMap;

/// Longer addresses are not kept; 2083 is what browsers and VTE agree on.
pub const MAX_URI: usize = 2083;
pub const MAX_LINK_ID: usize = 256;
pub const MAX_LINKS: usize = 4096;
const SWEEP_FLOOR: usize = 256;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Link {
    /// Cells with the same id and address belong together.
    pub id: String,
    pub uri: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Links {
    list: Vec<Link>,
    ids: HashMap<Link, u16>,
    sweep_at: usize,
}

impl Default for Links {
    fn default() -> Self {
        Links { list: vec![Link::default()], ids: HashMap::new(), sweep_at: SWEEP_FLOOR }
    }
}

impl Links {
    pub fn get(&self, id: LinkId) -> Option<&Link> {
        if id.0 == 0 { None } else { self.list.get(usize::from(id.0)) }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.len() == 1
    }

    pub fn wants_sweep(&self) -> bool {
        self.list.len() >= self.sweep_at
    }

    /// The number of a link; 0 for one that is empty or too long, or when all are taken.
    pub fn intern(&mut self, link: Link) -> LinkId {
        if link.uri.is_empty() || link.uri.len() > MAX_URI || link.id.len() > MAX_LINK_ID {
            return LinkId(0);
        }
        if let Some(id) = self.ids.get(&link) {
            return LinkId(*id);
        }
        // The first one is none.
        if self.list.len() > MAX_LINKS {
            return LinkId(0);
        }
        let id = self.list.len() as u16;
        self.list.push(link.clone());
        self.ids.insert(link, id);
        LinkId(id)
    }

    /// Keeps the marked links only; gives the new number of each old one.
    pub fn sweep(&mut self, used: &[bool]) -> Vec<LinkId> {
        let mut map = vec![LinkId(0); self.list.len()];
        let mut kept = vec![Link::default()];
        for (id, link) in self.list.drain(..).enumerate().skip(1) {
            if used.get(id).copied().unwrap_or(false) {
                map[id] = LinkId(kept.len() as u16);
                kept.push(link);
            }
        }
        self.sweep_at = (kept.len() * 2).max(SWEEP_FLOOR);
        self.set_list(kept);
        map
    }

    fn set_list(&mut self, list: Vec<Link>) {
        self.ids = list.iter().cloned().zip(0..).skip(1).collect();
        self.list = list;
    }
}

saved!(struct Link { id, uri });

impl Save for Links {
    fn put(&self, out: &mut Vec<u8>) {
        let Links { list, ids: _, sweep_at } = self;
        put_list(list, out);
        sweep_at.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let list: Vec<Link> = from.list(MAX_LINKS + 1)?;
        ensure(list.first() == Some(&Link::default()), "the first link")?;
        let mut links = Links { sweep_at: from.take()?, ..Links::default() };
        links.set_list(list);
        Ok(links)
    }
}
