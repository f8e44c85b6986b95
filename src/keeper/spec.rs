//! What a child shall run, written by the worker and read by nobody but the child itself.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::os::memory;

pub const MAX_SPEC: usize = 1 << 20;
const MAGIC: &[u8; 8] = b"t4a-spc1";
/// A failure as it stands in the status pipe: its kind and the system's error number.
const STATUS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Absolute; `argv[0]` may differ from it.
    pub program: PathBuf,
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
}

impl Spec {
    /// Writes it to a file in memory, to be sent to the keeper.
    pub fn encode(&self) -> io::Result<OwnedFd> {
        let bytes = self.to_bytes()?;
        let file = memory::memory_file("t4a-spec")?;
        file.write_all_at(&bytes, 0)?;
        Ok(file.into())
    }

    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut out = MAGIC.to_vec();
        put(&mut out, self.program.as_os_str().as_bytes())?;
        put(&mut out, self.cwd.as_os_str().as_bytes())?;
        put_count(&mut out, self.argv.len());
        for argument in &self.argv {
            put(&mut out, argument.as_bytes())?;
        }
        put_count(&mut out, self.env.len());
        for (name, value) in &self.env {
            check_name(name)?;
            put(&mut out, name.as_bytes())?;
            put(&mut out, value.as_bytes())?;
        }
        if out.len() > MAX_SPEC {
            return Err(refuse(format!(
                "cmd_args, env and cwd have {} bytes together; {MAX_SPEC} are allowed",
                out.len()
            )));
        }
        Ok(out)
    }

    /// `None` when it is not a spec.
    pub fn decode(file: &File) -> Option<Spec> {
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        let mut bytes = vec![0; Some(length).filter(|length| *length <= MAX_SPEC)?];
        file.read_exact_at(&mut bytes, 0).ok()?;
        Spec::from_bytes(&bytes)
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Spec> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let program = take_path(&mut rest)?;
        let cwd = take_path(&mut rest)?;
        // Each element takes four bytes at least, so the rest bounds the loops.
        let argv =
            (0..take_count(&mut rest)?).map(|_| take_text(&mut rest)).collect::<Option<_>>()?;
        let env = (0..take_count(&mut rest)?)
            .map(|_| Some((take_text(&mut rest)?, take_text(&mut rest)?)))
            .collect::<Option<_>>()?;
        rest.is_empty().then_some(Spec { program, argv, env, cwd })
    }
}

fn refuse(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn check_name(name: &str) -> io::Result<()> {
    if name.is_empty() || name.contains('=') {
        return Err(refuse(format!("\"{name}\" cannot be the name of an environment variable")));
    }
    Ok(())
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    if bytes.contains(&0) {
        return Err(refuse("arguments and environment cannot hold a NUL character".into()));
    }
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
    Ok(())
}

/// What does not fit is too long for a spec anyway, and refused at the end.
fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn take_count(rest: &mut &[u8]) -> Option<usize> {
    let (count, tail) = rest.split_first_chunk()?;
    *rest = tail;
    usize::try_from(u32::from_le_bytes(*count)).ok()
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_count(rest)?;
    let (bytes, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(bytes)
}

fn take_path(rest: &mut &[u8]) -> Option<PathBuf> {
    Some(std::ffi::OsString::from_vec(take(rest)?.to_vec()).into())
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    String::from_utf8(take(rest)?.to_vec()).ok()
}

/// Why the program did not come to run; the numbers are the system's error numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildFailure {
    Cwd(i32),
    Exec(i32),
    Tty(i32),
    Spec,
}

impl ChildFailure {
    pub(super) fn to_bytes(self) -> [u8; STATUS] {
        let (kind, errno) = match self {
            ChildFailure::Cwd(errno) => (b'c', errno),
            ChildFailure::Exec(errno) => (b'x', errno),
            ChildFailure::Tty(errno) => (b't', errno),
            ChildFailure::Spec => (b's', 0),
        };
        let [a, b, c, d] = errno.to_le_bytes();
        [kind, a, b, c, d]
    }
}

/// All that came through the status pipe, read to its end: nothing means that the program runs.
pub fn read_status(bytes: &[u8]) -> Result<(), ChildFailure> {
    let Some((kind, errno)) = bytes.split_first() else { return Ok(()) };
    let Ok(errno) = errno.try_into().map(i32::from_le_bytes) else {
        return Err(ChildFailure::Spec);
    };
    Err(match kind {
        b'c' => ChildFailure::Cwd(errno),
        b'x' => ChildFailure::Exec(errno),
        b't' => ChildFailure::Tty(errno),
        _ => ChildFailure::Spec,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec {
            program: "/bin/sh".into(),
            argv: vec!["-sh".into(), String::new(), "ä\n".into()],
            env: vec![("A".into(), String::new()), ("B".into(), "x=y".into())],
            cwd: "/tmp".into(),
        }
    }

    #[test]
    fn a_spec_comes_back_as_it_was() {
        let file = File::from(spec().encode().unwrap());
        assert_eq!(Spec::decode(&file), Some(spec()));
    }

    #[test]
    fn a_cut_or_damaged_spec_is_none() {
        let bytes = spec().to_bytes().unwrap();
        for end in 0..bytes.len() {
            assert_eq!(Spec::from_bytes(&bytes[..end]), None, "{end}");
        }
        let longer = [&bytes[..], b"x"].concat();
        assert_eq!(Spec::from_bytes(&longer), None);
        let mut huge = bytes;
        huge[8..12].fill(0xff);
        assert_eq!(Spec::from_bytes(&huge), None);
    }

    #[test]
    fn what_a_program_cannot_be_given_is_refused() {
        let check = |change: &dyn Fn(&mut Spec), words: &str| {
            let mut spec = spec();
            change(&mut spec);
            let error = spec.encode().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(words), "{error}");
        };
        check(&|spec| spec.argv.push("a\0b".into()), "NUL");
        check(&|spec| spec.env.push(("A\0".into(), String::new())), "NUL");
        check(&|spec| spec.env.push((String::new(), String::new())), "name");
        check(&|spec| spec.env.push(("A=B".into(), String::new())), "name");
        check(&|spec| spec.argv.push("x".repeat(MAX_SPEC)), "allowed");
    }

    #[test]
    fn failures_come_back_as_they_were() {
        assert_eq!(read_status(b""), Ok(()));
        let all = [
            ChildFailure::Cwd(2),
            ChildFailure::Exec(13),
            ChildFailure::Tty(1),
            ChildFailure::Spec,
        ];
        for failure in all {
            assert_eq!(read_status(&failure.to_bytes()), Err(failure));
        }
        assert_eq!(read_status(b"x"), Err(ChildFailure::Spec));
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_in_the_file_the_child_only_says_no(
            bytes: Vec<u8>,
            place in 0..60_usize,
            value: u8,
        ) {
            let _ = Spec::from_bytes(&[&MAGIC[..], &bytes].concat());
            let _ = read_status(&bytes);
            let mut damaged = spec().to_bytes().unwrap();
            damaged[place] = value;
            let _ = Spec::from_bytes(&damaged);
        }
    }

    #[test]
    fn the_largest_spec_is_taken_and_one_byte_more_is_refused() {
        let mut spec = spec();
        spec.argv.push(String::new());
        let room = MAX_SPEC - spec.to_bytes().unwrap().len();
        spec.argv.pop();
        spec.argv.push("x".repeat(room));
        assert_eq!(spec.to_bytes().unwrap().len(), MAX_SPEC);
        assert_eq!(Spec::decode(&File::from(spec.encode().unwrap())), Some(spec.clone()));
        spec.argv.push(String::new());
        let error = spec.encode().unwrap_err().to_string();
        assert!(error.contains(&format!("{MAX_SPEC} are allowed")), "{error}");
    }
}
