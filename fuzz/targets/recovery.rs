//! What a dead worker left, damaged anywhere: it is taken over or begun anew, and goes on.

use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;

use t4a::journal::{Entry, JOURNAL_PLACES, Journal, LOG_PLACES, Log};
use t4a::term::{LineNo, Memory, Size, Terminal, reseal};
use t4a::view::text;

pub const PIECES: &[&[u8]] = &[
    b"\x00",
    b"\x01",
    b"text\r\n",
    b"\x1b[31m",
    b"\x00\x08\xff",
    b"\x00\x10\x00",
    b"\x02\x20\x01",
    b"\x03\x28\x7f",
];
const SIZE: Size = Size { cols: 20, rows: 4 };
/// So much behind each place is damaged.
const REACH: u64 = 256;

pub fn run(data: &[u8]) {
    match data {
        [kind, rest @ ..] if kind % 2 == 0 => journal(rest),
        [_, rest @ ..] => log(rest),
        [] => {}
    }
}

/// Takes three bytes for each change: near which place, where, and to what.
fn damage(fd: BorrowedFd<'_>, places: &[usize], data: &[u8]) {
    let file = File::from(fd.try_clone_to_owned().expect("a descriptor"));
    for change in data.chunks_exact(3) {
        let place = places[usize::from(change[0]) % places.len()] as u64;
        let at = place + u64::from(change[1]) % REACH;
        file.write_all_at(&change[2..], at).expect("memory");
    }
}

fn journal(data: &[u8]) {
    let (output, changes) = data.split_at(data.len() / 2);
    let mut journal = Journal::create().expect("memory");
    let memory = Memory::lent(journal.lend().expect("nobody has it"));
    let mut grid = Terminal::with_memory(SIZE, 100, memory);
    journal.append(output);
    grid.feed(journal.unsaved(), &mut Vec::new());
    let mut save = Vec::new();
    grid.save(&mut save);
    if let Some(place) = changes.first().map(|byte| usize::from(*byte) * 5 % save.len()) {
        // One that is wrong and has the right checksum.
        save[place] ^= changes[0] & 1;
        reseal(&mut save);
    }
    journal.save(1, &save);
    journal.append(output);
    drop(grid);
    damage(journal.fd(), &JOURNAL_PLACES, changes);
    let mut next = Journal::open(journal.fd().try_clone_to_owned().expect("a descriptor"))
        .expect("it has the right length");
    let memory = Memory::lent(next.lend().expect("nobody has it"));
    let restored = next.saved().and_then(|saved| Terminal::restore(saved.bytes, memory).ok());
    if let Some(mut grid) = restored {
        grid.feed(next.unsaved(), &mut Vec::new());
        text::viewport(&grid);
        text::lines(&grid, LineNo(0), 100);
    }
    next.append(b"on");
    next.save(2, b"");
    next.append(b"and on");
    assert_eq!(next.unsaved(), b"and on");
}

fn log(data: &[u8]) {
    let mut log = Log::create().expect("memory");
    let entry = |seq, line| Entry { seq, kind: 1, terminal: Some(1), notice: seq, line };
    for (seq, line) in (1..).zip(data.chunks(7)) {
        assert!(log.append(&entry(seq, line)));
    }
    damage(log.fd(), &LOG_PLACES, data);
    let fd = log.fd().try_clone_to_owned().expect("a descriptor");
    let mut next = Log::open(fd).expect("it has the right length");
    let known = next.entries();
    let last = known.last().map_or(0, |entry| entry.seq);
    assert!(known.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq));
    assert!(next.append(&entry(last + 1, b"on")));
    assert_eq!(next.entries().len(), known.len() + 1);
}
