//! What is kept on disk, for when both worker and keeper are gone. Files that a person can read, and that
//! later versions can too:
//!
//! ```text
//! t4a-terminal VERSION CHECKSUM
//! {"id": 3, "argv": ["bash"], …}
//! the text, as `term::Transcript` writes it
//! ```
//! Not kept are a program's environment, which may hold secrets, and what was typed. What is found is
//! not trusted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::{
    MAX_COLS, MAX_IDLE_TIMEOUT_MS, MAX_LABEL, MAX_LABELS, MAX_PATH, MAX_ROWS, MAX_SCROLLBACK_LINES,
    MAX_SPAWN, MAX_WORKSPACE, MAX_WORKSPACES,
};
use super::names::check_name;
use super::{TakeOver, TerminalId};
use crate::term::{checksum, is_transcript};
use crate::wire::{Pair, pairs};

const TERMINAL: &str = "t4a-terminal";
const LAYOUTS: &str = "t4a-layouts";
/// To be raised when an older t4a would take a new file for something that it is not.
const VERSION: u32 = 1;
/// Runs of the server whose end in good order is remembered.
const MAX_ENDED: usize = 64;
/// Line numbers, and their sums, stay below this.
const MAX_LINE_NO: u64 = 1 << 62;

/// Which terminal it was: ids begin anew when there is nothing to go on from, times of birth do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub id: TerminalId,
    pub born_ms: u64,
}

/// All of a terminal but its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub id: TerminalId,
    pub born_ms: u64,
    pub saved_ms: u64,
    /// Which run of the server, and of the machine, that was.
    pub run: u64,
    pub boot: String,
    pub name: Option<String>,
    #[serde(with = "pairs")]
    pub labels: Vec<Pair>,
    pub argv: Vec<String>,
    pub cwd: String,
    /// The command that ran at the shell's prompt.
    pub command: Option<String>,
    pub cols: u16,
    pub rows: u16,
    pub scrollback_lines: u32,
    pub idle_timeout_ms: Option<u64>,
    pub take_over: TakeOver,
    pub shell_integration: bool,
    /// As it was set for this terminal itself.
    pub persist: Option<bool>,
    /// Numbers of its lines: from the first up to, not including, the second.
    pub lines: [u64; 2],
}

impl Kept {
    pub fn key(&self) -> Key {
        Key { id: self.id, born_ms: self.born_ms }
    }

    pub fn encode(&self, text: &str) -> Vec<u8> {
        let head = serde_json::to_string(self).unwrap_or_default();
        sealed(TERMINAL, &format!("{head}\n{text}"))
    }

    /// What was kept, and its text; or why that is not taken.
    pub fn decode(bytes: &[u8]) -> Result<(Kept, &str), String> {
        let content = opened(TERMINAL, bytes)?;
        let (head, text) = content.split_once('\n').ok_or("it is cut")?;
        let kept: Kept =
            serde_json::from_str(head).map_err(|error| format!("its head: {error}"))?;
        kept.check()?;
        match is_transcript(text) {
            true => Ok((kept, text)),
            false => Err("its text holds what no transcript does".to_owned()),
        }
    }

    /// As strict as `create` is.
    fn check(&self) -> Result<(), String> {
        let long = |text: &String| text.len() > MAX_PATH || text.contains('\0');
        let pair = |pair: &Pair| pair.key.len() > MAX_LABEL || pair.value.len() > MAX_LABEL;
        let argv: usize = self.argv.iter().map(String::len).sum();
        let argv = argv <= MAX_SPAWN && !self.argv.iter().any(|word| word.contains('\0'));
        let ms = 1..=MAX_IDLE_TIMEOUT_MS;
        let [first, end] = self.lines;
        let wrong = [
            (self.name.as_ref().is_some_and(|name| check_name(name).is_err()), "its name"),
            (self.labels.len() > MAX_LABELS || self.labels.iter().any(pair), "its labels"),
            (!argv || self.argv.first().is_none_or(String::is_empty), "its program"),
            (long(&self.cwd) || !self.cwd.starts_with('/'), "its directory"),
            (!(1..=MAX_COLS).contains(&self.cols), "its width"),
            (!(1..=MAX_ROWS).contains(&self.rows), "its height"),
            (self.scrollback_lines > MAX_SCROLLBACK_LINES, "its scrollback"),
            (self.idle_timeout_ms.is_some_and(|own| !ms.contains(&own)), "its idle time-out"),
            (first > end || end > MAX_LINE_NO, "the numbers of its lines"),
        ];
        match wrong.iter().find(|(wrong, _)| *wrong) {
            Some((_, what)) => Err(format!("{what} will not do")),
            None => Ok(()),
        }
    }
}

/// Layouts of clients, and which runs of the server ended in good order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Layouts {
    run: u64,
    workspaces: BTreeMap<String, Value>,
    /// Those of earlier runs, which nobody has brought back yet.
    before: BTreeMap<String, Value>,
    ended: Vec<u64>,
}

impl Layouts {
    pub fn encode(&self) -> Vec<u8> {
        sealed(LAYOUTS, &format!("{}\n", serde_json::to_string(self).unwrap_or_default()))
    }

    pub fn decode(bytes: &[u8]) -> Result<Layouts, String> {
        let content = opened(LAYOUTS, bytes)?;
        let layouts: Layouts = serde_json::from_str(content).map_err(|error| error.to_string())?;
        let bad = |(name, layout): (&String, &Value)| {
            check_name(name).is_err() || layout.to_string().len() > MAX_WORKSPACE
        };
        let all = || layouts.workspaces.iter().chain(&layouts.before);
        match all().count() > 2 * MAX_WORKSPACES || all().any(bad) {
            true => Err("its layouts will not do".to_owned()),
            false => Ok(layouts),
        }
    }

    /// The present layouts of a run; those of another one are put aside.
    #[must_use]
    pub fn renewed(self, run: u64, workspaces: BTreeMap<String, Value>, ended: bool) -> Layouts {
        let before = self.before_run(run);
        let mut all = self.ended;
        all.retain(|known| !ended || *known != run);
        all.extend(ended.then_some(run));
        let over = all.len().saturating_sub(MAX_ENDED);
        Layouts { run, workspaces, before, ended: all.split_off(over) }
    }

    fn before_run(&self, run: u64) -> BTreeMap<String, Value> {
        let mut before = self.before.clone();
        if self.run != run {
            before.extend(self.workspaces.clone());
        }
        while before.len() > MAX_WORKSPACES {
            before.pop_first();
        }
        before
    }

    /// The layout of an earlier run.
    pub fn before(&self, run: u64, name: &str) -> Option<Value> {
        self.before_run(run).remove(name)
    }

    pub fn names_before(&self, run: u64) -> Vec<String> {
        self.before_run(run).into_keys().collect()
    }

    pub fn ended_well(&self, run: u64) -> bool {
        self.ended.contains(&run)
    }
}

fn sealed(kind: &str, content: &str) -> Vec<u8> {
    let sum = checksum(content.as_bytes());
    format!("{kind} {VERSION} {sum:016x}\n{content}").into_bytes()
}

/// The content of a file that is whole and of this version.
fn opened<'a>(kind: &str, bytes: &'a [u8]) -> Result<&'a str, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is damaged")?;
    let (head, content) = text.split_once('\n').ok_or("it is cut")?;
    let mut words = head.split(' ');
    if words.next() != Some(kind) {
        return Err("it is none of ours".to_owned());
    }
    match words.next().and_then(|version| version.parse::<u32>().ok()) {
        Some(VERSION) => {}
        Some(other) => return Err(format!("it is of version {other}; this t4a reads {VERSION}")),
        None => return Err("it is none of ours".to_owned()),
    }
    let sum = words.next().and_then(|sum| u64::from_str_radix(sum, 16).ok());
    match sum == Some(checksum(content.as_bytes())) && words.next().is_none() {
        true => Ok(content),
        false => Err("it is damaged or cut".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kept() -> Kept {
        Kept {
            id: TerminalId(3),
            born_ms: 1,
            saved_ms: 2,
            run: 3,
            boot: "b".to_owned(),
            name: Some("build".to_owned()),
            labels: vec![Pair { key: "a".to_owned(), value: "b".to_owned() }],
            argv: vec!["bash".to_owned()],
            cwd: "/tmp".to_owned(),
            command: None,
            cols: 80,
            rows: 24,
            scrollback_lines: 100,
            idle_timeout_ms: None,
            take_over: TakeOver::default(),
            shell_integration: true,
            persist: None,
            lines: [4, 5],
        }
    }

    const TEXT: &str = "one\n\x1b[0;31mtwo\x1b[0m\n";

    #[test]
    fn what_is_kept_comes_back() {
        let bytes = kept().encode(TEXT);
        assert!(bytes.starts_with(b"t4a-terminal 1 ") && bytes.ends_with(TEXT.as_bytes()));
        assert_eq!(Kept::decode(&bytes), Ok((kept(), TEXT)));
    }

    #[test]
    fn what_is_cut_or_changed_anywhere_is_refused() {
        let bytes = kept().encode(TEXT);
        for end in 0..bytes.len() {
            assert!(Kept::decode(&bytes[..end]).is_err(), "cut at {end}");
            let mut changed = bytes.clone();
            changed[end] ^= 1;
            assert!(Kept::decode(&changed).is_err(), "changed at {end}");
        }
    }

    #[test]
    fn why_something_is_refused_is_told() {
        let refused = |bytes: &[u8]| Kept::decode(bytes).unwrap_err();
        let newer = String::from_utf8(kept().encode(TEXT)).unwrap().replacen(" 1 ", " 2 ", 1);
        assert_eq!(refused(newer.as_bytes()), "it is of version 2; this t4a reads 1");
        assert_eq!(refused(b"#!/bin/sh\n"), "it is none of ours");
        assert_eq!(
            refused(&sealed(TERMINAL, "{}\n")),
            "its head: missing field `id` at line 1 column 2"
        );
        let odd = |change: fn(&mut Kept)| {
            let mut kept = kept();
            change(&mut kept);
            refused(&kept.encode(TEXT))
        };
        assert_eq!(odd(|kept| kept.cols = 0), "its width will not do");
        assert_eq!(odd(|kept| kept.name = Some("t1".to_owned())), "its name will not do");
        assert_eq!(odd(|kept| kept.argv.clear()), "its program will not do");
        assert_eq!(odd(|kept| kept.cwd = "x".to_owned()), "its directory will not do");
        assert_eq!(odd(|kept| kept.lines = [2, 1]), "the numbers of its lines will not do");
        assert!(refused(&kept().encode("\x1b[2J\n")).contains("no transcript"));
    }

    #[test]
    fn layouts_of_an_earlier_run_are_put_aside() {
        let map = |name: &str, value: Value| BTreeMap::from([(name.to_owned(), value)]);
        let first = Layouts::default().renewed(1, map("main", json!(1)), false);
        let first = first.renewed(1, map("main", json!(2)), true);
        assert_eq!((first.before(1, "main"), first.before(2, "main")), (None, Some(json!(2))));
        let second =
            Layouts::decode(&first.encode()).unwrap().renewed(2, map("main", json!(3)), false);
        assert_eq!(second.before(2, "main"), Some(json!(2)));
        assert_eq!(second.before(3, "main"), Some(json!(3)));
        assert!(second.ended_well(1) && !second.ended_well(2));
        let mut many = Layouts::default();
        for run in 0..100 {
            many = many.renewed(run, map(&format!("w{run}"), json!(run)), true);
        }
        assert_eq!((many.before.len(), many.ended.len()), (MAX_WORKSPACES, MAX_ENDED));
        assert!(Layouts::decode(&many.encode()).is_ok());
        assert!(Layouts::decode(b"").is_err());
    }
}
