//! An asciicast as it is written: a head, then a line for each event.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::joiner::Joiner;
use super::{Format, Written};
use crate::term::Size;

/// What stands at the beginning.
pub struct Head<'a> {
    pub size: Size,
    /// Seconds since 1970.
    pub started: u64,
    pub title: Option<&'a str>,
}

/// Writes lines; the times that it is told begin with 0 at the start.
pub struct Writer {
    intervals: bool,
    /// Of the last event, in microseconds.
    last: u64,
    output: Joiner,
    input: Joiner,
    pub events: u64,
}

#[derive(Serialize)]
struct HeadV2<'a> {
    version: u8,
    width: u16,
    height: u16,
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
}

#[derive(Serialize)]
struct HeadV3<'a> {
    version: u8,
    term: TermV3,
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
}

#[derive(Serialize)]
struct TermV3 {
    cols: u16,
    rows: u16,
}

impl Writer {
    pub fn new(format: Format, written: Written) -> Writer {
        Writer {
            intervals: format == Format::V3,
            last: micros(written.last),
            output: Joiner::default(),
            input: Joiner::default(),
            events: written.events,
        }
    }

    pub fn head(&self, head: &Head, out: &mut Vec<u8>) {
        let Head { size: Size { cols, rows }, started: timestamp, title } = *head;
        let line = match self.intervals {
            false => serde_json::to_vec(&HeadV2 {
                version: 2,
                width: cols,
                height: rows,
                timestamp,
                title,
            }),
            true => {
                let term = TermV3 { cols, rows };
                serde_json::to_vec(&HeadV3 { version: 3, term, timestamp, title })
            }
        };
        out.extend(line.unwrap_or_default());
        out.push(b'\n');
    }

    pub fn output(&mut self, at: Duration, bytes: &[u8], out: &mut Vec<u8>) {
        let text = self.output.text(bytes);
        self.text(at, 'o', &text, out);
    }

    pub fn input(&mut self, at: Duration, bytes: &[u8], out: &mut Vec<u8>) {
        let text = self.input.text(bytes);
        self.text(at, 'i', &text, out);
    }

    pub fn resize(&mut self, at: Duration, size: Size, out: &mut Vec<u8>) {
        self.put(at, 'r', &format!("{}x{}", size.cols, size.rows), out);
    }

    pub fn mark(&mut self, at: Duration, label: &str, out: &mut Vec<u8>) {
        self.put(at, 'm', label, out);
    }

    /// The program ended; version 2 has no word for that.
    pub fn exit(&mut self, at: Duration, code: i32, out: &mut Vec<u8>) {
        self.rest(at, out);
        if self.intervals {
            self.put(at, 'x', &code.to_string(), out);
        }
    }

    /// Nothing more comes.
    pub fn rest(&mut self, at: Duration, out: &mut Vec<u8>) {
        let (output, input) = (self.output.rest(), self.input.rest());
        self.text(at, 'o', &output, out);
        self.text(at, 'i', &input, out);
    }

    fn text(&mut self, at: Duration, code: char, text: &str, out: &mut Vec<u8>) {
        if !text.is_empty() {
            self.put(at, code, text, out);
        }
    }

    /// Microseconds are added up as whole numbers, so that intervals do not drift.
    fn put(&mut self, at: Duration, code: char, data: &str, out: &mut Vec<u8>) {
        let at = micros(at).max(self.last);
        let time = if self.intervals { at - self.last } else { at };
        self.last = at;
        self.events += 1;
        // Writing to memory does not fail.
        let _ = write!(out, "[{}.{:06}, \"{code}\", ", time / 1_000_000, time % 1_000_000);
        let _ = serde_json::to_writer(&mut *out, data);
        out.extend_from_slice(b"]\n");
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(format: Format) -> String {
        let mut writer = Writer::new(format, Written::default());
        let mut out = Vec::new();
        let ms = Duration::from_millis;
        let size = Size { cols: 80, rows: 24 };
        writer.head(&Head { size, started: 1_700_000_000, title: Some("a \"b\"") }, &mut out);
        writer.output(ms(0), b"\x1b[1mx\r\n\xe2\x82", &mut out);
        writer.output(ms(1500), b"\xac", &mut out);
        writer.input(ms(1500), b"q", &mut out);
        writer.resize(ms(1750), Size { cols: 100, rows: 30 }, &mut out);
        writer.mark(ms(2000), "make", &mut out);
        writer.exit(ms(2001), 3, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn version_2_has_times_since_the_start() {
        let expected = r#"{"version":2,"width":80,"height":24,"timestamp":1700000000,"title":"a \"b\""}
[0.000000, "o", "\u001b[1mx\r\n"]
[1.500000, "o", "€"]
[1.500000, "i", "q"]
[1.750000, "r", "100x30"]
[2.000000, "m", "make"]
"#;
        assert_eq!(sample(Format::V2), expected);
    }

    #[test]
    fn version_3_has_times_since_the_event_before() {
        let expected = r#"{"version":3,"term":{"cols":80,"rows":24},"timestamp":1700000000,"title":"a \"b\""}
[0.000000, "o", "\u001b[1mx\r\n"]
[1.500000, "o", "€"]
[0.000000, "i", "q"]
[0.250000, "r", "100x30"]
[0.250000, "m", "make"]
[0.001000, "x", "3"]
"#;
        assert_eq!(sample(Format::V3), expected);
    }

    #[test]
    fn a_recording_knows_how_far_it_has_come() {
        for format in [Format::V2, Format::V3] {
            let written = format.written(sample(format).as_bytes()).unwrap();
            let (events, last) = if format == Format::V2 { (5, 2000) } else { (6, 2001) };
            assert_eq!(written, Written { events, last: Duration::from_millis(last) });
        }
    }
}
