//! `lint`: checks documents by themselves.

use std::path::{Path, PathBuf};

use checks::finding::File;
use checks::lint::lint;
use checks::report::{self, Sources};
use checks::revision::{load, unusable};
use checks::rule::Profile;
use checks::{explanation, registry};
use similar::TextDiff;

use crate::Checked;
use crate::acceptance::Acceptance;
use crate::fix::{self, Fix};

/// The options of the command.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// What the command accepts.
    #[command(flatten)]
    pub acceptance: Acceptance,
    /// The rules that apply, instead of the configuration's profile [default: recommended].
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<Profile>,
    /// Print the table of all rules, without checking a document.
    #[arg(long)]
    pub rules: bool,
    /// Explain one rule with an example in YAML, without checking a document.
    #[arg(long, value_name = "RULE")]
    pub explain: Option<String>,
    /// Fix what can be fixed in the document, then print the findings that are left.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "safe", value_name = "WHICH")]
    pub fix: Option<Fix>,
    /// Print what `--fix` would change as a unified diff, and write nothing. Exit status 1 if there is a change.
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
}

const NAME: &str = "lint";

/// Checks documents, and prints their findings in one report. Paths in JSON and in annotations begin at `root`. Returns
/// the exit status.
pub fn run(paths: &[PathBuf], options: &Options, root: &Path) -> u8 {
    if options.rules {
        report::write(&registry::table());
        return 0;
    }
    if let Some(name) = &options.explain {
        return explain(name);
    }
    let Acceptance { format, baseline, write_baseline, .. } = &options.acceptance;
    if paths.len() > 1 && (baseline.is_some() || write_baseline.is_some()) {
        anstream::eprintln!("error: a baseline belongs to one document; run the command for each document");
        return 2;
    }
    let mut all = Checked::default();
    for path in paths {
        let Checked { files, summary, status } = check(path, options, root).unwrap_or_else(Checked::from);
        all.files.extend(files);
        if !all.summary.is_empty() && !summary.is_empty() {
            all.summary.push('\n');
        }
        all.summary += &summary;
        all.status = all.status.max(status);
    }
    if options.dry_run && all.files.is_empty() {
        return all.status;
    }
    all.print(NAME, *format, &Sources::new(root))
}

fn check(path: &Path, options: &Options, root: &Path) -> Result<Checked, File> {
    let Options { acceptance, profile, fix, dry_run, .. } = options;
    let mut config = acceptance.configure(path, root)?;
    config.profile = profile.unwrap_or(config.profile);
    let settings = config.settings(acceptance.common.today());
    let check = |document: &_| config.apply(document, lint(document, settings.clone()), NAME);
    let mut document = load(path)?;
    let mut made = String::new();
    if let Some(fix) = fix {
        if !path.exists() {
            return Err(unusable(path, "only a file can be fixed".to_owned()));
        }
        let old = document.text.clone();
        let number;
        (document, number) = fix::fixed(document, *fix, |document| check(document).findings);
        if *dry_run {
            let diff = TextDiff::from_lines(&old, &document.text);
            report::write(&diff.unified_diff().header(&document.path, &document.path).to_string());
            return Ok(Checked { status: u8::from(old != document.text), ..Checked::default() });
        }
        if number > 0 {
            fix::replace(path, &document.text)
                .map_err(|error| unusable(path, format!("the file cannot be replaced: {error}")))?;
        }
        made = format!("{number} fixed, ");
    }
    let name = document.path.clone();
    let applied = check(&document);
    let checked = acceptance.conclude(config, document, applied)?;
    Ok(Checked { summary: format!("{name}: {made}{}", checked.summary), ..checked })
}

fn explain(name: &str) -> u8 {
    let rules = registry::named(name);
    if rules.is_empty() {
        anstream::eprintln!("error: {}", registry::unknown(name));
        return 2;
    }
    let explained: Vec<_> = rules.into_iter().map(explanation::explain).collect();
    report::write(&explained.join("\n"));
    0
}
