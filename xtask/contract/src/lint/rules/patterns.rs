//! Patterns: that everybody reads them alike, and that no text makes them slow.

use std::collections::HashMap;

use jsonschema::{PatternOptions, ValidationOptions};

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::Model;
use crate::rule::{Findings, Rule};

const VALID: Rule = Rule::spec(
    "valid-pattern",
    "OpenAPI 3.0.3",
    "A `pattern` is a regular expression of ECMA 262 (section 4.7.24).",
);
const LINEAR: Rule = Rule::strict(
    "linear-pattern",
    Severity::Error,
    "this project",
    "A `pattern` needs no backtracking, so that no text can make it slow: it is short, repeats within reason, \
     and has no lookaround or back reference.",
);

pub(crate) const RULES: &[&Rule] = &[&VALID, &LINEAR];

/// How long a pattern may be, in bytes.
const LONGEST: usize = 1_000;
/// How many bytes a compiled pattern takes that is made in no time.
const LIGHT: usize = 1 << 16;
/// How many bytes a compiled pattern may take.
const HEAVY: usize = 4 << 20;
/// How many different patterns a document may have.
const MOST_PATTERNS: usize = 2_000;
/// How many of them may be more than light.
const MOST_HEAVY: usize = 30;

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut known: HashMap<&str, Option<(&Rule, &str)>> = HashMap::new();
    let mut heavy = 0;
    for schema in model.all(Kind::Schema) {
        let Some(pattern) = schema.text("pattern") else { continue };
        if (known.len() >= MOST_PATTERNS || heavy >= MOST_HEAVY) && !known.contains_key(pattern) {
            let message = "The document has too many different patterns, or too many large ones.";
            let fix = "Use schemas of `components` more often; patterns from here on are not checked.";
            findings.add(&LINEAR, schema.value_spot("pattern"), message, fix);
            return;
        }
        let wrong = known.entry(pattern).or_insert_with(|| {
            if pattern.len() > LONGEST {
                return Some((&LINEAR, "is too long to be checked"));
            }
            if regress::Regex::with_flags(pattern, "u").is_err() {
                return Some((&VALID, "is no regular expression of ECMA 262"));
            }
            if compiles(pattern, LIGHT) {
                return None;
            }
            heavy += 1;
            (!compiles(pattern, HEAVY)).then_some((&LINEAR, "may need backtracking, or far too much memory"))
        });
        if let Some((rule, what)) = wrong {
            let message = format!("The pattern `{}` {what}.", shown(pattern));
            let fix = "Write a simpler pattern, and say the rest in the description.";
            findings.add(rule, schema.value_spot("pattern"), message, fix);
        }
    }
}

/// A validator whose engine for patterns never backtracks.
pub(crate) fn validator() -> ValidationOptions<'static> {
    options(HEAVY)
}

/// The patterns that examples are matched with.
#[derive(Default)]
pub(crate) struct Usable<'a> {
    known: HashMap<&'a str, bool>,
    heavy: usize,
}

impl<'a> Usable<'a> {
    /// Whether a pattern can be matched by that engine; none of it is left in doubt.
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
