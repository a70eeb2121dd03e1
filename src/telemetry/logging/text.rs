//! The text format, for people: `TIME LEVEL MESSAGE name=value ...`. A response has its method, path, status
//! and duration in the place of the message:
//!
//! ```text
//! 2026-11-21T07:20:08.123Z INFO  GET /v1/pets 200 0.412ms client=127.0.0.1 key=key_a1 request=4f0c...
//! ```

use std::fmt::Arguments;
use std::io::Write as _;

use slog::{KV, Key, OwnedKVList, Record, Serializer};

use super::line::{Line, RESPONSE_TAG, level_name, push_integer};

/// Appends a record to `line`.
pub(super) fn format(line: &mut Line, record: &Record<'_>, values: &OwnedKVList) {
    line.push_time();
    let bytes = &mut line.bytes;
    let level = level_name(record.level());
    bytes.push(b' ');
    bytes.extend_from_slice(level.as_bytes());
    bytes.resize(bytes.len() + 5_usize.saturating_sub(level.len()), b' ');
    if record.tag() != RESPONSE_TAG {
        bytes.push(b' ');
        let start = bytes.len();
        // Writing to a Vec does not fail.
        let _ = bytes.write_fmt(*record.msg());
        if bytes[start..].iter().any(u8::is_ascii_control) {
            escape(bytes, start);
        }
    }
    let mut fields = Fields(bytes);
    let _ = record.kv().serialize(record, &mut fields).and_then(|()| values.serialize(record, &mut fields));
    line.bytes.push(b'\n');
}

/// How a field is shown.
enum Shown<'a> {
    /// The value alone.
    Value,
    /// The value with this name.
    Named(&'a str),
    /// Only in JSON.
    Omitted,
}

fn shown(key: &str) -> Shown<'_> {
    match key {
        "http.request.method" | "url.path" | "http.response.status_code" | "http.server.request.duration" => {
            Shown::Value
        }
        "error.type" => Shown::Named("code"),
        "client.address" => Shown::Named("client"),
        "enduser.id" => Shown::Named("key"),
        "http.response.header.x-request-id" => Shown::Named("request"),
        "trace_id" => Shown::Named("trace"),
        "service.version" => Shown::Named("version"),
        "animal_store.api_version" => Shown::Named("api"),
        "url.full" => Shown::Named("address"),
        "http.route" | "span_id" | "trace_flags" => Shown::Omitted,
        other => Shown::Named(other.strip_prefix("animal_store.").unwrap_or(other)),
    }
}

/// Appends fields to a line, except those without a value.
struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn add(&mut self, key: &Key, value: impl FnOnce(&mut Vec<u8>)) {
        let name = match shown(key.as_ref()) {
            Shown::Omitted => return,
            Shown::Value => None,
            Shown::Named(name) => Some(name),
        };
        self.0.push(b' ');
        if let Some(name) = name {
            self.0.extend_from_slice(name.as_bytes());
            self.0.push(b'=');
        }
        let start = self.0.len();
        value(self.0);
        // Without a branch for each byte, so that several bytes are tested at once.
        let special = |found, byte: &u8| found | !byte.is_ascii_graphic() | (*byte == b'"');
        if start == self.0.len() || self.0[start..].iter().fold(false, special) {
            escape(self.0, start);
        }
    }
}

/// Replaces the text from `start` by a Rust string literal, which has no line break.
fn escape(bytes: &mut Vec<u8>, start: usize) {
    let text = String::from_utf8_lossy(&bytes[start..]).into_owned();
    bytes.truncate(start);
    let _ = write!(bytes, "{text:?}");
}

impl Serializer for Fields<'_> {
    fn emit_arguments(&mut self, key: Key, value: &Arguments<'_>) -> slog::Result {
        self.add(&key, |bytes| drop(bytes.write_fmt(*value)));
        Ok(())
    }

    fn emit_str(&mut self, key: Key, value: &str) -> slog::Result {
        self.add(&key, |bytes| bytes.extend_from_slice(value.as_bytes()));
        Ok(())
    }

    fn emit_u16(&mut self, key: Key, value: u16) -> slog::Result {
        self.add(&key, |bytes| push_integer(bytes, value.into(), 1));
        Ok(())
    }

    /// Seconds are shown in milliseconds, because most responses take less than one.
    fn emit_f64(&mut self, key: Key, value: f64) -> slog::Result {
        // A number outside of the range becomes the nearest one in it.
        let microseconds = (value * 1e6).round() as u64;
        self.add(&key, |bytes| {
            push_integer(bytes, microseconds / 1000, 1);
            bytes.push(b'.');
            push_integer(bytes, microseconds % 1000, 3);
            bytes.extend_from_slice(b"ms");
        });
        Ok(())
    }

    fn emit_none(&mut self, _: Key) -> slog::Result {
        Ok(())
    }

    fn emit_unit(&mut self, _: Key) -> slog::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use slog::{Level, b, o, record};

    use super::*;

    fn line(message: Arguments<'_>, value: &str) -> String {
        let mut line = Line::default();
        let values = OwnedKVList::from(o!());
        format(&mut line, &record!(Level::Warning, "", &message, b!("value" => value)), &values);
        let text = String::from_utf8(line.bytes).unwrap();
        let (time, rest) = text.split_once(' ').unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        rest.to_owned()
    }

    #[test]
    fn a_record_is_one_line_whatever_it_contains() {
        assert_eq!(line(format_args!("disk full"), "7"), "WARN  disk full value=7\n");
        assert_eq!(line(format_args!("a"), "b c"), "WARN  a value=\"b c\"\n");
        assert_eq!(line(format_args!("a"), ""), "WARN  a value=\"\"\n");
        assert_eq!(line(format_args!("a"), "b\nc=\u{202e}\""), "WARN  a value=\"b\\nc=\\u{202e}\\\"\"\n");
        assert_eq!(line(format_args!("a\nb"), "c"), "WARN  \"a\\nb\" value=c\n");
    }

    #[test]
    fn a_response_has_its_duration_in_milliseconds() {
        let (mut line, values) = (Line::default(), OwnedKVList::from(o!()));
        let fields = b!(
            "http.server.request.duration" => 0.000_412, "http.response.status_code" => 200_u16,
            "long" => 3600.25, "none" => 0.0
        );
        format(&mut line, &record!(Level::Error, RESPONSE_TAG, &format_args!("hidden"), fields), &values);
        let text = String::from_utf8(line.bytes).unwrap();
        let (_, rest) = text.split_once(' ').unwrap();
        // slog serializes the fields in reverse order.
        assert_eq!(rest, "ERROR none=0.000ms long=3600250.000ms 200 0.412ms\n");
    }
}
