//! What a run is answered with: its end, and its output.

use std::ops::Range;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::{Done, Run};
use crate::mux::Terminal;
use crate::mux::limits::MAX_LINE_CHARS;
use crate::term::LineNo;
use crate::view::text;
use crate::wire::{Code, Failure};

impl Run {
    /// The shell refused the line, perhaps with a word about it.
    pub fn nothing_ran(&self, terminal: &Terminal) -> Failure {
        let end = terminal.grid.input_began().unwrap_or(self.typed.line);
        let said = text::output(&terminal.grid, self.typed.line..end, None, MAX_LINE_CHARS);
        let said: Vec<_> = said.iter().map(|row| row.text.as_str()).collect();
        let error = match said.is_empty() {
            true => "run: nothing ran: the shell shows its prompt again".to_owned(),
            false => format!("run: nothing ran, and the shell says: {}", said.join(" / ")),
        };
        Failure::new(Code::Incomplete, error)
    }

    pub fn body(&self, terminal: &Terminal, by: &'static str, now: Instant) -> Map<String, Value> {
        let grid = &terminal.grid;
        let (lines, cut) = self.output(terminal, by);
        let shown = self.shown(terminal, lines.clone(), cut);
        let since = self.started.or(self.typed.at).unwrap_or(now);
        let duration = now.saturating_duration_since(since).as_millis() as u64;
        let mut body = Map::new();
        let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
        put("id", json!(terminal.id().to_string()));
        put("code", json!(self.done.as_ref().and_then(|done| done.code)));
        put("duration_ms", json!(self.done.as_ref().map_or(duration, |done| done.duration_ms)));
        put("cwd", json!(grid.cwd().map(|cwd| &cwd.path)));
        put("ended_by", json!(by));
        put("timed_out", json!(by == "timeout"));
        put("output_lines", json!([lines.start.0, lines.end.0]));
        put("lines", json!(shown.lines));
        put("seq", json!(self.seq));
        if let Some(gap) = shown.gap {
            let count = gap.end.0 - gap.start.0;
            let lines = [gap.start.0, gap.end.0];
            put("left_out", json!({ "at": shown.at, "count": count, "lines": lines }));
        }
        if let Some(exit) = terminal.exit() {
            put("exit_code", json!(exit.code()));
        }
        if by == "timeout" {
            let rows = text::viewport(grid).into_iter();
            put("screen", rows.map(|row| json!(row.text.trim_end_matches(' '))).collect());
        }
        body
    }

    /// The lines of output, and where the last one is cut.
    fn output(&self, terminal: &Terminal, by: &'static str) -> (Range<LineNo>, Option<usize>) {
        let grid = &terminal.grid;
        if let Some(Done { output: Some(output), cut, .. }) = &self.done {
            return (output.clone(), *cut);
        }
        let first = grid.output_began().filter(|_| self.started.is_some());
        let first = first.unwrap_or(self.typed.line);
        let cursor = grid.cursor_line();
        let at_cursor = text::output(grid, cursor..LineNo(cursor.0 + 1), None, MAX_LINE_CHARS);
        let at_cursor = at_cursor.first().map_or("", |row| row.text.trim_end());
        let found = self.scan.as_ref().and_then(|scan| scan.found()).and_then(|f| f.get("line"));
        let is_prompt = match by {
            "shell" => true,
            "until" => found.and_then(Value::as_u64) == Some(cursor.0),
            _ => at_cursor == self.typed.prompt,
        };
        let end = if at_cursor.is_empty() || is_prompt { cursor.0 } else { cursor.0 + 1 };
        (first..LineNo(end.max(first.0)), None)
    }

    /// The head and the tail of so many lines, with what lies between them left out.
    fn shown(&self, terminal: &Terminal, lines: Range<LineNo>, cut: Option<usize>) -> Shown {
        let grid = &terminal.grid;
        let (most, total) = (self.asked.max_lines, (lines.end.0 - lines.start.0) as usize);
        let head_most = if total > most { most.div_ceil(2) } else { total };
        let held = grid.lines().start;
        // What was read before comes first; the rest is still there or has been dropped.
        let mut head: Vec<_> = self.head.iter().filter(|row| lines.contains(&row.line)).collect();
        head.truncate(head_most);
        let head_end = head.last().map_or(lines.start, |row| LineNo(row.line.0 + 1));
        let read_to = LineNo(lines.start.0 + head_most as u64);
        let cut_at = |end: LineNo| cut.filter(|_| end == lines.end);
        let more = match head_end >= held && head_end < read_to {
            true => text::output(grid, head_end..read_to, cut_at(read_to), MAX_LINE_CHARS),
            false => Vec::new(),
        };
        let head: Vec<_> = head.into_iter().chain(&more).map(|row| row.text.clone()).collect();
        let next = LineNo(lines.start.0 + head.len() as u64);
        let tail = LineNo(lines.end.0 - (most - head.len()).min(total - head.len()) as u64);
        let tail = tail.max(held).max(next).min(lines.end);
        let rows = text::output(grid, tail..lines.end, cut, MAX_LINE_CHARS);
        let at = head.len();
        let lines = head.into_iter().chain(rows.into_iter().map(|row| row.text)).collect();
        Shown { lines, at, gap: (next < tail).then_some(next..tail) }
    }
}

struct Shown {
    lines: Vec<String>,
    /// The place in `lines` where lines are left out.
    at: usize,
    gap: Option<Range<LineNo>>,
}
