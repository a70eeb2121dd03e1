//! The result of a check of one document, and what it accepts: by severity, and by a baseline.

use std::path::{Path, PathBuf};
use std::{fs, io};

use checks::baseline::Baseline;
use checks::config::{Applied, Config};
use checks::finding::{File, Severity, summary};
use checks::report::Format;
use document::Document;

use crate::{Checked, files, unusable};

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
    /// Write the findings to a baseline instead of printing them. It keeps the entries of other commands.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub write_baseline: Option<PathBuf>,
}

impl Acceptance {
    /// Whether a baseline is read or written.
    pub(crate) fn has_baseline(&self) -> bool {
        self.baseline.is_some() || self.write_baseline.is_some()
    }

    /// Returns the configuration for a document, with the baseline.
    pub(crate) fn configure(&self, document: &Path, root: &Path) -> Result<Config, File> {
        let mut config = self.common.load_config(document, root)?;
        if let Some(path) = &self.baseline {
            let text = fs::read_to_string(path).map_err(|error| {
                let message = format!("The baseline cannot be read: {error}.");
                unusable(path, message, "Write it with `--write-baseline`.")
            })?;
            config.baseline = Baseline { path: path.display().to_string(), text };
        }
        // A baseline has all findings.
        Ok(if self.write_baseline.is_some() { config.without_limit() } else { config })
    }

    /// Returns the result of a check. Writes the baseline instead, if it is to be written.
    pub(crate) fn conclude(
        &self,
        command: &str,
        config: Config,
        document: Document,
        mut applied: Applied,
    ) -> Result<Checked, File> {
        let mut written = None;
        if let Some(path) = &self.write_baseline {
            let old = match fs::read_to_string(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                old => Ok(Baseline { path: String::new(), text: old.unwrap_or_default() }),
            };
            let writing = old.and_then(|old| fs::write(path, old.with(&applied.findings, command)));
            writing.map_err(|error| {
                let message = format!("The baseline cannot be written: {error}.");
                unusable(path, message, "Check the path and its permissions.")
            })?;
            let accepted = applied.findings.extract_if(.., |it| it.severity < Severity::Unreadable);
            let accepted = summary(accepted.map(|finding| finding.severity));
            written = Some(format!("{accepted} written to {}", path.display()));
        }
        let severities = || applied.findings.iter().map(|finding| finding.severity);
        let summary = written.unwrap_or_else(|| match applied.ignored.len() {
            0 => summary(severities()),
            accepted => format!("{} ({accepted} accepted)", summary(severities())),
        });
        let status = match severities().max() {
            Some(Severity::Unreadable) => 2,
            most => u8::from(most.is_some_and(|most| most >= self.fail_on)),
        };
        Ok(Checked { files: files(config, document, applied, self.format).into(), summary, status })
    }
}
