//! Patterns (ECMA 262). Two patterns are compared as text.

use std::collections::HashMap;

/// Patterns, each compiled once.
#[derive(Default)]
pub(super) struct Patterns(HashMap<String, Option<regress::Regex>>);

impl Patterns {
    /// Whether the pattern matches in the text; `None` if it is invalid.
    pub(super) fn matches(&mut self, pattern: &str, text: &str) -> Option<bool> {
        let matcher = self.0.entry(pattern.to_owned());
        let matcher = matcher.or_insert_with(|| regress::Regex::with_flags(pattern, "u").ok());
        Some(matcher.as_ref()?.find(text).is_some())
    }
}

/// Whether the pattern is one of the usual ones that match every string.
pub(crate) fn is_universal(pattern: &str) -> bool {
    matches!(pattern, "" | "^" | "$" | ".*" | "^.*")
}
