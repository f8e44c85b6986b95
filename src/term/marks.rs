//! What shells say about themselves (OSC 133, 633, 7777, WEZTERM_PROG), boiled down to four marks.
//!
//! ```text
//!            A                B                C
//!  Unknown ────▶ Prompt ──────────▶ Input ──────────▶ Running
//!                  ▲                                    │ done, D
//!                  └────────────────────────────────────┘
//! ```
//! Shells start shells, so there is a stack of these, told apart by `aid` where the shell gives one.

mod decode;
mod save;

use super::clean::is_unsafe;
use decode::{base64_decode, percent_decode, unescape, unquote};

/// The longest command line kept, in bytes.
pub const MAX_COMMAND: usize = 8192;
/// The longest `aid` or `key` kept, in bytes.
pub const MAX_SHELL_ID: usize = 64;
/// How many shells within shells are told apart.
pub const MAX_SHELLS: usize = 16;

/// Where a shell is in its cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellState {
    /// No mark has been seen.
    #[default]
    Unknown,
    /// The prompt is being drawn.
    Prompt,
    /// The line editor is ready.
    Input,
    /// A command runs.
    Running,
}

/// A step in the life of a shell. All text in it is clean and bounded, none of it is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The cursor is where a prompt begins.
    PromptStart,
    /// The cursor is where input begins; `first` once per prompt, not when it is drawn again.
    InputStart { first: bool },
    /// Output begins. Without `command`, the screen from the input's start to here has it.
    CommandStart { command: Option<String> },
    /// A command ended. `key` is what the mark carried, for the reader to compare.
    CommandDone { code: Option<i32>, key: Option<String> },
    /// The cursor is where the output of a command ended.
    OutputEnd,
}

/// The shells of one terminal, outermost first.
#[derive(PartialEq, Debug, Default)]
pub struct Marks {
    levels: Vec<Level>,
}

#[derive(PartialEq, Debug, Default)]
struct Level {
    aid: Option<String>,
    state: ShellState,
    /// The key of a shell that ends its commands with `7777;done`.
    owner: Owner,
    /// The command line, announced while not yet running.
    command: Option<(Source, String)>,
    started_by: Option<Emitter>,
    /// The code of a D that another integration in an owned shell sent before our own `done`.
    held: Option<Option<i32>>,
    sends_input_mark: bool,
    told_ready: bool,
    /// A D has ended the command, and no prompt came since.
    ended: bool,
    /// What is drawn is a prompt for one more line of the same input.
    continuing: bool,
}

/// Who may end the commands of a shell.
#[derive(Debug, Default, PartialEq, Eq)]
enum Owner {
    /// The first D or `done` that comes.
    #[default]
    Anyone,
    /// Only a `done` with this key: the shell has said that it sends them.
    Key(Option<String>),
}

/// Where a command line came from, the better the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Screen,
    Quoted,
    Wezterm,
    VsCode,
    Url,
}

/// One of several integrations that may live in the same shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Emitter {
    dialect: Dialect,
    has_aid: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Ftcs,
    VsCode,
}

impl Marks {
    /// Takes one OSC, split at `;`. What is not a shell's mark, or is broken, does nothing.
    pub fn osc(&mut self, params: &[&[u8]], out: &mut Vec<Mark>) {
        let Some((number, rest)) = params.split_first() else { return };
        match *number {
            b"133" => self.semantic(Dialect::Ftcs, rest, out),
            b"633" => self.semantic(Dialect::VsCode, rest, out),
            b"7777" => self.own(rest, out),
            b"1337" => self.user_var(rest),
            _ => {}
        }
    }

    /// The state of the innermost shell.
    pub fn state(&self) -> ShellState {
        self.levels.last().map_or(ShellState::Unknown, |level| level.state)
    }

    /// The innermost shell asks for one more line of the same input.
    pub fn continuing(&self) -> bool {
        self.levels.last().is_some_and(|level| level.continuing)
    }

    /// The command line that runs in the innermost shell.
    pub fn running(&self) -> Option<&str> {
        let level = self.levels.last()?;
        let (_, text) = level.command.as_ref().filter(|_| level.state == ShellState::Running)?;
        Some(text)
    }

    /// In how many shells, one within another, a command runs.
    pub fn depth(&self) -> usize {
        self.levels.iter().filter(|level| level.state == ShellState::Running).count()
    }

    /// Tells what the screen shows as the command line, for a mark that carried none.
    pub fn set_running(&mut self, command: String) {
        if self.state() == ShellState::Running {
            self.announce(Source::Screen, command.into_bytes());
        }
    }

    fn semantic(&mut self, dialect: Dialect, params: &[&[u8]], out: &mut Vec<Mark>) {
        let Some((verb, rest)) = params.split_first() else { return };
        let aid = id_of(rest, b"aid=");
        match *verb {
            b"A" => self.prompt(aid, rest, out),
            b"N" | b"P" if dialect == Dialect::Ftcs => self.prompt(aid, rest, out),
            b"B" => self.input(aid, out),
            b"C" => self.start(dialect, aid, command_of(rest), out),
            b"D" => self.done(aid, code_of(rest), out),
            b"E" if dialect == Dialect::VsCode => {
                self.announce(Source::VsCode, unescape(rest.first().copied().unwrap_or_default()));
            }
            _ => {}
        }
    }

    /// `done;<code>[;key=…][;aid=…]` ends a command; `prompt[;key=…][;aid=…]` says, once per
    /// prompt, that a new one is about to be drawn by a shell that sends `done`; `end[;key=…]` that
    /// output ended here, from a shell that will say `done` further down.
    fn own(&mut self, params: &[&[u8]], out: &mut Vec<Mark>) {
        let Some((verb, rest)) = params.split_first() else { return };
        let (aid, key) = (id_of(rest, b"aid="), id_of(rest, b"key="));
        match *verb {
            b"done" => self.own_done(aid, key, code_of(rest), out),
            b"prompt" => self.own_prompt(aid, key, out),
            b"end" => self.own_end(&key, out),
            _ => {}
        }
    }

    fn user_var(&mut self, params: &[&[u8]]) {
        let value = params.first().and_then(|p| p.strip_prefix(b"SetUserVar=WEZTERM_PROG="));
        if let Some(text) = value.and_then(base64_decode) {
            self.announce(Source::Wezterm, text);
        }
    }

    fn prompt(&mut self, aid: Option<String>, attributes: &[&[u8]], out: &mut Vec<Mark>) {
        match attribute(attributes, b"k=") {
            Some(b"s" | b"c") => return self.continue_input(),
            Some(b"r") => return,
            _ => {}
        }
        let level = self.enter(aid, out);
        level.draw();
        out.push(Mark::PromptStart);
        // kitty's scripts never send B: a shell that has not sent one yet is taken to be ready now.
        if !level.sends_input_mark {
            level.ready(out);
        }
    }

    /// The start of the input stays where the first line's was.
    fn continue_input(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.continuing = true;
        }
    }

    fn input(&mut self, aid: Option<String>, out: &mut Vec<Mark>) {
        if self.state() == ShellState::Running && self.position(&aid).is_none() {
            return;
        }
        let level = match self.position(&aid) {
            Some(at) => self.leave_to(at),
            None => self.top_or_new(aid),
        };
        if level.state == ShellState::Running || level.continuing {
            return;
        }
        level.sends_input_mark = true;
        level.ready(out);
    }

    fn start(
        &mut self,
        dialect: Dialect,
        aid: Option<String>,
        text: Option<(Source, Vec<u8>)>,
        out: &mut Vec<Mark>,
    ) {
        let by = Emitter { dialect, has_aid: aid.is_some() };
        let nested = aid.is_some() && self.position(&aid).is_none();
        let level = match self.position(&aid) {
            Some(at) => self.leave_to(at),
            None if nested => self.enter(aid, out),
            None => self.top_or_new(None),
        };
        if level.state != ShellState::Running {
            level.start(by, text, out);
        } else if level.started_by == Some(by) {
            // No prompt came between two commands of a pasted block.
            level.finish(None, out);
            level.start(by, text, out);
        } else if let Some((source, text)) = text {
            level.announce(source, text);
        }
    }

    fn done(&mut self, aid: Option<String>, code: Option<i32>, out: &mut Vec<Mark>) {
        let Some(at) = self.ended(&aid) else { return };
        let level = self.leave_to(at);
        if level.owner == Owner::Anyone {
            level.finish(Some(Mark::CommandDone { code, key: None }), out);
            level.ended = true;
        } else {
            level.held = Some(code);
        }
    }

    /// The level whose command a D ends. One that follows no C is a phantom: many shells send them.
    fn ended(&self, aid: &Option<String>) -> Option<usize> {
        let runs = |level: &Level| level.state == ShellState::Running;
        if aid.is_some() {
            return self.position(aid).filter(|&at| runs(&self.levels[at]));
        }
        let top = self.levels.last()?;
        if runs(top) {
            return Some(self.levels.len() - 1);
        }
        // The top one would have given its name, so it has gone and this is an outer shell's.
        let gone = top.aid.is_some();
        self.levels.iter().rposition(|level| gone && level.aid.is_none() && runs(level))
    }

    fn own_done(
        &mut self,
        aid: Option<String>,
        key: Option<String>,
        code: Option<i32>,
        out: &mut Vec<Mark>,
    ) {
        let at = if aid.is_some() { self.position(&aid) } else { self.levels.len().checked_sub(1) };
        let is_own = |level: &Level| match &level.owner {
            Owner::Anyone => true,
            Owner::Key(owner) => *owner == key,
        };
        let at = at.filter(|&at| is_own(&self.levels[at]));
        if key.is_none() && at.is_some_and(|at| self.levels[at].ended) {
            return;
        }
        let mark = Mark::CommandDone { code, key };
        match at {
            Some(at) => self.leave_to(at).finish(Some(mark), out),
            // A stranger's word is passed on, but the state is not his to change.
            None => out.push(mark),
        }
    }

    fn own_end(&self, key: &Option<String>, out: &mut Vec<Mark>) {
        let own = |level: &&Level| matches!(&level.owner, Owner::Key(owner) if owner == key);
        let runs = |level: &&Level| level.state == ShellState::Running;
        if self.levels.last().filter(own).filter(runs).is_some() {
            out.push(Mark::OutputEnd);
        }
    }

    fn own_prompt(&mut self, aid: Option<String>, key: Option<String>, out: &mut Vec<Mark>) {
        let named = aid.is_some();
        if !named && self.levels.last().is_some_and(|top| top.owner != Owner::Anyone) {
            return;
        }
        let level = self.enter(aid, out);
        level.draw();
        level.owner = Owner::Key(key);
        level.sends_input_mark = true;
        level.told_ready = false;
    }

    /// The level of a shell that draws a prompt, made if it is new.
    fn enter(&mut self, aid: Option<String>, out: &mut Vec<Mark>) -> &mut Level {
        if let Some(at) = self.position(&aid) {
            let level = self.leave_to(at);
            if level.state == ShellState::Running {
                level.finish(None, out);
            }
            return level;
        }
        match self.levels.last_mut() {
            Some(top) if top.state == ShellState::Running => {
                if aid.is_some() || top.held.is_none() {
                    return self.push(aid);
                }
                top.finish(None, out);
            }
            // Two integrations in one shell, and only one of them gives a name.
            Some(top) if aid.is_some() && top.aid.is_none() => top.aid = aid.clone(),
            Some(top) if aid.is_some() && top.aid != aid => {
                self.levels.pop();
                return self.push(aid);
            }
            _ => {}
        }
        self.top_or_new(aid)
    }

    fn position(&self, aid: &Option<String>) -> Option<usize> {
        self.levels.iter().rposition(|level| aid.is_some() && level.aid == *aid)
    }

    /// The shells above have ended: the one at `at` speaks again.
    fn leave_to(&mut self, at: usize) -> &mut Level {
        self.levels.truncate(at + 1);
        self.top_or_new(None)
    }

    fn top_or_new(&mut self, aid: Option<String>) -> &mut Level {
        if self.levels.is_empty() {
            return self.push(aid);
        }
        let top = self.levels.len() - 1;
        &mut self.levels[top]
    }

    fn push(&mut self, aid: Option<String>) -> &mut Level {
        if self.levels.len() == MAX_SHELLS {
            self.levels.remove(0);
        }
        self.levels.push(Level { aid, ..Level::default() });
        let top = self.levels.len() - 1;
        &mut self.levels[top]
    }

    fn announce(&mut self, source: Source, text: Vec<u8>) {
        self.top_or_new(None).announce(source, text);
    }
}

impl Level {
    fn draw(&mut self) {
        self.state = ShellState::Prompt;
        self.command = None;
        self.ended = false;
        self.continuing = false;
    }

    fn ready(&mut self, out: &mut Vec<Mark>) {
        self.state = ShellState::Input;
        out.push(Mark::InputStart { first: !self.told_ready });
        self.told_ready = true;
    }

    fn start(&mut self, by: Emitter, text: Option<(Source, Vec<u8>)>, out: &mut Vec<Mark>) {
        if let Some((source, text)) = text {
            self.announce(source, text);
        }
        self.state = ShellState::Running;
        self.started_by = Some(by);
        self.ended = false;
        self.continuing = false;
        out.push(Mark::CommandStart { command: self.command.as_ref().map(|(_, t)| t.clone()) });
    }

    /// Ends the command with `mark`, or with what a held D said.
    fn finish(&mut self, mark: Option<Mark>, out: &mut Vec<Mark>) {
        let held = Mark::CommandDone { code: self.held.take().flatten(), key: None };
        out.push(mark.unwrap_or(held));
        if self.state == ShellState::Running {
            self.state = ShellState::Prompt;
        }
        self.command = None;
        self.started_by = None;
        self.told_ready = false;
    }

    fn announce(&mut self, source: Source, text: Vec<u8>) {
        let known = self.command.as_ref().map(|(source, _)| *source);
        if known.is_some_and(|known| known > source) {
            return;
        }
        // wezterm's scripts clear theirs before each prompt.
        let text = clean(&text, MAX_COMMAND);
        self.command = if text.is_empty() { None } else { Some((source, text)) };
    }
}

fn attribute<'a>(params: &[&'a [u8]], name: &[u8]) -> Option<&'a [u8]> {
    params.iter().find_map(|p| p.strip_prefix(name))
}

fn id_of(params: &[&[u8]], name: &[u8]) -> Option<String> {
    let id = clean(attribute(params, name)?, MAX_SHELL_ID);
    if id.is_empty() { None } else { Some(id) }
}

fn code_of(params: &[&[u8]]) -> Option<i32> {
    std::str::from_utf8(params.first()?).ok()?.parse().ok()
}

fn command_of(params: &[&[u8]]) -> Option<(Source, Vec<u8>)> {
    if let Some(url) = attribute(params, b"cmdline_url=") {
        return Some((Source::Url, percent_decode(url)));
    }
    let at = params.iter().position(|p| p.starts_with(b"cmdline="))?;
    // kitty quotes for a shell and leaves `;` as it is.
    let joined = params[at..].join(&b';');
    Some((Source::Quoted, unquote(&joined[b"cmdline=".len()..])))
}

/// Text without what could act on whoever prints it, but newline and tab; at most `max` bytes.
pub fn clean(bytes: &[u8], max: usize) -> String {
    // Enough to find `max` good bytes in, without decoding megabytes.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(2 * max)]);
    let mut kept = String::new();
    for c in text.trim_end_matches('\n').chars() {
        if is_unsafe(c) && c != '\n' && c != '\t' {
            continue;
        }
        if kept.len() + c.len_utf8() > max {
            break;
        }
        kept.push(c);
    }
    kept
}

#[cfg(test)]
mod tests;
