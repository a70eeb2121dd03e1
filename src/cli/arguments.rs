//! Shared by the subcommands: arguments, the configuration, the store, standard output.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use animal_store::VERSION;
use animal_store::config::shown::shown;
use animal_store::config::{Config, Flags, ListenAddress, Loaded};
use animal_store::storage::{self, Migrate, Store, StoreMetrics, StoreOptions};
use clap::Args;
use slog::Logger;

/// Why a subcommand failed: one line for standard error.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// The database and the configuration file, which every command has.
#[derive(Args, Clone, Default)]
pub(crate) struct DatabaseArgs {
    /// The database with the animals and API keys [default: sqlite:animal-store.db]
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    pub(crate) database: Option<String>,
    /// A file with the URL of the database, so that its password is not on the command line
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub(crate) database_file: Option<PathBuf>,
    /// A configuration file in TOML, such as `animal-store config` prints
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

pub(crate) fn load(
    args: DatabaseArgs,
    bind: Option<ListenAddress>,
    ops_bind: Option<ListenAddress>,
) -> Result<Loaded, Failure> {
    let DatabaseArgs { database, database_file, config } = args;
    Ok(Config::load(config.as_deref(), Flags { bind, ops_bind, database, database_file })?)
}

pub(crate) fn store_options(config: &Config, log: &Logger) -> StoreOptions {
    StoreOptions {
        write_queue: config.write_queue,
        lock_timeout: config.lock_timeout,
        migrate: Migrate::Apply,
        version: VERSION,
        postgres: config.postgres,
        log: log.clone(),
        metrics: StoreMetrics::default(),
    }
}

/// What to do when there is no SQLite file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMissing {
    /// Create it, and report it on standard error.
    Create,
    /// Fail: its path may be mistyped.
    Fail,
}

/// Opens the store of a command that is not `serve`.
pub(crate) async fn open(
    loaded: &Loaded,
    if_missing: IfMissing,
    migrate: Migrate,
) -> Result<Arc<dyn Store>, Failure> {
    let database = &loaded.config.database;
    let missing = storage::missing_file(database);
    if if_missing == IfMissing::Fail {
        check_exists(loaded)?;
    }
    let log = Logger::root(slog::Discard, slog::o!());
    let options = StoreOptions { migrate, ..store_options(&loaded.config, &log) };
    let store =
        storage::open(database, &options).await.map_err(|error| loaded.with_source("database", error))?;
    if let Some(path) = missing {
        let line =
            format!("created a new database, {} (set by {})", path.display(), loaded.source("database"));
        eprintln!("{}", shown(&line));
    }
    Ok(store)
}

/// Checks that the SQLite file of a configuration exists.
pub(crate) fn check_exists(loaded: &Loaded) -> Result<(), Failure> {
    let Some(path) = storage::missing_file(&loaded.config.database) else { return Ok(()) };
    let problem = format!(
        "the database {} does not exist; check the path, such as sqlite:animal-store.db, or create a database \
         with `animal-store key create NAME`",
        path.display()
    );
    Err(loaded.with_source("database", problem).into())
}

/// Prints the warnings about a configuration on standard error.
pub(crate) fn print_warnings(loaded: &Loaded) {
    for warning in loaded.warnings() {
        eprintln!("warning: {}", shown(&warning));
    }
}

pub(crate) fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}
