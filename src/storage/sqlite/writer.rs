//! Writes: one thread commits all waiting writes in one transaction (group commit).
//!
//! An fsync costs far more than an insert, so the thread takes everything in the queue
//! into one transaction and completes the writes after COMMIT. The next batch collects during the fsync;
//! there is no timer.
//!
//! The thread also checkpoints the WAL between two batches. `wal_autocheckpoint` of SQLite does it within a COMMIT, while
//! callers wait, and never waits for reads. While reads overlap, the WAL would not restart and grow without a bound.
//!
//! A backup by another process reads one snapshot for as long as it takes, and the WAL grows meanwhile. The writes after it
//! wait until all of the WAL is copied: `src/storage/README.md`, "Known limits".
//!
//! Failure modes of a batch, beside those of every engine (`../store.rs`):
//!
//! - A statement fails: nothing of the batch is stored, and all of its writes get the same error.
//! - COMMIT fails: it is unknown what is on disk, so that error never says that nothing happened. The transaction is rolled
//!   back, and the next batch tries again.
//! - The path leads to another file (`file.rs`): nothing is written.
//! - Another process holds the lock: the batch waits as long as its oldest write may still wait, so no write
//!   waits longer than the lock timeout, including its time in the queue.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB};
use slog::warn;

use super::file::DatabaseFile;
use super::{animals, connection, error};
use crate::storage::idempotency::SteadyClock;
use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;
use crate::storage::queue::{self, QueuedWrite};
use crate::storage::types::StoreError;

/// The growth of the WAL, in pages, that starts a checkpoint. The default of SQLite.
const GROWTH: u32 = 1000;
/// How long a checkpoint waits for reads, in total. Writes wait as long.
const MAX_READ: Duration = Duration::from_millis(100);

/// The state of the thread that writes.
pub(super) struct Writer {
    connection: Connection,
    file: Arc<DatabaseFile>,
    clock: SteadyClock,
    options: StoreOptions,
    /// The length of the WAL, in pages, from which its growth is counted.
    wal: u32,
    /// Whether reads limited the last checkpoint.
    is_limited: bool,
}

impl queue::Writer for Writer {
    /// Never waits, because it has a thread of its own.
    async fn commit(&mut self, batch: &mut [QueuedWrite]) -> Result<(), StoreError> {
        self.commit_all(batch).map_err(|error| self.failed(&error))
    }

    fn after_batch(&mut self) {
        if let Err(error) = self.checkpoint() {
            self.failed(&error);
        }
    }
}

impl Writer {
    /// `connection` is one for writing to `file`.
    pub(super) fn new(connection: Connection, file: Arc<DatabaseFile>, options: &StoreOptions) -> Self {
        let mut clock = SteadyClock::default();
        clock.see(animals::now());
        Self { connection, file, clock, wal: 0, is_limited: false, options: options.clone() }
    }

    /// Checkpoints the WAL if it has grown. A read of another process limits how much is copied.
    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        let pages = match self.connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::NOOP) {
            // -1 without a WAL.
            Ok((pages, _)) => pages.max(0).unsigned_abs(),
            // A commit of another process changes it.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => return Ok(()),
            Err(error) => return Err(error),
        };
        if pages < self.wal {
            self.wal = 0; // The WAL was restarted.
        }
        if pages - self.wal < GROWTH {
            return Ok(());
        }
        // Set first: a checkpoint that fails must not be tried, and logged, after each batch.
        self.wal = pages;
        // Waits for reads, so that the next write restarts the WAL.
        connection::set_lock_timeout(&self.connection, MAX_READ)?;
        let is_limited = self
            .connection
            .prepare_cached("PRAGMA wal_checkpoint(RESTART)")?
            .query_row([], |row| row.get::<_, bool>(0))?;
        if is_limited && !self.is_limited {
            warn!(self.options.log, "a read that takes long lets the WAL grow"; "pages" => pages);
        }
        self.is_limited = is_limited;
        Ok(())
    }

    /// Closes the connection. The last one of a database copies the WAL into it and removes it.
    pub(super) fn close(self) {
        // SQLite leaves the WAL if the database was moved; another database at its path would destroy it.
        if self.file.is_moved()
            && let Err(error) = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        {
            self.failed(&error);
        }
    }

    /// Commits all of `batch` in one transaction.
    fn commit_all(&mut self, batch: &mut [QueuedWrite]) -> rusqlite::Result<()> {
        self.file.check()?;
        let waited = batch.first().map_or(Duration::ZERO, |oldest| oldest.since.elapsed());
        let connection = &self.connection;
        connection::set_lock_timeout(connection, self.options.lock_timeout.saturating_sub(waited))?;
        execute(connection, "BEGIN IMMEDIATE")?;
        // Callers may have left during the wait for the lock.
        for QueuedWrite { write, .. } in batch.iter_mut().filter(|queued| !queued.write.is_abandoned()) {
            animals::execute(connection, &mut self.clock, write)?;
        }
        execute(connection, "COMMIT")
    }

    /// Rolls back, logs and counts the error. Returns the one for callers.
    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        if !self.connection.is_autocommit() {
            // If that fails, so does the next batch, which rolls back again.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        error::report(&self.options, Access::Write, error)
    }
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
