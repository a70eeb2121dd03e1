//! The thread that checks documents.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use checks::config::{Applied, Config};
use checks::lint::check;
use checks::outcome::Outcome;
use crossbeam_channel::{Receiver, Sender};
use document::Span;
use document::finding::{Finding, Severity, Subject};
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lsp_types::Uri;

use crate::base::Base;
use crate::project::Project;
use crate::tree::Tree;

/// A document to check.
pub(crate) struct Job {
    /// The normal form of the URI.
    pub(crate) key: Uri,
    /// The document.
    pub(crate) tree: Arc<Tree>,
}

/// The result of a check.
pub(crate) struct Checked {
    /// The findings in the document, or the reason why it was not checked.
    pub(crate) result: Result<Vec<Finding>, Finding>,
    /// The path of the configuration, and the findings in it.
    pub(crate) configuration: Option<(String, Vec<Finding>)>,
}

/// Checks documents until the server ends. A panic ends only the check of one document.
pub(crate) fn run(project: &dyn Project, jobs: &Receiver<Job>, done: &Sender<(Uri, Option<Checked>)>) {
    let mut base = None;
    for Job { key, tree } in jobs {
        let checked = catch_unwind(AssertUnwindSafe(|| checked(project, &tree, &mut base)));
        // Fails only while the process ends.
        let _ = done.send((key, checked.ok()));
    }
}

fn checked(project: &dyn Project, tree: &Tree, base: &mut Option<Base>) -> Checked {
    let path = Path::new(&tree.document().path);
    let config = match Config::load(None, path) {
        Ok(config) => config,
        Err(unusable) => {
            let first = unusable.findings.first().cloned().unwrap_or_default();
            let result = Err(not_configured(&unusable.path, &first));
            return Checked { result, configuration: Some((unusable.path, unusable.findings)) };
        }
    };
    let found = check(tree.model(), config.dates(today()), tree.structure.clone());
    let Applied { mut findings, mut unused, .. } = config.apply(found, "lint");
    if let Some(path) = project.base().filter(|_| project.document().is_none_or(|document| document == path))
    {
        let read = Base::updated(base.take(), path);
        match &base.insert(read).tree {
            Ok(base) => {
                let outcome = Outcome::of_sides(base.side(), tree.side(), &config, today());
                findings.extend(outcome.in_file(&tree.document().path));
                unused.extend(outcome.in_file(&config.path));
            }
            Err(problem) => findings.push(not_compared(problem)),
        }
    }
    let configuration = Some((config.path, unused)).filter(|(path, _)| !path.is_empty());
    Checked { result: Ok(findings), configuration }
}

/// Returns the finding in a document whose configuration cannot be used.
fn not_configured(file: &str, problem: &Finding) -> Finding {
    let message = format!("`{file}`, line {}: {}", problem.span.line, problem.message);
    Finding::new(Severity::Unreadable, "configuration", "", Span::default())
        .message(&Subject::document(), message)
        .fix("The document is not checked until the configuration is corrected.")
}

/// Returns the finding in a document whose base cannot be read.
fn not_compared(problem: &str) -> Finding {
    Finding::new(Severity::Unreadable, "base-unreadable", "", Span::default())
        .message(&Subject::document(), format!("The base cannot be read: {problem}."))
        .fix("Breaking changes are not reported until the base can be read. Correct the file or its path.")
}

fn today() -> Date {
    Zoned::now().with_time_zone(TimeZone::UTC).date()
}
