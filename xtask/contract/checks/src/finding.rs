//! The result of a check: one type for every command and every output format.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use document::place::Subject;
use document::repair::Repair;
use document::{Span, Unreadable};

/// The severity of a finding, from the least to the greatest.
#[derive(
    clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A fact without need for action.
    Info,
    /// Probably a mistake.
    Warning,
    /// A violated requirement.
    #[default]
    Error,
    /// The file or a part of it cannot be read, and was not checked or compared.
    #[value(skip)]
    Unreadable,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{self:?}").to_lowercase())
    }
}

/// A place in a file: that of a change, source code that differs from the document, or the document before a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file, with `/` between its parts: source code from the root of the repository, a document as it was given.
    pub file: String,
    /// JSON pointer (RFC 6901) of the place; empty in source code.
    pub pointer: String,
    /// The text of the place.
    pub span: Span,
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.span.line, self.span.column)
    }
}

/// A value in the document and in the code, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Sides {
    /// The value in the document.
    pub document: String,
    /// The value in the code.
    pub code: String,
}

/// A problem that a check reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name, in kebab-case.
    pub rule: String,
    /// The severity.
    pub severity: Severity,
    /// JSON pointer (RFC 6901) of the place in the file; that of the owner for a missing part.
    pub pointer: String,
    /// The key or value at fault.
    pub span: Span,
    /// The object of the finding.
    pub subject: Subject,
    /// The problem, as a sentence.
    pub message: String,
    /// The values in the document and in the code, if these are compared.
    pub says: Option<Sides>,
    /// What the difference does to clients, as a sentence. Empty if the finding is not about a change.
    pub impact: String,
    /// The fix, as a sentence. Empty if nothing needs to be fixed.
    pub fix: String,
    /// The changes that fix it. Empty if the fix needs a decision.
    pub repairs: Vec<Repair>,
    /// The name in the code that differs from the file's, or a name that only one side has.
    pub instead: Option<String>,
    /// The Rust code that differs from the document.
    pub source: Option<Location>,
    /// The place in the document before a change. `None` for an added part.
    pub elsewhere: Option<Location>,
    /// The reason why the configuration accepts it: that of a waiver or of an `ignore`.
    pub accepted: Option<String>,
    /// The operations that it was found in. One place in `components` can be used by many.
    pub operations: Vec<String>,
    /// Further places of the same finding, in a report for people: each with its line and object.
    pub also: Vec<String>,
}

impl Finding {
    /// Returns a finding with a place and no message.
    pub fn new(severity: Severity, rule: impl Into<String>, pointer: &str, span: Span) -> Self {
        Self { rule: rule.into(), severity, pointer: pointer.to_owned(), span, ..Self::default() }
    }

    /// Sets the subject and the message.
    #[must_use]
    pub fn message(mut self, subject: &Subject, message: impl Into<String>) -> Self {
        self.subject = subject.clone();
        self.message = capitalised(&message.into());
        self
    }

    /// Returns the impact and the fix.
    pub fn advice(&self) -> impl Iterator<Item = &str> {
        [self.impact.as_str(), self.fix.as_str()].into_iter().filter(|sentence| !sentence.is_empty())
    }

    /// Returns the message, the impact and the fix in one line, without the lines of a waiver.
    pub fn in_one_line(&self) -> String {
        let sentences = std::iter::once(&*self.message).chain(self.advice());
        sentences.filter_map(|sentence| sentence.lines().next()).collect::<Vec<_>>().join(" ")
    }

    /// Sets the values in the document and in the code.
    #[must_use]
    pub fn sides(mut self, document: impl Into<String>, code: impl Into<String>) -> Self {
        self.says = Some(Sides { document: document.into(), code: code.into() });
        self
    }

    /// Sets the fix.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    /// Adds a change that fixes it.
    #[must_use]
    pub fn repair(mut self, repair: impl Into<Option<Repair>>) -> Self {
        self.repairs.extend(repair.into());
        self
    }

    /// Sets `instead`.
    #[must_use]
    pub fn instead(mut self, name: Option<impl Into<String>>) -> Self {
        self.instead = name.map(Into::into);
        self
    }
}

/// Returns the finding for a file that could not be read.
impl From<&Unreadable> for Finding {
    fn from(unreadable: &Unreadable) -> Self {
        let problem = &unreadable.problem;
        let span = Span { end: problem.span.start, ..problem.span };
        Self::new(Severity::Unreadable, "unreadable", "", span)
            .message(&Subject::document(), format!("{}.", problem.message))
    }
}

/// A file, and the findings about it.
#[derive(Debug)]
pub struct File {
    /// The path.
    pub path: String,
    /// The text, empty if it could not be read.
    pub text: String,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl From<Unreadable> for File {
    fn from(unreadable: Unreadable) -> Self {
        let findings = vec![Finding::from(&unreadable)];
        Self { path: unreadable.path, text: unreadable.text, findings }
    }
}

/// Gives each finding of a report a name that stays the same when lines move, and when other findings come or go.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints(HashMap<String, usize>);

impl Fingerprints {
    /// Returns the fingerprint of a finding: its rule and its place in the tree of the document, which is in `file`.
    /// Findings that agree in these are numbered.
    pub(crate) fn of(&mut self, file: &str, finding: &Finding) -> String {
        let Finding { rule, pointer, subject, instead, .. } = finding;
        let name = instead.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        let place = format!("{rule} {file}#{pointer} {subject}{name}");
        let number = self.0.entry(place.clone()).or_default();
        *number += 1;
        format!("{place} {number}")
    }
}

/// Returns a text with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Returns the number of findings of each severity, such as `2 errors, 1 warning`.
pub fn summary(severities: impl Iterator<Item = Severity>) -> String {
    let mut numbers = [0; 4];
    severities.for_each(|severity| numbers[severity as usize] += 1);
    let nouns = ["note", "warning", "error", "unreadable place"];
    let counts = numbers.into_iter().zip(nouns).rev().filter(|(number, _)| *number > 0);
    let counts: Vec<_> = counts
        .map(|(number, noun)| format!("{number} {noun}{}", if number == 1 { "" } else { "s" }))
        .collect();
    if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") }
}
