//! SQLite against the battery, and what is SQLite's own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use animal_store::storage::{Store, StoreMetrics, StoreOptions, open};
use tempfile::TempDir;

use crate::battery::Engine;

mod backup;
mod opening;
mod writing;

/// The engine that `promises` tests.
type Subject = Sqlite;

#[path = "../battery/promises.rs"]
#[allow(clippy::duplicate_mod)] // Once for each engine.
mod promises;

/// A directory with one database in it.
pub(crate) struct Sqlite(TempDir);

impl Sqlite {
    fn path(&self) -> PathBuf {
        self.0.path().join("animals.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.path().to_str().unwrap())
    }

    pub(crate) async fn with(&self, options: &StoreOptions) -> Arc<dyn Store> {
        open(&self.url(), options).await.unwrap()
    }

    /// A connection such as another program would have.
    pub(crate) fn connection(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

impl Engine for Sqlite {
    async fn fresh() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn open(&self) -> Arc<dyn Store> {
        self.with(&options()).await
    }
}

pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        write_queue: 1024,
        // Longer than any test holds a lock, on a busy machine too.
        lock_timeout: Duration::from_secs(600),
        log: slog::Logger::root(slog::Discard, slog::o!()),
        metrics: StoreMetrics::default(),
    }
}
