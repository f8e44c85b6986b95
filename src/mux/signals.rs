//! Signals by name and number.

use crate::wire::Failure;

pub const SIGHUP: i32 = 1;
pub const SIGINT: i32 = 2;
pub const SIGQUIT: i32 = 3;
pub const SIGKILL: i32 = 9;
pub const SIGCONT: i32 = if cfg!(target_os = "linux") { 18 } else { 19 };
pub const SIGTSTP: i32 = if cfg!(target_os = "linux") { 20 } else { 18 };

/// The signals people send, by the name `kill -l` has for them.
const SIGNALS: &[(&str, i32)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("FPE", 8),
    ("KILL", 9),
    ("SEGV", 11),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
];

/// Those whose numbers differ between systems: Linux, then the BSDs.
const UNEVEN: &[(&str, i32, i32)] = &[
    ("BUS", 7, 10),
    ("USR1", 10, 30),
    ("USR2", 12, 31),
    ("CHLD", 17, 20),
    ("CONT", 18, 19),
    ("STOP", 19, 17),
    ("TSTP", 20, 18),
    ("TTIN", 21, 21),
    ("TTOU", 22, 22),
    ("XCPU", 24, 24),
    ("XFSZ", 25, 25),
    ("WINCH", 28, 28),
    ("SYS", 31, 12),
];

fn signals() -> impl Iterator<Item = (&'static str, i32)> {
    let uneven = |&(name, linux, bsd): &(&'static str, i32, i32)| {
        (name, if cfg!(target_os = "linux") { linux } else { bsd })
    };
    SIGNALS.iter().copied().chain(UNEVEN.iter().map(uneven))
}

pub fn signal_name(number: i32) -> String {
    let known = signals().find(|(_, n)| *n == number);
    known.map_or_else(|| number.to_string(), |(name, _)| name.to_owned())
}

/// `INT`, `SIGINT`, `int` or `2`.
pub fn signal_number(name: &str) -> Result<i32, Failure> {
    let upper = name.to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    let by_name = signals().find(|(known, _)| *known == bare).map(|(_, number)| number);
    let by_number = || signals().map(|(_, n)| n).find(|n| n.to_string() == bare);
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<_> = signals().map(|(name, _)| name).collect();
        Failure::bad_value(format!("signal: {name:?} is none of {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_go_by_any_of_their_names() {
        for name in ["INT", "SIGINT", "sigint", "2"] {
            assert_eq!(signal_number(name), Ok(2));
        }
        assert!(signal_number("NOPE").is_err());
        assert!(signal_number("64").is_err());
        assert_eq!(signal_name(9), "KILL");
    }
}
