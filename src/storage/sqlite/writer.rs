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
//! Failure modes of a write:
//!
//! - The queue is full: [`StoreError::Busy`] at once.
//! - Its caller is gone before it starts: it is skipped. Once started, it is committed with its batch.
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
use std::time::{Duration, Instant};

use rusqlite::Connection;
use slog::warn;
use tokio::sync::{mpsc, oneshot, watch};

use super::batch::{Batch, WriteResult, execute};
use super::checkpoint::{self, Log};
use super::file::DatabaseFile;
use super::{connection, failure};
use crate::storage::metrics::Operation;
use crate::storage::metrics::StoreMetrics;
use crate::storage::options::StoreOptions;
use crate::storage::store::StoreError;

/// Bounds how long a write waits for its batch, and how many writes fail together.
const MAX_BATCH: usize = 256;
/// The capacity that tokio's queue allows exceeds any machine's memory.
const MAX_QUEUE: usize = 1 << 20;

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

/// The queue of the writer thread. The thread ends when this is dropped and the queue is empty.
pub(super) struct Writer {
    queue: mpsc::Sender<QueuedWrite>,
    metrics: StoreMetrics,
}

/// Reports that the writer thread has ended. The value is whether it panicked.
pub(super) struct Stopped(watch::Receiver<bool>);

impl Stopped {
    pub(super) async fn wait(&self) {
        // The thread drops its sender when it ends or panics.
        let mut thread = self.0.clone();
        while thread.changed().await.is_ok() {}
    }

    /// Waits until the thread panics, or for ever.
    pub(super) async fn wait_for_panic(&self) {
        self.wait().await;
        if !*self.0.borrow() {
            std::future::pending().await
        }
    }
}

/// Returns the error of a write that was dropped from the queue.
pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("the thread that writes has stopped".to_owned())
}

struct QueuedWrite {
    since: Instant,
    job: Box<dyn Write>,
}

/// A write of any result type.
trait Write: Send {
    /// Whether the caller is gone.
    fn is_abandoned(&self) -> bool;
    /// Does the work. Returns `false` when it was rejected and has changed nothing.
    fn run(&mut self, batch: &Batch<'_>) -> rusqlite::Result<bool>;
    /// Sends the result to the caller; `failed` is the error of the whole transaction.
    fn complete(self: Box<Self>, failed: Option<StoreError>);
}

struct WriteOf<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnOnce(&Batch<'_>) -> WriteResult<T> + Send> Write for WriteOf<T, F> {
    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    fn run(&mut self, batch: &Batch<'_>) -> rusqlite::Result<bool> {
        let Some(work) = self.work.take() else { return Ok(true) };
        let result = match work(batch) {
            // While the transaction is open, the error is about this row only.
            Err(error) if failure::is_constraint_violation(&error) && !batch.is_autocommit() => {
                Err(failure::store_error(&error))
            }
            result => result?,
        };
        let changed = result.is_ok();
        self.result = Some(result);
        Ok(changed)
    }

    fn complete(self: Box<Self>, failed: Option<StoreError>) {
        let result = match (failed, self.result) {
            (Some(error), _) => Err(error),
            (None, Some(result)) => result,
            (None, None) => return, // skipped, because the caller is gone
        };
        // The caller may be gone by now.
        let _ = self.caller.send(result);
    }
}

impl Writer {
    /// Starts the thread with a connection for writing to the file at `path`.
    pub(super) fn start(
        connection: Connection,
        (path, file): (PathBuf, Arc<DatabaseFile>),
        options: &StoreOptions,
    ) -> std::io::Result<(Self, Stopped)> {
        let (writer, waiting, thread) = Self::new(connection, (path, file), options);
        let (running, ended) = watch::channel(true);
        std::thread::Builder::new().name("sqlite-writer".to_owned()).spawn(move || {
            thread.run(waiting);
            running.send_replace(false);
        })?;
        Ok((writer, Stopped(ended)))
    }

    /// Returns an empty queue, its receiver, and what empties it.
    fn new(
        connection: Connection,
        (path, file): (PathBuf, Arc<DatabaseFile>),
        options: &StoreOptions,
    ) -> (Self, mpsc::Receiver<QueuedWrite>, WriterThread) {
        let (queue, waiting) = mpsc::channel(options.write_queue.clamp(1, MAX_QUEUE));
        let thread = WriterThread {
            connection: Some(connection),
            path,
            file,
            options: options.clone(),
            checkpointed: 0,
            background: None,
            is_limited: false,
        };
        (Self { queue, metrics: options.metrics.clone() }, waiting, thread)
    }

    /// Adds a write to the queue, or rejects it at once. The receiver gets the result after COMMIT. Work of
    /// several statements that can be rejected must run in a savepoint (`batch.rs`).
    pub(super) fn enqueue<T, F>(
        &self,
        work: F,
    ) -> Result<oneshot::Receiver<Result<T, StoreError>>, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Batch<'_>) -> WriteResult<T> + Send + 'static,
    {
        let (caller, result) = oneshot::channel();
        let job = Box::new(WriteOf { work: Some(work), result: None, caller });
        // Counted first, because the thread may dequeue it at once.
        self.metrics.enqueued();
        self.queue.try_send(QueuedWrite { since: Instant::now(), job }).map(|()| result).map_err(|refused| {
            self.metrics.dequeued(1);
            match refused {
                mpsc::error::TrySendError::Full(_) => StoreError::Busy,
                mpsc::error::TrySendError::Closed(_) => stopped(),
            }
        })
    }
}

/// The state of the writer thread.
struct WriterThread {
    /// `None` after a failure, until the next batch.
    connection: Option<Connection>,
    path: PathBuf,
    file: Arc<DatabaseFile>,
    options: StoreOptions,
    /// The length of the log, in pages, at the last checkpoint.
    checkpointed: u32,
    /// The thread that checkpoints a long log.
    background: Option<JoinHandle<bool>>,
    /// Whether reads limited the last checkpoint.
    is_limited: bool,
}

impl WriterThread {
    fn run(mut self, mut queue: mpsc::Receiver<QueuedWrite>) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        while queue.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
            self.turn(&mut batch);
        }
        self.finish();
    }

    /// Commits and empties a batch, and checkpoints the log.
    fn turn(&mut self, batch: &mut Vec<QueuedWrite>) {
        self.options.metrics.dequeued(batch.len());
        let failed = self.commit(batch).err();
        if let Some(error) = &failed {
            self.recover(error);
            failure::report(&self.options, Operation::Write, error);
        }
        for queued in batch.drain(..) {
            queued.job.complete(failed.as_ref().map(failure::store_error));
        }
        if let Err(error) = self.checkpoint() {
            self.recover(&error);
            failure::report(&self.options, Operation::Write, &error);
        }
    }

    /// Commits all of `batch` in one transaction.
    fn commit(&mut self, batch: &mut [QueuedWrite]) -> rusqlite::Result<()> {
        self.file.check()?;
        let wanted = batch.iter().filter(|queued| !queued.job.is_abandoned());
        let waited = wanted.map(|queued| queued.since.elapsed()).max().unwrap_or(self.options.lock_timeout);
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connection::open_for_writing(&self.path, self.options.lock_timeout)?),
        };
        connection::set_lock_timeout(connection, self.options.lock_timeout.saturating_sub(waited))?;
        execute(connection, "BEGIN IMMEDIATE")?;
        let mut writes = 0;
        let open = Batch::new(connection);
        for queued in batch.iter_mut().filter(|queued| !queued.job.is_abandoned()) {
            writes += usize::from(queued.job.run(&open)?);
        }
        execute(connection, "COMMIT")?;
        self.options.metrics.committed(writes);
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

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;

    use super::*;
    use crate::storage::options::Migrate;

    fn start() -> (tempfile::TempDir, Writer, Stopped) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some.db");
        let connection = Connection::open(&path).unwrap();
        let options = StoreOptions {
            postgres: crate::storage::PostgresOptions::default(),
            write_queue: 16,
            lock_timeout: Duration::from_secs(60),
            migrate: Migrate::Apply,
            version: "1.2.3",
            log: slog::Logger::root(slog::Discard, slog::o!()),
            metrics: StoreMetrics::default(),
        };
        let file = Arc::new(DatabaseFile::at(path.clone()).unwrap());
        let (writer, stopped) = Writer::start(connection, (path, file), &options).unwrap();
        (directory, writer, stopped)
    }

    #[tokio::test]
    async fn a_panic_of_the_thread_is_reported_and_fails_all_writes() {
        let (_directory, writer, stopped) = start();
        let panicking = writer.enqueue(|_| -> WriteResult<()> { panic!("for the test") }).unwrap();
        assert!(panicking.await.is_err());
        stopped.wait_for_panic().await;
        assert!(matches!(writer.enqueue(|_| Ok(Ok(()))), Err(StoreError::Unavailable(_))));
    }

    #[tokio::test]
    async fn the_end_of_the_thread_is_not_reported_as_a_panic() {
        let (_directory, writer, stopped) = start();
        writer.enqueue(|_| Ok(Ok(()))).unwrap().await.unwrap().unwrap();
        assert!(stopped.wait_for_panic().now_or_never().is_none());
        drop(writer);
        stopped.wait().await;
        assert!(stopped.wait_for_panic().now_or_never().is_none());
    }
}
