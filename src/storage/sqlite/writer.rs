//! Writes: one thread commits all waiting writes in one transaction (group commit).
//!
//! An fsync costs far more than an insert, so the thread takes everything in the queue, up to [`MAX_BATCH`],
//! into one transaction and completes the writes after COMMIT. The next batch collects during the fsync;
//! there is no timer.
//!
//! The thread also checkpoints the log between two batches. SQLite would do it within a COMMIT, while callers
//! wait, and could never restart the log while reads overlap: this thread waits a moment for those in progress. Another
//! thread checkpoints most of a long log (`checkpoint.rs`).
//!
//! Failure modes of a write, beside those of every engine (`../batching.rs`):
//!
//! - Its values are rejected (a key that exists): its statement has changed nothing, and the batch continues.
//!   A write of several statements runs in a savepoint (`batch.rs`). Not every write: SQLite copies each page that
//!   changes in a savepoint.
//! - The transaction fails: the whole batch gets the same error. After a failed COMMIT it is unknown what is
//!   on disk, so that error never says that nothing happened. The transaction is rolled back or the
//!   connection replaced, and the next batch tries again.
//! - The path leads to another file (`file.rs`): nothing is written.
//! - Another process holds the lock: the batch waits as long as its oldest write may still wait, so no write
//!   waits longer than the lock timeout, including its time in the queue.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use slog::warn;

use super::batch::{Batch, WriteResult, execute};
use super::checkpoint::{self, Log};
use super::file::DatabaseFile;
use super::idempotency::{self, KeyHasher};
use super::{animals, connection, failure, keys, migrations, transfer};
use crate::storage::metrics::Operation;
use crate::storage::options::StoreOptions;
use crate::storage::queue::{Batches, MAX_BATCH, QueuedWrite};
use crate::storage::write::{Addition, Change, Write};

/// The growth of the log, in pages, that starts a checkpoint. The default of SQLite.
const CHECKPOINT_PAGES: u32 = 1000;
/// Checkpoints and waits for reads, so that the next write restarts the log.
const RESTART: &str = "PRAGMA wal_checkpoint(RESTART)";
/// How long a checkpoint waits for reads, in total. Writes wait as long.
const MAX_READ: Duration = Duration::from_millis(100);
/// The growth of the log, in pages, after which a checkpoint that reads limited is tried again.
const RETRY_PAGES: u32 = 250;
/// The maximum number of bytes by which the log is truncated while writes wait.
const MAX_TRUNCATED_BYTES: u64 = 16 * 1024 * 1024;

/// The state of the thread that writes.
pub(super) struct Writer {
    /// `None` after a failure, until the next batch.
    connection: Option<Connection>,
    path: PathBuf,
    file: Arc<DatabaseFile>,
    key_hasher: KeyHasher,
    options: StoreOptions,
    /// The length of the log, in pages, at the last checkpoint.
    checkpointed: u32,
    /// The thread that checkpoints a long log.
    background: Option<JoinHandle<bool>>,
    /// Whether reads limited the last checkpoint.
    is_limited: bool,
    #[cfg(test)]
    before_write: Option<model::BeforeWrite>,
}

impl Writer {
    /// `connection` is one for writing to the file at `path`.
    pub(super) fn new(
        connection: Connection,
        (path, file): (PathBuf, Arc<DatabaseFile>),
        key_hasher: KeyHasher,
        options: &StoreOptions,
    ) -> Self {
        Self {
            connection: Some(connection),
            path,
            file,
            key_hasher,
            options: options.clone(),
            checkpointed: 0,
            background: None,
            is_limited: false,
            #[cfg(test)]
            before_write: None,
        }
    }

    /// Writes until the queue is closed.
    pub(super) fn run(mut self, mut queue: Batches) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        while queue.blocking_take(&mut batch) {
            self.turn(&mut batch);
        }
        self.finish();
    }

    /// Commits and empties a batch, and checkpoints the log.
    fn turn(&mut self, batch: &mut Vec<QueuedWrite>) {
        if !batch.is_empty() {
            let failed = self.commit(batch).err();
            if let Some(error) = &failed {
                self.recover(error);
                failure::report(&self.options, Operation::Write, error);
            }
            for queued in batch.drain(..) {
                queued.write.complete(failed.as_ref().map(failure::store_error));
            }
        }
        if let Err(error) = self.checkpoint() {
            self.recover(&error);
            failure::report(&self.options, Operation::Write, &error);
        }
    }

    /// Commits all of `batch` in one transaction.
    fn commit(&mut self, batch: &mut [QueuedWrite]) -> rusqlite::Result<()> {
        self.file.check()?;
        let waited = batch.first().map_or(Duration::ZERO, |oldest| oldest.since.elapsed());
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connection::open_for_writing(&self.path, self.options.lock_timeout)?),
        };
        connection::set_lock_timeout(connection, self.options.lock_timeout.saturating_sub(waited))?;
        execute(connection, "BEGIN IMMEDIATE")?;
        let mut count = 0;
        let open = Batch::new(connection);
        // Callers may have left during the wait for the lock.
        for QueuedWrite { write, .. } in batch.iter_mut().filter(|queued| !queued.write.is_abandoned()) {
            #[cfg(test)]
            self.before_write.as_mut().map_or(Ok(()), |before| before(write, &open))?;
            count += usize::from(execute_write(&open, &self.key_hasher, write)?);
        }
        execute(connection, "COMMIT")?;
        self.options.metrics.committed(count);
        Ok(())
    }

    /// Checkpoints the log if it has grown, up to the oldest snapshot that another process reads.
    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        let Some(connection) = &self.connection else { return Ok(()) };
        if self.background.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        // A panic was logged.
        let is_prepared = self.background.take().is_some_and(|thread| thread.join().unwrap_or(false));
        if !is_prepared {
            let Some(log) = Log::of(connection)? else { return Ok(()) };
            if log.pages < self.checkpointed {
                self.checkpointed = 0; // The log was restarted.
            }
            if log.pages - self.checkpointed < CHECKPOINT_PAGES {
                return Ok(());
            }
            // Set first: a checkpoint that fails must not be tried, and logged, after each batch.
            self.checkpointed = log.pages;
            if log.rest() > checkpoint::MAX_REST {
                self.background = checkpoint::start(self.path.clone(), self.options.clone()).ok();
                return Ok(());
            }
        }
        connection::shorten_log_to(connection, self.log_limit())?;
        // Reads of older snapshots limit the checkpoint, and those that use the log prevent its restart.
        connection::set_lock_timeout(connection, MAX_READ)?;
        let is_limited = connection.prepare_cached(RESTART)?.query_row([], |row| row.get::<_, bool>(0))?;
        if is_limited && !self.is_limited {
            warn!(self.options.log, "a read that takes long lets the log grow"; "pages" => self.checkpointed);
        }
        self.is_limited = is_limited;
        if is_limited {
            self.checkpointed = self.checkpointed.saturating_sub(CHECKPOINT_PAGES - RETRY_PAGES);
        }
        Ok(())
    }

    /// Returns the size to which the log is truncated when it restarts.
    fn log_limit(&self) -> u64 {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        let length = std::fs::metadata(log).map_or(0, |found| found.len());
        length.saturating_sub(MAX_TRUNCATED_BYTES).max(connection::LOG_BYTES)
    }

    /// Rolls back, or drops the connection.
    fn recover(&mut self, error: &rusqlite::Error) {
        let Some(connection) = &self.connection else { return };
        let clean = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        if !clean || failure::is_connection_failure(error) {
            self.connection = None;
        }
    }

    /// Checkpoints and truncates the log, and closes the connection.
    fn finish(self) {
        if let Some(background) = self.background {
            // A panic was logged.
            let _ = background.join();
        }
        let Some(connection) = self.connection else { return };
        let checkpoint = connection::set_lock_timeout(&connection, Duration::ZERO)
            .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
            .and_then(|()| connection.close().map_err(|(_, error)| error));
        if let Err(error) = checkpoint {
            warn!(self.options.log, "the log was not checkpointed; the next start does it"; "error" => %error);
        }
    }
}

/// Executes a write, and keeps its result for the caller. Returns whether it counts in the size of
/// the batch: it was not rejected.
fn execute_write(batch: &Batch<'_>, hasher: &KeyHasher, write: &mut Write) -> rusqlite::Result<bool> {
    Ok(match write {
        Write::AddPet(new, caller) => caller.keep(result(batch, animals::insert(batch, new))?),
        Write::AddPetOnce(Addition { new, key, at }, caller) => {
            let hash = hasher.hash(&key.client, &key.value);
            caller.keep(result(batch, idempotency::insert(batch, new, key, hash, *at))?)
        }
        Write::Change(change, caller) => {
            caller.keep(result(batch, make(batch, hasher, change))?) && change.is_counted()
        }
    })
}

fn make(batch: &Batch<'_>, hasher: &KeyHasher, change: &mut Change) -> WriteResult<bool> {
    match change {
        Change::AddKey(key) => keys::insert(batch, key),
        Change::NoteUses(uses) => keys::note_uses(batch, &uses.take()),
        Change::RevokeKey { id, at } => keys::revoke(batch, id, *at),
        Change::RotateKey { old, old_expires, new } => keys::rotate(batch, old, *old_expires, new),
        Change::RemoveExpired { after, at, expiry } => {
            expiry.removed(idempotency::remove_expired(batch, *after, *at)?, *at);
            Ok(Ok(true))
        }
        // No other process discards the copy while this one has the file open, so the mark needs no identifier.
        Change::BeginCopy(_) => transfer::begin(batch),
        Change::Import(_, chunk) => transfer::import(batch, hasher, chunk),
        Change::FinishCopy(_) => transfer::finish(batch),
        Change::Check => migrations::rewrite_version(batch).map(|()| Ok(true)),
    }
}

/// Returns the result of a write. While the transaction is open, the violation of a constraint rejects only this write.
fn result<T>(batch: &Batch<'_>, result: WriteResult<T>) -> WriteResult<T> {
    match result {
        Err(error) if failure::is_constraint_violation(&error) && !batch.is_autocommit() => {
            Ok(Err(failure::store_error(&error)))
        }
        result => result,
    }
}

#[cfg(test)]
mod model;
