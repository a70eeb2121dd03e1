//! Tests of SQLite alone.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use animal_store::config::{Config, Flags};
use animal_store::storage::{Migrate, Store, StoreMetrics, StoreOptions, open};
use tempfile::TempDir;

use crate::conformance::Engine;

mod backup;
mod opening;
mod upgrade;
mod writing;

/// A directory with one database in it.
pub(crate) struct Sqlite(TempDir);

impl Sqlite {
    fn path(&self) -> PathBuf {
        self.0.path().join("animals.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.path().to_str().unwrap())
    }

    pub(crate) async fn with(&self, options: &StoreOptions) -> Arc<Store> {
        open(&self.url(), options).await.unwrap()
    }

    /// Opens a connection that is independent of the store.
    pub(crate) fn connection(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

impl Engine for Sqlite {
    async fn fresh() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn open(&self) -> Arc<Store> {
        self.with(&options()).await
    }

    async fn execute(&self, sql: &str) {
        self.connection().execute_batch(sql).unwrap();
    }

    async fn rows(&self, table: &str) -> i64 {
        let count = format!("SELECT count(*) FROM {table}");
        self.connection().query_row(&count, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        write_queue: 1024,
        // Longer than any test holds a lock, even on a busy machine.
        lock_timeout: Duration::from_secs(600),
        migrate: Migrate::Apply,
        version: "1.2.3",
        postgres: Config::load(&Flags::default()).unwrap().postgres,
        log: slog::Logger::root(slog::Discard, slog::o!()),
        metrics: StoreMetrics::default(),
    }
}
