//! Where the socket and the private files lie, and that nobody else can get at them.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::{explain, process};

/// What fits into `sun_path` on the narrowest system we know (macOS), with its closing NUL.
pub const MAX_SOCKET_PATH: usize = 104;
/// Longest integration file that is compared with what is on disk.
const MAX_PRIVATE_FILE: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketPath {
    pub path: PathBuf,
    /// Named by `T4A_SOCKET`: the directory is the user's own business.
    pub explicit: bool,
}

/// `T4A_SOCKET`, else the socket in the runtime directory.
pub fn socket() -> io::Result<SocketPath> {
    socket_from(std::env::var_os("T4A_SOCKET"), &runtime_path())
}

fn socket_from(named: Option<OsString>, runtime: &Path) -> io::Result<SocketPath> {
    let named = named.filter(|path| !path.is_empty());
    let explicit = named.is_some();
    let path = match named {
        Some(path) => std::path::absolute(path)?,
        None => runtime.join("t4a.sock"),
    };
    check_length(&path)?;
    Ok(SocketPath { path, explicit })
}

/// Refuses what `bind` and `connect` would refuse with a riddle.
pub fn check_length(path: &Path) -> io::Result<()> {
    let length = path.as_os_str().as_bytes().len();
    if length < MAX_SOCKET_PATH {
        return Ok(());
    }
    let most = MAX_SOCKET_PATH - 1;
    let message = format!(
        "the socket path {} has {length} bytes, the system allows {most}; set T4A_SOCKET to a shorter one",
        path.display()
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// The private directory of this user, made if it is missing.
pub fn runtime_dir() -> io::Result<PathBuf> {
    let path = runtime_path();
    make_private(&path)?;
    Ok(path)
}

fn runtime_path() -> PathBuf {
    runtime_path_from(std::env::var_os("XDG_RUNTIME_DIR"), process::my_uid())
}

/// A runtime directory that is named but not there (`su`, containers) counts as not named.
fn runtime_path_from(xdg: Option<OsString>, uid: u32) -> PathBuf {
    match xdg.map(PathBuf::from).filter(|dir| dir.is_absolute() && dir.is_dir()) {
        Some(dir) => dir.join("t4a"),
        None => PathBuf::from(format!("/tmp/t4a-{uid}")),
    }
}

/// Makes `path` with mode 0700, or checks that the one that is there is private; returns it open.
pub fn make_private(path: &Path) -> io::Result<OwnedFd> {
    make_private_for(path, "XDG_RUNTIME_DIR or T4A_SOCKET")
}

/// The same, where other variables name the place.
pub(super) fn make_private_for(path: &Path, variables: &str) -> io::Result<OwnedFd> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(explain(error, &format!("cannot make {}", path.display()))),
    }
    open_private(path).map_err(|why| {
        let shown = path.display();
        let remedy =
            format!("run `chmod 700 {shown}` if it is yours, else remove it or set {variables}");
        io::Error::new(io::ErrorKind::PermissionDenied, format!("{shown} {why}; {remedy}"))
    })
}

fn open_private(path: &Path) -> Result<OwnedFd, String> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let stranger = |error| format!("is not a directory of your own ({error})");
    let dir = rustix::fs::open(path, flags, Mode::empty()).map_err(stranger)?;
    let stat = rustix::fs::fstat(&dir).map_err(stranger)?;
    if stat.st_uid != process::my_uid() {
        return Err(format!("belongs to user {}", stat.st_uid));
    }
    let mode = stat.st_mode & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!("is open to others (mode {mode:o})"));
    }
    Ok(dir)
}

/// The person's own settings.
pub fn config_file() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let dir = named.filter(|dir| dir.is_absolute());
    let dir = dir.or_else(|| Some(dirs::home_dir()?.join(".config")))?;
    Some(dir.join("t4a").join("config.toml"))
}

/// A file's text; None when there is no such file.
pub fn read_text(path: &Path, most: u64) -> io::Result<Option<String>> {
    use std::io::Read;
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut text = String::new();
    if file.take(most + 1).read_to_string(&mut text)? as u64 > most {
        let message = format!("it has more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(Some(text))
}

/// Writes `files` (name, content) into `dir_name` of the runtime directory, for programs to read.
pub fn private_files(dir_name: &str, files: &[(&str, &str)]) -> io::Result<PathBuf> {
    write_private(&runtime_dir()?.join(dir_name), files)
}

fn write_private(path: &Path, files: &[(&str, &str)]) -> io::Result<PathBuf> {
    let dir = make_private(path)?;
    for (name, content) in files {
        if !holds(&dir, name, content) {
            replace(&dir, name, content)
                .map_err(|error| explain(error, &path.join(name).display().to_string()))?;
        }
    }
    Ok(path.to_path_buf())
}

fn holds(dir: &OwnedFd, name: &str, content: &str) -> bool {
    use std::io::Read;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(dir, name, flags, Mode::empty()) else { return false };
    let mut found = Vec::new();
    std::fs::File::from(file).take(MAX_PRIVATE_FILE).read_to_end(&mut found).is_ok()
        && found == content.as_bytes()
}

/// By a temporary file and a rename: a shell that starts now reads the old one or the new one.
fn replace(dir: &OwnedFd, name: &str, content: &str) -> io::Result<()> {
    use std::io::Write;
    let temporary = format!(".{name}.{}", random_name()?);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, &temporary, flags, Mode::RUSR | Mode::WUSR)?;
    let written = std::fs::File::from(file)
        .write_all(content.as_bytes())
        .and_then(|()| Ok(rustix::fs::renameat(dir, &temporary, dir, name)?));
    if written.is_err() {
        let _ = rustix::fs::unlinkat(dir, &temporary, AtFlags::empty());
    }
    written
}

/// A name that nobody can have taken before us.
pub(super) fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

/// What identifies a file, whatever its name points to later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    #[allow(clippy::unnecessary_cast, reason = "the fields' widths differ between systems")]
    pub(super) fn of(stat: &rustix::fs::Stat) -> Self {
        Identity(stat.st_dev as u64, stat.st_ino as u64)
    }

    pub(super) fn at(path: &Path) -> Option<Self> {
        lstat(path).ok().map(|stat| Identity::of(&stat))
    }
}

pub(super) fn lstat(path: &Path) -> rustix::io::Result<rustix::fs::Stat> {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_socket_is_the_named_one_or_lies_in_the_runtime_directory() {
        let run = Path::new("/run/user/1/t4a");
        let check = |named: Option<&str>, path: &str, explicit| {
            let found = socket_from(named.map(OsString::from), run).unwrap();
            assert_eq!(found, SocketPath { path: PathBuf::from(path), explicit });
        };
        check(None, "/run/user/1/t4a/t4a.sock", false);
        check(Some(""), "/run/user/1/t4a/t4a.sock", false);
        check(Some("/a/b"), "/a/b", true);
        let relative = socket_from(Some("x.sock".into()), run).unwrap();
        assert!(relative.path.is_absolute());
    }

    #[test]
    fn a_path_that_does_not_fit_is_named_with_its_length() {
        let fits = format!("/{}", "x".repeat(MAX_SOCKET_PATH - 2));
        assert!(socket_from(Some(fits.clone().into()), Path::new("/")).is_ok());
        let error = socket_from(Some(format!("{fits}y").into()), Path::new("/")).unwrap_err();
        assert!(error.to_string().contains("104 bytes"), "{error}");
        assert!(error.to_string().contains("T4A_SOCKET"), "{error}");
    }

    #[test]
    fn the_runtime_directory_falls_back_to_tmp() {
        let check = |xdg: Option<&str>, path: &str| {
            assert_eq!(runtime_path_from(xdg.map(OsString::from), 7), PathBuf::from(path));
        };
        check(None, "/tmp/t4a-7");
        check(Some("relative"), "/tmp/t4a-7");
        check(Some("/no/such/directory"), "/tmp/t4a-7");
        check(Some("/tmp"), "/tmp/t4a");
    }

    #[test]
    fn a_private_directory_is_made_and_found_again() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("t4a");
        make_private(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        make_private(&path).unwrap();
    }

    #[test]
    fn a_directory_that_others_can_get_at_is_refused_with_a_remedy() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("open");
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o750)).unwrap();
        let error = make_private(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains("mode 750"), "{error}");
        assert!(error.to_string().contains("chmod 700"), "{error}");
    }

    #[test]
    fn a_symlink_or_a_file_in_place_of_the_directory_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let link = temp.path().join("link");
        symlink(temp.path(), &link).unwrap();
        assert_eq!(make_private(&link).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let file = temp.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(make_private(&file).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn private_files_are_written_once_and_replaced_when_they_differ() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("shell");
        write_private(&path, &[("a", "one"), ("b", "two")]).unwrap();
        assert_eq!(std::fs::read_to_string(path.join("a")).unwrap(), "one");
        assert_eq!(mode(&path.join("a")), 0o600);
        let before = Identity::at(&path.join("a"));
        write_private(&path, &[("a", "one"), ("b", "three")]).unwrap();
        assert_eq!(Identity::at(&path.join("a")), before);
        assert_eq!(std::fs::read_to_string(path.join("b")).unwrap(), "three");
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 2);
    }

    #[test]
    fn a_link_in_place_of_a_private_file_is_replaced_and_its_target_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        let target = temp.path().join("target");
        std::fs::write(&target, "mine").unwrap();
        let path = temp.path().join("shell");
        make_private(&path).unwrap();
        symlink(&target, path.join("a")).unwrap();
        write_private(&path, &[("a", "mine")]).unwrap();
        assert!(std::fs::symlink_metadata(path.join("a")).unwrap().is_file());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    }
}
