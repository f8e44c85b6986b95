//! What a keeper and its worker, perhaps of another version, say to each other.

use t4a::keeper::message::{FromKeeper, ToKeeper};
use t4a::keeper::spec::Spec;

pub const PIECES: &[&[u8]] = &[
    b"\x01\0\0\0",
    b"F\0\0\0",
    b"Q\0\0\0",
    b"s\0\0\0",
    b"S\0\0\0",
    b"E\0\0\0",
    b"P\0\0\0",
    b"f\0\0\0",
    b"X\0\0\0",
    b"\0\0\0\0",
    b"\0\0\x01\0",
    b"\xff\xff\xff\xff",
    b"t4a-spc1",
    b"\x02\0\0\0",
    b"/bin/sh",
    b"\x07\0\0\0/bin/sh",
];

/// What is understood is said again in the same words.
pub fn run(data: &[u8]) {
    let message = &data[..data.len().min(20)];
    if let Some(to) = ToKeeper::unpack(message, Vec::new()) {
        let again = to.pack();
        assert!(ToKeeper::unpack(&again.bytes, Vec::new()).is_some());
    }
    if let Some(from) = FromKeeper::unpack(message, Vec::new()) {
        let again = from.pack();
        assert!(FromKeeper::unpack(&again.bytes, Vec::new()).is_some());
    }
    ToKeeper::slot_of_spawn(message);
    if let Some(spec) = Spec::from_bytes(data)
        && let Ok(bytes) = spec.to_bytes()
    {
        assert_eq!(Spec::from_bytes(&bytes), Some(spec));
    }
}
