//! Opens the store that the settings name.

use std::sync::Arc;

use animal_store::VERSION;
use animal_store::config::terminal::escaped;
use animal_store::config::{Config, Loaded};
use animal_store::storage::{self, Migrate, Store, StoreMetrics, StoreOptions};
use slog::Logger;

use super::output::Failure;

pub(crate) fn store_options(config: &Config, log: &Logger) -> StoreOptions {
    StoreOptions {
        write_queue: config.write_queue,
        lock_timeout: config.lock_timeout,
        migrate: Migrate::Apply,
        version: VERSION,
        postgres: config.postgres.clone(),
        log: log.clone(),
        metrics: StoreMetrics::default(),
    }
}

/// Opens the store of a command that is not `serve`. Reports on standard error if it was created.
pub(crate) async fn open(loaded: &Loaded, migrate: Migrate) -> Result<Arc<Store>, Failure> {
    let database = &loaded.config.database;
    let missing = storage::missing_file(database);
    let log = Logger::root(slog::Discard, slog::o!());
    let options = StoreOptions { migrate, ..store_options(&loaded.config, &log) };
    let store =
        storage::open(database, &options).await.map_err(|error| loaded.with_source("database", error))?;
    if let Some(path) = missing {
        let line =
            format!("created a new database, {} (set by {})", path.display(), loaded.source("database"));
        eprintln!("{}", escaped(&line));
    }
    Ok(store)
}

/// Returns the path of the SQLite database of a configuration. `tool` does the same as the command for PostgreSQL.
pub(crate) fn sqlite_path<'a>(config: &'a Config, tool: &str) -> Result<&'a str, Failure> {
    let path = config.database.strip_prefix("sqlite:");
    path.ok_or_else(|| format!("this command is for an SQLite database; for PostgreSQL, use {tool}").into())
}

/// Checks that the SQLite file of a configuration exists. Otherwise its path may be mistyped.
pub(crate) fn check_exists(loaded: &Loaded) -> Result<(), Failure> {
    let Some(path) = storage::missing_file(&loaded.config.database) else { return Ok(()) };
    let problem = format!(
        "the database {} does not exist; check the path, such as sqlite:animal-store.db, or create a database \
         with `animal-store key create NAME`",
        path.display()
    );
    Err(loaded.with_source("database", problem).into())
}
