//! Patterns: valid, and matched in linear time.

use document::openapi::{Kind, Model};
use document::shortened;

use crate::pattern::{Fault, MAX_COMPILED_BYTES, MAX_HEAVY, MAX_LENGTH, MAX_PATTERNS, Patterns};
use crate::rule::{Findings, rules};

rules! {
    VALID: Recommended Error "valid-pattern", "JSON Schema draft Wright-00, 5.8",
        "A `pattern` is a regular expression of ECMA 262.";
    LINEAR: Strict Error "linear-pattern", "this tool",
        "A `pattern` can be matched in linear time: it is short, has bounded repetitions, and neither \
         lookaround nor back references.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut patterns = Patterns::default();
    for schema in model.all(Kind::Schema) {
        let Some(pattern) = schema.text("pattern") else { continue };
        let Some(fault) = patterns.fault(pattern) else { continue };
        let (rule, what, fix) = match fault {
            Fault::Syntax => (
                &VALID,
                "is not a regular expression of ECMA 262".to_owned(),
                "Correct it; the syntax is that of JavaScript.",
            ),
            Fault::Backtracks => (
                &LINEAR,
                "has a lookaround or a back reference".to_owned(),
                "Write it without, and describe the rest in `description`.",
            ),
            Fault::TooLarge => (
                &LINEAR,
                format!(
                    "has more than {MAX_LENGTH} bytes, or needs more than {} MiB",
                    MAX_COMPILED_BYTES >> 20
                ),
                "Shorten it, or lower its numbers of repetitions.",
            ),
            Fault::TooMany => (
                &LINEAR,
                format!("was not checked: the limit is {MAX_PATTERNS} patterns, and {MAX_HEAVY} large ones"),
                "Use fewer patterns, or simpler ones.",
            ),
        };
        let message = format!("The pattern `{}` {what}.", shortened(pattern));
        findings.add(rule, schema.value_spot("pattern"), message, fix);
    }
}
