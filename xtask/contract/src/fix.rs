//! `lint --fix`: makes the repairs of findings in the text of a document.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::{fs, io, process};

use checks::registry;
use document::Document;
use document::edits::{Edit, edited, edits};
use document::finding::Finding;
use document::openapi::Model;
use document::repair::Repair;
use document::rule::{Findings, Profile};

/// Which repairs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Those after which the document means the same.
    Safe,
    /// Those of all findings. Of several for one finding, the first is made.
    All,
}

/// The limit of passes over the document. A repair can lead to another finding with a repair.
const MAX_PASSES: usize = 100;

/// Makes the repairs of what `check` finds, until none is left. Returns the document and the number of repairs.
///
/// A repair that would make the document unreadable, or less valid than it was, is left out.
pub(crate) fn fixed(
    mut document: Document,
    fix: Fix,
    check: impl Fn(&Document) -> Vec<Finding>,
) -> (Document, usize) {
    let (mut made, mut findings) = (0, check(&document));
    let (mut refused, mut seen) = (HashSet::new(), HashSet::new());
    for _ in 0..MAX_PASSES {
        let mut batch = batch(&document, &findings, fix, &refused);
        // Two repairs could undo each other.
        if batch.is_empty() || !seen.insert((document.text.clone(), refused.len())) {
            break;
        }
        while let Some((first, _)) = batch.first() {
            let mut edits: Vec<Edit> = batch.iter().flat_map(|(_, edits)| edits.iter().cloned()).collect();
            edits.sort_by_key(|edit| edit.range.start);
            let text = edited(&document.text, &edits);
            let after = Document::parse(&document.path, &text).ok().map(|after| (check(&after), after));
            match after.filter(|(left, _)| invalid(left) <= invalid(&findings)) {
                Some((left, after)) => {
                    (made, findings, document) = (made + batch.len(), left, after);
                    break;
                }
                None if batch.len() == 1 => drop(refused.insert(first.clone())),
                None => {}
            }
            batch.truncate(batch.len() / 2);
        }
    }
    (document, made)
}

/// The rule and the pointer of a finding.
type Key = (String, String);

/// Returns the number of findings about validity.
fn invalid(findings: &[Finding]) -> usize {
    let is_spec =
        |finding: &&Finding| registry::find(&finding.rule).is_none_or(|rule| rule.profile == Profile::Spec);
    findings.iter().filter(is_spec).count()
}

/// Returns findings with the edits of a repair. No two of the edits touch.
fn batch(
    document: &Document,
    findings: &[Finding],
    fix: Fix,
    refused: &HashSet<Key>,
) -> Vec<(Key, Vec<Edit>)> {
    let model = Model::of(document, &mut Findings::default());
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut batch = Vec::new();
    for finding in findings {
        let key = (finding.rule.clone(), finding.pointer.clone());
        if refused.contains(&key) {
            continue;
        }
        let Some(edits) = chosen(finding, fix).and_then(|repair| edits(&model, repair)) else { continue };
        let touches = |edit: &Edit| {
            taken.range(..=edit.range.end).next_back().is_some_and(|(_, end)| *end >= edit.range.start)
        };
        if !edits.is_empty() && !edits.iter().any(touches) {
            taken.extend(edits.iter().map(|edit| (edit.range.start, edit.range.end)));
            batch.push((key, edits));
        }
    }
    batch
}

fn chosen(finding: &Finding, fix: Fix) -> Option<&Repair> {
    match (fix, finding.repairs.as_slice()) {
        (Fix::All, [repair, ..]) => Some(repair),
        (Fix::Safe, [repair]) if is_safe(&finding.rule, repair) => Some(repair),
        _ => None,
    }
}

/// The rules after whose repairs the document means the same, and loses nothing that a person wrote but repetitions.
pub const SAFE: [&str; 5] = [
    "duplicated-entry-in-enum",
    "no-empty-descriptions",
    "path-params",
    "quoted-status-codes",
    "struct-type",
];

fn is_safe(rule: &str, repair: &Repair) -> bool {
    SAFE.contains(&rule)
        && match (rule, repair) {
            // An empty list allows nothing; without it, everything is allowed.
            ("duplicated-entry-in-enum", Repair::Remove { at }) => !at.ends_with("/enum"),
            // A path parameter is always required; the other repairs rename or remove it.
            ("path-params", repair) => matches!(repair, Repair::Write { .. } | Repair::Add { .. }),
            _ => true,
        }
}

/// Replaces a file as a whole, so that a reader or an interruption never sees half of it.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // The file behind a link is replaced, not the link.
    let path = fs::canonicalize(path)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", process::id()));
    let beside = path.with_file_name(name);
    let permissions = fs::metadata(&path)?.permissions();
    let written = fs::write(&beside, text)
        .and_then(|()| fs::set_permissions(&beside, permissions))
        .and_then(|()| fs::File::open(&beside)?.sync_all())
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // The error that is returned says more than that of the removal.
        let _ = fs::remove_file(&beside);
    }
    written
}
