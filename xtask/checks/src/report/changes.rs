//! A comparison as Markdown, for the reviewer of a change: which version it needs, what breaks and for which
//! operations, which waivers apply, and what to do.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use document::Document;
use document::finding::{Location, Severity};

use super::from_root;
use crate::breaking::version::text as version_of;
use crate::breaking::{Bump, Change};
use crate::markdown::{code, table, text};
use crate::outcome::Outcome;

/// The limit of operations that a row names.
const MAX_OPERATIONS: usize = 8;

/// What a change is for a reviewer, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Class {
    Unreadable,
    Breaking,
    Error,
    Warning,
    Waived,
    Compatible,
}

impl Class {
    fn of(change: &Change) -> Self {
        match change.severity {
            _ if change.waived.is_some() => Self::Waived,
            Severity::Unreadable => Self::Unreadable,
            // The configuration can make an error of a change that leaves requests and responses as they are.
            Severity::Error if matches!(change.rule.bump, Bump::Major | Bump::Patch) => Self::Breaking,
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Compatible,
        }
    }

    /// Its word in a row, and its noun.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Unreadable => ("**not compared**", "unreadable part"),
            Self::Breaking => ("**breaking**", "breaking change"),
            Self::Error => ("**error**", "error"),
            Self::Warning => ("warning", "warning"),
            Self::Waived => ("waived", "waived change"),
            Self::Compatible => ("compatible", "compatible change"),
        }
    }
}

/// A row of the table: the same change in several operations is one.
struct Row<'a> {
    class: Class,
    change: &'a Change,
    sentence: String,
    operations: BTreeSet<&'a str>,
}

/// Returns the comparison of `revision` with `base` as Markdown. Paths are relative to `root`, the root of the
/// repository.
pub fn markdown(outcome: &Outcome, base: &Document, revision: &Document, root: &Path) -> String {
    let rows = rows(outcome);
    let mut page = format!("**{}**\n", headline(outcome, &rows, base, root));
    let shown = rows.iter().map(|row| shown(row, root)).collect::<Vec<_>>();
    if !shown.is_empty() {
        let _ = write!(page, "\n{}", table(&["", "change", "operations", "place"], &shown));
    }
    let waivers: BTreeSet<_> = outcome.changes.iter().filter_map(waiver).collect();
    if !waivers.is_empty() {
        let waivers: Vec<_> = waivers.into_iter().collect();
        let _ = write!(page, "\nWaivers that apply:\n\n{}", table(&["rule", "reason", "holds"], &waivers));
    }
    let steps = steps(outcome, &rows, revision, root);
    if !steps.is_empty() {
        page.push_str("\nTo do:\n\n");
        steps.iter().for_each(|step| page.push_str(&format!("- {step}\n")));
    }
    page
}

/// Returns the rows, the most important first. Problems of the version are in the headline, not in a row.
fn rows(outcome: &Outcome) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut known = HashMap::new();
    for change in &outcome.changes {
        let (class, sentence) = (Class::of(change), change.sentence());
        let position = *known.entry((class, change.rule.name, sentence.clone())).or_insert(rows.len());
        if position == rows.len() {
            rows.push(Row { class, change, sentence, operations: BTreeSet::new() });
        }
        rows[position].operations.extend(change.operations.iter().map(String::as_str));
    }
    rows.sort_by_key(|row| row.class);
    rows
}

/// Returns the number of changes of each class, and what the version must be.
fn headline(outcome: &Outcome, rows: &[Row<'_>], base: &Document, root: &Path) -> String {
    let version = match &outcome.versions {
        None => "the versions cannot be compared".to_owned(),
        Some(versions) if outcome.low_version().is_some() => {
            format!("version must be {}, is {}", versions.least, versions.revision)
        }
        Some(versions) if versions.base == versions.revision => format!("version may stay {}", versions.base),
        Some(versions) => format!("version {} is enough after {}", versions.revision, versions.base),
    };
    let mut counts: Vec<String> = Vec::new();
    for rows in rows.chunk_by(|one, other| one.class == other.class) {
        let plural = if rows.len() == 1 { "" } else { "s" };
        counts.push(format!("{} {}{plural}", rows.len(), rows[0].class.words().1));
    }
    let version = text(&version);
    match counts.is_empty() {
        true if outcome.low_version().is_none() => {
            format!(
                "The contract is that of {} {}",
                code(&from_root(root, &base.path)),
                text(version_of(base))
            )
        }
        true => format!("No change of the contract, but {version}"),
        false => format!("{}: {version}", counts.join(", ")),
    }
}

fn shown(row: &Row<'_>, root: &Path) -> Vec<String> {
    let Change { rule, place, base, fix, .. } = row.change;
    let fix = if row.class == Class::Waived { String::new() } else { text(&format!(" {fix}")) };
    let what = format!(
        "{}. {}{} ({})",
        text(&row.sentence),
        text(rule.explanation),
        fix.trim_end(),
        code(rule.name)
    );
    let mut operations: Vec<_> = row.operations.iter().take(MAX_OPERATIONS).map(|name| code(name)).collect();
    if row.operations.len() > MAX_OPERATIONS {
        operations.push(format!("{} more", row.operations.len() - MAX_OPERATIONS));
    }
    let at = |place: &Location| code(&format!("{}:{}", from_root(root, &place.file), place.span.line));
    let place = match base {
        Some(base) => format!("{}, was {}", at(place), at(base)),
        None => at(place),
    };
    vec![row.class.words().0.to_owned(), what, operations.join(", "), place]
}

/// Returns the waiver of a change: its rule, its reason, and how long it holds.
fn waiver(change: &Change) -> Option<Vec<String>> {
    let waived = change.waived.as_ref()?;
    Some(vec![code(change.rule.name), text(&waived.reason), text(&waived.term.to_string())])
}

/// Returns what must be done before the change can be merged.
fn steps(outcome: &Outcome, rows: &[Row<'_>], revision: &Document, root: &Path) -> Vec<String> {
    let has = |class: Class| rows.iter().any(|row| row.class == class);
    let mut steps = Vec::new();
    if has(Class::Unreadable) {
        steps.push("Fix the places that are not understood. The rest was not compared.".to_owned());
    }
    if let Some(problem) = outcome.low_version() {
        let set = match &outcome.versions {
            Some(versions) => {
                format!(
                    "Set `info.version` in {} to {}.",
                    code(&from_root(root, &revision.path)),
                    versions.least
                )
            }
            None => "Write `info.version` as MAJOR.MINOR.PATCH.".to_owned(),
        };
        steps.push(format!("{set} {}", text(problem.rule.explanation)));
    }
    if has(Class::Breaking) {
        steps.push(
            "Undo what breaks clients, or release it under the new major version. A change that affects no client \
             can have a waiver, with its reason, in the configuration."
                .to_owned(),
        );
    }
    if has(Class::Error) {
        steps.push("Fix the errors.".to_owned());
    }
    for problem in &outcome.waivers {
        let Change { rule, what, place, fix, .. } = problem;
        let place = code(&format!("{}:{}", from_root(root, &place.file), place.span.line));
        steps.push(format!("Waiver in {place}: {}. {} {}", text(what), text(rule.explanation), text(fix)));
    }
    steps
}
