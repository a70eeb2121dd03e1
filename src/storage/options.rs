//! How a store is opened.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::TryRng;
use rand::rngs::SysRng;
use serde::Deserialize;
use slog::Logger;

use super::metrics::StoreMetrics;

/// The options of a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The maximum length of the write queue; further writes fail with [`super::StoreError::Busy`].
    pub write_queue: usize,
    /// How long a write waits for a lock of another process.
    pub lock_timeout: Duration,
    /// Whether opening the store may change the schema of an existing database.
    pub migrate: Migrate,
    /// The version of this program, which is stored with each migration that it applies. A program that is too
    /// old for a database names it.
    pub version: &'static str,
    /// The connections to a PostgreSQL server.
    pub postgres: PostgresOptions,
    /// The log for failures of which callers learn only the cause.
    pub log: Logger,
    /// The metrics.
    pub metrics: StoreMetrics,
}

/// What to do when a database lacks migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrate {
    /// Applies missing migrations, and creates a database that does not exist.
    Apply,
    /// Fails when migrations are missing: for commands that only read.
    Never,
}

/// Generates the secret of a store.
pub(super) fn new_secret() -> Result<[u8; 32], String> {
    let mut bytes = [0; 32];
    let filled = SysRng.try_fill_bytes(&mut bytes);
    filled.map(|()| bytes).map_err(|error| format!("the operating system has no random numbers: {error}"))
}

/// Returns the release to use for a database of a newer release, whose version may be unknown.
pub(super) fn newer_release(version: Option<&str>) -> String {
    version.map_or_else(|| "that release".to_owned(), |version| format!("release {version} or a later one"))
}

/// The connections to a PostgreSQL server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresOptions {
    /// The number of connections for reading.
    pub readers: usize,
    /// The time limit for connecting to each address of a host, unless the URL has a `connect_timeout`.
    #[serde(with = "humantime_serde")]
    pub connect_timeout: Duration,
    /// The time after which the server cancels a statement.
    #[serde(with = "humantime_serde")]
    pub statement_timeout: Duration,
    /// The schema with the tables; `None` for the first one of `search_path`.
    pub schema: Option<String>,
    /// The file that the URL was read from. It is read again for each connection.
    #[serde(skip)]
    pub url_file: Option<PathBuf>,
}

impl PostgresOptions {
    /// The maximum duration of a call. Longer than that of a statement, so that the caller learns the result.
    pub(super) fn call_timeout(&self) -> Duration {
        self.statement_timeout + Duration::from_millis(1_500)
    }
}

/// Why a store could not be opened. One line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database, or what the options say about it, must be changed.
    #[error("{0}")]
    Unsuitable(String),
    /// The server cannot be reached, is starting or stopping, has no free connection, or is a standby. A later attempt may
    /// succeed.
    #[error("{0}")]
    Away(String),
}

impl OpenError {
    /// Returns the error of the file at `path`. `why` is the end of a sentence that begins with the path.
    pub(super) fn of_file(path: &Path, why: impl Display) -> Self {
        Self::Unsuitable(format!("{} {why}", path.display()).replace(char::is_control, "?"))
    }
}
