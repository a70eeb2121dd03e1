//! The thread that checks documents.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

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
use crate::tree::{self, Read, Tree};

/// A text to read and to check.
pub(crate) struct Job {
    /// The normal form of the URI.
    pub(crate) key: Uri,
    /// The path, or else the URI.
    pub(crate) file: String,
    /// The text.
    pub(crate) text: String,
}

/// A step of a job.
pub(crate) enum Step {
    /// The text was read.
    Read(Read),
    /// The job has ended.
    Checked(Checked),
}

/// The result of a check.
#[derive(Default)]
pub(crate) struct Checked {
    /// The findings in the document, or the reason why it was not checked. `None` if the text could not be read.
    pub(crate) result: Option<Result<Vec<Finding>, Box<Finding>>>,
    /// The path of the configuration, and the findings in it.
    pub(crate) configuration: Option<(String, Vec<Finding>)>,
}

/// Reads and checks texts until the server ends. A newer text does not end a job: while somebody types, there is always a
/// newer one, and a large document would have no diagnostics. A panic ends only the job.
pub(crate) fn run(project: &dyn Project, jobs: &Receiver<Job>, steps: &Sender<(Uri, Step)>) {
    let mut base = None;
    for Job { key, file, text } in jobs {
        let read = catch_unwind(|| tree::read(&file, &text)).unwrap_or(Err(None));
        // Fails only while the process ends.
        let _ = steps.send((key.clone(), Step::Read(read.clone())));
        let checked = AssertUnwindSafe(|| read.ok().map(|tree| checked(project, &tree, &mut base)));
        let _ = steps.send((key, Step::Checked(catch_unwind(checked).ok().flatten().unwrap_or_default())));
    }
}

fn checked(project: &dyn Project, tree: &Tree, base: &mut Option<Base>) -> Checked {
    let path = Path::new(&tree.document().path);
    let config = match Config::load(None, path) {
        Ok(config) => config,
        Err(unusable) => {
            let first = unusable.findings.first().cloned().unwrap_or_default();
            let result = Some(Err(Box::new(not_configured(&unusable.path, &first))));
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
    Checked { result: Some(Ok(findings)), configuration }
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
