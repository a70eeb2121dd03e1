//! The two forms of a record, one line each.
//!
//! Text is for people: `TIME LEVEL MESSAGE name=value ...`. A response has its method, path, status and duration in the
//! place of the message:
//!
//! ```text
//! 2026-11-21T07:20:08.123Z INFO  GET /v1/pets 200 0.412ms peer=127.0.0.1 key=key_a1 request=4f0c...
//! ```
//!
//! JSON is for programs. The names of its members are those of OpenTelemetry's Logs Data Model and semantic conventions,
//! where these have one.

use std::fmt::Arguments;
use std::io::Write as _;
use std::time::SystemTime;

use humantime::format_rfc3339_millis;
use serde::Serialize;
use slog::{KV, Key, Level, OwnedKVList, Record, Serializer};

/// The tag of records about responses. The text format leaves out their message, which is always the same.
pub(crate) const RESPONSE_TAG: &str = "response";

/// Headers are lists of strings in JSON (OpenTelemetry, HTTP attributes).
const HEADERS: [&str; 2] = ["http.request.header.", "http.response.header."];

/// Appends a record as text.
pub(super) fn text(line: &mut Vec<u8>, record: &Record<'_>, values: &OwnedKVList) {
    // Writing to a Vec does not fail.
    let _ = write!(line, "{} {:<5}", format_rfc3339_millis(SystemTime::now()), level_name(record.level()));
    if record.tag() != RESPONSE_TAG {
        let message = record.msg().to_string();
        let has_control = message.contains(|character: char| character.is_ascii_control());
        let _ = if has_control { write!(line, " {message:?}") } else { write!(line, " {message}") };
    }
    for_each_field(record, values, &mut |key, value| {
        let Some(name) = name_in_text(key) else { return };
        line.push(b' ');
        line.extend_from_slice(name.as_bytes());
        if !name.is_empty() {
            line.push(b'=');
        }
        match value {
            Value::Text(text) if is_plain(text) => line.extend_from_slice(text.as_bytes()),
            // A Rust string literal has no line break.
            Value::Text(text) => drop(write!(line, "{text:?}")),
            Value::Integer(number) => line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
            // In milliseconds, because most responses take less than a second.
            Value::Seconds(seconds) => drop(write!(line, "{:.3}ms", seconds * 1e3)),
        }
    });
    line.push(b'\n');
}

/// Appends a record as a JSON object.
pub(super) fn json(line: &mut Vec<u8>, record: &Record<'_>, values: &OwnedKVList) {
    let (time, level) = (format_rfc3339_millis(SystemTime::now()), level_name(record.level()));
    // Writing to a Vec does not fail, and neither does the serialization of texts and numbers.
    let _ = write!(line, "{{\"timestamp\":\"{time}\",\"severity_text\":\"{level}\",\"body\":");
    let _ = serde_json::to_writer(&mut *line, record.msg());
    for_each_field(record, values, &mut |key, value| {
        // Keys are constants of the program, without characters to escape.
        let _ = write!(line, ",\"{key}\":");
        let _ = match HEADERS.iter().any(|prefix| key.starts_with(prefix)) {
            true => serde_json::to_writer(&mut *line, &[value]),
            false => serde_json::to_writer(&mut *line, &value),
        };
    });
    line.extend_from_slice(b"}\n");
}

/// Returns the name of a level (OpenTelemetry, Logs Data Model, "Displaying Severity").
fn level_name(level: Level) -> &'static str {
    match level {
        Level::Critical => "FATAL",
        Level::Warning => "WARN",
        other => other.as_str(),
    }
}

/// Returns the name of a field in text; "" if the value is shown alone, `None` if it is shown only in JSON.
fn name_in_text(key: &str) -> Option<&str> {
    Some(match key {
        "http.request.method" | "url.path" | "http.response.status_code" | "http.server.request.duration" => {
            ""
        }
        "error.type" => "code",
        "network.peer.address" => "peer",
        "http.request.header.x-forwarded-for" => "forwarded",
        "enduser.id" => "key",
        "http.response.header.x-request-id" => "request",
        "trace_id" => "trace",
        "service.version" => "version",
        "animal_store.api_version" => "api",
        "url.full" => "address",
        "http.route" | "span_id" | "trace_flags" => return None,
        other => other.strip_prefix("animal_store.").unwrap_or(other),
    })
}

/// Whether a text needs no quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"')
}

/// The value of a field.
#[derive(Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Text(&'a str),
    Integer(i64),
    Seconds(f64),
}

/// Calls `each` with the fields of a record that have a value.
fn for_each_field(record: &Record<'_>, values: &OwnedKVList, each: &mut dyn FnMut(&str, Value<'_>)) {
    let mut fields = Fields(each);
    // `Fields` returns no error, and values have none.
    let _ = record.kv().serialize(record, &mut fields).and_then(|()| values.serialize(record, &mut fields));
}

struct Fields<'a>(&'a mut dyn FnMut(&str, Value<'_>));

macro_rules! integers {
    ($($emit:ident: $type:ty),*) => {$(
        fn $emit(&mut self, key: Key, value: $type) -> slog::Result {
            (self.0)(key.as_ref(), Value::Integer(value.try_into().unwrap_or(i64::MAX)));
            Ok(())
        }
    )*};
}

impl Serializer for Fields<'_> {
    integers! { emit_u16: u16, emit_u32: u32, emit_u64: u64, emit_usize: usize, emit_i32: i32, emit_i64: i64 }

    fn emit_arguments(&mut self, key: Key, value: &Arguments<'_>) -> slog::Result {
        self.emit_str(key, &value.to_string())
    }

    fn emit_str(&mut self, key: Key, value: &str) -> slog::Result {
        (self.0)(key.as_ref(), Value::Text(value));
        Ok(())
    }

    fn emit_f64(&mut self, key: Key, value: f64) -> slog::Result {
        (self.0)(key.as_ref(), Value::Seconds(value));
        Ok(())
    }

    fn emit_none(&mut self, _: Key) -> slog::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use slog::{b, o, record};

    use super::*;

    fn text_of(record: &Record<'_>) -> String {
        let mut line = Vec::new();
        text(&mut line, record, &OwnedKVList::from(o!()));
        let line = String::from_utf8(line).unwrap();
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        rest.to_owned()
    }

    #[test]
    fn a_text_is_one_line_whatever_it_contains() {
        let line = |message: Arguments<'_>, value: &str| {
            text_of(&record!(Level::Warning, "", &message, b!("value" => value)))
        };
        assert_eq!(line(format_args!("disk full"), "7"), "WARN  disk full value=7\n");
        assert_eq!(line(format_args!("a"), "b c"), "WARN  a value=\"b c\"\n");
        assert_eq!(line(format_args!("a"), ""), "WARN  a value=\"\"\n");
        assert_eq!(line(format_args!("a"), "b\nc=\u{202e}\""), "WARN  a value=\"b\\nc=\\u{202e}\\\"\"\n");
        assert_eq!(line(format_args!("a\nb"), "c"), "WARN  \"a\\nb\" value=c\n");
    }

    #[test]
    fn a_response_has_its_duration_in_milliseconds() {
        let fields = b!(
            "http.server.request.duration" => 0.000_412, "http.response.status_code" => 200_u16,
            "long" => 3600.25, "none" => 0.0
        );
        let line = text_of(&record!(Level::Error, RESPONSE_TAG, &format_args!("hidden"), fields));
        // slog serializes the fields in reverse order.
        assert_eq!(line, "ERROR none=0.000ms long=3600250.000ms 200 0.412ms\n");
    }

    #[test]
    fn json_is_one_object_without_absent_members() {
        let (mut line, values) = (Vec::new(), OwnedKVList::from(o!()));
        let fields = b!(
            "text" => "a\n\"b\"", "count" => 7_u16, "time" => 0.25, "none" => None::<u8>,
            "http.response.header.x-request-id" => "id"
        );
        json(&mut line, &record!(Level::Critical, "", &format_args!("it's {}", "\n"), fields), &values);
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let mut object: serde_json::Value = serde_json::from_slice(&line).unwrap();
        let time = object.as_object_mut().unwrap().remove("timestamp").unwrap();
        assert!(time.as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{time}");
        let expected = json!({
            "severity_text": "FATAL", "body": "it's \n", "text": "a\n\"b\"", "count": 7, "time": 0.25,
            "http.response.header.x-request-id": ["id"],
        });
        assert_eq!(object, expected);
    }
}
