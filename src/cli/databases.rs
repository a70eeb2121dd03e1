//! The commands `backup`, `restore` and `copy`, and how commands open a store.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use animal_store::VERSION;
use animal_store::config::terminal::{escaped, password_in_flag};
use animal_store::config::{Config, Flags};
use animal_store::storage::copy::{Copied, copy};
use animal_store::storage::{self, Migrate, Store, StoreMetrics, StoreOptions, sqlite, sqlite::Restored};
use clap::Args;
use jiff::Timestamp;
use slog::Logger;
use tokio::signal::unix::{SignalKind, signal};

use super::Failure;

/// Copies an SQLite database that may be in use into a new file. Must be called within a runtime.
pub(super) fn backup(file: &Path, flags: &Flags) -> Result<String, Failure> {
    if file == Path::new("-") {
        return Err(
            "give the path of a file, which can be sent to a pipe afterwards; for one named -, write ./-"
                .into(),
        );
    }
    let config = Config::load(flags)?;
    let path = sqlite_path(&config, "pg_dump")?;
    check_exists(&config)?;
    sqlite::backup(path.as_ref(), file, config.lock_timeout, &interrupted()?)?;
    let bytes = fs::metadata(file)?.len();
    Ok(escaped(&format!("backed up {path} to {}, {bytes} bytes", file.display())) + "\n")
}

/// Returns a flag that SIGINT and SIGTERM set, so that a command can remove its files. Must be called within a runtime.
fn interrupted() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::<AtomicBool>::default();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let (mut signals, interrupted) = (signal(kind)?, interrupted.clone());
        tokio::spawn(async move {
            signals.recv().await;
            interrupted.store(true, Relaxed);
        });
    }
    Ok(interrupted)
}

/// Puts a backup in the place of an SQLite database.
pub(super) fn restore(file: &Path, flags: &Flags) -> Result<String, Failure> {
    let config = Config::load(flags)?;
    let path = sqlite_path(&config, "pg_restore")?;
    let keep = format!("{path}.replaced-{}", Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ"));
    let Restored { animals, replaced } =
        sqlite::restore(file, path.as_ref(), Path::new(&keep), config.lock_timeout)?;
    let kept = if replaced { format!("; the database before it is in {keep}") } else { String::new() };
    Ok(escaped(&format!("restored {} to {path}, animals: {animals}{kept}", file.display())) + "\n")
}

/// `animal-store copy`
#[derive(Args)]
pub(super) struct Copy {
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
    pub(super) async fn run(self) -> Result<String, Failure> {
        let config = Config::load(&Flags { config: self.config, ..Flags::default() })?;
        let options = store_options(&config, &Logger::root(slog::Discard, slog::o!()));
        let (to, is_visible) = match self.to_file {
            None => (self.to.unwrap_or_default(), true),
            Some(file) => {
                let url = storage::read_url_file(&file);
                (url.map_err(|error| format!("{error} (set by --to-file)"))?, false)
            }
        };
        let Copied { pets, keys } = copy(&self.from, &to, &options).await?;
        if is_visible && storage::has_password(&to) {
            eprintln!("warning: {}", password_in_flag("--to"));
        }
        let plural = if keys == 1 { "" } else { "s" };
        Ok(format!("copied {pets} animals and {keys} key{plural}\n"))
    }
}

/// Opens the store of a command that is not `serve`. Reports on standard error if it was created.
pub(super) async fn open(config: &Config, migrate: Migrate) -> Result<Arc<Store>, Failure> {
    let missing = storage::missing_file(&config.database);
    let log = Logger::root(slog::Discard, slog::o!());
    let options = StoreOptions { migrate, ..store_options(config, &log) };
    let opened = storage::open(&config.database, &options).await;
    let store = opened.map_err(|error| config.with_source("database", error))?;
    if let Some(path) = missing {
        let line =
            format!("created a new database, {} (set by {})", path.display(), config.location("database"));
        eprintln!("{}", escaped(&line));
    }
    Ok(store)
}

/// Returns the options of the store that the settings name.
pub(super) fn store_options(config: &Config, log: &Logger) -> StoreOptions {
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

/// Returns the path of the SQLite database of a configuration. `tool` does the same as the command for PostgreSQL.
fn sqlite_path<'a>(config: &'a Config, tool: &str) -> Result<&'a str, Failure> {
    let path = config.database.strip_prefix("sqlite:");
    path.ok_or_else(|| format!("this command is for an SQLite database; for PostgreSQL, use {tool}").into())
}

/// Checks that the SQLite file of a configuration exists. Otherwise its path may be mistyped.
pub(super) fn check_exists(config: &Config) -> Result<(), Failure> {
    let Some(path) = storage::missing_file(&config.database) else { return Ok(()) };
    let problem = format!(
        "the database {} does not exist or is empty; check the path, such as sqlite:animal-store.db, or create a database \
         with `animal-store key create NAME`",
        path.display()
    );
    Err(config.with_source("database", problem).into())
}
