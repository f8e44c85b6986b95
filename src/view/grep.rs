//! Lines that match a pattern, with those around them.

use std::collections::VecDeque;

use regex::Regex;

use crate::term::LinesCopy;

/// Bytes of text in one answer; the newest matches are kept.
pub const MAX_BYTES: usize = 8 << 20;

/// What to look for, and where.
pub struct Hunt {
    pub lines: LinesCopy,
    pub pattern: Regex,
    /// At most so many matches, the newest.
    pub last: usize,
    /// Lines before and after each.
    pub context: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub matches: VecDeque<Match>,
    /// How many there are in all.
    pub total: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Match {
    pub line: u64,
    /// Characters of the line before the match, and of the match.
    pub start: usize,
    pub length: usize,
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

impl Hunt {
    pub fn run(&self) -> Found {
        let mut found = Found::default();
        let mut recent: VecDeque<String> = VecDeque::new();
        let mut bytes = 0;
        self.lines.each(|line, text| {
            let open = |m: &&mut Match| m.line < line.0 && m.after.len() < self.context;
            let near = |m: &&mut Match| line.0 - m.line <= self.context as u64;
            // The newest first; there may be more of them than a long line can be copied to.
            for m in found.matches.iter_mut().rev().take_while(near).filter(open) {
                if bytes > MAX_BYTES {
                    break;
                }
                m.after.push(text.to_owned());
                bytes += text.len();
            }
            found.trim(self.last, &mut bytes);
            for at in self.pattern.find_iter(text).filter(|at| !at.is_empty()) {
                found.total += 1;
                let m = Match {
                    line: line.0,
                    start: text[..at.start()].chars().count(),
                    length: at.as_str().chars().count(),
                    text: text.to_owned(),
                    before: recent.iter().cloned().collect(),
                    after: Vec::new(),
                };
                bytes += m.bytes();
                found.matches.push_back(m);
                found.trim(self.last, &mut bytes);
            }
            if self.context > 0 {
                recent.push_back(text.to_owned());
                if recent.len() > self.context {
                    recent.pop_front();
                }
            }
        });
        found
    }
}

impl Found {
    /// Drops the oldest while there are too many, or too long ones; the newest stays.
    fn trim(&mut self, last: usize, bytes: &mut usize) {
        while self.matches.len() > last || (*bytes > MAX_BYTES && self.matches.len() > 1) {
            *bytes -= self.matches.pop_front().map_or(0, |m| m.bytes());
        }
    }
}

impl Match {
    fn bytes(&self) -> usize {
        let around: usize = self.before.iter().chain(&self.after).map(String::len).sum();
        self.text.len() + around
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Limits, Size, Terminal};

    fn found(pattern: &str, last: usize, context: usize) -> String {
        let mut term =
            Terminal::new(Size { cols: 8, rows: 2 }, Limits { lines: 100, bytes: 1 << 20 });
        term.feed(b"one\r\ntwo\r\nthree\r\ntwo two\r\nend", &mut Vec::new());
        let pattern = Regex::new(pattern).unwrap();
        let found = Hunt { lines: term.copy_lines(), pattern, last, context }.run();
        let told = found
            .matches
            .iter()
            .map(|m| format!("{}:{}+{} {:?}{:?}", m.line, m.start, m.length, m.before, m.after));
        format!("{} of {}", told.collect::<Vec<_>>().join(" "), found.total)
    }

    #[test]
    fn matches_come_with_their_places_and_neighbours() {
        assert_eq!(found("tw.", 9, 0), "1:0+3 [][] 3:0+3 [][] 3:4+3 [][] of 3");
        assert_eq!(found("tw.", 1, 0), "3:4+3 [][] of 3");
        assert_eq!(found("three", 9, 1), r#"2:0+5 ["two"]["two two"] of 1"#);
        assert_eq!(found("one", 9, 2), r#"0:0+3 []["two", "three"] of 1"#);
        assert_eq!(found("x*", 9, 2), " of 0");
    }

    /// Many matches with a long line after them were once copied without end.
    #[test]
    fn text_of_matches_is_bounded_and_the_newest_stay() {
        let hunt = |lines: usize, context: usize| {
            let size = Size { cols: 1024, rows: 2 };
            let mut term = Terminal::new(size, Limits { lines: 100_000, bytes: 32 << 20 });
            let line = format!("x{}\r\n", "y".repeat(1023));
            term.feed(line.repeat(lines).as_bytes(), &mut Vec::new());
            let pattern = Regex::new("x").unwrap();
            let found = Hunt { lines: term.copy_lines(), pattern, last: 10_000, context }.run();
            let bytes: usize = found.matches.iter().map(Match::bytes).sum();
            assert!(bytes <= MAX_BYTES, "{bytes}");
            assert_eq!(found.total, lines);
            assert_eq!(found.matches.back().map(|m| m.line), Some(lines as u64 - 1));
            found.matches.len()
        };
        let fit = MAX_BYTES / 1024;
        assert_eq!(hunt(fit, 0), fit);
        assert_eq!(hunt(fit + 1, 0), fit);
        assert!(hunt(1000, 100) < 100, "with those around them there are fewer");
    }

    #[test]
    fn a_long_line_after_many_matches_is_not_copied_to_all_of_them() {
        let mut term =
            Terminal::new(Size { cols: 1024, rows: 2 }, Limits { lines: 100, bytes: 32 << 20 });
        let many = "x ".repeat(500) + "\r\n";
        term.feed(many.repeat(10).as_bytes(), &mut Vec::new());
        term.feed("y".repeat(4 << 20).as_bytes(), &mut Vec::new());
        let pattern = Regex::new("x").unwrap();
        let found = Hunt { lines: term.copy_lines(), pattern, last: 10_000, context: 100 }.run();
        let bytes: usize = found.matches.iter().map(Match::bytes).sum();
        assert!(bytes <= MAX_BYTES + (4 << 20), "{bytes}");
        assert_eq!(found.total, 5000);
    }
}
