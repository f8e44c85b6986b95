//! What marks of shell integration mean on the grid: where input began and output lies.

use super::LineNo;
use super::marks::{self, MAX_COMMAND, Mark};
use super::notice::Notice;
use super::save::saved;
use super::state::State;
use std::ops::Range;

/// A place that scrolling and reflow do not change: a line and the columns before it in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Spot {
    line: u64,
    offset: usize,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shell {
    input: Option<Spot>,
    output: Option<u64>,
    /// Where output ended, told by a shell that draws something of its own before it says so.
    end: Option<Spot>,
}

saved!(struct Spot { line, offset });
saved!(struct Shell { input, output, end });

impl State {
    pub fn shell_osc(&mut self, params: &[&[u8]]) {
        let mut marks = Vec::new();
        let before = self.marks.running().map(str::to_owned);
        self.marks.osc(params, &mut marks);
        marks.into_iter().for_each(|mark| self.mark(mark, before.clone()));
    }

    fn mark(&mut self, mark: Mark, running: Option<String>) {
        match mark {
            Mark::PromptStart => {
                let y = self.screen.point.row;
                self.screen.touch(y).prompt = true;
            }
            Mark::InputStart { first } => {
                self.shell.input = Some(self.spot());
                if first {
                    self.notices.push(Notice::Prompt);
                }
            }
            Mark::CommandStart { command } => self.command_start(command),
            Mark::CommandDone { code, key } => {
                let (output, cut) = self.output().unzip();
                let (command, cut) = (running, cut.flatten());
                self.notices.push(Notice::CommandDone { code, key, command, output, cut });
            }
            Mark::OutputEnd => self.shell.end = Some(self.spot()),
        }
    }

    fn command_start(&mut self, command: Option<String>) {
        let command = command.or_else(|| self.typed()).filter(|c| !c.is_empty());
        if let (None, Some(command)) = (self.marks.running(), &command) {
            self.marks.set_running(command.clone());
        }
        self.shell.input = None;
        self.shell.end = None;
        let here = self.spot();
        self.shell.output = Some(here.line + u64::from(here.offset > 0));
        self.notices.push(Notice::CommandStart { command });
    }

    /// Lines of output from the command's start to the cursor, and where the last one is cut.
    fn output(&mut self) -> Option<(Range<LineNo>, Option<usize>)> {
        let end = self.shell.end.take();
        let first = self.shell.output.take()?;
        let here = end.unwrap_or_else(|| self.spot());
        let end = here.line + u64::from(here.offset > 0);
        let cut = (here.offset > 0 && here.line >= first).then_some(here.offset);
        Some((LineNo(first)..LineNo(end.max(first)), cut))
    }

    /// The line in which output of the command that runs began.
    pub fn output_began(&self) -> Option<LineNo> {
        self.shell.output.map(LineNo)
    }

    /// The line of the cursor, as it is now.
    pub fn cursor_line(&self) -> LineNo {
        LineNo(self.spot().line)
    }

    /// The line in which the input at a prompt begins.
    pub fn input_began(&self) -> Option<LineNo> {
        self.shell.input.map(|input| LineNo(input.line))
    }

    /// Something stands between the start of the input and the cursor.
    pub fn has_typed(&self) -> bool {
        self.shell.input.is_some_and(|input| input != self.spot())
    }

    /// Where the cursor is in its line.
    fn spot(&self) -> Spot {
        let screen = &self.screen;
        let (mut line, mut offset) = (screen.top_line(), 0);
        if !screen.alt {
            let goes_on = |(_, record): &(u64, super::pack::Record<'_>)| record.wraps();
            let rows = screen.scrollback.backwards().take_while(goes_on);
            offset = rows.map(|(_, record)| record.cells()).sum();
        }
        for y in 0..screen.point.row {
            let row = screen.grid.row(y);
            if row.wraps {
                let gaps = (0..screen.cols).filter(|col| row.cell(*col).is_gap()).count();
                offset += screen.cols - gaps;
            } else {
                line += 1;
                offset = 0;
            }
        }
        let pending = usize::from(screen.point.pending);
        Spot { line, offset: offset + screen.point.col + pending }
    }

    /// The text between the start of the input and the cursor.
    fn typed(&self) -> Option<String> {
        let from = self.shell.input?;
        let to = self.spot();
        if (to.line, to.offset) < (from.line, from.offset) {
            return None;
        }
        let mut text = String::new();
        let (mut line, mut offset) = (from.line, 0);
        for (number, row) in self.screen.live_rows_from(from.line) {
            if number > to.line || text.len() > MAX_COMMAND {
                break;
            }
            if number != line {
                (line, offset) = (number, 0);
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
            }
            row.each_cluster(|cluster, width| {
                let at = Spot { line: number, offset };
                if (at.line, at.offset) >= (from.line, from.offset)
                    && (at.line, at.offset) < (to.line, to.offset)
                {
                    text.push_str(cluster);
                }
                offset += width;
            });
        }
        Some(marks::clean(text.trim().as_bytes(), MAX_COMMAND))
    }
}
