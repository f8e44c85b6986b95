//! The process that holds the terminals: parent of every shell, so it does little and cannot fail.
//!
//! It knows nothing of requests, grids or clients. Its worker does, and may die: the keeper hands
//! everything to the next one.

mod child;
mod descriptors;
mod heir;
pub mod link;
pub mod message;
mod outbox;
mod place;
mod serve;
mod signals;
mod slots;
pub mod spec;
mod stragglers;
mod succession;
mod worker;

use std::io;
use std::os::fd::AsFd;

pub use descriptors::close_inherited;
pub use heir::start as start_heir;
pub use link::Link;
pub use message::{Exit, FromKeeper, MAX_SLOTS, SlotId, Target, ToKeeper, Unfit, VERSION};
pub use spec::{ChildFailure, Spec, read_status};
pub use worker::Backoff;

use self::place::Place;
use self::serve::Keeper;
use self::signals::Signals;
use self::slots::Slots;
use self::worker::Plan;
use crate::os::limits::{self, Limits};
use crate::os::program::Program;
use crate::os::{process, socket};

/// What the keeper is called, and each child until it is its program.
pub const NAME: &str = "t4a-keeper";

pub struct Start {
    pub idle_timeout_ms: Option<u64>,
    pub scrollback_total_bytes: Option<usize>,
    /// Detached from the terminal it was started from.
    pub background: bool,
}

/// Holds the terminals until it is told to end. `AddrInUse` when a server runs already.
///
/// To be called before the process opens anything: in the background it closes what it inherited.
pub fn run(start: Start) -> io::Result<()> {
    if start.background && !socket::is_activated() {
        descriptors::close_inherited();
    }
    let place = Place::take()?;
    if start.background {
        process::detach()?;
    }
    let limits = Limits::current();
    let max_files = settle(&limits);
    let signals = Signals::catch(start.background)?;
    let socket = place.named();
    let program = Program::own()?.inherited()?;
    let Start { idle_timeout_ms, scrollback_total_bytes, .. } = start;
    let plan = Plan { program, idle_timeout_ms, scrollback_total_bytes, socket, limits };
    Keeper::new(place, plan, Slots::new(limits, max_files))?.serve(&signals)
}

/// Takes over from a keeper that died. The worker that started this process hands over through its
/// standard input; `limits` are those that programs get.
pub fn adopt(limits: Limits) -> io::Result<()> {
    let link = io::stdin().as_fd().try_clone_to_owned()?;
    process::detach()?;
    let max_files = settle(&limits);
    let signals = Signals::catch(true)?;
    let slots = Slots::new(limits, max_files);
    let legacy = heir::receive(link, slots, serve::now())?;
    let place = Place::adopt(legacy.listener.try_clone()?)?;
    let program = Program::own()?.inherited()?;
    // The worker that is there has its settings, and leaves them to the next one.
    let (idle_timeout_ms, scrollback_total_bytes) = (None, None);
    let socket = place.named();
    let plan = Plan { program, idle_timeout_ms, scrollback_total_bytes, socket, limits };
    Keeper::adopt(legacy, plan, place).serve(&signals)
}

/// Makes a keeper of this process; how many files it may open.
fn settle(limits: &Limits) -> u64 {
    process::set_name(NAME);
    limits::harden();
    limits::lower_oom_score(limits);
    limits::raise_nofile().map_or(u64::MAX, |(_, hard)| hard)
}
