//! The command `copy`: copies all animals and keys to another database.

use std::io::{self, Write as _};
use std::path::PathBuf;

use animal_store::storage;
use animal_store::storage::copy::{Progress, Step, copy};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use slog::Logger;

use super::arguments::{DatabaseArgs, Failure, load, store_options};

/// `animal-store copy`
#[derive(Args)]
pub(crate) struct Copy {
    /// The database to copy; stop the services that add animals to it first
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    from: String,
    /// The target: a new or empty database, or the one of an interrupted copy
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    to: String,
    /// A configuration file in TOML, such as `animal-store config` prints
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Copy {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let config = load(DatabaseArgs { config: self.config, ..Default::default() }, None, None)?.config;
        let options = store_options(&config, &Logger::root(slog::Discard, slog::o!()));
        if let Some(path) = storage::missing_file(&self.from) {
            // Opening would create it.
            let path = path.display();
            return Err(format!(
                "the source {path} does not exist; check the path given with --from, such as \
                 sqlite:animal-store.db"
            )
            .into());
        }
        let from =
            storage::open_for_copy(&self.from, &options).await.map_err(|error| at("--from", &error))?;
        let to = storage::open_for_copy(&self.to, &options).await.map_err(|error| at("--to", &error))?;

        // indicatif hides it if standard error is not a terminal.
        let bar = ProgressBar::new(0)
            .with_style(ProgressStyle::with_template("{msg:<12} {wide_bar} {human_pos}/{human_len} {eta}")?);
        let copied = copy(&*from, &*to, |progress| show(&bar, progress)).await;
        bar.finish_and_clear();
        from.close().await;
        to.close().await;

        let copied = copied?;
        let checksum: String = copied.checksum.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut out = io::stdout();
        writeln!(
            out,
            "{} animals ({} of them from an earlier run) and {} key{} are the same in both, sha256 {checksum}",
            copied.pets,
            copied.before,
            copied.keys,
            if copied.keys == 1 { "" } else { "s" }
        )?;
        if copied.source_grew {
            return Err("animals were added to the source meanwhile; stop what adds them and run the copy \
                        again for the rest"
                .into());
        }
        Ok(())
    }
}

fn at(flag: &str, error: &storage::OpenError) -> String {
    format!("{error} (set by {flag})")
}

fn show(bar: &ProgressBar, progress: Progress) {
    let Progress { step, id, last } = progress;
    let message = match step {
        Step::Copying => "copying",
        Step::CheckingSource => "checking 1/2",
        Step::CheckingTarget => "checking 2/2",
    };
    let is_new = bar.message() != message;
    bar.set_message(message);
    bar.set_length(last.max(0).unsigned_abs());
    bar.set_position(id.max(0).unsigned_abs());
    if is_new {
        // The bar is drawn a few times per second; a shorter step would not be visible.
        bar.force_draw();
    }
}
