//! Compares a document with the code: the written document, and the document that is generated from the code.
//!
//! Both are read into a [`Model`] and compared object by object through its views, so that references,
//! inheritance and defaults are the same on both sides. The tables of OpenAPI 3.0.3 list the keywords of each
//! object. Every keyword is compared, except for the differences in [`TOLERATED`].
//!
//! Generated clients use the names of schemas, so schemas are compared by name. Other components are compared
//! where they are used.
//!
//! If only one side has an object, its content is not compared. A component that many operations use is reported
//! once. [`crate::lint`] reports problems of the document alone.

mod keyword;
mod names;
mod object;
mod operation;
mod rules;
mod schema;
mod tolerated;

use std::collections::HashSet;

use document::Document;
use document::finding::{Finding, Subject};
use document::openapi::{LeftOut, Model, NOT_UNDERSTOOD, Object, left_out};
use document::pointer;
use document::repair::Repair;
use document::rule::Findings;

pub use rules::rules;
pub use tolerated::{TOLERATED, Tolerated};

/// The caller's help for fixing findings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Help<'h> {
    /// The command that adds missing parts to the code, such as `cargo xtask scaffold`. Its arguments are the
    /// `operationId` of an operation, or none for all operations, and `--write`.
    pub scaffold: Option<&'h str>,
}

/// Returns all differences between the document and the code, in the order of the document.
pub fn compare(document: &Document, code: &Document, help: Help<'_>) -> Vec<Finding> {
    let mut found = Findings::default();
    let written = Model::of(document, &mut found);
    let coded = Model::of(code, &mut Findings::default());
    let (unclear, finding) = not_understood(document, code, found);
    if !written.is_complete() {
        return finding.into_iter().collect();
    }
    let mut comparison = Comparison { help, unclear, operation: None, found: Vec::new(), searches: 0 };
    comparison.object(&Pair { subject: Subject::document(), written: written.root(), coded: coded.root() });
    let mut findings = merged(comparison.found);
    findings.splice(0..0, finding);
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

/// Returns the pointers of places that cannot be compared, because their structure is not valid OpenAPI, and one
/// finding at the first of them.
fn not_understood(
    document: &Document,
    code: &Document,
    found: Findings,
) -> (HashSet<String>, Option<Finding>) {
    // A schema that only the code has is reported at the place where the document would list it.
    let missing_schema = |finding: &Finding| {
        let node = document.root.pointer(&finding.pointer).and_then(|node| node.as_str());
        let target = node.filter(|reference| reference.starts_with("#/components/schemas/"));
        target.and_then(pointer::in_reference).is_some_and(|target| code.root.pointer(&target).is_some())
    };
    let findings = found.sorted().into_iter().filter(|finding| !missing_schema(finding)).collect();
    let Some(LeftOut { pointers, first, message }) = left_out(findings) else { return Default::default() };
    let finding = Finding::new(NOT_UNDERSTOOD.severity, NOT_UNDERSTOOD.name, &first.pointer, first.span)
        .message(&Subject::document(), message)
        .fix("Run lint, and fix what it reports first.");
    (pointers, Some(finding))
}

/// The objects of the document and of the code at one place.
#[derive(Clone)]
struct Pair<'a> {
    subject: Subject,
    /// The object of the document.
    written: Object<'a>,
    /// The object of the code.
    coded: Object<'a>,
}

impl<'a> Pair<'a> {
    /// Returns a pair of objects inside this pair.
    fn inner(&self, kind: &'static str, name: &str, written: Object<'a>, coded: Object<'a>) -> Self {
        Self { subject: self.subject.with(kind, name), written, coded }
    }
}

struct Comparison<'h> {
    help: Help<'h>,
    /// The pointers of the places that cannot be compared, because of an error that is reported already.
    unclear: HashSet<String>,
    /// The `operationId` of the current operation.
    operation: Option<String>,
    found: Vec<Finding>,
    /// The number of searches for places that need an object that the code does not have.
    searches: usize,
}

impl Comparison<'_> {
    /// Adds a finding for the current operation.
    fn add(&mut self, mut finding: Finding) {
        finding.operations.extend(self.operation.clone());
        self.found.push(finding);
    }

    /// Whether the place under this key of an object cannot be compared.
    fn is_unclear(&self, object: Object<'_>, key: &str) -> bool {
        !self.unclear.is_empty() && self.unclear.contains(&pointer::below(object.pointer(), key))
    }

    /// Whether an item of this list cannot be compared. It may be the one that seems to be missing.
    fn has_unclear_item(&self, object: Object<'_>, key: &str) -> bool {
        let list = pointer::below(object.pointer(), key) + "/";
        self.unclear.iter().any(|pointer| pointer.starts_with(&list))
    }
}

/// Merges equal findings about the same place, and keeps the operations of all of them.
fn merged(mut findings: Vec<Finding>) -> Vec<Finding> {
    fn place(finding: &Finding) -> (usize, usize, [&str; 4]) {
        let Finding { span, rule, pointer, file, code, .. } = finding;
        (span.start, span.end, [rule, pointer, file, code])
    }
    findings.sort_by(|one, other| place(one).cmp(&place(other)));
    findings.dedup_by(|next, kept| {
        let same = place(next) == place(kept);
        if same {
            for operation in next.operations.drain(..) {
                if !kept.operations.contains(&operation) {
                    kept.operations.push(operation);
                }
            }
            // Each operation needs its own change.
            if next.repairs != kept.repairs {
                let all = [&mut kept.repairs, &mut next.repairs].map(|repairs| repairs.pop());
                let both = all.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
                let parts = both.into_iter().flat_map(|repair| match repair {
                    Repair::Together(repairs) => repairs,
                    other => vec![other],
                });
                let parts: Vec<_> = parts.collect();
                kept.repairs = if parts.is_empty() { Vec::new() } else { vec![Repair::Together(parts)] };
            }
        }
        same
    });
    findings
}
