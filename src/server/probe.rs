//! What only the system knows about a terminal's program.

use std::sync::Arc;

use crate::mux::{Facts, Foreground};
use crate::os::ready::Ready;
use crate::os::{inspect, pty};

pub fn probe(master: &Arc<Ready>) -> Facts {
    let flags = pty::flags(master.fd());
    let group = pty::foreground(master.fd());
    let pid = group.and_then(inspect::leader_of_group);
    let program = pid.and_then(inspect::describe);
    Facts {
        echo: flags.map(|flags| flags.echo),
        canonical: flags.map(|flags| flags.canonical),
        reads_tty: pid.and_then(inspect::waits_for_input),
        foreground: program.map(|program| Foreground {
            pid: program.pid,
            name: program.name,
            command: program.command,
            cwd: program.cwd,
        }),
    }
}
