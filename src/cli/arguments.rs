//! What several subcommands share: arguments, the configuration, the store, standard output.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use animal_store::config::{Config, Flags, Loaded, OpsBind};
use animal_store::storage::{self, Store, StoreMetrics, StoreOptions};
use clap::Args;
use slog::Logger;

/// Why a subcommand failed: one line for standard error.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// The database and the configuration file, which every command has.
#[derive(Args)]
pub(crate) struct Place {
    /// Where the animals and keys are. [default: sqlite:animal-store.db]
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    pub(crate) database: Option<String>,
    /// A configuration file in TOML.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

pub(crate) fn load(
    place: Place,
    bind: Option<SocketAddr>,
    ops_bind: Option<OpsBind>,
) -> Result<Loaded, Failure> {
    Ok(Config::load(place.config.as_deref(), Flags { bind, ops_bind, database: place.database })?)
}

pub(crate) fn store_options(config: &Config, log: &Logger) -> StoreOptions {
    StoreOptions {
        write_queue: config.write_queue,
        lock_timeout: config.lock_timeout,
        log: log.clone(),
        metrics: StoreMetrics::default(),
    }
}

pub(crate) async fn open(config: &Config, log: &Logger) -> Result<Arc<dyn Store>, Failure> {
    Ok(storage::open(&config.database, &store_options(config, log)).await?)
}

pub(crate) fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}
