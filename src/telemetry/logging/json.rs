//! The JSON format, for programs: one object a line. The names of its members are those of OpenTelemetry's
//! Logs Data Model and semantic conventions, where these have one.

use std::fmt::Arguments;
use std::io::Write as _;

use serde::Serialize;
use serde_json::Serializer as Json;
use slog::{KV, Key, OwnedKVList, Record, Serializer};

use super::{level_name, now};

/// Headers are lists of strings (OpenTelemetry, HTTP attributes).
const HEADERS: [&str; 2] = ["http.request.header.", "http.response.header."];

/// Appends a record to `line`.
pub(super) fn format(line: &mut Vec<u8>, record: &Record<'_>, values: &OwnedKVList) {
    // Writing to a Vec does not fail.
    let level = level_name(record.level());
    let _ = write!(line, "{{\"timestamp\":\"{}\",\"severity_text\":\"{level}\"", now());
    let mut members = Members(line);
    members.add("body", record.msg());
    let _ = record.kv().serialize(record, &mut members).and_then(|()| values.serialize(record, &mut members));
    line.extend_from_slice(b"}\n");
}

/// Appends members to an object, except those without a value.
struct Members<'a>(&'a mut Vec<u8>);

impl Members<'_> {
    fn add(&mut self, key: &str, value: impl Serialize) {
        // Keys are constants of the program, without characters to escape.
        let _ = write!(self.0, ",\"{key}\":");
        // Strings, numbers and lists of them always become JSON.
        let _ = match HEADERS.iter().any(|prefix| key.starts_with(prefix)) {
            true => [value].serialize(&mut Json::new(&mut *self.0)),
            false => value.serialize(&mut Json::new(&mut *self.0)),
        };
    }
}

macro_rules! members {
    ($($emit:ident: $type:ty),*) => {$(
        fn $emit(&mut self, key: Key, value: $type) -> slog::Result {
            self.add(key.as_ref(), value);
            Ok(())
        }
    )*};
}

impl Serializer for Members<'_> {
    members! {
        emit_arguments: &Arguments<'_>, emit_str: &str, emit_char: char, emit_bool: bool,
        emit_u8: u8, emit_u16: u16, emit_u32: u32, emit_u64: u64, emit_usize: usize,
        emit_i8: i8, emit_i16: i16, emit_i32: i32, emit_i64: i64, emit_isize: isize,
        emit_f32: f32, emit_f64: f64
    }

    fn emit_none(&mut self, _: Key) -> slog::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use slog::{Level, b, o, record};

    use super::*;

    #[test]
    fn a_record_is_one_object_without_absent_members() {
        let (mut line, values) = (Vec::new(), OwnedKVList::from(o!()));
        let fields = b!(
            "text" => "a\n\"b\"", "count" => 7_u16, "time" => 0.25, "none" => None::<u8>,
            "http.response.header.x-request-id" => "id"
        );
        format(&mut line, &record!(Level::Critical, "", &format_args!("it's {}", "\n"), fields), &values);
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let mut object: Value = serde_json::from_slice(&line).unwrap();
        let time = object.as_object_mut().unwrap().remove("timestamp").unwrap();
        assert!(time.as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{time}");
        let expected = json!({
            "severity_text": "FATAL", "body": "it's \n", "text": "a\n\"b\"", "count": 7, "time": 0.25,
            "http.response.header.x-request-id": ["id"],
        });
        assert_eq!(object, expected);
    }
}
