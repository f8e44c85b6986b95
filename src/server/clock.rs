//! The only place that reads the clock.

use std::time::Instant;

#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}
