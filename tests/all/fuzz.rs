//! A short run of the fuzz targets, the same every time.

use crate::fuzz_targets::ALL;

const INPUTS: u64 = 300;

/// Numbers that look random and are not.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// Some of the pieces, and bytes that are none of them.
fn input(seed: u64, pieces: &[&[u8]]) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut out = Vec::new();
    for _ in 0..numbers.next(60) {
        if numbers.next(4) == 0 {
            let len = numbers.next(6);
            out.extend((0..len).map(|_| numbers.next(256) as u8));
        } else {
            out.extend_from_slice(pieces[numbers.next(pieces.len())]);
        }
    }
    out
}

#[test]
fn every_fuzz_target_holds_on_some_seeds() {
    for (name, run, pieces) in ALL {
        for seed in 0..INPUTS {
            let input = input(seed, pieces);
            let caught = std::panic::catch_unwind(|| run(&input));
            assert!(caught.is_ok(), "{name}, seed {seed}: {}", input.escape_ascii());
        }
    }
}
