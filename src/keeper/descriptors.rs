//! Descriptors that nobody asked for: neither the keeper nor a program shall hold them open.
#![allow(unsafe_code)]

use std::ffi::c_int;

/// After the three standard ones.
const FIRST: c_int = 3;
/// Where the kernel cannot do it at once, no number above this is looked at.
const LAST: c_int = 65_536;

/// A net under the flag that all our own descriptors have anyway.
pub fn close_on_exec() {
    if !at_once(Act::CloseOnExec) {
        // SAFETY: sets a flag on numbers that may or may not be open descriptors.
        each(|fd| unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) });
    }
}

/// What a background server inherits by accident keeps others waiting for its end. To be called
/// before anything is opened.
pub fn close_inherited() {
    if !at_once(Act::Close) {
        // SAFETY: nothing in this process owns a descriptor yet.
        each(|fd| unsafe { libc::close(fd) });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Close,
    CloseOnExec,
}

/// Linux 5.11 and later; false where that is not known.
#[cfg(target_os = "linux")]
fn at_once(act: Act) -> bool {
    let flags = if act == Act::CloseOnExec { libc::CLOSE_RANGE_CLOEXEC } else { 0 };
    // SAFETY: as for the callers: only flags change, or nothing owns a descriptor yet.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, flags) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn at_once(_act: Act) -> bool {
    false
}

fn each(act: impl Fn(c_int) -> c_int) {
    // SAFETY: asks for a number.
    let open = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    let end = c_int::try_from(open).unwrap_or(LAST).clamp(FIRST, LAST);
    for fd in FIRST..end {
        act(fd);
    }
}
