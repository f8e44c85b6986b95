//! A terminal's life: spawned, running, ended, killed, forgotten.

use super::dead::{OldText, Restored};
use super::limits::{KILL_GRACE, MAX_DEAD, MAX_TERMINALS, READY_TIMEOUT};
use super::signals::{SIGCONT, SIGHUP, SIGKILL, signal_name};
use super::terminal::{Dying, Readiness};
use super::{Effect, Exit, Identity, Life, Mux, RecordWish, Target, Terminal, TerminalId, Ticket};
use crate::term::Size;
use crate::wire::{Code, Event, Failure};
use serde::Serialize;

/// A program to be started in a new terminal.
#[derive(Debug)]
pub struct Plan {
    pub id: TerminalId,
    pub size: Size,
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: String,
    pub record: Vec<u8>,
    /// What the terminal begins with.
    pub old_text: Option<Box<OldText>>,
}

#[derive(Serialize)]
struct Created {
    id: String,
    cols: u16,
    rows: u16,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<bool>,
    #[serde(flatten)]
    restored: Option<Restored>,
}

impl Mux {
    /// A number for a new terminal, if there is room for one.
    pub fn new_id(&mut self) -> Result<TerminalId, Failure> {
        self.make_room()?;
        let id = TerminalId(self.next_id);
        self.next_id += 1;
        self.remember_server();
        Ok(id)
    }

    pub(super) fn make_room(&mut self) -> Result<(), Failure> {
        if self.terminals.len() >= MAX_TERMINALS {
            if let Some(oldest) = self.dead.front().copied() {
                self.remove(oldest, "evicted");
            } else {
                let error =
                    format!("there are {MAX_TERMINALS} terminals, which is the most: kill some");
                return Err(Failure::new(Code::Limit, error));
            }
        }
        Ok(())
    }

    /// Starts a program; the ticket is answered when it runs or cannot.
    pub fn spawn(
        &mut self,
        identity: Identity,
        ready: bool,
        mut plan: Plan,
        record: Option<RecordWish>,
        ticket: &Ticket,
    ) {
        let id = identity.id;
        let life =
            Life::Starting { ticket: Some(ticket.clone()), pid: None, runs: false, exit: None };
        let mut terminal = Terminal::new(identity, plan.size, life, self.now);
        if ready {
            terminal.ready = Some(Readiness {
                ticket: ticket.clone(),
                deadline: self.now + READY_TIMEOUT,
                seq: self.seq(),
            });
        }
        plan.record = serde_json::to_vec(&terminal.identity).unwrap_or_default();
        let identity = terminal.identity.clone();
        self.terminals.insert(id, terminal);
        match record {
            Some(wish) => self.record_first(&identity, wish, Box::new(plan)),
            None => self.effect(Effect::Spawn(Box::new(plan))),
        }
    }

    pub(super) fn forked(&mut self, id: TerminalId, child: u32) {
        if let Some(terminal) = self.terminals.get_mut(&id) {
            if let Life::Starting { pid, .. } = &mut terminal.life {
                *pid = Some(child);
            }
            self.try_begin(id);
        }
    }

    pub(super) fn started(&mut self, id: TerminalId, result: Result<(), Failure>) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let Life::Starting { ticket, runs, .. } = &mut terminal.life else { return };
        match result {
            Ok(()) => {
                *runs = true;
                self.try_begin(id);
            }
            Err(failure) => {
                let ticket = ticket.take();
                self.drop_tapes(id);
                self.terminals.remove(&id);
                self.effect(Effect::Forget(id));
                if let Some(ticket) = ticket {
                    self.refuse(&ticket, &failure);
                }
            }
        }
    }

    /// Both the keeper's word and the program's own start are needed, in whichever order they come.
    fn try_begin(&mut self, id: TerminalId) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let Life::Starting { ticket, pid: Some(pid), runs: true, exit } = &mut terminal.life else {
            return;
        };
        let (pid, ticket, exit) = (*pid, ticket.take(), *exit);
        terminal.life = Life::Running { pid };
        terminal.last_output = self.now;
        terminal.keeping.has_changed(self.now);
        let Size { cols, rows } = terminal.grid.size();
        let name = terminal.identity.name.clone();
        let waits = terminal.ready.is_some();
        terminal.identity.created_told = true;
        let seq = self.seq();
        self.emit(id, &Event::Created { pid, cols, rows, name });
        self.remember(id);
        if let Some(ticket) = ticket.filter(|_| !waits) {
            self.tell_created(id, &ticket, seq, None);
        }
        self.brought_back(id);
        match exit {
            Some(exit) => self.exited(id, exit),
            None => self.arm(id),
        }
    }

    fn tell_created(&mut self, id: TerminalId, ticket: &Ticket, seq: u64, ready: Option<bool>) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let Size { cols, rows } = terminal.grid.size();
        let restored = terminal.restored.take().map(|restored| *restored);
        let created = Created {
            id: id.to_string(),
            cols,
            rows,
            pid: terminal.pid().unwrap_or(0),
            name: terminal.identity.name.clone(),
            seq,
            ready,
            restored,
        };
        self.answer(ticket, created);
    }

    /// The first prompt is there, or will not come.
    pub(super) fn ready(&mut self, id: TerminalId, ready: bool) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        terminal.was_ready |= ready;
        if let Some(waiting) =
            terminal.ready.take_if(|_| !matches!(terminal.life, Life::Starting { .. }))
        {
            self.tell_created(id, &waiting.ticket, waiting.seq, Some(ready));
        }
        if ready {
            self.release_held(id);
        }
    }

    /// The program ended and all it wrote was read.
    pub(super) fn exited(&mut self, id: TerminalId, exit: Exit) {
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let pid = match &mut terminal.life {
            Life::Running { pid } => *pid,
            Life::Starting { exit: early, .. } => {
                *early = Some(exit);
                return;
            }
            Life::Exited { .. } => return,
        };
        terminal.identity.exit_told = true;
        let signal = match exit {
            Exit::Signal(signal) => Some(signal_name(signal)),
            Exit::Code(_) | Exit::Unknown => None,
        };
        self.record_exit(id, exit.code());
        self.bury(id, pid, exit);
        self.emit(id, &Event::Exit { code: exit.code(), signal });
        self.touch(id);
        self.remember(id);
        self.ready(id, false);
        self.refuse_held(id);
        self.check_run(id);
        self.check_waits_of(id, None);
        if self.terminals.get(&id).is_some_and(|terminal| terminal.dying.is_some()) {
            self.remove(id, "asked");
        } else if self.dead.len() > MAX_DEAD
            && let Some(oldest) = self.dead.front().copied()
        {
            self.remove(oldest, "evicted");
        }
    }

    pub(super) fn bury(&mut self, id: TerminalId, pid: u32, exit: Exit) {
        if let Some(terminal) = self.terminals.get_mut(&id) {
            terminal.life = Life::Exited { pid, exit };
            terminal.drop_input();
            self.dead.push_back(id);
            self.ended_kept(id);
        }
    }

    /// Hangs up, and kills what does not listen. Answered when the program is gone.
    pub fn kill(&mut self, id: TerminalId, ticket: &Ticket) {
        let now = self.now;
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        match &mut terminal.dying {
            Some(dying) => dying.tickets.push(ticket.clone()),
            None => terminal.dying = Some(Dying::new(ticket.clone(), now)),
        }
        if terminal.alive() {
            self.signal_all(id, SIGHUP);
            // A stopped program could not act on it.
            self.signal_all(id, SIGCONT);
            self.arm(id);
        } else {
            self.remove(id, "asked");
        }
    }

    fn signal_all(&mut self, id: TerminalId, signal: i32) {
        for target in [Target::Foreground, Target::Group] {
            self.effect(Effect::Signal { id, signal, target });
        }
    }

    fn remove(&mut self, id: TerminalId, reason: &'static str) {
        self.detach_terminal(id);
        self.end_tapes(id, "killed");
        self.fail_run(id, &Failure::new(Code::NotFound, format!("{id} was killed")));
        self.drop_kept(id);
        let Some(terminal) = self.terminals.remove(&id) else { return };
        self.scrollback.bytes -= terminal.scrollback_counted;
        self.dead.retain(|dead| *dead != id);
        self.effect(Effect::Forget(id));
        self.emit(id, &Event::Killed { reason });
        self.check_waits_of(id, None);
        for ticket in terminal.dying.into_iter().flat_map(|dying| dying.tickets) {
            self.answer(&ticket, serde_json::json!({ "id": id.to_string() }));
        }
    }

    /// Whatever of this terminal's time is up.
    pub(super) fn due(&mut self, id: TerminalId) {
        let now = self.now;
        let idle_ms = self.idle_timeout_ms(Some(id));
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let quiet_typist = terminal.typing_due(now);
        let drawn = terminal.sync_due(now);
        let stamp = terminal.screen_due(now).then(|| terminal.grid.stamp());
        let quiet = now.saturating_duration_since(terminal.last_output).as_millis() as u64;
        let idle = terminal.started() && terminal.alive() && !terminal.idle && quiet >= idle_ms;
        terminal.idle |= idle;
        let given_up = terminal.ready.as_ref().is_some_and(|ready| ready.deadline <= now);
        if let Some(stamp) = stamp {
            self.emit_live(id, &Event::Screen { stamp });
        }
        if idle {
            self.emit(id, &Event::Idle { after_ms: idle_ms });
            self.effect(Effect::Rest(id));
            self.settled(id);
        }
        if given_up {
            self.ready(id, false);
        }
        if quiet_typist || drawn {
            self.touch(id);
        }
        if drawn {
            self.effect(Effect::Save(id));
        }
        self.refuse_held(id);
        self.stops_due(id);
        self.keep_due(id);
        self.probe_due(id);
        self.check_run(id);
        self.check_waits_of(id, None);
        // A frame may have waited for this moment.
        self.news = true;
        self.kill_due(id);
    }

    fn kill_due(&mut self, id: TerminalId) {
        let now = self.now;
        let Some(terminal) = self.terminals.get_mut(&id) else { return };
        let Some(dying) = terminal.dying.as_mut().filter(|dying| dying.deadline <= now) else {
            return;
        };
        if dying.forced {
            // Not even SIGKILL ends a process that hangs in the kernel.
            self.remove(id, "asked");
        } else {
            dying.forced = true;
            dying.deadline = now + KILL_GRACE;
            self.signal_all(id, SIGKILL);
        }
    }
}
