//! The text format, for people: `TIME LEVEL MESSAGE name=value ...`. A response has its method, path, status
//! and duration in the place of the message:
//!
//! ```text
//! 2026-11-21T07:20:08.123Z INFO  GET /v1/pets 200 0.412ms peer=127.0.0.1 key=key_a1 request=4f0c...
//! ```

use std::fmt::Arguments;
use std::io::Write as _;

use slog::{KV, Key, OwnedKVList, Record, Serializer};

use super::{RESPONSE_TAG, level_name, now};

/// Appends a record to `line`.
pub(super) fn format(line: &mut Vec<u8>, record: &Record<'_>, values: &OwnedKVList) {
    // Writing to a Vec does not fail.
    let _ = write!(line, "{} ", now());
    let level = level_name(record.level());
    line.extend_from_slice(level.as_bytes());
    line.resize(line.len() + 5_usize.saturating_sub(level.len()), b' ');
    if record.tag() != RESPONSE_TAG {
        line.push(b' ');
        let start = line.len();
        let _ = line.write_fmt(*record.msg());
        escape_if(line, start, u8::is_ascii_control);
    }
    let mut fields = Fields(line);
    let _ = record.kv().serialize(record, &mut fields).and_then(|()| values.serialize(record, &mut fields));
    line.push(b'\n');
}

/// Returns the name of a field; "" if the value is shown alone, `None` if it is shown only in JSON.
fn shown(key: &str) -> Option<&str> {
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

/// Replaces the text from `start` by a Rust string literal, which has no line break, if a byte of it is special.
fn escape_if(line: &mut Vec<u8>, start: usize, is_special: impl Fn(&u8) -> bool) {
    if line[start..].iter().fold(false, |found, byte| found | is_special(byte)) {
        let text = String::from_utf8_lossy(&line[start..]).into_owned();
        line.truncate(start);
        let _ = write!(line, "{text:?}");
    }
}

/// Appends fields to a line, except those without a value. Strings and numbers are appended without `std::fmt`, which the
/// row "access log" of `xtask/RECORDS.md` is about.
struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn add(&mut self, key: &Key, value: impl FnOnce(&mut Vec<u8>)) -> slog::Result {
        let Some(name) = shown(key.as_ref()) else { return Ok(()) };
        self.0.push(b' ');
        self.0.extend_from_slice(name.as_bytes());
        if !name.is_empty() {
            self.0.push(b'=');
        }
        let start = self.0.len();
        value(self.0);
        if self.0.len() == start {
            self.0.extend_from_slice(b"\"\"");
        } else {
            escape_if(self.0, start, |byte| !byte.is_ascii_graphic() | (*byte == b'"'));
        }
        Ok(())
    }
}

impl Serializer for Fields<'_> {
    fn emit_arguments(&mut self, key: Key, value: &Arguments<'_>) -> slog::Result {
        self.add(&key, |line| drop(line.write_fmt(*value)))
    }

    fn emit_str(&mut self, key: Key, value: &str) -> slog::Result {
        self.add(&key, |line| line.extend_from_slice(value.as_bytes()))
    }

    fn emit_u16(&mut self, key: Key, value: u16) -> slog::Result {
        self.emit_str(key, itoa::Buffer::new().format(value))
    }

    /// Seconds are shown in milliseconds, because most responses take less than one.
    fn emit_f64(&mut self, key: Key, value: f64) -> slog::Result {
        // A number outside of the range becomes the nearest one in it.
        let microseconds = (value * 1e6).round() as u64;
        let mut digits = itoa::Buffer::new();
        self.add(&key, |line| {
            line.extend_from_slice(digits.format(microseconds / 1000).as_bytes());
            line.push(b'.');
            line.extend_from_slice(&digits.format(1000 + microseconds % 1000).as_bytes()[1..]);
            line.extend_from_slice(b"ms");
        })
    }

    fn emit_none(&mut self, _: Key) -> slog::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use slog::{Level, b, o, record};

    use super::*;

    fn line(message: Arguments<'_>, value: &str) -> String {
        let mut line = Vec::new();
        let values = OwnedKVList::from(o!());
        format(&mut line, &record!(Level::Warning, "", &message, b!("value" => value)), &values);
        let text = String::from_utf8(line).unwrap();
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
        let (mut line, values) = (Vec::new(), OwnedKVList::from(o!()));
        let fields = b!(
            "http.server.request.duration" => 0.000_412, "http.response.status_code" => 200_u16,
            "long" => 3600.25, "none" => 0.0
        );
        format(&mut line, &record!(Level::Error, RESPONSE_TAG, &format_args!("hidden"), fields), &values);
        let text = String::from_utf8(line).unwrap();
        let (_, rest) = text.split_once(' ').unwrap();
        // slog serializes the fields in reverse order.
        assert_eq!(rest, "ERROR none=0.000ms long=3600250.000ms 200 0.412ms\n");
    }
}
