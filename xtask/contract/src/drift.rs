//! `drift`: compares a document with the one that the code generates.

use std::path::Path;

use checks::config::Applied;
use checks::drift::{self, Help};
use checks::report::{self, About, Report, Sources};
use document::Document;
use document::finding::{Finding, summary};

use crate::{Options, exit_status};

/// Runs the command for the generated document in the file `code`. Returns the exit status.
pub fn run(document: &Path, code: &Path, options: &Options, root: &Path) -> u8 {
    let code = options.load_document("drift", code, root);
    let compared = code
        .and_then(|code| compare(document, &code, options, root, Help::default(), |_| Sources::new(root)));
    compared.unwrap_or_else(|status| status)
}

/// Compares a document with that of the code, and prints the differences. `locate` adds their places in the code.
/// Returns the exit status.
///
/// # Errors
/// Returns the exit status, after the reason was printed.
pub fn compare(
    document: &Path,
    code: &Document,
    options: &Options,
    root: &Path,
    help: Help<'_>,
    locate: impl FnOnce(&mut [Finding]) -> Sources,
) -> Result<u8, u8> {
    let config = options.load_config("drift", document, root)?;
    let document = options.load_document("drift", document, root)?;
    let found = drift::compare(&document, code, help);
    let Applied { mut findings, unused, .. } = config.apply(found, "drift");
    let sources = locate(&mut findings);
    let files = [
        About { path: &config.path, text: &config.text, findings: &unused },
        About { path: &document.path, text: &document.text, findings: &findings },
    ];
    let summary = if findings.is_empty() {
        "the document and the code agree".to_owned()
    } else {
        summary(findings.iter().map(|finding| finding.severity))
    };
    let summary = format!("{}: {summary}", document.path);
    report::print(
        options.format,
        &Report { command: "drift", files: &files, sources: &sources, summary: &summary },
    );
    Ok(exit_status(&findings))
}
