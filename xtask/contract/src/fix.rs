//! `lint --fix`: makes the repairs of findings in the text of a document.

use std::collections::{BTreeMap, BTreeSet, HashSet};
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
/// If the document would become unreadable or less valid, the repairs of those rules are left out that have this effect.
pub(crate) fn fixed(
    mut document: Document,
    fix: Fix,
    check: impl Fn(&Document) -> Vec<Finding>,
) -> (Document, usize) {
    let (mut made, mut findings) = (0, check(&document));
    let (mut refused, mut seen) = (HashSet::new(), HashSet::new());
    for _ in 0..MAX_PASSES {
        let batch = batch(&document, &findings, fix, &refused);
        // Two repairs could undo each other.
        if batch.is_empty() || !seen.insert((document.text.clone(), refused.len())) {
            break;
        }
        let attempt = |rule: Option<&str>| {
            let of_rule = batch.iter().filter(|(of, _)| rule.is_none_or(|rule| rule == of));
            let mut edits: Vec<Edit> = of_rule.flat_map(|(_, edits)| edits.iter().cloned()).collect();
            edits.sort_by_key(|edit| edit.range.start);
            let after = Document::parse(&document.path, &edited(&document.text, &edits)).ok()?;
            Some((check(&after), after)).filter(|(left, _)| invalid(left) <= invalid(&findings))
        };
        if let Some((left, after)) = attempt(None) {
            (made, findings, document) = (made + batch.len(), left, after);
            continue;
        }
        let rules: BTreeSet<&str> = batch.iter().map(|(rule, _)| rule.as_str()).collect();
        let wrong: Vec<_> = rules.iter().filter(|rule| attempt(Some(rule)).is_none()).collect();
        // Repairs of several rules can be wrong only together.
        let wrong = if wrong.is_empty() { rules.last().into_iter().collect() } else { wrong };
        refused.extend(wrong.into_iter().map(|rule| (*rule).to_owned()));
    }
    (document, made)
}

/// Returns the number of findings about validity.
fn invalid(findings: &[Finding]) -> usize {
    let is_spec =
        |finding: &&Finding| registry::find(&finding.rule).is_none_or(|rule| rule.profile == Profile::Spec);
    findings.iter().filter(is_spec).count()
}

/// Returns the rules of findings with the edits of a repair. No two of the edits touch.
fn batch(
    document: &Document,
    findings: &[Finding],
    fix: Fix,
    refused: &HashSet<String>,
) -> Vec<(String, Vec<Edit>)> {
    let model = Model::of(document, &mut Findings::default());
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut batch = Vec::new();
    for finding in findings.iter().filter(|finding| !refused.contains(&finding.rule)) {
        let Some(edits) = chosen(finding, fix).and_then(|repair| edits(&model, repair)) else { continue };
        let touches = |edit: &Edit| {
            taken.range(..=edit.range.end).next_back().is_some_and(|(_, end)| *end >= edit.range.start)
        };
        if !edits.is_empty() && !edits.iter().any(touches) {
            taken.extend(edits.iter().map(|edit| (edit.range.start, edit.range.end)));
            batch.push((finding.rule.clone(), edits));
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
