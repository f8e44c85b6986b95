//! Terminals on disk: written, read and removed on threads of their own, so that the hub never waits.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{News, ToHub, elsewhere};
use crate::mux::limits::{MAX_KEPT, MAX_KEPT_BYTES, MAX_KEPT_FILE, MAX_KEPT_TEXT};
use crate::mux::{
    Dead, DeadFound, DeadWish, Gone, Kept, Key, Layouts, OldTerminal, Page, ServerPage, TerminalId,
    Ticket,
};
use crate::os::shelf::{Entry, Shelf};
use crate::os::{date, inspect, process};
use crate::wire::{Code, Failure};

/// The hub's view of the disk.
pub struct Shelves {
    names: Names,
    /// What is being written, and whether it is to be removed after that.
    writing: HashMap<Key, bool>,
    /// Terminals of this server that are there; others go before them.
    own: Arc<BTreeSet<String>>,
    server: ServerFile,
    /// It was told that nothing can be written.
    told: bool,
}

/// One page of the server itself is on its way at a time, and the newest one after it.
#[derive(Default)]
struct ServerFile {
    busy: bool,
    next: Option<ServerPage>,
}

/// What comes back from a thread.
pub enum Shelved {
    Kept { key: Key, result: Result<usize, String> },
    Server,
    Found { ticket: Ticket, found: Result<DeadFound, Failure> },
}

/// Files of one server begin with the path of its socket, as there may be several.
#[derive(Debug, Clone)]
pub struct Names {
    prefix: String,
}

impl Names {
    pub fn of(socket: &str) -> Names {
        Names { prefix: socket.replace('%', "%%").replace('/', "%") }
    }

    fn file(&self, key: Key) -> String {
        format!("{}:{}:{:x}", self.prefix, key.id, key.born_ms)
    }

    fn server(&self) -> String {
        format!("{}:layouts", self.prefix)
    }

    fn key(&self, name: &str) -> Option<Key> {
        let rest = name.strip_prefix(&self.prefix)?.strip_prefix(":t")?;
        let (id, born) = rest.split_once(':')?;
        let id = TerminalId(id.parse().ok()?);
        let key = Key { id, born_ms: u64::from_str_radix(born, 16).ok()? };
        // Not some other spelling of the same.
        (self.file(key) == name).then_some(key)
    }

    /// The id after the highest on disk, so that none is given out twice.
    pub fn next_id(&self) -> io::Result<u32> {
        let Some(shelf) = Shelf::open()? else { return Ok(1) };
        let ids =
            shelf.entries()?.into_iter().filter_map(|entry| Some(self.key(&entry.name)?.id.0));
        Ok(ids.max().unwrap_or(0).saturating_add(1))
    }
}

impl Shelves {
    pub fn new(names: Names) -> Shelves {
        let (writing, own) = (HashMap::new(), Arc::default());
        Shelves { names, writing, own, server: ServerFile::default(), told: false }
    }

    pub fn keep(&mut self, page: Box<Page>, hub: &ToHub) {
        let key = page.kept.key();
        let name = self.names.file(key);
        Arc::make_mut(&mut self.own).insert(name.clone());
        self.writing.insert(key, false);
        let own = self.own.clone();
        begin(
            hub,
            move || write_page(*page, &name, &own).map_err(|error| said(&error)),
            move |result| Shelved::Kept { key, result },
            || Err("it could not be written".to_owned()),
        );
    }

    pub fn keep_server(&mut self, page: ServerPage, hub: &ToHub) {
        if std::mem::replace(&mut self.server.busy, true) {
            // That the server ends is not forgotten over a layout.
            let ended = self.server.next.as_ref().is_some_and(|next| next.ended);
            self.server.next = Some(ServerPage { ended: page.ended || ended, ..page });
            return;
        }
        let name = self.names.server();
        begin(
            hub,
            // Terminals tell of trouble with the disk; layouts follow.
            move || write_server(page, &name).is_ok(),
            |_| Shelved::Server,
            || false,
        );
    }

    /// Gone for good.
    pub fn remove(&mut self, key: Key) {
        if let Some(remove) = self.writing.get_mut(&key) {
            *remove = true;
            return;
        }
        let name = self.names.file(key);
        Arc::make_mut(&mut self.own).remove(&name);
        tokio::spawn(elsewhere::run(move || {
            if let Ok(Some(shelf)) = Shelf::open() {
                let _ = shelf.remove(&name);
            }
        }));
    }

    pub fn look(&self, ticket: Ticket, wish: DeadWish, live: BTreeSet<Key>, run: u64, hub: &ToHub) {
        let names = self.names.clone();
        begin(
            hub,
            move || Looker { names, live, run }.look(wish),
            move |found| Shelved::Found { ticket, found },
            || Err(Failure::new(Code::System, "the disk could not be looked at")),
        );
    }

    /// Something was written: what waited for that happens now. A disk that refuses is told of once.
    pub fn kept(&mut self, key: Key, result: &Result<usize, String>) {
        if self.writing.remove(&key) == Some(true) {
            self.remove(key);
        }
        match result {
            Err(error) if !self.told => {
                process::complain(&format!("terminals cannot be kept on disk: {error}"));
                self.told = true;
            }
            Err(_) => {}
            Ok(_) => self.told = false,
        }
    }

    pub fn server_kept(&mut self, hub: &ToHub) {
        self.server.busy = false;
        if let Some(next) = self.server.next.take() {
            self.keep_server(next, hub);
        }
    }

    pub fn is_busy(&self) -> bool {
        self.server.busy || !self.writing.is_empty()
    }
}

/// Has something done on another thread; the hub hears of it.
fn begin<T: Send + 'static>(
    hub: &ToHub,
    work: impl FnOnce() -> T + Send + 'static,
    done: impl FnOnce(T) -> Shelved + Send + 'static,
    failed: impl FnOnce() -> T + Send + 'static,
) {
    let hub = hub.clone();
    tokio::spawn(async move {
        let result = elsewhere::run(work).await.unwrap_or_else(failed);
        let _ = hub.send(News::Shelved(Box::new(done(result)))).await;
    });
}

/// What only the system knows is filled in: the program's directory is the truth, what its shell said of
/// it is older.
fn write_page(page: Page, name: &str, own: &BTreeSet<String>) -> io::Result<usize> {
    let Page { mut kept, rows, pid, sync } = page;
    if let Some(cwd) = pid.and_then(inspect::cwd) {
        kept.cwd = cwd;
    }
    if !kept.cwd.starts_with('/') {
        kept.cwd = "/".to_owned();
    }
    kept.boot = process::boot();
    let mut text = String::new();
    let lines = rows.write(MAX_KEPT_TEXT, &mut text);
    kept.lines = [lines.start.0, lines.end.0];
    let bytes = kept.encode(&text);
    let shelf = Shelf::make()?;
    shelf.write(name, &bytes, sync)?;
    let spared = |other: &str| own.contains(other) || other.ends_with(":layouts");
    shelf.trim(MAX_KEPT, MAX_KEPT_BYTES, |other| other == name || spared(other))?;
    Ok(bytes.len())
}

fn write_server(page: ServerPage, name: &str) -> io::Result<()> {
    let ServerPage { run, workspaces, ended } = page;
    let shelf = Shelf::make()?;
    let layouts = layouts(&shelf, name).renewed(run, workspaces, ended);
    shelf.write(name, &layouts.encode(), !ended)
}

/// Damaged ones are as good as none.
fn layouts(shelf: &Shelf, name: &str) -> Layouts {
    let read = shelf.read(name, MAX_KEPT_FILE);
    read.ok().and_then(|bytes| Layouts::decode(&bytes).ok()).unwrap_or_default()
}

/// Looks at what is there for one request.
struct Looker {
    names: Names,
    live: BTreeSet<Key>,
    run: u64,
}

impl Looker {
    fn look(&self, wish: DeadWish) -> Result<DeadFound, Failure> {
        let system = |error: io::Error| Failure::new(Code::System, error.to_string());
        let shelf = Shelf::open().map_err(system)?;
        let entries = shelf.as_ref().map_or(Ok(Vec::new()), Shelf::entries).map_err(system)?;
        let mut files = self.dead(entries);
        let Some(shelf) = shelf else {
            return match wish {
                DeadWish::List => Ok(DeadFound::List(Vec::new(), Vec::new())),
                DeadWish::Layout(name) => Ok(DeadFound::Layout { name, layout: None }),
                DeadWish::Restore { name, .. } | DeadWish::Drop(name) => {
                    Err(unknown(&name, &files))
                }
            };
        };
        let layouts = layouts(&shelf, &self.names.server());
        match wish {
            DeadWish::Layout(name) => {
                let layout = layouts.before(self.run, &name);
                Ok(DeadFound::Layout { name, layout })
            }
            DeadWish::List => {
                files.sort_by_key(|(key, _)| *key);
                let dead = files.into_iter().map(|(key, entry)| {
                    let kept = read(&shelf, &entry.name).map(|(kept, _)| kept);
                    let gone = kept.as_ref().map_or(Gone::Killed, |kept| gone(kept, &layouts));
                    Dead { key, bytes: entry.bytes, kept, gone }
                });
                Ok(DeadFound::List(dead.collect(), layouts.names_before(self.run)))
            }
            DeadWish::Drop(name) => {
                let (key, file) = find(&shelf, &files, &name)?;
                shelf.remove(file).map_err(system)?;
                Ok(DeadFound::Dropped(key.id))
            }
            DeadWish::Restore { name, env, inherit_env } => {
                let (key, file) = find(&shelf, &files, &name)?;
                let refused = |why| {
                    let id = key.id;
                    let hint = format!("`t4a kill --dead {id}` removes it");
                    let error = format!("restore: {id} cannot be restored: {why}; {hint}");
                    Failure::new(Code::System, error)
                };
                let (kept, text) = read(&shelf, file).map_err(refused)?;
                let cwd_is_there = Path::new(&kept.cwd).is_dir();
                let date = date::local(kept.saved_ms);
                let found = OldTerminal { kept, text, cwd_is_there, date, env, inherit_env };
                Ok(DeadFound::Terminal(Box::new(found)))
            }
        }
    }

    /// Files of this server's terminals that are not alive, the newest first.
    fn dead(&self, entries: Vec<Entry>) -> Vec<(Key, Entry)> {
        let dead = |entry: Entry| {
            let key = self.names.key(&entry.name)?;
            (!self.live.contains(&key)).then_some((key, entry))
        };
        let mut dead: Vec<_> = entries.into_iter().filter_map(dead).collect();
        dead.sort_by_key(|(_, entry)| -entry.written);
        dead
    }
}

/// The newest of that id, else of that name.
fn find<'a>(
    shelf: &Shelf,
    files: &'a [(Key, Entry)],
    name: &str,
) -> Result<(Key, &'a str), Failure> {
    let by_id = files.iter().find(|(key, _)| key.id.to_string() == name);
    let named = |file: &&(Key, Entry)| {
        read(shelf, &file.1.name).is_ok_and(|(kept, _)| kept.name.as_deref() == Some(name))
    };
    let found = by_id.or_else(|| files.iter().find(named));
    found.map(|(key, entry)| (*key, entry.name.as_str())).ok_or_else(|| unknown(name, files))
}

fn unknown(name: &str, files: &[(Key, Entry)]) -> Failure {
    const NAMED: usize = 8;
    let ids: Vec<_> = files.iter().take(NAMED).map(|(key, _)| key.id.to_string()).collect();
    let hint = match ids.len() {
        0 => "there is none".to_owned(),
        NAMED => format!("there are {}, …; list with dead shows all", ids.join(", ")),
        _ => format!("there are {}", ids.join(", ")),
    };
    let error = format!("no terminal that was kept has the id or name {name:?}; {hint}");
    Failure::new(Code::NotFound, error)
}

fn read(shelf: &Shelf, name: &str) -> Result<(Kept, String), String> {
    let bytes = shelf.read(name, MAX_KEPT_FILE).map_err(|error| error.to_string())?;
    Kept::decode(&bytes).map(|(kept, text)| (kept, text.to_owned()))
}

fn gone(kept: &Kept, layouts: &Layouts) -> Gone {
    match () {
        () if layouts.ended_well(kept.run) => Gone::Shutdown,
        () if kept.boot != process::boot() => Gone::Reboot,
        () => Gone::Killed,
    }
}

/// What is wrong, and what to do about it.
fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            format!("no room is left: {error}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_whose_they_are() {
        let names = Names::of("/run/user/1/t4a/t4a.sock");
        let key = Key { id: TerminalId(12), born_ms: 0xabc };
        assert_eq!(names.file(key), "%run%user%1%t4a%t4a.sock:t12:abc");
        assert_eq!(names.key("%run%user%1%t4a%t4a.sock:t12:abc"), Some(key));
        let strangers = [
            "%run%user%2%t4a%t4a.sock:t12:abc",
            "%run%user%1%t4a%t4a.sock:t12",
            "%run%user%1%t4a%t4a.sock:t012:abc",
            "%run%user%1%t4a%t4a.sock:t12:ABC",
            "%run%user%1%t4a%t4a.sock:layouts",
            ".%run%user%1%t4a%t4a.sock:t12:abc",
            "",
        ];
        for name in strangers {
            assert_eq!(names.key(name), None, "{name}");
        }
        assert_ne!(Names::of("/a/b").server(), Names::of("/a%b").server());
    }
}
