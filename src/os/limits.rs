//! Resource limits of this process, and giving the original ones back to the programs it starts.

use std::io;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What programs in terminals shall have, whatever the keeper changed for itself.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    nofile: Rlimit,
    core: Rlimit,
    /// How soon the kernel kills it when memory runs out, where that can be told.
    oom_score: Option<i32>,
}

/// Where the kernel has it.
const OOM_SCORE: &str = "/proc/self/oom_score_adj";
/// The keeper is among the last that are killed: it is small, and all terminals go with it.
const KEEPER_OOM_SCORE: i32 = -900;

impl Limits {
    pub fn current() -> Limits {
        let (nofile, core) = (getrlimit(Resource::Nofile), getrlimit(Resource::Core));
        let oom_score = std::fs::read_to_string(OOM_SCORE).ok();
        let oom_score = oom_score.and_then(|text| text.trim().parse().ok());
        Limits { nofile, core, oom_score }
    }

    /// The same limits as text, for another process.
    pub fn to_text(&self) -> String {
        let numbers = [self.nofile, self.core].map(|one| [one.current, one.maximum]);
        let text = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        let numbers = numbers.as_flattened().iter().map(|number| number.map(|n| n.to_string()));
        let oom_score = self.oom_score.map(|score| score.to_string());
        numbers.chain([oom_score]).map(text).collect::<Vec<_>>().join(",")
    }

    pub fn from_text(text: &str) -> Option<Limits> {
        let (text, oom_score) = text.rsplit_once(',')?;
        let numbers: Vec<Option<u64>> = text.split(',').map(number).collect::<Option<_>>()?;
        let [soft, hard, core, core_hard] = numbers.try_into().ok()?;
        let nofile = Rlimit { current: soft, maximum: hard };
        let core = Rlimit { current: core, maximum: core_hard };
        Some(Limits { nofile, core, oom_score: number(oom_score)? })
    }

    pub fn restore(&self) {
        let _ = setrlimit(Resource::Nofile, self.nofile);
        let _ = setrlimit(Resource::Core, self.core);
        self.restore_oom_score();
    }

    /// Whoever may lower it may put it back.
    pub fn restore_oom_score(&self) {
        if let Some(score) = self.oom_score {
            let _ = set_oom_score(score);
        }
    }
}

/// A number of text, or none.
fn number<T: std::str::FromStr>(word: &str) -> Option<Option<T>> {
    match word {
        "-" => Some(None),
        word => word.parse().ok().map(Some),
    }
}

/// For the keeper. Only the superuser may do so; all that it starts has to restore its own.
pub fn lower_oom_score(limits: &Limits) {
    if limits.oom_score.is_some_and(|score| score > KEEPER_OOM_SCORE) {
        let _ = set_oom_score(KEEPER_OOM_SCORE);
    }
}

fn set_oom_score(score: i32) -> io::Result<()> {
    std::fs::write(OOM_SCORE, score.to_string())
}

/// Raises the soft limit of open files to the hard one; gives the (soft, hard) limits as they were.
pub fn raise_nofile() -> Option<(u64, u64)> {
    let old = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: ceiling(old.maximum), ..old }).ok()?;
    Some((old.current.unwrap_or(u64::MAX), old.maximum.unwrap_or(u64::MAX)))
}

/// macOS calls its hard limit infinite and refuses to set that.
#[cfg(target_vendor = "apple")]
fn ceiling(maximum: Option<u64>) -> Option<u64> {
    const OPEN_MAX: u64 = 10240;
    Some(maximum.unwrap_or(OPEN_MAX).min(OPEN_MAX))
}

#[cfg(not(target_vendor = "apple"))]
fn ceiling(maximum: Option<u64>) -> Option<u64> {
    maximum
}

/// What is typed and shown in terminals passes through this process: no core file, no tracing by
/// others of the same user. For the keeper and the worker only.
pub fn harden() {
    let core = getrlimit(Resource::Core);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), ..core });
    // A file that may not grow further is an error of that call, not the end of this process. A handler:
    // programs would inherit a signal that is ignored.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    forbid_dumps();
}

#[cfg(target_os = "linux")]
fn forbid_dumps() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
fn forbid_dumps() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_back_from_text() {
        for text in ["1024,4096,0,-,-500", "-,-,-,-,-", "1,2,3,4,0"] {
            assert_eq!(Limits::from_text(text).unwrap().to_text(), text);
        }
        for text in ["", "1,2,3,4", "1,2,3,4,5,6", "1,2,3,x,0", "1,2,3,4,x"] {
            assert!(Limits::from_text(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_soft_limit_of_files_becomes_the_hard_one_and_comes_back() {
        let limits = Limits::current();
        let (soft, hard) = raise_nofile().unwrap();
        assert!(soft <= hard);
        assert_eq!(raise_nofile().unwrap().0, ceiling(Some(hard)).unwrap());
        limits.restore();
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), soft);
    }
}
