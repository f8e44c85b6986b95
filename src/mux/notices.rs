//! What a program wrote: into the grid, and what the grid noticed into events and replies.

use std::panic::{AssertUnwindSafe, catch_unwind};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::limits::{MAX_NESTED_COMMANDS, MAX_OUTPUT_CHUNK, OBSERVED_PIECE};
use super::{CommandRecord, Effect, Mux, TerminalId};
use crate::term::{self, GraphicsKind, Notice, PayloadKind};
use crate::wire::{Event, EventKind, LeftScreen, Progress};

impl Mux {
    /// What an earlier worker has fed already: it makes up the grid, and gives what was not told.
    pub(super) fn refeed(&mut self, id: TerminalId, bytes: &[u8]) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        terminal.output_bytes += bytes.len() as u64;
        self.feed(id, bytes);
    }

    pub(super) fn output(&mut self, id: TerminalId, bytes: &[u8]) {
        let now = self.now;
        if self.wanted(EventKind::Output, id) {
            self.emit_output(id, bytes);
        }
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        terminal.output_bytes += bytes.len() as u64;
        terminal.last_output = now;
        let was_idle = std::mem::take(&mut terminal.idle);
        self.views.wrote(id, bytes);
        self.record_output(id, bytes);
        if was_idle {
            self.emit(id, &Event::Activity);
        }
        if self.is_observed(id) {
            for piece in bytes.chunks(OBSERVED_PIECE) {
                self.feed(id, piece);
                self.observe(id);
            }
        } else {
            self.feed(id, bytes);
        }
        self.editor_ready(id);
        self.probe_soon(id);
        if self.is_awaited(id) {
            self.waits.touch(id);
        }
        self.touch(id);
        self.changed(id);
    }

    fn feed(&mut self, id: TerminalId, bytes: &[u8]) {
        let now = self.now;
        let screen_wanted = self.wanted(EventKind::Screen, id);
        let mut notices = std::mem::take(&mut self.notices);
        self.bound_scrollback(id);
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let known = terminal.identity.counts();
        let trap = self.host.trap;
        let fed = catch_unwind(AssertUnwindSafe(|| {
            trap.into_iter().for_each(|trap| trap(bytes));
            terminal.grid.feed(bytes, &mut notices);
        }));
        if fed.is_err() {
            // One terminal's bytes must not end the service of the others.
            notices.clear();
            terminal.replace_grid();
        }
        terminal.note_change(now, screen_wanted);
        self.count_scrollback(id);
        if fed.is_err() {
            self.degrade(id, LeftScreen::Empty);
        }
        for notice in notices.drain(..) {
            self.number_notice(id, notice);
        }
        self.notices = notices;
        // Once, however many began and ended: a program may print such marks without end.
        if self.get(id).is_some_and(|terminal| terminal.identity.counts() != known) {
            self.remember(id);
        }
    }

    /// Something of the terminal was lost; it goes on from what there is.
    pub(super) fn degrade(&mut self, id: TerminalId, screen: LeftScreen) {
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.identity.degraded = true;
            self.effect(Effect::Save(id));
            self.remember(id);
            self.emit(id, &Event::Degraded { screen });
            self.touch(id);
        }
    }

    /// Notices come of output in the same order whenever it is fed: those whose effects another
    /// worker has seen to have none here.
    fn number_notice(&mut self, id: TerminalId, notice: Notice) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        terminal.notices += 1;
        if terminal.notices > terminal.told {
            self.telling = Some(terminal.notices);
            self.notice(id, notice);
            self.telling = None;
        }
    }

    fn emit_output(&mut self, id: TerminalId, bytes: &[u8]) {
        let mut offset = self.terminals.get(&id).map_or(0, |terminal| terminal.output_bytes);
        for chunk in bytes.chunks(MAX_OUTPUT_CHUNK) {
            self.emit_live(id, &Event::Output { offset, data_base64: BASE64.encode(chunk) });
            offset += chunk.len() as u64;
        }
    }

    /// What the grid has to tell of itself: a program may want to read its new size.
    pub(super) fn tell_size(&mut self, id: TerminalId) {
        let mut notices = Vec::new();
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.grid.take_notices(&mut notices);
        }
        notices.into_iter().for_each(|notice| self.notice(id, notice));
    }

    pub(super) fn notice(&mut self, id: TerminalId, notice: Notice) {
        let cycle = matches!(
            notice,
            Notice::Prompt | Notice::CommandStart { .. } | Notice::CommandDone { .. }
        );
        if let Some(terminal) = self.terminals.get_mut(&id).filter(|_| cycle) {
            terminal.entered = false;
        }
        let event = match notice {
            Notice::Reply(bytes) => {
                self.telling = None;
                return self.reply_to_program(id, &bytes);
            }
            Notice::CommandStart { command } => {
                self.run_started(id);
                self.record_mark(id, command.as_deref().unwrap_or_default());
                self.command_started(id, command)
            }
            Notice::CommandDone { code, key, command, output, cut } => {
                let output_lines = output.as_ref().map(|lines| [lines.start.0, lines.end.0]);
                let ended = Ended { code, command, output_lines, cut };
                let event = self.command_done(id, key.as_deref(), ended);
                self.run_done(id, code, output, cut);
                event
            }
            Notice::Prompt => {
                self.record_mark(id, "");
                self.emit(id, &Event::Prompt);
                self.run_prompted(id);
                return self.ready(id, true);
            }
            Notice::Bell => Event::Bell,
            Notice::Title(title) => Event::Title { title },
            Notice::Cwd(cwd) => Event::Cwd { cwd: cwd.path, host: cwd.host },
            Notice::AltScreen(on) => Event::AltScreen { on },
            Notice::Notification { title, body } => Event::Notification { title, body },
            Notice::Clipboard { selection, data } => {
                Event::Clipboard { selection, data_base64: BASE64.encode(data) }
            }
            Notice::Progress { state, percent } => {
                Event::Progress { state: progress(state), percent }
            }
            Notice::Graphics { kind, bytes } => Event::Graphics { kind: graphics(kind), bytes },
            Notice::Payload { kind, bytes } => Event::Payload { kind: payload(kind), bytes },
        };
        self.emit(id, &event);
    }

    fn reply_to_program(&mut self, id: TerminalId, bytes: &[u8]) {
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.reply(bytes);
            self.effect(Effect::Input(id));
        }
    }

    fn command_started(&mut self, id: TerminalId, command: Option<String>) -> Event {
        let now = self.unix_ms();
        if let Some(terminal) = self.terminals.get_mut(&id)
            && terminal.identity.running.len() < MAX_NESTED_COMMANDS
        {
            terminal.identity.running.push(now);
        }
        Event::CommandStart { command }
    }

    fn command_done(&mut self, id: TerminalId, key: Option<&str>, ended: Ended) -> Event {
        let now = self.unix_ms();
        let Ended { code, command, output_lines, cut } = ended;
        let mut event = Event::CommandDone {
            code,
            command,
            duration_ms: None,
            cwd: None,
            output_lines,
            trusted: false,
        };
        if let (
            Some(terminal),
            Event::CommandDone { code, command, duration_ms, cwd, output_lines, trusted },
        ) = (self.terminals.get_mut(&id), &mut event)
        {
            let identity = &mut terminal.identity;
            let own = &identity.key;
            *trusted = !own.is_empty() && key == Some(own);
            // Nobody but the shell itself ends the command that it started.
            let forged = identity.running.len() == 1 && !own.is_empty() && !*trusted;
            let since = if forged { None } else { identity.running.pop() };
            identity.commands += 1;
            *duration_ms = since.map(|since| now.saturating_sub(since));
            *cwd = terminal.grid.cwd().map(|cwd| cwd.path.clone());
            terminal.history.push(CommandRecord {
                number: terminal.identity.commands,
                command: command.clone(),
                code: *code,
                duration_ms: *duration_ms,
                cwd: cwd.clone(),
                output_lines: *output_lines,
                cut,
                trusted: *trusted,
            });
        }
        event
    }

    /// Without shell integration a line editor still shows that it is ready: it asks for
    /// bracketed paste when, and only when, it reads a line.
    fn editor_ready(&mut self, id: TerminalId) {
        let Some(terminal) = self.terminals.get(&id) else { return };
        let integrated = !terminal.identity.key.is_empty();
        if !terminal.was_ready && !integrated && terminal.grid.modes().bracketed_paste() {
            self.ready(id, true);
        }
    }

    /// A program without either is taken as ready when it has gone quiet.
    pub(super) fn settled(&mut self, id: TerminalId) {
        let integrated = self.terminals.get(&id).is_some_and(|t| !t.identity.key.is_empty());
        if !integrated {
            self.ready(id, true);
        }
    }
}

/// A command's end, as its shell told it.
struct Ended {
    code: Option<i32>,
    command: Option<String>,
    output_lines: Option<[u64; 2]>,
    cut: Option<usize>,
}

fn progress(state: term::Progress) -> Progress {
    match state {
        term::Progress::None => Progress::None,
        term::Progress::Normal => Progress::Normal,
        term::Progress::Error => Progress::Error,
        term::Progress::Indeterminate => Progress::Indeterminate,
        term::Progress::Paused => Progress::Paused,
    }
}

fn graphics(kind: GraphicsKind) -> &'static str {
    match kind {
        GraphicsKind::Sixel => "sixel",
        GraphicsKind::Kitty => "kitty",
        GraphicsKind::Iterm => "iterm",
        GraphicsKind::Regis => "regis",
    }
}

fn payload(kind: PayloadKind) -> &'static str {
    match kind {
        PayloadKind::Dcs => "dcs",
        PayloadKind::Apc => "apc",
        PayloadKind::Pm => "pm",
        PayloadKind::Sos => "sos",
    }
}
