//! `changelog`: prints the changes between two versions for users of the API, in Markdown.

use std::path::Path;

use checks::breaking::{changelog, version};
use checks::finding::{File, Severity};
use checks::outcome::Outcome;
use checks::report;
use document::Document;

use crate::load_document;

/// Prints the entry for `revision`, the version after `base`. Returns the exit status.
pub fn run(base: &Path, revision: &Path, options: &crate::Options, root: &Path) -> u8 {
    entry(base, revision, options, root).unwrap_or_else(|file| options.refuse("changelog", vec![file], root))
}

fn entry(base: &Path, revision: &Path, options: &crate::Options, root: &Path) -> Result<u8, File> {
    let config = options.load_config(revision, root)?;
    let (base, revision) = (load_document(base)?, load_document(revision)?);
    let outcome = Outcome::of(&base, &revision, &config, options.today());
    if let Some(unread) = outcome.changes.iter().find(|change| change.severity == Severity::Unreadable) {
        let Document { path, text, .. } = if unread.place.file == base.path { base } else { revision };
        return Err(File { path, text, findings: vec![unread.finding()] });
    }
    let (from, to) = (version::text(&base), version::text(&revision));
    let release = changelog(&outcome.changes, Some(from), to, &options.today().to_string());
    report::write(&release.to_markdown());
    Ok(0)
}
