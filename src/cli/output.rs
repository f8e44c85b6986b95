//! What is printed: for people on a terminal, JSON lines in a pipe.

use std::io::{self, Write};

use serde_json::Value;

use crate::client::{Answer, Trouble};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    People,
    Json,
}

pub struct Output {
    format: Format,
    /// JSON was asked for and not just the thing to do in a pipe.
    json_asked: bool,
}

impl Output {
    pub fn new(format: Format, json_asked: bool) -> Output {
        Output { format, json_asked }
    }

    pub fn wants_json(&self) -> bool {
        self.json_asked
    }

    /// An answer, as `people` puts it or as it came.
    pub fn answer(
        &mut self,
        answer: Result<Answer, Trouble>,
        people: fn(&Value) -> String,
    ) -> Result<(), Trouble> {
        let json = self.format == Format::Json;
        self.print(answer, people, json)
    }

    /// Something the command line found out by itself.
    pub fn report(&mut self, value: Value, people: fn(&Value) -> String) -> Result<(), Trouble> {
        let mut line = value.to_string().into_bytes();
        line.push(b'\n');
        self.answer(Ok(Answer { line, value }), people)
    }

    /// An answer whose text is what the user wants also in a pipe.
    pub fn data(
        &mut self,
        answer: Result<Answer, Trouble>,
        people: fn(&Value) -> String,
    ) -> Result<(), Trouble> {
        let json = self.json_asked;
        self.print(answer, people, json)
    }

    fn print(
        &mut self,
        answer: Result<Answer, Trouble>,
        people: fn(&Value) -> String,
        json: bool,
    ) -> Result<(), Trouble> {
        let mut stdout = io::stdout().lock();
        match answer {
            Ok(answer) if json => stdout.write_all(&answer.line)?,
            Ok(answer) => stdout.write_all(people(&answer.value).as_bytes())?,
            Err(trouble) => {
                if let (true, Trouble::Refused { line, .. }) = (json, &trouble) {
                    stdout.write_all(line)?;
                    stdout.flush()?;
                }
                return Err(trouble);
            }
        }
        Ok(stdout.flush()?)
    }

    /// A stream's only line, for those who read JSON; people read stderr.
    pub fn refusal(&mut self, line: &[u8]) -> Result<(), Trouble> {
        let mut stdout = io::stdout().lock();
        if self.format == Format::Json {
            stdout.write_all(line)?;
        }
        Ok(stdout.flush()?)
    }

    pub fn event(&mut self, line: &[u8], value: &Value) -> Result<(), Trouble> {
        let mut stdout = io::stdout().lock();
        match self.format {
            Format::Json => stdout.write_all(line)?,
            Format::People => stdout.write_all(event(value).as_bytes())?,
        }
        Ok(stdout.flush()?)
    }
}

pub fn nothing(_: &Value) -> String {
    String::new()
}

pub fn created(answer: &Value) -> String {
    let id = text(&answer["id"]);
    format!("{id}\n")
}

pub fn lines(answer: &Value) -> String {
    let lines = answer["lines"].as_array().into_iter().flatten();
    lines.map(|line| text(line) + "\n").collect()
}

/// Lines of output, with a mark where some are left out.
pub fn output_lines(answer: &Value) -> String {
    let at = answer.get("left_out").and_then(|left| left["at"].as_u64());
    let mut out = String::new();
    for (index, line) in answer["lines"].as_array().into_iter().flatten().enumerate() {
        if at == Some(index as u64) {
            out.push_str("…\n");
        }
        out += &(text(line) + "\n");
    }
    out
}

/// What a wait came to, in a line.
pub fn waited(answer: &Value) -> String {
    let what = match (&answer["condition"], &answer["timed_out"]) {
        (Value::String(condition), _) => condition.clone(),
        (_, Value::Bool(true)) => "timed out".to_owned(),
        _ => "ended before".to_owned(),
    };
    format!("{what} after {} ms\n", text(&answer["waited_ms"]))
}

pub fn look(answer: &Value) -> String {
    let mut out = format!("{}: {}", text(&answer["id"]), text(&answer["state"]));
    for name in ["running", "title", "cwd"] {
        if let Some(value) = answer[name].as_str().filter(|value| !value.is_empty()) {
            out += &format!(", {name} {}", text(&Value::from(value)));
        }
    }
    out.push('\n');
    let rows = answer["lines"].as_array().into_iter().flatten();
    let rows: String =
        rows.map(|row| format!("{:>4}  {}\n", text(&row["row"]), text(&row["text"]))).collect();
    out + &rows
}

pub fn list(answer: &Value) -> String {
    let head = ["ID", "NAME", "PID", "SIZE", "STATE", "TITLE"].map(str::to_owned);
    let rows: Vec<_> = answer["terminals"].as_array().into_iter().flatten().map(row).collect();
    if rows.is_empty() {
        return "no terminals; `t4a create` makes one\n".to_owned();
    }
    table(std::iter::once(head).chain(rows).collect())
}

fn row(terminal: &Value) -> [String; 6] {
    let state = match (&terminal["alive"], &terminal["command"], &terminal["exit_code"]) {
        (Value::Bool(true), Value::String(command), _) => format!("runs {}", first_line(command)),
        (Value::Bool(true), ..) => "alive".to_owned(),
        (.., code) => format!("exit {}", text(code)),
    };
    [
        text(&terminal["id"]),
        text(&terminal["name"]),
        text(&terminal["pid"]),
        format!("{}x{}", text(&terminal["cols"]), text(&terminal["rows"])),
        state,
        text(&terminal["title"]),
    ]
}

fn first_line(command: &str) -> String {
    const SHOWN: usize = 40;
    let line = command.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

pub fn matches(answer: &Value) -> String {
    let found = answer["matches"].as_array().into_iter().flatten();
    let rows = found.map(|found| [text(&found["line"]), text(&found["text"])]);
    table(rows.collect())
}

pub fn commands(answer: &Value) -> String {
    let head = ["NO", "CODE", "MS", "COMMAND"].map(str::to_owned);
    let commands = answer["commands"].as_array().into_iter().flatten();
    let row = |command: &Value| {
        let line = first_line(command["command"].as_str().unwrap_or_default());
        [text(&command["number"]), text(&command["code"]), text(&command["duration_ms"]), line]
    };
    table(std::iter::once(head).chain(commands.map(row)).collect())
}

/// Columns as wide as their widest entry, the last one open.
pub fn table<const N: usize>(rows: Vec<[String; N]>) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line: Vec<_> = cells.collect();
        format!("{}\n", line.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// One field a line.
pub fn fields(answer: &Value) -> String {
    let fields = answer.as_object().into_iter().flatten().filter(|(name, _)| *name != "ok");
    table(fields.map(|(name, value)| [name.clone(), text(value)]).collect())
}

fn event(value: &Value) -> String {
    let shown = ["event", "terminal", "seq"];
    let rest = value.as_object().into_iter().flatten();
    let rest: Vec<_> = rest
        .filter(|(name, value)| !shown.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| format!("{name}={}", text(value)))
        .collect();
    let head = format!("{:<5} {:<14}", text(&value["terminal"]), text(&value["event"]));
    format!("{} {}\n", head, rest.join(" ")).trim_end().to_owned() + "\n"
}

/// Bytes, in the largest unit that has at least one.
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes >> shift > 0);
    let Some((shift, unit)) = unit else { return format!("{bytes} B") };
    let tenths = (bytes * 10) >> shift;
    match tenths % 10 {
        0 => format!("{} {unit}", tenths / 10),
        tenth => format!("{}.{tenth} {unit}", tenths / 10),
    }
}

/// A value without quotes. What a program chose (a title, a command) must not steer the terminal
/// it is printed on.
pub fn text(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_for_people() {
        let answer = json!({"terminals": [
            {"id": "t1", "pid": 7, "cols": 80, "rows": 24, "alive": true, "title": "bash"},
            {"id": "t12", "name": "build", "pid": 1234, "cols": 120, "rows": 40, "alive": false,
             "exit_code": 2, "title": "make\u{1b}[31m"},
        ]});
        let expected = "\
ID   NAME   PID   SIZE    STATE   TITLE
t1          7     80x24   alive   bash
t12  build  1234  120x40  exit 2  make\u{fffd}[31m
";
        assert_eq!(list(&answer), expected);
    }

    #[test]
    fn sizes_for_people() {
        let sizes = [0, 103, 1024, 1536, 64 << 10, (1 << 20) - 1, 1 << 20, 64 << 30];
        let told = ["0 B", "103 B", "1 KiB", "1.5 KiB", "64 KiB", "1023.9 KiB", "1 MiB", "64 GiB"];
        assert_eq!(sizes.map(size), told);
    }

    #[test]
    fn an_event_for_people() {
        let value = json!({"event": "command_done", "terminal": "t1", "seq": 9, "code": 1,
            "command": "false", "cwd": null});
        assert_eq!(event(&value), "t1    command_done   code=1 command=false\n");
    }
}
