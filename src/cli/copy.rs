//! The command `copy`: copies a SQLite database into an empty PostgreSQL database.

use std::path::PathBuf;

use animal_store::config::{Config, Flags, password_in_flag};
use animal_store::storage::copy::{Copied, copy};
use animal_store::storage::{has_password, read_url_file};
use clap::Args;
use slog::Logger;

use super::output::{Failure, print};
use super::store::store_options;

/// `animal-store copy`
#[derive(Args)]
pub(crate) struct Copy {
    /// The database to copy, which no service may use
    #[arg(long, value_name = "sqlite:PATH")]
    from: String,
    /// The target: a new or empty database
    #[arg(long, value_name = "postgres://...", required_unless_present = "to_file")]
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
        let (to, is_visible) = match self.to_file {
            None => (self.to.unwrap_or_default(), true),
            Some(file) => {
                let url = read_url_file(&file).map_err(|error| format!("{error} (set by --to-file)"))?;
                (url, false)
            }
        };
        let Copied { pets, keys } = copy(&self.from, &to, &options).await?;
        if is_visible && has_password(&to) {
            eprintln!("warning: {}", password_in_flag("--to"));
        }
        let plural = if keys == 1 { "" } else { "s" };
        Ok(print(&format!("copied {pets} animals and {keys} key{plural}\n"))?)
    }
}
