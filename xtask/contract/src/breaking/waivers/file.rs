//! A TOML file of waivers:
//!
//! ```toml
//! [[waiver]]
//! rule = "request-parameter-removed"
//! operation = "listPets"        # or at = "/paths/~1pets/get/parameters"
//! reason = "The parameter has not been sent since March; see the log of 2026-11-03."
//! until = 2027-01-31
//! ```

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use super::{Waiver, Waivers};
use crate::breaking::change::Location;
use crate::document::Span;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    waiver: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    at: Option<String>,
    operation: Option<String>,
    reason: String,
    #[serde(deserialize_with = "date")]
    until: Date,
}

/// Why a file of waivers could not be read, and where.
#[derive(Debug)]
pub struct Unreadable {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Location,
}

impl Waivers {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is not TOML, or has anything but complete waivers.
    pub fn parse(file: &str, text: &str) -> Result<Self, Unreadable> {
        let written: File = toml::from_str(text).map_err(|error| {
            let place = location(file, text, 0, error.span().unwrap_or_default());
            Unreadable { message: error.message().to_owned(), place }
        })?;
        let waivers = written.waiver.into_iter().enumerate().map(|(position, entry)| {
            let place = location(file, text, position, entry.span());
            let Entry { rule, at, operation, reason, until } = entry.into_inner();
            Waiver { rule, at, operation, reason, until, place }
        });
        Ok(Self(waivers.collect()))
    }
}

/// A date of TOML, or a string with one.
fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse()
        .map_err(|_| de::Error::custom(format!("`until` is `{text}`, which is not a date (YYYY-MM-DD)")))
}

/// The first line of an entry.
fn location(file: &str, text: &str, position: usize, range: std::ops::Range<usize>) -> Location {
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let end = text.floor_char_boundary(range.end.clamp(start, line_end));
    let before = &text[..start];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let span = Span { start, end, line, column };
    Location { file: file.to_owned(), pointer: format!("/waiver/{position}"), span }
}
