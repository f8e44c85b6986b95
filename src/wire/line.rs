//! Lines: a request taken apart, an answer put together.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Code, Event, Failure};

/// Longest `tag` a request may carry, in bytes of JSON.
pub const MAX_TAG: usize = 256;

/// A string or number of the client's choice, echoed on every line of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag(Value);

impl Tag {
    pub fn of(number: u64) -> Tag {
        Tag(number.into())
    }

    /// The number that it is, if it is one.
    pub fn number(&self) -> Option<u64> {
        self.0.as_u64()
    }
}

/// A request line: the command's name, its tag, its other fields.
#[derive(Debug)]
pub struct Request {
    pub cmd: String,
    pub tag: Option<Tag>,
    fields: Map<String, Value>,
}

/// Takes a line apart. The tag is given back even when the rest is wrong, so that the client knows
/// which of its requests failed.
pub fn parse(line: &[u8]) -> Result<Request, (Option<Tag>, Failure)> {
    let mut fields = object(line).map_err(|failure| (None, failure))?;
    let tag = tag(&mut fields).map_err(|failure| (None, failure))?;
    match fields.remove("cmd") {
        Some(Value::String(cmd)) => Ok(Request { cmd, tag, fields }),
        Some(other) => {
            let failure = Failure::bad_value(format!("cmd must be a string, not {other}"));
            Err((tag, failure))
        }
        None => Err((tag, Failure::bad_value(NO_CMD))),
    }
}

const NO_CMD: &str = "the request has no cmd; for example {\"cmd\": \"list\"}";

fn object(line: &[u8]) -> Result<Map<String, Value>, Failure> {
    let bad = |error: String| Failure::new(Code::BadJson, error);
    let text = std::str::from_utf8(line)
        .map_err(|e| bad(format!("the line is not UTF-8 from byte {} on", e.valid_up_to())))?;
    let value = serde_json::from_str(text)
        .map_err(|e| bad(format!("the line is not JSON: {e}; send one JSON object a line")))?;
    match value {
        Value::Object(fields) => Ok(fields),
        other => Err(bad(format!("a request is a JSON object, not {}", kind_of(&other)))),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn tag(fields: &mut Map<String, Value>) -> Result<Option<Tag>, Failure> {
    match fields.remove("tag") {
        None | Some(Value::Null) => Ok(None),
        Some(tag @ (Value::String(_) | Value::Number(_))) if tag.to_string().len() <= MAX_TAG => {
            Ok(Some(Tag(tag)))
        }
        Some(Value::String(_) | Value::Number(_)) => {
            Err(Failure::bad_value(format!("tag must not be longer than {MAX_TAG} bytes")))
        }
        Some(other) => {
            Err(Failure::bad_value(format!("tag must be a string or a number, not {other}")))
        }
    }
}

impl Request {
    /// The fields as they were sent.
    pub fn sent(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// The fields as a command's own struct; the error names the field and what would be right.
    pub fn fields<T: DeserializeOwned>(self) -> Result<T, Failure> {
        serde_path_to_error::deserialize(Value::Object(self.fields)).map_err(|error| {
            let path = error.path().to_string();
            let inner = error.into_inner().to_string();
            if inner.starts_with("unknown field") {
                Failure::new(Code::UnknownField, format!("{}: {inner}", self.cmd))
            } else if path == "." {
                Failure::bad_value(format!("{}: {inner}", self.cmd))
            } else {
                Failure::bad_value(format!("{}: {path}: {inner}", self.cmd))
            }
        })
    }
}

#[derive(Serialize)]
struct Answer<'a, T> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'a Value>,
    #[serde(flatten)]
    body: T,
}

pub fn answer<T: Serialize>(tag: Option<&Tag>, body: T) -> Vec<u8> {
    line(&Answer { ok: true, tag: tag.map(|tag| &tag.0), body })
}

pub fn failure_line(tag: Option<&Tag>, failure: &Failure) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        error: &'a str,
        code: Code,
        #[serde(flatten)]
        more: Option<&'a Map<String, Value>>,
    }
    let more = failure.more.as_deref();
    let body = Body { error: &failure.error, code: failure.code, more };
    line(&Answer { ok: false, tag: tag.map(|tag| &tag.0), body })
}

/// An event's line, without a tag: the same bytes serve all subscribers.
pub fn event_line(seq: u64, terminal: Option<&str>, event: &Event) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        #[serde(flatten)]
        event: &'a Event,
        seq: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        terminal: Option<&'a str>,
    }
    line(&Line { event, seq, terminal })
}

/// A line of a view, with the tag of the request that opened it.
pub fn frame_line(tag: Option<&Tag>, frame: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, T> {
        #[serde(skip_serializing_if = "Option::is_none")]
        tag: Option<&'a Value>,
        #[serde(flatten)]
        frame: &'a T,
    }
    line(&Line { tag: tag.map(|tag| &tag.0), frame })
}

impl Tag {
    /// Puts the tag into a finished line.
    pub fn mark(&self, line: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"tag\":");
        out.extend_from_slice(self.0.to_string().as_bytes());
        out.push(b',');
        out.extend_from_slice(&line[1..]);
    }
}

/// A client's request as a line, with a tag for its answer.
pub fn tagged_request_line<T: Serialize>(cmd: &str, tag: u64, fields: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, T> {
        cmd: &'a str,
        tag: u64,
        #[serde(flatten)]
        fields: &'a T,
    }
    line(&Line { cmd, tag, fields })
}

/// A client's request as a line.
pub fn request_line<T: Serialize>(cmd: &str, fields: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, T> {
        cmd: &'a str,
        #[serde(flatten)]
        fields: &'a T,
    }
    line(&Line { cmd, fields })
}

/// Our own types always serialize: their keys are strings and their numbers finite.
fn line<T: Serialize>(body: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(body).unwrap_or_else(|error| {
        format!("{{\"ok\":false,\"code\":\"system\",\"error\":{:?}}}", error.to_string())
            .into_bytes()
    });
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    fn code(line: &[u8]) -> Code {
        parse(line).unwrap_err().1.code
    }

    #[test]
    fn what_is_not_an_object_with_a_cmd_is_refused() {
        assert_eq!(code(b"nonsense"), Code::BadJson);
        assert_eq!(code(b"[1]"), Code::BadJson);
        assert_eq!(code(b"{\"cmd\": \"\xff\"}"), Code::BadJson);
        assert_eq!(code(b"{}"), Code::BadValue);
        assert_eq!(code(b"{\"cmd\": 3}"), Code::BadValue);
        assert_eq!(code(b"{\"cmd\": \"list\", \"tag\": [1]}"), Code::BadValue);
    }

    #[test]
    fn the_tag_survives_a_bad_request() {
        let (tag, _) = parse(b"{\"tag\": 7}").unwrap_err();
        assert_eq!(tag, Some(Tag(Value::from(7))));
    }

    #[test]
    fn a_mistyped_field_is_named() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Resize {
            #[allow(dead_code)]
            cols: u32,
        }
        let fields =
            |line: &str| parse(line.as_bytes()).unwrap().fields::<Resize>().unwrap_err().error;
        assert!(fields(r#"{"cmd":"resize","cols":"x"}"#).starts_with("resize: cols: invalid type"));
        assert!(fields(r#"{"cmd":"resize","colz":1}"#).contains("unknown field `colz`"));
        assert!(fields(r#"{"cmd":"resize"}"#).contains("missing field `cols`"));
    }

    #[test]
    fn a_tag_goes_into_a_finished_line() {
        let line = event_line(3, Some("t1"), &Event::Bell);
        let mut out = Vec::new();
        Tag(Value::from("a\"b")).mark(&line, &mut out);
        let value: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value["tag"], "a\"b");
        assert_eq!(value["event"], "bell");
        assert_eq!(value["terminal"], "t1");
    }
}
