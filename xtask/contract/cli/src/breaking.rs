//! `breaking`: compares two versions of a document.

use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::path::Path;

use checks::finding::{File, Finding, Severity, summary};
use checks::outcome::{FailOn, Outcome};
use checks::report::{self, About, Format, Report, Sources};

use crate::load_document;
use crate::values::{self, one_of};

const NAME: &str = "breaking";

/// The options of the command.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The options that the commands share.
    #[command(flatten)]
    pub common: crate::Options,
    /// What makes the command fail.
    #[arg(long, value_parser = one_of(values::FAILURES_OF_A_CHANGE), default_value = "error", value_name = "FAIL_ON")]
    pub fail_on: FailOn,
    /// The least severity that the text shows, besides waived changes; its last line counts the rest. The other formats
    /// have all findings.
    // Also where the text is piped, so that a log or a pager has what the terminal has.
    #[arg(long, value_parser = one_of(values::LEVELS), default_value_t = Severity::Warning, value_name = "LEVEL")]
    pub level: Severity,
}

/// Compares `revision` with `base`, the version that clients rely on. Returns the exit status.
pub fn run(base: &Path, revision: &Path, options: &Options, root: &Path) -> u8 {
    compare(base, revision, options, root).unwrap_or_else(|files| options.common.refuse(NAME, files, root))
}

fn compare(base: &Path, revision: &Path, options: &Options, root: &Path) -> Result<u8, Vec<File>> {
    let common = &options.common;
    let config = common.load_config(revision, root).map_err(|file| vec![file])?;
    // Reading takes most of the time, and the two files are independent.
    let (base, revision) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| load_document(base));
        let revision = load_document(revision);
        // The other thread cannot panic.
        (reading.join().unwrap_or_else(|panic| resume_unwind(panic)), revision)
    });
    let (base, revision) = match (base, revision) {
        // The process ends soon, and frees large documents faster as a whole.
        (Ok(base), Ok(revision)) => (ManuallyDrop::new(base), ManuallyDrop::new(revision)),
        (base, revision) => return Err(base.err().into_iter().chain(revision.err()).collect()),
    };
    let outcome = Outcome::of(&base, &revision, &config, common.today());
    // The revision is last, and its version the last finding.
    let mut files = vec![
        (config.path.as_str(), config.text.as_str()),
        (&base.path, &base.text),
        (&revision.path, &revision.text),
    ];
    files.dedup_by_key(|(path, _)| *path);
    let mut findings: Vec<_> = files.iter().map(|(file, _)| outcome.in_file(file)).collect();
    let summed = format!("{} against {}: {}", revision.path, base.path, outcome.summary());
    let mut rest = String::new();
    if common.format == Format::Text {
        let mut hidden = Vec::new();
        for findings in &mut findings {
            let is_hidden = |it: &mut Finding| it.severity < options.level && it.accepted.is_none();
            hidden.extend(findings.extract_if(.., is_hidden));
        }
        if !hidden.is_empty() {
            let number = summary(hidden.iter().map(|finding| finding.severity));
            rest = format!("\nnot shown: {number}; `--level info` shows all");
        }
    }
    let about: Vec<_> =
        files.iter().zip(&findings).map(|((path, text), findings)| About { path, text, findings }).collect();
    let summary = summed + &rest;
    let sources = Sources::new(root);
    report::print(
        common.format,
        &Report { command: NAME, files: &about, sources: &sources, summary: &summary },
    );
    Ok(outcome.exit_code(options.fail_on))
}
