//! A keeper that died is replaced: its worker starts another and hands it all that the first one held.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::message::{LENGTH, ToKeeper};
use super::slots::{Heirloom, Slots};
use super::worker::Worker;
use crate::os::pidfd::Watch;
use crate::os::{channel, poll, process};

/// For so long a worker may say nothing while it hands over.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a keeper to hand over to; the worker's end of the channel.
pub fn start(limits: &str) -> io::Result<(Child, OwnedFd)> {
    let (link, end) = channel::pair()?;
    let mut command = Command::new(process::own_program()?);
    command.arg0("t4a").args(["__keeper", "--limits", limits]).stdin(Stdio::from(end));
    Ok((command.stdout(Stdio::null()).spawn()?, link))
}

/// What a dead keeper held.
pub struct Legacy {
    pub listener: UnixListener,
    pub slots: Slots,
    pub server: Option<OwnedFd>,
    pub worker: Worker,
}

/// All that the worker hands over, up to its end.
pub fn receive(link: OwnedFd, mut slots: Slots, now: Instant) -> io::Result<Legacy> {
    let (mut listener, mut server) = (None, None);
    loop {
        match next(&link)? {
            ToKeeper::Listener { fd, pid, watch } => {
                listener = Some((UnixListener::from(fd), pid, Watch::from_fd(watch)));
            }
            ToKeeper::Keep { record } => server = Some(record),
            ToKeeper::Adopt { slot, pid, exit, master, record, watch } => {
                slots.adopt(slot, Heirloom { pid, exit, master, record, watch });
            }
            ToKeeper::End => break,
            other => return Err(io::Error::other(format!("unexpected before End: {other:?}"))),
        }
    }
    let (listener, pid, watch) =
        listener.ok_or_else(|| io::Error::other("the worker gave no socket"))?;
    let worker = Worker { serving: true, watch: Some(watch), ..Worker::new(pid, link, now) };
    Ok(Legacy { listener, slots, server, worker })
}

fn next(link: &OwnedFd) -> io::Result<ToKeeper> {
    let mut bytes = [0; LENGTH];
    let packet = loop {
        match channel::receive(link.as_fd(), &mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll::wait(&[link.as_fd()], None, Some(PATIENCE))?;
                if !poll::is_readable(link.as_fd()) {
                    return Err(io::Error::other("the worker hands nothing over"));
                }
            }
            received => break received?,
        }
    };
    let packet = packet.ok_or_else(|| io::Error::other("the worker is gone"))?;
    if packet.lost_fds {
        return Err(io::Error::other("too many open files to take over a terminal"));
    }
    let message = ToKeeper::unpack(&bytes[..packet.length], packet.fds);
    message.ok_or_else(|| io::Error::other("the worker speaks nonsense"))
}
