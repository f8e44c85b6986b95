//! A hook for tests, in debug builds alone: output and keys that do what a fault would.

/// What is called with all output, if the environment names any that is fatal.
#[cfg(debug_assertions)]
pub fn set() -> Option<fn(&[u8])> {
    [ABORTS, PANICS].iter().any(|name| std::env::var_os(name).is_some()).then_some(spring)
}

#[cfg(not(debug_assertions))]
pub fn set() -> Option<fn(&[u8])> {
    None
}

/// Words that end the process, and words that only panic.
#[cfg(debug_assertions)]
const ABORTS: &str = "T4A_TEST_ABORT";
#[cfg(debug_assertions)]
const PANICS: &str = "T4A_TEST_PANIC";

#[cfg(debug_assertions)]
const TYPED_PANICS: &str = "T4A_TEST_TYPED_PANIC";

#[cfg(debug_assertions)]
fn spring(bytes: &[u8]) {
    if has(bytes, ABORTS) {
        std::process::abort();
    }
    assert!(!has(bytes, PANICS), "output that panics");
}

/// Sees what a person types before their seat does.
pub fn typed(bytes: &[u8]) {
    #[cfg(debug_assertions)]
    assert!(!has(bytes, TYPED_PANICS), "keys that panic");
    #[cfg(not(debug_assertions))]
    let _ = bytes;
}

#[cfg(debug_assertions)]
fn has(bytes: &[u8], name: &str) -> bool {
    let word = std::env::var(name).unwrap_or_default();
    !word.is_empty() && bytes.windows(word.len()).any(|part| part == word.as_bytes())
}
