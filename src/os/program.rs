//! A program that is held open: it can be started again when its file was replaced or removed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;

use super::process;

pub struct Program(OwnedFd);

impl Program {
    /// The one that runs here.
    pub fn own() -> io::Result<Program> {
        Program::hold(&process::own_program()?)
    }

    /// One that can be run, as far as its file tells.
    pub fn open(path: &str) -> io::Result<Program> {
        Program::hold(&process::find_program(path, None, Path::new("/"))?)
    }

    fn hold(path: &Path) -> io::Result<Program> {
        Ok(Program(rustix::fs::open(path, HOLD | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// One that another process has sent.
    pub fn from_fd(fd: OwnedFd) -> Program {
        Program(fd)
    }

    pub fn into_fd(self) -> OwnedFd {
        self.0
    }

    /// Lets all children have it from now on: a script is read by another program, after exec.
    pub fn inherited(self) -> io::Result<Program> {
        rustix::io::fcntl_setfd(&self.0, FdFlags::empty())?;
        Ok(self)
    }

    /// To be run by a process that starts others too: it is inherited as standard input, so that
    /// a script can be read, and by nobody else.
    pub fn command(&self) -> io::Result<Command> {
        let path = match cfg!(target_os = "linux") {
            true => "/proc/self/fd/0".into(),
            false => self.path()?,
        };
        let mut command = Command::new(path);
        command.stdin(Stdio::from(self.0.try_clone()?));
        Ok(command)
    }

    /// What this process, or a child that inherits it, has to start.
    pub fn path(&self) -> io::Result<PathBuf> {
        path_of(self.0.as_fd())
    }
}

/// Enough to start it; a program need not be readable.
#[cfg(target_os = "linux")]
const HOLD: OFlags = OFlags::PATH;

#[cfg(target_os = "linux")]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn path_of(fd: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    Ok(format!("/proc/self/fd/{}", fd.as_raw_fd()).into())
}

#[cfg(not(target_os = "linux"))]
const HOLD: OFlags = OFlags::RDONLY;

/// Elsewhere what lies at the same place.
#[cfg(not(target_os = "linux"))]
fn path_of(fd: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    Ok(OsStr::from_bytes(rustix::fs::getpath(fd)?.as_bytes()).into())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn says(program: &Program) -> String {
        let output = Command::new(program.path().unwrap()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_program_is_started_though_its_file_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        let script = "#!/bin/sh\necho one\n";
        // Written by another process: no child of this one can hold it open for writing.
        let made = Command::new("sh")
            .args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .arg(script)
            .status();
        assert!(made.unwrap().success());
        let program = Program::open(path.to_str().unwrap()).unwrap().inherited().unwrap();
        assert_eq!(says(&program), "one\n");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(says(&program), "one\n");
        assert_eq!(program.command().unwrap().output().unwrap().stdout, b"one\n");
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_a_reason() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o644)).unwrap();
        let why = |path: &Path| Program::open(path.to_str().unwrap()).err().unwrap().to_string();
        assert!(why(&plain).contains("is not executable"));
        assert!(why(dir.path()).contains("is a directory"));
        assert!(why(&dir.path().join("none")).contains("does not exist"));
    }
}
