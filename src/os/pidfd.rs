//! Processes that are not our children: whether they have ended, and how.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::inspect;
use super::signal::Exit;

/// A process that can be watched, whoever its parent is and whoever gets its number later.
pub struct Watch(OwnedFd);

impl Watch {
    /// `NotFound` when there is no such process any more.
    #[cfg(target_os = "linux")]
    pub fn open(pid: u32) -> io::Result<Watch> {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Err(rustix::io::Errno::SRCH) => Err(io::ErrorKind::NotFound.into()),
            opened => Ok(Watch(opened?)),
        }
    }

    /// Elsewhere only a parent hears of an end.
    #[cfg(not(target_os = "linux"))]
    pub fn open(_pid: u32) -> io::Result<Watch> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn from_fd(fd: OwnedFd) -> Watch {
        Watch(fd)
    }

    pub fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub fn has_ended(&self) -> bool {
        super::poll::is_readable(self.0.as_fd())
    }

    /// How it, which has this number, ended, once it has. None if that can be known only when its
    /// parent has heard of it. Kernels before 6.15 tell nobody else after that.
    pub fn exit(&self, pid: u32) -> Option<Exit> {
        let left = inspect::left_status(pid);
        match status(&self.0) {
            Ok(Some(status)) => Some(exit_of(status)),
            // Its parent has not heard of it, so the number was its own.
            Ok(None) => left.map(exit_of),
            Err(_) => Some(left.map_or(Exit::Unknown, exit_of)),
        }
    }
}

fn exit_of(status: i32) -> Exit {
    match status & 0x7f {
        0 => Exit::Code((status >> 8) & 0xff),
        signal => Exit::Signal(signal),
    }
}

/// What the kernel calls `struct pidfd_info`, in its first version.
#[cfg(target_os = "linux")]
#[repr(C)]
#[derive(Default)]
struct Info {
    mask: u64,
    cgroup: u64,
    ids: [u32; 11],
    exit_code: i32,
}

#[cfg(target_os = "linux")]
fn status(fd: &OwnedFd) -> io::Result<Option<i32>> {
    use std::os::fd::AsRawFd;
    /// `PIDFD_GET_INFO` for 64 bytes, and the wish to know of the end.
    const GET_INFO: u32 = 0xc040_ff0b;
    const EXIT: u64 = 1 << 3;
    const _: () = assert!(size_of::<Info>() == 64);
    let mut info = Info { mask: EXIT, ..Info::default() };
    // SAFETY: the kernel fills at most the 64 bytes that the number names, all of which are numbers.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), GET_INFO as _, &raw mut info) };
    match result {
        0 => Ok((info.mask & EXIT != 0).then_some(info.exit_code)),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn status(_fd: &OwnedFd) -> io::Result<Option<i32>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_seen_and_told_where_the_kernel_can() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "read x; exit 7"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let watch = Watch::open(child.id()).unwrap();
        assert!(!watch.has_ended());
        drop(child.stdin.take());
        super::super::poll::wait(&[watch.fd()], None, None).unwrap();
        assert!(watch.has_ended());
        assert_eq!(watch.exit(child.id()), Some(Exit::Code(7)), "before it is reaped");
        assert_eq!(child.wait().unwrap().code(), Some(7));
        assert!(matches!(watch.exit(child.id()), Some(Exit::Code(7) | Exit::Unknown)));
    }
}
