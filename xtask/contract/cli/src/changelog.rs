//! `changelog`: prints the changes between two versions for users of the API.

use std::path::Path;

use checks::breaking::{changelog, version};
use checks::finding::{File, Severity};
use checks::outcome::Outcome;
use checks::report::{self, Format, Sources};
use checks::revision::load;
use document::Document;

use crate::Checked;

/// The options of the command.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The options that the commands share.
    #[command(flatten)]
    pub common: crate::Options,
    /// The format of the changes: Markdown for readers, or JSON for programs, in the order of the chapters.
    #[arg(short, long, default_value = "markdown", value_name = "FORMAT", value_parser = ["markdown", "json"])]
    pub format: String,
}

/// Prints the entry for `revision`, the version after `base`. Returns the exit status.
pub fn run(base: &Path, revision: &Path, options: &Options, root: &Path) -> u8 {
    entry(base, revision, options, root).unwrap_or_else(|file| {
        let format = if options.format == "json" { Format::Json } else { Format::Text };
        Checked::from(file).print("changelog", format, &Sources::new(root))
    })
}

fn entry(base: &Path, revision: &Path, options: &Options, root: &Path) -> Result<u8, File> {
    let (config, today) = (options.common.load_config(revision, root)?, options.common.today());
    let (base, revision) = (load(base)?, load(revision)?);
    let outcome = Outcome::of(&base, &revision, &config, today);
    if let Some(unread) = outcome.changes.iter().find(|change| change.severity == Severity::Unreadable) {
        let Document { path, text, .. } = if unread.place.file == base.path { base } else { revision };
        return Err(File { path, text, findings: vec![unread.finding()] });
    }
    let (from, to) = (version::text(&base), version::text(&revision));
    let release = changelog(&outcome.changes, Some(from), to, &today.to_string());
    report::write(&if options.format == "json" { release.to_json() } else { release.to_markdown() });
    Ok(0)
}
