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
use document::openapi::{Model, Object};
use document::place::Subject;

use crate::finding::{Finding, Sides};
use crate::understood::{LeftOut, NOT_UNDERSTOOD};

pub use rules::rules;
pub use tolerated::{TOLERATED, Tolerated};

/// Returns all differences between the document and the code, in the order of the document.
///
/// A part of the document that is not valid OpenAPI is one finding. Differences that may follow from it are reported after
/// it is fixed: those below it, and those of the objects above it as a whole.
pub fn compare(document: &Document, code: &Document) -> Vec<Finding> {
    let written = Model::of(document);
    let coded = Model::of(code);
    let mut comparison = Comparison { operation: None, found: Vec::new() };
    if written.is_complete() {
        let (written, coded) = (written.root(), coded.root());
        comparison.object(&Pair { subject: Subject::document(), written, coded });
        comparison.servers(written, coded);
    }
    let mut findings = merged(comparison.found);
    if let Some(LeftOut { pointers, first, message }) = LeftOut::of(&written, |_| false) {
        let above = |at: &str| at.match_indices('/').map(|(end, _)| at[..end].to_owned()).collect::<Vec<_>>();
        let owners: HashSet<String> = pointers.iter().flat_map(|place| above(place)).collect();
        findings.retain(|Finding { pointer, .. }| {
            !owners.contains(pointer)
                && !pointers.contains(pointer)
                && !above(pointer).iter().any(|it| pointers.contains(it))
        });
        let finding = Finding::new(NOT_UNDERSTOOD.severity, NOT_UNDERSTOOD.name, &first.pointer, first.span);
        findings.insert(0, finding.message(&Subject::document(), message));
    }
    findings.sort_by_key(|finding| finding.span.start);
    findings
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

struct Comparison {
    /// The `operationId` of the current operation.
    operation: Option<String>,
    found: Vec<Finding>,
}

impl Comparison {
    /// Adds a finding for the current operation.
    fn add(&mut self, mut finding: Finding) {
        finding.operations.extend(self.operation.clone());
        self.found.push(finding);
    }
}

/// Merges equal findings about the same place, and keeps the operations of all of them.
fn merged(mut findings: Vec<Finding>) -> Vec<Finding> {
    fn place(finding: &Finding) -> (usize, usize, [&str; 2], &Option<Sides>) {
        let Finding { span, rule, pointer, says, .. } = finding;
        (span.start, span.end, [rule, pointer], says)
    }
    findings.sort_by(|one, other| place(one).cmp(&place(other)));
    findings.dedup_by(|next, kept| {
        let same = place(next) == place(kept);
        if same {
            next.operations.retain(|name| !kept.operations.contains(name));
            kept.operations.append(&mut next.operations);
            // Each operation would need its own change.
            kept.repairs.retain(|repair| next.repairs.contains(repair));
        }
        same
    });
    findings
}
