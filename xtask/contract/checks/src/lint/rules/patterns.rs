//! Patterns: valid, and matched in linear time.

use std::collections::HashMap;

use jsonschema::{PatternOptions, ValidationOptions};

use document::finding::shortened;
use document::openapi::{Kind, Model};
use document::rule::{Findings, Rule, rules};

rules! {
    VALID: Recommended Error "valid-pattern", "JSON Schema draft Wright-00, 5.8",
        "A `pattern` is a regular expression of ECMA 262.";
    LINEAR: Strict Error "linear-pattern", "this tool",
        "A `pattern` can be matched in linear time: it is short, has bounded repetitions, and neither \
         lookaround nor back references.";
}

/// The limit of bytes of a pattern.
const MAX_LENGTH: usize = 1_000;
/// The limit of bytes of a compiled pattern that is not heavy.
const MAX_LIGHT_BYTES: usize = 1 << 16;
/// The limit of bytes of a compiled pattern.
const MAX_COMPILED_BYTES: usize = 4 << 20;
/// The limit of distinct patterns of a document.
const MAX_PATTERNS: usize = 2_000;
/// The limit of heavy patterns of a document.
const MAX_HEAVY: usize = 30;

/// A rule that a pattern breaks, and how.
type Problem = Option<(&'static Rule, &'static str)>;

/// The patterns of a document, each compiled once.
#[derive(Default)]
pub(crate) struct Patterns<'a> {
    known: HashMap<&'a str, Problem>,
    heavy: usize,
}

impl<'a> Patterns<'a> {
    /// Returns the problem with a pattern. [`validator`] can match patterns without one.
    pub(crate) fn problem(&mut self, pattern: &'a str) -> Problem {
        if let Some(problem) = self.known.get(pattern) {
            return *problem;
        }
        if self.known.len() >= MAX_PATTERNS || self.heavy >= MAX_HEAVY {
            return Some((&LINEAR, "is not checked, because the document has too many patterns"));
        }
        let problem = if pattern.len() > MAX_LENGTH {
            Some((&LINEAR, "is too long to check"))
        } else if regress::Regex::with_flags(pattern, "u").is_err() {
            Some((&VALID, "is not a regular expression of ECMA 262"))
        } else if compiles(pattern, MAX_LIGHT_BYTES) {
            None
        } else {
            self.heavy += 1;
            (!compiles(pattern, MAX_COMPILED_BYTES))
                .then_some((&LINEAR, "may need backtracking or too much memory"))
        };
        self.known.insert(pattern, problem);
        problem
    }
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut patterns = Patterns::default();
    for schema in model.all(Kind::Schema) {
        let Some(pattern) = schema.text("pattern") else { continue };
        if let Some((rule, what)) = patterns.problem(pattern) {
            let message = format!("The pattern `{}` {what}.", shortened(pattern));
            let fix = "Simplify the pattern, and describe the rest in `description`.";
            findings.add(rule, schema.value_spot("pattern"), message, fix);
        }
    }
}

/// Returns options for a validator that matches patterns without backtracking.
pub(crate) fn validator() -> ValidationOptions<'static> {
    options(MAX_COMPILED_BYTES)
}

fn options(most: usize) -> ValidationOptions<'static> {
    jsonschema::options().with_pattern_options(PatternOptions::regex().size_limit(most).dfa_size_limit(most))
}

fn compiles(pattern: &str, most: usize) -> bool {
    options(most).build(&serde_json::json!({ "pattern": pattern })).is_ok()
}
