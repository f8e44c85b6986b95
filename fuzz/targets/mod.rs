//! What the fuzz targets do with bytes from outside; the tests run the same on a few seeds.

pub mod cast;
pub mod config;
pub mod input;
pub mod keeper;
pub mod osc;
pub mod persist;
pub mod recovery;
pub mod save;
pub mod term;
pub mod wire;

/// What a target does with its input.
pub type Run = fn(&[u8]);

/// A target's name, what it does, and pieces that its input is likely made of.
pub const ALL: [(&str, Run, &[&[u8]]); 10] = [
    ("term", term::run, term::PIECES),
    ("osc", osc::run, osc::PIECES),
    ("save", save::run, term::PIECES),
    ("persist", persist::run, persist::PIECES),
    ("recovery", recovery::run, recovery::PIECES),
    ("wire", wire::run, wire::PIECES),
    ("keeper", keeper::run, keeper::PIECES),
    ("input", input::run, input::PIECES),
    ("cast", cast::run, cast::PIECES),
    ("config", config::run, config::PIECES),
];
