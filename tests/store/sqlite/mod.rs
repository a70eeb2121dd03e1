//! SQLite against the battery, and what is SQLite's own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use animal_store::storage::{Store, StoreOptions, open};
use tempfile::TempDir;

use crate::battery::{Engine, battery};

mod opening;
mod writing;

battery!(Sqlite);

/// A directory with one database in it.
struct Sqlite(TempDir);

impl Sqlite {
    fn path(&self) -> PathBuf {
        self.0.path().join("animals.db")
    }

    fn url(&self) -> String {
        format!("sqlite:{}", self.path().to_str().unwrap())
    }

    fn with(&self, options: &StoreOptions) -> Arc<dyn Store> {
        open(&self.url(), options).unwrap()
    }

    /// A connection such as another program would have.
    fn connection(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

impl Engine for Sqlite {
    fn fresh() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open(&self) -> Arc<dyn Store> {
        self.with(&options())
    }
}

fn options() -> StoreOptions {
    StoreOptions {
        write_queue: 1024,
        lock_timeout: Duration::from_secs(10),
        log: slog::Logger::root(slog::Discard, slog::o!()),
    }
}
