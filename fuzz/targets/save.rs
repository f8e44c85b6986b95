//! Saves: restored, and fed the rest, they are what they would have been; damaged ones are
//! refused or do no harm, and so does damaged memory.

use super::term::{self, LIMITS, SIZE, Turn};
use t4a::term::{LineNo, Memory, Terminal, reseal};
use t4a::view::text;

/// Enough for what one input writes, so that no page is used again.
const MEMORY: usize = 1 << 19;

pub fn run(data: &[u8]) {
    let [kind, at, place, value, rest @ ..] = data else { return };
    let turns: Vec<Turn<'_>> = term::turns(rest).collect();
    let at = usize::from(*at) % (turns.len() + 1);
    if kind % 2 == 0 {
        same(&turns, at);
    } else {
        damaged(&turns, at, usize::from(*place) << 4 | usize::from(kind >> 4), *value);
    }
}

fn new() -> Terminal {
    Terminal::with_memory(SIZE, LIMITS.lines, Memory::lent(vec![0; MEMORY]))
}

fn feed(terminal: &mut Terminal, turns: &[Turn<'_>]) -> usize {
    let mut notices = Vec::new();
    for turn in turns {
        terminal.feed(turn.bytes, &mut notices);
        turn.resize.into_iter().for_each(|size| terminal.resize(size));
    }
    notices.len()
}

fn save(terminal: &Terminal) -> Vec<u8> {
    let mut out = Vec::new();
    terminal.save(&mut out);
    out
}

fn same(turns: &[Turn<'_>], at: usize) {
    let mut straight = new();
    feed(&mut straight, &turns[..at]);
    let told = feed(&mut straight, &turns[at..]);
    let mut first = new();
    feed(&mut first, &turns[..at]);
    let bytes = save(&first);
    feed(&mut first, &turns[at..]);
    let mut second = Terminal::restore(&bytes, first.into_memory()).expect("our own save");
    assert_eq!(feed(&mut second, &turns[at..]), told);
    assert!(straight == second, "the restored terminal is another");
}

/// A byte of the save, or of the memory, is changed; the checksum is put right.
fn damaged(turns: &[Turn<'_>], at: usize, place: usize, value: u8) {
    let mut terminal = new();
    feed(&mut terminal, &turns[..at]);
    let mut bytes = save(&terminal);
    let mut memory = vec![0; MEMORY];
    if place.is_multiple_of(3) {
        memory.fill(value);
    } else {
        let place = place % bytes.len();
        bytes[place] = value;
        assert!(Terminal::restore(&bytes[..place], Memory::own(MEMORY)).is_err());
        reseal(&mut bytes);
    }
    let memory =
        if place.is_multiple_of(2) { Memory::lent(memory) } else { terminal.into_memory() };
    if let Ok(mut restored) = Terminal::restore(&bytes, memory) {
        feed(&mut restored, &turns[at..]);
        text::viewport(&restored);
        text::lines(&restored, LineNo(0), 100);
        text::rows_above(&restored, 0, 100);
    }
}
