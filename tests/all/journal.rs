//! The journal's way of reading, with kills at random: each byte is there, once. Another way is not
//! as good, which shows that this would be seen.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use t4a::journal::Journal;
use t4a::os::pty::{self, Read};
use t4a::term::Size;

use crate::support::eventually;

const KILLS: u32 = 60;
/// Of the other way: about every second one does harm.
const MAX_KILLS: u32 = 400;
/// What a reader does in the kills' process: it is this program, told so by this variable.
const ROLE: &str = "T4A_TEST_READER";
const TORN: i32 = 9;
/// So much was written before the reader is killed: it has read, and reads on.
const BEGUN: u64 = 64 << 10;

/// The byte at a place of the stream; never a control character.
fn byte_at(place: u64) -> u8 {
    let mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    b'!' + (mixed % 90) as u8
}

fn is_whole(journal: &Journal) -> bool {
    let bytes = journal.unsaved();
    let start = journal.head() - bytes.len() as u64;
    bytes.iter().zip(start..).all(|(byte, place)| *byte == byte_at(place))
}

/// Not a test: the process that reads until it is killed. The PTY is its standard input, the journal
/// its standard error.
#[test]
fn reader() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let master = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let memory = std::io::stderr().as_fd().try_clone_to_owned().unwrap();
    let mut journal = Journal::open(memory).unwrap();
    loop {
        t4a::os::poll::wait(&[master.as_fd()], None, None).unwrap();
        match role.as_str() {
            "exact" => {
                while journal.read(master.as_fd()) != Read::WouldBlock && save(&mut journal) {}
            }
            _ => read_plainly(&mut journal, &master),
        }
        save(&mut journal);
    }
}

/// Read, then write down: what is killed in between is gone.
fn read_plainly(journal: &mut Journal, master: &OwnedFd) {
    let mut buffer = [0; 4096];
    if let Read::Data(count) = pty::read(master.as_fd(), &mut buffer) {
        journal.append(&buffer[..count]);
    }
}

/// Makes room after a look at what is there.
fn save(journal: &mut Journal) -> bool {
    if journal.is_filling() {
        if !is_whole(journal) {
            std::process::exit(TORN);
        }
        journal.save(0, b"");
    }
    true
}

fn start_reader(role: &str, master: &OwnedFd, journal: &Journal) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "journal::reader", "--nocapture"])
        .env(ROLE, role)
        .stdin(Stdio::from(master.try_clone().unwrap()))
        .stderr(Stdio::from(journal.fd().try_clone_to_owned().unwrap()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Writes the stream until it is told to stop.
fn write_stream(slave: OwnedFd, written: &AtomicU64, stop: &AtomicBool) {
    let mut slave = std::fs::File::from(slave);
    while !stop.load(Ordering::Relaxed) {
        let start = written.load(Ordering::Relaxed);
        let chunk: Vec<u8> = (start..start + 1000).map(byte_at).collect();
        if slave.write_all(&chunk).is_err() {
            return;
        }
        written.store(start + 1000, Ordering::Relaxed);
    }
}

/// Kills readers until the stream is torn; how many of how many at most.
fn kill_readers(role: &str, most: u32) -> u32 {
    let pty = pty::open(Size { cols: 80, rows: 24 }).unwrap();
    let (written, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let writer = {
        let (slave, written, stop) = (pty.slave, written.clone(), stop.clone());
        std::thread::spawn(move || write_stream(slave, &written, &stop))
    };
    let mut journal = Journal::create().unwrap();
    let mut kills = 0;
    while kills < most {
        let before = written.load(Ordering::Relaxed);
        let mut child = start_reader(role, &pty.master, &journal);
        eventually("the reader reads", || {
            written.load(Ordering::Relaxed) > before + BEGUN || child.try_wait().unwrap().is_some()
        });
        let pause = u64::from(kills).wrapping_mul(0x9e37_79b9) % 3000;
        std::thread::sleep(Duration::from_micros(pause));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(status.signal().is_some() || status.code() == Some(TORN), "{status}");
        kills += 1;
        journal = Journal::open(journal.fd().try_clone_to_owned().unwrap()).unwrap();
        if status.code() == Some(TORN) || !is_whole(&journal) {
            break;
        }
        journal.save(0, b"");
    }
    stop.store(true, Ordering::Relaxed);
    // The writer sees the end when nobody holds the other side.
    drop(pty.master);
    writer.join().unwrap();
    kills
}

#[test]
fn a_reader_that_is_killed_loses_nothing() {
    assert_eq!(kill_readers("exact", KILLS), KILLS, "the stream is torn");
}

#[test]
fn reading_and_then_writing_down_does_lose_something() {
    assert!(kill_readers("plain", MAX_KILLS) < MAX_KILLS, "the check sees nothing");
}
