//! `lint`: checks one document by itself.

use std::path::Path;

use checks::config::Applied;
use checks::lint::lint;
use checks::registry;
use checks::report::{self, About, Format, Report, Sources};
use document::finding::summary;

use crate::fix::{self, Fix};
use crate::{diff, exit_status, values};

/// The options of the command.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The options that the commands share.
    #[command(flatten)]
    pub common: crate::Options,
    /// Print the table of all rules, without checking a document.
    #[arg(long)]
    pub rules: bool,
    /// Print one rule with an example, without checking a document.
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

/// Runs the command. Paths in JSON and in annotations begin at `root`. Returns the exit status.
pub fn run(path: &Path, options: &Options, root: &Path) -> u8 {
    if options.rules {
        report::write(&registry::table(registry::rules()));
        return 0;
    }
    if let Some(name) = &options.explain {
        return explain(name);
    }
    check(path, options, root).unwrap_or_else(|status| status)
}

fn check(path: &Path, options: &Options, root: &Path) -> Result<u8, u8> {
    let Options { common: options, fix, dry_run, .. } = options;
    let config = options.load_config("lint", path, root)?;
    let mut document = options.load_document("lint", path, root)?;
    let applied = |document: &_| config.apply(lint(document, config.dates(options.today())), "lint");
    let mut made = String::new();
    if let Some(fix) = fix {
        if !path.exists() {
            anstream::eprintln!("error: {}: cannot fix a revision of git; name a file", path.display());
            return Err(2);
        }
        let old = document.text.clone();
        let number;
        (document, number) = fix::fixed(document, *fix, |document| applied(document).findings);
        if *dry_run {
            let diff = diff::unified(&document.path, &old, &document.text);
            report::write(&diff);
            return Ok(u8::from(!diff.is_empty()));
        }
        if number > 0 {
            fix::replace(path, &document.text).map_err(|error| {
                let path = path.display();
                anstream::eprintln!(
                    "error: {path}: cannot be replaced: {error}; check the permissions of its directory"
                );
                2
            })?;
        }
        made = format!("{number} fixed, ");
    }
    let Applied { mut findings, ignored, unused } = applied(&document);
    let summary = summary(findings.iter().map(|finding| finding.severity));
    let summary = format!("{}: {made}{summary}", document.path);
    let status = exit_status(&findings);
    if options.format == Format::Sarif {
        // Only this format can say that a finding is accepted.
        findings.extend(ignored);
    }
    let files = [
        About { path: &config.path, text: &config.text, findings: &unused },
        About { path: &document.path, text: &document.text, findings: &findings },
    ];
    let sources = Sources::new(root);
    let report = Report { command: "lint", files: &files, sources: &sources, summary: &summary };
    report::print(options.format, &report);
    Ok(status)
}

fn explain(name: &str) -> u8 {
    match registry::find(name) {
        Some(rule) => {
            report::write(&registry::explain(rule));
            0
        }
        None => {
            let near = registry::nearest(name).map(|near| format!("; did you mean `{near}`?"));
            anstream::eprintln!("error: there is no rule `{name}`{}", near.unwrap_or_default());
            2
        }
    }
}
