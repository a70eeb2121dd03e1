//! Patterns (ECMA 262): their syntax, and whether a text matches one. A match takes linear time, or a bounded number of
//! steps where a pattern needs backtracking. Two patterns are compared as text.

use std::collections::HashMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationOptions, Validator};
use serde_json::{Value, json};

/// The limit of bytes of a pattern.
pub(crate) const MAX_LENGTH: usize = 1_000;
/// The limit of bytes of a compiled pattern that is not heavy.
const MAX_LIGHT_BYTES: usize = 1 << 16;
/// The limit of bytes of a compiled pattern.
pub(crate) const MAX_COMPILED_BYTES: usize = 4 << 20;
/// The limit of steps back in one match.
const MAX_STEPS_BACK: usize = 10_000;
/// The limit of bytes of a text for a pattern that needs backtracking: each step can read all of it.
const MAX_TEXT: usize = 1_000;
/// The limit of distinct patterns of a document.
pub(crate) const MAX_PATTERNS: usize = 2_000;
/// The limit of heavy patterns of a document.
pub(crate) const MAX_HEAVY: usize = 30;

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not a regular expression of ECMA 262.
    Syntax,
    /// It needs backtracking: it has a lookaround or a back reference.
    Backtracks,
    /// It exceeds one of the limits.
    TooLarge,
}

/// The patterns of a document, each compiled once.
#[derive(Default)]
pub(crate) struct Patterns {
    known: HashMap<String, Pattern>,
    heavy: usize,
}

struct Pattern {
    fault: Option<Fault>,
    /// Tests a text. `None` if the pattern cannot be matched.
    validator: Option<Validator>,
}

impl Patterns {
    /// Returns what is wrong with a pattern.
    pub(crate) fn fault(&mut self, pattern: &str) -> Option<Fault> {
        self.pattern(pattern).fault
    }

    /// Whether a pattern matches in a text; `None` if that is unknown.
    pub(crate) fn matches(&mut self, pattern: &str, text: &Value) -> Option<bool> {
        let Pattern { fault, validator } = self.pattern(pattern);
        if fault.is_some() && text.as_str().is_none_or(|text| text.len() > MAX_TEXT) {
            return None;
        }
        match validator.as_ref()?.validate(text) {
            Ok(()) => Some(true),
            Err(error) if matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }) => None,
            Err(_) => Some(false),
        }
    }

    fn pattern(&mut self, pattern: &str) -> &Pattern {
        if !self.known.contains_key(pattern) {
            let compiled = self.compiled(pattern);
            self.known.insert(pattern.to_owned(), compiled);
        }
        &self.known[pattern]
    }

    fn compiled(&mut self, pattern: &str) -> Pattern {
        let refused = |fault| Pattern { fault: Some(fault), validator: None };
        if pattern.len() > MAX_LENGTH || self.known.len() >= MAX_PATTERNS || self.heavy >= MAX_HEAVY {
            return refused(Fault::TooLarge);
        }
        if !is_ecma(pattern) {
            return refused(Fault::Syntax);
        }
        let built = |options: ValidationOptions<'static>| options.build(&json!({ "pattern": pattern })).ok();
        if let Some(light) = built(linear(MAX_LIGHT_BYTES)) {
            return Pattern { fault: None, validator: Some(light) };
        }
        self.heavy += 1;
        if let Some(heavy) = built(linear(MAX_COMPILED_BYTES)) {
            return Pattern { fault: None, validator: Some(heavy) };
        }
        let backtracking = PatternOptions::fancy_regex()
            .backtrack_limit(MAX_STEPS_BACK)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES);
        let validator = built(jsonschema::options().with_pattern_options(backtracking));
        let fault = if validator.is_some() { Fault::Backtracks } else { Fault::TooLarge };
        Pattern { fault: Some(fault), validator }
    }
}

/// Returns options for a validator that matches patterns in linear time.
fn linear(most: usize) -> ValidationOptions<'static> {
    jsonschema::options().with_pattern_options(PatternOptions::regex().size_limit(most).dfa_size_limit(most))
}

/// Whether a pattern is a regular expression of ECMA 262, with or without the flag `u`.
fn is_ecma(pattern: &str) -> bool {
    ["u", ""].iter().any(|flags| regress::Regex::with_flags(pattern, *flags).is_ok())
}

/// Whether the pattern is one of the usual ones that match every string.
pub(crate) fn is_universal(pattern: &str) -> bool {
    matches!(pattern, "" | "^" | "$" | ".*" | "^.*")
}
