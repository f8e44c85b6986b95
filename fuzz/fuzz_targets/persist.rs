#![no_main]

// Each binary runs one of them.
#[allow(dead_code)]
#[path = "../targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::persist::run(data));
