//! Times as people where the computer stands read them.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

/// `2026-11-18 04:52`, of milliseconds since 1970.
pub fn local(unix_ms: u64) -> String {
    let seconds = libc::time_t::try_from(unix_ms / 1000).unwrap_or(0);
    let mut parts = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both point to what lives across the call; a zeroed `tm` is a valid one.
    let parts = unsafe {
        libc::localtime_r(&raw const seconds, parts.as_mut_ptr());
        parts.assume_init()
    };
    let (year, month) = (i64::from(parts.tm_year) + 1900, parts.tm_mon + 1);
    format!("{year}-{month:02}-{:02} {:02}:{:02}", parts.tm_mday, parts.tm_hour, parts.tm_min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_can_be_read() {
        // Within a day of it, wherever this runs.
        let date = local(1_700_000_000_000);
        assert!(date.starts_with("2023-11-1") && date.len() == "2023-11-14 22:13".len(), "{date}");
        local(u64::MAX);
    }
}
