//! What can be known about another process from outside.

use std::io::Read;
use std::path::PathBuf;

/// Enough of a command line to recognise it; programs are given megabytes at times.
const MAX_COMMAND: u64 = 64 << 10;
const MAX_ARGUMENTS: usize = 256;
const MAX_STAT: u64 = 4096;
/// Of a process that is looked through for sockets.
const MAX_DESCRIPTORS: usize = 1024;
/// Processes looked at when a group has lost its leader.
const MAX_SCAN: usize = 65_536;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub pid: u32,
    pub name: String,
    pub command: Vec<String>,
    pub cwd: Option<String>,
}

/// Only where there is a Linux `/proc`; elsewhere nothing is known.
pub fn describe(pid: u32) -> Option<Program> {
    let stat = Stat::read(pid)?;
    let command = split_command(&read_some(pid, "cmdline", MAX_COMMAND).unwrap_or_default());
    Some(Program { pid, name: stat.name, command, cwd: cwd(pid) })
}

/// The directory a process is in.
pub fn cwd(pid: u32) -> Option<String> {
    let path = std::fs::read_link(file_of(pid, "cwd")).ok()?;
    path.to_str().map(str::to_owned)
}

/// Bytes of memory that a process has at hand, what it shares with others included.
pub fn resident(pid: u32) -> Option<u64> {
    let text = String::from_utf8(read_some(pid, "status", MAX_STAT)?).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// What a process calls itself; None when it has ended.
pub fn name_of(pid: u32) -> Option<String> {
    Stat::read(pid).filter(|stat| stat.state != 'Z').map(|stat| stat.name)
}

/// What an ended process has left for its parent, as `wait` tells it, while the parent has not
/// taken it.
pub fn left_status(pid: u32) -> Option<i32> {
    let text = read_some(pid, "stat", MAX_STAT)?;
    let text = String::from_utf8_lossy(&text);
    Stat::parse(pid, &text).filter(|stat| stat.state == 'Z')?;
    let status = text.split_ascii_whitespace().next_back()?.parse().ok()?;
    // To those who may not know it, it is 0.
    (status != 0 || is_ours(pid)).then_some(status)
}

/// Whether it has our user and group, in all of their kinds.
fn is_ours(pid: u32) -> bool {
    let text = read_some(pid, "status", MAX_STAT).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let all = |name: &str, own: u32| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.is_some_and(|line| line.split_ascii_whitespace().all(|id| id == own.to_string()))
    };
    all("Uid:", rustix::process::geteuid().as_raw())
        && all("Gid:", rustix::process::getegid().as_raw())
}

fn split_command(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    let parts = bytes.split(|byte| *byte == 0).take(MAX_ARGUMENTS);
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// The process that stands for a group: its leader, or some member when the leader has ended.
pub fn leader_of_group(group: u32) -> Option<u32> {
    match Stat::read(group) {
        Some(stat) if stat.group == group && stat.state != 'Z' => Some(group),
        _ => members(group).next().map(|stat| stat.pid),
    }
}

/// Whether `group` has members and they belong to the session that `leader` leads.
pub fn group_in_session(group: u32, leader: u32) -> bool {
    match session_of(group) {
        Some(session) => session == leader,
        None => members(group).next().is_some_and(|stat| stat.session == leader),
    }
}

/// Whether a leader that was reaped left members of `group` behind in its session. Were there a
/// process of the leader's number, it would be a stranger.
pub fn left_behind(group: u32, leader: u32) -> bool {
    session_of(leader).is_none() && members(group).any(|stat| stat.session == leader)
}

/// From `/proc`: a session that is led from outside this pid namespace is 0 there, which rustix's
/// `getsid` holds to be impossible.
#[cfg(target_os = "linux")]
fn session_of(pid: u32) -> Option<u32> {
    Stat::read(pid).map(|stat| stat.session)
}

#[cfg(not(target_os = "linux"))]
fn session_of(pid: u32) -> Option<u32> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    let session = rustix::process::getsid(Some(pid)).ok()?;
    u32::try_from(session.as_raw_nonzero().get()).ok()
}

fn members(group: u32) -> impl Iterator<Item = Stat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten().take(MAX_SCAN);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Stat::read).filter(move |stat| stat.group == group && stat.state != 'Z')
}

/// Whether the program sits there until somebody types: `Some(false)` when it surely works, `None`
/// when that cannot be known.
pub fn waits_for_input(pid: u32) -> Option<bool> {
    match Stat::read(pid)?.state {
        'R' | 'D' => Some(false),
        'S' => match read_some(pid, "syscall", MAX_STAT) {
            Some(line) => waits_in(pid, &line),
            None => waits_at(pid, &read_some(pid, "wchan", MAX_STAT)?),
        },
        _ => None,
    }
}

/// Where tracing is restricted only the kernel function is told. Terminals and sockets sleep in the
/// same one, so a process with sockets stays unknown.
fn waits_at(pid: u32, function: &[u8]) -> Option<bool> {
    match function {
        b"n_tty_read" => Some(true),
        b"wait_woken" => (is_terminal(pid, 0) && !has_sockets(pid)?).then_some(true),
        _ => None,
    }
}

fn has_sockets(pid: u32) -> Option<bool> {
    let mut entries = std::fs::read_dir(file_of(pid, "fd")).ok()?.take(MAX_DESCRIPTORS).flatten();
    let is_socket = |link: PathBuf| link.as_os_str().to_string_lossy().starts_with("socket:");
    Some(entries.any(|entry| std::fs::read_link(entry.path()).is_ok_and(is_socket)))
}

/// `line` is the system call that the process sleeps in: its number and arguments.
fn waits_in(pid: u32, line: &[u8]) -> Option<bool> {
    let line = std::str::from_utf8(line).ok()?;
    let mut fields = line.split_ascii_whitespace();
    let number = fields.next()?.parse().ok()?;
    let first = u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
    let descriptor = waited_descriptor(number, first)?;
    is_terminal(pid, descriptor).then_some(true)
}

/// The one descriptor that a call waits for, if its number and first argument tell.
#[cfg(target_os = "linux")]
fn waited_descriptor(number: i64, first: u64) -> Option<u64> {
    let number = libc::c_long::try_from(number).ok()?;
    if number == libc::SYS_read || number == libc::SYS_readv {
        return Some(first);
    }
    // A select over descriptors below 1 can only mean the standard input (readline does so).
    let selects = number == libc::SYS_pselect6 || Some(number) == OLD_SELECT;
    (selects && first == 1).then_some(0)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const OLD_SELECT: Option<libc::c_long> = Some(libc::SYS_select);
#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
const OLD_SELECT: Option<libc::c_long> = None;

#[cfg(not(target_os = "linux"))]
fn waited_descriptor(_number: i64, _first: u64) -> Option<u64> {
    None
}

fn is_terminal(pid: u32, descriptor: u64) -> bool {
    let link = std::fs::read_link(file_of(pid, &format!("fd/{descriptor}")));
    link.is_ok_and(|path| path.starts_with("/dev/pts") || path.starts_with("/dev/tty"))
}

struct Stat {
    pid: u32,
    name: String,
    state: char,
    group: u32,
    session: u32,
}

impl Stat {
    fn read(pid: u32) -> Option<Stat> {
        let text = read_some(pid, "stat", MAX_STAT)?;
        Stat::parse(pid, &String::from_utf8_lossy(&text))
    }

    /// The name stands in parentheses and may hold anything, parentheses too.
    fn parse(pid: u32, text: &str) -> Option<Stat> {
        let (_, rest) = text.split_once('(')?;
        let (name, rest) = rest.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let group = fields.nth(1)?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        Some(Stat { pid, name: name.into(), state, group, session })
    }
}

fn file_of(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

fn read_some(pid: u32, name: &str, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file_of(pid, name)).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_whatever_the_name() {
        let check = |text: &str, name: &str, rest: (char, u32, u32)| {
            let stat = Stat::parse(5, text).unwrap();
            assert_eq!((stat.name.as_str(), (stat.state, stat.group, stat.session)), (name, rest));
        };
        check("5 (sh) S 1 5 4 34816 5 0", "sh", ('S', 5, 4));
        check("5 (a) R (b) c) R 1 7 8 0", "a) R (b) c", ('R', 7, 8));
        check("5 (sh) S 0 0 0 0 -1 0", "sh", ('S', 0, 0));
        for bad in ["", "5 sh S 1 5 4", "5 (sh)", "5 (sh) S", "5 (sh) S 1 x 4"] {
            assert!(Stat::parse(5, bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn command_lines_are_split_at_their_zeros() {
        let check = |bytes: &[u8], parts: &[&str]| assert_eq!(split_command(bytes), parts);
        check(b"", &[]);
        check(b"sh\0", &["sh"]);
        check(b"sh\0-c\0\0", &["sh", "-c", ""]);
        check(b"no-end", &["no-end"]);
        assert_eq!(split_command(&[0; 4096]).len(), MAX_ARGUMENTS);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_knows_itself() {
        let pid = std::process::id();
        let own = describe(pid).unwrap();
        let cwd = std::env::current_dir().unwrap();
        assert_eq!(own.pid, pid);
        assert_eq!(own.cwd.as_deref(), cwd.to_str());
        assert!(!own.command.is_empty());
        assert_eq!(describe(u32::MAX), None);
        let group = Stat::read(pid).unwrap().group;
        assert!(leader_of_group(group).is_some());
        assert!(group_in_session(group, session_of(pid).unwrap()));
        assert!(!group_in_session(group, u32::MAX));
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn only_calls_that_name_one_descriptor_tell_what_is_waited_for() {
        let check = |number, first, want| assert_eq!(waited_descriptor(number, first), want);
        check(libc::SYS_read, 5, Some(5));
        check(libc::SYS_pselect6, 1, Some(0));
        check(libc::SYS_pselect6, 9, None);
        check(libc::SYS_poll, 1, None);
        assert_eq!(waits_at(std::process::id(), b"n_tty_read"), Some(true));
        assert_eq!(waits_at(std::process::id(), b"do_wait"), None);
        assert_eq!(waits_in(std::process::id(), b"running\n"), None);
        assert_eq!(waits_in(std::process::id(), b"-1 0x7ffd 0x7f\n"), None);
    }
}
