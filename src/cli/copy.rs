//! The command `copy`: copies all animals and keys to another database.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use animal_store::storage;
use animal_store::storage::copy::{Progress, Step, copy};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use slog::Logger;

use super::arguments::{Failure, Place, load, store_options};

/// `animal-store copy`
#[derive(Args)]
pub(crate) struct Copy {
    /// The database to copy. Stop what adds animals to it first.
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    from: String,
    /// Where to: an empty database, or one that an interrupted copy has begun.
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    to: String,
    /// A configuration file in TOML.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Copy {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let config = load(Place { database: None, config: self.config }, None, None)?.config;
        let options = store_options(&config, &Logger::root(slog::Discard, slog::o!()));
        if let Some(path) = self.from.strip_prefix("sqlite:").filter(|path| !Path::new(path).exists()) {
            // It would be made, and be copied as it is: empty.
            return Err(format!("the source {path} does not exist; check the path given with --from").into());
        }
        let from = storage::open_for_copy(&self.from, &options).await?;
        let to = storage::open_for_copy(&self.to, &options).await?;

        // Hidden by itself where standard error is no terminal.
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
        // The bar is drawn some times a second; a step that is shorter would never be seen.
        bar.force_draw();
    }
}
