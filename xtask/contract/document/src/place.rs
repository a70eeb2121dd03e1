//! The object of a place, for messages and to find it in code, and a place in a document.

use std::fmt;

use crate::text::{Span, shortened};

/// The object of a finding, the outermost part first: operation, response, header. It is used in the message, and
/// to find the place in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The parts that the message names.
    parts: Vec<(&'static str, String)>,
    /// All parts on the path from the document.
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

    /// Adds the component to which this refers. Messages name only the component, since others may refer to it too.
    #[must_use]
    pub fn component(&self, name: &str) -> Self {
        Self { parts: vec![("component", name.to_owned())], trail: self.trail.clone() }
    }

    /// Returns the kinds and names in messages, the outermost first.
    pub fn parts(&self) -> &[(&'static str, String)] {
        &self.parts
    }

    /// Returns the kinds and names on the path from the document, through references.
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

/// A place in a document.
#[derive(Clone, Debug)]
pub struct Spot {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    /// The text of the key or value.
    pub span: Span,
    /// The object at the place, or its owner.
    pub subject: Subject,
    /// The place of the alias or merge key through which the pointer leads to text elsewhere.
    pub alias: Option<Span>,
}
