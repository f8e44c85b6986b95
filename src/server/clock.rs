//! The only place that reads the clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}

/// Milliseconds since 1970.
#[allow(clippy::disallowed_methods)]
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
