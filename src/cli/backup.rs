//! The command `backup`: copies an SQLite database that is in use into a new file.

use std::fs;
use std::path::PathBuf;

use animal_store::config::terminal::escaped;
use animal_store::config::{Config, Flags};
use animal_store::storage::sqlite;
use clap::Args;

use super::output::{Failure, print};
use super::store::check_exists;

/// `animal-store backup`
#[derive(Args)]
pub(crate) struct Backup {
    /// The file to create, such as animal-store-backup.db; it must not exist
    file: PathBuf,
    #[command(flatten)]
    flags: Flags,
}

impl Backup {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = Config::load(&self.flags)?;
        let config = &loaded.config;
        let Some(path) = config.database.strip_prefix("sqlite:") else {
            return Err(
                "only an SQLite database is backed up in this way; for PostgreSQL, use pg_dump".into()
            );
        };
        check_exists(&loaded)?;
        sqlite::backup(path.as_ref(), &self.file, config.lock_timeout)?;
        let bytes = fs::metadata(&self.file)?.len();
        let line = format!("backed up {path} to {}, {bytes} bytes", self.file.display());
        Ok(print(&(escaped(&line) + "\n"))?)
    }
}
