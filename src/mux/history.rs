//! The commands that were run in a terminal, as its shell reported them.

use std::collections::VecDeque;

use serde::Serialize;

use super::limits::MAX_COMMANDS;

/// One command that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandRecord {
    /// Counts from 1 in each terminal.
    pub number: u64,
    pub command: Option<String>,
    pub code: Option<i32>,
    pub duration_ms: Option<u64>,
    pub cwd: Option<String>,
    /// Lines of output: from the first up to, not including, the second.
    pub output_lines: Option<[u64; 2]>,
    /// Columns of the last of them that are output, if it has no end.
    #[serde(skip)]
    pub cut: Option<usize>,
    pub trusted: bool,
}

impl CommandRecord {
    pub fn failed(&self) -> bool {
        self.code.is_some_and(|code| code != 0)
    }
}

/// The last commands of a terminal.
#[derive(Debug, Default)]
pub struct History {
    records: VecDeque<CommandRecord>,
}

impl History {
    pub fn push(&mut self, record: CommandRecord) {
        if self.records.len() == MAX_COMMANDS {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }

    /// Numbers them such that the last one has this number, or the one that it must have at least;
    /// which that is.
    pub fn number(&mut self, last: u64) -> u64 {
        let last = last.max(self.records.len() as u64);
        for (record, number) in self.records.iter_mut().rev().zip((1..=last).rev()) {
            record.number = number;
        }
        last
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &CommandRecord> {
        self.records.iter()
    }
}
