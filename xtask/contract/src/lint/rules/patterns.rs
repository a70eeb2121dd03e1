//! Patterns: valid, and matched in linear time.

use std::collections::HashMap;

use jsonschema::{PatternOptions, ValidationOptions};

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model};
use crate::rule::{Findings, Rule, rules};

rules! {
    VALID: Recommended Error "valid-pattern", "JSON Schema draft Wright-00, 5.8",
        "A `pattern` is a regular expression of ECMA 262.";
    LINEAR: Strict Error "linear-pattern", "this project",
        "A `pattern` can be matched in linear time: it is short, has bounded repetitions, and neither \
         lookaround nor back references.";
}

/// The most bytes of a pattern.
const LONGEST: usize = 1_000;
/// The most bytes of a compiled pattern that does not count as heavy.
const LIGHT: usize = 1 << 16;
/// The most bytes of a compiled pattern.
const HEAVY: usize = 4 << 20;
/// The most distinct patterns of a document.
const MOST_PATTERNS: usize = 2_000;
/// The most heavy patterns of a document.
const MOST_HEAVY: usize = 30;

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut known: HashMap<&str, Option<(&Rule, &str)>> = HashMap::new();
    let mut heavy = 0;
    for schema in model.all(Kind::Schema) {
        let Some(pattern) = schema.text("pattern") else { continue };
        if (known.len() >= MOST_PATTERNS || heavy >= MOST_HEAVY) && !known.contains_key(pattern) {
            let message = "The document has too many patterns; those from here on are not checked.";
            let fix = "Move repeated patterns into schemas of `components`, and simplify large ones.";
            findings.add(&LINEAR, schema.value_spot("pattern"), message, fix);
            return;
        }
        let wrong = known.entry(pattern).or_insert_with(|| {
            if pattern.len() > LONGEST {
                return Some((&LINEAR, "is too long to check"));
            }
            if regress::Regex::with_flags(pattern, "u").is_err() {
                return Some((&VALID, "is not a regular expression of ECMA 262"));
            }
            if compiles(pattern, LIGHT) {
                return None;
            }
            heavy += 1;
            (!compiles(pattern, HEAVY)).then_some((&LINEAR, "may need backtracking or too much memory"))
        });
        if let Some((rule, what)) = wrong {
            let message = format!("The pattern `{}` {what}.", shown(pattern));
            let fix = "Simplify the pattern, and describe the rest in `description`.";
            findings.add(rule, schema.value_spot("pattern"), message, fix);
        }
    }
}

/// Options of a validator that matches patterns without backtracking.
pub(crate) fn validator() -> ValidationOptions<'static> {
    options(HEAVY)
}

/// The patterns that examples are validated with.
#[derive(Default)]
pub(crate) struct Usable<'a> {
    known: HashMap<&'a str, bool>,
    heavy: usize,
}

impl<'a> Usable<'a> {
    /// Whether the engine of [`validator`] can match a pattern.
    pub(crate) fn is(&mut self, pattern: &'a str) -> bool {
        if let Some(usable) = self.known.get(pattern) {
            return *usable;
        }
        let within = self.known.len() < MOST_PATTERNS && self.heavy < MOST_HEAVY && pattern.len() <= LONGEST;
        let light = within && compiles(pattern, LIGHT);
        self.heavy += usize::from(within && !light);
        let usable = light || (within && compiles(pattern, HEAVY));
        self.known.insert(pattern, usable);
        usable
    }
}

fn options(most: usize) -> ValidationOptions<'static> {
    jsonschema::options().with_pattern_options(PatternOptions::regex().size_limit(most).dfa_size_limit(most))
}

fn compiles(pattern: &str, most: usize) -> bool {
    options(most).build(&serde_json::json!({ "pattern": pattern })).is_ok()
}
