//! `breaking`: compares two versions of a document.

use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::path::Path;

use checks::finding::{File, Finding, Severity, summary};
use checks::outcome::{FailOn, Outcome};
use checks::report::{Format, Sources};
use checks::revision::load;

use crate::Checked;

/// The options of the command.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The options that the commands share.
    #[command(flatten)]
    pub common: crate::Options,
    /// The format of the findings.
    #[arg(short, long, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
    /// What makes the command fail.
    #[arg(long, default_value = "error", value_name = "FAIL_ON")]
    pub fail_on: FailOn,
    /// The least severity that the text shows, besides accepted changes; its last line counts the rest. The other formats
    /// have all findings.
    // Also where the text is piped, so that a log or a pager has what the terminal has.
    #[arg(long, default_value = "warning", value_name = "LEVEL")]
    pub level: Severity,
}

/// Compares `revision` with `base`, the version that clients rely on. Returns the exit status.
pub fn run(base: &Path, revision: &Path, options: &Options, root: &Path) -> u8 {
    let checked = compare(base, revision, options, root).unwrap_or_else(|refused| refused);
    checked.print("breaking", options.format, &Sources::new(root))
}

fn compare(base: &Path, revision: &Path, options: &Options, root: &Path) -> Result<Checked, Checked> {
    let common = &options.common;
    let config = common.load_config(revision, root)?;
    // Reading takes most of the time, and the two files are independent.
    let (base, revision) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| load(base));
        let revision = load(revision);
        // The other thread cannot panic.
        (reading.join().unwrap_or_else(|panic| resume_unwind(panic)), revision)
    });
    let (base, revision) = match (base, revision) {
        // The process ends soon, and frees large documents faster as a whole.
        (Ok(base), Ok(revision)) => (ManuallyDrop::new(base), ManuallyDrop::new(revision)),
        (base, revision) => {
            let files = base.err().into_iter().chain(revision.err()).collect();
            return Err(Checked { files, summary: String::new(), status: 2 });
        }
    };
    let outcome = Outcome::of(&base, &revision, &config, common.today());
    // The revision is last, and its version the last finding.
    let texts = [(&config.path, &config.text), (&base.path, &base.text), (&revision.path, &revision.text)];
    let files = texts.map(|(path, text)| {
        let findings = outcome.in_file(path);
        File { path: path.clone(), text: text.clone(), findings }
    });
    let mut files = Vec::from(files);
    files.dedup_by(|next, file| next.path == file.path);
    let mut summed = format!("{} against {}: {}", revision.path, base.path, outcome.summary());
    if options.format == Format::Text {
        let is_hidden = |it: &mut Finding| it.severity < options.level && it.accepted.is_none();
        let hidden: Vec<_> = files.iter_mut().flat_map(|it| it.findings.extract_if(.., is_hidden)).collect();
        if !hidden.is_empty() {
            let number = summary(hidden.iter().map(|finding| finding.severity));
            summed += &format!("\nnot shown: {number}; `--level info` shows all");
        }
    }
    Ok(Checked { files, summary: summed, status: outcome.exit_code(options.fail_on) })
}
