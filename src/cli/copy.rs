//! The command `copy`: copies all animals and keys into an empty database.

use std::path::PathBuf;
use std::sync::Arc;

use animal_store::config::{Config, Flags, password_in_flag, read_url_file};
use animal_store::storage::copy::{Copied, Progress, Transfer, copy};
use animal_store::storage::{self, Migrate, StoreOptions};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use slog::Logger;

use super::output::{Failure, print};
use super::store::store_options;

/// `animal-store copy`
#[derive(Args)]
pub(crate) struct Copy {
    /// The database to copy; what is added to it meanwhile is not copied
    #[arg(long, value_name = "sqlite:PATH|postgres://...", required_unless_present = "from_file")]
    from: Option<String>,
    /// A file with the URL of the database to copy, so that its password is not on the command line
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    from_file: Option<PathBuf>,
    /// The target: a new or empty database
    #[arg(long, value_name = "sqlite:PATH|postgres://...", required_unless_present = "to_file")]
    to: Option<String>,
    /// A file with the URL of the target, so that its password is not on the command line
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    to_file: Option<PathBuf>,
    /// A configuration file in TOML, such as `animal-store config` prints
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Copy {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let config = Config::load(&Flags { config: self.config, ..Flags::default() })?.config;
        let options = store_options(&config, &Logger::root(slog::Discard, slog::o!()));
        let target = DatabaseUrl::of("--to", self.to, self.to_file)?;
        let source = DatabaseUrl::of("--from", self.from, self.from_file)?;
        if let Some(path) = storage::missing_file(&source.url) {
            let (path, flag) = (path.display(), &source.flag);
            return Err(format!(
                "the source {path} does not exist; check the path given with {flag}, such as \
                 sqlite:animal-store.db"
            )
            .into());
        }
        // The source is only read.
        let from = source.open(&StoreOptions { migrate: Migrate::Never, ..options.clone() }).await?;
        let to = match target.open(&options).await {
            Ok(to) => to,
            Err(error) => {
                from.close().await;
                return Err(error);
            }
        };
        // Not earlier: a database that is rejected gets one line only.
        source.warn();
        target.warn();

        // indicatif hides it if standard error is not a terminal.
        let bar = ProgressBar::new(0)
            .with_style(ProgressStyle::with_template("copying {wide_bar} {human_pos}/{human_len} {eta}")?);
        let copied = copy(&*from, &*to, |Progress { id, last }| {
            bar.set_length(last.max(0).unsigned_abs());
            bar.set_position(id.max(0).unsigned_abs());
            // A short copy would not be visible otherwise.
            bar.force_draw();
        });
        let copied = copied.await;
        bar.finish_and_clear();
        from.close().await;
        to.close().await;

        let Copied { pets, keys, source_grew } = copied?;
        let plural = if keys == 1 { "" } else { "s" };
        print(&format!("{pets} animals and {keys} key{plural} are the same in both\n"))?;
        if source_grew {
            eprintln!("warning: animals were added to the source meanwhile, which are not in the target");
        }
        Ok(())
    }
}

/// The URL of a database, and the flag that it comes from. It may contain a password, so it is not printed.
struct DatabaseUrl {
    url: String,
    flag: String,
    is_visible: bool,
}

impl DatabaseUrl {
    /// Returns the given URL or the one in the file. clap makes sure that there is exactly one of them.
    fn of(flag: &str, url: Option<String>, file: Option<PathBuf>) -> Result<Self, Failure> {
        let Some(file) = file else {
            return Ok(Self { url: url.unwrap_or_default(), flag: flag.to_owned(), is_visible: true });
        };
        let flag = format!("{flag}-file");
        let url = read_url_file(&file).map_err(|error| format!("{error} (set by {flag})"))?;
        Ok(Self { url, flag, is_visible: false })
    }

    /// Warns if the password is on the command line.
    fn warn(&self) {
        if self.is_visible && storage::has_password(&self.url) {
            eprintln!("warning: {}", password_in_flag(&self.flag));
        }
    }

    async fn open(&self, options: &StoreOptions) -> Result<Arc<dyn Transfer>, Failure> {
        let opened = storage::open_for_copy(&self.url, options).await;
        Ok(opened.map_err(|error| format!("{error} (set by {})", self.flag))?)
    }
}
