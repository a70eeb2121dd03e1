//! `changelog`: prints the changes between two versions for users of the API, in Markdown.

use std::path::Path;

use checks::breaking::{changelog, version};
use checks::outcome::Outcome;
use checks::report;

/// Prints the entry for `revision`, the version after `base`. Returns the exit status.
pub fn run(base: &Path, revision: &Path, options: &crate::Options, root: &Path) -> u8 {
    entry(base, revision, options, root).unwrap_or_else(|status| status)
}

fn entry(base: &Path, revision: &Path, options: &crate::Options, root: &Path) -> Result<u8, u8> {
    let config = options.load_config("changelog", revision, root)?;
    let base = options.load_document("changelog", base, root)?;
    let revision = options.load_document("changelog", revision, root)?;
    let outcome = Outcome::of(&base, &revision, &config, options.today());
    let (from, to) = (version::text(&base), version::text(&revision));
    let release = changelog(&outcome.changes, Some(from), to, &options.today().to_string());
    report::write(&release.to_markdown());
    Ok(0)
}
