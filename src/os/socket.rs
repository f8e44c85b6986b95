//! The server's socket: bound once, reachable by its own user only.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketAddrUnix, SocketType};

pub use super::channel::send_alone;
use super::explain;
use super::paths::{self, Identity, SocketPath};
pub use super::process::my_uid;

/// Clients that connect while no worker is there wait in the kernel; it cuts this down if it must.
const BACKLOG: i32 = 4096;
/// Where clients written from the first protocol description look.
pub const SEED_PATH: &str = "/tmp/t4a.sock";
/// The first descriptor that systemd passes.
const FIRST_INHERITED: i32 = 3;

/// Binds the socket, unless a server already listens there.
pub fn listen(socket: &SocketPath) -> io::Result<UnixListener> {
    paths::check_length(&socket.path)?;
    make_parent(socket)?;
    let _lock = Lock::take(&socket.path)?;
    remove_stale(&socket.path)?;
    bind(&socket.path).map_err(|error| explain(error, &socket.path.display().to_string()))
}

fn make_parent(socket: &SocketPath) -> io::Result<()> {
    if !socket.explicit {
        return paths::runtime_dir().map(drop);
    }
    match socket.path.parent() {
        Some(parent) if !parent.exists() => {
            paths::make_private(parent).map_err(|error| explain(error, "T4A_SOCKET")).map(drop)
        }
        _ => Ok(()),
    }
}

/// No client can connect between `bind` and `listen`, so the mode is right before the first can.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let socket = stream_socket()?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(UnixListener::from(socket))
}

fn stream_socket() -> io::Result<OwnedFd> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::ioctl_fioclex(&socket)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// Takes away a socket of our own that nobody listens on; anything else that is there is an error.
fn remove_stale(path: &Path) -> io::Result<()> {
    let stat = match paths::lstat(path) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(explain(error, &path.display().to_string())),
    };
    let shown = path.display();
    let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
    if stat.st_uid != my_uid() || kind != rustix::fs::FileType::Socket {
        let message = format!("{shown} is there and is not a socket of yours; remove it");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    if is_live(path) {
        let message = format!("a server already runs at {shown}");
        return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
    }
    Ok(rustix::fs::unlink(path)?)
}

/// A full backlog is a sign of life too, so only a refusal means that nobody listens.
fn is_live(path: &Path) -> bool {
    let attempt = stream_socket()
        .and_then(|socket| Ok(rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?));
    let dead = |error: io::Error| {
        matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
    };
    !attempt.is_err_and(dead)
}

/// Held while a socket is bound or taken away, so that two starts at once make one server.
struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    fn take(socket: &Path) -> io::Result<Lock> {
        let mut path = socket.as_os_str().to_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);
        loop {
            let file = open_lock(&path).map_err(|e| explain(e, &path.display().to_string()))?;
            flock(&file)?;
            // Whoever held it before may have removed it: then ours is not the one others lock.
            if Identity::at(&path) == Some(Identity::of(&rustix::fs::fstat(&file)?)) {
                return Ok(Lock { path, file });
            }
        }
    }

    fn remove(self) {
        let _ = rustix::fs::unlink(&self.path);
        drop(self.file);
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file: File = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into();
    if rustix::fs::fstat(&file)?.st_uid != my_uid() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "belongs to another user"));
    }
    Ok(file)
}

fn flock(file: &File) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, FlockOperation::LockExclusive) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// A socket file that we made, to be taken away at the end if it is still ours.
pub struct Bound {
    path: PathBuf,
    identity: Option<Identity>,
}

impl Bound {
    pub fn remember(path: &Path) -> Bound {
        Bound { path: path.to_path_buf(), identity: Identity::at(path) }
    }

    /// While `_listener` is open its file's number cannot go to another file.
    pub fn remove(self, _listener: &UnixListener) {
        let Ok(lock) = Lock::take(&self.path) else { return };
        if self.identity.is_some() && Identity::at(&self.path) == self.identity {
            let _ = rustix::fs::unlink(&self.path);
        }
        lock.remove();
    }
}

/// Whether systemd started this process for a client that waits at a socket.
pub fn is_activated() -> bool {
    let number = |name| std::env::var(name).ok().and_then(|value| value.parse::<u32>().ok());
    number("LISTEN_PID") == Some(std::process::id()) && number("LISTEN_FDS") >= Some(1)
}

/// The listening socket that systemd passed to this process, if it did.
#[allow(unsafe_code)]
pub fn inherited_listener() -> Option<UnixListener> {
    // SAFETY: asks about a number that may or may not be a descriptor.
    if !is_activated() || unsafe { libc::fcntl(FIRST_INHERITED, libc::F_GETFD) } < 0 {
        return None;
    }
    // SAFETY: the variables name this process, so descriptor 3 is meant for it, and it is open;
    // nothing else here uses it, as this is called once at the start.
    let fd = unsafe { OwnedFd::from_raw_fd(FIRST_INHERITED) };
    rustix::io::ioctl_fioclex(&fd).ok()?;
    rustix::io::ioctl_fionbio(&fd, true).ok()?;
    is_listening(&fd).then(|| UnixListener::from(fd))
}

#[cfg(target_os = "linux")]
fn is_listening(fd: &OwnedFd) -> bool {
    rustix::net::sockopt::socket_acceptconn(fd).unwrap_or(false)
}

/// Not told elsewhere; accepting will fail then.
#[cfg(not(target_os = "linux"))]
fn is_listening(_fd: &OwnedFd) -> bool {
    true
}

/// Connects to a server of our own user; anyone else's would read what is typed.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    paths::check_length(path)?;
    let stream = UnixStream::connect(path)?;
    let uid = peer_uid(stream.as_fd())?;
    if uid == my_uid() {
        return Ok(stream);
    }
    let message = format!("the server at {} belongs to user {uid}, not to you", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

#[cfg(target_os = "linux")]
pub fn peer_uid(fd: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(fd)?.uid.as_raw())
}

#[cfg(not(target_os = "linux"))]
#[allow(unsafe_code)]
pub fn peer_uid(fd: BorrowedFd<'_>) -> io::Result<u32> {
    use std::os::fd::AsRawFd;
    let (mut uid, mut gid) = (0, 0);
    // SAFETY: both pointers are to variables that live across the call.
    match unsafe { libc::getpeereid(fd.as_raw_fd(), &raw mut uid, &raw mut gid) } {
        0 => Ok(uid),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes the server reachable at the seed's path too, unless something is there already.
pub fn link_seed_path(target: &Path) {
    link_at(Path::new(SEED_PATH), target);
}

/// Takes the link away if it still is the one to `target`.
pub fn unlink_seed_path(target: &Path) {
    unlink_at(Path::new(SEED_PATH), target);
}

fn link_at(link: &Path, target: &Path) {
    if let Some(old) = own_link(link)
        && !is_live(&old)
    {
        let _ = rustix::fs::unlink(link);
    }
    let _ = rustix::fs::symlink(target, link);
}

fn unlink_at(link: &Path, target: &Path) {
    if own_link(link).is_some_and(|old| old == target) {
        let _ = rustix::fs::unlink(link);
    }
}

/// Where `link` points to, if it is a symbolic link of our own.
fn own_link(link: &Path) -> Option<PathBuf> {
    let stat = paths::lstat(link).ok()?;
    (stat.st_uid == my_uid()).then(|| std::fs::read_link(link).ok())?
}

/// Reads what is there to the end of `buffer`, as far as it has room; `WouldBlock` when there is
/// nothing, though writes to it may wait.
pub fn read_now(socket: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        match rustix::net::recv(socket, spare_capacity(buffer), RecvFlags::DONTWAIT) {
            Err(Errno::INTR) => {}
            result => return Ok(result?.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn at(dir: &tempfile::TempDir) -> SocketPath {
        SocketPath { path: dir.path().join("s"), explicit: true }
    }

    #[test]
    fn a_client_of_the_same_user_connects_and_others_may_not() {
        let dir = tempfile::tempdir().unwrap();
        let socket = at(&dir);
        let listener = listen(&socket).unwrap();
        let stream = connect(&socket.path).unwrap();
        assert_eq!(peer_uid(stream.as_fd()).unwrap(), my_uid());
        let (accepted, _) = listener.accept().unwrap();
        assert_eq!(peer_uid(accepted.as_fd()).unwrap(), my_uid());
        let mode = std::fs::metadata(&socket.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_live_socket_is_not_stolen_and_a_stale_one_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let socket = at(&dir);
        let first = listen(&socket).unwrap();
        let error = listen(&socket).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().contains("already runs at"), "{error}");
        drop(first);
        // A process that another test forks has it for a moment.
        while is_live(&socket.path) {
            std::thread::yield_now();
        }
        listen(&socket).unwrap();
    }

    #[test]
    fn what_is_not_a_socket_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let socket = at(&dir);
        std::fs::write(&socket.path, "mine").unwrap();
        assert_eq!(listen(&socket).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&socket.path).unwrap(), "mine");
    }

    #[test]
    fn a_missing_parent_directory_is_made_private() {
        let dir = tempfile::tempdir().unwrap();
        let socket = SocketPath { path: dir.path().join("sub/s"), explicit: true };
        listen(&socket).unwrap();
        let mode = std::fs::metadata(dir.path().join("sub")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn of_many_starts_at_once_one_wins() {
        let dir = tempfile::tempdir().unwrap();
        let socket = at(&dir);
        let starts: Vec<_> = (0..16)
            .map(|_| {
                let socket = socket.clone();
                std::thread::spawn(move || listen(&socket))
            })
            .collect();
        let ends: Vec<_> = starts.into_iter().map(|start| start.join().unwrap()).collect();
        assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 1);
        for end in ends.iter().filter_map(|end| end.as_ref().err()) {
            assert_eq!(end.kind(), io::ErrorKind::AddrInUse);
        }
    }

    #[test]
    fn only_our_own_socket_file_is_removed_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let socket = at(&dir);
        let first = listen(&socket).unwrap();
        let bound = Bound::remember(&socket.path);
        std::fs::remove_file(&socket.path).unwrap();
        let second = listen(&socket).unwrap();
        bound.remove(&first);
        assert!(connect(&socket.path).is_ok());
        Bound::remember(&socket.path).remove(&second);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_seed_link_is_made_and_taken_away_only_where_it_is_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (link, gone) = (dir.path().join("link"), dir.path().join("gone"));
        let socket = at(&dir);
        let _listener = listen(&socket).unwrap();
        let points_to = |path: &Path| assert_eq!(std::fs::read_link(&link).unwrap(), path);
        symlink(&gone, &link).unwrap();
        link_at(&link, &socket.path);
        points_to(&socket.path);
        link_at(&link, &gone);
        points_to(&socket.path);
        unlink_at(&link, &gone);
        points_to(&socket.path);
        unlink_at(&link, &socket.path);
        assert!(!link.exists());
        std::fs::write(&link, "a file").unwrap();
        link_at(&link, &socket.path);
        unlink_at(&link, &socket.path);
        assert_eq!(std::fs::read_to_string(&link).unwrap(), "a file");
    }
}
