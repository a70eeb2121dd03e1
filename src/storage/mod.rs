//! Where animals and API keys are stored.
//!
//! [`Store`] states the promises and keeps them for each of two engines (`sqlite`, `postgres`).

pub mod copy;
mod idempotency;
mod key_cache;
mod key_sql;
mod metrics;
mod options;
pub mod postgres;
mod queue;
pub mod sqlite;
mod store;
mod types;
mod url;
mod write;

pub use metrics::StoreMetrics;
pub use options::{Migrate, OpenError, PostgresOptions, StoreOptions};
pub use store::{Interceptor, Step, Store, open};
pub use types::{AddedOnce, IdempotencyKey, KeyRecord, PetsFound, PetsQuery, StoreError};
pub use url::{DatabaseKind, EXPECTED_URL, has_password, missing_file, read_url_file, without_password};

/// Returns how many reads of the database at `url` can each block a thread of the runtime, as long as the disk takes.
pub fn blocking_reads(url: &str) -> usize {
    match DatabaseKind::of(url) {
        Some(DatabaseKind::Sqlite(_)) => sqlite::blocking_reads(),
        Some(DatabaseKind::Postgres) | None => 0,
    }
}

/// Checks a database URL without opening the database or creating a file. Reads the file of `sslrootcert`.
///
/// # Errors
/// One line that says what to do.
pub fn check_url(url: &str) -> Result<(), OpenError> {
    match DatabaseKind::of(url) {
        Some(DatabaseKind::Sqlite(path)) => sqlite::check_path(path),
        Some(DatabaseKind::Postgres) => postgres::check_url(url),
        None => Err(url::unknown_kind()),
    }
}
