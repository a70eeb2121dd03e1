//! Writes: one thread commits all waiting writes in one transaction (group commit).
//!
//! An fsync costs far more than an insert, so the thread takes everything in the queue
//! into one transaction and completes the writes after COMMIT. The next batch collects during the fsync;
//! there is no timer.
//!
//! The thread also checkpoints the WAL between two batches (`checkpoint.rs`).
//!
//! Failure modes of a batch, beside those of every engine (`../store.rs`):
//!
//! - A statement fails: nothing of the batch is stored, and all of its writes get the same error.
//! - COMMIT fails: it is unknown what is on disk, so that error never says that nothing happened. The transaction is rolled
//!   back or the connection replaced, and the next batch tries again.
//! - The path leads to another file (`file.rs`): nothing is written.
//! - Another process holds the lock: the batch waits as long as its oldest write may still wait, so no write
//!   waits longer than the lock timeout, including its time in the queue.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;
use slog::warn;

use super::checkpoint::Checkpoints;
use super::file::DatabaseFile;
use super::{connection, error, idempotency, keys, migrations};
use crate::storage::error::StoreError;
use crate::storage::idempotency::SteadyClock;
use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;
use crate::storage::queue::{self, QueuedWrite};
use crate::storage::write::{Change, Write, stored};

/// The state of the thread that writes.
pub(super) struct Writer {
    /// `None` after a failure, until the next batch.
    connection: Option<Connection>,
    file: Arc<DatabaseFile>,
    clock: SteadyClock,
    options: StoreOptions,
    checkpoints: Checkpoints,
}

impl queue::Writer for Writer {
    /// Never waits, because it has a thread of its own.
    async fn commit(&mut self, batch: &mut [QueuedWrite]) -> Result<(), StoreError> {
        self.commit_all(batch).map_err(|error| self.failed(&error))
    }

    fn after_batch(&mut self) {
        let Some(connection) = &self.connection else { return };
        if let Err(error) = self.checkpoints.after_commit(connection, &self.options.log) {
            self.failed(&error);
        }
    }
}

impl Writer {
    /// `connection` is one for writing to `file`.
    pub(super) fn new(connection: Connection, file: Arc<DatabaseFile>, options: &StoreOptions) -> Self {
        let mut clock = SteadyClock::default();
        clock.see(now());
        Self {
            connection: Some(connection),
            checkpoints: Checkpoints::default(),
            file,
            clock,
            options: options.clone(),
        }
    }

    /// Commits all of `batch` in one transaction.
    fn commit_all(&mut self, batch: &mut [QueuedWrite]) -> rusqlite::Result<()> {
        self.file.check()?;
        let waited = batch.first().map_or(Duration::ZERO, |oldest| oldest.since.elapsed());
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connection::open_for_writing(&self.file.path, self.options.lock_timeout)?),
        };
        connection::set_lock_timeout(connection, self.options.lock_timeout.saturating_sub(waited))?;
        execute(connection, "BEGIN IMMEDIATE")?;
        let mut count = 0;
        // Callers may have left during the wait for the lock.
        for QueuedWrite { write, .. } in batch.iter_mut().filter(|queued| !queued.write.is_abandoned()) {
            count += usize::from(execute_write(connection, &mut self.clock, write)?);
        }
        execute(connection, "COMMIT")?;
        self.options.metrics.committed(count);
        Ok(())
    }

    /// Rolls back, or drops the connection. Logs and counts the error, and returns the one for callers.
    fn failed(&mut self, error: &rusqlite::Error) -> StoreError {
        if let Some(connection) = &self.connection {
            let clean = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
            if !clean || error::is_connection_failure(error) {
                self.connection = None;
            }
        }
        error::report(&self.options, Access::Write, error)
    }

    /// Checkpoints and truncates the WAL, and closes the connection.
    pub(super) fn finish(self) {
        let Some(connection) = self.connection else { return };
        let checkpoint = connection::set_lock_timeout(&connection, Duration::ZERO)
            .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
            .and_then(|()| connection.close().map_err(|(_, error)| error));
        if let Err(error) = checkpoint {
            warn!(self.options.log, "the WAL was not checkpointed; the next start does it"; "error" => %error);
        }
    }
}

/// Executes a write within the transaction of its batch, and keeps its result for the caller. Returns whether it counts in
/// the size of the batch. An error fails the whole batch.
fn execute_write(
    connection: &Connection,
    clock: &mut SteadyClock,
    write: &mut Write,
) -> rusqlite::Result<bool> {
    match write {
        Write::Add(addition, caller) => {
            caller.keep(Ok(idempotency::add(connection, addition, now())?));
            Ok(true)
        }
        Write::Change(change, caller) => {
            caller.keep(make(connection, clock, change)?);
            Ok(change.is_counted())
        }
    }
}

/// The inner error rejects a change that would change nothing.
fn make(
    connection: &Connection,
    clock: &mut SteadyClock,
    change: &Change,
) -> rusqlite::Result<Result<bool, StoreError>> {
    match change {
        Change::AddKey(key) => keys::insert(connection, key).map(stored),
        Change::NoteUse { id, at } => keys::note_use(connection, id, *at).map(Ok),
        Change::RevokeKey { id, at } => keys::revoke(connection, id, *at).map(Ok),
        Change::RotateKey { old, old_expires, new } => keys::rotate(connection, old, *old_expires, new),
        Change::RemoveExpired(expiry) => {
            expiry.removed(idempotency::remove_expired(connection, clock.expired_before(now()))?);
            Ok(Ok(true))
        }
        Change::Check => migrations::rewrite_version(connection).map(|()| Ok(true)),
    }
}

/// Returns the time of the machine, in seconds.
fn now() -> i64 {
    Timestamp::now().as_second()
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
