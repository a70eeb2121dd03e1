//! `lint --fix`: makes the repairs of findings in the text of a document.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use checks::finding::Finding;
use checks::registry;
use checks::rule::{self, Profile};
use document::Document;
use document::edits::{Edit, edited, edits};
use document::openapi::Model;
use document::repair::Repair;
use tempfile::NamedTempFile;

/// Which repairs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Fix {
    /// Those after which the document means the same.
    Safe,
    /// Those of all findings. Of several for one finding, the first is made.
    All,
}

/// The limit of passes over the document, each of which makes the repairs of one rule.
const MAX_PASSES: usize = 100;

/// Makes the repairs of what `check` finds, until none is left. Returns the document and the number of repairs.
///
/// If the document would become unreadable or less valid by the repairs of a rule, they are left out.
pub(crate) fn fixed(
    mut document: Document,
    fix: Fix,
    check: impl Fn(&Document) -> Vec<Finding>,
) -> (Document, usize) {
    let (mut made, mut findings) = (0, check(&document));
    let (mut refused, mut seen) = (HashSet::new(), HashSet::new());
    for _ in 0..MAX_PASSES {
        let Some(Batch { rule, number, edits }) = batch(&document, &findings, fix, &refused) else { break };
        // Two repairs could undo each other.
        if !seen.insert((document.text.clone(), refused.len())) {
            break;
        }
        let after = Document::parse(&document.path, &edited(&document.text, &edits));
        let after = after.ok().map(|after| (check(&after), after));
        match after.filter(|(left, _)| invalid(left) <= invalid(&findings)) {
            Some((left, after)) => (made, findings, document) = (made + number, left, after),
            None => drop(refused.insert(rule)),
        }
    }
    (document, made)
}

/// Returns the number of findings about validity.
fn invalid(findings: &[Finding]) -> usize {
    let is_spec = |rule: &str| registry::find(rule).is_none_or(|rule| rule.profile == Profile::Spec);
    findings.iter().filter(|finding| is_spec(&finding.rule)).count()
}

/// The repairs of one rule.
struct Batch {
    rule: String,
    number: usize,
    /// In the order of the text. No two of them touch.
    edits: Vec<Edit>,
}

/// Returns the repairs of the first rule that has some.
fn batch(document: &Document, findings: &[Finding], fix: Fix, refused: &HashSet<String>) -> Option<Batch> {
    let model = Model::of(document);
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut batch: Option<Batch> = None;
    for finding in findings.iter().filter(|finding| !refused.contains(&finding.rule)) {
        if batch.as_ref().is_some_and(|batch| batch.rule != finding.rule) {
            continue;
        }
        let Some(edits) = chosen(finding, fix).and_then(|repair| edits(&model, repair)) else { continue };
        let touches = |edit: &Edit| {
            taken.range(..=edit.range.end).next_back().is_some_and(|(_, end)| *end >= edit.range.start)
        };
        if !edits.is_empty() && !edits.iter().any(touches) {
            taken.extend(edits.iter().map(|edit| (edit.range.start, edit.range.end)));
            let new = || Batch { rule: finding.rule.clone(), number: 0, edits: Vec::new() };
            let batch = batch.get_or_insert_with(new);
            batch.number += 1;
            batch.edits.extend(edits);
        }
    }
    if let Some(batch) = &mut batch {
        batch.edits.sort_by_key(|edit| edit.range.start);
    }
    batch
}

fn chosen(finding: &Finding, fix: Fix) -> Option<&Repair> {
    let is_safe = || registry::find(&finding.rule).is_some_and(|rule| rule.fix == rule::Fix::Safe);
    match (fix, finding.repairs.as_slice()) {
        (Fix::All, [repair, ..]) => Some(repair),
        (Fix::Safe, [repair]) if is_safe() => Some(repair),
        _ => None,
    }
}

/// Replaces a file as a whole, so that a reader or an interruption never sees half of it.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // The file behind a link is replaced, not the link.
    let path = fs::canonicalize(path)?;
    let mut beside = NamedTempFile::new_in(path.parent().unwrap_or(&path))?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    beside.as_file().sync_all()?;
    beside.persist(path)?;
    Ok(())
}
