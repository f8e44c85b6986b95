//! A hook for tests, in debug builds alone: output that ends the worker as a fault would.

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
fn spring(bytes: &[u8]) {
    let has = |name: &str| {
        let word = std::env::var(name).unwrap_or_default();
        !word.is_empty() && bytes.windows(word.len()).any(|part| part == word.as_bytes())
    };
    if has(ABORTS) {
        std::process::abort();
    }
    assert!(!has(PANICS), "output that panics");
}
