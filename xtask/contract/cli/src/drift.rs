//! `drift`: compares a document with the one that the code generates.

use std::path::Path;

use checks::finding::{File, Finding};
use checks::report::Sources;
use checks::{drift, revision};
use document::Document;

use crate::Checked;
use crate::acceptance::Acceptance;

const NAME: &str = "drift";

/// Runs the command for the generated document in the file `code`. Returns the exit status.
pub fn run(document: &Path, code: &Path, options: &Acceptance, root: &Path) -> u8 {
    match revision::load(code) {
        Ok(code) => compare(document, &code, options, root, |_| Sources::new(root)),
        Err(file) => Checked::from(file).print(NAME, options.format, &Sources::new(root)),
    }
}

/// Compares a document with that of the code, and prints the differences. `locate` adds their places in the code.
/// Returns the exit status.
pub fn compare(
    document: &Path,
    code: &Document,
    options: &Acceptance,
    root: &Path,
    locate: impl FnOnce(&mut [Finding]) -> Sources,
) -> u8 {
    let compare = || -> Result<u8, File> {
        let config = options.configure(document, root)?;
        let document = revision::load(document)?;
        let mut applied = config.apply(&document, drift::compare(&document, code), NAME);
        let sources = locate(&mut applied.findings);
        let agree = applied.findings.is_empty() && options.write_baseline.is_none();
        let name = document.path.clone();
        let checked = options.conclude(config, document, applied)?;
        let summary = if agree { "the document and the code agree" } else { &checked.summary };
        let checked = Checked { summary: format!("{name}: {summary}"), ..checked };
        Ok(checked.print(NAME, options.format, &sources))
    };
    compare().unwrap_or_else(|file| Checked::from(file).print(NAME, options.format, &Sources::new(root)))
}
