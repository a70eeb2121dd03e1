//! A line of the log while it is formatted, and what both formats share.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use slog::Level;

/// The tag of records about responses. The text format leaves out their message, which is always the same.
pub(crate) const RESPONSE_TAG: &str = "response";

/// The bytes of one record, with the date of the previous one: formatting a date costs more than the rest of
/// a line.
#[derive(Default)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    second: u64,
    date: String,
}

impl Line {
    /// Appends the current time as in `2026-11-21T07:20:08.123Z` (RFC 3339).
    pub(super) fn push_time(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if self.date.is_empty() || self.second != now.as_secs() {
            self.second = now.as_secs();
            let second = i64::try_from(self.second).ok().and_then(|it| Timestamp::from_second(it).ok());
            self.date = second.unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S").to_string();
        }
        self.bytes.extend_from_slice(self.date.as_bytes());
        self.bytes.push(b'.');
        push_integer(&mut self.bytes, now.subsec_millis().into(), 3);
        self.bytes.push(b'Z');
    }
}

/// Appends an integer, padded with zeros to `width` digits, at most 20. Without `std::fmt` the access log
/// saves 5% of a request's instructions (`xtask/src/bench/README.md`).
pub(super) fn push_integer(bytes: &mut Vec<u8>, mut integer: u64, width: usize) {
    // The largest integer has 20 digits.
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    while integer > 0 || digits.len() - start < width {
        start -= 1;
        digits[start] = b'0' + (integer % 10) as u8;
        integer /= 10;
    }
    bytes.extend_from_slice(&digits[start..]);
}

/// Returns the name of a level (OpenTelemetry, Logs Data Model, "Displaying Severity").
pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Critical => "FATAL",
        Level::Error => "ERROR",
        Level::Warning => "WARN",
        Level::Info => "INFO",
        Level::Debug => "DEBUG",
        Level::Trace => "TRACE",
    }
}
