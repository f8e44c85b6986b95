//! An asciicast as it is read, versions 2 and 3. What is wrong is told with its line.

use std::fmt;
use std::io::{BufRead, Read};
use std::time::Duration;

use serde_json::Value;

use crate::term::{MAX_COLS, MAX_ROWS, Size};

/// Bytes of a recording that is read.
pub const MAX_CAST_BYTES: usize = 256 << 20;
/// Bytes of one of its lines.
pub const MAX_CAST_LINE: usize = 4 << 20;

pub struct Cast {
    pub size: Size,
    pub events: Vec<Event>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Since the start.
    pub at: Duration,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Output(String),
    Resize(Size),
    Mark(String),
}

/// What is wrong with a recording.
#[derive(Debug, PartialEq, Eq)]
pub struct Bad {
    pub line: usize,
    pub why: String,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Cast {
    /// Reads a recording. A last line that was never finished is left out: whoever wrote it was
    /// killed.
    pub fn read(from: impl BufRead) -> Result<Cast, Bad> {
        let mut lines = Lines { from, number: 0, bytes: 0 };
        let (head, _) = lines.next()?.ok_or_else(|| lines.bad("the file is empty"))?;
        let Head { size, intervals } = Head::read(&head).map_err(|why| lines.bad(why))?;
        let mut cast = Cast { size, events: Vec::new() };
        let mut last = Duration::ZERO;
        while let Some((line, whole)) = lines.next()? {
            let text = line.trim_ascii();
            if text.is_empty() || (intervals && text.starts_with(b"#")) {
                continue;
            }
            match event(text) {
                Ok((time, what)) => {
                    last = if intervals { last.saturating_add(time) } else { time.max(last) };
                    cast.events.extend(what.map(|what| Event { at: last, what }));
                }
                Err(_) if !whole => break,
                Err(why) => return Err(lines.bad(why)),
            }
        }
        Ok(cast)
    }

    /// Columns and rows that hold every size it has.
    pub fn largest(&self) -> Size {
        self.events.iter().fold(self.size, |most, event| match event.what {
            What::Resize(Size { cols, rows }) => {
                Size { cols: most.cols.max(cols), rows: most.rows.max(rows) }
            }
            _ => most,
        })
    }
}

struct Lines<R> {
    from: R,
    number: usize,
    bytes: usize,
}

impl<R: BufRead> Lines<R> {
    /// The next line, and whether it has an end.
    fn next(&mut self) -> Result<Option<(Vec<u8>, bool)>, Bad> {
        self.number += 1;
        let mut line = Vec::new();
        let most = MAX_CAST_LINE as u64 + 1;
        let read = self.from.by_ref().take(most).read_until(b'\n', &mut line);
        self.bytes += read.map_err(|error| self.bad(error.to_string()))?;
        let whole = line.last() == Some(&b'\n');
        if line.len() > MAX_CAST_LINE {
            return Err(self.bad(format!("it is longer than {MAX_CAST_LINE} bytes")));
        }
        if self.bytes > MAX_CAST_BYTES {
            return Err(self.bad(format!("more than {MAX_CAST_BYTES} bytes are not read")));
        }
        Ok((!line.is_empty()).then_some((line, whole)))
    }

    fn bad(&self, why: impl Into<String>) -> Bad {
        Bad { line: self.number, why: why.into() }
    }
}

struct Head {
    size: Size,
    /// Times count from the event before.
    intervals: bool,
}

impl Head {
    fn read(line: &[u8]) -> Result<Head, String> {
        let head: Value = serde_json::from_slice(line)
            .map_err(|error| format!("this is no asciicast, whose first line is JSON: {error}"))?;
        let (cols, rows, intervals) = match head["version"].as_u64() {
            Some(2) => (&head["width"], &head["height"], false),
            Some(3) => (&head["term"]["cols"], &head["term"]["rows"], true),
            Some(other) => return Err(format!("version {other} is not known; 2 and 3 are")),
            None => return Err("this is no asciicast: it has no version".to_owned()),
        };
        let (Some(cols), Some(rows)) = (cols.as_u64(), rows.as_u64()) else {
            return Err("it does not tell the size of the terminal".to_owned());
        };
        Ok(Head { size: size(cols, rows)?, intervals })
    }
}

fn size(cols: u64, rows: u64) -> Result<Size, String> {
    let fits = |value: u64, most: u16| u16::try_from(value).ok().filter(|n| (1..=most).contains(n));
    match (fits(cols, MAX_COLS), fits(rows, MAX_ROWS)) {
        (Some(cols), Some(rows)) => Ok(Size { cols, rows }),
        _ => Err(format!("a size of {cols}x{rows}; up to {MAX_COLS}x{MAX_ROWS} is possible")),
    }
}

/// An event's time, and what happened if that is to be seen.
fn event(line: &[u8]) -> Result<(Duration, Option<What>), String> {
    let (time, code, data): (f64, String, Value) = serde_json::from_slice(line)
        .map_err(|error| format!("an event is [time, \"code\", \"data\"]: {error}"))?;
    let time = Duration::try_from_secs_f64(time).map_err(|_| format!("{time} is no time"))?;
    let text = |data: Value| match data {
        Value::String(text) => Ok(text),
        other => Err(format!("the data of {code:?} must be a string, not {other}")),
    };
    let what = match code.as_str() {
        "o" => Some(What::Output(text(data)?)),
        "m" => Some(What::Mark(text(data)?)),
        "r" => {
            let data = text(data)?;
            let parts = data.split_once('x').and_then(|(cols, rows)| {
                Some((cols.parse::<u64>().ok()?, rows.parse::<u64>().ok()?))
            });
            let (cols, rows) = parts.ok_or(format!("a size is like 80x24, not {data:?}"))?;
            Some(What::Resize(size(cols, rows)?))
        }
        // Others may come; what was typed and how it ended is not to be seen.
        _ => None,
    };
    Ok((time, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Cast, String> {
        Cast::read(text.as_bytes()).map_err(|bad| bad.to_string())
    }

    const V2: &str = "{\"version\":2,\"width\":10,\"height\":4}\n";
    const V3: &str = "{\"version\":3,\"term\":{\"cols\":10,\"rows\":4}}\n";

    #[test]
    fn both_versions_give_the_same_events() {
        let two = read(&format!(
            "{V2}[0.5,\"o\",\"a\"]\n\n[1,\"i\",\"q\"]\n[1.5,\"r\",\"20x5\"]\n[2,\"z\",7]\n[3,\"m\",\"\"]"
        ));
        let three = read(&format!(
            "{V3}# a note\n[0.5,\"o\",\"a\"]\n[0.5,\"i\",\"q\"]\n[0.5,\"r\",\"20x5\"]\n\
             [0.5,\"x\",\"0\"]\n[1,\"m\",\"\"]\n"
        ));
        let (two, three) = (two.unwrap(), three.unwrap());
        assert_eq!(two.events, three.events);
        assert_eq!(two.events.len(), 3);
        assert_eq!(two.events[2].at, Duration::from_secs(3));
        assert_eq!(three.largest(), Size { cols: 20, rows: 5 });
    }

    #[test]
    fn a_line_that_was_cut_by_a_kill_is_left_out() {
        let cast = read(&format!("{V2}[0.5,\"o\",\"a\"]\n[0.7,\"o\",\"b")).unwrap();
        assert_eq!(cast.events.len(), 1);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let long = format!("{V2}[1,\"o\",\"{}\"]\n", "x".repeat(MAX_CAST_LINE));
        for (text, said) in [
            ("", "line 1: the file is empty"),
            ("hello\n", "line 1: this is no asciicast"),
            ("{}\n", "line 1: this is no asciicast"),
            ("{\"version\":1}\n", "version 1 is not known"),
            ("{\"version\":2,\"width\":0,\"height\":4}\n", "line 1: a size of 0x4"),
            ("{\"version\":3,\"term\":{}}\n", "line 1: it does not tell the size"),
            (&format!("{V2}[0.1,\"o\",\"a\"]\nnonsense\n[1,\"o\",\"\"]\n"), "line 3: an event is"),
            (&format!("{V2}[-1,\"o\",\"a\"]\n"), "line 2: -1 is no time"),
            (&format!("{V2}[1,\"r\",\"a\"]\n"), "line 2: a size is like"),
            (&format!("{V2}[1,\"r\",\"9999x1\"]\n"), "line 2: a size of 9999x1"),
            (&format!("{V2}[1,\"o\",5]\n"), "line 2: the data of \"o\""),
            (&long, "line 2: it is longer"),
        ] {
            let error = read(text).err().unwrap_or_default();
            assert!(error.contains(said), "{error:?} does not say {said:?}");
        }
    }

    /// Lines that say nothing, up to so many bytes in all.
    struct Notes(usize);

    impl std::io::Read for Notes {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let count = to.len().min(self.0);
            to[..count].fill(b'#');
            // Each block ends a line.
            to[..count].last_mut().into_iter().for_each(|last| *last = b'\n');
            self.0 -= count;
            Ok(count)
        }
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let line = |length: usize| {
            let around = "[1,\"o\",\"\"]\n".len();
            read(&format!("{V2}[1,\"o\",\"{}\"]\n", "x".repeat(length - around)))
        };
        assert_eq!(line(MAX_CAST_LINE).unwrap().events.len(), 1);
        let error = line(MAX_CAST_LINE + 1).err().unwrap();
        assert!(error.contains("longer than 4194304 bytes"), "{error}");
        let all = |length: usize| {
            let notes = std::io::BufReader::with_capacity(1 << 20, Notes(length - V3.len()));
            Cast::read(std::io::Read::chain(V3.as_bytes(), notes)).map_err(|bad| bad.to_string())
        };
        assert_eq!(all(MAX_CAST_BYTES).unwrap().events.len(), 0);
        let error = all(MAX_CAST_BYTES + 1).err().unwrap();
        assert!(error.contains("more than 268435456 bytes"), "{error}");
    }
}
