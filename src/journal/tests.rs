//! Journals: what is found after a death at any step, and what is refused.

use std::os::fd::AsFd;

use super::*;
use crate::term::Size;

fn reopened(journal: &Journal) -> Journal {
    Journal::open(journal.fd().try_clone_to_owned().unwrap()).unwrap()
}

fn pty_with(text: &[u8]) -> pty::Pty {
    let pty = pty::open(Size { cols: 80, rows: 24 }).unwrap();
    rustix::io::write(&pty.slave, text).unwrap();
    wait(&pty);
    pty
}

/// Output passes through a kernel thread, so it may come a little later than it was written.
fn wait(pty: &pty::Pty) {
    crate::os::poll::wait(&[pty.master.as_fd()], None, None).unwrap();
}

fn read_all(journal: &mut Journal, pty: &pty::Pty, length: u64) {
    while journal.head() < length {
        wait(pty);
        journal.read(pty.master.as_fd());
    }
}

#[test]
fn output_is_found_again_until_a_save_has_it() {
    let mut journal = Journal::create().unwrap();
    let pty = pty_with(b"one two");
    read_all(&mut journal, &pty, 7);
    assert_eq!(journal.read(pty.master.as_fd()), Read::WouldBlock);
    let mut other = reopened(&journal);
    assert_eq!((other.unsaved(), other.saved()), (&b"one two"[..], None));
    assert!(other.save(3, b"the state"));
    other.set_told(3);
    rustix::io::write(&pty.slave, b" three").unwrap();
    read_all(&mut other, &pty, 13);
    let third = reopened(&other);
    assert_eq!(third.unsaved(), b" three");
    assert_eq!(third.saved(), Some(Saved { offset: 7, notices: 3, bytes: b"the state" }));
    assert_eq!((third.told(), third.fed(), third.head()), (3, 7, 13));
}

/// The state that each step of a read leaves behind, and what a new worker makes of it.
#[test]
fn a_death_at_any_step_of_a_read_loses_and_doubles_nothing() {
    let text = b"0123456789";
    for step in 0..=5 {
        let mut journal = Journal::create().unwrap();
        journal.append(b"before ");
        let pty = pty_with(text);
        let head = journal.head();
        let header = journal.header();
        let mut taken = 0;
        if step >= 1 {
            header.packet.store(NOTHING, Release);
        }
        if step >= 2 {
            header.base.store(head, Release);
        }
        let want = pty::waiting(pty.master.as_fd()).unwrap();
        if step >= 3 {
            header.want.store(want as u64, Release);
        }
        if step >= 4 {
            let at = RING_AT + head as usize;
            // SAFETY: the ring is empty behind the head.
            unsafe { pty::read_into(pty.master.as_fd(), &header.packet, journal.map.at(at), want) };
            taken = want;
        }
        if step >= 5 {
            header.head.store(head + want as u64, Release);
        }
        let mut next = reopened(&journal);
        assert_eq!(next.head(), head + taken as u64, "step {step}");
        read_all(&mut next, &pty, head + text.len() as u64);
        assert_eq!(next.unsaved(), b"before 0123456789", "step {step}");
        assert_eq!(reopened(&next).head(), next.head(), "it is taken in once");
    }
}

#[test]
fn the_ring_goes_round_and_holds_what_no_save_has() {
    let mut journal = Journal::create().unwrap();
    let mut written = 0_u64;
    let pattern = |from: u64, length: u64| -> Vec<u8> {
        (from..from + length).map(|at| (at % 251) as u8).collect()
    };
    for turn in 0..40 {
        let length = 50_000 + turn * 101;
        journal.append(&pattern(written, length));
        written += length;
        assert_eq!(reopened(&journal).unsaved(), journal.unsaved());
        if journal.is_filling() {
            let kept = journal.unsaved().len() as u64;
            assert_eq!(journal.unsaved(), pattern(written - kept, kept));
            journal.save(turn, &[1; 100]);
            journal.rest();
        }
    }
    assert_eq!(journal.head(), written);
    journal.append(&vec![0; 2 * RING]);
    assert!(journal.unsaved().len() <= RING);
}

#[test]
fn a_save_that_was_not_finished_leaves_the_one_before() {
    let mut journal = Journal::create().unwrap();
    for number in 1..=3_u8 {
        journal.append(&[number]);
        journal.save(number.into(), &[number; 50]);
    }
    let torn = Saved { offset: 9, notices: 9, bytes: &[9; 30] };
    assert!(journal.saves.write(4, &torn));
    assert_eq!(reopened(&journal).saved().unwrap().bytes, [3; 50]);
    // One that is too large leaves nothing to go on with, and the ring has room again.
    assert!(!journal.save(4, &vec![0; saves::MAX_SAVE + 1]));
    assert_eq!(reopened(&journal).saved().unwrap().bytes, b"");
}

#[test]
fn what_is_damaged_begins_anew_and_is_never_trusted() {
    let length = std::mem::size_of::<Header>();
    let places = (0..length).chain(SAVES_AT..SAVES_AT + 48);
    for place in places {
        let mut journal = Journal::create().unwrap();
        journal.append(b"some output");
        journal.save(1, b"first");
        journal.save(2, b"second");
        journal.append(b", and more");
        journal.set_told(2);
        // SAFETY: within the mapping, and nobody else uses it.
        unsafe { *journal.map.at(place) ^= 0xa5 };
        let mut next = reopened(&journal);
        let _ = (next.unsaved().len(), next.saved().map(|saved| saved.bytes.len()));
        next.append(b"goes on");
        assert!(next.unsaved().ends_with(b"goes on"), "{place}");
    }
    let short = crate::os::memory::memory_file("t4a-test").unwrap();
    short.set_len(4096).unwrap();
    assert!(Journal::open(short.into()).is_err());
}

#[test]
fn the_memory_for_scrollback_has_one_user_at_a_time() {
    let mut journal = Journal::create().unwrap();
    let mut lent = journal.lend().unwrap();
    lent[SCROLLBACK - 1] = 7;
    assert!(journal.lend().is_none());
    drop(lent);
    let mut next = reopened(&journal);
    assert_eq!(next.lend().unwrap()[SCROLLBACK - 1], 7);
}

#[test]
fn only_a_worker_that_ended_by_itself_while_it_fed_counts() {
    let (journal, me) = (Journal::create().unwrap(), std::process::id());
    let died = |crashed| {
        journal.count_death(crashed);
        journal.begin_feeding()
    };
    assert_eq!(died(Some(me)), 0, "it fed nothing");
    assert_eq!(died(None), 0, "it was killed");
    assert_eq!(died(Some(me + 1)), 0, "it was another one");
    assert_eq!((died(Some(me)), died(Some(me))), (1, 2));
    journal.end_feeding();
    assert_eq!(died(Some(me)), 0);
}

/// Another program reads this memory after an upgrade.
#[test]
fn where_things_lie_has_a_version() {
    let layout = (PLACES, ROOM, size_of::<Header>(), crate::journal::LOG_PLACES);
    let places = [0x0021_0000, 0x0022_0000, 0x0026_0000, 0x0226_0000];
    let log = [0x0021_0000, 0x0022_0000];
    let version_1 = (places, 0x0605_0000, 88, log);
    assert_eq!((layout, crate::journal::VERSION), (version_1, 1), "raise journal::VERSION");
}

#[test]
fn a_program_that_could_not_be_started_is_known_to_the_next_worker() {
    let journal = Journal::create().unwrap();
    assert!(!reopened(&journal).is_unstarted());
    mark_unstarted(journal.fd()).unwrap();
    assert!(journal.is_unstarted() && reopened(&journal).is_unstarted());
}
