//! Saved, restored and fed what came after: the same as if nothing had happened.

use super::props::{Bytes, size, stream};
use crate::term::check::{fed, run};
use crate::term::{Limits, LineNo, Memory, Notice, Refused, Size, Terminal, reseal};
use crate::view::text;
use proptest::prelude::*;

/// One step of a terminal's life.
#[derive(Clone, Debug)]
enum Step {
    Feed(Bytes),
    Resize(u16, u16),
    EndSync,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => stream().prop_map(Step::Feed),
        2 => size().prop_map(|(cols, rows)| Step::Resize(cols, rows)),
        1 => Just(Step::EndSync),
    ]
}

fn take(term: &mut Terminal, steps: &[Step]) -> Vec<Notice> {
    let mut notices = Vec::new();
    for step in steps {
        match step {
            Step::Feed(Bytes(bytes)) => term.feed(bytes, &mut notices),
            Step::Resize(cols, rows) => term.resize(Size { cols: *cols, rows: *rows }),
            Step::EndSync => term.end_sync(),
        }
    }
    notices
}

/// The steps up to a byte of their output, and the rest.
fn cut(steps: &[Step], at: usize) -> (Vec<Step>, Vec<Step>) {
    let (mut head, mut tail, mut left) = (Vec::new(), Vec::new(), at);
    for step in steps {
        match step {
            _ if !tail.is_empty() => tail.push(step.clone()),
            Step::Feed(Bytes(bytes)) if bytes.len() > left => {
                let (one, two) = bytes.split_at(left);
                head.push(Step::Feed(Bytes(one.to_vec())));
                tail.push(Step::Feed(Bytes(two.to_vec())));
            }
            Step::Feed(Bytes(bytes)) => {
                left -= bytes.len();
                head.push(step.clone());
            }
            _ => head.push(step.clone()),
        }
    }
    (head, tail)
}

fn lent(bytes: usize) -> Memory {
    Memory::lent(vec![0; bytes])
}

fn saved(term: &Terminal) -> Vec<u8> {
    let mut out = Vec::new();
    term.save(&mut out);
    out
}

/// A terminal of this size over memory of its own, saved after `head`. Whoever goes on with
/// `tail`, the first one or, after it, one restored to that point, comes out the same.
#[track_caller]
fn goes_on((cols, rows): (u16, u16), lines: u32, bytes: usize, head: &[Step], tail: &[Step]) {
    let mut straight = Terminal::with_memory(Size { cols, rows }, lines, lent(bytes));
    take(&mut straight, head);
    let told = take(&mut straight, tail);
    let mut first = Terminal::with_memory(Size { cols, rows }, lines, lent(bytes));
    take(&mut first, head);
    let save = saved(&first);
    take(&mut first, tail);
    let mut second = Terminal::restore(&save, first.into_memory()).expect("a good save");
    let told_again = take(&mut second, tail);
    assert_eq!(told, told_again);
    assert!(straight == second, "{}", difference(&straight, &second));
    assert_eq!(saved(&straight).len(), saved(&second).len());
}

/// The first lines in which two terminals are told apart.
fn difference(one: &Terminal, other: &Terminal) -> String {
    if one.lines() != other.lines() {
        return format!("{:?} {:?}", one.lines(), other.lines());
    }
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let lines = one.lines().zip(other.lines()).enumerate();
    let differ = lines.filter(|(_, (a, b))| a != b).take(12);
    differ.map(|(at, (a, b))| format!("{at}: {} | {}\n", a.trim(), b.trim())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_restored_terminal_goes_on_as_if_nothing_had_happened(
        size in size(),
        lines in prop_oneof![Just(0u32), Just(3), Just(1000)],
        steps in prop::collection::vec(step(), 1..6),
        at in 0usize..400,
    ) {
        let (head, tail) = cut(&steps, at);
        goes_on(size, lines, 1 << 18, &head, &tail);
    }

    #[test]
    fn a_save_that_was_changed_is_refused(
        Bytes(bytes) in stream(),
        place in any::<prop::sample::Index>(),
        change in 1u8..=255,
    ) {
        let save = saved(&fed((9, 4), bytes));
        let at = place.index(save.len());
        let mut changed = save.clone();
        changed[at] ^= change;
        prop_assert!(Terminal::restore(&changed, lent(1 << 18)).is_err());
        prop_assert!(Terminal::restore(&save[..at], lent(1 << 18)).is_err());
    }

    /// Past the checksum too, nothing is taken on trust.
    #[test]
    fn a_save_with_a_right_checksum_and_wrong_content_does_no_harm(
        Bytes(bytes) in stream(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        Bytes(more) in stream(),
    ) {
        let term = fed((9, 4), bytes);
        let mut save = saved(&term);
        for (place, value) in places {
            let at = place.index(save.len());
            save[at] = value;
        }
        reseal(&mut save);
        if let Ok(mut term) = Terminal::restore(&save, term.into_memory()) {
            term.feed(&more, &mut Vec::new());
            term.resize(Size { cols: 5, rows: 3 });
            text::lines(&term, LineNo(0), usize::MAX);
            saved(&term);
        }
    }

    #[test]
    fn bytes_from_anywhere_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Terminal::restore(&bytes, lent(1 << 18)).is_err());
    }
}

fn feed(text: impl Into<Vec<u8>>) -> Step {
    Step::Feed(Bytes(text.into()))
}

/// Lines that can be told apart, more than a page of them.
fn numbered(lines: std::ops::Range<usize>) -> Step {
    feed(lines.map(|n| format!("line {n} of many\r\n")).collect::<String>())
}

#[test]
fn within_sequences_strings_and_characters() {
    let whole = "a\x1b[1;31mb\x1b]2;title\x07c\x1bP$qm\x1b\\d日e\x1b[?\n25;4l\x1b(0q\x1b_Gx\x1b\\\x1b[38:2::1:2:3;4:3mz\x1b[1$;x\x1b]8;id=1;http://x\x1b\\l";
    let string = "\x1b]52;c;".to_owned() + &"QUJD".repeat(20_000) + "\x07";
    let sixel = "\x1bPq".to_owned() + &"#0;2;0;0;0".repeat(1000) + "\x1b\\";
    for text in [whole, &string, &sixel] {
        let step = (text.len() / 97).max(1);
        for at in (0..text.len()).step_by(step) {
            let (head, tail) = text.as_bytes().split_at(at);
            goes_on((20, 5), 100, 1 << 18, &[feed(head)], &[feed(tail)]);
        }
    }
}

#[test]
fn all_that_is_not_on_the_screen_comes_back() {
    let text = "\x1b]2;one\x07\x1b[22t\x1b]2;two\x07\x1b]7;file://h/tmp\x07\x1b[>5u\x1b[>4;2m\x1b]4;1;#123456\x07\
        \x1b]11;red\x07\x1b[3g\x1b[5C\x1bH\x1b[?69h\x1b[2;4r\x1b[2;8s\x1b[?6h\x1b7\x1b[?1049h\x1b[1\"q\x1b)0\
        \x1b[?2026hdrawn\x1b[4 q\x1b[2*x\x1b]133;A;aid=7\x07$ \x1b]133;B\x07ls\x1b]133;C\x07\x1b[?1003;1006;2004h";
    let (term, _) = run((20, 5), text);
    let back = Terminal::restore(&saved(&term), lent(1 << 18)).unwrap();
    assert_eq!(term, back);
    assert_eq!((back.title(), back.running_command()), ("two", Some("ls")));
    assert!(back.in_sync() && back.modes().alt_screen() && back.keyboard_flags() == 0);
    assert_eq!(back.cwd().unwrap().path, "/tmp");
}

/// The memory went on past the save: all its pages were used again, some of them, or none.
#[test]
fn rows_that_were_overwritten_since_are_dropped_and_never_shown() {
    for more in [10, 3_000, 4_000, 6_000, 9_000, 40_000] {
        let (head, tail) = ([numbered(0..5_000)], [numbered(5_000..5_000 + more)]);
        goes_on((40, 5), 1_000_000, 3 << 16, &head, &tail);
        let mut term = Terminal::with_memory(Size { cols: 40, rows: 5 }, 1_000_000, lent(3 << 16));
        take(&mut term, &head);
        let save = saved(&term);
        take(&mut term, &tail);
        let back = Terminal::restore(&save, term.into_memory()).unwrap();
        assert_eq!(back.lines().end, LineNo(5_001));
        for row in text::lines(&back, LineNo(0), usize::MAX).iter().rev().skip(1) {
            assert_eq!(row.text, format!("line {} of many", row.line.0));
        }
    }
}

/// A resize takes rows back and writes them anew; what the save tells of stays where it was.
#[test]
fn a_save_outlives_the_resize_after_it() {
    let mut term = Terminal::with_memory(Size { cols: 40, rows: 5 }, 10_000, lent(1 << 20));
    take(&mut term, &[numbered(0..300)]);
    let (save, lines) = (saved(&term), text::lines(&term, LineNo(0), usize::MAX));
    for (cols, rows) in [(3, 20), (80, 50), (7, 2), (40, 9)] {
        term.resize(Size { cols, rows });
        take(&mut term, &[feed("x\r\ny\r\n")]);
    }
    let back = Terminal::restore(&save, term.into_memory()).unwrap();
    assert_eq!(text::lines(&back, LineNo(0), usize::MAX), lines);
}

#[test]
fn without_its_memory_a_terminal_has_its_screen_and_numbers() {
    let term = fed((40, 5), "x\r\n".repeat(300) + "last");
    let back = Terminal::restore(&saved(&term), Memory::own(1 << 20)).unwrap();
    assert_eq!(back.lines(), LineNo(296)..LineNo(301));
    assert_eq!(text::viewport(&back), text::viewport(&term));
}

#[test]
fn why_a_save_is_refused_is_said() {
    let save = saved(&fed((40, 5), "x\r\n".repeat(300)));
    let why = |bytes: &[u8], memory: usize| {
        let refused: Refused = Terminal::restore(bytes, lent(memory)).unwrap_err();
        refused.to_string()
    };
    let changed = |at: usize| {
        let mut bytes = save.clone();
        bytes[at] ^= 1;
        bytes
    };
    assert!(why(&changed(0), 1 << 20).ends_with("it is none of ours"));
    assert!(why(&changed(8), 1 << 20).ends_with("it is of another version"));
    assert!(why(&changed(99), 1 << 20).ends_with("it is damaged"));
    assert!(why(&save[..99], 1 << 20).ends_with("it is cut"));
    assert!(why(b"", 1 << 20).ends_with("it is none of ours"));
    assert!(why(&[&save[..], b"x"].concat(), 1 << 20).ends_with("something follows it"));
    let mut term = Terminal::with_memory(Size { cols: 40, rows: 5 }, 1_000_000, lent(1 << 20));
    take(&mut term, &[numbered(0..30_000)]);
    assert!(why(&saved(&term), 1 << 18).ends_with("it tells of more memory than there is"));
}

/// A length that lies must not make us take memory.
#[test]
fn a_list_is_never_longer_than_the_bytes_that_are_left() {
    let mut save = saved(&fed((9, 4), "x"));
    for at in 16..save.len() - 8 {
        let kept = save[at];
        save[at] = 0xff;
        reseal(&mut save);
        drop(Terminal::restore(&save, lent(1 << 18)));
        save[at] = kept;
    }
}

/// The save of a fixed terminal. If this fails what is saved has changed: raise VERSION.
#[test]
fn the_format_is_the_one_of_its_version() {
    let text = "\x1b[1;38;5;9;48;2;1;2;3;4:3mb日\x1b]8;;http://x\x07e\u{301}\x1b[m\r\n\x1b[?1049h\x1b[?2026hz\x1b[";
    let mut term = Terminal::with_memory(Size { cols: 8, rows: 3 }, 9, lent(1 << 17));
    term.feed(text.repeat(9).as_bytes(), &mut Vec::new());
    let save = saved(&term);
    let sum = u64::from_le_bytes(save[save.len() - 8..].try_into().unwrap());
    assert_eq!(
        (crate::term::SAVE_VERSION, save.len(), format!("{sum:016x}")),
        (3, 947, "821668ce33ec7b6c".into())
    );
}

#[test]
fn a_save_of_an_ordinary_screen_is_small() {
    let term = fed((80, 24), "ordinary text of a shell\r\n".repeat(5000));
    assert!(saved(&term).len() < 12_000, "{}", saved(&term).len());
    let full = fed((80, 24), "x".repeat(80 * 30));
    assert!(saved(&full).len() < 20_000, "{}", saved(&full).len());
}

#[test]
fn memory_of_our_own_is_taken_as_it_is_needed() {
    let limits = Limits { lines: 1_000_000, bytes: 64 << 20 };
    let mut term = Terminal::new(Size { cols: 80, rows: 24 }, limits);
    assert_eq!(term.scrollback_bytes(), 0);
    term.feed("x\r\n".repeat(100).as_bytes(), &mut Vec::new());
    assert!(term.scrollback_bytes() <= 64 << 10, "{}", term.scrollback_bytes());
}
