//! The command `restore`: puts a backup in the place of an SQLite database.

use std::path::{Path, PathBuf};

use animal_store::config::{Config, Flags};
use animal_store::storage::sqlite;
use clap::Args;
use jiff::Timestamp;

use super::output::{Failure, print_line};
use super::store::sqlite_path;

/// `animal-store restore`
#[derive(Args)]
pub(crate) struct Restore {
    /// The backup, which stays as it is
    file: PathBuf,
    #[command(flatten)]
    flags: Flags,
}

impl Restore {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = Config::load(&self.flags)?;
        let config = &loaded.config;
        let path = sqlite_path(config, "pg_restore")?;
        let keep = format!("{path}.replaced-{}", Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ"));
        let replaced = sqlite::restore(&self.file, path.as_ref(), Path::new(&keep), config.lock_timeout)?;
        let kept = if replaced { format!("; the database before it is in {keep}") } else { String::new() };
        Ok(print_line(&format!("restored {} to {path}{kept}", self.file.display()))?)
    }
}
