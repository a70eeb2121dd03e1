//! Where animals and API keys are stored: the promises, and the engines that keep them.
//!
//! [`Store`] (`store.rs`) states the promises. One store keeps them (`batching.rs`); what differs
//! between databases is an engine: its SQL, its connections and its transactions. `tests/store` tests every engine
//! against the promises; an engine adds none.

use std::sync::Arc;

mod batching;
pub mod copy;
mod error_type;
mod expiry;
mod key_cache;
mod key_uses;
mod metrics;
mod options;
mod outage;
pub mod postgres;
mod queue;
pub mod sqlite;
mod store;
mod url;
mod write;

pub use metrics::StoreMetrics;
pub use options::{Migrate, OpenError, PostgresOptions, StoreOptions};
pub use store::{AddedOnce, IdempotencyKey, KeyRecord, PetsFound, PetsQuery, Store, StoreError};
pub use url::{DatabaseKind, has_password, missing_file, without_password};

/// Opens the store at a database URL: `sqlite:PATH` or `postgres://...`. Must be called within a tokio
/// runtime, which then also runs the background tasks of the store.
///
/// # Errors
/// One line that says what to do.
pub async fn open(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, OpenError> {
    let store: Arc<dyn Store> = open_for_copy(url, options).await?;
    Ok(store)
}

/// Opens a store like [`open`], for [`copy::copy`].
///
/// # Errors
/// One line that says what to do.
pub async fn open_for_copy(url: &str, options: &StoreOptions) -> Result<Arc<dyn copy::Transfer>, OpenError> {
    match DatabaseKind::of(url) {
        Some(DatabaseKind::Sqlite(path)) => Ok(Arc::new(sqlite::open(path, options)?)),
        Some(DatabaseKind::Postgres) => Ok(Arc::new(postgres::open(url, options).await?)),
        None => Err(url::unknown_kind()),
    }
}

/// Returns how many reads of the database at `url` can each block a thread of the runtime, as long as the disk takes.
pub fn blocking_reads(url: &str) -> usize {
    match DatabaseKind::of(url) {
        Some(DatabaseKind::Sqlite(_)) => sqlite::blocking_reads().get(),
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
