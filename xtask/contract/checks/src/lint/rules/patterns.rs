//! Patterns: valid, and matched in linear time.

use document::finding::shortened;
use document::openapi::{Kind, Model};
use document::rule::{Findings, rules};

use crate::pattern::{Fault, Patterns};

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
        let (rule, what) = match fault {
            Fault::Syntax => (&VALID, "is not a regular expression of ECMA 262"),
            Fault::Backtracks => (&LINEAR, "needs backtracking"),
            Fault::TooLarge => (&LINEAR, "is too long to check, or may need too much memory"),
            Fault::TooMany => (&LINEAR, "is not checked, because the document has too many patterns"),
        };
        let message = format!("The pattern `{}` {what}.", shortened(pattern));
        let fix = "Simplify the pattern, and describe the rest in `description`.";
        findings.add(rule, schema.value_spot("pattern"), message, fix);
    }
}
