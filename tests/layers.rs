//! Arrows between modules point one way, and what must not be known is not named.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// A module may use only those before it.
const ORDER: [&str; 17] = [
    "term", "input", "view", "cast", "wire", "mux", "command", "seat", "os", "journal", "keeper",
    "server", "client", "attach", "tmux", "mcp", "cli",
];

/// No system call, no runtime, no clock.
const PURE: [&str; 8] = ["term", "input", "view", "cast", "wire", "mux", "command", "seat"];

/// Of these, `os` itself aside, only the named ones may use the operating system's module.
const USES_OS: [&str; 7] = ["journal", "keeper", "server", "client", "attach", "tmux", "cli"];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Unit tests that have a file of their own may look at everything.
fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default();
    name == "tests" || name == "check" || path.components().any(|part| part.as_os_str() == "tests")
}

/// Every source file with the module it belongs to.
fn modules() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let module = |path: &Path| {
        let first = path.strip_prefix(&root).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    let read = |path: PathBuf| (module(&path), path.clone(), fs::read_to_string(&path).unwrap());
    files.retain(|path| !is_test(path.strip_prefix(&root).unwrap()));
    files.into_iter().map(read).filter(|(name, ..)| name != "lib" && name != "main").collect()
}

/// The code of a file without its comments and its unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn rank(module: &str) -> usize {
    ORDER.iter().position(|name| *name == module).unwrap_or_else(|| {
        panic!("{module} has no place in ORDER: add it where it belongs");
    })
}

#[test]
fn a_module_uses_only_those_above_it() {
    for (module, path, text) in modules() {
        let code = code(&text);
        for part in code.split("crate::").skip(1) {
            let used: String =
                part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let grouped = part.starts_with('{');
            assert!(!grouped, "{}: name each module in a `use` of its own", path.display());
            if used != module {
                assert!(
                    rank(&used) < rank(&module),
                    "{} uses {used}, which stands below {module}",
                    path.display()
                );
            }
            if used == "os" && module != "os" {
                assert!(USES_OS.contains(&module.as_str()), "{} uses os", path.display());
            }
        }
    }
}

#[test]
fn the_pure_modules_know_no_system_and_no_clock() {
    let banned = [
        "tokio",
        "rustix",
        "crossterm",
        "libc::",
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "std::env",
        "Instant::now",
        "SystemTime::now",
        "Mutex",
        "RwLock",
    ];
    for (module, path, text) in modules() {
        if !PURE.contains(&module.as_str()) {
            continue;
        }
        for word in banned {
            assert!(!code(&text).contains(word), "{} names {word}", path.display());
        }
    }
}

#[test]
fn heavy_crates_stay_where_they_belong() {
    let places = [
        ("rustix", "os"),
        ("crossterm", "attach"),
        ("vte", "term"),
        ("fontdue", "view/image"),
        ("png", "view/image"),
        ("gif", "view/image"),
        ("flate2", "view/image"),
        ("rmcp", "mcp"),
    ];
    for (module, path, text) in modules() {
        for (name, place) in places {
            let used = code(&text).lines().any(|line| {
                line.contains(&format!("use {name}::")) || line.contains(&format!("::{name}::"))
            });
            let there = path.to_string_lossy().contains(&format!("/src/{place}/"));
            assert!(!used || there, "{} uses {name} ({module})", path.display());
        }
    }
}

#[test]
fn nothing_is_behind_a_lock_and_the_clock_is_read_in_one_place() {
    for (module, path, text) in modules() {
        let code = code(&text);
        for word in ["Mutex", "RwLock"] {
            assert!(!code.contains(word), "{} names {word}", path.display());
        }
        // Each of these is a process of its own.
        let may_read_clock = ["keeper", "server", "attach"].contains(&module.as_str());
        assert!(may_read_clock || !code.contains("Instant::now"), "{}", path.display());
    }
}

#[test]
fn unsafe_code_lives_only_where_the_kernel_needs_it() {
    for (module, path, text) in modules() {
        let used = code(&text).contains("unsafe ");
        let allowed = ["os", "keeper", "journal"].contains(&module.as_str());
        assert!(allowed || !used, "{}", path.display());
    }
}

#[test]
fn every_file_says_in_its_first_line_what_it_is() {
    for (_, path, text) in modules() {
        assert!(text.starts_with("//! "), "{}", path.display());
    }
}
