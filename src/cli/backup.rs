//! The command `backup`: copies an SQLite database that is in use into a new file.

use std::fs;
use std::path::PathBuf;

use animal_store::config::{Config, Flags};
use animal_store::storage::sqlite;
use clap::Args;

use super::interrupted;
use super::output::{Failure, print_line};
use super::store::{check_exists, sqlite_path};

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
        let path = sqlite_path(config, "pg_dump")?;
        check_exists(&loaded)?;
        sqlite::backup(path.as_ref(), &self.file, config.lock_timeout, &interrupted()?)?;
        let bytes = fs::metadata(&self.file)?.len();
        Ok(print_line(&format!("backed up {path} to {}, {bytes} bytes", self.file.display()))?)
    }
}
