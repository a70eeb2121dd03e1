//! What a check reports: one type for every command and every output format.

use std::fmt;

pub use crate::document::shortened;
use crate::document::{Span, Unreadable};

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Probably a mistake.
    Warning,
    /// A requirement is not met.
    #[default]
    Error,
    /// The file cannot be read here, so nothing was checked or compared.
    Unreadable,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Unreadable => "unreadable",
        })
    }
}

/// What a finding is about, from the outside in: operation, response, header. It makes up the sentence, and
/// says where in the code to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// What the sentence says.
    parts: Vec<(&'static str, String)>,
    /// How one gets there from the document, whatever the sentence begins with.
    trail: Vec<(&'static str, String)>,
}

impl Subject {
    /// The whole document.
    pub fn document() -> Self {
        Self::default()
    }

    /// A part of it: a `kind`, and its name unless there is just one.
    #[must_use]
    pub fn with(&self, kind: &'static str, name: &str) -> Self {
        let mut subject = self.clone();
        subject.parts.push((kind, name.to_owned()));
        subject.trail.push((kind, name.to_owned()));
        subject
    }

    /// The component that this refers to: spoken of by its own name, since others may refer to it too.
    #[must_use]
    pub fn component(&self, name: &str) -> Self {
        Self { parts: vec![("component", name.to_owned())], trail: self.trail.clone() }
    }

    /// Kinds and names, from the outside in, as a sentence has them.
    pub fn parts(&self) -> &[(&'static str, String)] {
        &self.parts
    }

    /// Kinds and names from the document down, through references.
    pub fn trail(&self) -> &[(&'static str, String)] {
        &self.trail
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts.is_empty() {
            return formatter.write_str("the document");
        }
        for (position, (kind, name)) in self.parts.iter().rev().enumerate() {
            let of = if position == 0 { "" } else { " of " };
            let name = shortened(name);
            match name.is_empty() {
                true => write!(formatter, "{of}the {kind}")?,
                false => write!(formatter, "{of}{kind} `{name}`")?,
            }
        }
        Ok(())
    }
}

/// A place to point at.
#[derive(Clone, Debug)]
pub struct Spot {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    /// The key or value.
    pub span: Span,
    /// What is there, or whose it is.
    pub subject: Subject,
}

/// A place in a second file, such as the source code that a finding contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, from the root of the repository, with `/` between its parts.
    pub file: String,
    /// What is there.
    pub span: Span,
}

/// What a check reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name, in kebab-case.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// JSON pointer (RFC 6901) of the place in the file. What the file lacks has that of its owner.
    pub pointer: String,
    /// The key or value at fault.
    pub span: Span,
    /// What it is about.
    pub subject: Subject,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What the file says.
    pub file: String,
    /// What the code says; empty where it has no say.
    pub code: String,
    /// What to do about it, as a sentence.
    pub fix: String,
    /// The name that the code has instead of the file's, or that one side lacks.
    pub instead: Option<String>,
    /// The Rust code that says otherwise.
    pub source: Option<Location>,
    /// Where else it is written, as file, line and column. Empty if nowhere.
    pub elsewhere: String,
    /// The operations that it was found in. One place in `components` can be used by many.
    pub operations: Vec<String>,
}

impl Finding {
    /// A finding of which only the place is known yet.
    pub fn new(severity: Severity, rule: impl Into<String>, pointer: &str, span: Span) -> Self {
        Self { rule: rule.into(), severity, pointer: pointer.to_owned(), span, ..Self::default() }
    }

    /// With its sentence.
    #[must_use]
    pub fn message(mut self, subject: &Subject, message: impl Into<String>) -> Self {
        self.subject = subject.clone();
        self.message = capitalised(&message.into());
        self
    }

    /// With what each side says.
    #[must_use]
    pub fn sides(mut self, file: impl Into<String>, code: impl Into<String>) -> Self {
        self.file = file.into();
        self.code = code.into();
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    /// With the name in `instead`.
    #[must_use]
    pub fn instead(mut self, name: Option<impl Into<String>>) -> Self {
        self.instead = name.map(Into::into);
        self
    }
}

/// The finding for a file that could not be read.
impl From<&Unreadable> for Finding {
    fn from(unreadable: &Unreadable) -> Self {
        let problem = &unreadable.problem;
        let span = Span { end: problem.span.start, ..problem.span };
        Self::new(Severity::Unreadable, "unreadable", "", span)
            .message(&Subject::document(), format!("{}.", problem.message))
            .fix("Nothing was checked. Fix this first.")
    }
}

pub(crate) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// The name that was probably meant: the most similar one, at most `distance` edits away. Case, `-` and `_` do
/// not count.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>, distance: usize) -> Option<&'n str> {
    // The comparison takes quadratic time.
    const LONGEST: usize = 100;
    let folded = |name: &str| name.to_lowercase().replace(['-', '_'], "");
    let near = known.filter(|known| name.len().max(known.len()) <= LONGEST);
    let near = near.map(|known| (strsim::damerau_levenshtein(&folded(name), &folded(known)), known));
    near.filter(|(edits, _)| *edits <= distance).min().map(|(_, known)| known)
}

/// The number of findings of each severity, as `2 errors, 1 warning`.
pub fn summary(severities: impl Iterator<Item = Severity>) -> String {
    let severities: Vec<Severity> = severities.collect();
    let nouns = [
        (Severity::Unreadable, "unreadable place"),
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Info, "note"),
    ];
    let counted = nouns.into_iter().filter_map(|(severity, noun)| {
        let count = severities.iter().filter(|known| **known == severity).count();
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {noun}{plural}"))
    });
    let counts: Vec<_> = counted.collect();
    if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") }
}
