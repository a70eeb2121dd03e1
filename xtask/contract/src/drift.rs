//! `drift`: compares a document with the one that the code generates.

use std::path::Path;

use checks::drift::{self, Help};
use checks::report::Sources;
use document::Document;
use document::finding::Finding;

use crate::acceptance::Acceptance;
use crate::{Checked, File};

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
        Err(file) => options.common.refuse(NAME, vec![file], root),
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
    compared.unwrap_or_else(|file| options.common.refuse(NAME, vec![file], root))
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
    let sources = locate(&mut applied.findings);
    let agree = applied.findings.is_empty() && acceptance.write_baseline.is_none();
    let name = document.path.clone();
    let checked = acceptance.conclude(NAME, common.format, config, document, applied)?;
    let summary = if agree { "the document and the code agree" } else { &checked.summary };
    let checked = Checked { summary: format!("{name}: {summary}"), ..checked };
    Ok(checked.print(NAME, common.format, &sources))
}
