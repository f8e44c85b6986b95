//! This process's surroundings: programs, environment, shell; and through `inspect` other processes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::Access;

pub use super::inspect::{Program, describe, leader_of_group, waits_for_input};
pub use super::limits::{harden, raise_nofile};

/// Where programs are looked for when nobody says.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
const MAX_PASSWD: u64 = 1 << 20;

/// What tells of the place the server was started from and is wrong inside its terminals.
const UNWANTED: &[&str] = &[
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "LISTEN_PIDFDID",
    "INVOCATION_ID",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOWID",
    "COLUMNS",
    "LINES",
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
];
const UNWANTED_PREFIXES: &[&str] =
    &["ZELLIJ", "TERM_PROGRAM", "KITTY_", "WEZTERM_", "ITERM_", "DYLD_"];

pub fn my_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The absolute path of the program that `name` means, for a process in `cwd`.
pub fn find_program(name: &str, path: Option<&str>, cwd: &Path) -> io::Result<PathBuf> {
    if name.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the program's name is empty"));
    }
    if name.contains('/') {
        let program = cwd.join(name);
        return check_program(&program).map(|()| program);
    }
    let mut denied = None;
    for dir in path.unwrap_or(DEFAULT_PATH).split(':') {
        let program = cwd.join(dir).join(name);
        match check_program(&program) {
            Ok(()) => return Ok(program),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => denied = Some(error),
            Err(_) => {}
        }
    }
    Err(denied.unwrap_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("no program \"{name}\" in PATH"))
    }))
}

fn check_program(path: &Path) -> io::Result<()> {
    let refuse = |kind, why: &str| Err(io::Error::new(kind, format!("{} {why}", path.display())));
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            refuse(io::ErrorKind::PermissionDenied, "cannot be looked at")
        }
        Err(_) => refuse(io::ErrorKind::NotFound, "does not exist"),
        Ok(found) if found.is_dir() => {
            refuse(io::ErrorKind::PermissionDenied, "is a directory, not a program")
        }
        Ok(_) if rustix::fs::access(path, Access::EXEC_OK).is_err() => {
            refuse(io::ErrorKind::PermissionDenied, "is not executable")
        }
        Ok(_) => Ok(()),
    }
}

/// The environment that programs in terminals start from.
pub fn base_env() -> Vec<(String, String)> {
    let utf8 = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    utf8.filter(|(name, _)| !is_unwanted(name)).collect()
}

fn is_unwanted(name: &str) -> bool {
    UNWANTED.contains(&name) || UNWANTED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// `$SHELL` if that can be run, else the one in the password file, else bash or sh.
pub fn user_shell() -> String {
    let named = std::env::var("SHELL").ok().into_iter();
    let registered = passwd_shell(my_uid()).into_iter();
    let known = ["/bin/bash", "/usr/bin/bash"].map(String::from);
    let mut candidates = named.chain(registered).chain(known);
    candidates.find(|shell| is_shell(shell)).unwrap_or_else(|| "/bin/sh".into())
}

fn is_shell(path: &str) -> bool {
    path.starts_with('/') && check_program(Path::new(path)).is_ok()
}

fn passwd_shell(uid: u32) -> Option<String> {
    use std::io::Read;
    let mut text = Vec::new();
    std::fs::File::open("/etc/passwd").ok()?.take(MAX_PASSWD).read_to_end(&mut text).ok()?;
    shell_in(&String::from_utf8_lossy(&text), uid)
}

fn shell_in(passwd: &str, uid: u32) -> Option<String> {
    let uid = uid.to_string();
    let line = passwd.lines().find(|line| line.split(':').nth(2) == Some(&uid))?;
    line.split(':').nth(6).map(str::to_string)
}

/// What the person is called here.
pub fn user_name() -> Option<String> {
    let named = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok();
    named.filter(|name| !name.is_empty())
}

/// A line in the log. Nobody may be reading: then it is lost, and that is all.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "t4a: {message}");
}

/// Which run of the machine this is; empty where nobody can tell.
pub fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map(|id| id.trim().to_owned()).unwrap_or_default()
}

/// The running program, even when its file has been replaced or removed meanwhile.
pub fn own_program() -> io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && link.exists() {
        return Ok(link.to_path_buf());
    }
    std::env::current_exe()
}

/// Where the running program lay when it was started, as far as the system knows.
pub fn own_path() -> String {
    std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned()
}

/// What `ps` shows for a process that was started through a link.
pub fn set_name(name: &str) {
    if cfg!(target_os = "linux") {
        let _ = std::fs::write("/proc/self/comm", name);
    }
}

/// Leaves the session of the terminal it was started from, so that closing that ends nothing here.
pub fn detach() -> io::Result<()> {
    // A group leader has no way out, and needs none: it was started as a job of its own.
    let _ = rustix::process::setsid();
    rustix::stdio::dup2_stdout(null()?)?;
    null_stdin()?;
    std::env::set_current_dir("/")
}

pub fn null_stdin() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(null()?)?)
}

fn null() -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place(path: &Path, mode: u32) {
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn programs_are_found_as_a_shell_would() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        std::fs::create_dir(dir.join("bin")).unwrap();
        place(&dir.join("bin/tool"), 0o755);
        place(&dir.join("here"), 0o755);
        place(&dir.join("plain"), 0o644);
        let found = |name, path| find_program(name, path, dir);
        let named = |name: &str| dir.join(name);
        assert_eq!(found("./here", None).unwrap(), named("./here"));
        assert_eq!(found("tool", Some("/nowhere:bin")).unwrap(), named("bin/tool"));
        assert_eq!(found("here", Some("/nowhere:")).unwrap(), named("here"));
        assert_eq!(found("sh", None).unwrap().file_name().unwrap(), "sh");
        let check = |name, path, kind, words: &str| {
            let error = find_program(name, path, dir).unwrap_err();
            assert_eq!(error.kind(), kind, "{name}");
            assert!(error.to_string().contains(words), "{error}");
        };
        check("", None, io::ErrorKind::NotFound, "empty");
        check("tool", Some("/nowhere"), io::ErrorKind::NotFound, "no program \"tool\"");
        check("./gone", None, io::ErrorKind::NotFound, "does not exist");
        check("./plain", None, io::ErrorKind::PermissionDenied, "is not executable");
        check("plain", Some("."), io::ErrorKind::PermissionDenied, "is not executable");
        check("./bin", None, io::ErrorKind::PermissionDenied, "is a directory");
    }

    #[test]
    fn what_belongs_to_the_place_of_start_does_not_reach_terminals() {
        for name in ["TMUX", "LISTEN_FDS", "KITTY_PID", "TERM_PROGRAM_VERSION", "DYLD_X", "ZELLIJ"]
        {
            assert!(is_unwanted(name), "{name}");
        }
        for name in ["PATH", "HOME", "TERM", "LANG", "TMUX_TMPDIR", "T4A_SOCKET"] {
            assert!(!is_unwanted(name), "{name}");
        }
    }

    #[test]
    fn the_shell_is_read_from_the_password_file() {
        let passwd = "root:x:0:0::/root:/bin/zsh\nbroken\na:x:7:7::/a:/bin/fish\n";
        assert_eq!(shell_in(passwd, 7).as_deref(), Some("/bin/fish"));
        assert_eq!(shell_in(passwd, 8), None);
        assert!(is_shell(&user_shell()));
    }
}
