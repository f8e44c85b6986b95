//! Terminals of which only what was kept on disk is left: listed, brought back, dropped.

use serde::Serialize;
use serde_json::{Value, json};

use super::kept::{Kept, Key};
use super::limits::MAX_LOOKS_AT_DEAD;
use super::persist::Keeping;
use super::program::Wish;
use super::{Effect, Identity, Life, Mux, Plan, Terminal, TerminalId, Ticket};
use crate::term::{LineNo, Size};
use crate::wire::{Code, Failure, Pair, pairs};

/// What is asked about the dead.
#[derive(Debug)]
pub enum DeadWish {
    List,
    Restore {
        name: String,
        env: Vec<Pair>,
        inherit_env: bool,
    },
    Drop(String),
    /// A layout of before.
    Layout(String),
}

/// A file, and what is in it or why that cannot be told.
#[derive(Debug)]
pub struct Dead {
    pub key: Key,
    pub bytes: u64,
    pub kept: Result<Kept, String>,
    pub gone: Gone,
}

/// What ended the server of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gone {
    /// It was asked to end.
    Shutdown,
    /// The machine was restarted.
    Reboot,
    /// It was killed, and its keeper with it.
    Killed,
}

/// What was found on disk.
#[derive(Debug)]
pub enum DeadFound {
    /// And the names of layouts of before.
    List(Vec<Dead>, Vec<String>),
    Terminal(Box<OldTerminal>),
    Dropped(TerminalId),
    Layout {
        name: String,
        layout: Option<Value>,
    },
}

/// A terminal to be brought back.
#[derive(Debug)]
pub struct OldTerminal {
    pub kept: Kept,
    pub text: String,
    /// Its directory can be entered.
    pub cwd_is_there: bool,
    /// When it was saved, for people.
    pub date: String,
    pub env: Vec<Pair>,
    pub inherit_env: bool,
}

/// Text that a new terminal begins with.
#[derive(Debug)]
pub struct OldText {
    pub first: LineNo,
    pub scrollback_lines: u32,
    pub text: String,
}

/// What the answer tells besides what that of `create` does.
#[derive(Debug, Clone, Serialize)]
pub struct Restored {
    was: String,
    cwd: String,
    lines: [u64; 2],
    saved_ms: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    content: Content,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Whole {
        argv: Vec<String>,
        cwd: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        cols: u16,
        rows: u16,
        #[serde(with = "pairs", skip_serializing_if = "Vec::is_empty")]
        labels: Vec<Pair>,
        lines: [u64; 2],
        saved_ms: u64,
        gone: Gone,
    },
    Damaged {
        error: String,
    },
}

impl From<Dead> for Row {
    fn from(dead: Dead) -> Row {
        let (id, bytes, gone) = (dead.key.id.to_string(), dead.bytes, dead.gone);
        match dead.kept {
            Ok(kept) => {
                let Kept { name, argv, cwd, command, cols, rows, labels, lines, saved_ms, .. } =
                    kept;
                let content = Content::Whole {
                    argv,
                    cwd,
                    command,
                    cols,
                    rows,
                    labels,
                    lines,
                    saved_ms,
                    gone,
                };
                Row { id, name, content, bytes }
            }
            Err(error) => Row { id, name: None, content: Content::Damaged { error }, bytes },
        }
    }
}

impl Mux {
    /// Has the disk looked at elsewhere; it is answered when that is done.
    pub fn look_at_dead(&mut self, wish: DeadWish, ticket: &Ticket) -> Result<(), Failure> {
        if self.looks_at_dead >= MAX_LOOKS_AT_DEAD {
            let error =
                format!("{MAX_LOOKS_AT_DEAD} look at the disk, which is the most: try again");
            return Err(Failure::new(Code::Limit, error));
        }
        self.looks_at_dead += 1;
        let live = self.terminals.values().map(Terminal::key).collect();
        let run = self.shelf.run;
        self.effect(Effect::LookAtDead { ticket: ticket.clone(), wish, live, run });
        Ok(())
    }

    pub(super) fn found_dead(&mut self, ticket: &Ticket, found: Result<DeadFound, Failure>) {
        self.looks_at_dead -= 1;
        let refused = match found {
            Ok(DeadFound::List(dead, workspaces)) => {
                let dead: Vec<Row> = dead.into_iter().map(Row::from).collect();
                return self.answer(ticket, json!({ "dead": dead, "workspaces": workspaces }));
            }
            Ok(DeadFound::Dropped(id)) => {
                return self.answer(ticket, json!({ "id": id.to_string() }));
            }
            Ok(DeadFound::Layout { name, layout }) => {
                return self.answer(ticket, json!({ "name": name, "layout": layout }));
            }
            Ok(DeadFound::Terminal(found)) => self.bring_back(*found, ticket).err(),
            Err(failure) => Some(failure),
        };
        refused.into_iter().for_each(|failure| self.refuse(ticket, &failure));
    }

    /// A new program in a terminal that has the old one's text, name and settings.
    fn bring_back(&mut self, found: OldTerminal, ticket: &Ticket) -> Result<(), Failure> {
        let OldTerminal { kept, text, cwd_is_there, date, env, inherit_env } = found;
        if self.terminals.values().any(|terminal| terminal.key() == kept.key()) {
            let error = format!("{} is alive: somebody else has restored it", kept.id);
            return Err(Failure::new(Code::NotFound, error));
        }
        let id = self.old_id(kept.id)?;
        let integrate = kept.shell_integration;
        let wish = Wish { argv: kept.argv.clone(), env, inherit_env, integrate };
        let program = self.program(id, &wish)?;
        let mut notes = Vec::new();
        let name = kept.name.clone().filter(|name| {
            let taken = self.name_taken(name);
            notes.extend(taken.then(|| format!("the name {name} is taken by another terminal")));
            !taken
        });
        let cwd = if cwd_is_there { kept.cwd.clone() } else { self.host.home.clone() };
        if !cwd_is_there {
            notes.push(format!("{} is not there: it starts in {cwd}", printable(&kept.cwd)));
        }
        let size = Size { cols: kept.cols, rows: kept.rows };
        let text = text + &rule(&date, &notes, size.cols);
        let identity = Identity {
            id,
            name,
            labels: kept.labels.clone(),
            argv: program.asked,
            key: program.key,
            idle_timeout_ms: kept.idle_timeout_ms,
            scrollback_lines: kept.scrollback_lines,
            take_over: kept.take_over,
            cwd: cwd.clone(),
            shell_integration: kept.shell_integration,
            persist: kept.persist,
            born_ms: if id == kept.id { kept.born_ms } else { self.unix_ms() },
            recordings: Vec::new(),
            created_told: false,
            exit_told: false,
            typed: String::new(),
            degraded: false,
            running: Vec::new(),
            commands: 0,
        };
        let old_text =
            OldText { first: LineNo(kept.lines[0]), scrollback_lines: kept.scrollback_lines, text };
        let (argv, env) = (program.argv, program.env);
        let record = serde_json::to_vec(&identity).unwrap_or_default();
        let old_text = Some(Box::new(old_text));
        let plan = Plan { id, size, argv, env, cwd: cwd.clone(), record, old_text };
        let (was, lines, saved_ms) = (kept.id.to_string(), kept.lines, kept.saved_ms);
        let restored = Restored { was, cwd, lines, saved_ms, notes };
        let ticket = Some(ticket.clone());
        let life = Life::Starting { ticket, pid: None, runs: false, exit: None };
        let mut terminal = Terminal::new(identity, size, life, self.now);
        terminal.keeping = Keeping::restored(id == kept.id, kept.key(), self.now);
        terminal.restored = Some(Box::new(restored));
        self.terminals.insert(id, terminal);
        self.effect(Effect::Spawn(Box::new(plan)));
        Ok(())
    }

    /// Its own id, or a new one if that is taken.
    fn old_id(&mut self, id: TerminalId) -> Result<TerminalId, Failure> {
        if self.terminals.contains_key(&id) {
            return self.new_id();
        }
        self.make_room()?;
        self.next_id = self.next_id.max(id.0.saturating_add(1));
        self.remember_server();
        Ok(id)
    }

    /// What was restored runs: if it is not to persist any more, the disk may forget it.
    pub(super) fn brought_back(&mut self, id: TerminalId) {
        if !self.persists(Some(id)) {
            self.drop_kept(id);
        }
    }
}

/// A line across the screen between the old text and the new program, dim, and what there is to say.
fn rule(date: &str, notes: &[String], cols: u16) -> String {
    let text = format!("── restored, from {date} ");
    let rest = usize::from(cols).saturating_sub(text.chars().count());
    let mut lines = vec![format!("{text}{}", "─".repeat(rest))];
    lines.extend(notes.iter().cloned());
    lines.iter().map(|line| format!("\x1b[0;2m{line}\x1b[0m\n")).collect()
}

/// A path as it may be shown.
fn printable(path: &str) -> String {
    path.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_as_wide_as_the_screen_and_dim() {
        let line = rule("2026-11-18 04:52", &["x".to_owned()], 40);
        let expected =
            "\x1b[0;2m── restored, from 2026-11-18 04:52 ─────\x1b[0m\n\x1b[0;2mx\x1b[0m\n";
        assert_eq!(line, expected);
        assert!(rule("d", &[], 3).contains("restored, from d"));
    }
}
