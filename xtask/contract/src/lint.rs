//! `lint`: checks documents by themselves.

use std::path::{Path, PathBuf};

use checks::explanation;
use checks::lint::lint;
use checks::registry;
use checks::report::{self, Report, Sources};
use document::finding::summary;
use similar::TextDiff;

use crate::acceptance::Acceptance;
use crate::fix::{self, Fix};
use crate::{File, exit_status, values};

/// The options of the command.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The options that the commands share.
    #[command(flatten)]
    pub common: crate::Options,
    /// What the command accepts.
    #[command(flatten)]
    pub acceptance: Acceptance,
    /// Print the table of all rules, without checking a document.
    #[arg(long)]
    pub rules: bool,
    /// Explain one rule with an example in YAML, without checking a document.
    #[arg(long, value_name = "RULE")]
    pub explain: Option<String>,
    /// Fix what can be fixed in the document, then print the findings that are left.
    #[arg(long, value_parser = values::fix(), num_args = 0..=1, require_equals = true, default_missing_value = "safe",
          value_name = "WHICH")]
    pub fix: Option<Fix>,
    /// Print what `--fix` would change as a unified diff, and write nothing. Exit status 1 if there is a change.
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
}

const NAME: &str = "lint";

/// Checks documents, and prints their findings in one report. Paths in JSON and in annotations begin at `root`. Returns
/// the exit status.
pub fn run(paths: &[PathBuf], options: &Options, root: &Path) -> u8 {
    if options.rules {
        report::write(&registry::table(registry::rules()));
        return 0;
    }
    if let Some(name) = &options.explain {
        return explain(name);
    }
    if paths.len() > 1 && options.acceptance.has_baseline() {
        anstream::eprintln!("error: a baseline belongs to one document; run the command for each document");
        return 2;
    }
    let mut all = Checked::default();
    for path in paths {
        let refused = |file| Checked { files: vec![file], status: 2, ..Checked::default() };
        let Checked { files, summary, status } = check(path, options, root).unwrap_or_else(refused);
        all.files.extend(files);
        all.summary.extend(summary);
        all.status = all.status.max(status);
    }
    let about: Vec<_> = all.files.iter().map(File::about).collect();
    if !options.dry_run || !about.is_empty() {
        let (sources, summary) = (Sources::new(root), all.summary.join("\n"));
        let report = Report { command: NAME, files: &about, sources: &sources, summary: &summary };
        report::print(options.common.format, &report);
    }
    all.status
}

/// The result of the check of a document.
#[derive(Default)]
struct Checked {
    files: Vec<File>,
    /// The result in one line; empty if the document could not be checked.
    summary: Vec<String>,
    status: u8,
}

fn check(path: &Path, options: &Options, root: &Path) -> Result<Checked, File> {
    let Options { common, acceptance, fix, dry_run, .. } = options;
    let config = acceptance.configure(common.load_config(path, root)?)?;
    let mut document = crate::load_document(path)?;
    let applied = |document: &_| config.apply(lint(document, config.dates(common.today())), NAME);
    let mut made = String::new();
    if let Some(fix) = fix {
        if !path.exists() {
            let message = "Only a file can be fixed.".to_owned();
            return Err(File::unusable(path, message, "Write the path of a file."));
        }
        let old = document.text.clone();
        let number;
        (document, number) = fix::fixed(document, *fix, |document| applied(document).findings);
        if *dry_run {
            let name = &document.path;
            let diff = TextDiff::from_lines(&old, &document.text);
            let diff = diff.unified_diff().header(name, name).to_string();
            report::write(&diff);
            return Ok(Checked { status: u8::from(!diff.is_empty()), ..Checked::default() });
        }
        if number > 0 {
            fix::replace(path, &document.text).map_err(|error| {
                let message = format!("The file cannot be replaced: {error}.");
                File::unusable(path, message, "Check the permissions of its directory.")
            })?;
        }
        made = format!("{number} fixed, ");
    }
    let applied = applied(&document);
    if let Some(written) = acceptance.write(&applied, NAME)? {
        return Ok(Checked {
            summary: vec![format!("{}: {made}{written}", document.path)],
            ..Checked::default()
        });
    }
    let summary = summary(applied.findings.iter().map(|finding| finding.severity));
    let summary = vec![format!("{}: {made}{summary}", document.path)];
    let status = exit_status(&applied.findings, acceptance.fail_on);
    Ok(Checked { files: File::of(config, document, applied, common.format).into(), summary, status })
}

fn explain(name: &str) -> u8 {
    match registry::find(name) {
        Some(rule) => {
            report::write(&explanation::explain(rule));
            0
        }
        None => {
            let near = registry::nearest(name).map(|near| format!("; did you mean `{near}`?"));
            anstream::eprintln!("error: there is no rule `{name}`{}", near.unwrap_or_default());
            2
        }
    }
}
