//! `drift`: compares a document with the one that the code generates.

use std::path::Path;

use checks::drift::{self, Help};
use checks::report::{self, Report, Sources};
use document::Document;
use document::finding::{Finding, summary};

use crate::acceptance::Acceptance;
use crate::{File, exit_status};

const NAME: &str = "drift";

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
}

/// Runs the command for the generated document in the file `code`. Returns the exit status.
pub fn run(document: &Path, code: &Path, options: &Options, root: &Path) -> u8 {
    match crate::load_document(code) {
        Ok(code) => compare(document, &code, options, root, Help::default(), |_| Sources::new(root)),
        Err(file) => options.common.refuse(NAME, &[file], root),
    }
}

/// Compares a document with that of the code, and prints the differences. `locate` adds their places in the code.
/// Returns the exit status.
pub fn compare(
    document: &Path,
    code: &Document,
    options: &Options,
    root: &Path,
    help: Help<'_>,
    locate: impl FnOnce(&mut [Finding]) -> Sources,
) -> u8 {
    let compared = try_compare(document, code, options, root, help, locate);
    compared.unwrap_or_else(|file| options.common.refuse(NAME, &[file], root))
}

fn try_compare(
    document: &Path,
    code: &Document,
    options: &Options,
    root: &Path,
    help: Help<'_>,
    locate: impl FnOnce(&mut [Finding]) -> Sources,
) -> Result<u8, File> {
    let Options { common, acceptance } = options;
    let config = acceptance.configure(common.load_config(document, root)?)?;
    let document = crate::load_document(document)?;
    let mut applied = config.apply(drift::compare(&document, code, help), NAME);
    if let Some(written) = acceptance.write(&applied, NAME)? {
        report::write(&format!("{}: {written}\n", document.path));
        return Ok(0);
    }
    let sources = locate(&mut applied.findings);
    let findings = &applied.findings;
    let summary = if findings.is_empty() {
        "the document and the code agree".to_owned()
    } else {
        summary(findings.iter().map(|finding| finding.severity))
    };
    let summary = format!("{}: {summary}", document.path);
    let status = exit_status(findings, acceptance.fail_on);
    let files = File::of(config, document, applied, common.format);
    let files: Vec<_> = files.iter().map(File::about).collect();
    let report = Report { command: NAME, files: &files, sources: &sources, summary: &summary };
    report::print(common.format, &report);
    Ok(status)
}
