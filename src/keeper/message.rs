//! What keeper and worker say to each other: messages of one length, and descriptors beside them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub use crate::os::signal::Exit;

/// The keeper may be older than the worker after an upgrade, so both check this. To be raised with
/// every change of the messages and of the arguments that workers are started with.
pub const VERSION: u32 = 3;
/// Version, operation, slot, and two numbers.
pub const LENGTH: usize = 20;
/// Terminals held at once.
pub const MAX_SLOTS: usize = 4096;

/// A place for one terminal in the keeper. The worker chooses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The process group of the program that the terminal was created with.
    Group,
    /// The programs that read the keyboard now.
    Foreground,
}

/// Why a new program's worker did not take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It could not be started; the system's error number.
    Start(i32),
    Ended(Exit),
    /// It was not ready, or did not serve, within its time.
    Silent,
}

/// From the worker. `Fd` is borrowed when it is sent and owned when it is received.
#[derive(Debug)]
pub enum ToKeeper<Fd = OwnedFd> {
    /// A worker's first word: it runs, and can take over.
    Ready,
    /// It has taken over.
    Serving,
    /// Another program to start workers from: one of it is to take over from the one that says this.
    Upgrade {
        program: Fd,
    },
    Spawn {
        slot: SlotId,
        master: Fd,
        record: Fd,
        slave: Fd,
        spec: Fd,
        status: Fd,
    },
    /// The record of the server itself, for the next worker.
    Keep {
        record: Fd,
    },
    Signal {
        slot: SlotId,
        signal: i32,
        target: Target,
    },
    /// To a keeper that takes over from a dead one: the socket and the worker, what it held for each
    /// terminal, and the end of that. `watch` is a process itself, as it is another one's child.
    Listener {
        fd: Fd,
        pid: u32,
        watch: Fd,
    },
    Adopt {
        slot: SlotId,
        pid: u32,
        exit: Option<Exit>,
        master: Fd,
        record: Fd,
        watch: Option<Fd>,
    },
    End,
    /// The slot is free again; what still runs there gets a hang-up.
    Forget {
        slot: SlotId,
    },
    Shutdown,
}

/// From the keeper. A new worker gets `Listener`, perhaps `Server`, each `Take`, then `End`.
#[derive(Debug)]
pub enum FromKeeper<Fd = OwnedFd> {
    Listener {
        fd: Fd,
    },
    Server {
        record: Fd,
    },
    Take {
        slot: SlotId,
        pid: u32,
        exit: Option<Exit>,
        master: Fd,
        record: Fd,
    },
    End,
    Spawned {
        slot: SlotId,
        pid: u32,
    },
    SpawnFailed {
        slot: SlotId,
        errno: i32,
    },
    Exited {
        slot: SlotId,
        exit: Exit,
    },
    /// A worker of the new program is ready: the present one can go.
    Successor,
    /// There will be none; the present worker stays.
    NoSuccessor {
        why: Unfit,
    },
    /// Before `End`: the last new program was given up.
    FellBack {
        why: Unfit,
    },
    /// The end has begun: when the channel is closed, that is not an accident.
    Part,
}

/// A message as it travels.
#[derive(Debug)]
pub struct Packed<'a> {
    pub bytes: [u8; LENGTH],
    pub fds: Vec<BorrowedFd<'a>>,
}

/// Five numbers: what all messages are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Words {
    op: u32,
    slot: u32,
    a: i32,
    b: i32,
}

impl Words {
    fn op(op: u8) -> Words {
        Words { op: u32::from(op), slot: 0, a: 0, b: 0 }
    }

    fn slot(op: u8, slot: SlotId, a: i32, b: i32) -> Words {
        Words { slot: slot.0, a, b, ..Words::op(op) }
    }

    fn pack<'a>(self, fds: Vec<BorrowedFd<'a>>) -> Packed<'a> {
        let words = [VERSION, self.op, self.slot, self.a.cast_unsigned(), self.b.cast_unsigned()];
        let mut bytes = [0; LENGTH];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Packed { bytes, fds }
    }

    fn unpack(bytes: &[u8]) -> Option<Words> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let mut words = [0; LENGTH / 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes(chunk.try_into().ok()?);
        }
        let [version, op, slot, a, b] = words;
        let words = Words { op, slot, a: a.cast_signed(), b: b.cast_signed() };
        (version == VERSION).then_some(words)
    }

    fn slot_id(self) -> SlotId {
        SlotId(self.slot)
    }
}

impl<Fd: AsFd> ToKeeper<Fd> {
    pub fn pack(&self) -> Packed<'_> {
        match self {
            ToKeeper::Ready => Words::op(b'r').pack(Vec::new()),
            ToKeeper::Serving => Words::op(b'v').pack(Vec::new()),
            ToKeeper::Upgrade { program } => Words::op(b'U').pack(vec![program.as_fd()]),
            ToKeeper::Spawn { slot, master, record, slave, spec, status } => {
                let fds = [master, record, slave, spec, status];
                Words::slot(b'S', *slot, 0, 0).pack(fds.map(AsFd::as_fd).to_vec())
            }
            ToKeeper::Keep { record } => Words::op(b'K').pack(vec![record.as_fd()]),
            ToKeeper::Signal { slot, signal, target } => {
                let foreground = i32::from(*target == Target::Foreground);
                Words::slot(b's', *slot, *signal, foreground).pack(Vec::new())
            }
            ToKeeper::Listener { fd, pid, watch } => {
                let words = Words { a: pid.cast_signed(), ..Words::op(b'L') };
                words.pack(vec![fd.as_fd(), watch.as_fd()])
            }
            ToKeeper::Adopt { slot, pid, exit, master, record, watch } => {
                let words = Words::slot(b'A', *slot, pid.cast_signed(), pack_exit(*exit));
                let fds = [Some(master), Some(record), watch.as_ref()];
                words.pack(fds.into_iter().flatten().map(AsFd::as_fd).collect())
            }
            ToKeeper::End => Words::op(b'E').pack(Vec::new()),
            ToKeeper::Forget { slot } => Words::slot(b'F', *slot, 0, 0).pack(Vec::new()),
            ToKeeper::Shutdown => Words::op(b'Q').pack(Vec::new()),
        }
    }
}

impl ToKeeper {
    /// `None` for what is not a message, or not with the right number of descriptors.
    pub fn unpack(bytes: &[u8], fds: Vec<OwnedFd>) -> Option<ToKeeper> {
        let words = Words::unpack(bytes)?;
        let slot = words.slot_id();
        match u8::try_from(words.op).ok()? {
            b'S' => {
                let [master, record, slave, spec, status] = fds.try_into().ok()?;
                Some(ToKeeper::Spawn { slot, master, record, slave, spec, status })
            }
            b'K' => {
                let [record] = fds.try_into().ok()?;
                Some(ToKeeper::Keep { record })
            }
            b'U' => {
                let [program] = fds.try_into().ok()?;
                Some(ToKeeper::Upgrade { program })
            }
            b'L' => {
                let [fd, watch] = fds.try_into().ok()?;
                Some(ToKeeper::Listener { fd, pid: words.a.cast_unsigned(), watch })
            }
            b'A' => {
                let (pid, exit) = (words.a.cast_unsigned(), unpack_exit(words.b));
                let mut fds = fds.into_iter();
                let (master, record, watch) = (fds.next()?, fds.next()?, fds.next());
                let adopt = ToKeeper::Adopt { slot, pid, exit, master, record, watch };
                fds.next().is_none().then_some(adopt)
            }
            _ if !fds.is_empty() => None,
            b's' => {
                let target = if words.b == 0 { Target::Group } else { Target::Foreground };
                Some(ToKeeper::Signal { slot, signal: words.a, target })
            }
            b'r' => Some(ToKeeper::Ready),
            b'v' => Some(ToKeeper::Serving),
            b'E' => Some(ToKeeper::End),
            b'F' => Some(ToKeeper::Forget { slot }),
            b'Q' => Some(ToKeeper::Shutdown),
            _ => None,
        }
    }

    /// The slot of a `Spawn` whose descriptors were lost on the way, so that it can be answered.
    pub fn slot_of_spawn(bytes: &[u8]) -> Option<SlotId> {
        Words::unpack(bytes).filter(|words| words.op == u32::from(b'S')).map(Words::slot_id)
    }
}

impl<Fd: AsFd> FromKeeper<Fd> {
    pub fn pack(&self) -> Packed<'_> {
        match self {
            FromKeeper::Listener { fd } => Words::op(b'L').pack(vec![fd.as_fd()]),
            FromKeeper::Server { record } => Words::op(b'R').pack(vec![record.as_fd()]),
            FromKeeper::Take { slot, pid, exit, master, record } => {
                let words = Words::slot(b'T', *slot, pid.cast_signed(), pack_exit(*exit));
                words.pack(vec![master.as_fd(), record.as_fd()])
            }
            FromKeeper::End => Words::op(b'E').pack(Vec::new()),
            FromKeeper::Spawned { slot, pid } => {
                Words::slot(b'P', *slot, pid.cast_signed(), 0).pack(Vec::new())
            }
            FromKeeper::SpawnFailed { slot, errno } => {
                Words::slot(b'f', *slot, *errno, 0).pack(Vec::new())
            }
            FromKeeper::Exited { slot, exit } => {
                Words::slot(b'X', *slot, 0, pack_exit(Some(*exit))).pack(Vec::new())
            }
            FromKeeper::Successor => Words::op(b'S').pack(Vec::new()),
            FromKeeper::NoSuccessor { why } => why.words(b'N').pack(Vec::new()),
            FromKeeper::FellBack { why } => why.words(b'B').pack(Vec::new()),
            FromKeeper::Part => Words::op(b'Q').pack(Vec::new()),
        }
    }
}

impl FromKeeper {
    /// `None` for what is not a message, or not with the right number of descriptors.
    pub fn unpack(bytes: &[u8], fds: Vec<OwnedFd>) -> Option<FromKeeper> {
        let words = Words::unpack(bytes)?;
        let (slot, pid, exit) = (words.slot_id(), words.a.cast_unsigned(), unpack_exit(words.b));
        match u8::try_from(words.op).ok()? {
            b'L' => {
                let [fd] = fds.try_into().ok()?;
                Some(FromKeeper::Listener { fd })
            }
            b'R' => {
                let [record] = fds.try_into().ok()?;
                Some(FromKeeper::Server { record })
            }
            b'T' => {
                let [master, record] = fds.try_into().ok()?;
                Some(FromKeeper::Take { slot, pid, exit, master, record })
            }
            _ if !fds.is_empty() => None,
            b'E' => Some(FromKeeper::End),
            b'P' => Some(FromKeeper::Spawned { slot, pid }),
            b'f' => Some(FromKeeper::SpawnFailed { slot, errno: words.a }),
            b'X' => Some(FromKeeper::Exited { slot, exit: exit? }),
            b'S' => Some(FromKeeper::Successor),
            b'N' => Some(FromKeeper::NoSuccessor { why: Unfit::of(words) }),
            b'B' => Some(FromKeeper::FellBack { why: Unfit::of(words) }),
            b'Q' => Some(FromKeeper::Part),
            _ => None,
        }
    }
}

impl Unfit {
    fn words(self, op: u8) -> Words {
        let (a, b) = match self {
            Unfit::Start(errno) => (errno, 0),
            Unfit::Ended(exit) => (0, pack_exit(Some(exit))),
            Unfit::Silent => (0, 0),
        };
        Words { a, b, ..Words::op(op) }
    }

    fn of(words: Words) -> Unfit {
        match (unpack_exit(words.b), words.a) {
            (Some(exit), _) => Unfit::Ended(exit),
            (None, 0) => Unfit::Silent,
            (None, errno) => Unfit::Start(errno),
        }
    }
}

const EXITED: i32 = 1 << 16;
const SIGNALLED: i32 = 1 << 17;
const UNKNOWN: i32 = 1 << 18;

fn pack_exit(exit: Option<Exit>) -> i32 {
    match exit {
        None => 0,
        Some(Exit::Code(code)) => EXITED | (code & 0xff),
        Some(Exit::Signal(signal)) => SIGNALLED | (signal & 0xff),
        Some(Exit::Unknown) => UNKNOWN,
    }
}

fn unpack_exit(word: i32) -> Option<Exit> {
    match word & !0xff {
        EXITED => Some(Exit::Code(word & 0xff)),
        SIGNALLED => Some(Exit::Signal(word & 0xff)),
        UNKNOWN => Some(Exit::Unknown),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(packed: &Packed<'_>) -> Vec<OwnedFd> {
        packed.fds.iter().map(|fd| fd.try_clone_to_owned().unwrap()).collect()
    }

    fn file() -> OwnedFd {
        crate::os::memory::memory_file("t4a-test").unwrap().into()
    }

    fn words(packed: &Packed<'_>) -> (u8, Words, usize) {
        let words = Words::unpack(&packed.bytes).unwrap();
        (u8::try_from(words.op).unwrap(), words, packed.fds.len())
    }

    #[test]
    fn what_the_worker_says_arrives_as_it_was() {
        let slot = SlotId(u32::MAX);
        let fds = || [(); 5].map(|()| file());
        let [master, record, slave, spec, status] = fds();
        let adopt = |exit, watch| {
            let (master, record) = (file(), file());
            ToKeeper::Adopt { slot, pid: 77, exit, master, record, watch }
        };
        let ended = adopt(Some(Exit::Code(3)), None);
        let packed = ended.pack();
        let back = ToKeeper::unpack(&packed.bytes, owned(&packed)).unwrap();
        assert_eq!(words(&back.pack()), words(&packed));
        let all = [
            ToKeeper::Spawn { slot, master, record, slave, spec, status },
            ToKeeper::Ready,
            ToKeeper::Serving,
            ToKeeper::Upgrade { program: file() },
            ToKeeper::Keep { record: file() },
            ToKeeper::Signal { slot, signal: 15, target: Target::Group },
            ToKeeper::Signal { slot, signal: 2, target: Target::Foreground },
            ToKeeper::Listener { fd: file(), pid: 5, watch: file() },
            adopt(None, Some(file())),
            ToKeeper::End,
            ToKeeper::Forget { slot },
            ToKeeper::Shutdown,
        ];
        for message in &all {
            let packed = message.pack();
            let back = ToKeeper::unpack(&packed.bytes, owned(&packed)).unwrap();
            assert_eq!(words(&back.pack()), words(&packed));
            let many = owned(&packed).into_iter().chain([file()]).collect();
            assert!(ToKeeper::unpack(&packed.bytes, many).is_none());
        }
    }

    #[test]
    fn what_the_keeper_says_arrives_as_it_was() {
        let slot = SlotId(0);
        let take = |exit| {
            let (master, record) = (file(), file());
            FromKeeper::Take { slot, pid: 4711, exit, master, record }
        };
        let all = [
            FromKeeper::Listener { fd: file() },
            FromKeeper::Server { record: file() },
            take(None),
            take(Some(Exit::Code(0))),
            take(Some(Exit::Signal(9))),
            FromKeeper::End,
            FromKeeper::Spawned { slot, pid: 77 },
            FromKeeper::SpawnFailed { slot, errno: 11 },
            FromKeeper::Exited { slot, exit: Exit::Code(255) },
            FromKeeper::Successor,
            FromKeeper::NoSuccessor { why: Unfit::Start(8) },
            FromKeeper::NoSuccessor { why: Unfit::Ended(Exit::Code(0)) },
            FromKeeper::FellBack { why: Unfit::Silent },
            FromKeeper::Part,
        ];
        for message in &all {
            let packed = message.pack();
            let back = FromKeeper::unpack(&packed.bytes, owned(&packed)).unwrap();
            assert_eq!(words(&back.pack()), words(&packed));
        }
    }

    #[test]
    fn exits_keep_code_and_signal_apart() {
        for exit in [
            None,
            Some(Exit::Code(0)),
            Some(Exit::Code(9)),
            Some(Exit::Signal(9)),
            Some(Exit::Unknown),
        ] {
            assert_eq!(unpack_exit(pack_exit(exit)), exit);
        }
    }

    #[test]
    fn nonsense_is_no_message() {
        let good = ToKeeper::<OwnedFd>::Forget { slot: SlotId(1) }.pack().bytes;
        let check = |place: usize, value: u8| {
            let mut bad = good;
            bad[place] = value;
            assert!(ToKeeper::unpack(&bad, Vec::new()).is_none(), "{place}");
        };
        check(0, 1);
        check(4, b'?');
        check(5, 1);
        assert!(ToKeeper::unpack(&good[1..], Vec::new()).is_none());
        assert!(ToKeeper::unpack(&[], Vec::new()).is_none());
        let exited = FromKeeper::<OwnedFd>::Exited { slot: SlotId(1), exit: Exit::Code(1) };
        let mut bad = exited.pack().bytes;
        bad[16..].fill(0);
        assert!(FromKeeper::unpack(&bad, Vec::new()).is_none());
    }
}
