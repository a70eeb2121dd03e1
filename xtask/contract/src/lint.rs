//! `lint`: checks one document by itself.

use std::path::Path;

use checks::config::Applied;
use checks::lint::lint;
use checks::registry;
use checks::report::{self, About, Format, Report, Sources};
use document::finding::summary;

use crate::exit_status;

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
    let options = &options.common;
    let config = options.load_config("lint", path, root)?;
    let document = options.load_document("lint", path, root)?;
    let Applied { mut findings, ignored, unused } = config.apply(lint(&document, options.today()), "lint");
    let summary = format!("{}: {}", document.path, summary(findings.iter().map(|finding| finding.severity)));
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
