//! What a rule is, and the pile of what rules find.

use std::collections::HashSet;
use std::fmt;

use animal_store::yaml::Span;

use crate::finding::{Finding, Severity, Subject};

/// Findings beyond this many help nobody, and a broken file could have a million.
const MOST: usize = 2_000;
/// How many bytes the places of all findings may take. A place is as long as the keys above it.
const MOST_BYTES: usize = 16 << 20;

/// A demand, with the name that people look it up by.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// In kebab-case, or as the linter writes it that has it too.
    pub name: &'static str,
    /// How bad it is to break it.
    pub severity: Severity,
    /// What it demands, as a sentence.
    pub demand: &'static str,
    /// Whose it is.
    pub origin: Origin,
}

/// Who made up a rule, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The OpenAPI Specification 3.0.3, or an RFC that it builds on.
    OpenApi,
    /// Spectral's ruleset `spectral:oas`.
    Spectral,
    /// Redocly's built-in rules.
    Redocly,
    /// Both, by this name.
    SpectralAndRedocly,
    /// What progenitor 0.15 cannot generate a client from.
    Progenitor,
    /// `openapi/README.md`.
    House,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::OpenApi => "OpenAPI 3.0.3",
            Self::Spectral => "Spectral",
            Self::Redocly => "Redocly",
            Self::SpectralAndRedocly => "Spectral, Redocly",
            Self::Progenitor => "progenitor",
            Self::House => "house",
        })
    }
}

impl Rule {
    /// A rule that must not be broken.
    pub(super) const fn error(name: &'static str, origin: Origin, demand: &'static str) -> Self {
        Self { name, severity: Severity::Error, demand, origin }
    }

    /// A rule that should not be broken.
    pub(super) const fn warning(name: &'static str, origin: Origin, demand: &'static str) -> Self {
        Self { name, severity: Severity::Warning, demand, origin }
    }
}

/// A place to point at.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// JSON pointer (RFC 6901).
    pub(super) pointer: String,
    /// The key or value.
    pub(super) span: Span,
    /// What is there, or whose it is.
    pub(super) subject: Subject,
}

/// The rule that a file with more findings than anybody reads breaks.
pub(super) const TOO_MANY: Rule =
    Rule::error("too-many-findings", Origin::House, "There are no more findings than are worth showing.");

/// What has been found so far.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Finding>,
    /// An alias repeats its anchor, with everything that is wrong there.
    told: HashSet<(&'static str, usize, usize, String)>,
    bytes: usize,
    dropped: usize,
}

impl Findings {
    /// Adds what breaks a rule: where, a sentence, and what would mend it.
    pub(super) fn add(
        &mut self,
        rule: &Rule,
        spot: Spot,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        if self.is_full() {
            self.dropped += 1;
            return;
        }
        let message = message.into();
        if !self.told.insert((rule.name, spot.span.start, spot.span.end, message.clone())) {
            return;
        }
        self.bytes += spot.pointer.len() + 2 * message.len();
        let finding = Finding::new(rule.severity, rule.name, &spot.pointer, spot.span);
        self.found.push(finding.message(&spot.subject, message).fix(fix));
    }

    /// Whether anything more would be dropped, so that it need not be looked for.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// All of them, in the order of the file.
    pub(super) fn sorted(mut self, whole: Spot) -> Vec<Finding> {
        if self.is_full() {
            let finding = Finding::new(TOO_MANY.severity, TOO_MANY.name, &whole.pointer, whole.span);
            let message = format!("There are more than the {} findings that are shown.", self.found.len());
            self.found
                .push(finding.message(&whole.subject, message).fix("Mend these first, then look again."));
        }
        self.found.sort_by(|one, other| (one.span.start, &one.rule).cmp(&(other.span.start, &other.rule)));
        self.found
    }
}
