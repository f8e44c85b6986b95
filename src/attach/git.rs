//! The branch that a directory is on, read from git's own files.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories looked at on the way up.
const MAX_DEPTH: usize = 64;
/// Characters of a branch that are shown.
const MAX_BRANCH: usize = 40;

pub fn branch(cwd: &str) -> Option<String> {
    let head = fs::read_to_string(git_dir(Path::new(cwd))?.join("HEAD")).ok()?;
    let head = head.trim();
    let name = match head.strip_prefix("ref: ") {
        Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name),
        // No branch: the commit's first digits.
        None => head.get(..8)?,
    };
    Some(name.chars().filter(|c| !c.is_control()).take(MAX_BRANCH).collect())
}

/// The nearest `.git`: a directory, or a file that names one, as in a work tree.
fn git_dir(cwd: &Path) -> Option<PathBuf> {
    for dir in cwd.ancestors().take(MAX_DEPTH) {
        let git = dir.join(".git");
        if git.is_dir() {
            return Some(git);
        }
        if let Ok(text) = fs::read_to_string(&git) {
            return Some(dir.join(text.strip_prefix("gitdir:")?.trim()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_read_from_repositories_and_work_trees() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("repo/.git/worktrees/w")).unwrap();
        fs::create_dir_all(at("repo/deep/down")).unwrap();
        fs::create_dir(at("w")).unwrap();
        fs::write(at("repo/.git/HEAD"), "ref: refs/heads/feat/x\n").unwrap();
        fs::write(at("repo/.git/worktrees/w/HEAD"), "0123456789abcdef\n").unwrap();
        fs::write(at("w/.git"), "gitdir: ../repo/.git/worktrees/w\n").unwrap();
        let of = |path: &str| branch(&at(path).to_string_lossy());
        assert_eq!(of("repo/deep/down").as_deref(), Some("feat/x"));
        assert_eq!(of("w").as_deref(), Some("01234567"));
        assert_eq!(branch("/"), None);
    }
}
