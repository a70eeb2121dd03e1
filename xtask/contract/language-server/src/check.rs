//! The thread that checks documents and reads the code.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use checks::breaking::compare_sides;
use checks::config::Config;
use checks::finding::{Finding, Severity};
use checks::lint;
use checks::outcome::Outcome;
use crossbeam_channel::{Receiver, Sender};
use document::Span;
use document::place::Subject;
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lsp_types::Uri;

use crate::project::{Locate, Project};
use crate::tree::{Base, Tree, is_openapi};

/// The work that waits for the thread.
#[derive(Default)]
pub(crate) struct Waiting {
    /// The newest text of each document that is to be checked, after its path, or else its URI. By the normal form of the
    /// URI.
    pub(crate) texts: BTreeMap<Uri, (String, String)>,
    /// Whether the code is to be read.
    pub(crate) reads_sources: bool,
}

/// A result of a thread.
pub(crate) enum Event {
    /// The text of the document with this URI was checked.
    Checked(Uri, Checked),
    /// The code was read.
    Sources(Option<Arc<Locate>>),
    /// The command that compares the document with the code has ended. The number identifies the run.
    Compared { number: u64, stdout: Vec<u8>, stderr: Vec<u8> },
}

/// The findings, or the reason why the text was not checked.
type Found = Result<Vec<Finding>, Box<Finding>>;

/// The result of a check.
pub(crate) struct Checked {
    /// The text.
    pub(crate) text: String,
    /// `None` if the text cannot be read.
    pub(crate) tree: Option<Arc<Tree>>,
    /// If the text was not checked, the last findings stay.
    pub(crate) findings: Found,
}

/// Does the waiting work until the server ends; `wakes` says that there is some. A newer text does not end a check: while
/// somebody types, there is always a newer one, and a large document would have no diagnostics. A panic ends only the check.
pub(crate) fn run(
    project: &dyn Project,
    waiting: &Mutex<Waiting>,
    wakes: &Receiver<()>,
    events: &Sender<Event>,
) {
    let mut base = None;
    while wakes.recv().is_ok() {
        let Waiting { texts, reads_sources } = std::mem::take(&mut *lock(waiting));
        for (key, (file, text)) in texts {
            let checked = AssertUnwindSafe(|| check(project, &file, &text, &mut base));
            let defect = "The check failed; this is a defect of the server.";
            let (tree, findings) = catch_unwind(checked)
                .unwrap_or_else(|_| (None, Err(unchecked("defect", defect, "Report it to its authors."))));
            // Fails only while the process ends.
            let _ = events.send(Event::Checked(key, Checked { text, tree, findings }));
        }
        if reads_sources {
            let read = catch_unwind(AssertUnwindSafe(|| project.implementation())).unwrap_or_default();
            let _ = events.send(Event::Sources(read));
        }
    }
}

/// Returns the work that waits. A panic does not leave it half changed.
pub(crate) fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(
    project: &dyn Project,
    file: &str,
    text: &str,
    base: &mut Option<Base>,
) -> (Option<Arc<Tree>>, Found) {
    match Tree::read(file, text) {
        Ok(tree) => {
            let tree = Arc::new(tree);
            let findings = findings(project, &tree, base);
            (Some(tree), findings)
        }
        Err(unreadable) if is_openapi(&unreadable) => (None, Err(Box::new(Finding::from(&unreadable)))),
        // Editors also send other YAML files.
        Err(_) => (None, Ok(Vec::new())),
    }
}

/// Returns the findings in a document.
///
/// # Errors
/// When its configuration cannot be used.
fn findings(project: &dyn Project, tree: &Tree, base: &mut Option<Base>) -> Found {
    let path = Path::new(&tree.document().path);
    let config = Config::load(None, path).map_err(|unusable| {
        let first = unusable.findings.first().map(|it| (it.span.line, it.message.as_str()));
        let (line, problem) = first.unwrap_or_default();
        let message = format!("`{}`, line {line}: {problem}", unusable.path);
        let fix = "The document is not checked until the configuration is corrected.";
        unchecked("configuration", message, fix)
    })?;
    let found = lint::check(tree.model(), config.settings(today()));
    let mut findings = config.limited(config.apply(tree.document(), found, "lint").findings);
    if let Some(path) = project.base().filter(|_| project.document().is_none_or(|document| document == path))
    {
        let read = Base::updated(base.take(), path);
        match &base.insert(read).tree {
            Ok(base) => {
                let changes = compare_sides(base.side(), tree.side(), today());
                let (base, document) = (base.document(), tree.document());
                let outcome = Outcome::of_changes(base, document, changes, &config, today());
                findings.extend(outcome.in_file(&tree.document().path));
            }
            Err(problem) => {
                let message = format!("The base cannot be read: {problem}.");
                let fix = "Breaking changes are not reported until the base can be read. Correct the file or its path.";
                findings.push(*unchecked("base-unreadable", message, fix));
            }
        }
    }
    Ok(findings)
}

/// Returns a finding about a document that cannot be checked.
fn unchecked(rule: &str, message: impl Into<String>, fix: &str) -> Box<Finding> {
    let finding = Finding::new(Severity::Unreadable, rule, "", Span::default());
    Box::new(finding.message(&Subject::document(), message).fix(fix))
}

fn today() -> Date {
    Zoned::now().with_time_zone(TimeZone::UTC).date()
}
