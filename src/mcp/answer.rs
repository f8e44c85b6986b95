//! What a model reads: a line of facts, then text, within bounds.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::client::Trouble;
use crate::mux::limits::{MAX_MCP_LINE, MAX_MCP_TEXT};

/// Facts and text; an answer of the server made fit for a model.
#[derive(Debug, Default)]
pub struct Told {
    pub facts: Map<String, Value>,
    pub text: Option<String>,
    /// A PNG in base64.
    pub picture: Option<String>,
}

impl Told {
    /// The fields of an answer that a model has use for.
    pub fn of(answer: &Value, fields: &[&str]) -> Told {
        let kept = fields.iter().filter_map(|field| {
            let value = answer.get(*field).filter(|value| !value.is_null())?;
            Some(((*field).to_owned(), value.clone()))
        });
        Told { facts: kept.collect(), ..Told::default() }
    }

    pub fn with(mut self, fact: &str, value: impl Into<Value>) -> Told {
        self.facts.insert(fact.to_owned(), value.into());
        self
    }

    pub fn result(self) -> CallToolResult {
        let mut content = vec![ContentBlock::text(Value::Object(self.facts).to_string())];
        content.extend(self.text.map(ContentBlock::text));
        content.extend(self.picture.map(|data| ContentBlock::image(data, "image/png")));
        CallToolResult::success(content)
    }
}

/// A refusal, and what to do next.
pub fn refused(trouble: &Trouble) -> CallToolResult {
    let next = match trouble {
        Trouble::Refused { code, .. } => next_step(code),
        _ => "Try once more; if it happens again, `t4a doctor` in a shell tells what is wrong.",
    };
    CallToolResult::error(vec![ContentBlock::text(format!("{trouble}. {next}"))])
}

fn next_step(code: &str) -> &'static str {
    match code {
        "not_found" => "terminal_list shows the terminals; terminal_create makes one.",
        "name_taken" => "Use that terminal, or choose another name.",
        "busy" => {
            "terminal_look shows what runs; wait for its end with terminal_wait, end it with \
             terminal_keys and C-c, or use another terminal."
        }
        "incomplete" => "Close what is open (quotes, brackets, here-documents) and run it again.",
        "exited" => "terminal_read still shows its text; terminal_create makes a new terminal.",
        "held" => "A person types there: look on with terminal_look, or use another terminal.",
        "input_full" => "The program does not read: press C-c with terminal_keys, or look first.",
        "limit" => "terminal_kill ends terminals that are not needed any more.",
        "spawn_failed" => "Check the program's name, its path and the directory.",
        _ => "Correct what is named above and call again.",
    }
}

/// Rows of a `look`, each with what it shows.
pub fn screen(look: &Value) -> String {
    let rows = look["lines"].as_array().into_iter().flatten();
    let rows = rows.map(|row| (row["row"].as_u64().unwrap_or(0), &row["text"]));
    let (mut out, mut next) = (String::new(), None);
    for (row, text) in rows {
        // Empty rows are left out: where some were, the picture must not close up.
        if next.is_some_and(|next| row > next) {
            out.push('\n');
        }
        next = Some(row + 1);
        out.push_str(&cut(text.as_str().unwrap_or_default()));
        out.push('\n');
    }
    bounded(&out)
}

/// Lines of output with their absolute numbers, the middle left out if there are too many.
pub struct Output {
    lines: Vec<(u64, String)>,
}

impl Output {
    /// The lines of `run`; of those the server left out, the numbers are skipped.
    pub fn of_run(answer: &Value) -> Output {
        let first = answer["output_lines"][0].as_u64().unwrap_or(0);
        let gap = answer.get("left_out").map(|gap| (gap["at"].as_u64(), gap["count"].as_u64()));
        let number = |at: u64| match gap {
            Some((Some(from), Some(count))) if at >= from => first + at + count,
            _ => first + at,
        };
        Output::numbered(answer, number)
    }

    /// The lines of `text`.
    pub fn of_text(answer: &Value) -> Output {
        let first = answer["first_line"].as_u64().unwrap_or(0);
        Output::numbered(answer, |at| first + at)
    }

    fn numbered(answer: &Value, number: impl Fn(u64) -> u64) -> Output {
        let lines = answer["lines"].as_array().into_iter().flatten().enumerate();
        let line = |(at, line): (usize, &Value)| {
            (number(at as u64), cut(line.as_str().unwrap_or_default()))
        };
        Output { lines: lines.map(line).collect() }
    }

    /// The beginning, and the number of the line to read on from if there is more.
    pub fn head(&self) -> (String, Option<u64>) {
        let mut out = String::new();
        for (number, line) in &self.lines {
            if out.len() + line.len() >= MAX_MCP_TEXT {
                return (out, Some(*number));
            }
            out.push_str(line);
            out.push('\n');
        }
        (out, None)
    }

    /// The end, and the number of its first line if that is not all.
    pub fn tail(&self) -> (String, Option<u64>) {
        // Rows below the last text are no lines yet.
        let blank = self.lines.iter().rev().take_while(|(_, line)| line.is_empty()).count();
        let all = &self.lines[..self.lines.len() - blank];
        let from = all.len() - self.fits(all.iter().rev(), MAX_MCP_TEXT);
        let lines = &all[from..];
        let text = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        (text, lines.first().map(|(number, _)| *number).filter(|_| from > 0))
    }

    /// How many of these lines go into so many bytes.
    fn fits<'a>(&self, lines: impl Iterator<Item = &'a (u64, String)>, most: usize) -> usize {
        let mut bytes = 0;
        lines
            .take_while(|(_, line)| {
                bytes += line.len() + 1;
                bytes <= most
            })
            .count()
    }

    /// Beginning and end, with a note of what is left out between them.
    pub fn ends(&self) -> String {
        let all = self.lines.len();
        let whole = self.fits(self.lines.iter(), MAX_MCP_TEXT) == all;
        let head = if whole { all } else { self.fits(self.lines.iter(), MAX_MCP_TEXT / 2) };
        let tail = if whole { 0 } else { self.fits(self.lines.iter().rev(), MAX_MCP_TEXT / 2) };
        let mut out = String::new();
        let mut next = self.lines.first().map_or(0, |(number, _)| *number);
        let kept = self.lines[..head].iter().chain(&self.lines[all - tail.min(all - head)..]);
        for (number, line) in kept {
            if *number > next {
                let (from, count) = (next, number - next);
                out.push_str(&format!(
                    "… {count} lines left out: terminal_read with first_line {from} shows them\n"
                ));
            }
            next = number + 1;
            out.push_str(line);
            out.push('\n');
        }
        out
    }
}

/// Matches with the numbers of their lines.
pub fn matches(answer: &Value) -> String {
    let found = answer["matches"].as_array().into_iter().flatten();
    let line = |found: &Value| {
        format!("{}: {}\n", found["line"], cut(found["text"].as_str().unwrap_or_default()))
    };
    bounded(&found.map(line).collect::<String>())
}

fn bounded(text: &str) -> String {
    prefix(text, MAX_MCP_TEXT).to_owned()
}

fn cut(line: &str) -> String {
    match line.len() > MAX_MCP_LINE {
        true => format!("{}… ({} bytes)", prefix(line, MAX_MCP_LINE), line.len()),
        false => line.to_owned(),
    }
}

fn prefix(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Whether what was waited for has come, in one word for all tools.
pub fn done(told: Told, timed_out: bool, next: &str) -> Told {
    match timed_out {
        false => told.with("done", true),
        true => told.with("done", false).with("next", json!(next)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_too_long_keeps_both_ends_and_tells_the_numbers() {
        let lines: Vec<_> =
            (0..2000).map(|number| format!("{number} {}", "x".repeat(40))).collect();
        let output = Output::of_run(&json!({"lines": lines, "output_lines": [100, 2100]}));
        let text = output.ends();
        assert!(text.len() < MAX_MCP_TEXT + 200);
        assert!(text.starts_with("0 x") && text.contains("\n1999 x"));
        let note = text.lines().find(|line| line.starts_with('…')).unwrap();
        let head = text.lines().position(|line| line.starts_with('…')).unwrap();
        assert!(note.contains(&format!("first_line {}", 100 + head)), "{note}");
        let (page, next) = output.head();
        assert_eq!(next, Some(100 + page.lines().count() as u64));
        let (page, first) = output.tail();
        assert_eq!(first, Some(2100 - page.lines().count() as u64));
    }

    #[test]
    fn what_the_server_left_out_is_told_with_its_numbers() {
        let answer = json!({"lines": ["a", "b", "y", "z"], "output_lines": [10, 20],
            "left_out": {"at": 2, "count": 6, "lines": [12, 18]}});
        let text = Output::of_run(&answer).ends();
        let note = "… 6 lines left out: terminal_read with first_line 12 shows them";
        assert_eq!(text, format!("a\nb\n{note}\ny\nz\n"));
        assert_eq!(Output::of_run(&json!({"lines": ["a"], "output_lines": [1, 2]})).ends(), "a\n");
        assert_eq!(Output::of_run(&json!({"lines": []})).ends(), "");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = cut(&"é".repeat(MAX_MCP_LINE));
        assert!(line.starts_with('é') && line.ends_with(&format!("({} bytes)", 2 * MAX_MCP_LINE)));
    }

    #[test]
    fn text_and_lines_are_cut_at_their_limits() {
        let whole = "x".repeat(MAX_MCP_LINE);
        assert_eq!(cut(&whole), whole);
        let longer = format!("{whole}… ({} bytes)", MAX_MCP_LINE + 1);
        assert_eq!(cut(&format!("{whole}x")), longer);
        // Lines of 1023 bytes and their end.
        let told = |count: usize| {
            let lines = vec!["y".repeat(1023); count];
            Output::of_run(&json!({"lines": lines, "output_lines": [0, count]}))
        };
        let fit = MAX_MCP_TEXT / 1024;
        assert_eq!(told(fit).ends().len(), MAX_MCP_TEXT);
        assert!(told(fit + 1).ends().contains("… 1 lines left out"), "{}", told(fit + 1).ends());
        assert_eq!(told(fit).tail().1, None);
        assert_eq!(told(fit + 1).tail().1, Some(1));
        assert_eq!((bounded(&"z".repeat(MAX_MCP_TEXT + 1))).len(), MAX_MCP_TEXT);
    }
}
