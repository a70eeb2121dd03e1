//! The command `backup`: copies an SQLite database that is in use into a new file.

use std::path::PathBuf;

use animal_store::storage::sqlite;
use clap::Args;

use super::arguments::{DatabaseArgs, Failure, check_exists, load};

/// `animal-store backup`
#[derive(Args)]
pub(crate) struct Backup {
    /// The file to create, such as animal-store-backup.db; it must not exist
    file: PathBuf,
    #[command(flatten)]
    args: DatabaseArgs,
}

impl Backup {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = load(self.args, None, None)?;
        let config = &loaded.config;
        let Some(path) = config.database.strip_prefix("sqlite:") else {
            return Err(
                "only an SQLite database is backed up in this way; for PostgreSQL, use pg_dump".into()
            );
        };
        check_exists(&loaded)?;
        Ok(sqlite::backup(path.as_ref(), &self.file, config.lock_timeout)?)
    }
}
