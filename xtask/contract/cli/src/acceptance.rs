//! The result of a check of one document, and what it accepts: by severity, and by a baseline.

use std::fs;
use std::path::{Path, PathBuf};

use checks::baseline::Baseline;
use checks::config::{Applied, Config};
use checks::finding::{File, Finding, Severity, summary};
use checks::registry;
use checks::report::Format;
use checks::revision::unusable;
use document::Document;

use crate::Checked;

/// The options of a command that checks one document.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Acceptance {
    /// The options that the commands share.
    #[command(flatten)]
    pub common: crate::Options,
    /// The format of the findings.
    #[arg(short, long, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
    /// The least severity that makes the command fail.
    #[arg(long, default_value = "error", value_name = "SEVERITY")]
    pub fail_on: Severity,
    /// The accepted findings: a file that `--write-baseline` wrote. Entries that no longer occur are reported.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the findings to a baseline instead of printing them.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub write_baseline: Option<PathBuf>,
}

impl Acceptance {
    /// Returns the configuration for a document, with the baseline.
    pub(crate) fn configure(&self, document: &Path, root: &Path) -> Result<Config, File> {
        let mut config = self.common.load_config(document, root)?;
        if let Some(path) = &self.baseline {
            let text = fs::read_to_string(path).map_err(|error| {
                unusable(
                    path,
                    format!("the baseline cannot be read; write it with `--write-baseline`: {error}"),
                )
            })?;
            config.baseline = Baseline { path: path.display().to_string(), text };
        }
        Ok(config)
    }

    /// Returns the result of a check. Writes the baseline instead, if it is to be written.
    pub(crate) fn conclude(
        &self,
        config: Config,
        document: Document,
        mut applied: Applied,
    ) -> Result<Checked, File> {
        let counted = |findings: &[Finding]| summary(findings.iter().map(|finding| finding.severity));
        let summary = if let Some(path) = &self.write_baseline {
            let is_accepted = |finding: &mut Finding| {
                finding.severity < Severity::Unreadable && registry::find(&finding.rule).is_some()
            };
            let accepted: Vec<_> = applied.findings.extract_if(.., is_accepted).collect();
            fs::write(path, Baseline::text(&accepted))
                .map_err(|error| unusable(path, format!("the baseline cannot be written: {error}")))?;
            format!("{} written to {}", counted(&accepted), path.display())
        } else {
            applied.findings = config.limited(applied.findings);
            match applied.ignored.len() {
                0 => counted(&applied.findings),
                accepted => format!("{} ({accepted} accepted)", counted(&applied.findings)),
            }
        };
        let status = match applied.findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Unreadable) => 2,
            most => u8::from(most.is_some_and(|most| most >= self.fail_on)),
        };
        let Applied { mut findings, ignored, unused, outdated } = applied;
        if matches!(self.format, Format::Json | Format::Sarif | Format::Junit) {
            // The other formats count those that are accepted.
            findings.extend(ignored);
        }
        let Baseline { path, text } = config.baseline;
        let files = vec![
            File { path: config.path, text: config.text, findings: unused },
            File { path, text, findings: Vec::from_iter(outdated) },
            File { path: document.path, text: document.text, findings },
        ];
        Ok(Checked { files, summary, status })
    }
}
