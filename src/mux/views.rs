//! Who looks at which terminal, and in which role.

mod frames;

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::limits::{FRAME_PACE, FRAME_QUIET, MAX_VIEW_NAME, MAX_VIEWS, TYPING_SHOWN};
use super::raw::Raw;
use super::{ClientId, Mux, Terminal, TerminalId, Ticket};
use crate::term::Size;
use crate::wire::{Attached, Code, Event, Failure, Role, Tag, ViewState};

/// The flag of the kitty keyboard protocol by which a program asks for held and released keys.
const KITTY_EVENT_TYPES: u8 = 2;

/// A view; never given out twice by one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewId(pub u32);

pub struct View {
    client: ClientId,
    tag: Option<Tag>,
    terminal: TerminalId,
    role: Role,
    name: String,
    /// None: everything is still to be shown.
    shown: Option<Shown>,
    /// What was told with the last frame that had a state.
    told: Option<ViewState>,
    sent: Option<Instant>,
    /// Since when no frame has shown what came of the view's own input.
    typed: Option<Instant>,
    /// Something is to be shown that the last frame did not.
    stale: bool,
    /// For a viewer that is a terminal itself: the program's bytes instead of frames.
    raw: Option<Raw>,
}

/// What the last frame brought a view to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    stamp: u64,
    size: Size,
}

#[derive(Default)]
pub struct Views {
    all: BTreeMap<ViewId, View>,
    next: u32,
}

impl Views {
    pub fn count(&self) -> usize {
        self.all.len()
    }
}

/// Whether people may take the keyboard for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum TakeOver {
    #[default]
    Allowed,
    /// Nobody may.
    Refused,
    /// People type only after they have.
    Needed,
}

/// Who types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typist {
    /// By a request that belongs to no view.
    Agent,
    View(ViewId),
}

/// A new view, as it is asked for.
pub struct Attachment {
    pub terminal: TerminalId,
    pub role: Role,
    pub name: String,
    pub size: Option<Size>,
    pub raw: bool,
}

impl Views {
    pub fn of(&self, terminal: TerminalId) -> impl Iterator<Item = (ViewId, &View)> {
        let its = move |(_, view): &(&ViewId, &View)| view.terminal == terminal;
        self.all.iter().filter(its).map(|(id, view)| (*id, view))
    }

    pub fn attached(&self, terminal: TerminalId) -> Vec<Attached> {
        let attached = |(id, view): (ViewId, &View)| Attached {
            view: id.0,
            role: view.role,
            name: view.name.clone(),
        };
        self.of(terminal).map(attached).collect()
    }

    fn holder(&self, terminal: TerminalId) -> Option<(ViewId, &View)> {
        self.of(terminal).find(|(_, view)| view.role == Role::Take)
    }

    /// The program wrote; viewers with a terminal of their own read it as it is.
    pub fn wrote(&mut self, terminal: TerminalId, bytes: &[u8]) {
        let its = self.all.values_mut().filter(|view| view.terminal == terminal);
        its.filter_map(|view| view.raw.as_mut()).for_each(|raw| raw.push(bytes));
    }

    /// Whether anyone looks.
    fn touch(&mut self, terminal: TerminalId) -> bool {
        let its = self.all.values_mut().filter(|view| view.terminal == terminal);
        its.map(|view| view.stale = true).count() > 0
    }
}

impl View {
    /// When its next frame may be sent; at once if that is not told. Not before more could come
    /// that belongs to it, but not later than the pace. What comes first after its own input is shown
    /// at once, and until then nothing else for a moment, which would only delay it.
    fn due(&self, terminal: &Terminal) -> Option<Instant> {
        let sent = self.sent.filter(|_| self.raw.is_none())?;
        match self.typed {
            Some(typed) if terminal.last_output > typed => None,
            Some(typed) => Some(typed + FRAME_PACE),
            None => Some((sent + FRAME_PACE).min(terminal.last_output + FRAME_QUIET)),
        }
    }
}

impl Mux {
    pub fn attach(&mut self, attachment: Attachment, ticket: &Ticket) -> Result<(), Failure> {
        let Attachment { terminal, role, name, size, raw } = attachment;
        if self.views.all.len() >= MAX_VIEWS {
            let error = format!("there are {MAX_VIEWS} views, which is the most: detach one");
            return Err(Failure::new(Code::Limit, error));
        }
        self.check_role(terminal, None, role)?;
        self.views.next += 1;
        let id = ViewId(self.views.next);
        let view = View {
            client: ticket.client,
            tag: ticket.tag.clone(),
            terminal,
            role,
            name: clean_name(&name),
            shown: None,
            told: None,
            sent: None,
            typed: None,
            stale: true,
            raw: raw.then(Raw::default),
        };
        let seq = self.seq();
        self.emit(terminal, &Event::Attached { view: id.0, role, name: view.name.clone() });
        self.views.all.insert(id, view);
        self.clients.has_view(ticket.client, true);
        self.role_changed(terminal, id, None, role);
        self.fit(id, size);
        let body = serde_json::json!({ "view": id.0, "id": terminal.to_string(), "role": role,
            "seq": seq });
        self.answer(ticket, body);
        Ok(())
    }

    /// Changes what a view may do, and its size.
    pub fn change_view(
        &mut self,
        id: ViewId,
        role: Option<Role>,
        size: Option<Size>,
    ) -> Result<Role, Failure> {
        let view = self.views.all.get(&id).ok_or_else(|| no_view(id))?;
        let (terminal, before) = (view.terminal, view.role);
        let role = role.unwrap_or(before);
        if role != before {
            self.check_role(terminal, Some(id), role)?;
            if let Some(view) = self.views.all.get_mut(&id) {
                view.role = role;
            }
            self.role_changed(terminal, id, Some(before), role);
        }
        self.fit(id, size);
        Ok(role)
    }

    fn check_role(
        &self,
        terminal: TerminalId,
        own: Option<ViewId>,
        role: Role,
    ) -> Result<(), Failure> {
        let policy = self.take_over(terminal);
        let holder = self.views.holder(terminal).filter(|(id, _)| Some(*id) != own);
        match (role, holder) {
            (Role::Take, _) if policy == TakeOver::Refused => {
                Err(Failure::new(Code::Held, format!("{terminal} does not allow take-over")))
            }
            (Role::Take, Some((_, holder))) => Err(held(terminal, holder)),
            _ => Ok(()),
        }
    }

    fn role_changed(&mut self, terminal: TerminalId, id: ViewId, before: Option<Role>, now: Role) {
        let name = self.views.all.get(&id).map(|view| view.name.clone()).unwrap_or_default();
        if before == Some(Role::Take) {
            self.emit(terminal, &Event::Released { view: id.0, name: name.clone() });
        }
        if now == Role::Take {
            self.emit(terminal, &Event::Taken { view: id.0, name });
        }
        self.touch(terminal);
    }

    /// Who may type sets the size; the others see what there is.
    fn fit(&mut self, id: ViewId, size: Option<Size>) {
        let Some(view) = self.views.all.get(&id).filter(|view| view.role != Role::View) else {
            return;
        };
        let terminal = view.terminal;
        let taken = self.views.holder(terminal).is_some_and(|(holder, _)| holder != id);
        if let Some(size) = size.filter(|_| !taken) {
            self.resize(terminal, size);
        }
    }

    pub fn detach(&mut self, id: ViewId) -> Result<(), Failure> {
        let view = self.views.all.get(&id).ok_or_else(|| no_view(id))?;
        let (terminal, role, client) = (view.terminal, view.role, view.client);
        let view = view.name.clone();
        if role == Role::Take {
            self.emit(terminal, &Event::Released { view: id.0, name: view.clone() });
        }
        self.views.all.remove(&id);
        let more = self.has_views(client) || self.streams_to(client);
        self.clients.has_view(client, more);
        self.emit(terminal, &Event::Detached { view: id.0, name: view });
        self.touch(terminal);
        Ok(())
    }

    pub(super) fn has_views(&self, client: ClientId) -> bool {
        self.views.all.values().any(|view| view.client == client)
    }

    /// A client is gone, and so are its views.
    pub(super) fn detach_client(&mut self, client: ClientId) {
        self.detach_all(|view| view.client == client);
    }

    pub(super) fn detach_terminal(&mut self, terminal: TerminalId) {
        self.detach_all(|view| view.terminal == terminal);
    }

    fn detach_all(&mut self, which: impl Fn(&View) -> bool) {
        let ids: Vec<_> =
            self.views.all.iter().filter(|(_, view)| which(view)).map(|(id, _)| *id).collect();
        for id in ids {
            let _ = self.detach(id);
        }
    }

    pub fn take_over(&self, id: TerminalId) -> TakeOver {
        self.get(id).map(|terminal| terminal.identity.take_over).unwrap_or_default()
    }

    /// Who holds the keyboard when take-over is refused from now on has to give it back.
    pub fn set_take_over(&mut self, id: TerminalId, policy: TakeOver) {
        if let Some(terminal) = self.get_mut(id) {
            terminal.identity.take_over = policy;
        }
        let holder = self.views.holder(id).map(|(holder, _)| holder);
        if let Some(holder) = holder.filter(|_| policy == TakeOver::Refused) {
            let _ = self.change_view(holder, Some(Role::Edit), None);
        }
        self.remember(id);
    }

    /// The view of a client, and its terminal.
    pub fn view(&self, id: ViewId, client: ClientId) -> Result<TerminalId, Failure> {
        let view = self.views.all.get(&id).filter(|view| view.client == client);
        view.map(|view| view.terminal).ok_or_else(|| no_view(id))
    }

    /// Types, if the typist may type now.
    pub fn type_in(&mut self, id: TerminalId, bytes: &[u8], by: Typist) -> Result<(), Failure> {
        self.queue_input(id, bytes, by)?;
        self.record_input(id, bytes);
        self.input_queued(id);
        Ok(())
    }

    /// The same with what no recording may have.
    pub(super) fn type_unrecorded(
        &mut self,
        id: TerminalId,
        bytes: &[u8],
        by: Typist,
    ) -> Result<(), Failure> {
        self.queue_input(id, bytes, by)?;
        self.input_queued(id);
        Ok(())
    }

    fn input_queued(&mut self, id: TerminalId) {
        self.effect(super::Effect::Input(id));
        self.probe_soon(id);
        self.arm(id);
    }

    fn queue_input(&mut self, id: TerminalId, bytes: &[u8], by: Typist) -> Result<(), Failure> {
        if let Err(failure) = self.may_type(id, by) {
            if let Some(terminal) = self.get_mut(id).filter(|_| by == Typist::Agent) {
                terminal.refused += 1;
                self.touch(id);
            }
            return Err(failure);
        }
        let (now, seq) = (self.now, self.seq());
        let Some(terminal) = self.terminals.get_mut(&id) else { return Ok(()) };
        terminal.type_in(bytes)?;
        terminal.note_input(bytes, seq, now);
        let name = match by {
            Typist::Agent => "agent",
            Typist::View(view) => match self.views.all.get_mut(&view) {
                Some(view) => {
                    view.typed.get_or_insert(now);
                    &view.name
                }
                None => "",
            },
        };
        match &mut terminal.typing {
            Some((before, at)) if before == name => *at = now,
            typing => {
                *typing = Some((name.to_owned(), now));
                self.touch(id);
            }
        }
        Ok(())
    }

    fn may_type(&self, id: TerminalId, by: Typist) -> Result<(), Failure> {
        let policy = self.take_over(id);
        let own = match by {
            Typist::View(view) => self.views.all.get(&view),
            Typist::Agent => None,
        };
        if let Some((_, holder)) = self.views.holder(id) {
            return match own {
                Some(view) if view.role == Role::Take => Ok(()),
                _ => Err(held(id, holder)),
            };
        }
        match own.map(|view| view.role) {
            Some(Role::View) => {
                let error = format!("this view of {id} only looks on; role edit or take may type");
                Err(Failure::new(Code::Held, error))
            }
            Some(Role::Edit) if policy == TakeOver::Needed => {
                let error = format!("{id} needs to be taken over before people type: role take");
                Err(Failure::new(Code::Held, error))
            }
            _ => Ok(()),
        }
    }

    /// Something about a terminal is to be shown anew.
    pub(super) fn touch(&mut self, id: TerminalId) {
        self.news |= self.views.touch(id);
    }
}

fn no_view(id: ViewId) -> Failure {
    let error = format!("this connection has no view {}; attach opens one", id.0);
    Failure::new(Code::NotFound, error)
}

fn held(terminal: TerminalId, holder: &View) -> Failure {
    let error =
        format!("{terminal} is held by {}, who types alone until releasing it", holder.name);
    Failure::new(Code::Held, error)
}

fn clean_name(name: &str) -> String {
    let clean: String = name.chars().filter(|c| !c.is_control()).take(MAX_VIEW_NAME).collect();
    if clean.is_empty() { "someone".to_owned() } else { clean }
}

impl Terminal {
    /// Nobody has typed for a while: that is shown too.
    pub fn typing_due(&mut self, now: Instant) -> bool {
        self.typing.take_if(|(_, at)| *at + TYPING_SHOWN <= now).is_some()
    }
}
