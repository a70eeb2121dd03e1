//! The worker that reads and checks the newest text of a document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checks::config::{self, Applied, Config};
use checks::lint::check;
use checks::outcome::Outcome;
use document::finding::{Finding, Severity, Subject};
use document::{Span, Unreadable, Value};
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lsp_types::Uri;

use crate::project::{Project, is_of_project};
use crate::releases::Releases;
use crate::text::Text;
use crate::tree::Tree;

/// A text to check.
#[derive(Debug)]
pub(crate) struct Job {
    /// The normal form of the URI.
    pub(crate) key: Uri,
    /// The path, or else the URI.
    pub(crate) file: String,
    /// The text.
    pub(crate) text: Arc<Text>,
    /// The number of the text.
    pub(crate) number: u64,
    /// The path and text of the configuration, if it is open in the editor.
    pub(crate) config: Option<(PathBuf, String)>,
}

/// A result of a job.
pub(crate) enum Progress {
    /// The text was read. `None` if it is not an OpenAPI document.
    Read(Option<Arc<Tree>>),
    /// The findings, by the path of their file. The document's own file is always one of them.
    Checked(BTreeMap<String, Vec<Finding>>),
    /// The reasons why the text was not checked, by the path of their file. The findings of the last check stay.
    NotChecked(BTreeMap<String, Vec<Finding>>),
    /// The releases that were newly read.
    Released(Arc<Releases>),
}

/// The state of the worker.
pub(crate) struct Analyst {
    project: Arc<dyn Project>,
    releases: Arc<Releases>,
}

impl Analyst {
    /// Returns a worker that has read nothing.
    pub(crate) fn new(project: Arc<dyn Project>) -> Self {
        Self { project, releases: Arc::default() }
    }

    /// Reads and checks a text, and reports each step. A newer text does not end it: while somebody types, there is
    /// always a newer one, and a large document would have no diagnostics.
    pub(crate) fn run(&mut self, job: &Job, report: &mut dyn FnMut(Progress)) {
        let (tree, findings) = match Tree::read(&job.file, Text::clone(&job.text)) {
            Ok((tree, findings)) => (Arc::new(tree), findings),
            Err(unreadable) => {
                report(Progress::Read(None));
                return report(match is_openapi(&unreadable) {
                    true => Progress::NotChecked([(job.file.clone(), vec![(&unreadable).into()])].into()),
                    false => Progress::Checked([(job.file.clone(), Vec::new())].into()),
                });
            }
        };
        report(Progress::Read(Some(tree.clone())));
        self.update_releases(report);
        let config = match load_config(job) {
            Ok(config) => config,
            Err(unusable) => {
                let own = unusable.findings.first().map(|problem| not_configured(&unusable.path, problem));
                let by_file = [(job.file.clone(), Vec::from_iter(own)), (unusable.path, unusable.findings)];
                return report(Progress::NotChecked(by_file.into()));
            }
        };
        let Applied { findings: mut own, unused, .. } =
            config.apply(check(tree.model(), config.dates(today()), findings), "lint");
        let mut by_file: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
        if !config.path.is_empty() {
            by_file.entry(config.path.clone()).or_default().extend(unused);
        }
        let path = PathBuf::from(&job.file);
        let is_compared = is_of_project(&*self.project, Some(&path)) && !self.releases.contains(&path);
        match self.releases.newest().filter(|_| is_compared) {
            Some(Ok(base)) => {
                let outcome = Outcome::of_sides(base.side(), tree.side(), &config, today());
                own.extend(outcome.in_file(&job.file));
                if !config.path.is_empty() {
                    by_file.entry(config.path.clone()).or_default().extend(outcome.in_file(&config.path));
                }
            }
            Some(Err(problem)) => own.push(not_compared(&problem)),
            None => {}
        }
        by_file.insert(job.file.clone(), own);
        report(Progress::Checked(by_file));
    }

    fn update_releases(&mut self, report: &mut dyn FnMut(Progress)) {
        if let Some(releases) = self.releases.updated(self.project.releases()) {
            self.releases = Arc::new(releases);
            report(Progress::Released(self.releases.clone()));
        }
    }
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

/// Whether a text that cannot be read is meant to be an OpenAPI document. Editors also send other YAML files.
fn is_openapi(unreadable: &Unreadable) -> bool {
    let begins = |line: &str| {
        let line = line.trim_start_matches(['\u{feff}', '{', ' ', '"', '\'']);
        line.starts_with("openapi") || line.starts_with("swagger")
    };
    match document::read(&unreadable.text) {
        Ok(node) => {
            matches!(node.value, Value::Mapping(_)) && (node.get("openapi").or(node.get("swagger"))).is_some()
        }
        Err(_) => unreadable.text.lines().take(FIRST_LINES).any(begins),
    }
}

/// The number of lines in which the keyword `openapi` is expected.
const FIRST_LINES: usize = 100;

fn load_config(job: &Job) -> Result<Config, config::Unusable> {
    match &job.config {
        Some((path, text)) => Config::parse(path.display().to_string(), text.clone()),
        None => Config::load(None, Path::new(&job.file)),
    }
}

fn today() -> Date {
    Zoned::now().with_time_zone(TimeZone::UTC).date()
}
