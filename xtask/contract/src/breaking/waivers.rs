//! Waivers: breaking changes that somebody decided to allow, for a reason and for a time.
//!
//! `openapi/waivers.toml` is a list of
//!
//! ```toml
//! [[waiver]]
//! rule = "request-parameter-removed"
//! operation = "listPets"        # or pointer = "/paths/~1pets/get/parameters"
//! reason = "Nobody has sent it since March; see the log of 2026-11-03."
//! expires = 2027-01-31
//! ```
//!
//! A `pointer` is that of the place in either document. An `operation` covers a change only if it concerns
//! no other operation. An entry that is incomplete or expired waives nothing, and it, or one that no
//! change needs, is reported.

use crate::document::Span;
use jiff::civil::Date;
use serde::Deserialize;
use toml::Spanned;

use super::change::{Change, Location};
use super::rules::{self, Rule};
use crate::finding::{Severity, Subject, shortened};

/// A file of waivers.
#[derive(Debug, Default)]
pub struct Waivers {
    file: String,
    text: String,
    entries: Vec<Spanned<Entry>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    waiver: Vec<Spanned<Entry>>,
}

/// One entry; what is missing is reported, so nothing is required here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: Option<String>,
    pointer: Option<String>,
    operation: Option<String>,
    reason: Option<String>,
    expires: Option<toml::Value>,
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
    /// When it is no TOML, or holds anything that is no waiver.
    pub fn parse(file: &str, text: &str) -> Result<Self, Unreadable> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let range = error.span().unwrap_or_default();
            let place = location(file, text, 0, range);
            Unreadable { message: error.message().to_owned(), place }
        })?;
        Ok(Self { file: file.to_owned(), text: text.to_owned(), entries: written.waiver })
    }

    /// Marks the changes that are waived, and returns what is wrong with the waivers themselves.
    pub fn apply(&self, changes: &mut [Change], today: Date) -> Vec<Change> {
        let mut findings = Vec::new();
        for (position, entry) in self.entries.iter().enumerate() {
            let place = location(&self.file, &self.text, position, entry.span());
            let entry = entry.get_ref();
            let mut finding = |rule: &Rule, what: String| findings.push(finding(rule, what, place.clone()));
            let terms = match entry.terms() {
                Ok(terms) => terms,
                Err(what) => {
                    finding(&rules::WAIVER_INVALID, what);
                    continue;
                }
            };
            if terms.expires < today {
                finding(&rules::WAIVER_EXPIRED, format!("it ended on {}", terms.expires));
                continue;
            }
            let mut used = false;
            for change in changes.iter_mut().filter(|change| terms.cover(change)) {
                change.waived = Some(terms.reason.to_owned());
                used = true;
            }
            if !used {
                finding(&rules::WAIVER_UNUSED, format!("no change `{}` fits it", shortened(terms.rule)));
            }
        }
        findings
    }
}

/// A complete entry.
struct Terms<'a> {
    rule: &'a str,
    pointer: Option<&'a str>,
    operation: Option<&'a str>,
    reason: &'a str,
    expires: Date,
}

impl Entry {
    fn terms(&self) -> Result<Terms<'_>, String> {
        let text = |text: &'_ Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        let missing = |key: &str, what: &str| Err(format!("its `{key}` is missing: {what}"));
        let Some(rule) = self.rule.as_deref().filter(|_| text(&self.rule)) else {
            return missing("rule", "the name of the rule that it waives");
        };
        match rules::all().find(|known| known.name == rule) {
            None => return Err(format!("there is no rule `{}`", shortened(rule))),
            Some(known) if known.severity == Severity::Unreadable || known.bump == rules::Bump::None => {
                return Err(format!("`{rule}` cannot be waived"));
            }
            Some(_) => {}
        }
        if self.pointer.is_none() && self.operation.is_none() {
            return missing("pointer", "the place that it is about; or give an `operation`");
        }
        let Some(reason) = self.reason.as_deref().filter(|_| text(&self.reason)) else {
            return missing("reason", "why this may break somebody");
        };
        let Some(expires) = &self.expires else {
            return missing("expires", "the last day on which it holds");
        };
        let written = expires.as_str().map_or_else(|| expires.to_string(), str::to_owned);
        let Ok(expires) = written.parse() else {
            return Err(format!("its `expires` is no date (YYYY-MM-DD): {}", shortened(&written)));
        };
        let (pointer, operation) = (self.pointer.as_deref(), self.operation.as_deref());
        Ok(Terms { rule, pointer, operation, reason, expires })
    }
}

impl Terms<'_> {
    fn cover(&self, change: &Change) -> bool {
        let places = std::iter::once(&change.place).chain(&change.base);
        let mut pointers = places.map(|place| place.pointer.as_str());
        change.rule.name == self.rule
            && self.pointer.is_none_or(|pointer| pointers.any(|place| place == pointer))
            && self.operation.is_none_or(|operation| {
                !change.operations.is_empty() && change.operations.iter().all(|name| name == operation)
            })
    }
}

fn finding(rule: &Rule, what: String, place: Location) -> Change {
    Change {
        rule: rule.clone(),
        subject: Subject::document().with("waiver", ""),
        what,
        place,
        base: None,
        operations: Vec::new(),
        waived: None,
    }
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
